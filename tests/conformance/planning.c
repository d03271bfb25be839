/*
 * planning.c - ranges that are written down before they run
 */
#include "tests/conformance/suite.h"

#include "util/clock.h"

static pawl_plan_line
plan_line(int32_t number, int64_t epoch, int64_t expected, int64_t pending)
{
    return (pawl_plan_line){.partition = {"t", number},
                            .epoch = epoch,
                            .expected = pawl_position_at(expected),
                            .pending = pawl_position_at(pending)};
}

static void
a_plan_outlives_its_owner(void **state)
{
    suite_state *suite = *state;
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(10));
    pawl_plan_line line = plan_line(0, epoch, 10, 30);
    pawl_entry entry;
    pawl_error err;

    suite_need(suite, PAWL_STORE_PLAN);
    assert_status(PAWL_OK, pawl_store_plan(suite->store, suite->group, &line, 1, &err), err);
    entry = suite_load(suite->store, suite->group, "t", 0);
    assert_true(pawl_position_equal(entry.offset, pawl_position_at(10)));
    assert_true(pawl_position_equal(entry.pending, pawl_position_at(30)));

    suite_acquire(suite->store, suite->group, "t", 0, pawl_position_absent());
    entry = suite_load(suite->store, suite->group, "t", 0);
    assert_true(pawl_position_equal(entry.pending, pawl_position_at(30)));
}

static void
a_save_clears_the_plan(void **state)
{
    suite_state *suite = *state;
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(10));
    int64_t other = suite_acquire(suite->store, suite->group, "t", 1, pawl_position_at(10));
    pawl_plan_line lines[] = {plan_line(0, epoch, 10, 30), plan_line(1, other, 10, INT64_MAX)};
    pawl_error err;

    suite_need(suite, PAWL_STORE_PLAN);
    assert_status(PAWL_OK, pawl_store_plan(suite->store, suite->group, lines, 2, &err), err);
    assert_status(PAWL_OK, suite_save(suite->store, suite->group, "t", 0, epoch, pawl_position_at(10), 30, &err), err);
    assert_false(suite_load(suite->store, suite->group, "t", 0).pending.known);
    assert_int_equal(suite_load(suite->store, suite->group, "t", 1).pending.offset, INT64_MAX);

    /* A plan without an until takes it back. */
    lines[1].pending = pawl_position_absent();
    assert_status(PAWL_OK, pawl_store_plan(suite->store, suite->group, &lines[1], 1, &err), err);
    assert_false(suite_load(suite->store, suite->group, "t", 1).pending.known);
}

static void
a_plan_renews_the_owners_entry(void **state)
{
    suite_state *suite = *state;
    pawl_owner owner = suite_owner("planner");
    pawl_acquire_line line = {.partition = {"t", 0}, .initial = pawl_position_at(10)};
    int64_t before_ms = pawl__clock_wall_ms();
    pawl_plan_line planned;
    pawl_error err;

    suite_need(suite, PAWL_STORE_PLAN | PAWL_STORE_CAS_EPOCH);
    owner.renewed_ms = 1000;
    assert_status(PAWL_OK, pawl_store_acquire(suite->store, suite->group, &owner, NULL, &line, 1, &err), err);
    planned = plan_line(0, line.ret_epoch, 10, 30);
    assert_status(PAWL_OK, pawl_store_plan(suite->store, suite->group, &planned, 1, &err), err);
    assert_in_range(suite_load(suite->store, suite->group, "t", 0).owner.renewed_ms, before_ms, pawl__clock_wall_ms());
}

static void
a_plan_leaves_batch_and_print(void **state)
{
    suite_state *suite = *state;
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(10));
    pawl_save_line saved = suite_line("t", 0, epoch, pawl_position_at(10), 20);
    pawl_plan_line planned = plan_line(0, epoch, 20, 30);
    pawl_entry entry;
    pawl_error err;

    suite_need(suite, PAWL_STORE_PLAN);
    saved.batch = 7;
    saved.print = "0123456789abcdef";
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, &saved, 1, &err), err);
    assert_status(PAWL_OK, pawl_store_plan(suite->store, suite->group, &planned, 1, &err), err);
    entry = suite_load(suite->store, suite->group, "t", 0);
    assert_int_equal(entry.batch, 7);
    assert_string_equal(entry.print, "0123456789abcdef");
}

static void
a_plan_is_guarded_like_a_save(void **state)
{
    suite_state *suite = *state;
    int64_t old = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(10));
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_absent());
    int64_t other = suite_acquire(suite->store, suite->group, "t", 1, pawl_position_at(5));
    pawl_plan_line lines[] = {plan_line(1, other, 5, 6), plan_line(0, old, 10, 30)};
    pawl_error err;

    suite_need(suite, PAWL_STORE_PLAN | PAWL_STORE_CAS_EPOCH | PAWL_STORE_CAS_OFFSET | PAWL_STORE_ATOMIC);
    assert_status(PAWL_FENCED, pawl_store_plan(suite->store, suite->group, lines, 2, &err), err);
    lines[1] = plan_line(0, epoch, 11, 30);
    assert_status(PAWL_CONFLICT, pawl_store_plan(suite->store, suite->group, lines, 2, &err), err);
    assert_false(suite_load(suite->store, suite->group, "t", 0).pending.known);
    assert_false(suite_load(suite->store, suite->group, "t", 1).pending.known);
}

static void
a_remove_clears_the_plan(void **state)
{
    suite_state *suite = *state;
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(10));
    pawl_plan_line line = plan_line(0, epoch, 10, 30);
    pawl_remove_line removed = {.partition = {"t", 0}, .epoch = epoch, .expected = pawl_position_at(10)};
    pawl_error err;

    suite_need(suite, PAWL_STORE_PLAN);
    assert_status(PAWL_OK, pawl_store_plan(suite->store, suite->group, &line, 1, &err), err);
    assert_status(PAWL_OK, pawl_store_remove(suite->store, suite->group, &removed, 1, &err), err);
    assert_false(suite_load(suite->store, suite->group, "t", 0).pending.known);
}

static void
unsupported_without_the_capability(void **state)
{
    suite_state *suite = *state;
    pawl_plan_line line = plan_line(0, 1, 0, 1);
    pawl_error err;

    suite_need_function(!(pawl_store_capabilities(suite->store) & PAWL_STORE_PLAN), "the store can keep plans");
    assert_status(PAWL_UNSUPPORTED, pawl_store_plan(suite->store, suite->group, &line, 1, &err), err);
}

static const struct CMUnitTest tests[] = {
    suite_test(a_plan_outlives_its_owner),          suite_test(a_save_clears_the_plan),
    suite_test(a_plan_renews_the_owners_entry),     suite_test(a_plan_is_guarded_like_a_save),
    suite_test(a_plan_leaves_batch_and_print),      suite_test(a_remove_clears_the_plan),
    suite_test(unsupported_without_the_capability),
};

const suite_tests suite_planning = {tests, G_N_ELEMENTS(tests)};
