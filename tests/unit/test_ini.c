/*
 * test_ini.c - sections, keys and values out of a text
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <string.h>

#include "cli/ini.h"

/* Writes down what was read, one "LINE section.key=value;" after the other. A key "no" is refused. */
static pawl_status
note(void *user, const pawl_ini_entry *entry, pawl_error *err)
{
    if (strcmp(entry->key, "no") == 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "no: that will not do");
    g_string_append_printf(user, "%u %s.%s=%s;", entry->line, entry->section, entry->key, entry->value);
    return PAWL_OK;
}

static void
texts(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"", ""},
        {"\n\r\n \t\n", ""},
        {"[a]\nk=v", "2 a.k=v;"},
        {"[a]\nk = v\n", "2 a.k=v;"},
        {"[a]\r\nk = v \t\r\nl = w\r\n", "2 a.k=v;3 a.l=w;"},
        {"  [ a ]  \n\tk\t=\tv\t\n", "2 a.k=v;"},
        {"\xef\xbb\xbf[a]\nk = v\n", "2 a.k=v;"},
        {"# c\n; c\n[a]\n  # k = v\nk = v\n", "5 a.k=v;"},
        {"[a]\nk =\n", "2 a.k=;"},
        {"[a]\nk = a = b ; c # d \"e\"\n", "2 a.k=a = b ; c # d \"e\";"},
        {"[a]\nk.l = v\n[b]\nk.l = w\n", "2 a.k.l=v;4 b.k.l=w;"},
        {"[a]\nk = \303\244\n", "2 a.k=\303\244;"},
        {"[]\nk = v\n", "2 .k=v;"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GString *found = g_string_new(NULL);

        assert_int_equal(pawl__ini_parse("f", cases[i].text, strlen(cases[i].text), note, found, NULL), PAWL_OK);
        assert_string_equal(found->str, cases[i].wanted);
        g_string_free(found, TRUE);
    }
}

static void
wrong_texts(void **state)
{
    static const struct {
        const char *text;
        size_t size; /* 0: all of it */
        const char *message;
    } cases[] = {
        {"k = v\n", 0, "f:1: k stands before any section: is [job] missing?"},
        {"[a\n", 0, "f:1: a section is a name between [ and ], alone on its line"},
        {"[a] # c\n", 0, "f:1: a section is a name between [ and ], alone on its line"},
        {"[a]\n[b]\n[ a ]\n", 0, "f:3: section [a] is there twice, first in line 1"},
        {"[a]\nk = v\nk=w\n", 0, "f:3: k is set twice, first in line 2"},
        {"[a]\n = v\n", 0, "f:2: there is no key before the ="},
        {"[a]\nhunter2\n", 0, "f:2: this line is no \"key = value\", no [section] and no comment"},
        {"[a]\n\nk = a\0b\n", 12, "f:3: there is a NUL in this line"},
        {"[a]\nk = \xff\n", 0, "f:2: this line is not UTF-8"},
        {"[a]\r\nno = v\r\n", 0, "f:2: no: that will not do"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        size_t size = cases[i].size > 0 ? cases[i].size : strlen(cases[i].text);
        GString *found = g_string_new(NULL);
        pawl_error err = {0};

        assert_int_equal(pawl__ini_parse("f", cases[i].text, size, note, found, &err), PAWL_INVALID);
        assert_string_equal(err.message, cases[i].message);
        g_string_free(found, TRUE);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(wrong_texts),
    };

    return cmocka_run_group_tests_name("ini", tests, NULL, NULL);
}
