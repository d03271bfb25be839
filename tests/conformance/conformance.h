/*
 * conformance.h - the store contract in the form of tests
 *
 * Every store passes this suite, unchanged, against its real server. A store's test fills in a `conformance` and calls
 * conformance_run(). What is expected follows from the capabilities that the store claims; what it cannot do is skipped
 * by name, so that the differences can be read off the output.
 */
#ifndef PAWL_TESTS_CONFORMANCE_H
#define PAWL_TESTS_CONFORMANCE_H

#include <pawl/sys/store.h>

/* The store under test. A function that is NULL skips the tests that need it. */
typedef struct conformance {
    const char *name;
    const char *url; /* of an empty store; it is not emptied between tests, which use groups of their own */

    /* What was saved is there after the process was killed. */
    bool survives_kill;

    /* Offsets are kept for topics and partitions that exist: those that the suite uses, with numbers below this one. 0: for
     * any. */
    int32_t partitions;

    /* Puts a text in the place of a stored offset, behind pawl's back. False: this store cannot hold it. */
    bool (*spoil)(const char *url, const char *group, pawl_partition partition, const char *text);

    /* Changes the layout's version that the store says it has: `step` is 1 for a newer one, -1 to take that back. */
    void (*change_layout)(const char *url, const char *group, int step);

    /* Makes every call wait from now on (a lock, a server that is stopped), or lets them go on. */
    void (*hang)(const char *url, bool hung);

    /* Results in the transaction of a save: writes a number through the native handle, and reads it from outside; -1
     * when there is none. */
    void (*put_result)(void *handle, const char *group, int64_t number);
    int64_t (*get_result)(const char *url, const char *group);
} conformance;

/* Runs it all, and returns the number of tests that failed. */
int conformance_run(const conformance *store);

#endif
