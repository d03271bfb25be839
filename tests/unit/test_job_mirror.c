/*
 * test_job_mirror.c - what a job hands over to its mirror
 *
 * The job's store is memory:, so that traps and the transcript's saves are those of the mirror.
 */
#include "tests/support/job_fixture.h"

#include "core/job.h"

/* Where the mirror writes to. */
static pawl_store *
open_target(const fixture *f, const char *scheme)
{
    char *url = g_strdup_printf("%s:mirror-of-%s", scheme, f->name);
    pawl_store *store;

    assert_int_equal(pawl_store_open(url, NULL, &store, NULL), PAWL_OK);
    g_free(url);
    return store;
}

/* Gives the job a mirror of t:0 and t:1, before it hands over anything. */
static pawl_verdict
add_mirror(fixture *f, pawl_opening *openings, size_t count, pawl_error *err)
{
    pawl_store *target = open_target(f, "trap");
    pawl_acquire_line lines[] = {{.partition = {"t", 0}}, {.partition = {"t", 1}}};
    pawl_owner owner = {.host = "here"};

    (void) openings, (void) count;
    assert_int_equal(pawl_store_acquire(target, f->job->settings.group, &owner, "", lines, G_N_ELEMENTS(lines), err),
                     PAWL_OK);
    assert_int_equal(pawl__mirror_new(target, f->job->settings.group, &f->job->log, &f->job->mirror, err), PAWL_OK);
    return PAWL_DONE;
}

static void
use_mirror(fixture *f)
{
    fixture_use_store(f, "memory");
    f->on_open = add_mirror;
}

static void
expect_mirrored(const fixture *f, int32_t number, pawl_position expected)
{
    pawl_store *target = open_target(f, "memory");
    pawl_partition partition = {"t", number};
    pawl_entry entry;

    assert_int_equal(pawl_store_load(target, f->job->settings.group, &partition, 1, &entry, NULL, NULL), PAWL_OK);
    assert_true(pawl_position_equal(entry.offset, expected));
    pawl_store_close(target);
}

static void
a_batch_is_mirrored(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 9);
    use_mirror(f);
    assert_int_equal(fixture_run(f), PAWL_OK);
    expect_mirrored(f, 0, pawl_position_at(9));
    fixture_expect_stored(f, "t", 0, 9);
}

/* The first try fails, and the second one would come when the job is long over. */
static void
the_end_waits_for_the_last_ones(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 9);
    trap_store_fail(TRAP_SAVE, 1, PAWL_FENCED, 0);
    fixture_set(f, "trigger", "continuous");
    use_mirror(f);
    fixture_start(f);
    fixture_await_log(f, "were not mirrored, next try in");
    fixture_await(f, "flush 1", 1);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    expect_mirrored(f, 0, pawl_position_at(9));
}

static void
a_mirror_that_fails_only_warns(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 9);
    trap_store_fail(TRAP_SAVE, -1, PAWL_FENCED, 0);
    use_mirror(f);
    assert_int_equal(fixture_run(f), PAWL_OK);
    expect_mirrored(f, 0, pawl_position_absent());
    fixture_expect_stored(f, "t", 0, 9);
    assert_true(fixture_logged(f, "were not mirrored, next try in"));
}

/* The mirror hangs in what was stored at the start, while the job saves a batch and gives t:0 up. */
static void
what_is_given_up_is_not_mirrored(void **state)
{
    fixture *f = *state;

    pawl__memory_make_topic(f->cluster, "t", 2);
    pawl__memory_assign(f->cluster, "t", 0);
    pawl__memory_assign(f->cluster, "t", 1);
    fixture_set(f, "members", "group");
    fixture_set(f, "trigger", "continuous");
    fixture_set(f, "min_offsets_per_batch", "4");
    trap_store_hang(TRAP_SAVE, true);
    use_mirror(f);
    fixture_start(f);
    assert_true(trap_store_await_hanging(TRAP_SAVE, fixture_deadline()));
    pawl__memory_append(f->cluster, "t", 0, 2);
    pawl__memory_append(f->cluster, "t", 1, 2);
    fixture_await(f, "flush 1", 1);
    pawl__memory_revoke(f->cluster, "t", 0, false);
    assert_true(pawl__memory_await_let_go(f->cluster, fixture_deadline()));
    trap_store_hang(TRAP_SAVE, false);
    assert_int_equal(fixture_stop(f), PAWL_OK);
    fixture_expect_stored(f, "t", 0, 2);
    expect_mirrored(f, 0, pawl_position_at(0));
    expect_mirrored(f, 1, pawl_position_at(2));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(a_batch_is_mirrored),
        fixture_test(the_end_waits_for_the_last_ones),
        fixture_test(a_mirror_that_fails_only_warns),
        fixture_test(what_is_given_up_is_not_mirrored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
