/*
 * cmd_offsets_set.c - pawl offsets set: offsets by number
 */
#include "cli/commands.h"

#include "cli/change.h"
#include "cli/specs.h"

static const pawl_option *const options[] = {
    &pawl__option_store, &pawl__option_group,     &pawl__option_brokers, &pawl__option_kafka, &pawl__option_execute,
    &pawl__option_force, &pawl__option_isolation, &pawl__option_timeout, &pawl__option_json,  NULL,
};

static const char *const examples[] = {
    "pawl offsets set --store sqlite:offsets.db --group etl --brokers localhost:9092 flights:0=1000 flights:1=1200",
    NULL,
};

static pawl_status
run(const pawl_invocation *call, pawl_error *err)
{
    pawl_change change = pawl__change_begin(call);
    pawl_status status = PAWL_OK;

    change.resolve = pawl__change_resolve_given;
    for (size_t i = 0; status == PAWL_OK && i < call->operand_count; i++) {
        pawl_partition partition;
        int64_t offset;

        status = pawl__spec_offset(call->operands[i], &partition, &offset, err);
        if (status == PAWL_OK)
            pawl__moves_add(change.moves, partition, pawl_position_at(offset));
    }
    if (status == PAWL_OK)
        status = pawl__change_run(&change, err);
    pawl__change_done(&change);
    return status;
}

const pawl_command pawl__cmd_offsets_set = {
    .name = "set",
    .summary = "stores offsets that are given by number",
    .operands = "TOPIC:PARTITION=OFFSET ...",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .details = "An offset that the log does not hold is refused; the end of the log is one that it holds.",
    .examples = examples,
    .options = options,
    .values_size = sizeof(pawl_places),
    .run = run,
};
