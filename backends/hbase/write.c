/*
 * write.c - acquire, plan, save, release, remove: what each makes of a line
 */
#include "backends/hbase/hbase_store.h"

#include "util/clock.h"

/* ------------------------------------------------------------------------------------------------------- acquire -- */

static pawl_partition
acquire_partition(const pawl__hbase_change *change, size_t i)
{
    return change->lines.acquire[i].partition;
}

static pawl_status
acquire_line(const pawl__hbase_change *change, size_t i, pawl_entry *entry, const char *place, pawl_error *err)
{
    const pawl_acquire_line *line = &change->lines.acquire[i];
    pawl_status status = pawl_sys_check_seen(entry, line->epoch_seen, place, err);

    if (status != PAWL_OK)
        return status;
    if (entry->epoch == INT64_MAX)
        return pawl_error_set(err, PAWL_FAILED, 0, 0, "there is no epoch after the last one: %s", place);
    entry->epoch++;
    entry->owner = *change->owner;
    if (!entry->offset.known)
        entry->offset = line->initial;
    return PAWL_OK;
}

pawl_status
pawl__hbase_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
                    pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    pawl__hbase_change change = {.call = call,
                                 .count = count,
                                 .partition = acquire_partition,
                                 .line = acquire_line,
                                 .lines.acquire = lines,
                                 .owner = owner,
                                 .cluster = cluster};
    pawl_status status = pawl__hbase_write(self, &change, err);

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        lines[i].ret_epoch = lines[i].epoch_seen + 1;
    return status;
}

/* ------------------------------------------------------------------------------------------------------- release -- */

/* What is another's stays as it is. */
static pawl_status
release_line(const pawl__hbase_change *change, size_t i, pawl_entry *entry, const char *place, pawl_error *err)
{
    (void) place, (void) err;
    if (entry->epoch == change->lines.acquire[i].ret_epoch) {
        entry->owner.host[0] = '\0'; /* the client's name stays: who was fenced by it wants to know */
        entry->owner.pid = 0;
        entry->owner.renewed_ms = 0;
    }
    return PAWL_OK;
}

pawl_status
pawl__hbase_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count,
                    pawl_error *err)
{
    pawl__hbase_change change = {.call = call,
                                 .count = count,
                                 .partition = acquire_partition,
                                 .line = release_line,
                                 .lines.acquire = lines,
                                 .may_be_nothing = true};
    pawl_status status = pawl__hbase_row_load(self, call->group, call->deadline_ms, err);

    return status == PAWL_OK ? pawl__hbase_write(self, &change, err) : status;
}

/* ---------------------------------------------------------------------------------------------------------- save -- */

static pawl_partition
save_partition(const pawl__hbase_change *change, size_t i)
{
    return change->lines.save[i].partition;
}

static pawl_status
save_line(const pawl__hbase_change *change, size_t i, pawl_entry *entry, const char *place, pawl_error *err)
{
    const pawl_save_line *line = &change->lines.save[i];
    pawl_status status = pawl_sys_check_owned(entry, line->epoch, line->expected, place, err);

    if (status != PAWL_OK)
        return status;
    entry->offset = pawl_position_at(line->until);
    entry->pending = pawl_position_absent();
    entry->owner.renewed_ms = change->now_ms;
    if (line->batch != 0)
        entry->batch = line->batch;
    g_strlcpy(entry->print, line->print != NULL ? line->print : "", sizeof entry->print);
    return PAWL_OK;
}

pawl_status
pawl__hbase_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count, pawl_error *err)
{
    pawl__hbase_change change = {.call = call,
                                 .count = count,
                                 .partition = save_partition,
                                 .line = save_line,
                                 .lines.save = lines,
                                 .now_ms = pawl__clock_wall_ms()};

    return pawl__hbase_write(self, &change, err);
}

/* ----------------------------------------------------------------------------------------------- plan and remove -- */

static pawl_partition
plan_partition(const pawl__hbase_change *change, size_t i)
{
    return change->lines.plan[i].partition;
}

static pawl_status
plan_line(const pawl__hbase_change *change, size_t i, pawl_entry *entry, const char *place, pawl_error *err)
{
    const pawl_plan_line *line = &change->lines.plan[i];
    pawl_status status = pawl_sys_check_owned(entry, line->epoch, line->expected, place, err);

    if (status != PAWL_OK)
        return status;
    entry->pending = line->pending;
    entry->owner.renewed_ms = change->now_ms;
    return PAWL_OK;
}

pawl_status
pawl__hbase_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count, pawl_error *err)
{
    pawl__hbase_change change = {.call = call,
                                 .count = count,
                                 .partition = plan_partition,
                                 .line = plan_line,
                                 .lines.plan = lines,
                                 .now_ms = pawl__clock_wall_ms()};

    return pawl__hbase_write(self, &change, err);
}

static pawl_partition
remove_partition(const pawl__hbase_change *change, size_t i)
{
    return change->lines.remove[i].partition;
}

static pawl_status
remove_line(const pawl__hbase_change *change, size_t i, pawl_entry *entry, const char *place, pawl_error *err)
{
    const pawl_remove_line *line = &change->lines.remove[i];
    pawl_status status = pawl_sys_check_owned(entry, line->epoch, line->expected, place, err);

    if (status != PAWL_OK)
        return status;
    entry->offset = entry->pending = pawl_position_absent();
    entry->print[0] = '\0';
    return PAWL_OK;
}

pawl_status
pawl__hbase_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count,
                   pawl_error *err)
{
    pawl__hbase_change change = {
        .call = call, .count = count, .partition = remove_partition, .line = remove_line, .lines.remove = lines};
    return pawl__hbase_write(self, &change, err);
}
