/*
 * cmd_offsets_delete.c - pawl offsets delete: makes the store forget offsets
 */
#include "cli/commands.h"

#include "cli/change.h"

static const pawl_option *const options[] = {
    &pawl__option_store,   &pawl__option_group,       &pawl__option_topic, &pawl__option_all_topics,
    &pawl__option_execute, &pawl__option_any_brokers, &pawl__option_kafka, &pawl__option_isolation,
    &pawl__option_timeout, &pawl__option_force,       &pawl__option_json,  NULL,
};

static pawl_status
resolve(pawl_change *change, pawl_move *move, pawl_error *err)
{
    (void) change, (void) err;
    move->to = pawl_position_absent();
    move->note = move->entry.offset.known ? "removed" : "nothing is stored";
    return PAWL_OK;
}

static pawl_status
run(const pawl_invocation *call, pawl_error *err)
{
    pawl_change change = pawl__change_begin(call);
    pawl_status status;

    change.removes = true;
    change.resolve = resolve;
    status = pawl__change_select(&change, err);
    if (status == PAWL_OK)
        status = pawl__change_run(&change, err);
    pawl__change_done(&change);
    return status;
}

const pawl_command pawl__cmd_offsets_delete = {
    .name = "delete",
    .summary = "makes the store forget offsets",
    .details = "A job that starts then begins where its setting start says, but in a partition whose topic has other "
               "offsets stored: there it begins at the start of the log. The topics need not exist any more.",
    .options = options,
    .values_size = sizeof(pawl_places),
    .run = run,
};
