/*
 * store_saves.c - how long a store takes to save and load, beside the bare client's save
 *
 *     saves_NAME URL ADDRESS [--quick]
 *
 * The URL is for pawl, the address for the bare client, which is that of bare_NAME.c; see there for its form. Prints a line
 * for each number of partitions, medians and 99th percentiles in microseconds, and whether pawl's save is cheap enough. The
 * two take turns on the same server, so that both see the same disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <pawl/pawl.h>

#include "bare.h"

#define GOAL            1.3
#define GOAL_PARTITIONS 100
#define FIRST_OFFSET    1000000
#define PRINT_FORMAT    "%" PRId64 "-0123456789abcdef0123456789abcdef" /* of the length that a job's prints have */

/* What is measured. */
typedef enum kind { SAVE, LOAD, BARE, KINDS } kind;

/* A group of the store, and the same again for the bare client. */
typedef struct contest {
    pawl_store *store;
    bare *client;
    char group[64];
    char print[PAWL_PRINT_SIZE];
    int partitions;
    pawl_save_line *lines;
    pawl_partition *asked;
    pawl_entry *entries;
} contest;

_Noreturn void
give_up(const char *what, const char *why)
{
    fprintf(stderr, "store_saves: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static void
check(const char *what, pawl_status status, const pawl_error *err)
{
    if (status != PAWL_OK)
        give_up(what, err->message);
}

/* ---------------------------------------------------------------------------------------------------- one contest -- */

static void
acquire(contest *all)
{
    pawl_owner owner = {.host = "localhost", .pid = 1, .client_id = "bench"};
    pawl_acquire_line *lines = g_new0(pawl_acquire_line, all->partitions);
    pawl_error err;

    for (int i = 0; i < all->partitions; i++)
        lines[i] = (pawl_acquire_line){.partition = all->asked[i], .initial = pawl_position_at(FIRST_OFFSET)};
    check("acquire", pawl_store_acquire(all->store, all->group, &owner, NULL, lines, (size_t) all->partitions, &err),
          &err);
    for (int i = 0; i < all->partitions; i++)
        all->lines[i] =
            (pawl_save_line){.partition = all->asked[i], .epoch = lines[i].ret_epoch, .until = FIRST_OFFSET};
    g_free(lines);
}

static void
contest_init(contest *all, pawl_store *store, const char *address, int partitions)
{
    *all = (contest){.store = store, .client = bare_open(address, partitions), .partitions = partitions};
    g_snprintf(all->group, sizeof all->group, "bench-%d-%" PRId64, partitions, g_get_real_time());
    all->lines = g_new0(pawl_save_line, partitions);
    all->asked = g_new0(pawl_partition, partitions);
    all->entries = g_new0(pawl_entry, partitions);
    for (int i = 0; i < partitions; i++)
        all->asked[i] = (pawl_partition){BARE_TOPIC, i};
    acquire(all);
}

static void
contest_done(contest *all)
{
    bare_close(all->client);
    g_free(all->lines);
    g_free(all->asked);
    g_free(all->entries);
}

/* Does one of them, and returns how many microseconds it took. */
static int64_t
take_turn(contest *all, kind what, int round)
{
    int64_t offset = FIRST_OFFSET + round, batch = round + 1, start;
    pawl_error err;

    g_snprintf(all->print, sizeof all->print, PRINT_FORMAT, offset);
    for (int i = 0; what == SAVE && i < all->partitions; i++) {
        all->lines[i].expected = pawl_position_at(offset);
        all->lines[i].until = offset + 1;
        all->lines[i].batch = batch;
        all->lines[i].print = all->print;
    }
    start = g_get_monotonic_time();
    if (what == SAVE)
        check("save", pawl_store_save(all->store, all->group, all->lines, (size_t) all->partitions, &err), &err);
    else if (what == LOAD)
        check("load",
              pawl_store_load(all->store, all->group, all->asked, (size_t) all->partitions, all->entries, NULL, &err),
              &err);
    else
        bare_save(all->client, offset + 1, batch, all->print, g_get_real_time() / 1000);
    return g_get_monotonic_time() - start;
}

static void
check_loaded(const contest *all, int rounds)
{
    for (int i = 0; i < all->partitions; i++)
        if (all->entries[i].offset.offset != FIRST_OFFSET + rounds)
            give_up("load", "this is not what was saved");
}

/* -------------------------------------------------------------------------------------------------------- figures -- */

static int
compare(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

/* Of sorted times. */
static int64_t
percentile(const int64_t *times, int count, int percent)
{
    return times[MIN(count - 1, count * percent / 100)];
}

/* Prints a line, and returns the ratio of both saves. */
static double
measure(pawl_store *store, const char *address, int partitions, int rounds)
{
    int64_t *times[KINDS];
    contest all;
    double ratio;

    contest_init(&all, store, address, partitions);
    for (int what = 0; what < KINDS; what++)
        times[what] = g_new(int64_t, rounds);
    for (int round = 0; round < rounds; round++) {
        kind first = round % 2 == 0 ? SAVE : BARE, second = first == SAVE ? BARE : SAVE;

        times[first][round] = take_turn(&all, first, round);
        times[second][round] = take_turn(&all, second, round);
        times[LOAD][round] = take_turn(&all, LOAD, round);
    }
    check_loaded(&all, rounds);
    printf("%10d", partitions);
    for (int what = 0; what < KINDS; what++) {
        qsort(times[what], (size_t) rounds, sizeof *times[what], compare);
        printf(" %9" PRId64 " %9" PRId64, percentile(times[what], rounds, 50), percentile(times[what], rounds, 99));
    }
    ratio = (double) percentile(times[SAVE], rounds, 50) / (double) percentile(times[BARE], rounds, 50);
    printf(" %6.2f\n", ratio);
    fflush(stdout);
    for (int what = 0; what < KINDS; what++)
        g_free(times[what]);
    contest_done(&all);
    return ratio;
}

int
main(int argc, char **argv)
{
    static const struct {
        int partitions, rounds, quick_rounds;
    } sizes[] = {{1, 500, 20}, {GOAL_PARTITIONS, 500, 20}, {1000, 100, 10}, {10000, 30, 3}};
    pawl_store_options options = {.size = sizeof options, .timeout_ms = 120000};
    pawl_store *store = NULL;
    bool quick = argc == 4 && strcmp(argv[3], "--quick") == 0, ok = false;
    pawl_error err;

    if (argc != 3 && !quick)
        give_up("usage", "saves_NAME URL ADDRESS [--quick]");
    check("open", pawl_store_open(argv[1], &options, &store, &err), &err);
    printf("%10s %9s %9s %9s %9s %9s %9s %6s\n", "partitions", "save", "p99", "load", "p99", "bare", "p99", "ratio");
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        double ratio = measure(store, argv[2], sizes[i].partitions, quick ? sizes[i].quick_rounds : sizes[i].rounds);

        if (sizes[i].partitions != GOAL_PARTITIONS)
            continue;
        ok = ratio <= GOAL;
        printf("  %s %s: a save of %d partitions takes %.2f of the bare client's (at most %.1f)\n",
               ok ? "ok    " : "NOT OK", pawl_store_scheme(store), GOAL_PARTITIONS, ratio, GOAL);
    }
    pawl_store_close(store);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
