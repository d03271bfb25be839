/*
 * backoff.c - how long to wait before the next try
 */
#include "util/backoff.h"

int64_t
pawl__backoff_ms(int64_t base_ms, int64_t cap_ms, int attempt, uint32_t random)
{
    int64_t delay_ms = base_ms;

    if (delay_ms <= 0)
        return 0;
    /* Asking for room before doubling keeps this from overflowing, and ends it after 62 rounds at most. */
    for (int i = 1; i < attempt && delay_ms < cap_ms; i++)
        delay_ms = delay_ms <= cap_ms / 2 ? delay_ms * 2 : cap_ms;
    return delay_ms - (int64_t) (random % ((uint64_t) delay_ms / 5 + 1));
}
