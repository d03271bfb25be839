/*
 * pawl_loop.c - a job that counts records: what is measured
 *
 *     pawl_loop BROKERS TOPIC STORE_URL [NAME=VALUE ...]
 *
 * NAME=VALUE are pawl's settings. user.pause_us=N makes each call of the process function take so long: then records wait
 * for their turn, which is when memory counts. PAWL_BENCH_LOG=debug in the environment sends the log to standard error.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pawl/pawl.h>

#include "measure.h"

static atomic_llong total_records, total_bytes;
static long pause_us;

/* Reads each record, as the bare loop does, and adds once a call, as any program would. */
static pawl_verdict
count_records(void *user, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    long long bytes = 0;

    (void) user, (void) range, (void) err;
    for (size_t i = 0; i < count; i++)
        bytes += (long long) (records[i].value_size + records[i].key_size);
    atomic_fetch_add(&total_bytes, bytes);
    if (atomic_fetch_add(&total_records, (long long) count) == 0)
        measure_first();
    if (pause_us > 0)
        nanosleep(&(struct timespec){pause_us / 1000000, pause_us % 1000000 * 1000}, NULL);
    return PAWL_DONE;
}

/* The last batch is saved. */
static void
finish(void *user, const pawl_partition *partitions, size_t count)
{
    (void) user, (void) partitions, (void) count;
    measure_end(atomic_load(&total_records), atomic_load(&total_bytes));
}

static void
set(pawl_config *config, const char *name, const char *value)
{
    pawl_error err;

    if (pawl_config_set(config, name, value, &err) != PAWL_OK) {
        fprintf(stderr, "pawl_loop: %s\n", err.message);
        exit(2);
    }
}

static pawl_config *
configure(int argc, char **argv)
{
    const pawl_log log = {getenv("PAWL_BENCH_LOG") != NULL ? PAWL_LOG_DEBUG : PAWL_LOG_WARN, pawl_log_to_stdio, stderr};
    pawl_config *config = pawl_config_new();

    pawl_config_set_log(config, &log);
    set(config, "kafka.bootstrap.servers", argv[1]);
    set(config, "topics", argv[2]);
    set(config, "store", argv[3]);
    set(config, "group", "bench");
    set(config, "trigger", "available-now");
    for (int i = 4; i < argc; i++) {
        char *equals = strchr(argv[i], '=');

        if (equals == NULL) {
            fprintf(stderr, "pawl_loop: %s is not NAME=VALUE\n", argv[i]);
            exit(2);
        }
        *equals = '\0';
        set(config, argv[i], equals + 1);
    }
    return config;
}

int
main(int argc, char **argv)
{
    const pawl_hooks hooks = {.size = sizeof(hooks), .process = count_records, .on_close = finish};
    pawl_error err = {0};
    pawl_job *job = NULL;

    if (argc < 4) {
        fprintf(stderr, "usage: %s BROKERS TOPIC STORE_URL [NAME=VALUE ...]\n", argv[0]);
        return 2;
    }
    measure_start();
    pawl_config *config = configure(argc, argv);
    const char *pause = pawl_config_get(config, "user.pause_us");
    pause_us = pause != NULL ? atol(pause) : 0;
    if (pawl_job_new(config, &hooks, &job, &err) == PAWL_OK)
        pawl_job_run(job, &err);
    pawl_job_free(job);
    pawl_config_free(config);
    if (err.status != PAWL_OK)
        fprintf(stderr, "pawl_loop: %s\n", err.message);
    return pawl_status_exit_code(err.status);
}
