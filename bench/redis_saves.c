/*
 * redis_saves.c - how long saves and loads take in Redis, beside a bare EVALSHA of the same size
 *
 *     bench/redis_saves HOST PORT
 *
 * Prints a line for each number of partitions: medians and 99th percentiles, in microseconds. The two take turns on the
 * same server, so that both see the same disk.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <hiredis/hiredis.h>
#include <pawl/pawl.h>

static const char bare_script[] = "for i = 1, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end";

typedef struct bare {
    redisContext *context;
    char *sha;
    GPtrArray *words;
    char *group;
} bare;

static void
give_up(const char *why)
{
    fprintf(stderr, "redis_saves: %s\n", why);
    exit(EXIT_FAILURE);
}

static void
check(pawl_status status, const pawl_error *err)
{
    if (status != PAWL_OK)
        give_up(err->message);
}

static int
compare(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

static int64_t
percentile(int64_t *times, int count, int percent)
{
    qsort(times, (size_t) count, sizeof *times, compare);
    return times[MIN(count - 1, count * percent / 100)];
}

/* ---------------------------------------------------------------------------------------------------------- bare -- */

static void
bare_open(bare *client, const char *host, int port)
{
    redisReply *reply;

    client->context = redisConnect(host, port);
    if (client->context == NULL || client->context->err != 0)
        give_up("no server");
    reply = redisCommand(client->context, "SCRIPT LOAD %s", bare_script);
    client->sha = g_strdup(reply->str);
    freeReplyObject(reply);
}

static void
bare_save(bare *client, int partitions, int64_t offset)
{
    redisReply *reply;

    client->words = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(client->words, g_strdup("EVALSHA"));
    g_ptr_array_add(client->words, g_strdup(client->sha));
    g_ptr_array_add(client->words, g_strdup("1"));
    g_ptr_array_add(client->words, g_strdup_printf("bare:{%d}", partitions));
    for (int i = 0; i < partitions; i++) {
        g_ptr_array_add(client->words, g_strdup_printf("topic:%d", i));
        g_ptr_array_add(client->words, g_strdup_printf("%" PRId64, offset));
    }
    reply = redisCommandArgv(client->context, (int) client->words->len, (const char **) client->words->pdata, NULL);
    if (reply == NULL || reply->type == REDIS_REPLY_ERROR)
        give_up("a bare EVALSHA fails");
    freeReplyObject(reply);
    g_ptr_array_free(client->words, TRUE);
}

/* ---------------------------------------------------------------------------------------------------------- pawl -- */

/* Acquires them all, with offset 0; the caller frees the lines of the first save. */
static pawl_save_line *
acquire(pawl_store *store, const char *group, int partitions)
{
    pawl_owner owner = {.host = "bench"};
    pawl_acquire_line *acquired = g_new0(pawl_acquire_line, partitions);
    pawl_save_line *lines = g_new0(pawl_save_line, partitions);
    pawl_error err;

    for (int i = 0; i < partitions; i++)
        acquired[i] = (pawl_acquire_line){.partition = {"topic", i}, .initial = pawl_position_at(0)};
    check(pawl_store_acquire(store, group, &owner, NULL, acquired, (size_t) partitions, &err), &err);
    for (int i = 0; i < partitions; i++)
        lines[i] = (pawl_save_line){.partition = {"topic", i}, .epoch = acquired[i].ret_epoch, .batch = 1};
    g_free(acquired);
    return lines;
}

static void
save(pawl_store *store, const char *group, pawl_save_line *lines, int partitions)
{
    pawl_error err;

    for (int i = 0; i < partitions; i++)
        lines[i].expected = pawl_position_at(lines[i].until++);
    check(pawl_store_save(store, group, lines, (size_t) partitions, &err), &err);
}

static void
load(pawl_store *store, const char *group, const pawl_save_line *lines, int partitions)
{
    pawl_partition *asked = g_new(pawl_partition, partitions);
    pawl_entry *entries = g_new(pawl_entry, partitions);
    pawl_error err;

    for (int i = 0; i < partitions; i++)
        asked[i] = lines[i].partition;
    check(pawl_store_load(store, group, asked, (size_t) partitions, entries, NULL, &err), &err);
    g_free(entries);
    g_free(asked);
}

static void
measure(pawl_store *store, bare *client, int partitions, int rounds)
{
    enum { SAVE, LOAD, BARE, KINDS };
    int64_t *times[KINDS];
    char *group = g_strdup_printf("bench-%d-%" G_GINT64_FORMAT, partitions, g_get_real_time());
    pawl_save_line *lines = acquire(store, group, partitions);

    for (int kind = 0; kind < KINDS; kind++)
        times[kind] = g_new(int64_t, rounds);
    for (int i = 0; i < rounds; i++) {
        int64_t start = g_get_monotonic_time();

        save(store, group, lines, partitions);
        times[SAVE][i] = g_get_monotonic_time() - start;
        start = g_get_monotonic_time();
        bare_save(client, partitions, i);
        times[BARE][i] = g_get_monotonic_time() - start;
        start = g_get_monotonic_time();
        load(store, group, lines, partitions);
        times[LOAD][i] = g_get_monotonic_time() - start;
    }
    printf("%10d", partitions);
    for (int kind = 0; kind < KINDS; kind++)
        printf(" %9" PRId64 " %9" PRId64, percentile(times[kind], rounds, 50), percentile(times[kind], rounds, 99));
    printf(" %6.2f\n", (double) percentile(times[SAVE], rounds, 50) / (double) percentile(times[BARE], rounds, 50));
    fflush(stdout);
    for (int kind = 0; kind < KINDS; kind++)
        g_free(times[kind]);
    g_free(lines);
    g_free(group);
}

int
main(int argc, char **argv)
{
    static const int sizes[][2] = {{1, 500}, {100, 500}, {1000, 200}, {10000, 50}};
    bare client = {0};
    pawl_store *store = NULL;
    pawl_error err;
    char *url;

    if (argc != 3)
        give_up("usage: redis_saves HOST PORT");
    url = g_strdup_printf("redis://%s:%s", argv[1], argv[2]);
    check(pawl_store_open(url, NULL, &store, &err), &err);
    bare_open(&client, argv[1], atoi(argv[2]));
    printf("%10s %9s %9s %9s %9s %9s %9s %6s\n", "partitions", "save", "p99", "load", "p99", "bare", "p99", "ratio");
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
        measure(store, &client, sizes[i][0], sizes[i][1]);
    pawl_store_close(store);
    redisFree(client.context);
    g_free(client.sha);
    g_free(url);
    return EXIT_SUCCESS;
}
