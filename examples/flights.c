/*
 * flights.c - an ETL: flights from Kafka, totals per carrier and day into a database, exactly once
 *
 *     flights BROKERS STORE_URL [NAME=VALUE ...]        flights 127.0.0.1:9092 sqlite:flights.db max_offsets_per_batch=1000
 *
 * Each record's value is one row of the CSV of nycflights13. Where the totals go is all in flush_totals(), in
 * flights_sqlite.c and, for flights_postgresql, in flights_postgresql.c.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>
#include <pawl/pawl.h>

#include "flights.h"

/* ------------------------------------------------------------------------------------------------------------ rows -- */

enum { YEAR, MONTH, DAY, DEP_TIME, ARR_DELAY = 8, CARRIER = 9, COLUMNS = 19 };

static gboolean
parse_integer(const char *text, gint64 min, gint64 max, gint64 *ret_value)
{
    return g_ascii_string_to_signed(text, 10, min, max, ret_value, NULL);
}

/* Adds one row to the totals of its carrier and day. Returns what is wrong with the row, or NULL. */
static const char *
add_row(GHashTable *days, char **row)
{
    gint64 year, month, day, delay = 0;
    gboolean cancelled, arrived;

    if (g_strv_length(row) != COLUMNS)
        return "not 19 columns";
    if (!parse_integer(row[YEAR], 1, 9999, &year) || !parse_integer(row[MONTH], 1, 12, &month) ||
        !parse_integer(row[DAY], 1, 31, &day) ||
        !g_date_valid_dmy((GDateDay) day, (GDateMonth) month, (GDateYear) year))
        return "not a date";
    if (row[CARRIER][0] == '\0')
        return "no carrier";
    cancelled = strcmp(row[DEP_TIME], "NA") == 0;
    arrived = strcmp(row[ARR_DELAY], "NA") != 0;
    if (arrived && !parse_integer(row[ARR_DELAY], -1440, 14400, &delay))
        return "arr_delay is no number of minutes";

    char *key = g_strdup_printf("%s,%04" PRId64 "-%02" PRId64 "-%02" PRId64, row[CARRIER], year, month, day);
    totals *t = g_hash_table_lookup(days, key);
    if (t == NULL)
        g_hash_table_insert(days, g_strdup(key), t = g_new0(totals, 1));
    g_free(key);
    t->flights++;
    t->cancelled += cancelled;
    t->arrived += arrived;
    t->delay += delay;
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------------- hooks -- */

static void
free_days(void *days)
{
    g_hash_table_unref(days);
}

/* Each range has totals of its own, in its slot: worker threads share nothing, and a range that is tried again starts
 * from nothing, because pawl has freed the slot. */
static pawl_verdict
begin_range(void *user, pawl_range *range, pawl_error *err)
{
    (void) user, (void) err;
    pawl_range_set_slot(range, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free), free_days);
    return PAWL_DONE;
}

/* A row that makes no sense is rejected with its reason, and the range goes on; retrying would not make it better. */
static pawl_verdict
process_rows(void *user, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    GHashTable *days = pawl_range_slot(range);

    (void) user, (void) err;
    for (size_t i = 0; i < count; i++) {
        const pawl_record *rec = &records[i];
        const char *wrong = "no text";

        if (rec->value != NULL && memchr(rec->value, '\0', rec->value_size) == NULL) {
            char *text = g_strndup(rec->value, rec->value_size); /* a record's bytes do not end with a NUL */
            char **row = g_strsplit(text, ",", COLUMNS + 1);

            wrong = add_row(days, row);
            g_strfreev(row);
            g_free(text);
        }
        if (wrong != NULL)
            pawl_range_reject(range, rec, wrong);
    }
    return PAWL_DONE;
}

/* ------------------------------------------------------------------------------------------------------------ main -- */

static pawl_job *job;

/* The first signal lets the batch in hand finish, the second one does not. */
static void
on_signal(int number)
{
    (void) number;
    pawl_job_stop(job);
}

static pawl_status
configure(pawl_config *config, int argc, char **argv, pawl_error *err)
{
    static const char *const defaults[][2] = {
        {"group", "flights"}, {"topics", "flights"}, {"trigger", "available-now"}};
    pawl_status status = pawl_config_set(config, "kafka.bootstrap.servers", argv[1], err);

    if (status == PAWL_OK)
        status = pawl_config_set(config, "store", argv[2], err);
    for (size_t i = 0; status == PAWL_OK && i < G_N_ELEMENTS(defaults); i++)
        status = pawl_config_set(config, defaults[i][0], defaults[i][1], err);
    for (int i = 3; status == PAWL_OK && i < argc; i++) {
        char **pair = g_strsplit(argv[i], "=", 2);

        status = pawl_config_set(config, pair[0], pair[1] != NULL ? pair[1] : "", err);
        g_strfreev(pair);
    }
    return status;
}

int
main(int argc, char **argv)
{
    const pawl_hooks hooks = {
        .size = sizeof(hooks), .range_begin = begin_range, .process = process_rows, .flush = flush_totals};
    const pawl_log log = {PAWL_LOG_INFO, pawl_log_to_stdio, stderr};
    pawl_error err = {0};

    if (argc < 3) {
        fprintf(stderr, "usage: %s BROKERS STORE_URL [NAME=VALUE ...]\n", argv[0]);
        return 2;
    }

    pawl_config *config = pawl_config_new();
    pawl_config_set_log(config, &log);
    if (configure(config, argc, argv, &err) == PAWL_OK && pawl_job_new(config, &hooks, &job, &err) == PAWL_OK) {
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
        pawl_job_run(job, &err);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
    }
    pawl_job_free(job);
    pawl_config_free(config);

    if (err.status != PAWL_OK)
        fprintf(stderr, "%s: %s\n", argv[0], err.message);
    return pawl_status_exit_code(err.status);
}
