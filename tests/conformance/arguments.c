/*
 * arguments.c - what is wrong is refused before it reaches the store
 */
#include "tests/conformance/suite.h"

#include <string.h>

static void
nothing_to_do(void **state)
{
    suite_state *suite = *state;
    pawl_owner owner = suite_owner("nobody");
    pawl_error err;

    assert_status(PAWL_OK, pawl_store_load(suite->store, suite->group, NULL, 0, NULL, NULL, &err), err);
    assert_status(PAWL_OK, pawl_store_acquire(suite->store, suite->group, &owner, NULL, NULL, 0, &err), err);
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, NULL, 0, &err), err);
    assert_status(PAWL_OK, pawl_store_release(suite->store, suite->group, NULL, 0, &err), err);
    assert_status(PAWL_OK, pawl_store_remove(suite->store, suite->group, NULL, 0, &err), err);
}

static void
bad_names(void **state)
{
    suite_state *suite = *state;
    const pawl_partition good = {"t", 0}, nameless = {"", 0}, missing = {NULL, 0}, binary = {"\xff\xfe", 0},
                         negative = {"t", -1}, twice[] = {{"t", 0}, {"u", 3}, {"t", 0}};
    pawl_entry entries[3];
    pawl_error err;

    memset(entries, 0x55, sizeof entries);
    assert_status(PAWL_INVALID, pawl_store_load(suite->store, "", &good, 1, entries, NULL, &err), err);
    assert_status(PAWL_INVALID, pawl_store_load(suite->store, NULL, &good, 1, entries, NULL, &err), err);
    assert_status(PAWL_INVALID, pawl_store_load(suite->store, "\xc3(", &good, 1, entries, NULL, &err), err);
    assert_status(PAWL_INVALID, pawl_store_load(suite->store, suite->group, &nameless, 1, entries, NULL, &err), err);
    assert_status(PAWL_INVALID, pawl_store_load(suite->store, suite->group, &missing, 1, entries, NULL, &err), err);
    assert_status(PAWL_INVALID, pawl_store_load(suite->store, suite->group, &binary, 1, entries, NULL, &err), err);
    assert_status(PAWL_INVALID, pawl_store_load(suite->store, suite->group, &negative, 1, entries, NULL, &err), err);
    assert_status(PAWL_INVALID, pawl_store_load(suite->store, suite->group, twice, 3, entries, NULL, &err), err);
    assert_says(err, "partition 0 of topic 't'");

    /* A failed load has written nothing. */
    assert_int_equal(((unsigned char *) entries)[0], 0x55);
}

static void
bad_lines(void **state)
{
    suite_state *suite = *state;
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(5));
    pawl_save_line good = suite_line("t", 0, epoch, pawl_position_at(5), 6), bad;
    char print[PAWL_PRINT_SIZE + 1];
    pawl_error err;

    memset(print, 'x', sizeof print);
    print[PAWL_PRINT_SIZE] = '\0';

    bad = good, bad.until = -1;
    assert_status(PAWL_INVALID, pawl_store_save(suite->store, suite->group, &bad, 1, &err), err);
    bad = good, bad.expected.offset = -5;
    assert_status(PAWL_INVALID, pawl_store_save(suite->store, suite->group, &bad, 1, &err), err);
    bad = good, bad.epoch = -1;
    assert_status(PAWL_INVALID, pawl_store_save(suite->store, suite->group, &bad, 1, &err), err);
    bad = good, bad.batch = -1;
    assert_status(PAWL_INVALID, pawl_store_save(suite->store, suite->group, &bad, 1, &err), err);
    bad = good, bad.print = print;
    assert_status(PAWL_INVALID, pawl_store_save(suite->store, suite->group, &bad, 1, &err), err);
    assert_offset(suite, "t", 0, pawl_position_at(5));

    print[PAWL_PRINT_SIZE - 1] = '\0';
    good.print = print;
    assert_status(PAWL_OK, pawl_store_save(suite->store, suite->group, &good, 1, &err), err);
    assert_string_equal(suite_load(suite->store, suite->group, "t", 0).print, print);
}

static void
bad_owners(void **state)
{
    suite_state *suite = *state;
    pawl_owner good = suite_owner("suite"), bad;
    pawl_acquire_line line = {.partition = {"t", 0}, .initial = pawl_position_at(5)};
    pawl_error err;

    bad = good, bad.pid = -1;
    assert_status(PAWL_INVALID, pawl_store_acquire(suite->store, suite->group, &bad, NULL, &line, 1, &err), err);
    bad = good, bad.renewed_ms = -1;
    assert_status(PAWL_INVALID, pawl_store_acquire(suite->store, suite->group, &bad, NULL, &line, 1, &err), err);
    bad = good, bad.host[0] = '\0';
    assert_status(PAWL_INVALID, pawl_store_acquire(suite->store, suite->group, &bad, NULL, &line, 1, &err), err);
    assert_offset(suite, "t", 0, pawl_position_absent());
}

static void
nobody_owns_with_epoch_0(void **state)
{
    suite_state *suite = *state;
    pawl_error err;

    suite_need(suite, PAWL_STORE_CAS_EPOCH);
    assert_status(PAWL_INVALID, suite_save(suite->store, suite->group, "t", 0, 0, pawl_position_absent(), 1, &err),
                  err);
    assert_says(err, "acquire");
    assert_offset(suite, "t", 0, pawl_position_absent());
}

static void
too_many_partitions(void **state)
{
    suite_state *suite = *state;
    size_t max = pawl_store_max_partitions(suite->store);
    pawl_save_line *lines;
    pawl_error err;

    suite_need_function(max != 0, "a save may hold any number of partitions");
    lines = g_new0(pawl_save_line, max + 1);
    for (size_t i = 0; i <= max; i++)
        lines[i] = suite_line("t", (int32_t) i, 1, pawl_position_absent(), 1);
    assert_status(PAWL_UNSUPPORTED, pawl_store_save(suite->store, suite->group, lines, max + 1, &err), err);
    g_free(lines);
}

static void
unknown_option(void **state)
{
    suite_state *suite = *state;
    char *url =
        g_strconcat(suite->under_test->url, strchr(suite->under_test->url, '?') ? "&" : "?", "colour=red", NULL);
    pawl_store *store = NULL;
    pawl_error err;

    assert_status(PAWL_INVALID, pawl_store_open(url, NULL, &store, &err), err);
    assert_says(err, "'colour'");
    assert_null(store);
    g_free(url);
}

static void
an_error_may_be_left_out(void **state)
{
    suite_state *suite = *state;
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(0));

    assert_int_equal(suite_save(suite->store, suite->group, "t", 0, epoch, pawl_position_at(0), 1, NULL), PAWL_OK);
    assert_int_equal(pawl_store_load(suite->store, "", NULL, 0, NULL, NULL, NULL), PAWL_INVALID);
    pawl_store_close(NULL);
    pawl_store_rollback(suite->store); /* there is nothing to roll back */
}

static const struct CMUnitTest tests[] = {
    suite_test(nothing_to_do),
    suite_test(bad_names),
    suite_test(bad_lines),
    suite_test(bad_owners),
    suite_test(nobody_owns_with_epoch_0),
    suite_test(too_many_partitions),
    suite_test(unknown_option),
    suite_test(an_error_may_be_left_out),
};

const suite_tests suite_arguments = {tests, G_N_ELEMENTS(tests)};
