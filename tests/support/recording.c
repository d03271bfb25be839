/*
 * recording.c - a sink without a transaction: it writes down each record that it gets, and nothing else
 *
 *     recording BROKERS STORE_URL FILE [NAME=VALUE ...]
 *
 * A line of FILE is "PID TOPIC PARTITION FROM UNTIL OFFSET": the range and the record. It is appended in process, at
 * once, so that the file tells what was handed over even when the process is killed a moment later (killing.h); flush
 * makes it safe.
 */
#include "killing.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

static int file = -1;

/* One write for all records of the call: with O_APPEND it comes whole or, at worst, cut at its end. */
static pawl_verdict
write_down(void *user, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    GString *text = g_string_new(NULL);

    (void) user;
    for (size_t i = 0; i < count; i++)
        g_string_append_printf(text, "%d %s %" PRId32 " %" PRId64 " %" PRId64 " %" PRId64 "\n", (int) getpid(),
                               pawl_range_topic(range), pawl_range_partition(range), pawl_range_from(range),
                               pawl_range_until(range), records[i].offset);
    gboolean ok = write(file, text->str, text->len) == (ssize_t) text->len;
    g_string_free(text, TRUE);
    if (!ok)
        pawl_error_set(err, PAWL_FAILED, 0, 0, "cannot write the file");
    return ok ? PAWL_DONE : PAWL_STOP;
}

static pawl_verdict
make_safe(void *user, pawl_batch *batch, pawl_error *err)
{
    (void) user, (void) batch;
    if (fsync(file) == 0)
        return PAWL_DONE;
    pawl_error_set(err, PAWL_FAILED, 0, 0, "cannot sync the file");
    return PAWL_STOP;
}

static pawl_status
configure(pawl_config *config, int argc, char **argv, pawl_error *err)
{
    pawl_status status = pawl_config_set(config, "kafka.bootstrap.servers", argv[1], err);

    if (status == PAWL_OK)
        status = pawl_config_set(config, "store", argv[2], err);
    for (int i = 4; status == PAWL_OK && i < argc; i++) {
        char **pair = g_strsplit(argv[i], "=", 2);

        status = pawl_config_set(config, pair[0], pair[1] != NULL ? pair[1] : "", err);
        g_strfreev(pair);
    }
    return status;
}

int
main(int argc, char **argv)
{
    const pawl_hooks hooks = {.size = sizeof(hooks), .process = write_down, .flush = make_safe};
    const pawl_log log = {PAWL_LOG_INFO, pawl_log_to_stdio, stderr};
    pawl_error err = {0};
    pawl_job *job = NULL;

    if (argc < 4) {
        fprintf(stderr, "usage: %s BROKERS STORE_URL FILE [NAME=VALUE ...]\n", argv[0]);
        return 2;
    }
    file = open(argv[3], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file == -1) {
        perror(argv[3]);
        return 1;
    }
    killing_install(argv[2]);

    pawl_config *config = pawl_config_new();
    pawl_config_set_log(config, &log);
    if (configure(config, argc, argv, &err) == PAWL_OK && killing_job_new(config, &hooks, &job, &err) == PAWL_OK)
        pawl_job_run(job, &err);
    pawl_job_free(job);
    pawl_config_free(config);
    close(file);

    if (err.status != PAWL_OK)
        fprintf(stderr, "%s: %s\n", argv[0], err.message);
    return pawl_status_exit_code(err.status);
}
