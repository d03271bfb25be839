/*
 * change.c - what an owner changes: lines with their guards, sent as one script
 */
#include "backends/redis/redis_store.h"

/* What a line has to find: for the error if it finds something else. */
typedef struct guard {
    pawl_partition partition;
    int64_t epoch;
    pawl_position expected;
} guard;

void
pawl__redis_changes_init(pawl__redis_changes *changes, pawl__redis_script script)
{
    pawl__redis_args_init(&changes->args);
    changes->script = script;
    changes->guards = g_array_new(FALSE, FALSE, sizeof(guard));
}

void
pawl__redis_changes_add(pawl__redis_changes *changes, pawl_partition partition, int64_t epoch, pawl_position expected)
{
    guard line = {partition, epoch, expected};

    g_array_append_val(changes->guards, line);
    pawl__redis_args_add_field(&changes->args, partition);
    if (changes->script == PAWL__REDIS_CHANGE) {
        pawl__redis_args_add_number(&changes->args, epoch);
        pawl__redis_args_add_position(&changes->args, expected);
    }
}

void
pawl__redis_changes_done(pawl__redis_changes *changes)
{
    pawl__redis_args_done(&changes->args);
    g_array_free(changes->guards, TRUE);
}

/* Why a line was refused. */
static pawl_status
explain(pawl__redis_store *store, const char *group, const guard *line, const redisReply *reply,
        pawl__redis_found *ret_found, pawl_error *err)
{
    char place[PAWL__REDIS_PLACE_SIZE];
    pawl_status status = pawl__redis_read_refused(store, group, line->partition, reply, ret_found, err);

    if (status != PAWL_OK)
        return status;
    pawl__redis_place(store, group, line->partition, place, sizeof place);
    status = pawl_sys_check_owned(&ret_found->entry, line->epoch, line->expected, place, err);
    if (status == PAWL_OK)
        status = pawl_error_set(err, PAWL_FAILED, 0, 0, "what was found could not be changed: %s", place);
    return status;
}

pawl_status
pawl__redis_changes_run(pawl__redis_store *store, const pawl_store_call *call, pawl__redis_changes *changes,
                        size_t *ret_refused, pawl__redis_found *ret_found, pawl_error *err)
{
    redisReply *reply = NULL;
    pawl_status status = pawl__redis_run(store, call, changes->script, &changes->args, &reply, err);

    if (status == PAWL_OK && pawl__redis_refused(reply, changes->guards->len, ret_refused))
        status =
            explain(store, call->group, &g_array_index(changes->guards, guard, *ret_refused), reply, ret_found, err);
    if (reply != NULL)
        freeReplyObject(reply);
    pawl__redis_changes_done(changes);
    return status;
}
