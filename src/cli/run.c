/*
 * run.c - runs a command line, and says what failed
 */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pawl/version.h>

/* What was printed may sit in a buffer: a full disk shows only now. */
static pawl_status
flush_output(pawl_error *err)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return PAWL_OK;
    return pawl_error_set(err, PAWL_FAILED, 0, errno, "cannot write to standard output: %s", g_strerror(errno));
}

static pawl_status
execute(const pawl_parsed *parsed, pawl_error *err)
{
    pawl_status status = PAWL_OK;
    char *help;

    if (parsed->wants_version) {
        printf("pawl %s\n", pawl_version());
    } else if (parsed->wants_help) {
        help = pawl__cli_help(parsed->call.command, parsed->call.name);
        fputs(help, stdout);
        g_free(help);
    } else {
        status = parsed->call.command->run(&parsed->call, err);
    }
    /* What was printed before a failure is of use as well; the failure itself is what counts. */
    return status != PAWL_OK ? (fflush(stdout), status) : flush_output(err);
}

int
pawl__cli_main(const pawl_command *program, int argc, char **argv)
{
    pawl_error err = {0};
    pawl_parsed parsed;
    pawl_status status = pawl__cli_parse(program, argc, argv, &parsed, &err);
    bool understood = status == PAWL_OK;

    if (understood)
        status = execute(&parsed, &err);
    if (status != PAWL_OK && err.message[0] != '\0') /* empty: it was logged */
        fprintf(stderr, "%s: %s\n", parsed.call.name, err.message);
    if (!understood)
        fprintf(stderr, "see %s --help\n", parsed.call.name);
    pawl__cli_parsed_done(&parsed);
    return pawl_status_exit_code(status);
}
