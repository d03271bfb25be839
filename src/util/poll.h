/*
 * poll.h - waiting for a descriptor, with a deadline and a second descriptor that ends the wait
 */
#ifndef PAWL_UTIL_POLL_H
#define PAWL_UTIL_POLL_H

#include <stdint.h>

#include <pawl/error.h>

/*
 * Waits until `fd` is ready for `events` of poll(). PAWL_CANCELLED: `cancel_fd` (-1: none) has become readable first.
 * PAWL_TIMEOUT: the deadline (pawl__clock_ms()) has passed first, or it cannot be waited for. There is no message.
 */
pawl_status pawl__poll(int fd, short events, int cancel_fd, int64_t deadline_ms);

#endif
