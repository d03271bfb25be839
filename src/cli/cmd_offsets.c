/*
 * cmd_offsets.c - pawl offsets: what is stored for a group, and changing it
 */
#include "cli/commands.h"

static const pawl_command *const members[] = {
    &pawl__cmd_offsets_show,
    &pawl__cmd_offsets_set,
    &pawl__cmd_offsets_reset,
    &pawl__cmd_offsets_delete,
    &pawl__cmd_offsets_export,
    &pawl__cmd_offsets_import,
    NULL,
};

const pawl_command pawl__cmd_offsets = {
    .name = "offsets",
    .summary = "shows the offsets that are stored for a group, and changes them",
    .details =
        "An offset is always the next one to be read. What changes something only shows what it would do, unless "
        "--execute is given. It then becomes the owner of the partitions, writes all of it or nothing, and gives "
        "them back: a job that runs alone meanwhile ends with exit status 4 when it saves next, and says who did it. "
        "Members of a group drop what they have in hand and go on from the new offsets; in the store kafka: nothing is "
        "changed while the group has members.",
    .members = members,
};
