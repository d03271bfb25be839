/*
 * waiting.c - a store that does not answer: deadlines, and cancel from another thread
 */
#include "tests/conformance/suite.h"

#include <pthread.h>

#include "util/clock.h"
#include "util/wait.h"

/* How long after its deadline, or after cancel, a call may still return. */
#define LATE_MS 1000

static void
a_deadline_is_kept(void **state)
{
    suite_state *suite = *state;
    const conformance *under_test = suite->under_test;
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(0)), start_ms, took_ms;
    pawl_store *hasty;
    pawl_status status;
    pawl_error err;

    suite_need_function(under_test->hang != NULL, "the store cannot be made to wait");
    hasty = suite_open(under_test, 600);
    under_test->hang(under_test->url, true);
    start_ms = pawl__clock_ms();
    status = suite_save(hasty, suite->group, "t", 0, epoch, pawl_position_at(0), 1, &err);
    took_ms = pawl__clock_ms() - start_ms;
    under_test->hang(under_test->url, false);

    /* Whether the save was sent at all depends on the store. It never is PAWL_OK, FENCED or CONFLICT. */
    assert_true(status == PAWL_TIMEOUT || status == PAWL_UNREACHABLE || status == PAWL_OUTCOME_UNKNOWN);
    assert_in_range(took_ms, 300, 600 + LATE_MS);

    /* The handle is good for the next call. */
    status = pawl_store_save(hasty, suite->group, NULL, 0, &err);
    assert_int_equal(status, PAWL_OK);
    assert_true(suite_load(hasty, suite->group, "t", 0).offset.known);
    pawl_store_close(hasty);
}

/* A thread that saves, and says when it begins. */
typedef struct saving_thread {
    pawl_store *store;
    const char *group;
    int64_t epoch;
    pawl__wait wait;
    bool begun;
    pawl_status status;
    pawl_error err;
} saving_thread;

static void *
save_in_thread(void *user)
{
    saving_thread *saver = user;

    pawl__wait_lock(&saver->wait);
    saver->begun = true;
    pawl__wait_wake(&saver->wait);
    pawl__wait_unlock(&saver->wait);
    saver->status = suite_save(saver->store, saver->group, "t", 0, saver->epoch, pawl_position_at(0), 1, &saver->err);
    return NULL;
}

static void
wait_for_begin(saving_thread *saver)
{
    pawl__wait_lock(&saver->wait);
    while (!saver->begun)
        pawl__wait_until(&saver->wait, PAWL__NEVER);
    pawl__wait_until(&saver->wait, pawl__clock_ms() + 100); /* it is inside the call by now; if not, the better */
    pawl__wait_unlock(&saver->wait);
}

static void
cancel_ends_the_waiting(void **state)
{
    suite_state *suite = *state;
    const conformance *under_test = suite->under_test;
    saving_thread saver = {.group = suite->group};
    int64_t start_ms, took_ms;
    pthread_t thread;
    pawl_entry entry;
    pawl_error err;

    suite_need_function(under_test->hang != NULL, "the store cannot be made to wait");
    saver.epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(0));
    saver.store = suite_open(under_test, 30000);
    pawl__wait_init(&saver.wait);

    under_test->hang(under_test->url, true);
    assert_int_equal(pthread_create(&thread, NULL, save_in_thread, &saver), 0);
    wait_for_begin(&saver);
    start_ms = pawl__clock_ms();
    pawl_store_cancel(saver.store);
    pthread_join(thread, NULL);
    took_ms = pawl__clock_ms() - start_ms;
    under_test->hang(under_test->url, false);

    assert_status(PAWL_CANCELLED, saver.status, saver.err);
    assert_in_range(took_ms, 0, LATE_MS);

    /* It stays cancelled. */
    assert_status(PAWL_CANCELLED,
                  pawl_store_load(saver.store, suite->group, &(pawl_partition){"t", 0}, 1, &entry, NULL, &err), err);
    pawl_store_close(saver.store);
    pawl__wait_done(&saver.wait);
    assert_offset(suite, "t", 0, pawl_position_at(0));
}

static void
cancelled_before_the_call(void **state)
{
    suite_state *suite = *state;
    pawl_store *store = suite_open(suite->under_test, 5000);
    pawl_error err;

    pawl_store_cancel(store);
    pawl_store_cancel(store);
    assert_status(PAWL_CANCELLED, pawl_store_save(store, suite->group, NULL, 0, &err), err);
    pawl_store_close(store);
}

static const struct CMUnitTest tests[] = {
    suite_test(a_deadline_is_kept),
    suite_test(cancel_ends_the_waiting),
    suite_test(cancelled_before_the_call),
};

const suite_tests suite_waiting = {tests, G_N_ELEMENTS(tests)};
