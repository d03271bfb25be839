/*
 * notify.c - telling a service manager how we are
 *
 * The protocol is one datagram, which is why libsystemd is not needed for it.
 */
#include "cli/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bool
pawl__notify_wanted(void)
{
    return getenv("NOTIFY_SOCKET") != NULL;
}

void
pawl__notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t size = path != NULL ? strlen(path) : 0;
    int fd;

    if (size < 2 || size >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(address.sun_path, path, size);
    if (path[0] == '@')
        address.sun_path[0] = '\0'; /* a name without a file */
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *) &address,
               (socklen_t) (offsetof(struct sockaddr_un, sun_path) + size)) < 0) {
        /* Nobody listens: that is the manager's business. */
    }
    close(fd);
}
