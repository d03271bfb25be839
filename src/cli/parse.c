/*
 * parse.c - from a command line to a command and its values
 *
 * getopt_long reads options one by one; what is known here and not there is which names come near to one that is not.
 * Names are not abbreviated: a script would break when a new option makes its abbreviation ambiguous.
 */
#include "cli/command.h"

#include <getopt.h>
#include <string.h>

#include "util/nearest.h"
#include "util/text.h"

/* What getopt_long returns for option number i, beyond all letters. */
#define FIRST_CODE   1000
#define CODE_HELP    998
#define CODE_VERSION 999

/* ------------------------------------------------------------------------------------------------------ commands -- */

static pawl_status
unknown_command(const pawl_command *parent, const char *name, const char *word, pawl_error *err)
{
    pawl__nearest nearest = pawl__nearest_to(word);
    char shown[PAWL__BYTES_TEXT_SIZE];

    pawl__text_from_bytes(word, strlen(word), shown);
    for (size_t i = 0; parent->members[i] != NULL; i++)
        pawl__nearest_try(&nearest, parent->members[i]->name);
    if (nearest.found != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "there is no command \"%s\"; did you mean %s %s?", shown, name,
                              nearest.found);
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "there is no command \"%s\"", shown);
}

/* The member called `word`, or NULL. */
static const pawl_command *
find_member(const pawl_command *parent, const char *word)
{
    for (size_t i = 0; parent->members[i] != NULL; i++)
        if (strcmp(parent->members[i]->name, word) == 0)
            return parent->members[i];
    return NULL;
}

/* Goes down from the program to the command that is meant; *ret_used counts the words that this took. */
static pawl_status
find_command(const pawl_command *program, int argc, char **argv, pawl_parsed *parsed, int *ret_used, pawl_error *err)
{
    GString *name = g_string_new(program->name);
    const pawl_command *command = program;
    pawl_status status = PAWL_OK;
    int used = 1;

    while (command->members != NULL && used < argc && argv[used][0] != '-' && status == PAWL_OK) {
        const pawl_command *member = find_member(command, argv[used]);

        if (member == NULL) {
            status = unknown_command(command, name->str, argv[used], err);
            break;
        }
        command = member;
        g_string_append_printf(name, " %s", member->name);
        used++;
    }
    parsed->name = g_string_free(name, FALSE);
    parsed->call.command = command;
    parsed->call.name = parsed->name;
    *ret_used = used;
    return status;
}

/* ------------------------------------------------------------------------------------------------------- options -- */

static size_t
count_options(const pawl_command *command)
{
    size_t count = 0;

    while (command->options != NULL && command->options[count] != NULL)
        count++;
    return count;
}

/* The table for getopt_long, and the values of a command whose options were not given. The caller frees the table. */
static struct option *
prepare(const pawl_command *command, pawl_parsed *parsed)
{
    size_t count = count_options(command);
    struct option *table = g_new0(struct option, count + 3);

    parsed->values = g_malloc0(MAX(command->values_size, 1));
    parsed->call.values = parsed->values;
    for (size_t i = 0; i < count; i++) {
        const pawl_option *option = command->options[i];
        void *field = (char *) parsed->values + option->field;

        table[i] = (struct option){option->name, option->kind == PAWL_OPTION_FLAG ? no_argument : required_argument,
                                   NULL, FIRST_CODE + (int) i};
        if (option->kind == PAWL_OPTION_LIST)
            *(GPtrArray **) field = g_ptr_array_new();
    }
    table[count] = (struct option){"help", no_argument, NULL, CODE_HELP};
    table[count + 1] = (struct option){"version", no_argument, NULL, CODE_VERSION};
    return table;
}

static pawl_status
unknown_option(const struct option *table, const char *word, pawl_error *err)
{
    size_t size = strcspn(word, "=");
    char *name = g_strndup(word, size);
    pawl__nearest nearest = pawl__nearest_to(name + strspn(name, "-"));
    const char *beginning = name + strspn(name, "-");
    char shown[PAWL__BYTES_TEXT_SIZE];
    pawl_status status;

    pawl__text_from_bytes(word, size, shown);
    for (size_t i = 0; table[i].name != NULL; i++)
        pawl__nearest_try(&nearest, table[i].name);
    /* Somebody may be used to abbreviations. */
    for (size_t i = 0; table[i].name != NULL && nearest.found == NULL && strlen(beginning) > 1; i++)
        if (g_str_has_prefix(table[i].name, beginning))
            nearest.found = table[i].name;
    if (nearest.found != NULL)
        status =
            pawl_error_set(err, PAWL_INVALID, 0, 0, "there is no option %s; did you mean --%s?", shown, nearest.found);
    else
        status = pawl_error_set(err, PAWL_INVALID, 0, 0, "there is no option %s", shown);
    g_free(name);
    return status;
}

static pawl_status
check_choice(const pawl_option *option, const char *value, pawl_error *err)
{
    GString *choices = g_string_new(NULL);
    char shown[PAWL__BYTES_TEXT_SIZE];
    pawl_status status = PAWL_INVALID;

    for (size_t i = 0; option->choices[i] != NULL; i++) {
        if (strcmp(option->choices[i], value) == 0)
            status = PAWL_OK;
        g_string_append_printf(choices, "%s%s", i == 0 ? "" : ", ", option->choices[i]);
    }
    if (status != PAWL_OK)
        pawl_error_set(err, PAWL_INVALID, 0, 0, "--%s is one of %s, not \"%s\"", option->name, choices->str,
                       pawl__text_from_bytes(value, strlen(value), shown));
    g_string_free(choices, TRUE);
    return status;
}

static pawl_status
take_option(pawl_parsed *parsed, const pawl_option *option, const char *value, pawl_error *err)
{
    void *field = (char *) parsed->values + option->field;

    if (option->choices != NULL && check_choice(option, value, err) != PAWL_OK)
        return PAWL_INVALID;
    switch (option->kind) {
    case PAWL_OPTION_FLAG:
        *(bool *) field = true;
        return PAWL_OK;
    case PAWL_OPTION_LIST:
        g_ptr_array_add(*(GPtrArray **) field, (char *) value);
        return PAWL_OK;
    default:
        if (*(const char **) field != NULL)
            return pawl_error_set(err, PAWL_INVALID, 0, 0, "--%s is given twice", option->name);
        *(const char **) field = value;
        return PAWL_OK;
    }
}

/* The word in which getopt_long has just found an option. */
static const char *
current_word(char **argv, const char *value)
{
    return value != NULL && value == argv[optind - 1] ? argv[optind - 2] : argv[optind - 1];
}

static bool
is_whole_name(const char *word, const char *name)
{
    size_t size = strlen(name);

    return g_str_has_prefix(word, "--") && strncmp(word + 2, name, size) == 0 &&
           (word[2 + size] == '\0' || word[2 + size] == '=');
}

static pawl_status
take_code(pawl_parsed *parsed, const struct option *table, int code, char **argv, pawl_error *err)
{
    const char *word = current_word(argv, optarg);
    const struct option *row = table;

    if (code == ':')
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s needs a value", argv[optind - 1]);
    while (code != '?' && row->val != code && row->name != NULL)
        row++;
    if (code == 'h') {
        parsed->wants_help = true;
        return PAWL_OK;
    }
    /* A known code in optopt: a flag to which a value was given. */
    if (code == '?' && optopt >= CODE_HELP)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%.*s takes no value", (int) strcspn(word, "="), word);
    if (code == '?' || !is_whole_name(word, row->name))
        return unknown_option(table, word, err);
    if (code == CODE_HELP)
        parsed->wants_help = true;
    else if (code == CODE_VERSION)
        parsed->wants_version = true;
    else
        return take_option(parsed, parsed->call.command->options[code - FIRST_CODE], optarg, err);
    return PAWL_OK;
}

/* argv[0] is the last word of the command's own name. */
static pawl_status
take_options(pawl_parsed *parsed, const struct option *table, int argc, char **argv, pawl_error *err)
{
    pawl_status status = PAWL_OK;
    int code;

    optind = 0; /* GNU: from the start, whatever was parsed before */
    opterr = 0;
    while (status == PAWL_OK && (code = getopt_long(argc, argv, ":h", table, NULL)) != -1)
        status = take_code(parsed, table, code, argv, err);
    for (; status == PAWL_OK && optind < argc; optind++)
        g_ptr_array_add(parsed->operands, argv[optind]);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- checks -- */

static pawl_status
check_required(const pawl_parsed *parsed, pawl_error *err)
{
    const pawl_command *command = parsed->call.command;

    for (size_t i = 0; i < count_options(command); i++) {
        const pawl_option *option = command->options[i];
        const void *field = (const char *) parsed->values + option->field;

        if (!option->required)
            continue;
        if (option->kind == PAWL_OPTION_LIST ? (*(GPtrArray *const *) field)->len == 0
                                             : *(const char *const *) field == NULL)
            return pawl_error_set(err, PAWL_INVALID, 0, 0, "--%s %s is required", option->name, option->argument);
    }
    return PAWL_OK;
}

static pawl_status
check_operands(const pawl_parsed *parsed, pawl_error *err)
{
    const pawl_command *command = parsed->call.command;
    char shown[PAWL__BYTES_TEXT_SIZE];
    size_t count = parsed->operands->len;

    if (count < command->min_operands)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s is missing", command->operands);
    if (count > command->max_operands) {
        const char *word = g_ptr_array_index(parsed->operands, command->max_operands);

        return pawl_error_set(err, PAWL_INVALID, 0, 0, "\"%s\" is one word too many",
                              pawl__text_from_bytes(word, strlen(word), shown));
    }
    return PAWL_OK;
}

static pawl_status
check(const pawl_parsed *parsed, pawl_error *err)
{
    pawl_status status;

    if (parsed->wants_help || parsed->wants_version)
        return PAWL_OK;
    if (parsed->call.command->run == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "a command is missing");
    status = check_required(parsed, err);
    return status == PAWL_OK ? check_operands(parsed, err) : status;
}

pawl_status
pawl__cli_parse(const pawl_command *program, int argc, char **argv, pawl_parsed *ret_parsed, pawl_error *err)
{
    struct option *table;
    pawl_status status;
    int used;

    *ret_parsed = (pawl_parsed){.operands = g_ptr_array_new()};
    status = find_command(program, argc, argv, ret_parsed, &used, err);
    if (status != PAWL_OK)
        return status;
    table = prepare(ret_parsed->call.command, ret_parsed);
    status = take_options(ret_parsed, table, argc - used + 1, argv + used - 1, err);
    ret_parsed->call.operands = (const char *const *) ret_parsed->operands->pdata;
    ret_parsed->call.operand_count = ret_parsed->operands->len;
    if (status == PAWL_OK)
        status = check(ret_parsed, err);
    g_free(table);
    return status;
}

void
pawl__cli_parsed_done(pawl_parsed *parsed)
{
    const pawl_command *command = parsed->call.command;

    for (size_t i = 0; parsed->values != NULL && i < count_options(command); i++)
        if (command->options[i]->kind == PAWL_OPTION_LIST)
            g_ptr_array_unref(*(GPtrArray **) ((char *) parsed->values + command->options[i]->field));
    g_free(parsed->values);
    g_free(parsed->name);
    if (parsed->operands != NULL)
        g_ptr_array_unref(parsed->operands);
    *parsed = (pawl_parsed){.name = NULL};
}
