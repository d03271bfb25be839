/*
 * test_zookeeper_names.c - names as nodes, and back
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "backends/zookeeper/zookeeper_store.h"

static void
assert_node(const char *name, const char *expected)
{
    char *node = pawl__zk_name_to_node(name), *back = pawl__zk_name_from_node(node);

    assert_string_equal(node, expected);
    assert_string_equal(back, name);
    g_free(node);
    g_free(back);
}

static void
only_what_has_to_be_is_escaped(void **state)
{
    static const char *const as_it_is[] = {"flights", "a:b", "a b", "50%",  "%",         "%%",  "%2", "%zz",
                                           "...",     ".a",  "ü",   "日本", "'; DROP--", "{x}", "\\"};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(as_it_is); i++)
        assert_node(as_it_is[i], as_it_is[i]);
    assert_node("a/b", "a%2Fb");
    assert_node(".", "%2E");
    assert_node("..", "%2E%2E");
    assert_node("a%2Fb", "a%252Fb");
    assert_node("a%2fb", "a%252fb");
    assert_node("%%41", "%%2541");
    assert_node("%2/", "%2%2F");
    assert_node("a\nb", "a%0Ab");
    assert_node("\x7f", "%7F");
    assert_node("\xc2\x85", "%C2%85");
    assert_node("\xf0\x9f\x98\x80", "%F0%9F%98%80");
    assert_node("\xee\x80\x80", "%EE%80%80");
}

static void
what_others_named_is_called_what_it_is(void **state)
{
    static const char *const theirs[] = {"%41", "a%2fb", "%C3", "%00"};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(theirs); i++) {
        char *name = pawl__zk_name_from_node(theirs[i]);

        assert_string_equal(name, theirs[i]);
        g_free(name);
    }
}

/* No two names have the same node, and every node reads back. */
static void
any_name_comes_back(void **state)
{
    static const char letters[] = "%%%/.2Ff0a\n";
    GHashTable *nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    GRand *random = g_rand_new_with_seed(1);

    (void) state;
    for (int i = 0; i < 20000; i++) {
        char name[8] = "";
        int size = g_rand_int_range(random, 1, sizeof name - 1);
        char *node, *back;
        const char *other;

        for (int j = 0; j < size; j++)
            name[j] = letters[g_rand_int_range(random, 0, sizeof letters - 1)];
        node = pawl__zk_name_to_node(name);
        back = pawl__zk_name_from_node(node);
        assert_string_equal(back, name);
        assert_null(strchr(node, '/'));
        other = g_hash_table_lookup(nodes, node);
        if (other != NULL)
            assert_string_equal(other, name);
        g_hash_table_replace(nodes, node, back);
    }
    g_hash_table_unref(nodes);
    g_rand_free(random);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_has_to_be_is_escaped),
        cmocka_unit_test(what_others_named_is_called_what_it_is),
        cmocka_unit_test(any_name_comes_back),
    };

    return cmocka_run_group_tests_name("zookeeper names", tests, NULL, NULL);
}
