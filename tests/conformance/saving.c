/*
 * saving.c - a save is all or nothing, and a compare-and-set; remove
 */
#include "tests/conformance/suite.h"

#include <string.h>

/* As many partitions as a save can hold, and no more than `wanted`. */
static size_t
that_fit(const suite_state *suite, size_t wanted)
{
    size_t max = pawl_store_max_partitions(suite->store);

    return max == 0 || max > wanted ? wanted : max;
}

static void
assert_all_offsets(const suite_state *suite, const pawl_save_line *lines, size_t count, int64_t offset)
{
    pawl_partition *partitions = g_new(pawl_partition, count);
    pawl_entry *entries = g_new(pawl_entry, count);
    pawl_error err;

    for (size_t i = 0; i < count; i++)
        partitions[i] = lines[i].partition;
    assert_status(PAWL_OK, pawl_store_load(suite->store, suite->group, partitions, count, entries, NULL, &err), err);
    for (size_t i = 0; i < count; i++)
        assert_true(pawl_position_equal(entries[i].offset, pawl_position_at(offset)));
    g_free(partitions);
    g_free(entries);
}

static void
save_writes_what_it_is_given(void **state)
{
    suite_state *suite = *state;
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_absent());
    pawl_save_line line = suite_line("t", 0, epoch, pawl_position_absent(), 42);
    pawl_entry before = suite_load(suite->store, suite->group, "t", 0), entry;
    pawl_error err;

    line.batch = 7;
    line.print = "0123-9f \"\\/%ü";
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, &line, 1, &err), err);
    entry = suite_load(suite->store, suite->group, "t", 0);
    assert_true(pawl_position_equal(entry.offset, pawl_position_at(42)));
    assert_int_equal(entry.batch, 7);
    assert_string_equal(entry.print, line.print);
    assert_epoch(suite, &entry, epoch);
    assert_string_equal(entry.owner.client_id, before.owner.client_id);
    assert_true(entry.owner.renewed_ms >= before.owner.renewed_ms);

    /* The print is that of the record before the offset: without one the old one must not stay. */
    line = suite_line("t", 0, epoch, pawl_position_at(42), 43);
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, &line, 1, &err), err);
    assert_string_equal(suite_load(suite->store, suite->group, "t", 0).print, "");
}

static void
exact_offsets(void **state)
{
    static const int64_t offsets[] = {0, 1, INT64_C(1) << 31, INT64_C(1) << 32, (INT64_C(1) << 53) + 1, INT64_MAX};
    suite_state *suite = *state;
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_absent());
    pawl_position expected = pawl_position_absent();
    pawl_error err;

    for (size_t i = 0; i < G_N_ELEMENTS(offsets); i++) {
        assert_status(PAWL_OK, suite_save(suite->store, suite->group, "t", 0, epoch, expected, offsets[i], &err), err);
        assert_offset(suite, "t", 0, pawl_position_at(offsets[i]));
        expected = pawl_position_at(offsets[i]);
    }
    suite_acquire(suite->store, suite->group, "t", 1, pawl_position_at(INT64_MAX));
    assert_offset(suite, "t", 1, pawl_position_at(INT64_MAX));
}

static void
another_offset_than_expected(void **state)
{
    suite_state *suite = *state;
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(10));
    int64_t empty = suite_acquire(suite->store, suite->group, "t", 1, pawl_position_absent());
    pawl_error err;

    suite_need(suite, PAWL_STORE_CAS_OFFSET);
    assert_status(PAWL_CONFLICT, suite_save(suite->store, suite->group, "t", 0, epoch, pawl_position_at(9), 11, &err),
                  err);
    assert_says(err, "10");
    assert_says(err, "9");
    assert_status(PAWL_CONFLICT, suite_save(suite->store, suite->group, "t", 0, epoch, pawl_position_at(0), 11, &err),
                  err);

    /* Absent and 0 are not the same, either way round. */
    assert_status(PAWL_CONFLICT,
                  suite_save(suite->store, suite->group, "t", 0, epoch, pawl_position_absent(), 11, &err), err);
    assert_status(PAWL_CONFLICT, suite_save(suite->store, suite->group, "t", 1, empty, pawl_position_at(0), 11, &err),
                  err);
    assert_offset(suite, "t", 0, pawl_position_at(10));
    assert_offset(suite, "t", 1, pawl_position_absent());
}

static void
the_same_save_again(void **state)
{
    suite_state *suite = *state;
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(10));
    pawl_error err;

    suite_need(suite, PAWL_STORE_CAS_OFFSET);
    assert_status(PAWL_OK, suite_save(suite->store, suite->group, "t", 0, epoch, pawl_position_at(10), 20, &err), err);
    assert_status(PAWL_CONFLICT, suite_save(suite->store, suite->group, "t", 0, epoch, pawl_position_at(10), 20, &err),
                  err);
    assert_offset(suite, "t", 0, pawl_position_at(20));

    /* Backwards is fine for the owner who says so. */
    assert_status(PAWL_OK, suite_save(suite->store, suite->group, "t", 0, epoch, pawl_position_at(20), 5, &err), err);
    assert_offset(suite, "t", 0, pawl_position_at(5));
}

/* An epoch that the store has never given: its data went back in time, or was replaced. */
static void
an_epoch_from_the_future(void **state)
{
    suite_state *suite = *state;
    pawl_error err;

    suite_need(suite, PAWL_STORE_CAS_EPOCH);
    assert_status(PAWL_CONFLICT, suite_save(suite->store, suite->group, "t", 0, 5, pawl_position_absent(), 1, &err),
                  err);
    suite_acquire(suite->store, suite->group, "t", 1, pawl_position_at(1));
    assert_status(PAWL_CONFLICT,
                  suite_save(suite->store, suite->group, "t", 1, INT64_MAX, pawl_position_at(1), 2, &err), err);
    assert_offset(suite, "t", 1, pawl_position_at(1));
}

static void
a_thousand_or_none(void **state)
{
    suite_state *suite = *state;
    size_t count = that_fit(suite, 1000);
    pawl_save_line *lines = suite_many(suite->store, suite->group, count);
    int64_t good;
    pawl_error err;

    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, lines, count, &err), err);
    assert_all_offsets(suite, lines, count, 1);

    suite_need(suite, PAWL_STORE_ATOMIC);
    for (size_t i = 0; i < count; i++) {
        lines[i].expected = pawl_position_at(1);
        lines[i].until = 2;
    }
    if (pawl_store_capabilities(suite->store) & PAWL_STORE_CAS_OFFSET) {
        lines[count - 1].expected = pawl_position_at(0);
        assert_status(PAWL_CONFLICT, pawl_store_save(suite->store, suite->group, lines, count, &err), err);
        assert_all_offsets(suite, lines, count, 1);
        lines[count - 1].expected = pawl_position_at(1);
    }
    if (pawl_store_capabilities(suite->store) & PAWL_STORE_CAS_EPOCH) {
        good = suite_acquire(suite->store, suite->group, lines[count / 2].partition.topic,
                             lines[count / 2].partition.number, pawl_position_absent());
        assert_status(PAWL_FENCED, pawl_store_save(suite->store, suite->group, lines, count, &err), err);
        assert_all_offsets(suite, lines, count, 1);
        lines[count / 2].epoch = good;
    }
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, lines, count, &err), err);
    assert_all_offsets(suite, lines, count, 2);
    g_free(lines);
}

static void
other_partitions_stay(void **state)
{
    suite_state *suite = *state;
    pawl_save_line *lines = suite_many(suite->store, suite->group, 6);
    pawl_error err;

    lines[3].until = 50;
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, &lines[3], 1, &err), err);
    for (size_t i = 0; i < 6; i++) {
        pawl_entry entry = suite_load(suite->store, suite->group, lines[i].partition.topic, lines[i].partition.number);

        assert_int_equal(entry.offset.offset, i == 3 ? 50 : 0);
        assert_int_equal(entry.batch, i == 3 ? 1 : 0);
        assert_epoch(suite, &entry, lines[i].epoch);
    }
    g_free(lines);
}

/* A save that is no batch leaves the number of the last one that was. */
static void
a_position_save_keeps_the_number(void **state)
{
    suite_state *suite = *state;
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(0));
    pawl_save_line line = suite_line("t", 0, epoch, pawl_position_at(0), 10);
    pawl_error err;

    line.batch = 33;
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, &line, 1, &err), err);
    line.expected = pawl_position_at(10), line.until = 12, line.batch = 0;
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, &line, 1, &err), err);
    assert_int_equal(suite_load(suite->store, suite->group, "t", 0).batch, 33);

    /* One that moves nothing renews the owner. */
    line.expected = pawl_position_at(12);
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, &line, 1, &err), err);
    assert_offset(suite, "t", 0, pawl_position_at(12));
}

static void
remove_forgets_and_says_so(void **state)
{
    suite_state *suite = *state;
    int64_t with = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(10));
    int64_t without = suite_acquire(suite->store, suite->group, "t", 1, pawl_position_absent());
    pawl_remove_line lines[] = {
        {.partition = {"t", 0}, .epoch = with, .expected = pawl_position_at(10)},
        {.partition = {"t", 1}, .epoch = without, .ret_removed = true},
    };
    pawl_entry entry;
    pawl_error err;

    assert_status(PAWL_OK, pawl_store_remove(suite->store, suite->group, lines, 2, &err), err);
    assert_true(lines[0].ret_removed);
    assert_false(lines[1].ret_removed);
    entry = suite_load(suite->store, suite->group, "t", 0);
    assert_false(entry.offset.known);
    assert_false(entry.pending.known);
    assert_string_equal(entry.print, "");
    assert_epoch(suite, &entry, with);
}

static void
remove_is_guarded_like_a_save(void **state)
{
    suite_state *suite = *state;
    int64_t old = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(10));
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_absent());
    pawl_remove_line lines[] = {
        {.partition = {"t", 1}, .epoch = 1},
        {.partition = {"t", 0}, .epoch = old, .expected = pawl_position_at(10)},
    };
    pawl_error err;

    suite_need(suite, PAWL_STORE_CAS_EPOCH | PAWL_STORE_CAS_OFFSET | PAWL_STORE_ATOMIC);
    lines[0].epoch = suite_acquire(suite->store, suite->group, "t", 1, pawl_position_at(1));
    lines[0].expected = pawl_position_at(1);
    assert_status(PAWL_FENCED, pawl_store_remove(suite->store, suite->group, lines, 2, &err), err);
    assert_false(lines[0].ret_removed);
    lines[1].epoch = epoch, lines[1].expected = pawl_position_at(11);
    assert_status(PAWL_CONFLICT, pawl_store_remove(suite->store, suite->group, lines, 2, &err), err);
    assert_offset(suite, "t", 0, pawl_position_at(10));
    assert_offset(suite, "t", 1, pawl_position_at(1));

    /* The epoch outlives the offset: an owner from before is refused. */
    lines[1].expected = pawl_position_at(10);
    assert_status(PAWL_OK, pawl_store_remove(suite->store, suite->group, lines, 2, &err), err);
    assert_status(PAWL_FENCED, suite_save(suite->store, suite->group, "t", 0, old, pawl_position_absent(), 11, &err),
                  err);
    assert_true(suite_acquire(suite->store, suite->group, "t", 0, pawl_position_absent()) > epoch);
}

static const struct CMUnitTest tests[] = {
    suite_test(save_writes_what_it_is_given), suite_test(exact_offsets),
    suite_test(another_offset_than_expected), suite_test(the_same_save_again),
    suite_test(an_epoch_from_the_future),     suite_test(a_thousand_or_none),
    suite_test(other_partitions_stay),        suite_test(a_position_save_keeps_the_number),
    suite_test(remove_forgets_and_says_so),   suite_test(remove_is_guarded_like_a_save),
};

const suite_tests suite_saving = {tests, G_N_ELEMENTS(tests)};
