/*
 * store_write.c - the writes of the store contract
 *
 * They share one loop: send; if the answer was lost, read back and judge; send again if it is sure that nothing was
 * applied. Then each kind of write says how it is sent and how it is judged.
 */
#include "core/store.h"

#include <string.h>

#include "util/clock.h"

/* ---------------------------------------------------------------------------------------- the loop of the writes -- */

pawl_status
pawl__store_write_start(pawl__store_run *run, pawl_store *store, const char *group, const void *lines, size_t stride,
                        size_t count)
{
    size_t max = pawl_store_max_partitions(store);
    pawl_status status = pawl__store_run_start_lines(run, store, group, lines, stride, count);

    if (status == PAWL_OK && store->read_only)
        status = pawl_error_set(&run->error, PAWL_INVALID, 0, 0, "the store was opened for reading only");
    if (status == PAWL_OK && max != 0 && count > max)
        status = pawl_error_set(&run->error, PAWL_UNSUPPORTED, 0, 0,
                                "%zu partitions do not fit into one write of this %s: store, which takes at most %zu",
                                count, store->backend->scheme, max);
    return status;
}

/* It could not be read back: run->error says why. */
static pawl_status
outcome_unknown(pawl__store_run *run, const pawl_error *lost)
{
    /* Who cancelled a store knows why it did not answer; the message tells the rest. */
    pawl_status status = run->error.status == PAWL_CANCELLED ? PAWL_CANCELLED : PAWL_OUTCOME_UNKNOWN;

    return pawl_error_set(&run->error, status, 0, lost->native_code,
                          "group '%s': whether a write was applied is not known (%s), and it could not be read back "
                          "(%s); starting again is safe, the store is read first",
                          run->call.group, lost->message, run->error.message);
}

/* It was read back and judged. The verdict is known; why it had to be asked for belongs to it. */
static pawl_status
outcome_known(pawl__store_run *run, const pawl_error *lost, pawl_status status)
{
    if (status == PAWL_FAILED)
        return pawl_error_set(&run->error, status, run->error.flags, lost->native_code, "%s (%s)", run->error.message,
                              lost->message);
    return status;
}

/* Finds out what became of a write, within the time that is left. */
static pawl_status
resolve(pawl__store_run *run, const pawl__store_write *write)
{
    const pawl_store_backend *backend = run->store->backend;
    const pawl_error lost = run->error;
    pawl_entry *entries = NULL;
    pawl_partition *partitions = g_new(pawl_partition, write->count);
    pawl_group_info info;
    pawl_status status;

    run->call.deadline_ms = run->deadline_ms;
    do {
        memset(&info, 0, sizeof info);
        g_free(entries);
        entries = pawl__store_entries(write->lines.any, write->stride, write->count);
        for (size_t i = 0; i < write->count; i++)
            partitions[i] = entries[i].partition;
        if (backend->read_back != NULL)
            status = backend->read_back(run->store->self, &run->call, partitions, write->count, entries, &run->error);
        else
            status = backend->load(run->store->self, &run->call, partitions, write->count, entries, &info, &run->error);
    } while (pawl__store_run_again(run, &status));

    if (status == PAWL_OK)
        status = outcome_known(run, &lost, write->judge(run, write, entries));
    else if (status != PAWL_CONFLICT) /* which is a verdict, too */
        status = outcome_unknown(run, &lost);
    g_free(partitions);
    g_free(entries);
    return status;
}

/*
 * A write that arrives late finds its own second copy there, or the other way round: after a lost answer these two are
 * no verdict but a question.
 */
static bool
may_be_our_own(pawl_status status)
{
    return status == PAWL_CONFLICT || status == PAWL_STALE;
}

pawl_status
pawl__store_write_run(pawl__store_run *run, const pawl__store_write *write)
{
    bool lost = false;
    pawl_status status;

    do {
        pawl__store_run_leave_time(run);
        status = write->send(run, write);
        if (status == PAWL_OUTCOME_UNKNOWN || (lost && may_be_our_own(status))) {
            lost = true;
            status = resolve(run, write);
        }
    } while (!write->once && pawl__store_run_again(run, &status));
    return status;
}

/* ------------------------------------------------------------------------------------------- acquire and release -- */

static pawl_status
send_acquire(pawl__store_run *run, const pawl__store_write *write)
{
    return run->store->backend->acquire(run->store->self, &run->call, write->owner, write->cluster,
                                        write->lines.acquire, write->count, &run->error);
}

static pawl_status
judge_acquire(pawl__store_run *run, const pawl__store_write *write, const pawl_entry *entries)
{
    return pawl__store_judge_acquire(run->store, run->call.group, write->owner, write->lines.acquire, write->count,
                                     entries, &run->error);
}

pawl_status
pawl_store_acquire(pawl_store *store, const char *group, const pawl_owner *owner, const char *cluster,
                   pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    pawl_owner marked = *owner;
    pawl__store_write write = {.send = send_acquire,
                               .judge = judge_acquire,
                               .lines.acquire = lines,
                               .stride = sizeof *lines,
                               .count = count,
                               .owner = &marked,
                               .cluster = cluster};
    pawl__store_run run;
    pawl_status status = pawl__store_write_start(&run, store, group, lines, sizeof *lines, count);

    if (status == PAWL_OK)
        status = pawl__store_check_owner(owner, cluster, &run.error);
    if (status == PAWL_OK)
        status = pawl__store_check_acquire(lines, count, &run.error);
    if (status == PAWL_OK)
        status = pawl__owner_mark(&marked, &run.error);
    if (marked.renewed_ms == 0)
        marked.renewed_ms = pawl__clock_wall_ms();
    if (status == PAWL_OK && count > 0)
        status = pawl__store_write_run(&run, &write);
    return pawl__store_run_end(&run, status, err);
}

static pawl_status
send_release(pawl__store_run *run, const pawl__store_write *write)
{
    return run->store->backend->release(run->store->self, &run->call, write->lines.release, write->count, &run->error);
}

static pawl_status
judge_release(pawl__store_run *run, const pawl__store_write *write, const pawl_entry *entries)
{
    return pawl__store_judge_release(write->lines.release, write->count, entries, &run->error);
}

pawl_status
pawl_store_release(pawl_store *store, const char *group, const pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    pawl__store_write write = {
        .send = send_release, .judge = judge_release, .lines.release = lines, .stride = sizeof *lines, .count = count};
    pawl__store_run run;
    pawl_status status = pawl__store_write_start(&run, store, group, lines, sizeof *lines, count);

    if (status == PAWL_OK && count > 0)
        status = pawl__store_write_run(&run, &write);
    return pawl__store_run_end(&run, status, err);
}

/* ----------------------------------------------------------------------------------------------- plan and remove -- */

static pawl_status
send_plan(pawl__store_run *run, const pawl__store_write *write)
{
    return run->store->backend->plan(run->store->self, &run->call, write->lines.plan, write->count, &run->error);
}

static pawl_status
judge_plan(pawl__store_run *run, const pawl__store_write *write, const pawl_entry *entries)
{
    return pawl__store_judge_plan(run->store, run->call.group, write->lines.plan, write->count, entries, &run->error);
}

pawl_status
pawl_store_plan(pawl_store *store, const char *group, const pawl_plan_line *lines, size_t count, pawl_error *err)
{
    pawl__store_write write = {
        .send = send_plan, .judge = judge_plan, .lines.plan = lines, .stride = sizeof *lines, .count = count};
    pawl__store_run run;
    pawl_status status = pawl__store_write_start(&run, store, group, lines, sizeof *lines, count);

    if (status == PAWL_OK)
        status = pawl__store_run_require(&run, PAWL_STORE_PLAN, "keep planned ranges");
    if (status == PAWL_OK)
        status = pawl__store_check_plan(store->backend->capabilities, lines, count, &run.error);
    if (status == PAWL_OK && count > 0)
        status = pawl__store_write_run(&run, &write);
    return pawl__store_run_end(&run, status, err);
}

static pawl_status
send_remove(pawl__store_run *run, const pawl__store_write *write)
{
    return run->store->backend->remove(run->store->self, &run->call, write->lines.remove, write->count, &run->error);
}

static pawl_status
judge_remove(pawl__store_run *run, const pawl__store_write *write, const pawl_entry *entries)
{
    return pawl__store_judge_remove(run->store, run->call.group, write->lines.remove, write->count, entries,
                                    &run->error);
}

pawl_status
pawl_store_remove(pawl_store *store, const char *group, pawl_remove_line *lines, size_t count, pawl_error *err)
{
    pawl__store_write write = {
        .send = send_remove, .judge = judge_remove, .lines.remove = lines, .stride = sizeof *lines, .count = count};
    pawl__store_run run;
    pawl_status status = pawl__store_write_start(&run, store, group, lines, sizeof *lines, count);

    if (status == PAWL_OK)
        status = pawl__store_check_remove(store->backend->capabilities, lines, count, &run.error);
    if (status == PAWL_OK && count > 0)
        status = pawl__store_write_run(&run, &write);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        lines[i].ret_removed = lines[i].expected.known; /* else it was a conflict */
    return pawl__store_run_end(&run, status, err);
}
