/*
 * test_job_telling.c - what a job tells: on_saved, a report of what is in hand, a preview of what it would do
 */
#include "tests/support/job_fixture.h"

#include <inttypes.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------- on_saved -- */

static void
note_saved(void *user, const pawl_batch *batch)
{
    fixture *f = user;
    pawl_stats stats = {.size = sizeof stats};

    pawl_job_stats(f->job, &stats);
    pawl__wait_lock(&f->wait);
    g_ptr_array_add(f->events, g_strdup_printf("saved %" PRId64 ": %zu ranges, %" PRId64 " records so far",
                                               pawl_batch_number(batch), pawl_batch_count(batch), stats.records));
    pawl__wait_unlock(&f->wait);
}

static void
tells_of_each_save(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    f->hooks.on_saved = note_saved;
    fixture_set(f, "max_offsets_per_batch", "3");
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "save saved",
                   "save 1: t:0 0>3\n"
                   "saved 1: 1 ranges, 3 records so far\n"
                   "save 2: t:0 3>5\n"
                   "saved 2: 1 ranges, 5 records so far\n");
}

/* Hooks run on other threads, where nothing can be asserted: what they see goes into the transcript. */
static void
note(fixture *f, const char *what, char *text)
{
    pawl__wait_lock(&f->wait);
    g_ptr_array_add(f->events, g_strdup_printf("%s: %s", what, text));
    pawl__wait_unlock(&f->wait);
    g_free(text);
}

static pawl_verdict
note_batch(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) err;
    if (strcmp(hook, "begin") == 0)
        note(f, "batch",
             g_strdup_printf("%" PRId64 " of %s", pawl_batch_number(pawl_range_batch(range)),
                             pawl_batch_group(pawl_range_batch(range))));
    return PAWL_DONE;
}

static void
a_range_knows_its_batch(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 1);
    f->answer = note_batch;
    assert_int_equal(fixture_run(f), PAWL_OK);
    fixture_expect(f, "batch", "batch: 1 of g\n");
}

/* ----------------------------------------------------------------------------------------------- start, batch, end -- */

static void
tells_of_start_batches_and_end(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    fixture_set(f, "max_offsets_per_batch", "3");
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_true(fixture_logged(f, "start: group g, topics t, store trap:"));
    assert_true(fixture_logged(f, ", trigger available-now, pawl "));
    assert_true(fixture_logged(f, "read  t [0]: nothing, starting at 0 of 0..5, in memory:"));
    assert_true(fixture_logged(f, "saved t [0]: 0 -> 3 in memory:"));
    assert_true(fixture_logged(f, "batch 1: ranges 1, records 3 ("));
    assert_true(fixture_logged(f, "), lag 2; plan "));
    assert_true(fixture_logged(f, "), lag 0; plan "));
    assert_true(fixture_logged(f, "end: trigger available-now is exhausted; batches 2, records 5 ("));
    assert_false(fixture_logged(f, "left out"));
    fixture_forget(f);
    assert_int_equal(fixture_run(f), PAWL_OK);
    assert_true(fixture_logged(f, "read  t [0]: 5, epoch 2, in memory:"));
}

static void
tells_no_secret(void **state)
{
    fixture *f = *state;

    fixture_set(f, "store", "trap://me:hunter2@host/");
    fixture_run(f);
    assert_true(fixture_logged(f, "store trap://me:***@host/"));
    assert_true(fixture_logged(f, "end: "));
    assert_false(fixture_logged(f, "hunter2"));
}

/* -------------------------------------------------------------------------------------------------------- reports -- */

static void
keep_report(void *user, const pawl_range_report *report)
{
    g_string_append_printf(user, "%s:%" PRId32 " %" PRId64 "..%" PRId64 " at %" PRId64 " #%d %s in %s%s; ",
                           report->partition.topic, report->partition.number, report->from, report->until,
                           report->offset, report->attempt, pawl_phase_name(report->phase),
                           report->hook != NULL ? report->hook : "no hook", report->age_ms >= 0 ? "" : ", not opened");
}

/* Asks for a report on another thread than the hook's, which is what is promised to work. */
static void *
ask_report(void *data)
{
    fixture *f = data;
    GString *text = g_string_new(NULL);
    size_t count = pawl_job_report(f->job, keep_report, text);

    g_string_append_printf(text, "%zu in hand", count);
    return g_string_free(text, FALSE);
}

static void
note_report(fixture *f)
{
    pthread_t thread;
    void *text = NULL;

    if (pthread_create(&thread, NULL, ask_report, f) == 0)
        pthread_join(thread, &text);
    note(f, "report", text);
}

static pawl_verdict
report_while_processing(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    (void) range;
    (void) err;
    if (strcmp(hook, "process") == 0)
        note_report(f);
    return PAWL_DONE;
}

static pawl_verdict
report_while_flushing(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) batch;
    (void) err;
    note_report(f);
    return PAWL_DONE;
}

static void
reports_what_is_in_hand(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    f->answer = report_while_processing;
    f->on_flush = report_while_flushing;
    assert_int_equal(fixture_run(f), PAWL_OK);
    note_report(f);
    fixture_expect(f, "report",
                   "report: t:0 0..5 at 0 #1 processing in process; 1 in hand\n"
                   "report: t:0 0..5 at 3 #1 processing in process; 1 in hand\n"
                   "report: t:0 0..5 at 5 #1 flushing in flush; 1 in hand\n"
                   "report: 0 in hand\n");
}

/* -------------------------------------------------------------------------------------------------------- preview -- */

static void
keep_preview(void *user, const pawl_preview *preview)
{
    char stored[PAWL_POSITION_TEXT_SIZE];

    g_string_append_printf(
        user, "%s:%" PRId32 " %s@%" PRId64 " of %" PRId64 "..%" PRId64 ": %" PRId64 "..%" PRId64 "%s\n",
        preview->partition.topic, preview->partition.number, pawl_position_text(preview->stored, stored),
        preview->position, preview->low, preview->high, preview->from, preview->until, preview->lost ? ", lost" : "");
}

static void
expect_preview(fixture *f, const char *wanted)
{
    GString *text = g_string_new(NULL);

    fixture_make(f);
    assert_int_equal(pawl_job_preview(f->job, keep_preview, text, &f->err), PAWL_OK);
    assert_string_equal(text->str, wanted);
    g_string_free(text, TRUE);
}

static void
previews_and_writes_nothing(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    fixture_set(f, "max_offsets_per_batch", "3");
    expect_preview(f, "t:0 none@0 of 0..5: 0..3\n");
    fixture_expect(f, "acquire open process flush save close release", "");
    fixture_expect_stored(f, "t", 0, -1);
    assert_int_equal(pawl_job_run(f->job, &f->err), PAWL_INVALID);
}

static void
previews_what_is_stored(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    assert_int_equal(fixture_run(f), PAWL_OK);
    expect_preview(f, "t:0 5@5 of 0..5: 5..5\n");
    fixture_intrude(f, "t", 0, 9);
    expect_preview(f, "t:0 9@9 of 0..5: 9..9, lost\n");
    assert_int_equal(fixture_stored(f, "t", 0).offset.offset, 9);
}

static void
previews_no_loss_where_a_transaction_is_open(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 9);
    fixture_import(f, "t", 0, 8);
    pawl__memory_open_transaction(f->cluster, "t", 0, 6);
    expect_preview(f, "t:0 8@8 of 0..6: 8..8\n");
}

static void
previews_a_member_as_it_would_start(void **state)
{
    fixture *f = *state;

    pawl__memory_append(f->cluster, "t", 0, 5);
    fixture_set(f, "members", "group");
    fixture_set(f, "start", "latest");
    expect_preview(f, "t:0 none@5 of 0..5: 5..5\n");
}

static void
a_store_for_reading_takes_no_writes(void **state)
{
    pawl_store_options options = {.size = sizeof options, .read_only = true};
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_owner owner = {.host = "h", .pid = 1};
    pawl_store *store = NULL;
    pawl_error err = {0};

    (void) state;
    assert_int_equal(pawl_store_open("memory:telling", &options, &store, &err), PAWL_OK);
    assert_int_equal(pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), PAWL_INVALID);
    assert_non_null(strstr(err.message, "reading only"));
    pawl_store_close(store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(tells_of_each_save),
        fixture_test(a_range_knows_its_batch),
        fixture_test(tells_of_start_batches_and_end),
        fixture_test(tells_no_secret),
        fixture_test(reports_what_is_in_hand),
        fixture_test(previews_and_writes_nothing),
        fixture_test(previews_what_is_stored),
        fixture_test(previews_no_loss_where_a_transaction_is_open),
        fixture_test(previews_a_member_as_it_would_start),
        fixture_test(a_store_for_reading_takes_no_writes),
    };

    return cmocka_run_group_tests_name("job: telling", tests, NULL, NULL);
}
