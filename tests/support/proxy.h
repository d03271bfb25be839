/*
 * proxy.h - a TCP proxy before a server, which loses or delays what passes
 */
#ifndef PAWL_TESTS_PROXY_H
#define PAWL_TESTS_PROXY_H

#include <stddef.h>
#include <stdint.h>

typedef struct proxy proxy;

/* Listens on a port of its own and connects to this one, both on 127.0.0.1; 0: it is not known yet. The caller frees it. */
proxy *proxy_new(int port);
void proxy_connect_to(proxy *between, int port);
int proxy_port(const proxy *between);
void proxy_free(proxy *between);

/* How many pieces clients have sent so far: a request that is sent at once, and is not large, is one. */
size_t proxy_requests(proxy *between);

/* The next answer is lost, and its connection with it; then all passes again. */
void proxy_lose_next_answer(proxy *between);

/* The next answers are lost, and instead of each the client gets one of these, ended by NULL; borrowed. The connection
 * ends with each. */
void proxy_answer_instead(proxy *between, const char *const *answers);

/* Of the answers to come these are lost in the same way: a bit each, the lowest is the next one. */
void proxy_lose_answers(proxy *between, uint64_t which);

/* The next request waits, and its client's connection ends; then all passes again. The server hears of neither. */
void proxy_hold_next_request(proxy *between);

/* Sends the request that waits, if its connection to the server still stands. */
void proxy_let_go(proxy *between);

#endif
