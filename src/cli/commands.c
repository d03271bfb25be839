/*
 * commands.c - the table of commands
 */
#include "cli/commands.h"

static const pawl_command *const members[] = {
    &pawl__cmd_run, &pawl__cmd_offsets, &pawl__cmd_lag, &pawl__cmd_peek, &pawl__cmd_stores, NULL,
};

const pawl_command pawl__cli_program = {
    .name = "pawl",
    .summary = "runs jobs that read Kafka in micro-batches, and looks after their offsets",
    .members = members,
};
