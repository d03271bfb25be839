/*
 * link.h - one connection to a Redis server
 *
 * hiredis makes the requests and takes the answers apart; the socket is ours, so that every wait has a deadline and
 * ends on cancel. Whatever goes wrong ends the connection: an answer that comes too late has nowhere to arrive, and is
 * never taken for that to a later request.
 */
#ifndef PAWL_REDIS_LINK_H
#define PAWL_REDIS_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include <pawl/error.h>

/* A connection, or none: then fd is -1. */
typedef struct pawl__redis_link {
    int fd;
    int cancel_fd; /* readable as soon as everything shall end; borrowed */
    redisReader *reader;
    char *address; /* for messages */
} pawl__redis_link;

void pawl__redis_link_init(pawl__redis_link *link, int cancel_fd);

/*
 * Connects to "host:port", "[address]:port" or the path of a socket. PAWL_UNREACHABLE, PAWL_TIMEOUT: may be tried
 * again. PAWL_CANCELLED. Then there is no connection, as after every failure below.
 */
pawl_status pawl__redis_link_connect(pawl__redis_link *link, const char *address, int64_t deadline_ms, pawl_error *err);

/* Whether there is one, and the server has not ended it: nobody has asked, so that there can be nothing to read. */
bool pawl__redis_link_is_up(pawl__redis_link *link);

/*
 * Sends one request, as it goes over the wire, and takes its answer, which the caller frees with freeReplyObject().
 * *ret_sent, also set when this fails: whether all of the request went out, so that the server may have acted on it.
 */
pawl_status pawl__redis_link_ask(pawl__redis_link *link, const char *request, size_t size, int64_t deadline_ms,
                                 bool *ret_sent, redisReply **ret_reply, pawl_error *err);

/* Ends the connection. Where there is none it does nothing. */
void pawl__redis_link_close(pawl__redis_link *link);

/* ----------------------------------------------------------------------------------------------------- resolve.c -- */

struct addrinfo;

/*
 * Finds the addresses of a host, waiting no longer than told: getaddrinfo() itself knows no deadline. The caller frees
 * *ret_found with freeaddrinfo().
 */
pawl_status pawl__redis_resolve(const char *host, const char *port, int cancel_fd, int64_t deadline_ms,
                                struct addrinfo **ret_found, pawl_error *err);

#endif
