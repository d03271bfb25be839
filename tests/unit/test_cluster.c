/*
 * test_cluster.c - commands that ask the brokers, with a cluster in memory: what it says may change while they work
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pawl/sys/registry.h>

#include "backends/memory/memory.h"
#include "cli/command.h"
#include "core/source.h"
#include "source/memory/memory.h"

#define PLACES " --store memory:cluster --group g --brokers here"
#define END    10

/* ------------------------------------------------------------------------------------------------------- a cluster -- */

/* The source in memory under the name that commands look for. */
static pawl_source_backend source;
const pawl_source_backend *const pawl__default_source = &source;

static pawl__memory_cluster *cluster;
static pawl_store *store;
static const pawl_partition partition = {"t", 0};

/* The ends of logs at any isolation are not told. */
static pawl_status
refuse_log_end(void *self, int64_t deadline_ms, pawl_bounds_line *lines, size_t count, pawl_error *err)
{
    (void) self, (void) deadline_ms, (void) err;
    for (size_t i = 0; i < count; i++)
        lines[i].ret_status = PAWL_UNREACHABLE;
    return PAWL_OK;
}

static void
make_cluster(const char *id)
{
    pawl__memory_cluster_free(cluster);
    cluster = pawl__memory_cluster_new("here", id);
    pawl__memory_make_topic(cluster, "t", 2);
    for (int i = 0; i < END; i++)
        pawl__memory_append_record(cluster, "t", 0, NULL, NULL, i);
}

/* Runs a command, which has to end with this status, and returns what it printed. The caller frees it. */
static char *
run(const char *line, pawl_status wanted)
{
    char **words = g_strsplit(line, " ", -1), *text = g_malloc0(4096);
    FILE *file = tmpfile();
    int saved, code;

    fflush(stdout);
    saved = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    code = pawl__cli_main(&pawl__cli_program, (int) g_strv_length(words), words);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(file);
    text[fread(text, 1, 4095, file)] = '\0';
    fclose(file);
    g_strfreev(words);
    assert_int_equal(code, pawl_status_exit_code(wanted));
    return text;
}

static void
run_silently(const char *line, pawl_status wanted)
{
    g_free(run(line, wanted));
}

static pawl_entry
stored(void)
{
    pawl_entry entry;

    assert_int_equal(pawl_store_load(store, "g", &partition, 1, &entry, NULL, NULL), PAWL_OK);
    return entry;
}

static void
expect_offset(int64_t offset)
{
    pawl_entry entry = stored();

    assert_true(entry.offset.known);
    assert_int_equal(entry.offset.offset, offset);
    assert_string_equal(entry.owner.host, "");
}

static int
setup(void **state)
{
    (void) state;
    source = pawl__memory_source;
    source.name = "kafka";
    make_cluster("one");
    if (pawl_registry_add_store(&pawl__store_memory, NULL) != PAWL_OK ||
        pawl_store_open("memory:cluster", NULL, &store, NULL) != PAWL_OK)
        return -1;
    run_silently("pawl offsets set" PLACES " t:0=7 --force --execute", PAWL_OK);
    return 0;
}

static int
teardown(void **state)
{
    (void) state;
    run_silently("pawl offsets delete --store memory:cluster --group g --all-topics --execute", PAWL_OK);
    pawl_store_close(store);
    pawl__memory_cluster_free(cluster);
    cluster = NULL;
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- a change -- */

/* The first answer about the log's end is one that the job has passed meanwhile. */
static void
the_end_is_asked_for_as_the_owner(void **state)
{
    (void) state;
    pawl__memory_lie(cluster, "t", 0, 1, 0, 4);
    run_silently("pawl offsets reset" PLACES " --topic t:0 --to-latest --execute", PAWL_OK);
    expect_offset(END);
}

static void
a_shift_is_clipped_as_the_owner(void **state)
{
    (void) state;
    pawl__memory_lie(cluster, "t", 0, 1, 0, 4);
    run_silently("pawl offsets reset" PLACES " --topic t:0 --shift-by 2 --execute", PAWL_OK);
    expect_offset(9);
}

static void
a_time_is_asked_for_as_the_owner(void **state)
{
    (void) state;
    run_silently("pawl offsets reset" PLACES " --topic t:0 --to-time 3 --execute", PAWL_OK);
    expect_offset(3);
    assert_int_equal(pawl__memory_calls(cluster, PAWL__MEMORY_AT_TIME), 2);
}

/* What was judged by the first answer may be wrong by the second. */
static void
an_offset_is_judged_as_the_owner(void **state)
{
    (void) state;
    pawl__memory_lie(cluster, "t", 0, 1, 0, 20);
    run_silently("pawl offsets set" PLACES " t:0=15 --execute", PAWL_INVALID);
    expect_offset(7);
}

static void
without_an_answer_nothing_is_written(void **state)
{
    int64_t epoch = stored().epoch;

    (void) state;
    pawl__memory_spare_calls(cluster, PAWL__MEMORY_BOUNDS, 1);
    pawl__memory_fail_calls(cluster, PAWL__MEMORY_BOUNDS, -1, PAWL_UNREACHABLE);
    run_silently("pawl offsets reset" PLACES " --topic t:0 --to-latest --execute", PAWL_UNREACHABLE);
    expect_offset(7);
    assert_true(stored().epoch > epoch);
}

static int times_asked;

/* Takes the partition back while the brokers are asked, as a member of a group does that is fenced off. */
static pawl_status
take_back(void *self, int64_t deadline_ms, pawl_bounds_line *lines, size_t count, pawl_error *err)
{
    pawl_owner owner = {.client_id = "member", .host = "h", .pid = 1};
    pawl_acquire_line line = {.partition = partition, .epoch_seen = stored().epoch};

    if (++times_asked == 2)
        assert_int_equal(pawl_store_acquire(store, "g", &owner, NULL, &line, 1, NULL), PAWL_OK);
    return pawl__memory_source.bounds(self, deadline_ms, lines, count, err);
}

static void
a_member_that_is_quicker_is_fenced_off_again(void **state)
{
    (void) state;
    source.bounds = take_back;
    times_asked = 0;
    run_silently("pawl offsets reset" PLACES " --topic t:0 --to-latest --execute", PAWL_OK);
    expect_offset(END);
}

/* What was refused may have been applied, in general: a shift is not made again. */
static void
a_shift_is_made_once(void **state)
{
    (void) state;
    source.bounds = take_back;
    times_asked = 0;
    run_silently("pawl offsets reset" PLACES " --topic t:0 --shift-by -2 --execute", PAWL_FENCED);
    assert_int_equal(times_asked, 2);
    assert_int_equal(stored().offset.offset, 7);
}

static void
nobody_has_to_answer_for_a_delete(void **state)
{
    (void) state;
    pawl__memory_spare_calls(cluster, PAWL__MEMORY_BOUNDS, 1);
    pawl__memory_fail_calls(cluster, PAWL__MEMORY_BOUNDS, -1, PAWL_UNREACHABLE);
    run_silently("pawl offsets delete" PLACES " --topic t:0 --execute", PAWL_OK);
    assert_false(stored().offset.known);
    make_cluster("one");
    run_silently("pawl offsets set" PLACES " t:0=0 --execute", PAWL_OK); /* for the teardown, which deletes it */
}

/* ------------------------------------------------------------------------------------------------ another cluster -- */

static void
offsets_of_another_cluster_are_refused(void **state)
{
    (void) state;
    make_cluster("two");
    run_silently("pawl offsets set" PLACES " t:0=5 --execute", PAWL_INVALID);
    run_silently("pawl offsets set" PLACES " t:1=0 --execute", PAWL_INVALID); /* others are stored */
    expect_offset(7);
}

static void
without_offsets_any_cluster_will_do(void **state)
{
    (void) state;
    run_silently("pawl offsets delete" PLACES " --all-topics --execute", PAWL_OK);
    make_cluster("two");
    run_silently("pawl offsets set" PLACES " t:0=5 --execute", PAWL_OK);
    expect_offset(5);
}

/* A job that has saved nothing yet. */
static void
an_owner_is_no_offset(void **state)
{
    pawl_owner owner = {.client_id = "job", .host = "h", .pid = 1};
    pawl_acquire_line line = {.partition = partition};

    (void) state;
    run_silently("pawl offsets delete" PLACES " --all-topics --execute", PAWL_OK);
    line.epoch_seen = stored().epoch;
    assert_int_equal(pawl_store_acquire(store, "g", &owner, "one", &line, 1, NULL), PAWL_OK);
    make_cluster("two");
    run_silently("pawl offsets set" PLACES " t:0=5 --execute", PAWL_OK);
    expect_offset(5);
}

/* ----------------------------------------------------------------------------------------------------------- lag -- */

static void
lag_of_a_log_whose_end_is_not_told(void **state)
{
    char *text, *json;

    (void) state;
    pawl__memory_open_transaction(cluster, "t", 0, 5);
    source.log_end = refuse_log_end;
    text = run("pawl lag" PLACES, PAWL_UNREACHABLE);
    json = run("pawl lag --json" PLACES, PAWL_UNREACHABLE);
    assert_non_null(strstr(text, "NO ANSWER"));
    assert_null(strstr(json, "\"stored_past_end\": false"));
    g_free(text);
    g_free(json);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_end_is_asked_for_as_the_owner),
        CASE(a_shift_is_clipped_as_the_owner),
        CASE(a_time_is_asked_for_as_the_owner),
        CASE(an_offset_is_judged_as_the_owner),
        CASE(without_an_answer_nothing_is_written),
        CASE(a_member_that_is_quicker_is_fenced_off_again),
        CASE(a_shift_is_made_once),
        CASE(nobody_has_to_answer_for_a_delete),
        CASE(offsets_of_another_cluster_are_refused),
        CASE(without_offsets_any_cluster_will_do),
        CASE(an_owner_is_no_offset),
        CASE(lag_of_a_log_whose_end_is_not_told),
    };

    return cmocka_run_group_tests_name("cluster", tests, NULL, NULL);
}
