/*
 * cmd_run.c - pawl run: a job out of a file
 */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/exec.h"
#include "cli/first.h"
#include "cli/jobfile.h"
#include "cli/notify.h"
#include "cli/plugin.h"
#include "cli/preview_table.h"
#include "cli/progress.h"
#include "cli/sink.h"
#include "cli/watch.h"
#include "util/text.h"

/* --------------------------------------------------------------------------------------------------------- options -- */

struct values {
    GPtrArray *sets;
    bool print_config, dry_run, json;
    const char *log_format, *log_level;
};

/* Each in the order of its enum. */
static const char *const log_formats[] = {"text", "logfmt", "json", NULL};
static const char *const log_levels[] = {"error", "warn", "info", "debug", NULL};

static const pawl_option option_set = {
    .name = "set",
    .kind = PAWL_OPTION_LIST,
    .argument = "SECTION.KEY=VALUE",
    .summary = "Sets a setting, whatever the file says: --set job.max_offsets_per_batch=1000.",
    .field = offsetof(struct values, sets),
};

static const pawl_option option_print_config = {
    .name = "print-config",
    .kind = PAWL_OPTION_FLAG,
    .summary = "Prints every setting with its value and where it comes from, secrets masked, and runs nothing.",
    .field = offsetof(struct values, print_config),
};

static const pawl_option option_dry_run = {
    .name = "dry-run",
    .kind = PAWL_OPTION_FLAG,
    .summary =
        "Prints what would be read first: for each partition what is stored, the bounds of its log, and the first "
        "range. Runs nothing and writes nothing.",
    .field = offsetof(struct values, dry_run),
};

static const pawl_option option_json = {
    .name = "json",
    .kind = PAWL_OPTION_FLAG,
    .summary =
        "Prints a line of JSON for each batch to standard output; what commands write there goes to the log then. "
        "Its members are batch, ranges, records, bytes, rejected, skipped, lost, retries, lag, records_per_s, "
        "bytes_per_s, plan_ms, process_ms, flush_ms and save_ms. With --print-config or --dry-run: JSON instead of a "
        "table.",
    .field = offsetof(struct values, json),
};

static const pawl_option option_log_format = {
    .name = "log-format",
    .kind = PAWL_OPTION_TEXT,
    .argument = "FORMAT",
    .fallback = "text",
    .choices = log_formats,
    .summary = "How log lines are written to standard error: as text, as key=value pairs (logfmt), or as JSON.",
    .field = offsetof(struct values, log_format),
};

static const pawl_option option_log_level = {
    .name = "log-level",
    .kind = PAWL_OPTION_TEXT,
    .argument = "LEVEL",
    .fallback = "info",
    .choices = log_levels,
    .summary = "Which log lines are written: those of this level and of the more serious ones. With --dry-run the "
               "default is warn.",
    .field = offsetof(struct values, log_level),
};

static const pawl_option *const options[] = {
    &option_set, &option_dry_run, &option_print_config, &option_json, &option_log_format, &option_log_level, NULL,
};

static const char *const examples[] = {
    "pawl run job.ini",
    "pawl run job.ini --set job.trigger=once --dry-run",
    NULL,
};

static unsigned
choice(const char *const *choices, const char *text, unsigned fallback)
{
    for (unsigned i = 0; text != NULL && choices[i] != NULL; i++)
        if (strcmp(choices[i], text) == 0)
            return i;
    return fallback;
}

/* ------------------------------------------------------------------------------------------------------------- run -- */

/* What belongs to the job that this process runs. */
struct run {
    const struct values *values;
    pawl_jobfile jobfile;
    pawl_sink sink;
    pawl_log log;
    pawl_exec *exec;
    pawl_loaded_plugin plugin;
    pawl_hooks hooks, own; /* what the job calls, and what the exec or the plugin has given */
    pawl_job *job;
    pawl_progress progress;
    bool is_ready;
};

/* A process runs one job, and the hooks' user is the plugin's: so the two hooks that are added look here. */
static struct run *current;

static pawl_verdict
on_open(void *user, pawl_opening *openings, size_t count, pawl_error *err)
{
    pawl_verdict verdict = current->own.on_open != NULL ? current->own.on_open(user, openings, count, err) : PAWL_DONE;

    if (verdict == PAWL_DONE && !current->is_ready)
        pawl__notify("READY=1");
    current->is_ready = current->is_ready || verdict == PAWL_DONE;
    return verdict;
}

/* Who reads our standard output may have gone: that is no reason to end a job. */
static void
print_line(const pawl_buffer *line)
{
    size_t done = 0;

    while (done < line->size) {
        ssize_t written = write(STDOUT_FILENO, line->data + done, line->size - done);

        if (written < 0 && errno != EINTR)
            return;
        done += written > 0 ? (size_t) written : 0;
    }
}

static void
on_saved(void *user, const pawl_batch *batch)
{
    pawl_buffer line = {NULL, 0, 0};

    pawl__progress_saved(&current->progress, current->job, batch, current->values->json ? &line : NULL);
    print_line(&line);
    pawl__buffer_done(&line);
    if (current->own.on_saved != NULL)
        current->own.on_saved(user, batch);
}

static pawl_status
make_hooks(struct run *run, pawl_error *err)
{
    const pawl_process *process = &run->jobfile.process;
    pawl_status status;

    if (process->exec != NULL)
        status = pawl__exec_new(process, &run->log, run->values->json, &run->exec, &run->own, err);
    else
        status = pawl__plugin_load(process->plugin, run->jobfile.config, &run->plugin, &run->own, err);
    run->hooks = run->own;
    run->hooks.on_open = on_open;
    run->hooks.on_saved = on_saved;
    return status;
}

static pawl_status
run_job(struct run *run, pawl_error *err)
{
    bool on_terminal = !run->values->json && isatty(STDERR_FILENO);
    pawl_watch watch = {
        .job = run->job,
        .exec = run->exec,
        .sink = &run->sink,
        .progress = on_terminal || pawl__notify_wanted() ? &run->progress : NULL,
        .on_terminal = on_terminal,
    };
    pawl_status status;

    pawl__text_duration(pawl_config_get(run->jobfile.config, "shutdown_timeout"), &watch.shutdown_timeout_ms, NULL);
    status = pawl__watch_start(&watch, err);
    if (status != PAWL_OK)
        return status;
    status = pawl_job_run(run->job, err);
    pawl__watch_stop(&watch);
    pawl__notify("STOPPING=1");
    /* The job has logged why it ended. */
    if (status != PAWL_OK && run->log.level >= PAWL_LOG_ERROR && err != NULL)
        err->message[0] = '\0';
    return status;
}

static pawl_status
run_loaded(struct run *run, pawl_error *err)
{
    pawl_status status;

    /* A dry run is about what it prints. */
    run->log = (pawl_log){(pawl_log_level) choice(log_levels, run->values->log_level,
                                                  run->values->dry_run ? PAWL_LOG_WARN : PAWL_LOG_INFO),
                          pawl__sink_take, &run->sink};
    pawl_config_set_log(run->jobfile.config, &run->log);
    status = make_hooks(run, err);
    if (status == PAWL_OK)
        status = pawl_job_new(run->jobfile.config, &run->hooks, &run->job, err);
    if (status == PAWL_OK)
        status = run->values->dry_run ? pawl__preview_print(run->job, run->values->json, err) : run_job(run, err);
    pawl_job_free(run->job);
    pawl__plugin_done(&run->plugin);
    pawl__exec_free(run->exec);
    return status;
}

/* Standard descriptors that are closed would be given to whatever is opened next, and commands would write into it. */
static void
open_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
            return;
}

static pawl_status
run_command(const pawl_invocation *call, pawl_error *err)
{
    struct run run = {.values = call->values};
    pawl_status status;

    open_standard_descriptors();
    pawl__sink_init(&run.sink, (pawl_sink_format) choice(log_formats, run.values->log_format, PAWL_SINK_TEXT));
    status = pawl__jobfile_load(call->operands[0], run.values->sets, &run.jobfile, err);
    if (status == PAWL_OK && run.values->print_config) {
        pawl__jobfile_print(&run.jobfile, run.values->json);
    } else if (status == PAWL_OK) {
        pawl__first_process();
        /* Nobody watches over a dry run: signals end it, but for a connection that is gone. */
        if (run.values->dry_run)
            signal(SIGPIPE, SIG_IGN);
        else
            pawl__watch_block();
        current = &run;
        status = run_loaded(&run, err);
        current = NULL;
    }
    pawl__jobfile_done(&run.jobfile);
    pawl__sink_done(&run.sink);
    return status;
}

const pawl_command pawl__cmd_run = {
    .name = "run",
    .summary = "runs the job that a file describes",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .operands_are_files = true,
    .details =
        "The file has sections: [job] with the settings of pawl-settings(5), [kafka] with properties of "
        "librdkafka, [process] with exec or plugin, and [user] with a plugin's own settings. ${env:NAME} and "
        "${file:PATH} in a value stand for an environment variable and for the content of a file. In the user, the "
        "password and the parameters of a URL they are percent-encoded.\n"
        "SIGTERM, SIGINT and SIGHUP end the job once the batch in hand is saved, if that takes no longer than "
        "shutdown_timeout; a second one leaves it unsaved, at once. SIGUSR1 logs how far each range in hand is.",
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct values),
    .run = run_command,
};
