/*
 * killing.c - kill -9 of a process that saves
 *
 * A child saves 1, 2, 3 ... to several partitions at once and reports each acknowledged save through a pipe. It is
 * killed at a random moment. What is stored then is the last number that was reported, or the one after it (saved, not yet
 * reported), and it is the same everywhere: partitions, batch number, and results where they are in the transaction.
 */
#include "tests/conformance/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARTITIONS 5

static const pawl_partition partitions[PARTITIONS] = {{"a", 0}, {"a", 1}, {"b", 0}, {"b", 7}, {"c", 0}};

/* ---------------------------------------------------------------------------------------------- the one who dies -- */

/* What the store holds for all partitions, or -1 when they do not agree: a torn save. */
static int64_t
stored_number(pawl_store *store, const char *group, pawl_entry entries[PARTITIONS], pawl_error *err)
{
    if (pawl_store_load(store, group, partitions, PARTITIONS, entries, NULL, err) != PAWL_OK)
        return -1;
    for (int i = 1; i < PARTITIONS; i++)
        if (!pawl_position_equal(entries[i].offset, entries[0].offset) || entries[i].batch != entries[0].batch) {
            pawl_error_set(err, PAWL_FAILED, 0, 0, "the save is torn");
            return -1;
        }
    return entries[0].offset.known ? entries[0].offset.offset : 0;
}

static pawl_status
acquire_all(pawl_store *store, const char *group, const pawl_entry *entries, pawl_save_line *ret_lines, pawl_error *err)
{
    pawl_owner owner = suite_owner("victim");
    pawl_acquire_line acquire[PARTITIONS];
    pawl_status status;

    for (int i = 0; i < PARTITIONS; i++)
        acquire[i] = (pawl_acquire_line){
            .partition = partitions[i], .epoch_seen = entries[i].epoch, .initial = pawl_position_at(0)};
    status = pawl_store_acquire(store, group, &owner, NULL, acquire, PARTITIONS, err);
    for (int i = 0; i < PARTITIONS && status == PAWL_OK; i++)
        ret_lines[i] = (pawl_save_line){.partition = partitions[i], .epoch = acquire[i].ret_epoch};
    return status;
}

static pawl_status
save_number(const conformance *under_test, pawl_store *store, const char *group, pawl_save_line *lines, int64_t number,
            pawl_error *err)
{
    void *handle;
    pawl_status status = PAWL_OK;

    for (int i = 0; i < PARTITIONS; i++) {
        lines[i].expected = pawl_position_at(number - 1);
        lines[i].until = lines[i].batch = number;
    }
    if (under_test->put_result != NULL) {
        status = pawl_store_begin(store, group, lines, PARTITIONS, &handle, err);
        if (status == PAWL_OK)
            under_test->put_result(handle, group, number);
    }
    return status == PAWL_OK ? pawl_store_save(store, group, lines, PARTITIONS, err) : status;
}

/*
 * Takes all partitions over, and returns the number that is stored then. The last save of who died before may have been on
 * its way until that moment, and not after it: a new owner reads again, as a job does. Its acquire may have been, too,
 * once.
 */
static int64_t
take_over(pawl_store *store, const char *group, pawl_entry entries[PARTITIONS], pawl_save_line *ret_lines,
          pawl_error *err)
{
    pawl_status status = PAWL_STALE;

    for (int i = 0; i < 2 && status == PAWL_STALE; i++) {
        if (stored_number(store, group, entries, err) < 0)
            return -1;
        status = acquire_all(store, group, entries, ret_lines, err);
    }
    return status == PAWL_OK ? stored_number(store, group, entries, err) : -1;
}

static void
save_until_killed(const conformance *under_test, const char *group, int report)
{
    pawl_store_options options = {.size = sizeof options, .timeout_ms = 20000};
    pawl_save_line lines[PARTITIONS];
    pawl_entry entries[PARTITIONS];
    pawl_store *store;
    pawl_error err;
    int64_t number = -1;
    pawl_status status = pawl_store_open(under_test->url, &options, &store, &err);

    if (status == PAWL_OK)
        number = take_over(store, group, entries, lines, &err);
    while (number >= 0 && status == PAWL_OK) {
        number++;
        status = save_number(under_test, store, group, lines, number, &err);
        if (status == PAWL_OK && write(report, &number, sizeof number) != sizeof number)
            break;
    }
    fprintf(stderr, "the saving process ended: %s\n", err.message);
    _exit(1);
}

/* --------------------------------------------------------------------------------------------- the one who kills -- */

/* Reads what was reported; false at the end. */
static bool
read_report(int report, int64_t *number)
{
    int64_t next;
    ssize_t size;

    do
        size = read(report, &next, sizeof next);
    while (size < 0 && errno == EINTR);
    if (size != (ssize_t) sizeof next) /* eight bytes come whole through a pipe, or not at all */
        return false;
    *number = next;
    return true;
}

/* Lets it save a few times, waits a part of a save's time more, and kills it. Returns the last number it reported, or
 * -1 when it ended by itself. */
static int64_t
kill_at_random(pid_t victim, int report, GRand *random, int64_t number)
{
    int saves = g_rand_int_range(random, 0, 12), status;
    struct timespec moment = {0, g_rand_int_range(random, 0, 8000) * 1000L};

    while (saves-- > 0 && read_report(report, &number))
        ;
    pselect(0, NULL, NULL, NULL, &moment, NULL); /* no event to wait for: the moment itself is what is tried */
    kill(victim, SIGKILL);
    waitpid(victim, &status, 0);
    while (read_report(report, &number))
        ;
    return WIFSIGNALED(status) ? number : -1;
}

/* One life and death; returns what is stored afterwards. */
static int64_t
one_round(suite_state *suite, GRand *random, int64_t before)
{
    pawl_save_line lines[PARTITIONS];
    pawl_entry entries[PARTITIONS];
    pawl_store *store;
    int report[2];
    int64_t reported, stored;
    pid_t victim;
    pawl_error err;

    assert_int_equal(pipe(report), 0);
    fflush(NULL);
    victim = fork();
    assert_true(victim >= 0);
    if (victim == 0) {
        close(report[0]);
        save_until_killed(suite->under_test, suite->group, report[1]);
    }
    close(report[1]);
    reported = kill_at_random(victim, report[0], random, before);
    close(report[0]);
    assert_true(reported >= before);

    store = suite_open(suite->under_test, 20000);
    stored = take_over(store, suite->group, entries, lines, &err);
    pawl_store_close(store);
    if (stored < 0)
        fail_msg("%s", err.message);
    assert_in_range(stored, reported, reported + 1);
    assert_int_equal(entries[0].batch, stored);
    if (suite->under_test->get_result != NULL && stored > 0)
        assert_int_equal(suite->under_test->get_result(suite->under_test->url, suite->group), stored);
    return stored;
}

static void
killed_while_saving(void **state)
{
    suite_state *suite = *state;
    int rounds = suite_is_full() ? 1000 : 50;
    GRand *random;
    int64_t stored = 0;

    suite_need_function(suite->under_test->survives_kill, "what it holds ends with the process");
    suite_need(suite, PAWL_STORE_ATOMIC);
    random = suite_random();
    /* No handle of this process stays open: a child must not inherit it. */
    pawl_store_close(suite->store);
    suite->store = NULL;
    for (int i = 0; i < rounds; i++)
        stored = one_round(suite, random, stored);
    print_message("# %d processes killed, %d saves\n", rounds, (int) stored);
    assert_true(stored > rounds);
    g_rand_free(random);
}

static const struct CMUnitTest tests[] = {
    suite_test(killed_while_saving),
};

const suite_tests suite_killing = {tests, G_N_ELEMENTS(tests)};
