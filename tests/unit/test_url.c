/*
 * test_url.c - URLs of stores, and that a password never shows
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "util/url.h"

static void
check_text(const char *url, const char *what, const char *is, const char *expected)
{
    if (g_strcmp0(is, expected) != 0)
        fail_msg("%s: %s is %s, not %s", url, what, is != NULL ? is : "NULL", expected != NULL ? expected : "NULL");
}

static void
good_urls(void **state)
{
    static const struct {
        const char *text, *scheme, *user, *password, *hosts, *path, *masked; /* masked NULL: the text itself */
    } cases[] = {
        {"sqlite:offsets.db", "sqlite", NULL, NULL, "", "offsets.db", NULL},
        {"sqlite:/var/lib/offsets.db", "sqlite", NULL, NULL, "", "/var/lib/offsets.db", NULL},
        {"sqlite:///var/lib/offsets.db", "sqlite", NULL, NULL, "", "/var/lib/offsets.db", NULL},
        {"sqlite:///home/me@work/o.db", "sqlite", NULL, NULL, "", "/home/me@work/o.db", NULL},
        {"sqlite:a b.db", "sqlite", NULL, NULL, "", "a b.db", NULL},
        {"sqlite:a%20b%3F%23%25.db", "sqlite", NULL, NULL, "", "a b?#%.db", NULL},
        {"SQLite:x", "sqlite", NULL, NULL, "", "x", "sqlite:x"},
        {"memory:", "memory", NULL, NULL, "", "", NULL},
        {"zookeeper://h1:2181,h2:2181/chroot", "zookeeper", NULL, NULL, "h1:2181,h2:2181", "/chroot", NULL},
        {"zookeeper://h1,h2,h3", "zookeeper", NULL, NULL, "h1,h2,h3", "", NULL},
        {"kafka://broker:9092", "kafka", NULL, NULL, "broker:9092", "", NULL},
        {"kafka://[::1]:9092,[fe80::1]", "kafka", NULL, NULL, "[::1]:9092,[fe80::1]", "", NULL},
        {"redis://user@host:6379/0", "redis", "user", NULL, "host:6379", "/0", NULL},
        {"redis://:s3cret@host/0", "redis", NULL, "s3cret", "host", "/0", "redis://:***@host/0"},
        {"redis://user:@host/0", "redis", "user", "", "host", "/0", "redis://user:***@host/0"},
        {"redis://u%40x:p%3A%2F%40@host", "redis", "u@x", "p:/@", "host", "", "redis://u%40x:***@host"},
        {"redis://u:a:b@host", "redis", "u", "a:b", "host", "", "redis://u:***@host"},
        {"redis://u:a@b@host", "redis", "u", "a@b", "host", "", "redis://u:***@host"},
        {"postgresql://u:pw@/db", NULL, NULL, NULL, NULL, NULL, NULL}, /* a user and no host */
        {"postgresql://user@host/db?connect_timeout=5", "postgresql", "user", NULL, "host", "/db", NULL},
        {"postgresql://h/db?a=1&password=s3cret&b=2", "postgresql", NULL, NULL, "h", "/db",
         "postgresql://h/db?a=1&password=***&b=2"},
        {"postgresql://h/db?pass%77ord=s3cret", "postgresql", NULL, NULL, "h", "/db",
         "postgresql://h/db?pass%77ord=***"},
        {"hbase://host:8080/table", "hbase", NULL, NULL, "host:8080", "/table", NULL},
        {"redis:user:s3cret@host", "redis", NULL, NULL, "", "user:s3cret@host", "redis:user:***@host"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pawl__url url = {0};
        pawl_error err = {0};
        pawl_status status = pawl__url_parse(cases[i].text, &url, &err);

        if ((status == PAWL_OK) != (cases[i].scheme != NULL))
            fail_msg("%s: %s %s", cases[i].text, pawl_status_name(status), err.message);
        if (status == PAWL_OK) {
            check_text(cases[i].text, "scheme", url.scheme, cases[i].scheme);
            check_text(cases[i].text, "user", url.user, cases[i].user);
            check_text(cases[i].text, "password", url.password, cases[i].password);
            check_text(cases[i].text, "hosts", url.hosts, cases[i].hosts);
            check_text(cases[i].text, "path", url.path, cases[i].path);
            check_text(cases[i].text, "masked", url.masked, cases[i].masked ? cases[i].masked : cases[i].text);
            assert_non_null(url.query);
        }
        pawl__url_done(&url);
    }
}

static void
queries(void **state)
{
    pawl__url url = {0};

    (void) state;
    assert_int_equal(pawl__url_parse("sqlite:o.db?busy_timeout=5s&b=a%26b+c&empty=", &url, NULL), PAWL_OK);
    assert_int_equal(g_hash_table_size(url.query), 3);
    assert_string_equal(g_hash_table_lookup(url.query, "busy_timeout"), "5s");
    assert_string_equal(g_hash_table_lookup(url.query, "b"), "a&b+c"); /* a plus is a plus */
    assert_string_equal(g_hash_table_lookup(url.query, "empty"), "");
    pawl__url_done(&url);
    assert_int_equal(pawl__url_parse("sqlite:o.db?", &url, NULL), PAWL_OK);
    assert_int_equal(g_hash_table_size(url.query), 0);
    pawl__url_done(&url);
}

/* What is wrong with each, and that no message shows what may be part of the password "s3cret". */
static void
bad_urls(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "a URL starts with a scheme"},
        {"offsets.db", "a URL starts with a scheme"},
        {"/var/lib/offsets.db", "a URL starts with a scheme"},
        {":s3cret", "a URL starts with a scheme"},
        {"1redis://u:s3cret@host", "a URL starts with a scheme"},
        {"redis ://u:s3cret@host", "a URL starts with a scheme"},
        {"redis://u:s3cret@", "a user, and no host"},
        {"redis://u:s3cret@/0", "a user, and no host"},
        {"redis://u:12/s3cret@host", "an @ after the hosts is written %40"},
        {"redis://u:12?s3cret@host", "an @ after the hosts is written %40"},
        {"redis://u:s3cret/x@host", "in a user or password, / is written %2F"},
        {"redis://u:12#s3cret@host", "a # in it is written %23"},
        {"redis://u:s3cret%zz@host", "a % in the user or password is written %25"},
        {"redis://u%00:s3cret@host", "a % in the user or password is written %25"},
        {"redis://u:s3cret@ho st", "the hosts are not"},
        {"redis://host:s3cret", "the hosts are not"},
        {"redis://host:0", "the hosts are not"},
        {"redis://host:65536", "the hosts are not"},
        {"redis://host:", "the hosts are not"},
        {"redis://host:06379", "the hosts are not"},
        {"redis://h1:1,,h2:2", "the hosts are not"},
        {"redis://h1:1,", "the hosts are not"},
        {"redis://::1", "the hosts are not"},
        {"redis://[::1", "the hosts are not"},
        {"redis://[]:1", "the hosts are not"},
        {"redis://[::1]6379", "the hosts are not"},
        {"sqlite:a%zz", "a % in the path is written %25"},
        {"sqlite:a%00b", "a % in the path is written %25"},
        {"sqlite:a%", "a % in the path is written %25"},
        {"sqlite:a\nb", "a control character"},
        {"sqlite:a#b", "a # in it is written %23"},
        {"sqlite:a?b", "what stands after the ? is not NAME=VALUE"},
        {"sqlite:a?b=1&b=2", "comes twice"},
        {"sqlite:a?b=%ff", "what stands after the ? is not NAME=VALUE"},
        {"pg://h/db?password=s3cret%zz", "what stands after the ? is not NAME=VALUE"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pawl__url url;
        pawl_error err = {0};

        if (pawl__url_parse(cases[i].text, &url, &err) != PAWL_INVALID || strstr(err.message, cases[i].message) == NULL)
            fail_msg("%s: %s", cases[i].text, err.message);
        if (strstr(err.message, "s3cret") != NULL)
            fail_msg("%s: the message shows the password: %s", cases[i].text, err.message);
        assert_null(url.scheme);
        pawl__url_done(&url);
    }
}

/* Done is total: twice, and on one that never held anything. */
static void
done_twice(void **state)
{
    pawl__url url = {0};

    (void) state;
    pawl__url_done(&url);
    assert_int_equal(pawl__url_parse("redis://u:p@h/0?a=b", &url, NULL), PAWL_OK);
    pawl__url_done(&url);
    pawl__url_done(&url);
}

static void
cuts_and_joins_hosts(void **state)
{
    static const struct {
        const char *text, *host, *port, *joined;
    } hosts[] = {{"h", "h", "9", "h:9"},
                 {"h:1", "h", "1", "h:1"},
                 {"10.0.0.1:65535", "10.0.0.1", "65535", "10.0.0.1:65535"},
                 {"[::1]", "::1", "9", "[::1]:9"},
                 {"[::1]:1", "::1", "1", "[::1]:1"}};

    (void) state;
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        char *host, *port, *joined;

        pawl__url_cut_host(hosts[i].text, "9", &host, &port);
        joined = pawl__url_join_host(host, port);
        assert_string_equal(host, hosts[i].host);
        assert_string_equal(port, hosts[i].port);
        assert_string_equal(joined, hosts[i].joined);
        g_free(joined);
        g_free(port);
        g_free(host);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_and_joins_hosts),
        cmocka_unit_test(good_urls),
        cmocka_unit_test(queries),
        cmocka_unit_test(bad_urls),
        cmocka_unit_test(done_twice),
    };

    return cmocka_run_group_tests_name("url", tests, NULL, NULL);
}
