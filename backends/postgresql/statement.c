/*
 * statement.c - the SQL of the store
 *
 * A statement is about all lines of a call at once: their columns come as arrays, $1 is the group, $2 and $3 are topics and
 * partitions. What comes with each batch is prepared, since planning took as long as a save of fifty lines does.
 */
#include "backends/postgresql/postgresql_store.h"

#include <glib.h>

#define KEY "o.group_name = $1 AND o.topic = line.topic AND o.partition = line.partition"

/* "offset" is compared and read as text: whatever stands there can then be shown, also if somebody changed the type. */
#define ENTRY                                                                                                 \
    "SELECT line.place, o.\"offset\"::text, o.epoch, o.batch, o.pending, o.print, o.owner_host, o.owner_pid," \
    " o.owner_client, (extract(epoch FROM o.owner_renewed) * 1000)::bigint, o.layout"
#define FROM_LINES                                                                          \
    " FROM unnest($2::text[], $3::int[]) WITH ORDINALITY AS line (topic, partition, place)" \
    " JOIN {table} o ON " KEY

/*
 * A write of an owner: $4 is its epoch, $5 what it expects. A row that is not so is not written, and then the division
 * fails, and with it all of the statement. What else the lines hold is in `arrays`, under the names in `columns`.
 */
#define GUARDED(arrays, columns, set)                                                                            \
    "WITH written AS (UPDATE {table} o SET " set                                                                 \
    " FROM unnest($2::text[], $3::int[], $4::bigint[], $5::bigint[]" arrays ")"                                  \
    " AS line (topic, partition, epoch, expected" columns ") WHERE " KEY                                         \
    " AND o.layout = 1 AND o.epoch = line.epoch AND o.\"offset\"::text IS NOT DISTINCT FROM line.expected::text" \
    " RETURNING 1) SELECT txid_current(), 1 / (count(*) = cardinality($2))::int FROM written"

/* What remove and release leave behind is not listed: it only remembers an epoch. */
#define LISTED "(\"offset\" IS NOT NULL OR owner_host IS NOT NULL)"

static const char *const texts[PAWL__PG_SQL_COUNT] = {
    /* What the session needs, and what the server says of itself and of the table. */
    [PAWL__PG_GREET] = "SELECT set_config('lock_timeout', $1, false),"
                       " set_config('idle_in_transaction_session_timeout', $2, false),"
                       " CASE current_setting('synchronous_commit') WHEN 'off'"
                       " THEN set_config('synchronous_commit', 'on', false) END,"
                       " current_setting('fsync'),"
                       " (SELECT relpersistence FROM pg_class WHERE oid = to_regclass($3)),"
                       " pg_is_in_recovery(), current_setting('default_transaction_read_only'),"
                       " pg_backend_pid(), (SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid())",
    [PAWL__PG_END_LOST] = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                          " WHERE pid = $1::int AND backend_start = $2::timestamptz",
    [PAWL__PG_CREATE] = "CREATE TABLE IF NOT EXISTS {table} ("
                        " group_name text COLLATE \"C\" NOT NULL CHECK (group_name <> ''),"
                        " topic text COLLATE \"C\" NOT NULL CHECK (topic <> ''),"
                        " partition integer NOT NULL CHECK (partition >= 0),"
                        " \"offset\" bigint CHECK (\"offset\" >= 0)," /* the next one to read; NULL: none is stored */
                        " epoch bigint NOT NULL CHECK (epoch > 0),"
                        " owner_host text,"
                        " owner_pid bigint,"
                        " owner_client text,"
                        " owner_renewed timestamptz,"
                        " batch bigint NOT NULL DEFAULT 0 CHECK (batch >= 0),"
                        " pending bigint CHECK (pending >= 0)," /* the until of a planned range */
                        " print text,"
                        " cluster text,"
                        " layout integer NOT NULL DEFAULT 1 CHECK (layout > 0),"
                        " PRIMARY KEY (group_name, topic, partition)"
                        ") WITH (fillfactor = 70)", /* room for the next version of a row on the same page */
    [PAWL__PG_BEGIN] = "BEGIN",
    [PAWL__PG_COMMIT] = "COMMIT",
    [PAWL__PG_ROLLBACK] = "ROLLBACK",
    [PAWL__PG_LOAD] = ENTRY FROM_LINES,
    [PAWL__PG_LOCK] = ENTRY ", txid_current()" FROM_LINES " ORDER BY o.topic, o.partition FOR UPDATE OF o",
    [PAWL__PG_CLUSTER] = "SELECT cluster FROM {table} WHERE group_name = $1 AND cluster IS NOT NULL LIMIT 1",
    /* All rows of a group that name a cluster name the same one. */
    [PAWL__PG_SET_CLUSTER] = "UPDATE {table} SET cluster = $2 WHERE group_name = $1 AND cluster <> $2",
    [PAWL__PG_ACQUIRE] = "INSERT INTO {table} AS o (group_name, topic, partition, epoch, \"offset\", owner_host,"
                         " owner_pid, owner_client, owner_renewed, cluster)"
                         " SELECT $1, line.topic, line.partition, line.epoch_seen + 1, line.initial, $6, $7, $8,"
                         " to_timestamp($9::bigint / 1000.0), $10"
                         " FROM unnest($2::text[], $3::int[], $4::bigint[], $5::bigint[])"
                         " AS line (topic, partition, epoch_seen, initial)"
                         " ORDER BY line.topic COLLATE \"C\", line.partition"
                         " ON CONFLICT (group_name, topic, partition) DO UPDATE SET epoch = excluded.epoch,"
                         " \"offset\" = coalesce(o.\"offset\", excluded.\"offset\"), owner_host = excluded.owner_host,"
                         " owner_pid = excluded.owner_pid, owner_client = excluded.owner_client,"
                         " owner_renewed = excluded.owner_renewed, cluster = coalesce(excluded.cluster, o.cluster)"
                         " WHERE o.epoch = excluded.epoch - 1",
    /* The client's name stays: who was fenced by it wants to know. */
    [PAWL__PG_RELEASE] = "UPDATE {table} o SET owner_host = NULL, owner_pid = NULL, owner_renewed = NULL"
                         " FROM unnest($2::text[], $3::int[], $4::bigint[]) AS line (topic, partition, epoch)"
                         " WHERE " KEY " AND o.epoch = line.epoch",
    [PAWL__PG_PLAN] = GUARDED(", $6::bigint[]", ", pending",
                              "pending = line.pending, owner_renewed = to_timestamp($7::bigint / 1000.0)"),
    [PAWL__PG_SAVE] = GUARDED(", $6::bigint[], $7::bigint[], $8::text[]", ", until, batch, print",
                              "\"offset\" = line.until,"
                              " batch = CASE line.batch WHEN 0 THEN o.batch ELSE line.batch END, print = line.print,"
                              " pending = NULL, owner_renewed = to_timestamp($9::bigint / 1000.0)"),
    [PAWL__PG_REMOVE] = GUARDED("", "", "\"offset\" = NULL, pending = NULL, print = NULL"),
    [PAWL__PG_GROUPS] = "SELECT DISTINCT group_name FROM {table} WHERE " LISTED,
    [PAWL__PG_PARTITIONS] = "SELECT topic, partition FROM {table} WHERE group_name = $1 AND " LISTED,
};

void
pawl__pg_sql_init(pawl__pg_store *store)
{
    for (int i = 0; i < PAWL__PG_SQL_COUNT; i++) {
        GString *sql = g_string_new(texts[i]);

        g_string_replace(sql, "{table}", store->table, 0);
        store->sql[i] = g_string_free(sql, FALSE);
    }
}

void
pawl__pg_sql_done(pawl__pg_store *store)
{
    for (int i = 0; i < PAWL__PG_SQL_COUNT; i++)
        g_free(store->sql[i]);
}
