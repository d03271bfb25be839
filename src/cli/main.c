/*
 * main.c - the program pawl
 */
#include "cli/command.h"

int
main(int argc, char **argv)
{
    return pawl__cli_main(&pawl__cli_program, argc, argv);
}
