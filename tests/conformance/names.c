/*
 * names.c - any group, any topic: kept apart, and listed as they went in
 */
#include "tests/conformance/suite.h"

#include <string.h>

/* The longest ones are added by odd_groups(). */
static const char *const groups[] = {
    "%",     "%2F", "'; DROP TABLE pawl_offsets; --",
    ".",     "..",  "50%",
    "A",     "\\",  "a",
    "a b",   "a%",  "a%2Fb",
    "a%2fb", "a*b", "a+b",
    "a.b",   "a/b", "a:b",
    "a\nb",  "{x}", "ü",
    "日本",
};

static bool
take_group(void *user, const char *group, const pawl_partition *partition)
{
    assert_null(partition);
    g_ptr_array_add(user, g_strdup(group));
    return true;
}

static bool
take_partition(void *user, const char *group, const pawl_partition *partition)
{
    (void) group;
    g_ptr_array_add(user, g_strdup_printf("%s/%d", partition->topic, (int) partition->number));
    return true;
}

static GPtrArray *
list(const suite_state *suite, const char *group)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    pawl_error err;

    assert_status(PAWL_OK,
                  pawl_store_list(suite->store, group, group == NULL ? take_group : take_partition, names, &err), err);
    return names;
}

static int
count_of(const GPtrArray *names, const char *name)
{
    int count = 0;

    for (guint i = 0; i < names->len; i++)
        count += strcmp(g_ptr_array_index(names, i), name) == 0;
    return count;
}

static void
odd_groups(void **state)
{
    suite_state *suite = *state;
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free), *listed;

    for (size_t i = 0; i < G_N_ELEMENTS(groups); i++)
        g_ptr_array_add(all, g_strdup(groups[i]));
    g_ptr_array_add(all, g_strnfill(249, 'g'));
    g_ptr_array_add(all, g_strnfill(249, '%'));

    for (guint i = 0; i < all->len; i++)
        suite_acquire(suite->store, g_ptr_array_index(all, i), "t", 0, pawl_position_at(i));
    for (guint i = 0; i < all->len; i++)
        assert_int_equal(suite_load(suite->store, g_ptr_array_index(all, i), "t", 0).offset.offset, i);

    suite_need(suite, PAWL_STORE_LIST);
    listed = list(suite, NULL);
    for (guint i = 0; i < all->len; i++)
        assert_int_equal(count_of(listed, g_ptr_array_index(all, i)), 1);
    for (guint i = 1; i < listed->len; i++)
        assert_true(strcmp(g_ptr_array_index(listed, i - 1), g_ptr_array_index(listed, i)) < 0);
    g_ptr_array_free(listed, TRUE);
    g_ptr_array_free(all, TRUE);
}

static void
odd_topics(void **state)
{
    suite_state *suite = *state;
    char *longest = g_strnfill(249, 'x');
    const char *const topics[] = {"A", "a", "x-y", "x.y", longest};
    GPtrArray *listed;

    for (size_t i = 0; i < G_N_ELEMENTS(topics); i++)
        suite_acquire(suite->store, suite->group, topics[i], 0, pawl_position_at((int64_t) i));
    for (size_t i = 0; i < G_N_ELEMENTS(topics); i++)
        assert_offset(suite, topics[i], 0, pawl_position_at((int64_t) i));

    suite_need(suite, PAWL_STORE_LIST);
    listed = list(suite, suite->group);
    assert_int_equal(listed->len, G_N_ELEMENTS(topics));
    for (size_t i = 0; i < G_N_ELEMENTS(topics); i++) {
        char *name = g_strconcat(topics[i], "/0", NULL);

        assert_int_equal(count_of(listed, name), 1);
        g_free(name);
    }
    g_ptr_array_free(listed, TRUE);
    g_free(longest);
}

/* Kafka has no two topics that differ in this only, and librdkafka no group that begins with a blank. */
static void
names_that_kafka_does_not_have(void **state)
{
    suite_state *suite = *state;

    suite_need_function(suite->under_test->partitions == 0, "there are no such names");
    suite_acquire(suite->store, " ", "t", 0, pawl_position_at(3));
    assert_int_equal(suite_load(suite->store, " ", "t", 0).offset.offset, 3);
    suite_acquire(suite->store, suite->group, "x_y", 0, pawl_position_at(1));
    suite_acquire(suite->store, suite->group, "x.y", 0, pawl_position_at(2));
    assert_offset(suite, "x_y", 0, pawl_position_at(1));
    assert_offset(suite, "x.y", 0, pawl_position_at(2));
}

static void
partitions_are_listed_in_order(void **state)
{
    suite_state *suite = *state;
    int32_t last = suite->under_test->partitions > 0 ? suite->under_test->partitions - 1 : INT32_MAX;
    char *last_name = g_strdup_printf("a/%d", (int) last);
    const char *const expected[] = {"a/0", "a/2", "a/10", last_name, "b/1"};
    GPtrArray *listed;

    suite_need(suite, PAWL_STORE_LIST);
    suite_acquire(suite->store, suite->group, "b", 1, pawl_position_at(0));
    suite_acquire(suite->store, suite->group, "a", 10, pawl_position_at(0));
    suite_acquire(suite->store, suite->group, "a", last, pawl_position_at(0));
    suite_acquire(suite->store, suite->group, "a", 2, /* an owner is enough */
                  suite_can(suite, PAWL_STORE_CAS_EPOCH) ? pawl_position_absent() : pawl_position_at(0));
    suite_acquire(suite->store, suite->group, "a", 0, pawl_position_at(0));
    listed = list(suite, suite->group);
    assert_int_equal(listed->len, G_N_ELEMENTS(expected));
    for (guint i = 0; i < listed->len; i++)
        assert_string_equal(g_ptr_array_index(listed, i), expected[i]);
    g_ptr_array_free(listed, TRUE);
    g_free(last_name);
}

/* What only remembers an epoch is not listed; nor is a group that has nothing else. */
static void
what_is_gone_is_not_listed(void **state)
{
    suite_state *suite = *state;
    pawl_acquire_line line = {.partition = {"t", 0}};
    pawl_remove_line removed = {.partition = {"t", 0}, .expected = pawl_position_at(1)};
    GPtrArray *listed;
    pawl_error err;

    suite_need(suite, PAWL_STORE_LIST);
    removed.epoch = line.ret_epoch = suite_acquire(suite->store, suite->group, "t", 0, pawl_position_at(1));
    assert_status(PAWL_OK, pawl_store_remove(suite->store, suite->group, &removed, 1, &err), err);
    listed = list(suite, suite->group);
    assert_int_equal(listed->len, suite_can(suite, PAWL_STORE_CAS_EPOCH) ? 1 : 0); /* it still has an owner */
    g_ptr_array_free(listed, TRUE);

    assert_status(PAWL_OK, pawl_store_release(suite->store, suite->group, &line, 1, &err), err);
    listed = list(suite, suite->group);
    assert_int_equal(listed->len, 0);
    g_ptr_array_free(listed, TRUE);
    if (suite->under_test->partitions > 0) /* Kafka forgets a group when it has the time */
        return;
    listed = list(suite, NULL);
    assert_int_equal(count_of(listed, suite->group), 0);
    g_ptr_array_free(listed, TRUE);
}

static void
an_unknown_group_is_empty(void **state)
{
    suite_state *suite = *state;
    GPtrArray *listed;

    suite_need(suite, PAWL_STORE_LIST);
    listed = list(suite, suite->group);
    assert_int_equal(listed->len, 0);
    g_ptr_array_free(listed, TRUE);
}

static bool
take_one(void *user, const char *group, const pawl_partition *partition)
{
    (void) group;
    (void) partition;
    ++*(int *) user;
    return false;
}

static void
false_ends_a_listing(void **state)
{
    suite_state *suite = *state;
    pawl_error err;
    int taken = 0;

    suite_need(suite, PAWL_STORE_LIST);
    for (int32_t i = 0; i < 3; i++)
        suite_acquire(suite->store, suite->group, "t", i, pawl_position_at(0));
    assert_status(PAWL_OK, pawl_store_list(suite->store, suite->group, take_one, &taken, &err), err);
    assert_int_equal(taken, 1);
}

static void
a_place_names_everything(void **state)
{
    suite_state *suite = *state;
    char place[2000], small[8];

    pawl_store_place(suite->store, "the-group", (pawl_partition){"the-topic", 12345}, place, sizeof place);
    assert_non_null(strstr(place, "the-group"));
    assert_non_null(strstr(place, "the-topic"));
    assert_non_null(strstr(place, "12345"));
    pawl_store_place(suite->store, "the-group", (pawl_partition){"the-topic", 12345}, small, sizeof small);
    assert_true(strlen(small) < sizeof small);
}

static const struct CMUnitTest tests[] = {
    suite_test(odd_groups),
    suite_test(odd_topics),
    suite_test(names_that_kafka_does_not_have),
    suite_test(partitions_are_listed_in_order),
    suite_test(what_is_gone_is_not_listed),
    suite_test(an_unknown_group_is_empty),
    suite_test(false_ends_a_listing),
    suite_test(a_place_names_everything),
};

const suite_tests suite_names = {tests, G_N_ELEMENTS(tests)};
