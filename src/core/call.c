/*
 * call.c - a call of a hook
 */
#include "core/call.h"

#include <glib.h>

#include "util/clock.h"

/* Whoever sees the name sees a time that is not from before the call: at worst a later one, which looks too short. */
void
pawl__call_begin(pawl__call *call, const char *hook)
{
    atomic_store_explicit(&call->since_ms, pawl__clock_ms(), memory_order_relaxed);
    atomic_store_explicit(&call->hook, hook, memory_order_release);
}

void
pawl__call_end(pawl__call *call)
{
    atomic_store_explicit(&call->hook, NULL, memory_order_relaxed);
}

const char *
pawl__call_running(pawl__call *call, int64_t now_ms, int64_t *ret_ms)
{
    const char *hook = atomic_load_explicit(&call->hook, memory_order_acquire);
    int64_t ms = now_ms - atomic_load_explicit(&call->since_ms, memory_order_relaxed);

    *ret_ms = ms > 0 ? ms : 0;
    return hook;
}

/* How many warnings a call has earned. */
static int
warnings(int64_t running_ms, int64_t first_ms)
{
    int count = 0;

    for (; running_ms >= first_ms; running_ms /= 2)
        count++;
    return count;
}

bool
pawl__call_is_overdue(int64_t running_ms, int64_t looked_ms, int64_t first_ms)
{
    return warnings(running_ms, first_ms) > warnings(running_ms - looked_ms, first_ms);
}

char *
pawl__refusal_text(const char *hook, pawl_verdict verdict, const pawl_error *err)
{
    if (err->message[0] != '\0')
        return g_strdup_printf("%s: %s", hook, err->message);
    return g_strdup_printf("%s returned %s and gave no reason", hook,
                           verdict == PAWL_RETRY ? "PAWL_RETRY" : "PAWL_STOP");
}
