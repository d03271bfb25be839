/*
 * spoiling.c - somebody else was here: values that are no offsets, a layout from the future
 */
#include "tests/conformance/suite.h"

static const char *const spoiled[] = {
    "", "42\n", " 42", "-1", "1e3", "4.2", "42x", "0x2a", "null", "12345678901234567890", "١٢", "007x"};

/* Every call says what stands there and where, and leaves it. */
static void
assert_untouchable(const suite_state *suite, int64_t epoch, const char *text)
{
    pawl_owner owner = suite_owner("suite");
    pawl_partition partition = {"spoiled-topic", 3};
    pawl_acquire_line acquire = {.partition = partition, .epoch_seen = epoch, .initial = pawl_position_at(5)};
    pawl_remove_line removed = {.partition = partition, .epoch = epoch, .expected = pawl_position_at(42)};
    char *shown = g_strdup(text);
    pawl_entry entry;
    pawl_error err;

    assert_status(PAWL_UNREADABLE, pawl_store_load(suite->store, suite->group, &partition, 1, &entry, NULL, &err), err);
    assert_says(err, "spoiled-topic");
    assert_says(err, suite->group);
    if (g_str_is_ascii(text))
        assert_says(err, g_strstrip(shown));
    g_free(shown);

    assert_status(PAWL_UNREADABLE,
                  suite_save(suite->store, suite->group, "spoiled-topic", 3, epoch, pawl_position_at(42), 43, &err),
                  err);
    assert_status(PAWL_UNREADABLE,
                  suite_save(suite->store, suite->group, "spoiled-topic", 3, epoch, pawl_position_absent(), 43, &err),
                  err);
    assert_status(PAWL_UNREADABLE, pawl_store_acquire(suite->store, suite->group, &owner, NULL, &acquire, 1, &err),
                  err);
    assert_status(PAWL_UNREADABLE, pawl_store_remove(suite->store, suite->group, &removed, 1, &err), err);
    assert_status(PAWL_UNREADABLE, pawl_store_load(suite->store, suite->group, &partition, 1, &entry, NULL, &err), err);
}

static void
a_value_that_is_no_offset(void **state)
{
    suite_state *suite = *state;
    pawl_partition partition = {"spoiled-topic", 3};
    int64_t epoch;
    int done = 0;

    suite_need_function(suite->under_test->spoil != NULL, "nothing can be put there behind the store's back");
    epoch = suite_acquire(suite->store, suite->group, partition.topic, partition.number, pawl_position_at(42));
    suite_acquire(suite->store, suite->group, "other", 0, pawl_position_at(1));
    for (size_t i = 0; i < G_N_ELEMENTS(spoiled); i++) {
        if (!suite->under_test->spoil(suite->under_test->url, suite->group, partition, spoiled[i]))
            continue;
        assert_untouchable(suite, epoch, spoiled[i]);
        done++;
    }
    assert_true(done > 0);
    assert_offset(suite, "other", 0, pawl_position_at(1)); /* the rest of the group can be read */

    /* Put right again it works again. */
    assert_true(suite->under_test->spoil(suite->under_test->url, suite->group, partition, "42"));
    assert_offset(suite, "spoiled-topic", 3, pawl_position_at(42));
}

static void
a_newer_layout(void **state)
{
    suite_state *suite = *state;
    const conformance *under_test = suite->under_test;
    pawl_partition partition = {"t", 0};
    int64_t epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(42));
    pawl_owner owner = suite_owner("suite");
    pawl_acquire_line acquire = {.partition = partition, .epoch_seen = epoch};
    pawl_entry entry;
    pawl_error err;

    suite_need_function(under_test->change_layout != NULL, "the layout's version cannot be changed");
    under_test->change_layout(under_test->url, suite->group, 1);
    assert_status(PAWL_UNSUPPORTED, pawl_store_load(suite->store, suite->group, &partition, 1, &entry, NULL, &err),
                  err);
    assert_says(err, "version");
    assert_status(PAWL_UNSUPPORTED,
                  suite_save(suite->store, suite->group, "t", 0, epoch, pawl_position_at(42), 43, &err), err);
    assert_status(PAWL_UNSUPPORTED, pawl_store_acquire(suite->store, suite->group, &owner, NULL, &acquire, 1, &err),
                  err);
    under_test->change_layout(under_test->url, suite->group, -1);
    assert_offset(suite, "t", 0, pawl_position_at(42));
}

static const struct CMUnitTest tests[] = {
    suite_test(a_value_that_is_no_offset),
    suite_test(a_newer_layout),
};

const suite_tests suite_spoiling = {tests, G_N_ELEMENTS(tests)};
