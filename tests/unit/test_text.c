/*
 * test_text.c - values as people write them, and the nonsense that is taken for them
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "util/text.h"

#define UNTOUCHED INT64_C(-4711)

typedef pawl_status (*number_parser)(const char *text, int64_t *ret_value, pawl_error *err);

/* UNTOUCHED as the value: the text is refused. */
typedef struct number_case {
    const char *text;
    int64_t value;
} number_case;

static void
check_numbers(number_parser parse, const number_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pawl_error err = {0};
        int64_t value = UNTOUCHED;
        pawl_status status = parse(cases[i].text, &value, &err);

        if (value != cases[i].value || (status == PAWL_OK) == (value == UNTOUCHED))
            fail_msg("\"%s\": %s, %" G_GINT64_FORMAT ", %s", cases[i].text, pawl_status_name(status), value,
                     err.message);
        if (status != PAWL_OK) {
            assert_int_equal(status, PAWL_INVALID);
            assert_int_equal(err.status, PAWL_INVALID);
            assert_non_null(strstr(err.message, " is not "));
        }
    }
}

static void
offsets(void **state)
{
    static const number_case cases[] = {
        {"0", 0},
        {"1", 1},
        {"9007199254740993", INT64_C(9007199254740993)}, /* 2^53 + 1: what a double loses */
        {"9223372036854775807", INT64_MAX},
        {"9223372036854775808", UNTOUCHED},
        {"18446744073709551616", UNTOUCHED},
        {"99999999999999999999999999", UNTOUCHED},
        {"", UNTOUCHED},
        {"-1", UNTOUCHED},
        {"+1", UNTOUCHED},
        {"01", UNTOUCHED},
        {"00", UNTOUCHED},
        {" 1", UNTOUCHED},
        {"1 ", UNTOUCHED},
        {"1\n", UNTOUCHED},
        {"1.0", UNTOUCHED},
        {"1e3", UNTOUCHED},
        {"0x10", UNTOUCHED},
        {"null", UNTOUCHED},
        {"\xd9\xa1", UNTOUCHED}, /* an arabic digit */
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        int64_t value = UNTOUCHED;
        bool taken = pawl__text_offset(cases[i].text, strlen(cases[i].text), &value);

        if (value != cases[i].value || taken == (value == UNTOUCHED))
            fail_msg("\"%s\": %d, %" G_GINT64_FORMAT, cases[i].text, taken, value);
    }
}

static void
an_offset_ends_with_its_size(void **state)
{
    int64_t value = UNTOUCHED;

    (void) state;
    assert_true(pawl__text_offset("1234", 2, &value));
    assert_int_equal(value, 12);
    assert_false(pawl__text_offset("12\0"
                                   "34",
                                   5, &value));
    assert_int_equal(value, 12);
}

static void
integers(void **state)
{
    static const number_case cases[] = {
        {"0", 0},
        {"-1", -1},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"9223372036854775808", UNTOUCHED},
        {"-9223372036854775809", UNTOUCHED},
        {"+1", UNTOUCHED},
        {"", UNTOUCHED},
        {"-", UNTOUCHED},
        {"--1", UNTOUCHED},
        {" 1", UNTOUCHED},
        {"1 ", UNTOUCHED},
        {"1,000", UNTOUCHED},
        {"1k", UNTOUCHED},
        {"1.5", UNTOUCHED},
        {"ten", UNTOUCHED},
    };

    (void) state;
    check_numbers(pawl__text_integer, cases, G_N_ELEMENTS(cases));
}

static void
durations(void **state)
{
    static const number_case cases[] = {
        {"0", 0},
        {"0s", 0},
        {"250ms", 250},
        {"10s", 10000},
        {"010s", 10000},
        {"5m", 300000},
        {"2h", 7200000},
        {"1d", 86400000},
        {"PT10S", 10000},
        {"PT5M", 300000},
        {"PT1H30M", 5400000},
        {"P1D", 86400000},
        {"P1DT2H3M4S", 93784000},
        {"9223372036854775807ms", INT64_MAX},
        {"9223372036854775808ms", UNTOUCHED},
        {"9223372036854775807s", UNTOUCHED},
        {"106751991168d", UNTOUCHED},
        {"P106751991167DT99999999H", UNTOUCHED},
        {"", UNTOUCHED},
        {"10", UNTOUCHED},
        {"s", UNTOUCHED},
        {"-1s", UNTOUCHED},
        {"+1s", UNTOUCHED},
        {"1.5s", UNTOUCHED},
        {"10 s", UNTOUCHED},
        {" 10s", UNTOUCHED},
        {"10s ", UNTOUCHED},
        {"10S", UNTOUCHED},
        {"10sec", UNTOUCHED},
        {"1h30m", UNTOUCHED},
        {"1w", UNTOUCHED},
        {"P", UNTOUCHED},
        {"PT", UNTOUCHED},
        {"P1DT", UNTOUCHED},
        {"P1S", UNTOUCHED},
        {"PT1D", UNTOUCHED},
        {"P1M", UNTOUCHED},
        {"P1W", UNTOUCHED},
        {"PT1S1S", UNTOUCHED},
        {"PT1S1M", UNTOUCHED},
        {"PTT1S", UNTOUCHED},
        {"PT1", UNTOUCHED},
        {"PT1.5S", UNTOUCHED},
        {"PT-1S", UNTOUCHED},
        {"pt1s", UNTOUCHED},
    };

    (void) state;
    check_numbers(pawl__text_duration, cases, G_N_ELEMENTS(cases));
}

static void
sizes(void **state)
{
    static const number_case cases[] = {
        {"0", 0},
        {"1000", 1000},
        {"1000B", 1000},
        {"512KiB", 524288},
        {"64MiB", 67108864},
        {"1GiB", 1073741824},
        {"2TiB", INT64_C(2199023255552)},
        {"1kB", 1000},
        {"1MB", 1000000},
        {"1GB", 1000000000},
        {"1TB", INT64_C(1000000000000)},
        {"9223372036854775807", INT64_MAX},
        {"9223372036854775807kB", UNTOUCHED},
        {"8388608TiB", UNTOUCHED},
        {"", UNTOUCHED},
        {"MiB", UNTOUCHED},
        {"-1MiB", UNTOUCHED},
        {"1.5GiB", UNTOUCHED},
        {"64 MiB", UNTOUCHED},
        {"64M", UNTOUCHED},
        {"64mib", UNTOUCHED},
        {"64KB", UNTOUCHED},
        {"64MiBs", UNTOUCHED},
    };

    (void) state;
    check_numbers(pawl__text_size, cases, G_N_ELEMENTS(cases));
}

static void
flags(void **state)
{
    static const char *const yes[] = {"true", "yes", "on", "1"};
    static const char *const no[] = {"false", "no", "off", "0"};
    static const char *const wrong[] = {"", "True", "y", "t", "2", " true", "true ", "enabled"};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(yes); i++) {
        bool flag = false;

        assert_int_equal(pawl__text_flag(yes[i], &flag, NULL), PAWL_OK);
        assert_true(flag);
        assert_int_equal(pawl__text_flag(no[i], &flag, NULL), PAWL_OK);
        assert_false(flag);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        bool flag = true;

        assert_int_equal(pawl__text_flag(wrong[i], &flag, NULL), PAWL_INVALID);
        assert_true(flag);
    }
}

static void
times(void **state)
{
    static const number_case cases[] = {
        {"0", 0},
        {"1357034400000", INT64_C(1357034400000)},
        {"9223372036854775807", INT64_MAX},
        {"1970-01-01T00:00:00Z", 0},
        {"2013-01-01T10:00:00Z", INT64_C(1357034400000)},
        {"2013-01-01T10:00:00.250Z", INT64_C(1357034400250)},
        {"2013-01-01T11:00:00+01:00", INT64_C(1357034400000)},
        {"2013-01-01T05:00:00-05:00", INT64_C(1357034400000)},
        {"2013-01-01T05:00:00-05", INT64_C(1357034400000)},
        {"20130101T100000Z", INT64_C(1357034400000)},
        {"2012-02-29T00:00:00Z", INT64_C(1330473600000)},
        {"9999-12-31T23:59:59Z", INT64_C(253402300799000)},
        {"", UNTOUCHED},
        {"now", UNTOUCHED},
        {"2013-01-01", UNTOUCHED},
        {"2013-01-01T10:00:00", UNTOUCHED},
        {"2013-13-01T10:00:00Z", UNTOUCHED},
        {"2013-02-29T00:00:00Z", UNTOUCHED},
        {"2013-01-01T25:00:00Z", UNTOUCHED},
        {"2013-01-01T10:00:00Z ", UNTOUCHED},
        {"2013-01-01T10:00:00ZZ", UNTOUCHED},
        {"2013-01-01T10:00:00 CET", UNTOUCHED},
        {"1969-12-31T23:59:59Z", UNTOUCHED},
        {"-1", UNTOUCHED},
        {"-2", UNTOUCHED},
        {"9223372036854775808", UNTOUCHED},
        {"01357034400000", UNTOUCHED},
    };
    pawl_error err;
    int64_t ms;

    (void) state;
    check_numbers(pawl__text_time, cases, G_N_ELEMENTS(cases));
    pawl__text_time("2013-01-01T10:00:00", &ms, &err);
    assert_non_null(strstr(err.message, "add Z or an offset"));
    pawl__text_time("1969-12-31T23:59:59Z", &ms, &err);
    assert_non_null(strstr(err.message, "after 1970"));
}

static void
times_as_text(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {INT64_C(1357034400007), "2013-01-01T10:00:00.007Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {-1000, "1969-12-31T23:59:59.000Z"},
        {INT64_C(253402300800000), "10000-01-01T00:00:00.000Z"},
        {INT64_MAX, "292278994-08-17T07:12:55.807Z"},
        {INT64_MIN, "-292275055-05-16T16:47:04.192Z"},
    };
    char text[PAWL__TIME_TEXT_SIZE];

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_string_equal(pawl__text_from_time(cases[i].ms, text), cases[i].text);
}

static void
tells_about(void **state)
{
    static const struct {
        int64_t number;
        const char *duration, *size;
    } rows[] = {
        {0, "0ms", "0B"},
        {200, "200ms", "200B"},
        {1000, "1s", "1000B"},
        {1599, "1.5s", "1.5KiB"},
        {42700, "42s", "41.6KiB"},
        {60000, "1m", "58.5KiB"},
        {200999, "3m 20s", "196.2KiB"},
        {3600000, "1h", "3.4MiB"},
        {187200000, "2d 4h", "178.5MiB"},
        {INT64_MAX, "106751991167d 7h", "8388607.9TiB"},
    };
    char text[PAWL__DURATION_TEXT_SIZE];

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        assert_string_equal(pawl__text_about_duration(rows[i].number, text), rows[i].duration);
        assert_string_equal(pawl__text_about_size(rows[i].number, text), rows[i].size);
    }
}

static void
durations_and_sizes_as_text(void **state)
{
    static const int64_t numbers[] = {0, 1, 999, 1000, 1024, 60000, 90000, 3600000, 86400000, 1 << 20, INT64_MAX};
    char text[PAWL__DURATION_TEXT_SIZE];

    (void) state;
    assert_string_equal(pawl__text_from_duration(90000, text), "90s");
    assert_string_equal(pawl__text_from_duration(7200000, text), "2h");
    assert_string_equal(pawl__text_from_duration(0, text), "0");
    assert_string_equal(pawl__text_from_size(67108864, text), "64MiB");
    assert_string_equal(pawl__text_from_size(1000, text), "1000B");
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        int64_t back = UNTOUCHED;

        assert_int_equal(pawl__text_duration(pawl__text_from_duration(numbers[i], text), &back, NULL), PAWL_OK);
        assert_int_equal(back, numbers[i]);
        assert_int_equal(pawl__text_size(pawl__text_from_size(numbers[i], text), &back, NULL), PAWL_OK);
        assert_int_equal(back, numbers[i]);
    }
}

static void
bytes_as_text(void **state)
{
    char text[PAWL__BYTES_TEXT_SIZE];
    unsigned char many[1000];

    (void) state;
    assert_string_equal(pawl__text_from_bytes("", 0, text), "");
    assert_string_equal(pawl__text_from_bytes("12 abc", 6, text), "12 abc");
    assert_string_equal(pawl__text_from_bytes("a\0b\n\xff\\", 6, text), "a\\x00b\\x0a\\xff\\x5c");
    for (int fill = 0; fill < 256; fill++) {
        memset(many, fill, sizeof many);
        for (size_t size = 0; size < sizeof many; size += 7) {
            pawl__text_from_bytes(many, size, text);
            assert_true(strlen(text) < PAWL__BYTES_TEXT_SIZE);
        }
        assert_true(g_str_has_suffix(text, "..."));
    }
}

static void
cutting(void **state)
{
    const char *text = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9f"; /* of 1, 2, 3 and 4 bytes */
    static const size_t ends[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};

    (void) state;
    for (size_t room = 0; room < G_N_ELEMENTS(ends); room++)
        assert_int_equal(pawl__text_cut(text, strlen(text), room), ends[room]);
    assert_int_equal(pawl__text_cut("\x80\x80\x80", 3, 2), 0); /* no UTF-8 at all */
}

static void
secret_names(void **state)
{
    static const char *const secret[] = {
        "sasl.password", "ssl.key.password", "ssl.keystore.password",          "ssl.key.pem", "sasl.oauthbearer.config",
        "SASL.PASSWORD", "sasl.jaas.config", "sasl.oauthbearer.client.secret", "password"};
    static const char *const open[] = {"bootstrap.servers", "sasl.username", "ssl.ca.location", "debug", ""};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(secret); i++)
        assert_true(pawl__text_is_secret_name(secret[i]));
    for (size_t i = 0; i < G_N_ELEMENTS(open); i++)
        assert_false(pawl__text_is_secret_name(open[i]));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets),
        cmocka_unit_test(an_offset_ends_with_its_size),
        cmocka_unit_test(integers),
        cmocka_unit_test(durations),
        cmocka_unit_test(sizes),
        cmocka_unit_test(flags),
        cmocka_unit_test(times),
        cmocka_unit_test(times_as_text),
        cmocka_unit_test(durations_and_sizes_as_text),
        cmocka_unit_test(tells_about),
        cmocka_unit_test(bytes_as_text),
        cmocka_unit_test(cutting),
        cmocka_unit_test(secret_names),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
