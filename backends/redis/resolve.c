/*
 * resolve.c - a host's addresses, with a deadline
 */
#include "backends/redis/link.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib.h>

#include "util/poll.h"

/* What the thread that asks and the one that waits share; the last of the two frees it. */
typedef struct lookup {
    int refs;
    int done_fd; /* readable when the answer is there */
    char *host;
    char *port;
    int rc;
    struct addrinfo *found;
} lookup;

static void
lookup_unref(lookup *asked)
{
    if (__atomic_sub_fetch(&asked->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (asked->found != NULL)
        freeaddrinfo(asked->found);
    close(asked->done_fd);
    g_free(asked->host);
    g_free(asked->port);
    g_free(asked);
}

static int
look_up(const char *host, const char *port, int flags, struct addrinfo **ret_found)
{
    struct addrinfo hints = {.ai_flags = flags, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};

    return getaddrinfo(host, port, &hints, ret_found);
}

static void *
look_up_in_thread(void *user)
{
    lookup *asked = user;
    uint64_t one = 1;

    asked->rc = look_up(asked->host, asked->port, 0, &asked->found);
    if (write(asked->done_fd, &one, sizeof one) < 0)
        asked->rc = EAI_SYSTEM; /* cannot be: a new eventfd takes a 1 */
    lookup_unref(asked);
    return NULL;
}

/* Starts the thread; NULL when there cannot be one. */
static lookup *
lookup_start(const char *host, const char *port)
{
    lookup *asked = g_new0(lookup, 1);
    pthread_t thread;

    asked->refs = 2;
    asked->done_fd = eventfd(0, EFD_CLOEXEC);
    asked->host = g_strdup(host);
    asked->port = g_strdup(port);
    if (asked->done_fd >= 0 && pthread_create(&thread, NULL, look_up_in_thread, asked) == 0) {
        pthread_detach(thread);
        return asked;
    }
    asked->refs = 1;
    lookup_unref(asked);
    return NULL;
}

pawl_status
pawl__redis_resolve(const char *host, const char *port, int cancel_fd, int64_t deadline_ms, struct addrinfo **ret_found,
                    pawl_error *err)
{
    pawl_status status;
    lookup *asked;
    uint64_t done;

    if (look_up(host, port, AI_NUMERICHOST, ret_found) == 0)
        return PAWL_OK;
    asked = lookup_start(host, port);
    if (asked == NULL)
        return pawl_error_set(err, PAWL_FAILED, 0, errno, "no thread to look up '%s' in", host);
    status = pawl__poll(asked->done_fd, POLLIN, cancel_fd, deadline_ms);
    if (status == PAWL_TIMEOUT)
        status = pawl_error_set(err, status, PAWL_ERROR_RETRIABLE, 0, "the name '%s' was not found in time", host);
    else if (status == PAWL_CANCELLED)
        status = pawl_error_set(err, status, 0, 0, "the store was cancelled");
    else if (read(asked->done_fd, &done, sizeof done) < 0 || asked->rc != 0)
        status = pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, asked->rc,
                                "the name '%s' is not known: %s", host, gai_strerror(asked->rc));
    else
        *ret_found = g_steal_pointer(&asked->found);
    lookup_unref(asked);
    return status;
}
