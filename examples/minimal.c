/*
 * minimal.c - counts the records of a topic: the least that a pawl program needs
 *
 *     minimal BROKERS TOPIC STORE_URL
 *
 * It reads what is there now, and ends. Run again, it counts only what has come since: the store remembers.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include <pawl/pawl.h>

/* The next records of one range. Ranges may be processed on several threads at once, so the counter is atomic. */
static pawl_verdict
count_records(void *user, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    atomic_llong *total = user;

    (void) range, (void) records, (void) err;
    atomic_fetch_add(total, (long long) count);
    return PAWL_DONE;
}

/* A batch is processed. When this says DONE its offsets are saved, so whatever must not be lost is made safe here. */
static pawl_verdict
print_total(void *user, pawl_batch *batch, pawl_error *err)
{
    atomic_llong *total = user;

    (void) err;
    printf("batch %" PRId64 ": %lld records so far\n", pawl_batch_number(batch), atomic_load(total));
    return PAWL_DONE;
}

int
main(int argc, char **argv)
{
    atomic_llong total = 0;
    const pawl_hooks hooks = {.size = sizeof(hooks), .user = &total, .process = count_records, .flush = print_total};
    const pawl_log log = {PAWL_LOG_WARN, pawl_log_to_stdio, stderr};
    pawl_error err = {0};
    pawl_job *job = NULL;

    if (argc != 4) {
        fprintf(stderr, "usage: %s BROKERS TOPIC STORE_URL\n", argv[0]);
        return 2;
    }

    pawl_config *config = pawl_config_new();
    pawl_config_set_log(config, &log);
    if (pawl_config_set(config, "kafka.bootstrap.servers", argv[1], &err) == PAWL_OK &&
        pawl_config_set(config, "topics", argv[2], &err) == PAWL_OK &&
        pawl_config_set(config, "store", argv[3], &err) == PAWL_OK &&
        pawl_config_set(config, "group", "minimal", &err) == PAWL_OK &&
        pawl_config_set(config, "trigger", "available-now", &err) == PAWL_OK &&
        pawl_job_new(config, &hooks, &job, &err) == PAWL_OK)
        pawl_job_run(job, &err);
    pawl_job_free(job);
    pawl_config_free(config);

    if (err.status != PAWL_OK)
        fprintf(stderr, "%s: %s\n", argv[0], err.message);
    return pawl_status_exit_code(err.status);
}
