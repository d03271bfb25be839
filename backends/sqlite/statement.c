/*
 * statement.c - the SQL of the store, each text prepared once
 *
 * In all statements about one partition ?1, ?2 and ?3 are group, topic and number. Writes by an owner repeat in their
 * WHERE what the owner believes: a row that was not met is explained afterwards (pawl__sqlite_explain).
 */
#include "backends/sqlite/sqlite_store.h"

#define KEY   " WHERE group_name = ?1 AND topic = ?2 AND partition = ?3"
#define OWNED KEY " AND epoch = ?4 AND offset IS ?5"

/* What remove and release leave behind is not listed: it only remembers an epoch. */
#define LISTED "(offset IS NOT NULL OR owner_host IS NOT NULL)"

static const char *const texts[PAWL__SQL_COUNT] = {
    [PAWL__SQL_BEGIN_READ] = "BEGIN",
    /* IMMEDIATE: the lock comes first. A transaction that reads first and then finds it taken is lost. */
    [PAWL__SQL_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [PAWL__SQL_COMMIT] = "COMMIT",
    [PAWL__SQL_ROLLBACK] = "ROLLBACK",
    [PAWL__SQL_LAYOUT] = "SELECT value FROM pawl_meta WHERE key = 'layout'",
    [PAWL__SQL_CLUSTER] = "SELECT cluster FROM pawl_groups WHERE name = ?1",
    [PAWL__SQL_SET_CLUSTER] = "INSERT INTO pawl_groups (name, cluster) VALUES (?1, ?2)"
                              " ON CONFLICT (name) DO UPDATE SET cluster = excluded.cluster"
                              " WHERE cluster <> excluded.cluster",
    [PAWL__SQL_ENTRY] = "SELECT offset, epoch, batch, pending, print, owner_host, owner_pid, owner_client,"
                        " owner_renewed_ms FROM pawl_offsets" KEY,
    [PAWL__SQL_ACQUIRE] = "INSERT INTO pawl_offsets (group_name, topic, partition, epoch, offset, owner_host,"
                          " owner_pid, owner_client, owner_renewed_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
                          " ON CONFLICT (group_name, topic, partition) DO UPDATE SET epoch = excluded.epoch,"
                          " offset = coalesce(offset, excluded.offset), owner_host = excluded.owner_host,"
                          " owner_pid = excluded.owner_pid, owner_client = excluded.owner_client,"
                          " owner_renewed_ms = excluded.owner_renewed_ms",
    /* The client's name stays: who was fenced by it wants to know. */
    [PAWL__SQL_RELEASE] =
        "UPDATE pawl_offsets SET owner_host = NULL, owner_pid = NULL, owner_renewed_ms = NULL" KEY " AND epoch = ?4",
    [PAWL__SQL_PLAN] = "UPDATE pawl_offsets SET pending = ?6, owner_renewed_ms = ?7" OWNED,
    [PAWL__SQL_SAVE] = "UPDATE pawl_offsets SET offset = ?6, batch = CASE ?7 WHEN 0 THEN batch ELSE ?7 END,"
                       " print = ?8, owner_renewed_ms = ?9, pending = NULL" OWNED,
    [PAWL__SQL_REMOVE] = "UPDATE pawl_offsets SET offset = NULL, pending = NULL, print = NULL" OWNED,
    [PAWL__SQL_GROUPS] = "SELECT DISTINCT group_name FROM pawl_offsets WHERE " LISTED,
    [PAWL__SQL_PARTITIONS] = "SELECT topic, partition FROM pawl_offsets WHERE group_name = ?1 AND " LISTED,
};

pawl_status
pawl__sqlite_statement(pawl__sqlite_store *store, pawl__sqlite_sql sql, sqlite3_stmt **ret_statement, pawl_error *err)
{
    sqlite3_stmt **statement = &store->statements[sql];
    int rc = SQLITE_OK;

    if (*statement == NULL)
        rc = sqlite3_prepare_v3(store->db, texts[sql], -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    /* All texts are right for our tables: with this answer other ones have been put in their place. */
    if (rc == SQLITE_ERROR)
        return pawl_error_set(err, PAWL_UNREADABLE, 0, rc, "%s: the tables pawl_... in it are not pawl's: %s",
                              store->path, sqlite3_errmsg(store->db));
    if (rc != SQLITE_OK)
        return pawl__sqlite_fail(store, rc, err);
    *ret_statement = *statement;
    return PAWL_OK;
}

pawl_status
pawl__sqlite_statement_for(pawl__sqlite_store *store, pawl__sqlite_sql sql, const char *group, pawl_partition partition,
                           sqlite3_stmt **ret_statement, pawl_error *err)
{
    pawl_status status = pawl__sqlite_statement(store, sql, ret_statement, err);

    if (status != PAWL_OK)
        return status;
    sqlite3_bind_text(*ret_statement, 1, group, -1, SQLITE_STATIC);
    sqlite3_bind_text(*ret_statement, 2, partition.topic, -1, SQLITE_STATIC);
    sqlite3_bind_int64(*ret_statement, 3, partition.number);
    return PAWL_OK;
}

void
pawl__sqlite_bind_position(sqlite3_stmt *statement, int index, pawl_position position)
{
    if (position.known)
        sqlite3_bind_int64(statement, index, position.offset);
    else
        sqlite3_bind_null(statement, index);
}

void
pawl__sqlite_statement_end(sqlite3_stmt *statement)
{
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

pawl_status
pawl__sqlite_statement_run(pawl__sqlite_store *store, sqlite3_stmt *statement, int *ret_changes, pawl_error *err)
{
    int rc = sqlite3_step(statement);

    if (rc != SQLITE_DONE && rc != SQLITE_ROW) {
        pawl_status status = pawl__sqlite_fail(store, rc, err);

        pawl__sqlite_statement_end(statement);
        return status;
    }
    pawl__sqlite_statement_end(statement);
    if (ret_changes != NULL)
        *ret_changes = sqlite3_changes(store->db);
    return PAWL_OK;
}

void
pawl__sqlite_statements_done(pawl__sqlite_store *store)
{
    for (int i = 0; i < PAWL__SQL_COUNT; i++) {
        sqlite3_finalize(store->statements[i]);
        store->statements[i] = NULL;
    }
}

sqlite3_stmt *
pawl__sqlite_next_busy(pawl__sqlite_store *store, sqlite3_stmt *after, bool reads)
{
    sqlite3_stmt *statement = sqlite3_next_stmt(store->db, after);

    while (statement != NULL && (!sqlite3_stmt_busy(statement) || (sqlite3_stmt_readonly(statement) != 0) != reads))
        statement = sqlite3_next_stmt(store->db, statement);
    return statement;
}
