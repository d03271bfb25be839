/*
 * test_registry.c - which tables are taken, and where modules are looked for
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

#include <pawl/sys/registry.h>

#include "backends/memory/memory.h"

static void
refused(const pawl_store_backend *backend, const char *says)
{
    pawl_error err = {0};

    assert_int_equal(pawl_registry_add_store(backend, &err), PAWL_INVALID);
    assert_int_equal(err.status, PAWL_INVALID);
    assert_non_null(strstr(err.message, says));
    assert_int_equal(pawl_registry_add_store(backend, NULL), PAWL_INVALID);
}

static void
incomplete_tables(void **state)
{
    static const pawl_store_option options[] = {{"size", "1", NULL}, {NULL, NULL, NULL}};
    const pawl_store_backend good = pawl__store_memory;
    pawl_store_backend bad;

    (void) state;
    refused(NULL, "ABI");
    bad = good, bad.abi = PAWL_STORE_ABI + 1;
    refused(&bad, "ABI 2");
    bad = good, bad.summary = NULL;
    refused(&bad, "complete");
    bad = good, bad.instance_size = 0;
    refused(&bad, "complete");
    bad = good, bad.options = options;
    refused(&bad, "complete");
    bad = good, bad.capabilities |= 0x8000;
    refused(&bad, "capabilities");
}

static void
missing_functions(void **state)
{
    const pawl_store_backend good = pawl__store_memory;
    pawl_store_backend bad;

    (void) state;
    bad = good, bad.open = NULL;
    refused(&bad, "open");
    bad = good, bad.save = NULL;
    refused(&bad, "save");
    bad = good, bad.remove = NULL;
    refused(&bad, "remove");
    bad = good, bad.plan = NULL;
    refused(&bad, "PAWL_STORE_PLAN");
    bad = good, bad.list = NULL;
    refused(&bad, "PAWL_STORE_LIST");
    bad = good, bad.capabilities |= PAWL_STORE_TRANSACTION;
    refused(&bad, "begin");
    bad.capabilities &= ~PAWL_STORE_ATOMIC;
    refused(&bad, "ATOMIC");
}

static void
illegal_schemes(void **state)
{
    static const char *const schemes[] = {"", "Memory", "1st", "a/b", "../a", "a b", "-a", ".", "ä", "a\n", "a:"};
    const pawl_store_backend *found = NULL;
    pawl_store_backend bad = pawl__store_memory;

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(schemes); i++) {
        bad.scheme = schemes[i];
        refused(&bad, "scheme");
        assert_int_equal(pawl_registry_find_store(schemes[i], &found, NULL), PAWL_INVALID);
    }
    bad.scheme = NULL;
    refused(&bad, "scheme");
    assert_int_equal(pawl_registry_find_store(NULL, &found, NULL), PAWL_INVALID);
    assert_null(found);
}

static void
a_scheme_is_taken_once(void **state)
{
    static pawl_store_backend other;
    const pawl_store_backend *found = NULL;
    pawl_error err = {0};

    (void) state;
    assert_int_equal(pawl_registry_add_store(&pawl__store_memory, &err), PAWL_OK);
    assert_int_equal(pawl_registry_add_store(&pawl__store_memory, &err), PAWL_OK);
    other = pawl__store_memory;
    refused(&other, "taken");
    assert_int_equal(pawl_registry_find_store("memory", &found, &err), PAWL_OK);
    assert_ptr_equal(found, &pawl__store_memory);
}

static void
an_unknown_scheme_is_told_the_known_ones(void **state)
{
    const pawl_store_backend *found = NULL;
    pawl_error err = {0};

    (void) state;
    assert_int_equal(pawl_registry_find_store("nowhere", &found, &err), PAWL_INVALID);
    assert_non_null(strstr(err.message, "'nowhere:'"));
    assert_non_null(strstr(err.message, "memory:"));
    assert_null(found);
}

static bool
take_scheme(void *user, const pawl_store_backend *backend)
{
    g_ptr_array_add(user, (void *) backend->scheme);
    return true;
}

static void
take_line(void *user, const pawl_log_line *line)
{
    g_string_append(user, line->message);
}

/* A file that only looks like a module, in a folder that was added: it is offered, tried and reported. */
static void
a_module_that_does_not_load(void **state)
{
    char *folder = g_dir_make_tmp("pawl-registry-XXXXXX", NULL),
         *path = g_build_filename(folder, "store-broken.so", NULL);
    char *odd = g_build_filename(folder, "store-O dd.so", NULL);
    GPtrArray *schemes = g_ptr_array_new();
    GString *lines = g_string_new(NULL);
    pawl_log log = {PAWL_LOG_WARN, take_line, lines};
    const pawl_store_backend *found = NULL;
    pawl_error err = {0};

    (void) state;
    assert_true(g_file_set_contents(path, "no module", -1, NULL));
    assert_true(g_file_set_contents(odd, "no module", -1, NULL));
    pawl_registry_add_path(folder);
    assert_int_equal(pawl_registry_find_store("broken", &found, &err), PAWL_INVALID);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(pawl_registry_find_store("nowhere", &found, &err), PAWL_INVALID);
    assert_non_null(strstr(err.message, "broken:, memory:"));

    pawl_registry_list_stores(take_scheme, schemes, &log);
    assert_true(g_ptr_array_find_with_equal_func(schemes, "memory", g_str_equal, NULL));
    assert_false(g_ptr_array_find_with_equal_func(schemes, "broken", g_str_equal, NULL));
    assert_non_null(strstr(lines->str, path));

    g_unlink(path);
    g_unlink(odd);
    g_rmdir(folder);
    g_ptr_array_free(schemes, TRUE);
    g_string_free(lines, TRUE);
    g_free(odd);
    g_free(path);
    g_free(folder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(incomplete_tables),
        cmocka_unit_test(missing_functions),
        cmocka_unit_test(illegal_schemes),
        cmocka_unit_test(a_scheme_is_taken_once),
        cmocka_unit_test(an_unknown_scheme_is_told_the_known_ones),
        cmocka_unit_test(a_module_that_does_not_load),
    };

    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
