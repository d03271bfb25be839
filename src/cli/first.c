/*
 * first.c - being the first process of a container
 */
#include "cli/first.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int handed_on[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* Collects all that has ended. Does not return when the child is among it. */
static void
collect(pid_t child)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == child)
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static _Noreturn void
look_after(pid_t child, const sigset_t *signals)
{
    for (;;) {
        siginfo_t info;
        int number = sigwaitinfo(signals, &info);

        if (number == SIGCHLD)
            collect(child);
        /* What a terminal sends goes to all of its foreground, and has reached the child already. */
        else if (number > 0 && info.si_code != SI_KERNEL)
            kill(child, number);
    }
}

void
pawl__first_process(void)
{
    sigset_t signals, before;
    pid_t child;

    if (getpid() != 1)
        return;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (size_t i = 0; i < sizeof handed_on / sizeof handed_on[0]; i++)
        sigaddset(&signals, handed_on[i]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    child = fork();
    if (child > 0)
        look_after(child, &signals);
    if (child < 0)
        fprintf(stderr, "pawl: cannot start a process beside process 1: %s\n", strerror(errno));
    sigprocmask(SIG_SETMASK, &before, NULL);
}
