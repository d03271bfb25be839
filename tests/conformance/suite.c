/*
 * suite.c - running the conformance suite, and its helpers
 */
#include "tests/conformance/suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_MS 20000

static const conformance *running;

/* ------------------------------------------------------------------------------------------------------- running -- */

static void
print_capabilities(const conformance *store)
{
    static const struct {
        unsigned bit;
        const char *name;
    } all[] = {
        {PAWL_STORE_ATOMIC, "ATOMIC"}, {PAWL_STORE_CAS_EPOCH, "CAS_EPOCH"},     {PAWL_STORE_CAS_OFFSET, "CAS_OFFSET"},
        {PAWL_STORE_PLAN, "PLAN"},     {PAWL_STORE_TRANSACTION, "TRANSACTION"}, {PAWL_STORE_LIST, "LIST"},
    };
    pawl_store *handle = suite_open(store, TIMEOUT_MS);
    GString *can = g_string_new(NULL), *cannot = g_string_new(NULL);

    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        g_string_append_printf(pawl_store_capabilities(handle) & all[i].bit ? can : cannot, " %s", all[i].name);
    printf("# %s can:%s; cannot:%s; partitions in one save: %zu (0: any)\n", store->name, can->str,
           cannot->len > 0 ? cannot->str : " -", pawl_store_max_partitions(handle));
    fflush(stdout);
    g_string_free(can, TRUE);
    g_string_free(cannot, TRUE);
    pawl_store_close(handle);
}

int
conformance_run(const conformance *store)
{
    const suite_tests *const themes[] = {&suite_arguments,    &suite_owning,   &suite_saving,  &suite_planning,
                                         &suite_names,        &suite_spoiling, &suite_waiting, &suite_racing,
                                         &suite_transactions, &suite_killing};
    GArray *tests = g_array_new(FALSE, FALSE, sizeof(struct CMUnitTest));
    int failed;

    running = store;
    print_capabilities(store);
    for (size_t i = 0; i < G_N_ELEMENTS(themes); i++)
        g_array_append_vals(tests, themes[i]->tests, (guint) themes[i]->count);
    failed =
        _cmocka_run_group_tests(store->name, (const struct CMUnitTest *) (void *) tests->data, tests->len, NULL, NULL);
    g_array_free(tests, TRUE);
    return failed;
}

int
suite_setup(void **state)
{
    static int tests;
    suite_state *suite = g_new0(suite_state, 1);

    suite->under_test = running;
    suite->store = suite_open(running, TIMEOUT_MS);
    suite->group = g_strdup_printf("group-%d-%d", (int) getpid(), ++tests);
    *state = suite;
    return 0;
}

int
suite_teardown(void **state)
{
    suite_state *suite = *state;

    pawl_store_close(suite->store);
    g_free(suite->group);
    g_free(suite);
    return 0;
}

bool
suite_is_full(void)
{
    const char *full = g_getenv("PAWL_TEST_FULL");

    return full != NULL && *full != '\0' && strcmp(full, "0") != 0;
}

GRand *
suite_random(void)
{
    const char *given = g_getenv("PAWL_TEST_SEED");
    guint32 seed = given != NULL ? (guint32) g_ascii_strtoull(given, NULL, 10) : g_random_int();

    printf("# PAWL_TEST_SEED=%u\n", (unsigned) seed);
    fflush(stdout);
    return g_rand_new_with_seed(seed);
}

/* ----------------------------------------------------------------------------------------------------- asserting -- */

bool
suite_can(const suite_state *suite, unsigned capabilities)
{
    return (pawl_store_capabilities(suite->store) & capabilities) == capabilities;
}

void
suite_need(const suite_state *suite, unsigned capabilities)
{
    if (!suite_can(suite, capabilities))
        skip();
}

void
suite_need_function(bool there, const char *what)
{
    if (there)
        return;
    printf("# skipped: %s\n", what);
    fflush(stdout);
    skip();
}

void
suite_assert_status(pawl_status expected, pawl_status status, const pawl_error *err, const char *call, const char *file,
                    int line)
{
    if (status == expected && (status == PAWL_OK || err->status == status))
        return;
    print_error("%s\n  is '%s', expected '%s'; the error is '%s': %s\n", call, pawl_status_name(status),
                pawl_status_name(expected), pawl_status_name(err->status), status != PAWL_OK ? err->message : "");
    _fail(file, line);
}

void
suite_assert_says(const pawl_error *err, const char *text, const char *file, int line)
{
    if (strstr(err->message, text) != NULL)
        return;
    print_error("'%s'\n  does not say '%s'\n", err->message, text);
    _fail(file, line);
}

void
suite_assert_offset(pawl_store *store, const char *group, const char *topic, int32_t number, pawl_position position,
                    const char *file, int line)
{
    char is[PAWL_POSITION_TEXT_SIZE], should[PAWL_POSITION_TEXT_SIZE];
    pawl_entry entry = suite_load(store, group, topic, number);

    if (pawl_position_equal(entry.offset, position))
        return;
    print_error("partition %d of '%s' holds %s, expected %s\n", (int) number, topic,
                pawl_position_text(entry.offset, is), pawl_position_text(position, should));
    _fail(file, line);
}

/* ------------------------------------------------------------------------------------------------ calls in short -- */

pawl_store *
suite_open(const conformance *under_test, int64_t timeout_ms)
{
    pawl_store_options options = {.size = sizeof options, .timeout_ms = timeout_ms};
    pawl_store *store = NULL;
    pawl_error err;

    assert_status(PAWL_OK, pawl_store_open(under_test->url, &options, &store, &err), err);
    return store;
}

pawl_owner
suite_owner(const char *client_id)
{
    pawl_owner owner = {.host = "host.example", .pid = getpid()};

    g_strlcpy(owner.client_id, client_id, sizeof owner.client_id);
    return owner;
}

pawl_entry
suite_load(pawl_store *store, const char *group, const char *topic, int32_t number)
{
    pawl_partition partition = {topic, number};
    pawl_entry entry;
    pawl_error err;

    assert_status(PAWL_OK, pawl_store_load(store, group, &partition, 1, &entry, NULL, &err), err);
    assert_string_equal(entry.partition.topic, topic);
    assert_int_equal(entry.partition.number, number);
    return entry;
}

int64_t
suite_acquire(pawl_store *store, const char *group, const char *topic, int32_t number, pawl_position initial)
{
    pawl_owner owner = suite_owner("suite");
    pawl_acquire_line line = {
        .partition = {topic, number},
        .epoch_seen = suite_load(store, group, topic, number).epoch,
        .initial = initial,
    };
    pawl_error err;

    assert_status(PAWL_OK, pawl_store_acquire(store, group, &owner, NULL, &line, 1, &err), err);
    return line.ret_epoch;
}

pawl_save_line
suite_line(const char *topic, int32_t number, int64_t epoch, pawl_position expected, int64_t until)
{
    return (pawl_save_line){
        .partition = {topic, number}, .epoch = epoch, .expected = expected, .until = until, .batch = 1};
}

pawl_status
suite_save(pawl_store *store, const char *group, const char *topic, int32_t number, int64_t epoch,
           pawl_position expected, int64_t until, pawl_error *err)
{
    pawl_save_line line = suite_line(topic, number, epoch, expected, until);

    return pawl_store_save(store, group, &line, 1, err);
}

pawl_save_line *
suite_many(pawl_store *store, const char *group, size_t count)
{
    pawl_acquire_line *acquire = g_new0(pawl_acquire_line, count);
    pawl_save_line *lines = g_new0(pawl_save_line, count);
    pawl_owner owner = suite_owner("suite");
    pawl_error err;

    for (size_t i = 0; i < count; i++) {
        acquire[i].partition = (pawl_partition){i % 2 == 0 ? "even" : "odd", (int32_t) (i / 2)};
        acquire[i].initial = pawl_position_at(0);
    }
    assert_status(PAWL_OK, pawl_store_acquire(store, group, &owner, NULL, acquire, count, &err), err);
    for (size_t i = 0; i < count; i++)
        lines[i] = suite_line(acquire[i].partition.topic, acquire[i].partition.number, acquire[i].ret_epoch,
                              pawl_position_at(0), 1);
    g_free(acquire);
    return lines;
}
