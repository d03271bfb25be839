/*
 * link.c - one connection to a Redis server
 */
#include "backends/redis/link.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib.h>

#include "util/poll.h"
#include "util/url.h"

#define DEFAULT_PORT "6379"
#define CHUNK_SIZE   16384

void
pawl__redis_link_init(pawl__redis_link *link, int cancel_fd)
{
    *link = (pawl__redis_link){.fd = -1, .cancel_fd = cancel_fd};
}

void
pawl__redis_link_close(pawl__redis_link *link)
{
    if (link->fd >= 0)
        close(link->fd);
    if (link->reader != NULL)
        redisReaderFree(link->reader);
    g_free(link->address);
    pawl__redis_link_init(link, link->cancel_fd);
}

bool
pawl__redis_link_is_up(pawl__redis_link *link)
{
    struct pollfd fd = {.fd = link->fd, .events = POLLIN};

    if (link->fd >= 0 && poll(&fd, 1, 0) > 0)
        pawl__redis_link_close(link);
    return link->fd >= 0;
}

/* -------------------------------------------------------------------------------------------------------- errors -- */

static pawl_status
broken(const pawl__redis_link *link, int error, const char *what, pawl_error *err)
{
    return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, error, "redis at %s %s: %s", link->address, what,
                          strerror(error));
}

/* Waits for the server; `what` it did not do in time. */
static pawl_status
await(const pawl__redis_link *link, short events, int64_t deadline_ms, const char *what, pawl_error *err)
{
    pawl_status status = pawl__poll(link->fd, events, link->cancel_fd, deadline_ms);

    if (status == PAWL_TIMEOUT)
        return pawl_error_set(err, status, PAWL_ERROR_RETRIABLE, 0, "redis at %s did not %s in time", link->address,
                              what);
    if (status == PAWL_CANCELLED)
        return pawl_error_set(err, status, 0, 0, "redis at %s: the store was cancelled", link->address);
    return PAWL_OK;
}

/* ---------------------------------------------------------------------------------------------------- connecting -- */

static pawl_status
connect_socket(pawl__redis_link *link, const struct sockaddr *address, socklen_t size, int64_t deadline_ms,
               pawl_error *err)
{
    int error = 0, on = 1;
    socklen_t error_size = sizeof error;
    pawl_status status;

    link->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->fd < 0)
        return broken(link, errno, "cannot be reached", err);
    if (address->sa_family != AF_UNIX) {
        setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(link->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    if (connect(link->fd, address, size) == 0)
        return PAWL_OK;
    if (errno != EINPROGRESS)
        return broken(link, errno, "cannot be reached", err);
    status = await(link, POLLOUT, deadline_ms, "take a connection", err);
    if (status != PAWL_OK)
        return status;
    getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &error_size);
    return error == 0 ? PAWL_OK : broken(link, error, "cannot be reached", err);
}

static pawl_status
connect_path(pawl__redis_link *link, const char *path, int64_t deadline_ms, pawl_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (g_strlcpy(address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "the path of a socket is too long: %s", path);
    return connect_socket(link, (const struct sockaddr *) &address, sizeof address, deadline_ms, err);
}

static pawl_status
connect_host(pawl__redis_link *link, const char *text, int64_t deadline_ms, pawl_error *err)
{
    struct addrinfo *found = NULL;
    char *host, *port;
    pawl_status status;

    pawl__url_cut_host(text, DEFAULT_PORT, &host, &port);
    status = pawl__redis_resolve(host, port, link->cancel_fd, deadline_ms, &found, err);
    for (struct addrinfo *each = found; each != NULL; each = each->ai_next) {
        status = connect_socket(link, each->ai_addr, each->ai_addrlen, deadline_ms, err);
        if (status == PAWL_OK || status == PAWL_CANCELLED || each->ai_next == NULL)
            break;
        if (link->fd >= 0)
            close(link->fd);
        link->fd = -1;
    }
    if (found != NULL)
        freeaddrinfo(found);
    g_free(host);
    g_free(port);
    return status;
}

pawl_status
pawl__redis_link_connect(pawl__redis_link *link, const char *address, int64_t deadline_ms, pawl_error *err)
{
    pawl_status status;

    pawl__redis_link_close(link);
    link->address = g_strdup(address);
    link->reader = redisReaderCreate();
    status = address[0] == '/' ? connect_path(link, address, deadline_ms, err)
                               : connect_host(link, address, deadline_ms, err);
    if (status != PAWL_OK)
        pawl__redis_link_close(link);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- asking -- */

static pawl_status
send_all(const pawl__redis_link *link, const char *bytes, size_t size, int64_t deadline_ms, pawl_error *err)
{
    while (size > 0) {
        ssize_t sent = send(link->fd, bytes, size, MSG_NOSIGNAL);
        pawl_status status = PAWL_OK;

        if (sent >= 0) {
            bytes += sent;
            size -= (size_t) sent;
        } else if (errno == EAGAIN) {
            status = await(link, POLLOUT, deadline_ms, "take a request", err);
        } else if (errno != EINTR) {
            status = broken(link, errno, "ended the connection", err);
        }
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

/* Reads once and hands it to hiredis. */
static pawl_status
receive_some(const pawl__redis_link *link, pawl_error *err)
{
    char chunk[CHUNK_SIZE];
    ssize_t size = recv(link->fd, chunk, sizeof chunk, 0);

    if (size > 0 && redisReaderFeed(link->reader, chunk, (size_t) size) == REDIS_OK)
        return PAWL_OK;
    if (size > 0)
        return pawl_error_set(err, PAWL_FAILED, 0, 0, "no memory for an answer of redis at %s", link->address);
    if (size == 0)
        return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, 0, "redis at %s ended the connection",
                              link->address);
    return errno == EAGAIN || errno == EINTR ? PAWL_OK : broken(link, errno, "ended the connection", err);
}

static pawl_status
receive(const pawl__redis_link *link, int64_t deadline_ms, redisReply **ret_reply, pawl_error *err)
{
    void *reply = NULL;
    pawl_status status = PAWL_OK;

    while (status == PAWL_OK && reply == NULL) {
        if (redisReaderGetReply(link->reader, &reply) != REDIS_OK)
            return pawl_error_set(err, PAWL_UNREACHABLE, 0, link->reader->err,
                                  "what answers at %s is no Redis server (%s)", link->address, link->reader->errstr);
        if (reply != NULL)
            break;
        status = await(link, POLLIN, deadline_ms, "answer", err);
        if (status == PAWL_OK)
            status = receive_some(link, err);
    }
    *ret_reply = reply;
    return status;
}

pawl_status
pawl__redis_link_ask(pawl__redis_link *link, const char *request, size_t size, int64_t deadline_ms, bool *ret_sent,
                     redisReply **ret_reply, pawl_error *err)
{
    pawl_status status = send_all(link, request, size, deadline_ms, err);

    *ret_sent = status == PAWL_OK;
    if (status == PAWL_OK)
        status = receive(link, deadline_ms, ret_reply, err);
    if (status != PAWL_OK)
        pawl__redis_link_close(link);
    return status;
}
