/*
 * write.c - acquire, release, plan and remove
 */
#include "backends/redis/redis_store.h"

#include <inttypes.h>

#include "util/clock.h"

/* ------------------------------------------------------------------------------------------------------- acquire -- */

static pawl_status
check_epochs(pawl__redis_store *store, const char *group, const pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    char place[PAWL__REDIS_PLACE_SIZE];

    for (size_t i = 0; i < count; i++) {
        if (lines[i].epoch_seen < INT64_MAX)
            continue;
        pawl__redis_place(store, group, lines[i].partition, place, sizeof place);
        return pawl_error_set(err, PAWL_FAILED, 0, 0, "there is no epoch after the last one: %s", place);
    }
    return PAWL_OK;
}

/*
 * One for all partitions of an acquire, and for no other acquire of this owner. Epochs are taken from the clock, in
 * microseconds, rather than counted: a failover may forget an acquire, and the next owner must not get the number that the
 * forgotten one still works under.
 */
static int64_t
next_epoch(const pawl__redis_store *store, const pawl_acquire_line *lines, size_t count)
{
    int64_t epoch = MAX(g_get_real_time(), store->epoch + 1);

    for (size_t i = 0; i < count; i++)
        epoch = MAX(epoch, lines[i].epoch_seen + 1);
    return epoch;
}

/* The end of a state that this owner writes. The caller frees it. */
static char *
owner_text(const pawl_owner *owner)
{
    char *host = pawl__redis_escape(owner->host), *client = pawl__redis_escape(owner->client_id);
    char *text = g_strdup_printf("pid=%" PRId64 " host=%s client=%s", owner->pid, host, client);

    g_free(host);
    g_free(client);
    return text;
}

static pawl_status
explain_acquire(pawl__redis_store *store, const char *group, const pawl_acquire_line *line, const redisReply *reply,
                pawl_error *err)
{
    char place[PAWL__REDIS_PLACE_SIZE];
    pawl__redis_found found;
    pawl_status status = pawl__redis_read_refused(store, group, line->partition, reply, &found, err);

    if (status != PAWL_OK)
        return status;
    pawl__redis_place(store, group, line->partition, place, sizeof place);
    status = pawl_sys_check_seen(&found.entry, line->epoch_seen, place, err);
    if (status == PAWL_OK)
        status = pawl_error_set(err, PAWL_FAILED, 0, 0, "what was found could not be changed: %s", place);
    return status;
}

pawl_status
pawl__redis_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
                    pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    pawl__redis_store *store = self;
    redisReply *reply = NULL;
    pawl__redis_args args;
    pawl_status status = check_epochs(store, call->group, lines, count, err);
    size_t refused;

    if (status != PAWL_OK)
        return status;
    g_free(store->owner);
    store->owner = owner_text(owner);
    store->epoch = next_epoch(store, lines, count);
    pawl__redis_args_init(&args);
    pawl__redis_args_add(&args, cluster != NULL ? cluster : "");
    pawl__redis_args_add_number(&args, owner->renewed_ms);
    pawl__redis_args_add(&args, store->owner);
    pawl__redis_args_add_number(&args, store->epoch);
    for (size_t i = 0; i < count; i++) {
        pawl__redis_args_add_field(&args, lines[i].partition);
        pawl__redis_args_add_number(&args, lines[i].epoch_seen);
        pawl__redis_args_add_position(&args, lines[i].initial);
    }
    status = pawl__redis_run(store, call, PAWL__REDIS_ACQUIRE, &args, &reply, err);
    pawl__redis_args_done(&args);
    if (status != PAWL_OK)
        return status;
    if (pawl__redis_refused(reply, count, &refused))
        status = explain_acquire(store, call->group, &lines[refused], reply, err);
    freeReplyObject(reply);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        lines[i].ret_epoch = store->epoch;
    return status;
}

pawl_status
pawl__redis_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count,
                    pawl_error *err)
{
    redisReply *reply = NULL;
    pawl__redis_args args;
    pawl_status status;

    pawl__redis_args_init(&args);
    for (size_t i = 0; i < count; i++) {
        pawl__redis_args_add_field(&args, lines[i].partition);
        pawl__redis_args_add_number(&args, lines[i].ret_epoch);
    }
    status = pawl__redis_run(self, call, PAWL__REDIS_RELEASE, &args, &reply, err);
    pawl__redis_args_done(&args);
    if (status == PAWL_OK)
        freeReplyObject(reply);
    return status;
}

/* ----------------------------------------------------------------------------------------------- plan and remove -- */

static pawl_status
send_plan(pawl__redis_store *store, const pawl_store_call *call, const pawl_plan_line *lines, size_t count,
          pawl__redis_found *ret_found, pawl_error *err)
{
    pawl__redis_changes changes;
    size_t refused;

    pawl__redis_changes_init(&changes, PAWL__REDIS_CHANGE);
    pawl__redis_args_add_number(&changes.args, pawl__clock_wall_ms());
    for (size_t i = 0; i < count; i++) {
        pawl__redis_changes_add(&changes, lines[i].partition, lines[i].epoch, lines[i].expected);
        pawl__redis_args_add(&changes.args, "=");
        pawl__redis_args_add(&changes.args, "=");
        pawl__redis_args_add_position(&changes.args, lines[i].pending);
        pawl__redis_args_add(&changes.args, "=");
    }
    return pawl__redis_changes_run(store, call, &changes, &refused, ret_found, err);
}

pawl_status
pawl__redis_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count, pawl_error *err)
{
    pawl__redis_store *store = self;
    pawl__redis_found found;
    pawl_status status = send_plan(store, call, lines, count, &found, err);

    if (status == PAWL_CONFLICT && pawl__redis_went_back(store, call->group, &found)) {
        status = pawl__redis_restore(store, call, lines, sizeof *lines, count, err);
        if (status == PAWL_OK)
            status = send_plan(store, call, lines, count, &found, err);
    }
    if (status == PAWL_OK || status == PAWL_OUTCOME_UNKNOWN)
        pawl__redis_remember_planned(store, call->group, lines, count);
    return status;
}

pawl_status
pawl__redis_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count,
                   pawl_error *err)
{
    pawl__redis_changes changes;
    pawl__redis_found found;
    size_t refused;

    pawl__redis_forget(self); /* what was saved is not to come back */
    pawl__redis_changes_init(&changes, PAWL__REDIS_CHANGE);
    pawl__redis_args_add(&changes.args, "=");
    for (size_t i = 0; i < count; i++) {
        pawl__redis_changes_add(&changes, lines[i].partition, lines[i].epoch, lines[i].expected);
        pawl__redis_args_add(&changes.args, "-");
        pawl__redis_args_add(&changes.args, "=");
        pawl__redis_args_add(&changes.args, "-");
        pawl__redis_args_add(&changes.args, "");
    }
    return pawl__redis_changes_run(self, call, &changes, &refused, &found, err);
}
