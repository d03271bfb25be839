/*
 * test_parse.c - from a command line to a command and its values
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "cli/command.h"

/* ---------------------------------------------------------------------------------- a program of one's own to parse -- */

struct values {
    bool force;
    const char *store;
    const char *format;
    GPtrArray *topics;
};

static const char *const formats[] = {"csv", "json", NULL};
static const pawl_option force = {.name = "force", .kind = PAWL_OPTION_FLAG, .field = offsetof(struct values, force)};
static const pawl_option store = {.name = "store",
                                  .kind = PAWL_OPTION_TEXT,
                                  .required = true,
                                  .argument = "URL",
                                  .field = offsetof(struct values, store)};
static const pawl_option format = {.name = "format",
                                   .kind = PAWL_OPTION_TEXT,
                                   .argument = "FORMAT",
                                   .choices = formats,
                                   .field = offsetof(struct values, format)};
static const pawl_option topic = {
    .name = "topic", .kind = PAWL_OPTION_LIST, .argument = "TOPIC", .field = offsetof(struct values, topics)};
static const pawl_option *const options[] = {&force, &store, &format, &topic, NULL};

static pawl_status
run(const pawl_invocation *call, pawl_error *err)
{
    (void) call, (void) err;
    return PAWL_OK;
}

static const pawl_command set = {.name = "set",
                                 .operands = "T:P=OFFSET ...",
                                 .min_operands = 1,
                                 .max_operands = 2,
                                 .options = options,
                                 .values_size = sizeof(struct values),
                                 .run = run};
static const pawl_command show = {.name = "show", .run = run};
static const pawl_command *const offsets_members[] = {&set, &show, NULL};
static const pawl_command offsets = {.name = "offsets", .members = offsets_members};
static const pawl_command *const members[] = {&offsets, NULL};
static const pawl_command program = {.name = "pawl", .members = members};

/* Parses words with blanks between them. */
static pawl_status
parse(const char *line, char ***ret_words, pawl_parsed *ret_parsed, pawl_error *err)
{
    *ret_words = g_strsplit(line, " ", -1);
    return pawl__cli_parse(&program, (int) g_strv_length(*ret_words), *ret_words, ret_parsed, err);
}

/* ----------------------------------------------------------------------------------------------------------- tests -- */

static void
all_kinds(void **state)
{
    char **words;
    pawl_parsed parsed;
    const struct values *values;

    (void) state;
    assert_int_equal(parse("pawl offsets set --topic a b:0=1 --store=u --force --topic b --format json c:0=1", &words,
                           &parsed, NULL),
                     PAWL_OK);
    values = parsed.call.values;
    assert_ptr_equal(parsed.call.command, &set);
    assert_string_equal(parsed.call.name, "pawl offsets set");
    assert_true(values->force);
    assert_string_equal(values->store, "u");
    assert_string_equal(values->format, "json");
    assert_int_equal(values->topics->len, 2);
    assert_string_equal(g_ptr_array_index(values->topics, 1), "b");
    assert_int_equal(parsed.call.operand_count, 2);
    assert_string_equal(parsed.call.operands[0], "b:0=1");
    assert_string_equal(parsed.call.operands[1], "c:0=1");
    pawl__cli_parsed_done(&parsed);
    g_strfreev(words);
}

static void
what_is_not_given(void **state)
{
    char **words;
    pawl_parsed parsed;
    const struct values *values;

    (void) state;
    assert_int_equal(parse("pawl offsets set --store u -- --force", &words, &parsed, NULL), PAWL_OK);
    values = parsed.call.values;
    assert_false(values->force);
    assert_null(values->format);
    assert_int_equal(values->topics->len, 0);
    assert_string_equal(parsed.call.operands[0], "--force");
    pawl__cli_parsed_done(&parsed);
    g_strfreev(words);
}

/* What is required need not be given then. */
static void
help(void **state)
{
    static const char *const lines[] = {"pawl --help", "pawl -h", "pawl offsets --help", "pawl offsets set -h"};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
        char **words;
        pawl_parsed parsed;

        assert_int_equal(parse(lines[i], &words, &parsed, NULL), PAWL_OK);
        assert_true(parsed.wants_help);
        pawl__cli_parsed_done(&parsed);
        g_strfreev(words);
    }
}

static void
wrong_lines(void **state)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"pawl", "a command is missing"},
        {"pawl offsets", "a command is missing"},
        {"pawl offset", "there is no command \"offset\"; did you mean pawl offsets?"},
        {"pawl offsets sett", "there is no command \"sett\"; did you mean pawl offsets set?"},
        {"pawl offsets x", "there is no command \"x\""},
        {"pawl -x", "there is no option -x"},
        {"pawl --verison", "there is no option --verison; did you mean --version?"},
        {"pawl offsets set --stroe u", "there is no option --stroe; did you mean --store?"},
        {"pawl offsets set --stor u", "there is no option --stor; did you mean --store?"},
        {"pawl offsets set --st=u", "there is no option --st; did you mean --store?"},
        {"pawl offsets set --force=yes", "--force takes no value"},
        {"pawl offsets set x --store", "--store needs a value"},
        {"pawl offsets set x --store u --store u", "--store is given twice"},
        {"pawl offsets set x", "--store URL is required"},
        {"pawl offsets set --store u", "T:P=OFFSET ... is missing"},
        {"pawl offsets set --store u a b c", "\"c\" is one word too many"},
        {"pawl offsets set --store u --format xml x", "--format is one of csv, json, not \"xml\""},
        {"pawl offsets show x", "\"x\" is one word too many"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char **words;
        pawl_parsed parsed;
        pawl_error err = {0};

        assert_int_equal(parse(cases[i].line, &words, &parsed, &err), PAWL_INVALID);
        assert_string_equal(err.message, cases[i].message);
        pawl__cli_parsed_done(&parsed);
        g_strfreev(words);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds),
        cmocka_unit_test(what_is_not_given),
        cmocka_unit_test(help),
        cmocka_unit_test(wrong_lines),
    };

    return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
