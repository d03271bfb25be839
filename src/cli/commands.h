/*
 * commands.h - all commands, each in a cmd_*.c
 */
#ifndef PAWL_CLI_COMMANDS_H
#define PAWL_CLI_COMMANDS_H

#include "cli/command.h"

extern const pawl_command pawl__cmd_lag;
extern const pawl_command pawl__cmd_offsets;
extern const pawl_command pawl__cmd_run;
extern const pawl_command pawl__cmd_peek;
extern const pawl_command pawl__cmd_stores;

/* Members of offsets. */
extern const pawl_command pawl__cmd_offsets_delete;
extern const pawl_command pawl__cmd_offsets_export;
extern const pawl_command pawl__cmd_offsets_import;
extern const pawl_command pawl__cmd_offsets_reset;
extern const pawl_command pawl__cmd_offsets_set;
extern const pawl_command pawl__cmd_offsets_show;

#endif
