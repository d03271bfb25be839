/*
 * test_pattern.c - topics by regular expression
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "util/pattern.h"

static void
matches_whole_names(void **state)
{
    static const struct {
        const char *pattern, *topic;
        bool matches;
    } cases[] = {
        {"flights", "flights", true},
        {"flights", "flights2", false},
        {"flights", "my-flights", false},
        {"flights.*", "flights-2013", true},
        {"^flights$", "flights", true},
        {"a|ab", "ab", true}, /* the first alternative is not the last word */
        {"a|b", "ab", false},
        {"(?i)FLIGHTS", "flights", true},
        {"flights(?!-test).*", "flights-test", false},
        {"flights(?!-test).*", "flights-2013", true},
        {"a.b", "a.b", true},
        {"a.b", "axb", true},
        {"a\\.b", "axb", false},
        {"flights", "flights\n", false}, /* no topic of that name, but $ alone would take it */
        {".*", "anything", true},
        {".*", "__mine", true},
        {".*", "__consumer_offsets", false},
        {"__.*", "__transaction_state", false},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GRegex *pattern = NULL;

        assert_int_equal(pawl__pattern_new(cases[i].pattern, &pattern, NULL), PAWL_OK);
        if (pawl__pattern_matches(pattern, cases[i].topic) != cases[i].matches)
            fail_msg("\"%s\" and \"%s\"", cases[i].pattern, cases[i].topic);
        g_regex_unref(pattern);
    }
}

static void
refuses_what_is_none(void **state)
{
    static const char *const wrong[] = {"", "(", ")", "a)(b", "[", "*", "a{2,1}", "\\", "(?<n", "\xff", "(?x)a # open"};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        GRegex *pattern = NULL;
        pawl_error err = {0};

        if (pawl__pattern_new(wrong[i], &pattern, &err) != PAWL_INVALID || err.message[0] == '\0')
            fail_msg("\"%s\" is taken", wrong[i]);
        assert_null(pattern);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_whole_names),
        cmocka_unit_test(refuses_what_is_none),
    };

    return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
