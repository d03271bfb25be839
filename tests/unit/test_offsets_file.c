/*
 * test_offsets_file.c - offsets in a file: what export writes and import reads
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <string.h>

#include "cli/offsets_file.h"

/* Reads a text, and writes down what was read: "topic 0 17;". The caller frees it. */
static char *
read_text(const char *text, const char **ret_cluster, pawl_error *err)
{
    GArray *moves = pawl__moves_new();
    GString *found = g_string_new(NULL);

    *ret_cluster = NULL;
    if (pawl__offsets_read("f", text, strlen(text), moves, ret_cluster, err) != PAWL_OK)
        g_string_append(found, "refused");
    for (size_t i = 0; err->status == PAWL_OK && i < moves->len; i++) {
        const pawl_move *move = pawl__moves_at(moves, i);

        assert_true(move->given.known);
        g_string_append_printf(found, "%s %d %" G_GINT64_FORMAT ";", move->partition.topic,
                               (int) move->partition.number, move->given.offset);
    }
    g_array_unref(moves);
    return g_string_free(found, FALSE);
}

static void
texts(void **state)
{
    static const struct {
        const char *text, *wanted, *cluster;
    } cases[] = {
        {"t,0,17\n", "t 0 17;", NULL},
        {"t,0,17", "t 0 17;", NULL},
        {"topic,partition,offset\r\n\"t\",0,17\r\n\r\nu,1,0\r\n", "t 0 17;u 1 0;", NULL},
        {"t,2147483647,9223372036854775807\n", "t 2147483647 9223372036854775807;", NULL},
        {"{\"partitions\": [{\"topic\": \"t\", \"partition\": 0, \"offset\": 9223372036854775807}]}",
         "t 0 9223372036854775807;", NULL},
        {" \n{\"group\": \"g\", \"cluster\": \"abc\", \"more\": [1], \"partitions\": [{\"offset\": 9007199254740993, "
         "\"partition\": 3, \"topic\": \"t\", \"lag\": null}]}",
         "t 3 9007199254740993;", "abc"},
        {"{\"cluster\": null, \"partitions\": [{\"topic\": \"t\", \"partition\": 0, \"offset\": 1}]}", "t 0 1;", NULL},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *cluster;
        pawl_error err = {0};
        char *found = read_text(cases[i].text, &cluster, &err);

        assert_string_equal(found, cases[i].wanted);
        assert_true(g_strcmp0(cluster, cases[i].cluster) == 0);
        g_free(found);
    }
}

static void
wrong_texts(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "f holds no offset"},
        {"topic,partition,offset\n", "f holds no offset"},
        {"t,0\n", "f, line 1: it is not topic,partition,offset"},
        {"t,0,1,2\n", "f, line 1: it is not topic,partition,offset"},
        {"\n\nt,x,1\n", "f, line 3: the partition is not a number from 0 to 2^31-1"},
        {"t,2147483648,1\n", "f, line 1: the partition is not a number from 0 to 2^31-1"},
        {"t,0,9223372036854775808\n", "f, line 1: the offset is not a number from 0 to 2^63-1"},
        {"t,0,-1\n", "f, line 1: the offset is not a number from 0 to 2^63-1"},
        {"t, 0,1\n", "f, line 1: the partition is not a number from 0 to 2^31-1"},
        {"\"a,b\",0,1\n", "f, line 1: it is not topic,partition,offset"},
        {"\"a b\",0,1\n", "f, line 1: the topic's name is not legal"},
        {"t,0,1\ntopic,partition,offset\n", "f, line 2: the partition is not a number from 0 to 2^31-1"},
        {"{}", "f has no member \"partitions\" with a list"},
        {"{\"partitions\": {}}", "f has no member \"partitions\" with a list"},
        {"{\"partitions\": []}", "f holds no offset"},
        {"{\"partitions\": [1]}", "f, item 1 of partitions: it is no object"},
        {"{\"partitions\": [{}]}", "f, item 1 of partitions: the topic's name is not legal"},
        {"{\"partitions\": [{\"topic\": \"t\"}]}",
         "f, item 1 of partitions: the partition is not a number from 0 to 2^31-1"},
        {"{\"partitions\": [{\"topic\": \"t\", \"partition\": 0, \"offset\": 1.0}]}",
         "f, item 1 of partitions: the offset is not a number from 0 to 2^63-1"},
        {"{\"partitions\": [{\"topic\": \"t\", \"partition\": \"0\", \"offset\": 1}]}",
         "f, item 1 of partitions: the partition is not a number from 0 to 2^31-1"},
        {"{\"partitions\": [{\"topic\": \"t\\u0000u\", \"partition\": 0, \"offset\": 1}]}",
         "f is no text: it holds a NUL"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *cluster;
        pawl_error err = {0};
        char *found = read_text(cases[i].text, &cluster, &err);

        assert_string_equal(found, "refused");
        assert_int_equal(err.status, PAWL_INVALID);
        assert_string_equal(err.message, cases[i].message);
        g_free(found);
    }
}

static void
syntax(void **state)
{
    static const char *const cases[] = {"{", "{]", "{\"partitions\": [}", "{} x", "{\"a\": \"\xff\"}"};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *cluster;
        pawl_error err = {0};
        char *found = read_text(cases[i], &cluster, &err);

        assert_string_equal(found, "refused");
        assert_true(g_str_has_prefix(err.message, "f is no JSON: "));
        assert_null(strchr(err.message, '\n'));
        g_free(found);
    }
}

/* Partitions without an offset are left out, and a name that only a store may hold is quoted. */
static void
written(void **state)
{
    GArray *moves = pawl__moves_new();
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    (void) state;
    pawl__moves_add(moves, (pawl_partition){"t", 0}, pawl_position_absent());
    pawl__moves_add(moves, (pawl_partition){"t", 1}, pawl_position_absent());
    pawl__moves_add(moves, (pawl_partition){"a,\"b", 2}, pawl_position_absent());
    pawl__moves_at(moves, 0)->entry.offset = pawl_position_at(INT64_MAX);
    pawl__moves_at(moves, 2)->entry.offset = pawl_position_at(0);
    pawl__offsets_write_csv(file, moves);
    fclose(file);
    assert_string_equal(text, "t,0,9223372036854775807\n\"a,\"\"b\",2,0\n");
    free(text);
    g_array_set_size(moves, 1);
    file = open_memstream(&text, &size);
    pawl__offsets_write_json(file, "g", "", moves);
    fclose(file);
    assert_string_equal(text, "{\n  \"group\": \"g\",\n  \"cluster\": null,\n  \"partitions\": [\n    {\n"
                              "      \"topic\": \"t\",\n      \"partition\": 0,\n"
                              "      \"offset\": 9223372036854775807\n    }\n  ]\n}\n");
    free(text);
    g_array_unref(moves);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(wrong_texts),
        cmocka_unit_test(syntax),
        cmocka_unit_test(written),
    };

    return cmocka_run_group_tests_name("offsets_file", tests, NULL, NULL);
}
