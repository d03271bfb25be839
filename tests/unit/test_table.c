/*
 * test_table.c - rows for people and the same rows as JSON
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <string.h>

#include "cli/table.h"

static const pawl_column columns[] = {
    {"TOPIC", "topic", PAWL_COLUMN_TEXT}, {"LAG", "lag", PAWL_COLUMN_NUMBER}, {NULL, "lost", PAWL_COLUMN_BOOL},
    {"DONE", NULL, PAWL_COLUMN_BOOL},     {NULL, NULL, PAWL_COLUMN_TEXT},
};

/* What it prints. The caller frees it. */
static char *
printed(const pawl_table *table)
{
    FILE *before = stdout;
    char *text = NULL;
    size_t size;

    stdout = open_memstream(&text, &size); /* glibc lets it be set */
    pawl__table_print(table);
    fclose(stdout);
    stdout = before;
    return text;
}

/* What it is in JSON, without blanks outside of strings. The caller frees it. */
static char *
json(const pawl_table *table)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    yajl_gen writer = pawl__json_begin(file);

    yajl_gen_config(writer, yajl_gen_beautify, 0);
    pawl__table_to_json(table, writer);
    pawl__json_end(writer);
    fclose(file);
    return text;
}

static void
check(pawl_table *table, const char *for_people, const char *as_json)
{
    char *text = printed(table);

    assert_string_equal(text, for_people);
    free(text);
    text = json(table);
    assert_string_equal(text, as_json);
    free(text);
    pawl__table_free(table);
}

static void
rows(void **state)
{
    pawl_table *table = pawl__table_new(columns);

    (void) state;
    pawl__table_row(table);
    pawl__table_text(table, "flights");
    pawl__table_number(table, INT64_MAX);
    pawl__table_bool(table, true);
    pawl__table_bool(table, false);
    pawl__table_row(table);
    pawl__table_text(table, "t");
    pawl__table_position(table, pawl_position_at(0));
    pawl__table_row(table);
    pawl__table_text(table, NULL);
    pawl__table_position(table, pawl_position_absent());
    pawl__table_bool(table, false);
    pawl__table_bool(table, true);
    check(table,
          "TOPIC                    LAG  DONE\n"
          "flights  9223372036854775807  no\n"
          "t                          0  -\n"
          "-                          -  yes\n",
          "[{\"topic\":\"flights\",\"lag\":9223372036854775807,\"lost\":true},"
          "{\"topic\":\"t\",\"lag\":0,\"lost\":null},"
          "{\"topic\":null,\"lag\":null,\"lost\":false}]");
}

static void
no_rows(void **state)
{
    (void) state;
    check(pawl__table_new(columns), "TOPIC  LAG  DONE\n", "[]");
    pawl__table_free(NULL);
}

/* A store may hold any name: none reaches the terminal as a command to it, and JSON stays UTF-8. */
static void
odd_texts(void **state)
{
    pawl_table *table = pawl__table_new(columns);

    (void) state;
    pawl__table_row(table);
    pawl__table_text(table, "\033[2Ja\n\177");
    pawl__table_row(table);
    pawl__table_text(table, "\303\244\342\202\254");
    pawl__table_row(table);
    pawl__table_text(table, "\"\xff");
    check(table,
          "TOPIC             LAG  DONE\n"
          "\\x1b[2Ja\\x0a\\x7f    -  -\n"
          "\303\244\342\202\254                  -  -\n"
          "\"\xff                  -  -\n",
          "[{\"topic\":\"\\u001B[2Ja\\n\177\",\"lag\":null,\"lost\":null},"
          "{\"topic\":\"\303\244\342\202\254\",\"lag\":null,\"lost\":null},"
          "{\"topic\":\"\\\"\357\277\275\",\"lag\":null,\"lost\":null}]");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(no_rows),
        cmocka_unit_test(odd_texts),
    };

    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
