/*
 * cmd_offsets_import.c - pawl offsets import: offsets out of a file
 */
#include "cli/commands.h"

#include "cli/change.h"
#include "cli/file.h"
#include "cli/offsets_file.h"

/* Some hundred thousand partitions. */
#define FILE_MAX_MIB 64

static const pawl_option *const options[] = {
    &pawl__option_store, &pawl__option_group,     &pawl__option_brokers, &pawl__option_execute, &pawl__option_kafka,
    &pawl__option_force, &pawl__option_isolation, &pawl__option_timeout, &pawl__option_json,    NULL,
};

static pawl_status
read_file(pawl_change *change, const char *name, pawl_error *err)
{
    char *text;
    size_t size;
    pawl_status status = pawl__file_read(name, FILE_MAX_MIB, &text, &size, err);

    if (status != PAWL_OK) {
        pawl_error_prefix(err, "%s", name);
        return status;
    }
    status = pawl__offsets_read(name, text, size, change->moves, &change->from_cluster, err);
    g_free(text);
    return status;
}

static pawl_status
run(const pawl_invocation *call, pawl_error *err)
{
    pawl_change change = pawl__change_begin(call);
    pawl_status status;

    change.resolve = pawl__change_resolve_given;
    status = read_file(&change, call->operands[0], err);
    if (status == PAWL_OK)
        status = pawl__change_run(&change, err);
    pawl__change_done(&change);
    return status;
}

const pawl_command pawl__cmd_offsets_import = {
    .name = "import",
    .summary = "stores the offsets of a file that export has written",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .operands_are_files = true,
    .details = "CSV and JSON are told apart by themselves. Partitions that the file does not name stay as they are. An "
               "offset that the log does not hold is refused, and so is a file of another Kafka cluster.",
    .options = options,
    .values_size = sizeof(pawl_places),
    .run = run,
};
