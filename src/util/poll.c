/*
 * poll.c - waiting for a descriptor, with a deadline and a second descriptor that ends the wait
 */
#include "util/poll.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>

#include <glib.h>

#include "util/clock.h"

pawl_status
pawl__poll(int fd, short events, int cancel_fd, int64_t deadline_ms)
{
    struct pollfd fds[2] = {{.fd = fd, .events = events}, {.fd = cancel_fd, .events = POLLIN}};
    int64_t left_ms;
    int ready;

    do {
        left_ms = CLAMP(deadline_ms - pawl__clock_ms(), 0, INT_MAX);
        ready = poll(fds, 2, (int) left_ms);
    } while (ready < 0 && errno == EINTR);
    if (ready > 0 && fds[1].revents != 0)
        return PAWL_CANCELLED;
    return ready > 0 ? PAWL_OK : PAWL_TIMEOUT;
}
