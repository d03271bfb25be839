/*
 * test_stop.c - asking a job to end, from threads and signal handlers
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>

#include "core/stop.h"
#include "util/clock.h"
#include "util/wait.h"

#define FAR_MS 20000

/* Counts how often it was told to leave. */
typedef struct leaver {
    pawl__wait wait;
    int left;
} leaver;

static void
leave(void *user)
{
    leaver *l = user;

    pawl__wait_lock(&l->wait);
    l->left++;
    pawl__wait_wake(&l->wait);
    pawl__wait_unlock(&l->wait);
}

static void
await_left(leaver *l)
{
    int64_t deadline_ms = pawl__clock_ms() + FAR_MS;

    pawl__wait_lock(&l->wait);
    while (l->left == 0 && pawl__wait_until(&l->wait, deadline_ms))
        continue;
    assert_int_equal(l->left, 1);
    pawl__wait_unlock(&l->wait);
}

static int64_t
look_never(void *user)
{
    (void) user;
    return PAWL__NEVER;
}

static pawl__stop *
new_stop(int64_t shutdown_timeout_ms)
{
    pawl__stop *stop = NULL;

    assert_int_equal(pawl__stop_new(shutdown_timeout_ms, &stop, NULL), PAWL_OK);
    return stop;
}

/* ---------------------------------------------------------------------------------------------------------- asking -- */

static void
counts_from_the_moment_it_is_asked(void **state)
{
    pawl__stop *stop = new_stop(FAR_MS);

    (void) state;
    assert_int_equal(pawl__stop_state_now(stop), PAWL__STOP_RUN);
    pawl__stop_request(stop);
    assert_int_equal(pawl__stop_state_now(stop), PAWL__STOP_FINISH);
    pawl__stop_request(stop);
    assert_int_equal(pawl__stop_state_now(stop), PAWL__STOP_LEAVE);
    pawl__stop_request(stop);
    assert_int_equal(pawl__stop_state_now(stop), PAWL__STOP_LEAVE);
    pawl__stop_free(stop);
    pawl__stop_free(NULL);
}

static void
leaves_once_when_it_is_asked_twice(void **state)
{
    leaver l = {.left = 0};
    pawl__stop *stop = new_stop(FAR_MS);

    (void) state;
    pawl__wait_init(&l.wait);
    assert_int_equal(pawl__stop_watch(stop, leave, look_never, &l, NULL), PAWL_OK);
    pawl__stop_request(stop);
    pawl__stop_request(stop);
    await_left(&l);
    pawl__stop_request(stop);
    pawl__stop_unwatch(stop);
    assert_int_equal(l.left, 1);
    pawl__stop_free(stop);
    pawl__wait_done(&l.wait);
}

static void
leaves_when_the_time_is_over(void **state)
{
    leaver l = {.left = 0};
    pawl__stop *stop = new_stop(50);
    int64_t started_ms = pawl__clock_ms();

    (void) state;
    pawl__wait_init(&l.wait);
    assert_int_equal(pawl__stop_watch(stop, leave, look_never, &l, NULL), PAWL_OK);
    pawl__stop_request(stop);
    await_left(&l);
    assert_true(pawl__clock_ms() - started_ms >= 50);
    assert_int_equal(pawl__stop_state_now(stop), PAWL__STOP_LEAVE);
    pawl__stop_free(stop); /* which ends the thread */
    pawl__wait_done(&l.wait);
}

static void
what_was_asked_before_is_not_lost(void **state)
{
    leaver l = {.left = 0};
    pawl__stop *stop = new_stop(FAR_MS);

    (void) state;
    pawl__wait_init(&l.wait);
    pawl__stop_request(stop);
    pawl__stop_request(stop);
    assert_int_equal(pawl__stop_watch(stop, leave, look_never, &l, NULL), PAWL_OK);
    await_left(&l);
    pawl__stop_free(stop);
    pawl__wait_done(&l.wait);
}

static void
nobody_is_told_after_unwatch(void **state)
{
    leaver l = {.left = 0};
    pawl__stop *stop = new_stop(0);

    (void) state;
    pawl__wait_init(&l.wait);
    assert_int_equal(pawl__stop_watch(stop, leave, look_never, &l, NULL), PAWL_OK);
    pawl__stop_unwatch(stop);
    pawl__stop_request(stop);
    pawl__stop_request(stop);
    pawl__stop_unwatch(stop);
    assert_int_equal(l.left, 0);
    pawl__stop_free(stop);
    pawl__wait_done(&l.wait);
}

/* --------------------------------------------------------------------------------------------------------- waiting -- */

static void
waits_until_the_deadline(void **state)
{
    pawl__stop *stop = new_stop(FAR_MS);
    int64_t started_ms = pawl__clock_ms();

    (void) state;
    assert_int_equal(pawl__stop_wait(stop, started_ms + 30), PAWL__STOP_RUN);
    assert_true(pawl__clock_ms() >= started_ms + 30);
    assert_int_equal(pawl__stop_wait(stop, 0), PAWL__STOP_RUN);
    pawl__stop_wait_to_leave(stop, started_ms + 60);
    assert_true(pawl__clock_ms() >= started_ms + 60);
    pawl__stop_free(stop);
}

typedef struct waiter {
    pawl__stop *stop;
    bool to_leave;
} waiter;

static void *
wait_for_stop(void *data)
{
    waiter *w = data;

    if (w->to_leave)
        pawl__stop_wait_to_leave(w->stop, pawl__clock_ms() + FAR_MS);
    else
        pawl__stop_wait(w->stop, pawl__clock_ms() + FAR_MS);
    return NULL;
}

static void
wakes_who_waits(void **state)
{
    leaver l = {.left = 0};
    waiter finish = {new_stop(FAR_MS), false}, gone = {finish.stop, true};
    pthread_t threads[2];
    int64_t started_ms = pawl__clock_ms();

    (void) state;
    pawl__wait_init(&l.wait);
    assert_int_equal(pawl__stop_watch(finish.stop, leave, look_never, &l, NULL), PAWL_OK);
    assert_int_equal(pthread_create(&threads[0], NULL, wait_for_stop, &finish), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, wait_for_stop, &gone), 0);
    pawl__stop_request(finish.stop);
    pthread_join(threads[0], NULL);
    assert_int_equal(pawl__stop_state_now(finish.stop), PAWL__STOP_FINISH);
    pawl__stop_request(finish.stop);
    pthread_join(threads[1], NULL);
    assert_true(pawl__clock_ms() - started_ms < FAR_MS);
    pawl__stop_free(finish.stop);
    pawl__wait_done(&l.wait);
}

/* Wants to be called three times, each at once. */
static int64_t
look_thrice(void *user)
{
    leaver *l = user;

    pawl__wait_lock(&l->wait);
    l->left++;
    pawl__wait_wake(&l->wait);
    pawl__wait_unlock(&l->wait);
    return l->left < 3 ? 0 : PAWL__NEVER;
}

static void
looks_as_often_as_it_is_told(void **state)
{
    leaver l = {.left = 0};
    pawl__stop *stop = new_stop(FAR_MS);
    int64_t deadline_ms = pawl__clock_ms() + FAR_MS;

    (void) state;
    pawl__wait_init(&l.wait);
    assert_int_equal(pawl__stop_watch(stop, leave, look_thrice, &l, NULL), PAWL_OK);
    pawl__wait_lock(&l.wait);
    while (l.left < 3 && pawl__wait_until(&l.wait, deadline_ms))
        continue;
    pawl__wait_unlock(&l.wait);
    pawl__stop_unwatch(stop);
    assert_in_range(l.left, 3, 4); /* the end of the watch may have it look once more */
    pawl__stop_free(stop);
    pawl__wait_done(&l.wait);
}

/* --------------------------------------------------------------------------------------------------------- signals -- */

static pawl__stop *signalled;

static void
on_signal(int number)
{
    (void) number;
    pawl__stop_request(signalled);
}

static void
takes_requests_from_signal_handlers(void **state)
{
    struct sigaction action = {.sa_handler = on_signal}, before;
    leaver l = {.left = 0};

    (void) state;
    pawl__wait_init(&l.wait);
    signalled = new_stop(FAR_MS);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    assert_int_equal(pawl__stop_watch(signalled, leave, look_never, &l, NULL), PAWL_OK);
    errno = EDOM;
    raise(SIGUSR1);
    assert_int_equal(errno, EDOM);
    assert_int_equal(pawl__stop_wait(signalled, pawl__clock_ms() + FAR_MS), PAWL__STOP_FINISH);
    raise(SIGUSR1);
    await_left(&l);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    pawl__stop_free(signalled);
    pawl__wait_done(&l.wait);
}

static void *
request_often(void *data)
{
    for (int i = 0; i < 1000; i++)
        pawl__stop_request(data);
    return NULL;
}

static void
takes_requests_from_many_threads(void **state)
{
    leaver l = {.left = 0};
    pawl__stop *stop = new_stop(FAR_MS);
    pthread_t threads[4];

    (void) state;
    pawl__wait_init(&l.wait);
    assert_int_equal(pawl__stop_watch(stop, leave, look_never, &l, NULL), PAWL_OK);
    for (size_t i = 0; i < G_N_ELEMENTS(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, request_often, stop), 0);
    for (size_t i = 0; i < G_N_ELEMENTS(threads); i++)
        pthread_join(threads[i], NULL);
    await_left(&l);
    pawl__stop_free(stop);
    pawl__wait_done(&l.wait);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_from_the_moment_it_is_asked),
        cmocka_unit_test(leaves_once_when_it_is_asked_twice),
        cmocka_unit_test(leaves_when_the_time_is_over),
        cmocka_unit_test(what_was_asked_before_is_not_lost),
        cmocka_unit_test(nobody_is_told_after_unwatch),
        cmocka_unit_test(waits_until_the_deadline),
        cmocka_unit_test(wakes_who_waits),
        cmocka_unit_test(looks_as_often_as_it_is_told),
        cmocka_unit_test(takes_requests_from_signal_handlers),
        cmocka_unit_test(takes_requests_from_many_threads),
    };

    return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
