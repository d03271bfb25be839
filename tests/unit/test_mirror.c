/*
 * test_mirror.c - what the mirror writes, when its store is slow or fails, and how it ends
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <string.h>

#include "core/mirror.h"
#include "tests/support/trap_store.h"
#include "util/clock.h"
#include "util/wait.h"

#define FAR_MS 20000

/* A mirror, and what came of it. */
typedef struct witness {
    char group[32];
    pawl_log log;
    pawl__mirror *mirror;

    pawl__wait wait;  /* guards what follows */
    GPtrArray *saves; /* "save 1: t:0 none>10" */
    GPtrArray *warnings;
} witness;

/* --------------------------------------------------------------------------------------------------- the harness -- */

static void
append(witness *w, GPtrArray *lines, const char *line)
{
    pawl__wait_lock(&w->wait);
    g_ptr_array_add(lines, g_strdup(line));
    pawl__wait_wake(&w->wait);
    pawl__wait_unlock(&w->wait);
}

static void
on_save(void *user, const char *line)
{
    witness *w = user;

    append(w, w->saves, line);
}

static void
on_log(void *user, const pawl_log_line *line)
{
    witness *w = user;

    if (line->level == PAWL_LOG_WARN && g_str_equal(line->scope, "mirror"))
        append(w, w->warnings, line->message);
}

static void
await_lines(witness *w, const GPtrArray *lines, guint count)
{
    int64_t deadline_ms = pawl__clock_ms() + FAR_MS;
    guint found;

    pawl__wait_lock(&w->wait);
    while (lines->len < count && pawl__wait_until(&w->wait, deadline_ms))
        continue;
    found = lines->len;
    pawl__wait_unlock(&w->wait);
    assert_int_equal(found, count);
}

static void
assert_line(const GPtrArray *lines, guint index, const char *expected)
{
    assert_true(index < lines->len);
    assert_string_equal(g_ptr_array_index(lines, index), expected);
}

/* t:0 and t:1 can be saved with epoch 1. */
static pawl_store *
open_target(const char *group)
{
    pawl_store_options options = {.size = sizeof options, .timeout_ms = FAR_MS};
    pawl_acquire_line lines[] = {{.partition = {"t", 0}}, {.partition = {"t", 1}}};
    pawl_owner owner = {.host = "here"};
    pawl_store *store;

    assert_int_equal(pawl_store_open("trap:mirror", &options, &store, NULL), PAWL_OK);
    assert_int_equal(pawl_store_acquire(store, group, &owner, "", lines, G_N_ELEMENTS(lines), NULL), PAWL_OK);
    assert_int_equal(lines[0].ret_epoch, 1);
    return store;
}

static int
setup(void **state)
{
    static int count;
    witness *w = g_new0(witness, 1);

    trap_store_reset();
    g_snprintf(w->group, sizeof w->group, "mirrored-%d", ++count);
    w->log = (pawl_log){.fn = on_log, .user = w, .level = PAWL_LOG_WARN};
    pawl__wait_init(&w->wait);
    w->saves = g_ptr_array_new_with_free_func(g_free);
    w->warnings = g_ptr_array_new_with_free_func(g_free);
    assert_int_equal(pawl__mirror_new(open_target(w->group), w->group, &w->log, &w->mirror, NULL), PAWL_OK);
    trap_store_tell(on_save, w);
    *state = w;
    return 0;
}

static int
teardown(void **state)
{
    witness *w = *state;

    pawl__mirror_free(w->mirror);
    trap_store_reset();
    g_ptr_array_unref(w->saves);
    g_ptr_array_unref(w->warnings);
    pawl__wait_done(&w->wait);
    g_free(w);
    return 0;
}

static void
give(witness *w, int32_t number, int64_t until, int64_t batch)
{
    pawl_save_line line = {.partition = {"t", number}, .epoch = 1, .until = until, .batch = batch};

    pawl__mirror_give(w->mirror, &line, 1);
}

/* Has the mirror hang while it writes t:0 up to 10. */
static void
give_and_hang(witness *w)
{
    trap_store_hang(TRAP_SAVE, true);
    give(w, 0, 10, 1);
    assert_true(trap_store_await_hanging(TRAP_SAVE, pawl__clock_ms() + FAR_MS));
}

/* ------------------------------------------------------------------------------------------------------- writing -- */

static void
test_what_is_saved_is_mirrored(void **state)
{
    witness *w = *state;

    give(w, 0, 10, 1);
    await_lines(w, w->saves, 1);
    give(w, 0, 20, 2);
    await_lines(w, w->saves, 2);
    assert_line(w->saves, 0, "save 1: t:0 none>10");
    assert_line(w->saves, 1, "save 2: t:0 10>20");
}

static void
test_only_the_latest_is_written(void **state)
{
    witness *w = *state;

    give_and_hang(w);
    give(w, 0, 20, 2);
    give(w, 0, 30, 3);
    give(w, 0, 30, 0); /* renewed */
    trap_store_hang(TRAP_SAVE, false);
    pawl__mirror_finish(w->mirror, pawl__clock_ms() + FAR_MS);
    assert_int_equal(w->saves->len, 2);
    assert_line(w->saves, 0, "save 1: t:0 none>10");
    assert_line(w->saves, 1, "save 3: t:0 10>30");
}

static void
test_what_was_given_up_is_not_written(void **state)
{
    witness *w = *state;

    give_and_hang(w);
    give(w, 0, 20, 2);
    give(w, 1, 5, 2);
    pawl__mirror_forget(w->mirror, (pawl_partition){"t", 0});
    trap_store_hang(TRAP_SAVE, false);
    pawl__mirror_finish(w->mirror, pawl__clock_ms() + FAR_MS);
    assert_int_equal(w->saves->len, 2);
    assert_line(w->saves, 0, "save 1: t:0 none>10");
    assert_line(w->saves, 1, "save 2: t:1 none>5");
}

/* ------------------------------------------------------------------------------------------------------- failing -- */

static void
test_failures_are_told_once_and_tried_again(void **state)
{
    witness *w = *state;

    trap_store_fail(TRAP_SAVE, 2, PAWL_FENCED, 0);
    give(w, 0, 10, 1);
    await_lines(w, w->saves, 1);
    assert_line(w->saves, 0, "save 1: t:0 none>10");
    pawl__mirror_finish(w->mirror, pawl__clock_ms() + FAR_MS);
    assert_int_equal(w->warnings->len, 1);
    assert_non_null(strstr(g_ptr_array_index(w->warnings, 0), w->group));
    assert_non_null(strstr(g_ptr_array_index(w->warnings, 0), "the trap was sprung"));
}

/* -------------------------------------------------------------------------------------------------------- ending -- */

static void
test_the_last_ones_do_not_wait_for_the_next_try(void **state)
{
    witness *w = *state;

    trap_store_fail(TRAP_SAVE, 1, PAWL_FENCED, 0);
    give(w, 0, 10, 1);
    await_lines(w, w->warnings, 1);
    pawl__mirror_finish(w->mirror, pawl__clock_ms() + FAR_MS);
    assert_int_equal(w->saves->len, 1);
    assert_int_equal(w->warnings->len, 1);
}

static void
assert_last_ones_are_missing(const witness *w)
{
    char *expected = g_strdup_printf("the last offsets of group '%s' were not mirrored", w->group);

    assert_int_equal(w->saves->len, 0);
    assert_int_equal(w->warnings->len, 1);
    assert_line(w->warnings, 0, expected);
    g_free(expected);
}

static void
test_the_end_waits_no_longer_than_its_deadline(void **state)
{
    witness *w = *state;
    int64_t deadline_ms;

    give_and_hang(w);
    deadline_ms = pawl__clock_ms() + 50;
    pawl__mirror_finish(w->mirror, deadline_ms);
    assert_true(pawl__clock_ms() >= deadline_ms);
    assert_true(pawl__clock_ms() < deadline_ms + FAR_MS / 2);
    assert_last_ones_are_missing(w);
}

static void
test_cancelled_it_ends_at_once(void **state)
{
    witness *w = *state;

    give_and_hang(w);
    pawl__mirror_cancel(w->mirror);
    pawl__mirror_finish(w->mirror, PAWL__NEVER);
    assert_last_ones_are_missing(w);
}

static void
test_no_mirror_does_nothing(void **state)
{
    pawl_save_line line = {.partition = {"t", 0}};

    (void) state;
    pawl__mirror_give(NULL, &line, 1);
    pawl__mirror_forget(NULL, line.partition);
    pawl__mirror_cancel(NULL);
    pawl__mirror_finish(NULL, PAWL__NEVER);
    pawl__mirror_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_saved_is_mirrored, setup, teardown),
        cmocka_unit_test_setup_teardown(test_only_the_latest_is_written, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_was_given_up_is_not_written, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failures_are_told_once_and_tried_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_last_ones_do_not_wait_for_the_next_try, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_end_waits_no_longer_than_its_deadline, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancelled_it_ends_at_once, setup, teardown),
        cmocka_unit_test(test_no_mirror_does_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
