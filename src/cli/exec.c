/*
 * exec.c - hooks that run a command for each range
 *
 *     range_begin starts it  ->  process writes to it  ->  range_end waits for its end  ->  its exit code is the verdict
 */
#define _GNU_SOURCE /* sigabbrev_np */
#include "cli/exec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <glib.h>

#include "cli/buffer.h"
#include "cli/child.h"
#include "cli/record_text.h"
#include "util/text.h"

/* So much is gathered before it is written. */
#define WRITE_SIZE (128 * 1024)

struct pawl_exec {
    const pawl_process *process;
    const pawl_log *log;
    bool output_to_log;
    int cancel_fd; /* readable once all commands are to end */
    atomic_bool
        failed; /* a range has failed for good, so nothing of the batch will be saved: the others need not end */
};

/* The slot of a range. */
struct run {
    pawl_exec *exec;
    pawl_child child;
    pawl_buffer head; /* of each line of JSON */
    pawl_buffer out;  /* not written yet */
};

/* ----------------------------------------------------------------------------------------------------- environment -- */

static void
set_number(char ***environment, const char *name, int64_t number)
{
    char text[24];

    g_snprintf(text, sizeof text, "%" PRId64, number);
    *environment = g_environ_setenv(*environment, name, text, TRUE);
}

static char **
batch_environment(const pawl_batch *batch)
{
    char **environment = g_get_environ();

    environment = g_environ_setenv(environment, "PAWL_GROUP", pawl_batch_group(batch), TRUE);
    set_number(&environment, "PAWL_BATCH", pawl_batch_number(batch));
    return environment;
}

static char **
range_environment(const pawl_range *range)
{
    char **environment = batch_environment(pawl_range_batch(range));

    environment = g_environ_setenv(environment, "PAWL_TOPIC", pawl_range_topic(range), TRUE);
    set_number(&environment, "PAWL_PARTITION", pawl_range_partition(range));
    set_number(&environment, "PAWL_FROM", pawl_range_from(range));
    set_number(&environment, "PAWL_UNTIL", pawl_range_until(range));
    set_number(&environment, "PAWL_ATTEMPT", pawl_range_attempt(range));
    return environment;
}

/* --------------------------------------------------------------------------------------------------------- verdict -- */

/* Makes all other commands end: what they do cannot count any more. */
static pawl_verdict
fail(pawl_exec *exec)
{
    uint64_t one = 1;

    atomic_store(&exec->failed, true);
    if (write(exec->cancel_fd, &one, sizeof one) < 0)
        return PAWL_STOP; /* only when its counter is full: it is readable then */
    return PAWL_STOP;
}

/* "the command exited with 1, its last words: the last line of its standard error" */
static void
tell(const pawl_child *child, const char *what, pawl_error *err)
{
    const char *last = child->chatter.last;

    pawl_error_set(err, PAWL_FAILED, 0, child->code, "%s%s%s", what, last[0] != '\0' ? ", its last words: " : "", last);
}

static void
tell_signal(const pawl_child *child, pawl_error *err)
{
    const char *name = sigabbrev_np(child->code);
    char what[64];

    if (name != NULL)
        g_snprintf(what, sizeof what, "the command died of SIG%s", name);
    else
        g_snprintf(what, sizeof what, "the command died of signal %d", child->code);
    tell(child, what, err);
}

static pawl_verdict
exit_verdict(pawl_exec *exec, const pawl_child *child, pawl_error *err)
{
    char what[64];

    if (child->code == PAWL_EXEC_DONE)
        return PAWL_DONE;
    g_snprintf(what, sizeof what, "the command exited with %d", child->code);
    tell(child, what, err);
    return child->code == PAWL_EXEC_RETRY ? PAWL_RETRY : fail(exec);
}

/* What a command that has ended means. */
static pawl_verdict
verdict(pawl_exec *exec, const pawl_child *child, pawl_error *err)
{
    char what[128], duration[PAWL__DURATION_TEXT_SIZE];

    switch (child->ending) {
    case PAWL_ENDING_EXIT:
        return exit_verdict(exec, child, err);
    case PAWL_ENDING_SIGNAL:
        tell_signal(child, err);
        return fail(exec);
    case PAWL_ENDING_TIMEOUT:
        g_snprintf(what, sizeof what, "the command was killed after process_timeout = %s",
                   pawl__text_from_duration(exec->process->process_timeout_ms, duration));
        tell(child, what, err);
        return fail(exec);
    case PAWL_ENDING_CANCELLED:
        if (atomic_load(&exec->failed))
            return PAWL_DONE; /* nothing is lost: the range that has failed ends the job, and the batch is not saved */
        pawl_error_set(err, PAWL_CANCELLED, 0, 0, "the command was killed: told to stop at once");
        return PAWL_STOP;
    default:
        pawl_error_set(err, PAWL_FAILED, 0, child->code, "the command's end is not known: %s", g_strerror(child->code));
        return fail(exec);
    }
}

/* The command could not be started. */
static pawl_verdict
start_failed(pawl_exec *exec, const pawl_error *err)
{
    return (err->flags & PAWL_ERROR_RETRIABLE) != 0 ? PAWL_RETRY : fail(exec);
}

/* ----------------------------------------------------------------------------------------------------------- range -- */

static void
free_run(void *slot)
{
    struct run *run = slot;

    pawl__child_done(&run->child);
    pawl__buffer_done(&run->head);
    pawl__buffer_done(&run->out);
    g_free(run);
}

static pawl_child_setup
child_setup(const pawl_exec *exec, const char *command, char **environment, const char *who)
{
    return (pawl_child_setup){
        .command = command,
        .environment = environment,
        .output_to_log = exec->output_to_log,
        .timeout_ms = exec->process->process_timeout_ms,
        .cancel_fd = exec->cancel_fd,
        .log = exec->log,
        .who = who,
    };
}

static pawl_verdict
begin_range(void *user, pawl_range *range, pawl_error *err)
{
    pawl_exec *exec = user;
    struct run *run = g_new0(struct run, 1);
    char **environment = range_environment(range);
    char *who = g_strdup_printf("%s [%" PRId32 "] %" PRId64 "..%" PRId64 ", attempt %d", pawl_range_topic(range),
                                pawl_range_partition(range), pawl_range_from(range), pawl_range_until(range),
                                pawl_range_attempt(range));
    pawl_child_setup setup = child_setup(exec, exec->process->exec, environment, who);
    pawl_status status;

    setup.wants_input = true;
    status = pawl__child_start(&run->child, &setup, err);
    g_strfreev(environment);
    g_free(who);
    if (status != PAWL_OK) {
        g_free(run);
        return start_failed(exec, err);
    }
    run->exec = exec;
    pawl__record_json_head(&run->head, pawl_range_topic(range), pawl_range_partition(range));
    pawl_range_set_slot(range, run, free_run);
    return PAWL_DONE;
}

static void
write_out(struct run *run)
{
    pawl__child_write(&run->child, run->out.data, run->out.size);
    run->out.size = 0;
}

static char
separator(const pawl_exec *exec)
{
    return exec->process->separator == PAWL_SEPARATOR_NUL ? '\0' : '\n';
}

/* False: the separator is in the value, so nobody could tell where that ends. A null value is an empty one here. */
static bool
add_value(struct run *run, const pawl_record *record)
{
    char end = separator(run->exec);

    if (record->value_size > 0 && memchr(record->value, end, record->value_size) != NULL)
        return false;
    pawl__buffer_add(&run->out, record->value, record->value_size);
    pawl__buffer_add_byte(&run->out, end);
    return true;
}

static pawl_verdict
refuse_value(pawl_exec *exec, const pawl_record *record, pawl_error *err)
{
    bool nul = separator(exec) == '\0';

    pawl_error_set(err, PAWL_FAILED, 0, 0,
                   "offset %" PRId64 ": its value has a %s in it, which format = value cannot tell from the end of a "
                   "record; %sformat = json can",
                   record->offset, nul ? "NUL" : "newline", nul ? "" : "separator = nul or ");
    return fail(exec);
}

static pawl_verdict
process(void *user, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    pawl_exec *exec = user;
    struct run *run = pawl_range_slot(range);
    bool is_json = exec->process->format == PAWL_FORMAT_JSON;

    /* A command that does not read any more is asked what it thinks of it at its end. */
    for (size_t i = 0; i < count && run->child.in_fd >= 0; i++) {
        if (is_json)
            pawl__record_json(&run->out, &run->head, &records[i]);
        else if (!add_value(run, &records[i]))
            return refuse_value(exec, &records[i], err);
        if (run->out.size >= WRITE_SIZE)
            write_out(run);
    }
    pawl__child_look(&run->child);
    return run->child.ending == PAWL_ENDING_NONE ? PAWL_DONE : verdict(exec, &run->child, err);
}

static pawl_verdict
end_range(void *user, pawl_range *range, pawl_error *err)
{
    pawl_exec *exec = user;
    struct run *run = pawl_range_slot(range);

    write_out(run);
    pawl__child_finish(&run->child);
    pawl__buffer_done(&run->out);
    return verdict(exec, &run->child, err);
}

/* ----------------------------------------------------------------------------------------------------------- flush -- */

static pawl_verdict
flush(void *user, pawl_batch *batch, pawl_error *err)
{
    pawl_exec *exec = user;
    char **environment = batch_environment(batch);
    char *who = g_strdup_printf("batch %" PRId64 ", flush", pawl_batch_number(batch));
    pawl_child_setup setup = child_setup(exec, exec->process->flush, environment, who);
    pawl_child child;
    pawl_verdict answer;

    if (pawl__child_start(&child, &setup, err) == PAWL_OK) {
        pawl__child_finish(&child);
        answer = verdict(exec, &child, err);
        pawl__child_done(&child);
    } else {
        answer = start_failed(exec, err);
    }
    g_strfreev(environment);
    g_free(who);
    return answer;
}

/* ------------------------------------------------------------------------------------------------------ life cycle -- */

pawl_status
pawl__exec_new(const pawl_process *settings, const pawl_log *log, bool output_to_log, pawl_exec **ret_exec,
               pawl_hooks *ret_hooks, pawl_error *err)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pawl_exec *exec;

    if (fd < 0)
        return pawl_error_set(err, PAWL_FAILED, 0, errno, "cannot make an eventfd: %s", g_strerror(errno));
    exec = g_new0(pawl_exec, 1);
    exec->process = settings;
    exec->log = log;
    exec->output_to_log = output_to_log;
    exec->cancel_fd = fd;
    *ret_hooks = (pawl_hooks){
        .size = sizeof *ret_hooks,
        .user = exec,
        .range_begin = begin_range,
        .process = process,
        .range_end = end_range,
        .flush = settings->flush != NULL ? flush : NULL,
    };
    *ret_exec = exec;
    return PAWL_OK;
}

void
pawl__exec_abort(pawl_exec *exec)
{
    uint64_t one = 1;

    while (write(exec->cancel_fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

void
pawl__exec_free(pawl_exec *exec)
{
    if (exec == NULL)
        return;
    close(exec->cancel_fd);
    g_free(exec);
}
