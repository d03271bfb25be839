/*
 * stop.c - asking a job to end, from anywhere
 */
#include "core/stop.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/wait.h"

struct pawl__stop {
    int event_fd;
    atomic_int requests;
    int64_t shutdown_timeout_ms;

    pthread_t thread;
    bool watching;
    void (*leave)(void *user);
    int64_t (*look)(void *user);
    void *user;

    pawl__wait wait; /* guards what follows */
    pawl__stop_state state;
    bool nudged;
    bool quit;
};

pawl_status
pawl__stop_new(int64_t shutdown_timeout_ms, pawl__stop **ret_stop, pawl_error *err)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pawl__stop *stop;

    if (fd < 0)
        return pawl_error_set(err, PAWL_FAILED, 0, errno, "cannot make an eventfd: %s", g_strerror(errno));
    stop = g_new0(pawl__stop, 1);
    stop->event_fd = fd;
    stop->shutdown_timeout_ms = shutdown_timeout_ms;
    pawl__wait_init(&stop->wait);
    *ret_stop = stop;
    return PAWL_OK;
}

void
pawl__stop_free(pawl__stop *stop)
{
    if (stop == NULL)
        return;
    pawl__stop_unwatch(stop);
    pawl__wait_done(&stop->wait);
    close(stop->event_fd);
    g_free(stop);
}

/* Wakes the watching thread. Async-signal-safe: keeps errno. */
static void
poke(pawl__stop *stop)
{
    int saved_errno = errno;
    uint64_t one = 1;
    ssize_t written = write(stop->event_fd, &one, sizeof one);

    (void) written; /* a full counter wakes as well */
    errno = saved_errno;
}

void
pawl__stop_request(pawl__stop *stop)
{
    atomic_fetch_add(&stop->requests, 1);
    poke(stop);
}

static void
set_state(pawl__stop *stop, pawl__stop_state state)
{
    pawl__wait_lock(&stop->wait);
    stop->state = state;
    pawl__wait_wake(&stop->wait);
    pawl__wait_unlock(&stop->wait);
}

/* What was asked for counts at once, though the thread that acts on it may come a little later. With the lock held. */
static pawl__stop_state
state_now(pawl__stop *stop)
{
    int requests = atomic_load(&stop->requests);
    pawl__stop_state asked = requests > 1 ? PAWL__STOP_LEAVE : requests > 0 ? PAWL__STOP_FINISH : PAWL__STOP_RUN;

    return MAX(stop->state, asked);
}

static bool
has_quit(pawl__stop *stop)
{
    bool quit;

    pawl__wait_lock(&stop->wait);
    quit = stop->quit;
    pawl__wait_unlock(&stop->wait);
    return quit;
}

/* Waits for a poke or the deadline. */
static void
wait_for_poke(pawl__stop *stop, int64_t deadline_ms)
{
    struct pollfd item = {.fd = stop->event_fd, .events = POLLIN};
    int64_t left = deadline_ms == PAWL__NEVER ? -1 : MAX(deadline_ms - pawl__clock_ms(), 0);
    uint64_t count;

    if (poll(&item, 1, (int) MIN(left, INT32_MAX)) > 0 && read(stop->event_fd, &count, sizeof count) < 0)
        return; /* somebody else's wake-up; the caller looks anyway */
}

static void *
watch(void *data)
{
    pawl__stop *stop = data;
    int64_t deadline_ms = PAWL__NEVER;
    pawl__stop_state state = PAWL__STOP_RUN;

    while (!has_quit(stop)) {
        int requests = atomic_load(&stop->requests);

        if (state == PAWL__STOP_RUN && requests > 0) {
            state = PAWL__STOP_FINISH;
            deadline_ms = pawl__clock_ms() + stop->shutdown_timeout_ms;
            set_state(stop, state);
        }
        if (state == PAWL__STOP_FINISH && (requests > 1 || pawl__clock_ms() >= deadline_ms)) {
            state = PAWL__STOP_LEAVE;
            deadline_ms = PAWL__NEVER;
            set_state(stop, state);
            stop->leave(stop->user);
        }
        wait_for_poke(stop, MIN(deadline_ms, stop->look(stop->user)));
    }
    return NULL;
}

pawl_status
pawl__stop_watch(pawl__stop *stop, void (*leave)(void *user), int64_t (*look)(void *user), void *user, pawl_error *err)
{
    int code;

    stop->leave = leave;
    stop->look = look;
    stop->user = user;
    code = pthread_create(&stop->thread, NULL, watch, stop);
    if (code != 0)
        return pawl_error_set(err, PAWL_FAILED, 0, code, "cannot start a thread: %s", g_strerror(code));
    stop->watching = true;
    return PAWL_OK;
}

void
pawl__stop_unwatch(pawl__stop *stop)
{
    if (!stop->watching)
        return;
    pawl__wait_lock(&stop->wait);
    stop->quit = true;
    pawl__wait_unlock(&stop->wait);
    poke(stop);
    pthread_join(stop->thread, NULL);
    stop->watching = false;
}

pawl__stop_state
pawl__stop_state_now(pawl__stop *stop)
{
    pawl__stop_state state;

    pawl__wait_lock(&stop->wait);
    state = state_now(stop);
    pawl__wait_unlock(&stop->wait);
    return state;
}

pawl__stop_state
pawl__stop_wait(pawl__stop *stop, int64_t deadline_ms)
{
    pawl__stop_state state;

    pawl__wait_lock(&stop->wait);
    while (state_now(stop) == PAWL__STOP_RUN && pawl__wait_until(&stop->wait, deadline_ms))
        continue;
    state = state_now(stop);
    pawl__wait_unlock(&stop->wait);
    return state;
}

pawl__stop_state
pawl__stop_wait_for_news(pawl__stop *stop, int64_t deadline_ms)
{
    pawl__stop_state state;

    pawl__wait_lock(&stop->wait);
    while (state_now(stop) == PAWL__STOP_RUN && !stop->nudged && pawl__wait_until(&stop->wait, deadline_ms))
        continue;
    stop->nudged = false;
    state = state_now(stop);
    pawl__wait_unlock(&stop->wait);
    return state;
}

void
pawl__stop_nudge(pawl__stop *stop)
{
    pawl__wait_lock(&stop->wait);
    stop->nudged = true;
    pawl__wait_wake(&stop->wait);
    pawl__wait_unlock(&stop->wait);
}

void
pawl__stop_wait_to_leave(pawl__stop *stop, int64_t deadline_ms)
{
    pawl__wait_lock(&stop->wait);
    while (state_now(stop) != PAWL__STOP_LEAVE && pawl__wait_until(&stop->wait, deadline_ms))
        continue;
    pawl__wait_unlock(&stop->wait);
}
