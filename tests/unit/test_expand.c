/*
 * test_expand.c - ${env:NAME} and ${file:PATH} in a value
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/expand.h"

static char *folder;

/* Makes a file of these bytes in the test's folder, and that the folder of this process. */
static int
setup(void **state)
{
    (void) state;
    folder = g_dir_make_tmp("pawl-expand-XXXXXX", NULL);
    assert_non_null(folder);
    assert_int_equal(chdir(folder), 0);
    g_setenv("PAWL_TEST_WORD", "many", TRUE);
    g_setenv("PAWL_TEST_USER", "a:b@c", TRUE);
    g_setenv("PAWL_TEST_PASSWORD", "p/w?d", TRUE);
    g_setenv("PAWL_TEST_PAIRS", "a=1&b=%41+", TRUE);
    g_setenv("PAWL_TEST_SOCKET", "redis:/r.sock", TRUE);
    g_unsetenv("PAWL_TEST_NONE");
    assert_true(g_file_set_contents("line", "from-file\n", -1, NULL));
    assert_true(g_file_set_contents("crlf", "from-file\r\n", -1, NULL));
    assert_true(g_file_set_contents("lines", "one\ntwo\n\n", -1, NULL));
    assert_true(g_file_set_contents("nul", "a\0b", 3, NULL));
    assert_true(g_file_set_contents("empty", "", 0, NULL));
    return 0;
}

static int
teardown(void **state)
{
    static const char *const names[] = {"line", "crlf", "lines", "nul", "empty"};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        g_unlink(names[i]);
    g_rmdir(folder);
    g_free(folder);
    return 0;
}

static void
values(void **state)
{
    static const struct {
        const char *text, *value, *shown;
    } cases[] = {
        {"", "", ""},
        {"plain", "plain", "plain"},
        {"a-${env:PAWL_TEST_WORD}-b", "a-many-b", "a-many-b"},
        {"${env:PAWL_TEST_WORD}${env:PAWL_TEST_WORD}", "manymany", "manymany"},
        {"x ${env:PAWL_TEST_PASSWORD}", "x p/w?d", "x ${env:PAWL_TEST_PASSWORD}"},
        {"${file:line}", "from-file", "${file:line}"},
        {"${file:crlf}", "from-file", "${file:crlf}"},
        {"${file:lines}", "one\ntwo\n", "${file:lines}"},
        {"${file:empty}", "", "${file:empty}"},
        {"$HOME ${HOME} $$ $", "$HOME ${HOME} $$ $", "$HOME ${HOME} $$ $"},
        {"$${env:PAWL_TEST_WORD}", "${env:PAWL_TEST_WORD}", "${env:PAWL_TEST_WORD}"},
        {"$${file:line}", "${file:line}", "${file:line}"},
        /* Percent-encoded in the user, the password and the parameters of a URL, and nowhere else. */
        {"redis://${env:PAWL_TEST_USER}:${env:PAWL_TEST_PASSWORD}@h:1/x", "redis://a%3Ab%40c:p%2Fw%3Fd@h:1/x",
         "redis://a%3Ab%40c:${env:PAWL_TEST_PASSWORD}@h:1/x"},
        {"redis://u:${env:PAWL_TEST_PASSWORD}@h/${env:PAWL_TEST_USER}", "redis://u:p%2Fw%3Fd@h/a:b@c",
         "redis://u:${env:PAWL_TEST_PASSWORD}@h/a:b@c"},
        {"redis://${env:PAWL_TEST_WORD}/0", "redis://many/0", "redis://many/0"},
        {"curl -u ${env:PAWL_TEST_USER} x@y", "curl -u a:b@c x@y", "curl -u a:b@c x@y"},
        {"redis:/r.sock?password=${env:PAWL_TEST_PAIRS}&db=2", "redis:/r.sock?password=a%3D1%26b%3D%2541%2B&db=2",
         "redis:/r.sock?password=a%3D1%26b%3D%2541%2B&db=2"},
        {"redis:/my r?db=2&password=x${file:line}-${env:PAWL_TEST_PASSWORD}",
         "redis:/my r?db=2&password=xfrom-file-p%2Fw%3Fd",
         "redis:/my r?db=2&password=x${file:line}-${env:PAWL_TEST_PASSWORD}"},
        {"redis:/r.sock?${env:PAWL_TEST_PAIRS}", "redis:/r.sock?a=1&b=%41+", "redis:/r.sock?a=1&b=%41+"},
        {"redis:/r.sock?db=2&${env:PAWL_TEST_PAIRS}", "redis:/r.sock?db=2&a=1&b=%41+", "redis:/r.sock?db=2&a=1&b=%41+"},
        {"${env:PAWL_TEST_SOCKET}?password=${env:PAWL_TEST_USER}", "redis:/r.sock?password=a%3Ab%40c",
         "redis:/r.sock?password=a%3Ab%40c"},
        {"sqlite:${env:PAWL_TEST_USER}", "sqlite:a:b@c", "sqlite:a:b@c"},
        {"curl --url='http://h/?q=${env:PAWL_TEST_USER}' -d ?q=${env:PAWL_TEST_USER}",
         "curl --url='http://h/?q=a%3Ab%40c' -d ?q=a:b@c", "curl --url='http://h/?q=a%3Ab%40c' -d ?q=a:b@c"},
        {"ls a?=${env:PAWL_TEST_USER}", "ls a?=a:b@c", "ls a?=a:b@c"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *value = NULL, *shown = NULL;

        assert_int_equal(pawl__expand(cases[i].text, &value, &shown, NULL), PAWL_OK);
        assert_string_equal(value, cases[i].value);
        assert_string_equal(shown, cases[i].shown);
        g_free(value);
        g_free(shown);
    }
}

static void
wrong_references(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"${env:PAWL_TEST_NONE}", "${env:PAWL_TEST_NONE}: there is no such environment variable"},
        {"${file:none}", "${file:none}: No such file or directory"},
        {"${file:.}", "${file:.}: Is a directory"},
        {"${file:nul}", "${file:nul}: there is a NUL in it"},
        {"${file:/dev/zero}", "${file:/dev/zero}: it has more than 1 MiB"},
        {"${env:HOME", "the } of a ${env: is missing"},
        {"x ${file:", "the } of a ${file: is missing"},
        {"${env:}", "${env:} names nothing"},
        {"${file:}", "${file:} names nothing"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *value = NULL, *shown = NULL;
        pawl_error err = {0};

        assert_int_equal(pawl__expand(cases[i].text, &value, &shown, &err), PAWL_INVALID);
        assert_string_equal(err.message, cases[i].message);
        assert_null(value);
        assert_null(shown);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(wrong_references),
    };

    return cmocka_run_group_tests_name("expand", tests, setup, teardown);
}
