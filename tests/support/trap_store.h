/*
 * trap_store.h - the memory: store with traps: calls that fail, hang, or do what they should and lose the answer
 *
 * "trap:NAME" keeps its offsets in the same space as "memory:NAME". "traptx:NAME" has transactions as well, whose handle
 * is the text "transaction". "trapgroup:NAME" tells that it compares neither epochs nor offsets. There is one set of traps
 * for all of them.
 */
#ifndef PAWL_TESTS_TRAP_STORE_H
#define PAWL_TESTS_TRAP_STORE_H

#include <pawl/sys/store.h>

typedef enum trap_call {
    TRAP_OPEN,
    TRAP_LOAD,
    TRAP_ACQUIRE,
    TRAP_PLAN,
    TRAP_BEGIN,
    TRAP_SAVE,
    TRAP_RELEASE,
    TRAP_CALLS, /* how many there are */
} trap_call;

/* Makes both stores known, once, and springs all traps. */
void trap_store_reset(void);

/* Tells each call that changes something and that succeeded, as a line: "save 3: t:0 none>10 t:1 5>7". NULL: nobody. */
void trap_store_tell(void (*fn)(void *user, const char *line), void *user);

/* The next `times` calls fail without doing anything; -1: all. */
void trap_store_fail(trap_call call, int times, pawl_status status, unsigned flags);

/* The next `times` calls do their work and return PAWL_OUTCOME_UNKNOWN. */
void trap_store_lose_answer(trap_call call, int times);

/* Calls hang until they are cancelled or their deadline has passed. */
void trap_store_hang(trap_call call, bool hang);

/* Waits until a call hangs; false when the deadline passed first. */
bool trap_store_await_hanging(trap_call call, int64_t deadline_ms);

/* Calls fn before each call of this kind, on the thread of the call. NULL: nothing. */
void trap_store_before(trap_call call, void (*fn)(void *user), void *user);

/* The greatest number of partitions in one save; 0: no limit. */
void trap_store_limit(size_t max_partitions);

#endif
