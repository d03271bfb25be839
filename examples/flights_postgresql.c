/*
 * flights_postgresql.c - the totals of flights.c into PostgreSQL
 *
 *     flights_postgresql 127.0.0.1:9092 postgresql://etl@localhost/warehouse
 */
#include "flights.h"

#include <string.h>

#include <libpq-fe.h>
#include <pawl/postgresql.h>

static const char create_table[] = "CREATE TABLE IF NOT EXISTS carrier_day ("
                                   " carrier text, day date, flights bigint, cancelled bigint, arrived bigint,"
                                   " delay bigint, PRIMARY KEY (carrier, day))";

static const char add_totals[] = "INSERT INTO carrier_day AS t VALUES ($1, $2, $3, $4, $5, $6)"
                                 " ON CONFLICT (carrier, day) DO UPDATE SET flights = t.flights + excluded.flights,"
                                 " cancelled = t.cancelled + excluded.cancelled,"
                                 " arrived = t.arrived + excluded.arrived, delay = t.delay + excluded.delay";

/* Looks at a result and clears it. PAWL_RETRY: another transaction came in between, or the connection broke. */
static pawl_verdict
check(PGconn *conn, PGresult *result, pawl_error *err)
{
    ExecStatusType kind = PQresultStatus(result);
    pawl_verdict verdict = PAWL_DONE;

    if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK) {
        pawl_error_set(err, PAWL_FAILED, 0, 0, "carrier_day: %s", PQerrorMessage(conn));
        verdict = pawl_postgresql_verdict(PQresultErrorField(result, PG_DIAG_SQLSTATE));
    }
    PQclear(result);
    return verdict;
}

static pawl_verdict
add(PGconn *conn, const char *key, const totals *t, pawl_error *err)
{
    const gint64 numbers[] = {t->flights, t->cancelled, t->arrived, t->delay};
    char **names = g_strsplit(key, ",", 2), texts[G_N_ELEMENTS(numbers)][24];
    const char *values[2 + G_N_ELEMENTS(numbers)] = {names[0], names[1]};
    pawl_verdict verdict;

    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        g_snprintf(texts[i], sizeof texts[i], "%" G_GINT64_FORMAT, numbers[i]);
        values[2 + i] = texts[i];
    }
    verdict = check(conn, PQexecParams(conn, add_totals, G_N_ELEMENTS(values), NULL, values, NULL, NULL, 0), err);
    g_strfreev(names);
    return verdict;
}

/* Adds the totals of one range to the table. A range without records has no slot. */
static pawl_verdict
write_range(PGconn *conn, GHashTable *days, pawl_error *err)
{
    GHashTableIter iter;
    const char *key;
    const totals *t;
    pawl_verdict verdict = PAWL_DONE;

    if (days == NULL)
        return PAWL_DONE;
    g_hash_table_iter_init(&iter, days);
    while (verdict == PAWL_DONE && g_hash_table_iter_next(&iter, (void **) &key, (void **) &t))
        verdict = add(conn, key, t, err);
    return verdict;
}

/* The transaction is pawl's: it began before this is called, and is committed with the offsets after it. */
pawl_verdict
flush_totals(void *user, pawl_batch *batch, pawl_error *err)
{
    PGconn *conn;
    pawl_verdict verdict;

    (void) user;
    if (pawl_postgresql_transaction(batch, (void **) &conn, err) != PAWL_OK)
        return PAWL_STOP;

    verdict = check(conn, PQexec(conn, create_table), err);
    for (size_t i = 0; verdict == PAWL_DONE && i < pawl_batch_count(batch); i++)
        verdict = write_range(conn, pawl_range_slot(pawl_batch_range(batch, i)), err);
    return verdict;
}
