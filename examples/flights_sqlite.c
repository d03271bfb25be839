/*
 * flights_sqlite.c - the totals of flights.c into SQLite
 */
#include "flights.h"

#include <string.h>

#include <pawl/sqlite.h>
#include <sqlite3.h>

static const char create_table[] = "CREATE TABLE IF NOT EXISTS carrier_day ("
                                   " carrier TEXT, day TEXT, flights INTEGER, cancelled INTEGER, arrived INTEGER,"
                                   " delay INTEGER, PRIMARY KEY (carrier, day)) STRICT, WITHOUT ROWID";

static const char add_totals[] = "INSERT INTO carrier_day VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                                 " flights = flights + excluded.flights, cancelled = cancelled + excluded.cancelled,"
                                 " arrived = arrived + excluded.arrived, delay = delay + excluded.delay";

/* Adds the totals of one range to the table. A range without records has no slot. */
static int
write_range(sqlite3_stmt *add, GHashTable *days)
{
    GHashTableIter iter;
    const char *key;
    const totals *t;
    int rc = SQLITE_OK;

    if (days == NULL)
        return SQLITE_OK;
    g_hash_table_iter_init(&iter, days);
    while (rc == SQLITE_OK && g_hash_table_iter_next(&iter, (void **) &key, (void **) &t)) {
        const char *day = strrchr(key, ',') + 1;

        sqlite3_bind_text(add, 1, key, (int) (day - 1 - key), SQLITE_STATIC);
        sqlite3_bind_text(add, 2, day, -1, SQLITE_STATIC);
        sqlite3_bind_int64(add, 3, t->flights);
        sqlite3_bind_int64(add, 4, t->cancelled);
        sqlite3_bind_int64(add, 5, t->arrived);
        sqlite3_bind_int64(add, 6, t->delay);
        sqlite3_step(add);
        rc = sqlite3_reset(add); /* tells how the step went */
    }
    return rc;
}

/* The transaction is pawl's: it began before this is called, and is committed with the offsets after it. */
pawl_verdict
flush_totals(void *user, pawl_batch *batch, pawl_error *err)
{
    sqlite3 *db;
    sqlite3_stmt *add = NULL;

    (void) user;
    if (pawl_sqlite_transaction(batch, (void **) &db, err) != PAWL_OK)
        return PAWL_STOP;

    int rc = sqlite3_exec(db, create_table, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db, add_totals, -1, &add, NULL);
    for (size_t i = 0; rc == SQLITE_OK && i < pawl_batch_count(batch); i++)
        rc = write_range(add, pawl_range_slot(pawl_batch_range(batch, i)));
    if (rc != SQLITE_OK)
        pawl_error_set(err, PAWL_FAILED, 0, rc, "carrier_day: %s", sqlite3_errmsg(db));
    sqlite3_finalize(add);
    return rc == SQLITE_OK ? PAWL_DONE : PAWL_STOP;
}
