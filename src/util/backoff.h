/*
 * backoff.h - how long to wait before the next try
 */
#ifndef PAWL_UTIL_BACKOFF_H
#define PAWL_UTIL_BACKOFF_H

#include <stdint.h>

/*
 * The delay before try number `attempt` + 1, attempt counted from 1 (less counts as 1): the base doubled each time up to
 * `cap_ms`, of which a random part of at most a fifth is taken away, so that many who failed together do not come back
 * together. A base above the cap is the delay each time; 0 for a base of 0 or less. Pure: `random` is any number.
 */
int64_t pawl__backoff_ms(int64_t base_ms, int64_t cap_ms, int attempt, uint32_t random);

#endif
