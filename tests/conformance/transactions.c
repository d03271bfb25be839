/*
 * transactions.c - results and offsets together, or neither
 */
#include "tests/conformance/suite.h"

/* A partition at 10 and the line that moves it to 20. */
static pawl_save_line
prepare(const suite_state *suite)
{
    int64_t epoch;

    suite_need(suite, PAWL_STORE_TRANSACTION);
    suite_need_function(suite->under_test->put_result != NULL, "no results can be written");
    epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(10));
    return suite_line("t", 0, epoch, pawl_position_at(10), 20);
}

/* Begins with this line and writes a result. */
static void
begin_and_put(const suite_state *suite, const pawl_save_line *line, int64_t number)
{
    void *handle = NULL;
    pawl_error err;

    assert_status(PAWL_OK, pawl_store_begin(suite->store, suite->group, line, 1, &handle, &err), err);
    assert_non_null(handle);
    suite->under_test->put_result(handle, suite->group, number);
}

static void
assert_result(const suite_state *suite, int64_t number)
{
    assert_int_equal(suite->under_test->get_result(suite->under_test->url, suite->group), number);
}

static void
committed_together(void **state)
{
    suite_state *suite = *state;
    pawl_save_line line = prepare(suite);
    pawl_error err;

    begin_and_put(suite, &line, 1);
    assert_result(suite, -1);
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, &line, 1, &err), err);
    assert_result(suite, 1);
    assert_offset(suite, "t", 0, pawl_position_at(20));

    /* The next one, ended with a smaller until than it was begun with. */
    line.expected = pawl_position_at(20), line.until = 30;
    begin_and_put(suite, &line, 2);
    line.until = 25;
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, &line, 1, &err), err);
    assert_result(suite, 2);
    assert_offset(suite, "t", 0, pawl_position_at(25));
}

static void
rolled_back_together(void **state)
{
    suite_state *suite = *state;
    pawl_save_line line = prepare(suite);
    pawl_store *second;
    void *handle;
    pawl_error err;

    begin_and_put(suite, &line, 1);
    pawl_store_rollback(suite->store);
    pawl_store_rollback(suite->store);
    assert_result(suite, -1);
    assert_offset(suite, "t", 0, pawl_position_at(10));

    /* Everything is held back: nothing to save, and the results come again later. */
    begin_and_put(suite, &line, 1);
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, NULL, 0, &err), err);
    assert_result(suite, -1);

    /* A handle that is closed in the middle. */
    second = suite_open(suite->under_test, 5000);
    assert_status(PAWL_OK, pawl_store_begin(second, suite->group, &line, 1, &handle, &err), err);
    suite->under_test->put_result(handle, suite->group, 1);
    pawl_store_close(second);
    assert_result(suite, -1);
    assert_offset(suite, "t", 0, pawl_position_at(10));
}

/* begin looks before the results are made: a flush for nothing costs. */
static void
begin_is_guarded_like_a_save(void **state)
{
    suite_state *suite = *state;
    pawl_save_line line = prepare(suite);
    int64_t old = line.epoch;
    void *handle = NULL;
    pawl_error err;

    line.expected = pawl_position_at(9);
    assert_status(PAWL_CONFLICT, pawl_store_begin(suite->store, suite->group, &line, 1, &handle, &err), err);
    line.expected = pawl_position_at(10);
    line.epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_absent());
    begin_and_put(suite, &line, 1);
    pawl_store_rollback(suite->store);
    line.epoch = old;
    assert_status(PAWL_FENCED, pawl_store_begin(suite->store, suite->group, &line, 1, &handle, &err), err);
    assert_null(handle);
    assert_result(suite, -1);

    /* After a begin that failed there is no transaction, so other calls are fine. */
    assert_offset(suite, "t", 0, pawl_position_at(10));
}

static void
one_thing_after_the_other(void **state)
{
    suite_state *suite = *state;
    pawl_save_line line = prepare(suite), other;
    pawl_partition partition = {"t", 0};
    pawl_entry entry;
    void *handle;
    pawl_error err;

    assert_status(PAWL_INVALID, pawl_store_begin(suite->store, suite->group, &line, 0, &handle, &err), err);
    begin_and_put(suite, &line, 1);
    assert_status(PAWL_INVALID, pawl_store_begin(suite->store, suite->group, &line, 1, &handle, &err), err);
    assert_status(PAWL_INVALID, pawl_store_load(suite->store, suite->group, &partition, 1, &entry, NULL, &err), err);

    /* Another partition than was begun: refused, and the results are gone. */
    other = suite_line("t", 1, line.epoch, pawl_position_at(10), 20);
    assert_status(PAWL_INVALID, pawl_store_save(suite->store, suite->group, &other, 1, &err), err);
    assert_result(suite, -1);
    begin_and_put(suite, &line, 1);
    assert_status(PAWL_INVALID, pawl_store_save(suite->store, "another-group", &line, 1, &err), err);
    assert_result(suite, -1);
    assert_offset(suite, "t", 0, pawl_position_at(10));
}

static void
ranges_that_are_held_back(void **state)
{
    suite_state *suite = *state;
    pawl_save_line lines[3], saved[2];
    void *handle;
    pawl_error err;

    lines[0] = prepare(suite);
    for (int32_t i = 1; i < 3; i++)
        lines[i] = suite_line("t", i, suite_acquire(suite->store, suite->group, "t", i, pawl_position_at(10)),
                              pawl_position_at(10), 20);
    assert_status(PAWL_OK, pawl_store_begin(suite->store, suite->group, lines, 3, &handle, &err), err);
    saved[0] = lines[0], saved[1] = lines[2];
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, saved, 2, &err), err);
    assert_offset(suite, "t", 0, pawl_position_at(20));
    assert_offset(suite, "t", 1, pawl_position_at(10));
    assert_offset(suite, "t", 2, pawl_position_at(20));
}

static void
cancelled_in_the_middle(void **state)
{
    suite_state *suite = *state;
    pawl_save_line line = prepare(suite);
    pawl_store *second = suite_open(suite->under_test, 5000);
    void *handle;
    pawl_error err;

    assert_status(PAWL_OK, pawl_store_begin(second, suite->group, &line, 1, &handle, &err), err);
    suite->under_test->put_result(handle, suite->group, 1);
    pawl_store_cancel(second);
    assert_status(PAWL_CANCELLED, pawl_store_save(second, suite->group, &line, 1, &err), err);
    assert_result(suite, -1);
    assert_offset(suite, "t", 0, pawl_position_at(10));
    pawl_store_close(second);
}

static void
unsupported_without_the_capability(void **state)
{
    suite_state *suite = *state;
    pawl_save_line line = suite_line("t", 0, 1, pawl_position_absent(), 1);
    void *handle = NULL;
    pawl_error err;

    suite_need_function(!(pawl_store_capabilities(suite->store) & PAWL_STORE_TRANSACTION),
                        "the store has transactions");
    assert_status(PAWL_UNSUPPORTED, pawl_store_begin(suite->store, suite->group, &line, 1, &handle, &err), err);
    assert_null(handle);
}

static const struct CMUnitTest tests[] = {
    suite_test(committed_together),
    suite_test(rolled_back_together),
    suite_test(begin_is_guarded_like_a_save),
    suite_test(one_thing_after_the_other),
    suite_test(ranges_that_are_held_back),
    suite_test(cancelled_in_the_middle),
    suite_test(unsupported_without_the_capability),
};

const suite_tests suite_transactions = {tests, G_N_ELEMENTS(tests)};
