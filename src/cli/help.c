/*
 * help.c - what --help shows
 */
#include "cli/command.h"

#include <string.h>

#define LINE_WIDTH 100

/* Where the sentences about commands and options start. */
#define INDENT 26

/* Adds words, from a column on, and breaks lines before they are too long. Ends with a newline. */
static void
add_wrapped(GString *text, size_t column, size_t indent, const char *words)
{
    size_t at = column;

    while (*words != '\0') {
        size_t size = strcspn(words, " \n");

        if (at > indent && at + 1 + size > LINE_WIDTH) {
            g_string_append_printf(text, "\n%*s", (int) indent, "");
            at = indent;
        } else if (at > indent) {
            g_string_append_c(text, ' ');
            at++;
        }
        g_string_append_len(text, words, (gssize) size);
        at += size;
        words += size;
        if (*words == '\n') {
            g_string_append_printf(text, "\n\n%*s", (int) indent, "");
            at = indent;
            words++;
        }
        words += strspn(words, " ");
    }
    g_string_append_c(text, '\n');
}

/* One line of a list: a term, and sentences about it in the column beside. */
static void
add_item(GString *text, const char *term, const char *words)
{
    size_t size = strlen(term);

    g_string_append_printf(text, "  %s", term);
    if (size + 4 > INDENT)
        g_string_append_printf(text, "\n%*s", INDENT, "");
    else
        g_string_append_printf(text, "%*s", (int) (INDENT - size - 2), "");
    add_wrapped(text, INDENT, INDENT, words);
}

char *
pawl__cli_option_usage(const pawl_option *option)
{
    if (option->argument == NULL)
        return g_strdup_printf("--%s", option->name);
    return g_strdup_printf("--%s %s", option->name, option->argument);
}

static void
add_choices(GString *words, const pawl_option *option)
{
    for (size_t i = 0; option->choices != NULL && option->choices[i] != NULL; i++)
        g_string_append_printf(words, "%s%s%s", i == 0 ? " One of " : ", ", option->choices[i],
                               option->choices[i + 1] == NULL ? "." : "");
}

static void
add_options(GString *text, const pawl_command *command)
{
    g_string_append(text, "\nOptions:\n");
    for (size_t i = 0; command->options != NULL && command->options[i] != NULL; i++) {
        const pawl_option *option = command->options[i];
        char *term = pawl__cli_option_usage(option);
        GString *words = g_string_new(option->summary);

        if (option->required)
            g_string_append(words, " Required.");
        if (option->kind == PAWL_OPTION_LIST)
            g_string_append(words, " May be given more than once.");
        add_choices(words, option);
        if (option->fallback != NULL)
            g_string_append_printf(words, " Default: %s.", option->fallback);
        add_item(text, term, words->str);
        g_string_free(words, TRUE);
        g_free(term);
    }
    add_item(text, "--help", "Shows this.");
}

char *
pawl__cli_usage(const pawl_command *command, const char *name)
{
    GString *text = g_string_new(name);
    bool optional = false;

    for (size_t i = 0; command->options != NULL && command->options[i] != NULL; i++) {
        char *usage = pawl__cli_option_usage(command->options[i]);

        if (command->options[i]->required)
            g_string_append_printf(text, " %s", usage);
        else
            optional = true;
        g_free(usage);
    }
    if (optional)
        g_string_append(text, " [OPTION ...]");
    if (command->members != NULL)
        g_string_append(text, " COMMAND ...");
    if (command->operands != NULL)
        g_string_append_printf(text, command->min_operands > 0 ? " %s" : " [%s]", command->operands);
    return g_string_free(text, FALSE);
}

char *
pawl__cli_help(const pawl_command *command, const char *name)
{
    char *usage = pawl__cli_usage(command, name);
    GString *text = g_string_new(NULL);

    g_string_append_printf(text, "Usage: %s\n\n", usage);
    g_string_append_printf(text, "%s %s.\n", name, command->summary);
    if (command->details != NULL) {
        g_string_append_c(text, '\n');
        add_wrapped(text, 0, 0, command->details);
    }
    if (command->members != NULL)
        g_string_append(text, "\nCommands:\n");
    for (size_t i = 0; command->members != NULL && command->members[i] != NULL; i++)
        add_item(text, command->members[i]->name, command->members[i]->summary);
    add_options(text, command);
    if (command->examples != NULL)
        g_string_append(text, "\nExamples:\n");
    for (size_t i = 0; command->examples != NULL && command->examples[i] != NULL; i++)
        g_string_append_printf(text, "  %s\n", command->examples[i]);
    g_free(usage);
    return g_string_free(text, FALSE);
}
