/*
 * owning.c - acquire and release, and what a former owner can still do: nothing
 */
#include "tests/conformance/suite.h"

#include <string.h>

#include "util/clock.h"

static void
nothing_stored_is_zeros(void **state)
{
    suite_state *suite = *state;
    pawl_partition partitions[] = {{"t", 0}, {"t", 7}};
    pawl_entry entries[2], empty;
    pawl_group_info group;
    pawl_error err;

    memset(entries, 0x55, sizeof entries);
    memset(&group, 0x55, sizeof group);
    memset(&empty, 0, sizeof empty);
    assert_status(PAWL_OK, pawl_store_load(suite->store, suite->group, partitions, 2, entries, &group, &err), err);
    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(entries[i].partition.topic, partitions[i].topic);
        assert_int_equal(entries[i].partition.number, partitions[i].number);
        entries[i].partition = empty.partition;
        assert_memory_equal(&entries[i], &empty, sizeof empty);
    }
    assert_string_equal(group.cluster, "");
}

static void
acquire_records_the_owner(void **state)
{
    suite_state *suite = *state;
    pawl_owner owner = suite_owner("client-ü");
    pawl_acquire_line line = {.partition = {"t", 3}, .ret_epoch = -1};
    int64_t before_ms = pawl__clock_wall_ms();
    pawl_group_info group;
    pawl_entry entry;
    pawl_error err;

    suite_need(suite, PAWL_STORE_CAS_EPOCH);
    assert_status(PAWL_OK, pawl_store_acquire(suite->store, suite->group, &owner, "cluster-1", &line, 1, &err), err);
    assert_true(line.ret_epoch > 0);
    assert_status(PAWL_OK, pawl_store_load(suite->store, suite->group, &line.partition, 1, &entry, &group, &err), err);
    assert_int_equal(entry.epoch, line.ret_epoch);
    assert_string_equal(entry.owner.host, owner.host);
    assert_string_equal(entry.owner.client_id, owner.client_id);
    assert_int_equal(entry.owner.pid, owner.pid);
    assert_in_range(entry.owner.renewed_ms, before_ms, pawl__clock_wall_ms());
    assert_false(entry.offset.known);
    assert_string_equal(group.cluster, "cluster-1");

    /* No cluster leaves what is stored; another one replaces it. */
    line.epoch_seen = line.ret_epoch;
    assert_status(PAWL_OK, pawl_store_acquire(suite->store, suite->group, &owner, NULL, &line, 1, &err), err);
    assert_status(PAWL_OK, pawl_store_load(suite->store, suite->group, NULL, 0, NULL, &group, &err), err);
    assert_string_equal(group.cluster, "cluster-1");
    line.epoch_seen = line.ret_epoch;
    assert_status(PAWL_OK, pawl_store_acquire(suite->store, suite->group, &owner, "cluster-2", &line, 1, &err), err);
    assert_status(PAWL_OK, pawl_store_load(suite->store, suite->group, NULL, 0, NULL, &group, &err), err);
    assert_string_equal(group.cluster, "cluster-2");
}

static void
an_owner_s_longest_names(void **state)
{
    suite_state *suite = *state;
    pawl_owner owner = {.pid = INT32_MAX};
    pawl_acquire_line line = {.partition = {"t", INT32_MAX}};
    pawl_entry entry;
    pawl_error err;

    suite_need(suite, PAWL_STORE_CAS_EPOCH);
    memset(owner.host, 'h', sizeof owner.host - 1);
    memset(owner.client_id, 'c', sizeof owner.client_id - 1);
    assert_status(PAWL_OK, pawl_store_acquire(suite->store, suite->group, &owner, NULL, &line, 1, &err), err);
    entry = suite_load(suite->store, suite->group, "t", INT32_MAX);
    assert_in_range(strlen(entry.owner.host), 200, sizeof owner.host - 1);
    assert_memory_equal(entry.owner.host, owner.host, strlen(entry.owner.host));
    assert_string_equal(entry.owner.client_id, owner.client_id);
    assert_int_equal(entry.owner.pid, owner.pid);

    owner.host[0] = '\0';
    line.epoch_seen = line.ret_epoch;
    assert_status(PAWL_INVALID, pawl_store_acquire(suite->store, suite->group, &owner, NULL, &line, 1, &err), err);
}

static void
initial_only_where_absent(void **state)
{
    suite_state *suite = *state;
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(0));

    assert_offset(suite, "t", 0, pawl_position_at(0)); /* 0 is an offset */
    assert_true(suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(99)) > epoch ||
                !suite_can(suite, PAWL_STORE_CAS_EPOCH));
    assert_offset(suite, "t", 0, pawl_position_at(0));

    suite_acquire(suite->store, suite->group, "t", 1, pawl_position_absent());
    assert_offset(suite, "t", 1, pawl_position_absent());
    suite_acquire(suite->store, suite->group, "t", 1, pawl_position_at(99));
    assert_offset(suite, "t", 1, pawl_position_at(99));
}

/* Nobody has owned it and it has no offset: it is acquired once all the same. */
static void
acquire_of_what_is_nowhere(void **state)
{
    suite_state *suite = *state;
    pawl_owner owner = suite_owner("late");
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_store *second;
    pawl_error err;

    suite_need(suite, PAWL_STORE_CAS_EPOCH);
    second = suite_open(suite->under_test, 5000);
    suite_acquire(suite->store, suite->group, "other", 0, pawl_position_absent());
    assert_int_equal(suite_load(second, suite->group, "t", 0).epoch, 0);
    suite_acquire(suite->store, suite->group, "t", 0, pawl_position_absent());
    assert_status(PAWL_STALE, pawl_store_acquire(second, suite->group, &owner, NULL, &line, 1, &err), err);
    pawl_store_close(second);
}

/* One line was read too long ago: none is acquired. */
static void
acquire_is_all_or_nothing(void **state)
{
    suite_state *suite = *state;
    pawl_owner owner = suite_owner("late");
    pawl_acquire_line lines[3] = {{.ret_epoch = -1}, {.ret_epoch = -1}, {.ret_epoch = -1}};
    pawl_error err;

    suite_need(suite, PAWL_STORE_ATOMIC | PAWL_STORE_CAS_EPOCH);
    for (int i = 0; i < 3; i++) {
        lines[i].partition = (pawl_partition){"t", i};
        lines[i].initial = pawl_position_at(7);
    }
    suite_acquire(suite->store, suite->group, "t", 2, pawl_position_absent());
    assert_status(PAWL_STALE, pawl_store_acquire(suite->store, suite->group, &owner, "c", lines, 3, &err), err);
    for (int i = 0; i < 2; i++) {
        pawl_entry entry = suite_load(suite->store, suite->group, "t", i);

        assert_int_equal(entry.epoch, 0);
        assert_false(entry.offset.known);
        assert_string_equal(entry.owner.host, "");
        assert_int_equal(lines[i].ret_epoch, -1);
    }
    assert_offset(suite, "t", 2, pawl_position_absent());

    /* An epoch that never was is no better than one that is over. */
    lines[0].epoch_seen = 12345;
    assert_status(PAWL_STALE, pawl_store_acquire(suite->store, suite->group, &owner, NULL, lines, 1, &err), err);
}

static void
a_former_owner_saves_nothing(void **state)
{
    suite_state *suite = *state;
    pawl_owner owner = suite_owner("the-new-one");
    pawl_acquire_line line = {.partition = {"t", 0}};
    int64_t old = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(10));
    pawl_error err;

    suite_need(suite, PAWL_STORE_CAS_EPOCH);
    line.epoch_seen = old;
    assert_status(PAWL_OK, pawl_store_acquire(suite->store, suite->group, &owner, NULL, &line, 1, &err), err);

    /* The expected offset is right, and that is not enough. */
    assert_status(PAWL_FENCED, suite_save(suite->store, suite->group, "t", 0, old, pawl_position_at(10), 20, &err),
                  err);
    assert_says(err, "the-new-one");
    assert_says(err, "host.example");
    assert_offset(suite, "t", 0, pawl_position_at(10));

    /* FENCED comes before CONFLICT: who is no owner need not know about offsets. */
    assert_status(PAWL_FENCED, suite_save(suite->store, suite->group, "t", 0, old, pawl_position_at(3), 20, &err), err);

    /* The new owner does not notice. */
    assert_status(PAWL_OK,
                  suite_save(suite->store, suite->group, "t", 0, line.ret_epoch, pawl_position_at(10), 15, &err), err);

    /* When the new one is gone the old one is still an old one. */
    assert_status(PAWL_OK, pawl_store_release(suite->store, suite->group, &line, 1, &err), err);
    assert_status(PAWL_FENCED, suite_save(suite->store, suite->group, "t", 0, old, pawl_position_at(15), 20, &err),
                  err);
    assert_offset(suite, "t", 0, pawl_position_at(15));
}

/* To be the last who acquired something is not to own what another has acquired before that. */
static void
a_former_owner_acquires_something_else(void **state)
{
    suite_state *suite = *state;
    pawl_save_line lines[2];
    pawl_store *second;
    pawl_error err;

    suite_need(suite, PAWL_STORE_CAS_EPOCH);
    second = suite_open(suite->under_test, 5000);
    lines[0] = suite_line("t", 0, suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(1)),
                          pawl_position_at(1), 2);
    suite_acquire(second, suite->group, "t", 0, pawl_position_absent());
    lines[1] = suite_line("t", 1, suite_acquire(suite->store, suite->group, "t", 1, pawl_position_at(1)),
                          pawl_position_at(1), 2);

    assert_status(PAWL_FENCED, pawl_store_save(suite->store, suite->group, &lines[0], 1, &err), err);
    assert_status(PAWL_FENCED, pawl_store_save(suite->store, suite->group, lines, 2, &err), err);
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, &lines[1], 1, &err), err);
    assert_offset(suite, "t", 0, pawl_position_at(1));
    assert_offset(suite, "t", 1, pawl_position_at(2));
    pawl_store_close(second);
}

/* What is acquired at another time, by oneself or by another, and released, leaves an owner what it has. */
static void
an_owner_stays_what_else_happens(void **state)
{
    suite_state *suite = *state;
    pawl_store *second = suite_open(suite->under_test, 5000);
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(1));
    pawl_acquire_line other = {.partition = {"t", 2}};
    pawl_error err;

    suite_acquire(suite->store, suite->group, "t", 1, pawl_position_at(1));
    assert_status(PAWL_OK, suite_save(suite->store, suite->group, "t", 0, epoch, pawl_position_at(1), 2, &err), err);
    other.ret_epoch = suite_acquire(second, suite->group, "t", 2, pawl_position_at(1));
    assert_status(PAWL_OK, suite_save(suite->store, suite->group, "t", 0, epoch, pawl_position_at(2), 3, &err), err);
    assert_status(PAWL_OK, pawl_store_release(second, suite->group, &other, 1, &err), err);
    assert_status(PAWL_OK, suite_save(suite->store, suite->group, "t", 0, epoch, pawl_position_at(3), 4, &err), err);
    assert_offset(suite, "t", 0, pawl_position_at(4));
    pawl_store_close(second);
}

static void
release_keeps_offset_and_epoch(void **state)
{
    suite_state *suite = *state;
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_entry entry;
    pawl_error err;

    line.ret_epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(4));
    assert_status(PAWL_OK, pawl_store_release(suite->store, suite->group, &line, 1, &err), err);
    entry = suite_load(suite->store, suite->group, "t", 0);
    assert_string_equal(entry.owner.host, "");
    assert_int_equal(entry.owner.pid, 0);
    assert_int_equal(entry.owner.renewed_ms, 0);
    /* The name of who had it last may stay. */
    assert_true(entry.owner.client_id[0] == '\0' || strcmp(entry.owner.client_id, "suite") == 0);
    assert_epoch(suite, &entry, line.ret_epoch);
    assert_true(pawl_position_equal(entry.offset, pawl_position_at(4)));

    /* Again, and of a partition that was never there: nothing to do. */
    assert_status(PAWL_OK, pawl_store_release(suite->store, suite->group, &line, 1, &err), err);
    line.partition.number = 99;
    assert_status(PAWL_OK, pawl_store_release(suite->store, suite->group, &line, 1, &err), err);
    assert_int_equal(suite_load(suite->store, suite->group, "t", 99).epoch, 0);
}

static void
release_only_clears_its_own(void **state)
{
    suite_state *suite = *state;
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_entry entry;
    pawl_error err;

    suite_need(suite, PAWL_STORE_CAS_EPOCH);
    line.ret_epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(4));
    suite_acquire(suite->store, suite->group, "t", 0, pawl_position_absent());
    assert_status(PAWL_OK, pawl_store_release(suite->store, suite->group, &line, 1, &err), err);
    entry = suite_load(suite->store, suite->group, "t", 0);
    assert_string_equal(entry.owner.host, "host.example");
}

static void
groups_do_not_meet(void **state)
{
    suite_state *suite = *state;
    char *other = g_strconcat(suite->group, "-other", NULL);
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(1));
    pawl_error err;

    suite_acquire(suite->store, other, "t", 0, pawl_position_at(2));
    assert_status(PAWL_OK, suite_save(suite->store, suite->group, "t", 0, epoch, pawl_position_at(1), 100, &err), err);
    assert_true(pawl_position_equal(suite_load(suite->store, other, "t", 0).offset, pawl_position_at(2)));
    g_free(other);
}

/* Another handle, another process: the same data. */
static void
handles_see_the_same(void **state)
{
    suite_state *suite = *state;
    pawl_store *second = suite_open(suite->under_test, 5000);
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(1));
    pawl_entry entry = suite_load(second, suite->group, "t", 0);
    pawl_error err;

    assert_epoch(suite, &entry, epoch);
    assert_true(pawl_position_equal(entry.offset, pawl_position_at(1)));
    assert_status(PAWL_OK, suite_save(second, suite->group, "t", 0, epoch, pawl_position_at(1), 2, &err), err);
    pawl_store_close(second);
    assert_offset(suite, "t", 0, pawl_position_at(2));
}

static const struct CMUnitTest tests[] = {
    suite_test(nothing_stored_is_zeros),
    suite_test(acquire_records_the_owner),
    suite_test(an_owner_s_longest_names),
    suite_test(initial_only_where_absent),
    suite_test(acquire_of_what_is_nowhere),
    suite_test(acquire_is_all_or_nothing),
    suite_test(a_former_owner_saves_nothing),
    suite_test(a_former_owner_acquires_something_else),
    suite_test(an_owner_stays_what_else_happens),
    suite_test(release_keeps_offset_and_epoch),
    suite_test(release_only_clears_its_own),
    suite_test(groups_do_not_meet),
    suite_test(handles_see_the_same),
};

const suite_tests suite_owning = {tests, G_N_ELEMENTS(tests)};
