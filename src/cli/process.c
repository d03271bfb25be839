/*
 * process.c - the table of the settings of [process]
 */
#include "cli/process.h"

#include <string.h>

#include <glib.h>

#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)

/* Each in the order of its enum. */
static const char *const formats[] = {"json", "value", NULL};
static const char *const separators[] = {"newline", "nul", NULL};

static const pawl__setting table[] = {
    {
        .name = "exec",
        .kind = PAWL__SETTING_TEXT,
        .form = "a command for /bin/sh",
        .summary =
            "Runs the command once for each range, open_ranges of them at a time, with the range's records on its "
            "standard input. Exit 0: the range is done. 75: try it again, as max_retries and on_error say. Anything "
            "else, or a signal, ends the job, and nothing of the batch is saved. What it writes to standard error goes "
            "to the log. A range without records runs nothing. open_ranges and parallelism are then the number of "
            "cores "
            "unless they are set; one alone sets both.",
        .min = 1,
        .max = 100000,
        .field = offsetof(pawl_process, exec),
    },
    {
        .name = "format",
        .kind = PAWL__SETTING_CHOICE,
        .fallback = "json",
        .summary = "What exec reads. json: an object a line. value: the bare value of each record, and the separator.",
        .field = offsetof(pawl_process, format),
        .choices = formats,
    },
    {
        .name = "separator",
        .kind = PAWL__SETTING_CHOICE,
        .fallback = "newline",
        .summary = "What ends a record with format = value. A value that has a newline in it is refused, and so is the "
                   "range, unless this is nul.",
        .field = offsetof(pawl_process, separator),
        .choices = separators,
    },
    {
        .name = "process_timeout",
        .kind = PAWL__SETTING_DURATION,
        .fallback = "10m",
        .summary = "The longest that one run of exec or flush may take. Then it is killed, with all that it started, "
                   "and has failed. 0: no limit.",
        .max = DAY_MS,
        .field = offsetof(pawl_process, process_timeout_ms),
    },
    {
        .name = "flush",
        .kind = PAWL__SETTING_TEXT,
        .form = "a command for /bin/sh",
        .summary = "Runs once a batch, when all runs of exec are done and before the offsets are saved. Its exit code "
                   "is read like that of exec; 75 runs flush again.",
        .min = 1,
        .max = 100000,
        .field = offsetof(pawl_process, flush),
    },
    {
        .name = "plugin",
        .kind = PAWL__SETTING_TEXT,
        .form = "a file",
        .summary = "Loads the hooks of the job from a shared object, instead of exec; pawl/plugin.h says how to write "
                   "one.",
        .min = 1,
        .max = 4000,
        .field = offsetof(pawl_process, plugin),
    },
};

const pawl__setting *
pawl__process_table(size_t *ret_count)
{
    *ret_count = G_N_ELEMENTS(table);
    return table;
}

const pawl__setting *
pawl__process_find(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

void
pawl__process_init(pawl_process *process)
{
    *process = (pawl_process){.exec = NULL};
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (table[i].fallback != NULL)
            pawl__setting_parse(&table[i], process, table[i].fallback, NULL);
}

void
pawl__process_done(pawl_process *process)
{
    g_free(process->exec);
    g_free(process->plugin);
    g_free(process->flush);
    *process = (pawl_process){.exec = NULL};
}

pawl_status
pawl__process_check(const pawl_process *process, pawl_error *err)
{
    if (process->exec == NULL && process->plugin == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "[process] needs exec, a command that reads the records, or plugin");
    if (process->exec != NULL && process->plugin != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "plugin: only one of exec and plugin can be set");
    if (process->plugin != NULL && process->flush != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "flush: goes with exec; a plugin has a hook for it");
    if (process->separator == PAWL_SEPARATOR_NUL && process->format != PAWL_FORMAT_VALUE)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "separator: nul goes with format = value");
    return PAWL_OK;
}
