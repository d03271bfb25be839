/*
 * bare_sqlite.c - one transaction of upserts, WAL and synchronous=FULL; the address is a path
 */
#include <stdlib.h>

#include <sqlite3.h>

#include "bare.h"

struct bare {
    sqlite3 *db;
    sqlite3_stmt *upsert;
    int partitions;
};

static void
check(const bare *client, int rc)
{
    if (rc != SQLITE_OK)
        give_up("sqlite", sqlite3_errmsg(client->db));
}

static void
run(const bare *client, const char *sql)
{
    check(client, sqlite3_exec(client->db, sql, NULL, NULL, NULL));
}

bare *
bare_open(const char *address, int partitions)
{
    bare *client = calloc(1, sizeof *client);

    client->partitions = partitions;
    check(client, sqlite3_open(address, &client->db));
    run(client, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                "DROP TABLE IF EXISTS bare;"
                "CREATE TABLE bare (topic TEXT, partition INTEGER, \"offset\" INTEGER, batch INTEGER, print TEXT, "
                "renewed INTEGER,"
                " PRIMARY KEY (topic, partition)) WITHOUT ROWID");
    check(client, sqlite3_prepare_v2(client->db,
                                     "INSERT INTO bare VALUES ('" BARE_TOPIC "', ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                                     " SET \"offset\" = excluded.\"offset\", batch = excluded.batch,"
                                     " print = excluded.print, renewed = excluded.renewed",
                                     -1, &client->upsert, NULL));
    return client;
}

void
bare_save(bare *client, int64_t offset, int64_t batch, const char *print, int64_t now_ms)
{
    run(client, "BEGIN IMMEDIATE");
    for (int i = 0; i < client->partitions; i++) {
        sqlite3_bind_int(client->upsert, 1, i);
        sqlite3_bind_int64(client->upsert, 2, offset);
        sqlite3_bind_int64(client->upsert, 3, batch);
        sqlite3_bind_text(client->upsert, 4, print, -1, SQLITE_STATIC);
        sqlite3_bind_int64(client->upsert, 5, now_ms);
        sqlite3_step(client->upsert);
        check(client, sqlite3_reset(client->upsert));
    }
    run(client, "COMMIT");
}

void
bare_close(bare *client)
{
    sqlite3_finalize(client->upsert);
    sqlite3_close(client->db);
    free(client);
}
