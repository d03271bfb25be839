/*
 * hbase_row.c - the row of a group: what is written into it, by whom, and what others put there
 */
#include "tests/conformance/suite.h"

#include "tests/conformance/hbase_raw.h"

#include <string.h>

/* Each of the two has changed the row that the other remembers. */
static void
two_members_change_one_row(void **state)
{
    pawl_store *one = raw_hbase_open(raw_hbase_gateway()), *two = raw_hbase_open(raw_hbase_gateway());
    int64_t first = suite_acquire(one, "members", "t", 1, pawl_position_at(0));
    int64_t second = suite_acquire(two, "members", "t", 2, pawl_position_at(0));
    pawl_error err;

    (void) state;
    for (int64_t i = 0; i < 20; i++) {
        assert_status(PAWL_OK, suite_save(one, "members", "t", 1, first, pawl_position_at(i), i + 1, &err), err);
        assert_status(PAWL_OK, suite_save(two, "members", "t", 2, second, pawl_position_at(i), i + 1, &err), err);
    }
    raw_hbase_assert_stored(two, "members", 1, 20);
    raw_hbase_assert_stored(one, "members", 2, 20);
    pawl_store_close(one);
    pawl_store_close(two);
}

/* What a handle remembers is old: the verdict comes from the row as it is. */
static void
fenced_and_moved_behind_the_back(void **state)
{
    pawl_store *old = raw_hbase_open(raw_hbase_gateway()), *new = raw_hbase_open(raw_hbase_gateway());
    int64_t epoch = suite_acquire(old, "moved", "t", 0, pawl_position_at(5)), next;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, suite_save(new, "moved", "t", 0, epoch, pawl_position_at(5), 6, &err), err);
    assert_status(PAWL_OK, suite_save(old, "moved", "t", 0, epoch, pawl_position_at(6), 7, &err), err);
    assert_status(PAWL_OK, suite_save(new, "moved", "t", 0, epoch, pawl_position_at(7), 9, &err), err);
    assert_status(PAWL_CONFLICT, suite_save(old, "moved", "t", 0, epoch, pawl_position_at(7), 8, &err), err);
    next = suite_acquire(new, "moved", "t", 0, pawl_position_at(0));
    assert_status(PAWL_FENCED, suite_save(old, "moved", "t", 0, epoch, pawl_position_at(9), 10, &err), err);
    assert_status(PAWL_OK, suite_save(old, "moved", "t", 0, next, pawl_position_at(9), 10, &err), err);
    raw_hbase_assert_stored(new, "moved", 0, 10);
    pawl_store_close(old);
    pawl_store_close(new);
}

/* The layout that the README promises, seen without pawl. */
static void
what_is_written(void **state)
{
    pawl_store *store = raw_hbase_open(raw_hbase_gateway());
    pawl_owner owner = suite_owner("c\"1");
    pawl_acquire_line line = {.partition = {"t", 3}, .initial = pawl_position_at(INT64_MAX - 1)};
    pawl_plan_line plan = {.partition = {"t", 3}, .epoch = 1, .expected = pawl_position_at(INT64_MAX - 1)};
    pawl_remove_line removed = {.partition = {"t", 3}, .epoch = 1, .expected = pawl_position_at(INT64_MAX)};
    char *value, *guard;
    pawl_error err;

    (void) state;
    owner.pid = 12;
    owner.renewed_ms = 1764547200000;
    assert_status(PAWL_OK, pawl_store_acquire(store, "layout", &owner, "cluster-1", &line, 1, &err), err);
    assert_string_equal(value = raw_hbase_get(raw_hbase_table, "layout", "o:t:3"), "9223372036854775806");
    g_free(value);
    value = raw_hbase_get(raw_hbase_table, "layout", "o:t:3:owner");
    assert_true(g_str_has_prefix(value, "{\"epoch\":1,\"host\":\"host.example~"));
    assert_true(g_str_has_suffix(value, "\",\"pid\":12,\"client\":\"c\\\"1\"}"));
    g_free(value);
    assert_string_equal(value = raw_hbase_get(raw_hbase_table, "layout", "o:cluster"), "cluster-1");
    g_free(value);
    assert_string_equal(value = raw_hbase_get(raw_hbase_table, "layout", "o:layout"), "1");
    g_free(value);
    assert_int_equal(strlen(guard = raw_hbase_get(raw_hbase_table, "layout", "o:guard")), 32);

    plan.pending = pawl_position_at(INT64_MAX);
    assert_status(PAWL_OK, pawl_store_plan(store, "layout", &plan, 1, &err), err);
    value = raw_hbase_get(raw_hbase_table, "layout", "o:t:3:state");
    assert_true(g_str_has_prefix(value, "{\"renewed_ms\":")); /* of the plan */
    assert_true(g_str_has_suffix(value, ",\"pending\":9223372036854775807}"));
    g_free(value);
    assert_string_not_equal(value = raw_hbase_get(raw_hbase_table, "layout", "o:guard"), guard);
    g_free(value);
    g_free(guard);

    assert_status(PAWL_OK, suite_save(store, "layout", "t", 3, 1, pawl_position_at(INT64_MAX - 1), INT64_MAX, &err),
                  err);
    assert_status(PAWL_OK, pawl_store_remove(store, "layout", &removed, 1, &err), err);
    assert_string_equal(value = raw_hbase_get(raw_hbase_table, "layout", "o:t:3"), "none");
    g_free(value);
    assert_false(suite_load(store, "layout", "t", 3).offset.known);
    pawl_store_close(store);
}

/* There is nothing to give back: nothing is written. */
static void
a_release_of_nothing(void **state)
{
    pawl_store *store = raw_hbase_open(raw_hbase_gateway()), *other = raw_hbase_open(raw_hbase_gateway());
    pawl_acquire_line line = {.partition = {"t", 0}, .ret_epoch = 1};
    char *guard, *after;
    pawl_error err;

    (void) state;
    assert_status(PAWL_OK, pawl_store_release(store, "nothing", &line, 1, &err), err);
    assert_null(raw_hbase_get(raw_hbase_table, "nothing", "o:guard"));
    assert_null(raw_hbase_get(raw_hbase_table, "nothing", "o:layout"));

    line.ret_epoch = suite_acquire(store, "nothing", "t", 0, pawl_position_at(1));
    suite_acquire(other, "nothing", "t", 0, pawl_position_at(1));
    guard = raw_hbase_get(raw_hbase_table, "nothing", "o:guard");
    assert_status(PAWL_OK, pawl_store_release(store, "nothing", &line, 1, &err), err);
    assert_string_equal(guard, after = raw_hbase_get(raw_hbase_table, "nothing", "o:guard"));
    g_free(after);
    g_free(guard);
    pawl_store_close(other);
    pawl_store_close(store);
}

/* Not one letter of a cluster's id is lost. */
static void
a_cluster_that_is_too_long(void **state)
{
    pawl_store *store = raw_hbase_open(raw_hbase_gateway());
    char *cluster = g_strnfill(PAWL_CLUSTER_SIZE, 'c'), *stored;
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_owner owner = suite_owner("c");
    pawl_entry entry;
    pawl_error err;

    (void) state;
    line.epoch_seen = suite_acquire(store, "long", "t", 0, pawl_position_at(1));
    raw_hbase_put(raw_hbase_table, "long", "o:cluster", cluster);
    assert_status(PAWL_UNREADABLE, pawl_store_load(store, "long", &line.partition, 1, &entry, NULL, &err), err);
    assert_says(err, "o:cluster");
    assert_status(PAWL_UNREADABLE, pawl_store_acquire(store, "long", &owner, "new", &line, 1, &err), err);
    assert_string_equal(cluster, stored = raw_hbase_get(raw_hbase_table, "long", "o:cluster"));
    g_free(stored);
    g_free(cluster);
    pawl_store_close(store);
}

/* An owner that cannot be read is no missing owner. */
static void
a_spoiled_owner(void **state)
{
    static const char *const spoiled[] = {"", "{", "[]", "{\"epoch\":-1}", "{\"epoch\":1.5}", "{\"epoch\":\"1\"}"};
    pawl_store *store = raw_hbase_open(raw_hbase_gateway());
    pawl_partition partition = {"t", 0};
    pawl_entry entry;
    pawl_error err;

    (void) state;
    suite_acquire(store, "spoiled", "t", 0, pawl_position_at(1));
    for (size_t i = 0; i < G_N_ELEMENTS(spoiled); i++) {
        raw_hbase_put(raw_hbase_table, "spoiled", "o:t:0:owner", spoiled[i]);
        assert_status(PAWL_UNREADABLE, pawl_store_load(store, "spoiled", &partition, 1, &entry, NULL, &err), err);
        assert_says(err, "owner");
        assert_says(err, spoiled[i]);
    }
    pawl_store_close(store);
}

/* Offsets that somebody put there with HBase's own tools, into a row that pawl has not written yet. */
static void
a_row_made_by_hand(void **state)
{
    pawl_store *store = raw_hbase_open(raw_hbase_gateway());
    pawl_error err;

    (void) state;
    raw_hbase_put(raw_hbase_table, "by-hand", "o:t:0", "42");
    raw_hbase_assert_stored(store, "by-hand", 0, 42);
    assert_status(PAWL_OK,
                  suite_save(store, "by-hand", "t", 0, suite_acquire(store, "by-hand", "t", 0, pawl_position_at(0)),
                             pawl_position_at(42), 43, &err),
                  err);
    raw_hbase_assert_stored(store, "by-hand", 0, 43);
    pawl_store_close(store);
}

int
hbase_row_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_members_change_one_row),
        cmocka_unit_test(fenced_and_moved_behind_the_back),
        cmocka_unit_test(what_is_written),
        cmocka_unit_test(a_release_of_nothing),
        cmocka_unit_test(a_cluster_that_is_too_long),
        cmocka_unit_test(a_spoiled_owner),
        cmocka_unit_test(a_row_made_by_hand),
    };

    return cmocka_run_group_tests_name("hbase row", tests, NULL, NULL);
}
