/*
 * test_child.c - commands that the system does not let us start
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/child.h"

#define NOBODY 65534

/* Lets no process of this one's user start another. Root may whatever the limit is, so it becomes somebody else. */
static bool
forbid_processes(void)
{
    struct rlimit none = {0, 0};

    return setrlimit(RLIMIT_NPROC, &none) == 0 && (geteuid() != 0 || setuid(NOBODY) == 0);
}

/* Lets descriptors be opened for one pipe, and no more. */
static bool
forbid_descriptors(void)
{
    int next = dup(STDIN_FILENO);
    struct rlimit few = {(rlim_t) next + 2, (rlim_t) next + 2};

    return next >= 0 && close(next) == 0 && setrlimit(RLIMIT_NOFILE, &few) == 0;
}

/* Whether a command that cannot start is to be tried again: 0 when it is. */
static int
try_to_start(bool (*forbid)(void), int wanted_code)
{
    char *environment[] = {NULL};
    pawl_child_setup setup = {.command = "true", .environment = environment, .cancel_fd = -1, .who = "test"};
    pawl_child child;
    pawl_error err = {0};

    if (!forbid())
        return 1;
    if (pawl__child_start(&child, &setup, &err) == PAWL_OK)
        return 2;
    if (err.native_code != wanted_code)
        return 3;
    return (err.flags & PAWL_ERROR_RETRIABLE) != 0 ? 0 : 4;
}

/* In a process of its own, since nobody can take such a limit away again. */
static void
expect_retriable(bool (*forbid)(void), int wanted_code)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(try_to_start(forbid, wanted_code));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void
no_process_left(void **state)
{
    (void) state;
    expect_retriable(forbid_processes, EAGAIN);
}

static void
no_descriptor_left(void **state)
{
    (void) state;
    expect_retriable(forbid_descriptors, EMFILE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_process_left),
        cmocka_unit_test(no_descriptor_left),
    };

    return cmocka_run_group_tests_name("child", tests, NULL, NULL);
}
