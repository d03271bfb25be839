/*
 * command.h - what a command of the program is
 *
 * A command is one `const` table. From it come the parser, --help, the manual pages and the completion of shells, so they
 * cannot drift apart. commands.c lists the commands; each stands in a cmd_*.c of its own.
 */
#ifndef PAWL_CLI_COMMAND_H
#define PAWL_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include <glib.h>

#include <pawl/error.h>

typedef enum pawl_option_kind {
    PAWL_OPTION_FLAG, /* bool: whether it was given */
    PAWL_OPTION_TEXT, /* const char *: the last word has no meaning here, so twice is an error; NULL when not given */
    PAWL_OPTION_LIST, /* GPtrArray * of const char *: may be given more than once; empty when not given */
} pawl_option_kind;

/* One option of a command. Texts are sentences for --help and the manual. */
typedef struct pawl_option {
    const char *name; /* without its dashes */
    pawl_option_kind kind;
    bool required;
    const char *argument;       /* what stands for the value: "URL"; NULL for a flag */
    const char *fallback;       /* the value when it is not given, as text; NULL: none */
    const char *const *choices; /* the values it may have, ended by NULL; NULL: any */
    bool is_file;               /* the value is a file's name: shells complete it */
    const char *summary;
    size_t field; /* where in the command's own struct of values */
} pawl_option;

typedef struct pawl_command pawl_command;

/* A command line that was understood. Everything is borrowed from it while `run` runs. */
typedef struct pawl_invocation {
    const pawl_command *command;
    const char *name;   /* with what stands before it: "pawl offsets set" */
    const void *values; /* the command's own struct, filled in; zeros and NULL where an option was not given */
    const char *const *operands;
    size_t operand_count;
} pawl_invocation;

struct pawl_command {
    const char *name;
    const char *summary;                /* half a sentence for the list of commands */
    const char *operands;               /* "T:P=OFFSET ..." for the usage line; NULL: none */
    size_t min_operands, max_operands;  /* without an upper limit: SIZE_MAX */
    bool operands_are_files;            /* for the completion of shells */
    const char *details;                /* sentences for --help and the manual; "\n" ends a paragraph; or NULL */
    const char *const *examples;        /* command lines, ended by NULL; or NULL */
    const pawl_option *const *options;  /* ended by NULL; or NULL */
    const pawl_command *const *members; /* sub-commands, ended by NULL; then there is no run */
    size_t values_size;

    /* Runs it. What fails is written to err and not printed: run.c does that, and turns the status into the exit code. */
    pawl_status (*run)(const pawl_invocation *call, pawl_error *err);
};

/* The program: its members are the commands (src/cli/commands.c). */
extern const pawl_command pawl__cli_program;

/* ------------------------------------------------------------------------------------------------------- parsing -- */

/* What the parser found: a command to run, or a wish to read about one. */
typedef struct pawl_parsed {
    pawl_invocation call;
    bool wants_help;
    bool wants_version;
    char *name;   /* call.name */
    void *values; /* call.values */
    GPtrArray *operands;
} pawl_parsed;

/*
 * Reads a command line. Texts in *ret_parsed are borrowed from argv, whose order may change. PAWL_INVALID: the message
 * names the option, command or value, and the nearest one there is. pawl__cli_parsed_done() is called in any case.
 */
pawl_status pawl__cli_parse(const pawl_command *program, int argc, char **argv, pawl_parsed *ret_parsed,
                            pawl_error *err);
void pawl__cli_parsed_done(pawl_parsed *parsed);

/* "--store URL" or "--execute". The caller frees it. */
char *pawl__cli_option_usage(const pawl_option *option);

/* "pawl offsets set --store URL --group NAME [OPTION ...] T:P=OFFSET ...". The caller frees it. */
char *pawl__cli_usage(const pawl_command *command, const char *name);

/* Writes what --help shows. The caller frees it. */
char *pawl__cli_help(const pawl_command *command, const char *name);

/* All of main but its name: parses, runs, prints what failed; returns the exit code. */
int pawl__cli_main(const pawl_command *program, int argc, char **argv);

#endif
