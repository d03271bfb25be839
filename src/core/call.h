/*
 * call.h - a call of a hook: whether it ever returns, for those who look from another thread, and what it said
 */
#ifndef PAWL_CORE_CALL_H
#define PAWL_CORE_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <pawl/job.h>

/* {0}: none is running. One thread begins and ends; any may look. */
typedef struct pawl__call {
    _Atomic(const char *) hook; /* its name; NULL: none is running */
    atomic_llong since_ms;      /* when it was called */
} pawl__call;

/* The name is a static string. */
void pawl__call_begin(pawl__call *call, const char *hook);
void pawl__call_end(pawl__call *call);

/* The name of the hook that is running and for how long it has been; NULL when none is. */
const char *pawl__call_running(pawl__call *call, int64_t now_ms, int64_t *ret_ms);

/* What a hook said when it did not say PAWL_DONE: "process: disk full", or which verdict it was when it gave no reason.
 * The caller frees it. */
char *pawl__refusal_text(const char *hook, pawl_verdict verdict, const pawl_error *err);

/*
 * Whether it is time to warn of a call that has been running for so long: at `first_ms` and at each doubling of it.
 * `looked_ms` is how long ago this was asked last.
 */
bool pawl__call_is_overdue(int64_t running_ms, int64_t looked_ms, int64_t first_ms);

#endif
