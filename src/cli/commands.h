/*
 * commands.h - all commands, each in a cmd_*.c
 */
#ifndef PAWL_CLI_COMMANDS_H
#define PAWL_CLI_COMMANDS_H

#include "cli/command.h"

extern const pawl_command pawl__cmd_stores;

#endif
