/*
 * suite.h - what the files of the conformance suite share
 */
#ifndef PAWL_TESTS_SUITE_H
#define PAWL_TESTS_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>

#include "tests/conformance/conformance.h"

/* What each test gets as its state: a handle and a group that nobody has used. */
typedef struct suite_state {
    const conformance *under_test;
    pawl_store *store;
    char *group;
} suite_state;

/* ------------------------------------------------------------------------------------------------------- suite.c -- */

/* The number in the environment variable PAWL_TEST_FULL asks for long runs. */
bool suite_is_full(void);

/* A random number generator whose seed was printed, PAWL_TEST_SEED or a new one. The caller frees it. */
GRand *suite_random(void);

/* A handle on the store under test. The caller closes it. */
pawl_store *suite_open(const conformance *under_test, int64_t timeout_ms);

/* Whether the store can do all of that, and skipping the test when it cannot. */
bool suite_can(const suite_state *suite, unsigned capabilities);
void suite_need(const suite_state *suite, unsigned capabilities);
void suite_need_function(bool there, const char *what);

/* Fails the test unless the status is the expected one; shows the error's sentence. */
#define assert_status(expected, call, err) suite_assert_status((expected), (call), &(err), #call, __FILE__, __LINE__)
void suite_assert_status(pawl_status expected, pawl_status status, const pawl_error *err, const char *call,
                         const char *file, int line);

#define assert_says(err, text) suite_assert_says(&(err), (text), __FILE__, __LINE__)
void suite_assert_says(const pawl_error *err, const char *text, const char *file, int line);

/* An owner of that name in this process. */
pawl_owner suite_owner(const char *client_id);

/* Loads one entry. */
pawl_entry suite_load(pawl_store *store, const char *group, const char *topic, int32_t number);

/* Loads and acquires one partition, writing `initial` where nothing is stored, and returns the epoch. */
int64_t suite_acquire(pawl_store *store, const char *group, const char *topic, int32_t number, pawl_position initial);

/* The line of a save with batch number 1 and no print. */
pawl_save_line suite_line(const char *topic, int32_t number, int64_t epoch, pawl_position expected, int64_t until);

/* Saves one partition. */
pawl_status suite_save(pawl_store *store, const char *group, const char *topic, int32_t number, int64_t epoch,
                       pawl_position expected, int64_t until, pawl_error *err);

/* `count` partitions over two topics, all acquired with offset 0; the caller frees the lines, which move them to 1. */
pawl_save_line *suite_many(pawl_store *store, const char *group, size_t count);

/* Asserts that the stored offset is this one. */
#define assert_offset(suite, topic, number, position) \
    suite_assert_offset((suite)->store, (suite)->group, (topic), (number), (position), __FILE__, __LINE__)
void suite_assert_offset(pawl_store *store, const char *group, const char *topic, int32_t number,
                         pawl_position position, const char *file, int line);

/* Asserts that the entry has this epoch, where the store keeps any. */
#define assert_epoch(suite, entry, expected) \
    assert_int_equal((entry)->epoch, suite_can((suite), PAWL_STORE_CAS_EPOCH) ? (expected) : 0)

/* The tests of one theme. */
typedef struct suite_tests {
    const struct CMUnitTest *tests;
    size_t count;
} suite_tests;

extern const suite_tests suite_arguments, suite_owning, suite_saving, suite_planning, suite_names, suite_spoiling,
    suite_waiting, suite_racing, suite_transactions, suite_killing;

int suite_setup(void **state);
int suite_teardown(void **state);

#define suite_test(function)                                   \
    {                                                          \
#function, function, suite_setup, suite_teardown, NULL \
    }

#endif
