/*
 * main.c - the program pawl
 */
#include <signal.h>

#include "cli/command.h"

int
main(int argc, char **argv)
{
    /* Whoever started us may ignore it, which we would inherit: the system would not tell how commands have ended then. */
    signal(SIGCHLD, SIG_DFL);
    return pawl__cli_main(&pawl__cli_program, argc, argv);
}
