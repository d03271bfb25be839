/*
 * proxy.c - a TCP proxy before a server, which loses or delays what passes
 *
 * One thread polls all sockets. Others tell it what to do under its lock, and wake it.
 */
#include "tests/support/proxy.h"

#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/wait.h"

#define PIECE_SIZE 65536

/* A client and its connection to the server. A side that has ended is -1. */
typedef struct pair {
    int client;
    int server;
    GByteArray *held; /* requests that wait */
} pair;

struct proxy {
    int listening;
    int port;
    int wake;
    GArray *pairs; /* the thread's own */
    pthread_t thread;
    pawl__wait wait;
    /* under the lock of `wait` */
    int server_port;
    size_t requests;
    uint64_t lose_answers;
    const char *const *instead; /* of the next answers; NULL: none */
    bool hold_request;
    bool let_go;
    bool ended;
};

static struct sockaddr_in
loopback(int port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t) port)};
}

static void
end_side(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void
send_all(int fd, const void *bytes, size_t size)
{
    while (fd >= 0 && size > 0) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

        if (sent <= 0)
            return;
        bytes = (const char *) bytes + sent;
        size -= (size_t) sent;
    }
}

static int
server_port(proxy *between)
{
    int port;

    pawl__wait_lock(&between->wait);
    port = between->server_port;
    pawl__wait_unlock(&between->wait);
    return port;
}

static void
add_pair(proxy *between)
{
    struct sockaddr_in address = loopback(server_port(between));
    pair both = {.client = accept(between->listening, NULL, NULL), .server = socket(AF_INET, SOCK_STREAM, 0)};
    int on = 1;

    if (connect(both.server, (struct sockaddr *) &address, sizeof address) != 0) {
        end_side(&both.client);
        end_side(&both.server);
        return;
    }
    setsockopt(both.server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(both.client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    both.held = g_byte_array_new();
    g_array_append_val(between->pairs, both);
}

/* Whether this was asked for; then it no longer is. */
static bool
take(proxy *between, bool *wish)
{
    bool wished;

    pawl__wait_lock(&between->wait);
    wished = *wish;
    *wish = false;
    pawl__wait_wake(&between->wait);
    pawl__wait_unlock(&between->wait);
    return wished;
}

static void
pass_request(proxy *between, pair *both)
{
    static char piece[PIECE_SIZE];
    ssize_t size = recv(both->client, piece, sizeof piece, 0);

    if (size <= 0) {
        end_side(&both->client);
        end_side(&both->server);
    } else if (take(between, &between->hold_request)) {
        g_byte_array_append(both->held, (const guint8 *) piece, (guint) size);
        end_side(&both->client);
    } else {
        pawl__wait_lock(&between->wait);
        between->requests++;
        pawl__wait_unlock(&between->wait);
        send_all(both->server, piece, (size_t) size);
    }
}

/* What the client gets instead of this answer, or NULL. */
static const char *
take_instead(proxy *between)
{
    const char *answer = NULL;

    pawl__wait_lock(&between->wait);
    if (between->instead != NULL && *between->instead != NULL)
        answer = *between->instead++;
    pawl__wait_unlock(&between->wait);
    return answer;
}

static bool
take_answer_to_lose(proxy *between)
{
    bool lost;

    pawl__wait_lock(&between->wait);
    lost = (between->lose_answers & 1) != 0;
    between->lose_answers >>= 1;
    pawl__wait_unlock(&between->wait);
    return lost;
}

static void
pass_answer(proxy *between, pair *both)
{
    static char piece[PIECE_SIZE];
    ssize_t size = recv(both->server, piece, sizeof piece, 0);
    const char *instead = size > 0 ? take_instead(between) : NULL;

    if (size > 0 && instead == NULL && !take_answer_to_lose(between)) {
        send_all(both->client, piece, (size_t) size);
    } else {
        if (instead != NULL)
            send_all(both->client, instead, strlen(instead));
        end_side(&both->client);
        end_side(&both->server);
    }
}

static void
let_go(const proxy *between)
{
    for (guint i = 0; i < between->pairs->len; i++) {
        pair *both = &g_array_index(between->pairs, pair, i);

        send_all(both->server, both->held->data, both->held->len);
        g_byte_array_set_size(both->held, 0);
    }
}

/* Moves what can be moved, once. */
static void
serve(proxy *between)
{
    guint count = between->pairs->len;
    struct pollfd *fds = g_new0(struct pollfd, count * 2 + 2);
    uint64_t woken;

    fds[0] = (struct pollfd){.fd = between->wake, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = between->listening, .events = POLLIN};
    for (guint i = 0; i < count; i++) {
        const pair *both = &g_array_index(between->pairs, pair, i);

        fds[2 * i + 2] = (struct pollfd){.fd = both->client, .events = POLLIN};
        fds[2 * i + 3] = (struct pollfd){.fd = both->server, .events = POLLIN};
    }
    poll(fds, count * 2 + 2, -1);
    if (fds[0].revents != 0 && read(between->wake, &woken, sizeof woken) < 0)
        abort();
    for (guint i = 0; i < count; i++) {
        pair *both = &g_array_index(between->pairs, pair, i);

        if (fds[2 * i + 2].revents != 0)
            pass_request(between, both);
        if (fds[2 * i + 3].revents != 0 && both->server >= 0)
            pass_answer(between, both);
    }
    if (fds[1].revents != 0)
        add_pair(between);
    g_free(fds);
}

static bool
has_ended(proxy *between)
{
    bool ended;

    pawl__wait_lock(&between->wait);
    ended = between->ended;
    pawl__wait_unlock(&between->wait);
    return ended;
}

static void *
run(void *user)
{
    proxy *between = user;

    while (!has_ended(between)) {
        serve(between);
        if (take(between, &between->let_go))
            let_go(between);
    }
    return NULL;
}

proxy *
proxy_new(int port)
{
    proxy *between = g_new0(proxy, 1);
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;

    between->server_port = port;
    between->wake = eventfd(0, EFD_CLOEXEC);
    between->pairs = g_array_new(FALSE, FALSE, sizeof(pair));
    between->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pawl__wait_init(&between->wait);
    if (bind(between->listening, (struct sockaddr *) &address, size) != 0 || listen(between->listening, 20) != 0 ||
        getsockname(between->listening, (struct sockaddr *) &address, &size) != 0 ||
        pthread_create(&between->thread, NULL, run, between) != 0)
        abort();
    between->port = ntohs(address.sin_port);
    return between;
}

void
proxy_connect_to(proxy *between, int port)
{
    pawl__wait_lock(&between->wait);
    between->server_port = port;
    pawl__wait_unlock(&between->wait);
}

int
proxy_port(const proxy *between)
{
    return between->port;
}

size_t
proxy_requests(proxy *between)
{
    size_t requests;

    pawl__wait_lock(&between->wait);
    requests = between->requests;
    pawl__wait_unlock(&between->wait);
    return requests;
}

static void
wish(proxy *between, bool *what)
{
    pawl__wait_lock(&between->wait);
    *what = true;
    pawl__wait_unlock(&between->wait);
    eventfd_write(between->wake, 1);
}

void
proxy_lose_answers(proxy *between, uint64_t which)
{
    pawl__wait_lock(&between->wait);
    between->lose_answers = which;
    pawl__wait_unlock(&between->wait);
}

void
proxy_lose_next_answer(proxy *between)
{
    proxy_lose_answers(between, 1);
}

void
proxy_answer_instead(proxy *between, const char *const *answers)
{
    pawl__wait_lock(&between->wait);
    between->instead = answers;
    pawl__wait_unlock(&between->wait);
}

void
proxy_hold_next_request(proxy *between)
{
    wish(between, &between->hold_request);
}

void
proxy_let_go(proxy *between)
{
    wish(between, &between->let_go);
    pawl__wait_lock(&between->wait);
    while (between->let_go)
        pawl__wait_until(&between->wait, PAWL__NEVER);
    pawl__wait_unlock(&between->wait);
}

void
proxy_free(proxy *between)
{
    wish(between, &between->ended);
    pthread_join(between->thread, NULL);
    for (guint i = 0; i < between->pairs->len; i++) {
        pair *both = &g_array_index(between->pairs, pair, i);

        end_side(&both->client);
        end_side(&both->server);
        g_byte_array_unref(both->held);
    }
    g_array_unref(between->pairs);
    close(between->listening);
    close(between->wake);
    pawl__wait_done(&between->wait);
    g_free(between);
}
