/*
 * test_specs.c - partitions, offsets and ranges as they are written on a command line
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "cli/specs.h"

#define GREATEST "9223372036854775807"

static void
offsets(void **state)
{
    static const struct {
        const char *text, *topic;
        int32_t number;
        int64_t offset;
    } cases[] = {
        {"flights:0=17", "flights", 0, 17},
        {"a.b_c-d:12=0", "a.b_c-d", 12, 0},
        {"...:2147483647=" GREATEST, "...", INT32_MAX, INT64_MAX},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pawl_partition partition;
        int64_t offset;

        assert_int_equal(pawl__spec_offset(cases[i].text, &partition, &offset, NULL), PAWL_OK);
        assert_string_equal(partition.topic, cases[i].topic);
        assert_int_equal(partition.number, cases[i].number);
        assert_int_equal(offset, cases[i].offset);
    }
}

static void
wrong_offsets(void **state)
{
    static const char *const number = "an offset is a number from 0 to 2^63-1";
    static const char *const form = "is not TOPIC:PARTITION=OFFSET";
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"", form},          {"t", form},        {"t:0", form},
        {"t=5", form},       {":0=5", form},     {"t:=5", form},
        {"t:00=5", form},    {"t:-1=5", form},   {"t:2147483648=5", form},
        {"t:0:1=5", form},   {"a b:0=5", form},  {".:0=5", form},
        {"..:0=5", form},    {"t:0=", number},   {"t:0=-1", number},
        {"t:0=01", number},  {"t:0=5 ", number}, {"t:0=9223372036854775808", number},
        {"t:0=1=2", number},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pawl_partition partition = {"untouched", 7};
        int64_t offset = 7;
        pawl_error err = {0};

        assert_int_equal(pawl__spec_offset(cases[i].text, &partition, &offset, &err), PAWL_INVALID);
        assert_true(err.message[0] == '"' && strstr(err.message, cases[i].text) != NULL);
        assert_non_null(strstr(err.message, cases[i].wanted));
        assert_string_equal(partition.topic, "untouched");
        assert_int_equal(offset, 7);
    }
}

static void
topics(void **state)
{
    GArray *partitions = g_array_new(FALSE, FALSE, sizeof(pawl_partition));
    static const int32_t numbers[] = {PAWL__ALL_PARTITIONS, 0, 3, INT32_MAX};

    (void) state;
    assert_int_equal(pawl__spec_topic("all", partitions, NULL), PAWL_OK);
    assert_int_equal(pawl__spec_topic("some:0,3,2147483647", partitions, NULL), PAWL_OK);
    assert_int_equal(partitions->len, G_N_ELEMENTS(numbers));
    for (guint i = 0; i < partitions->len; i++) {
        assert_string_equal(g_array_index(partitions, pawl_partition, i).topic, i == 0 ? "all" : "some");
        assert_int_equal(g_array_index(partitions, pawl_partition, i).number, numbers[i]);
    }
    g_array_unref(partitions);
}

static void
wrong_topics(void **state)
{
    static const char *const cases[] = {"",    "a/b",   "t:",    "t:,",  "t:0,", "t:,0",
                                        "t:x", "t:0 1", "t:0-3", "t:01", "t:-1"};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GArray *partitions = g_array_new(FALSE, FALSE, sizeof(pawl_partition));
        pawl_error err = {0};

        assert_int_equal(pawl__spec_topic(cases[i], partitions, &err), PAWL_INVALID);
        assert_non_null(strstr(err.message, "is not TOPIC or TOPIC:PARTITION,PARTITION"));
        g_array_unref(partitions);
    }
}

static void
ranges(void **state)
{
    pawl_partition partition;
    int64_t from, until;

    (void) state;
    assert_int_equal(pawl__spec_range("t-1:2:0-" GREATEST, &partition, &from, &until, NULL), PAWL_OK);
    assert_string_equal(partition.topic, "t-1");
    assert_int_equal(partition.number, 2);
    assert_int_equal(from, 0);
    assert_int_equal(until, INT64_MAX);
}

static void
wrong_ranges(void **state)
{
    static const char *const cases[] = {"",      "t",     "t:0",     "t:0:5",   "t:0:5-",    "t:0:-5",
                                        "t:5-6", "t:0-1", "t:x:5-6", "t:0:5-x", "t:0:5-6-7", "t:0:5-6:7"};
    static const char *const backward[] = {"t:0:5-5", "t:0:5-4"};
    pawl_partition partition;
    int64_t from, until;

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pawl_error err = {0};

        assert_int_equal(pawl__spec_range(cases[i], &partition, &from, &until, &err), PAWL_INVALID);
        assert_non_null(strstr(err.message, "is not TOPIC:PARTITION:FROM-UNTIL"));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(backward); i++) {
        pawl_error err = {0};

        assert_int_equal(pawl__spec_range(backward[i], &partition, &from, &until, &err), PAWL_INVALID);
        assert_non_null(strstr(err.message, "is not a range"));
    }
}

static void
names_of_topics(void **state)
{
    char *longest = g_strnfill(249, 'x'), *longer = g_strnfill(250, 'x');

    (void) state;
    assert_true(pawl__topic_is_legal("aZ09._-"));
    assert_true(pawl__topic_is_legal("..."));
    assert_true(pawl__topic_is_legal(longest));
    assert_false(pawl__topic_is_legal(longer));
    assert_false(pawl__topic_is_legal(""));
    assert_false(pawl__topic_is_legal("."));
    assert_false(pawl__topic_is_legal(".."));
    assert_false(pawl__topic_is_legal("a b"));
    assert_false(pawl__topic_is_legal("\303\244"));
    g_free(longest);
    g_free(longer);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets),         cmocka_unit_test(wrong_offsets), cmocka_unit_test(topics),
        cmocka_unit_test(wrong_topics),    cmocka_unit_test(ranges),        cmocka_unit_test(wrong_ranges),
        cmocka_unit_test(names_of_topics),
    };

    return cmocka_run_group_tests_name("specs", tests, NULL, NULL);
}
