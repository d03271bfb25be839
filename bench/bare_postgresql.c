/*
 * bare_postgresql.c - one INSERT ... ON CONFLICT out of arrays; the address is a URL of libpq
 */
#include <glib.h>
#include <libpq-fe.h>

#include "bare.h"

struct bare {
    PGconn *conn;
    int partitions;
};

static void
check(const bare *client, PGresult *result)
{
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        give_up("postgresql", PQerrorMessage(client->conn));
    PQclear(result);
}

bare *
bare_open(const char *address, int partitions)
{
    bare *client = g_new0(bare, 1);

    client->partitions = partitions;
    client->conn = PQconnectdb(address);
    if (PQstatus(client->conn) != CONNECTION_OK)
        give_up("postgresql", PQerrorMessage(client->conn));
    check(client,
          PQexec(client->conn, "SET client_min_messages = warning; DROP TABLE IF EXISTS bare;"
                               "CREATE TABLE bare (topic text COLLATE \"C\", partition integer, \"offset\" bigint,"
                               " batch bigint, print text, renewed bigint, PRIMARY KEY (topic, partition))"
                               " WITH (fillfactor = 70)"));
    check(client, PQprepare(client->conn, "save",
                            "INSERT INTO bare SELECT * FROM"
                            " unnest($1::text[], $2::integer[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[])"
                            " ON CONFLICT (topic, partition) DO UPDATE SET \"offset\" = excluded.\"offset\","
                            " batch = excluded.batch, print = excluded.print, renewed = excluded.renewed",
                            0, NULL));
    return client;
}

static void
append(GString *array, const char *text)
{
    g_string_append_c(array, array->len == 0 ? '{' : ',');
    g_string_append(array, text);
}

void
bare_save(bare *client, int64_t offset, int64_t batch, const char *print, int64_t now_ms)
{
    enum { TOPIC, PARTITION, OFFSET, BATCH, PRINT, RENEWED, COLUMNS };
    GString *arrays[COLUMNS];
    const char *values[COLUMNS];
    char texts[COLUMNS][72] = {BARE_TOPIC};

    g_snprintf(texts[OFFSET], sizeof texts[OFFSET], "%" PRId64, offset);
    g_snprintf(texts[BATCH], sizeof texts[BATCH], "%" PRId64, batch);
    g_strlcpy(texts[PRINT], print, sizeof texts[PRINT]);
    g_snprintf(texts[RENEWED], sizeof texts[RENEWED], "%" PRId64, now_ms);
    for (int column = 0; column < COLUMNS; column++)
        arrays[column] = g_string_new(NULL);
    for (int i = 0; i < client->partitions; i++) {
        g_snprintf(texts[PARTITION], sizeof texts[PARTITION], "%d", i);
        for (int column = 0; column < COLUMNS; column++)
            append(arrays[column], texts[column]);
    }
    for (int column = 0; column < COLUMNS; column++)
        values[column] = g_string_append_c(arrays[column], '}')->str;
    check(client, PQexecPrepared(client->conn, "save", COLUMNS, values, NULL, NULL, 0));
    for (int column = 0; column < COLUMNS; column++)
        g_string_free(arrays[column], TRUE);
}

void
bare_close(bare *client)
{
    PQfinish(client->conn);
    g_free(client);
}
