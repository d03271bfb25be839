/*
 * child.c - one run of a command: its standard input, its standard error, its end
 */
#define _GNU_SOURCE /* pipe2, F_SETPIPE_SZ, addclosefrom_np */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "util/clock.h"

/* As much as a pipe may hold without a privilege: fewer switches between us and the command. */
#define PIPE_SIZE (1024 * 1024)

/* How much is read of standard error at once, and how often once the command has ended: what a pipe can hold. */
#define READ_SIZE      (64 * 1024)
#define LAST_READS_MAX 20

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* --------------------------------------------------------------------------------------------------------- start -- */

/* The ends of both pipes. */
struct pipes {
    int in[2];
    int log[2];
};

static pawl_status
open_pipes(struct pipes *pipes, bool wants_input, pawl_error *err)
{
    if ((wants_input && pipe2(pipes->in, O_CLOEXEC) != 0) || pipe2(pipes->log, O_CLOEXEC) != 0)
        return pawl_error_set(err, PAWL_FAILED, PAWL_ERROR_RETRIABLE, errno, "cannot make a pipe: %s",
                              g_strerror(errno));
    if (wants_input) {
        fcntl(pipes->in[1], F_SETPIPE_SZ, PIPE_SIZE); /* a smaller one works too */
        fcntl(pipes->in[1], F_SETFL, O_NONBLOCK);
    }
    fcntl(pipes->log[0], F_SETFL, O_NONBLOCK);
    return PAWL_OK;
}

static void
close_pipes(struct pipes *pipes)
{
    for (int i = 0; i < 2; i++) {
        close_fd(&pipes->in[i]);
        close_fd(&pipes->log[i]);
    }
}

static int
set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    int code;

    sigfillset(&all);
    sigemptyset(&none);
    code = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (code == 0)
        code = posix_spawnattr_setpgroup(attributes, 0);
    if (code == 0)
        code = posix_spawnattr_setsigdefault(attributes, &all);
    return code == 0 ? posix_spawnattr_setsigmask(attributes, &none) : code;
}

static int
set_actions(posix_spawn_file_actions_t *actions, const struct pipes *pipes, const pawl_child_setup *setup)
{
    int code = setup->wants_input ? posix_spawn_file_actions_adddup2(actions, pipes->in[0], STDIN_FILENO)
                                  : posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

    if (code == 0 && setup->output_to_log)
        code = posix_spawn_file_actions_adddup2(actions, pipes->log[1], STDOUT_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(actions, pipes->log[1], STDERR_FILENO);
    return code == 0 ? posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1) : code;
}

/* The code of what could not be had: more of it may be there when other processes have ended. */
static unsigned
flags_of(int code)
{
    return code == EAGAIN || code == ENOMEM || code == EMFILE || code == ENFILE ? PAWL_ERROR_RETRIABLE : 0;
}

static pawl_status
spawn(const struct pipes *pipes, const pawl_child_setup *setup, pid_t *ret_pid, pawl_error *err)
{
    char *arguments[] = {(char *) "sh", (char *) "-c", (char *) setup->command, NULL};
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int code;

    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    code = set_attributes(&attributes);
    if (code == 0)
        code = set_actions(&actions, pipes, setup);
    if (code == 0)
        code = posix_spawn(ret_pid, "/bin/sh", &actions, &attributes, arguments, setup->environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (code == 0)
        return PAWL_OK;
    return pawl_error_set(err, PAWL_FAILED, flags_of(code), code, "cannot start /bin/sh: %s", g_strerror(code));
}

/* Ends the struct for a process that is there and is not to be. */
static void
reap(pawl_child *child, pawl_ending ending, int code)
{
    kill(-child->pid, SIGKILL); /* the group; its leader still holds the number */
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    child->ending = ending;
    child->code = code;
}

pawl_status
pawl__child_start(pawl_child *child, const pawl_child_setup *setup, pawl_error *err)
{
    struct pipes pipes = {{-1, -1}, {-1, -1}};
    pawl_status status = open_pipes(&pipes, setup->wants_input, err);
    int64_t now = pawl__clock_ms();
    int saved;

    *child = (pawl_child){.pid = -1, .pid_fd = -1, .in_fd = -1, .log_fd = -1, .cancel_fd = setup->cancel_fd};
    if (status == PAWL_OK)
        status = spawn(&pipes, setup, &child->pid, err);
    if (status != PAWL_OK) {
        close_pipes(&pipes);
        return status;
    }
    child->pid_fd = pidfd_open(child->pid, 0);
    saved = errno;
    if (child->pid_fd < 0) {
        reap(child, PAWL_ENDING_LOST, saved);
        close_pipes(&pipes);
        return pawl_error_set(err, PAWL_FAILED, flags_of(saved), saved, "cannot watch a process (pidfd_open): %s",
                              g_strerror(saved));
    }
    child->in_fd = pipes.in[1];
    child->log_fd = pipes.log[0];
    pipes.in[1] = pipes.log[0] = -1;
    close_pipes(&pipes);
    child->deadline_ms = setup->timeout_ms == 0 ? INT64_MAX : now + setup->timeout_ms;
    child->who = g_strdup(setup->who);
    pawl__chatter_init(&child->chatter, setup->log, child->who, now);
    return PAWL_OK;
}

/* ------------------------------------------------------------------------------------------------ standard error -- */

/* Reads once; false when there is nothing now, or never will be. */
static bool
read_log(pawl_child *child)
{
    char bytes[READ_SIZE];
    ssize_t size = child->log_fd >= 0 ? read(child->log_fd, bytes, sizeof bytes) : -1;

    if (size > 0)
        pawl__chatter_add(&child->chatter, bytes, (size_t) size, pawl__clock_ms());
    if (size == 0)
        close_fd(&child->log_fd); /* all who had it have closed it */
    return size > 0 || (size < 0 && errno == EINTR && child->log_fd >= 0);
}

/* The end of the command is known: reads what is left, but does not wait for processes that have escaped. */
static void
close_all(pawl_child *child)
{
    for (int i = 0; i < LAST_READS_MAX && read_log(child); i++)
        continue;
    pawl__chatter_end(&child->chatter, pawl__clock_ms());
    close_fd(&child->in_fd);
    close_fd(&child->log_fd);
    close_fd(&child->pid_fd);
}

/* ----------------------------------------------------------------------------------------------------------- end -- */

static void
end_by_force(pawl_child *child, pawl_ending ending, int code)
{
    reap(child, ending, code);
    close_all(child);
}

/* The command has ended by itself. What it leaves behind in its group is ended too, while its number is still ours. */
static void
collect(pawl_child *child)
{
    int status = 0;
    pid_t pid;

    kill(-child->pid, SIGKILL);
    do
        pid = waitpid(child->pid, &status, 0);
    while (pid < 0 && errno == EINTR);
    if (pid < 0) {
        child->ending = PAWL_ENDING_LOST;
        child->code = errno;
    } else {
        child->ending = WIFEXITED(status) ? PAWL_ENDING_EXIT : PAWL_ENDING_SIGNAL;
        child->code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    }
    close_all(child);
}

/* --------------------------------------------------------------------------------------------------------- waiting -- */

/*
 * Waits until its input takes more (`for_input`), or its end is known, reading standard error meanwhile. With
 * `without_waiting` it only looks.
 */
static void
wait_for_child(pawl_child *child, bool for_input, bool without_waiting)
{
    while (child->ending == PAWL_ENDING_NONE) {
        struct pollfd items[] = {
            {.fd = child->pid_fd, .events = POLLIN},
            {.fd = child->cancel_fd, .events = POLLIN},
            {.fd = child->log_fd, .events = POLLIN},
            {.fd = for_input ? child->in_fd : -1, .events = POLLOUT},
        };
        int64_t left = child->deadline_ms - pawl__clock_ms();
        int count = poll(items, G_N_ELEMENTS(items), without_waiting ? 0 : (int) CLAMP(left, 0, INT32_MAX));

        if (count < 0 && errno != EINTR)
            end_by_force(child, PAWL_ENDING_LOST, errno);
        else if (count > 0 && items[0].revents != 0)
            collect(child);
        else if (count > 0 && items[1].revents != 0)
            end_by_force(child, PAWL_ENDING_CANCELLED, 0);
        else if (left <= 0)
            end_by_force(child, PAWL_ENDING_TIMEOUT, 0);
        else if (count > 0 && items[2].revents != 0)
            read_log(child);
        if (without_waiting || (count > 0 && items[3].revents != 0))
            return;
    }
}

void
pawl__child_write(pawl_child *child, const char *bytes, size_t size)
{
    while (size > 0 && child->in_fd >= 0 && child->ending == PAWL_ENDING_NONE) {
        ssize_t written = write(child->in_fd, bytes, size);

        if (written > 0) {
            bytes += written;
            size -= (size_t) written;
        } else if (written < 0 && errno == EAGAIN) {
            wait_for_child(child, true, false);
        } else if (written < 0 && errno != EINTR) {
            close_fd(&child->in_fd); /* it does not read any more: its exit status tells what that means */
        }
    }
}

void
pawl__child_look(pawl_child *child)
{
    wait_for_child(child, false, true);
}

void
pawl__child_finish(pawl_child *child)
{
    close_fd(&child->in_fd);
    wait_for_child(child, false, false);
}

void
pawl__child_done(pawl_child *child)
{
    if (child->ending == PAWL_ENDING_NONE && child->pid > 0)
        end_by_force(child, PAWL_ENDING_CANCELLED, 0);
    g_clear_pointer(&child->who, g_free);
}
