/*
 * test_store_sqlite.c - the sqlite: store passes the conformance suite
 */
#include "tests/conformance/conformance.h"
#include "tests/conformance/sqlite_raw.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* pawl's table takes no text, so one without types takes its place; "42", a true offset, brings the old one back. */
static bool
spoil(const char *url, const char *group, pawl_partition partition, const char *text)
{
    sqlite3 *db = raw_open(url);
    bool spoilt = raw_number(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'kept'") == 1;

    if (spoilt)
        raw_run(db, "DROP TABLE pawl_offsets; ALTER TABLE kept RENAME TO pawl_offsets");
    if (strcmp(text, "42") != 0) {
        raw_run(db, "ALTER TABLE pawl_offsets RENAME TO kept;"
                    "CREATE TABLE pawl_offsets (group_name, topic, partition, offset, epoch, owner_host, owner_pid,"
                    " owner_client, owner_renewed_ms, batch, pending, print,"
                    " PRIMARY KEY (group_name, topic, partition));"
                    "INSERT INTO pawl_offsets SELECT * FROM kept");
        raw_run(db, "UPDATE pawl_offsets SET offset = %Q WHERE group_name = %Q AND topic = %Q AND partition = %d", text,
                group, partition.topic, (int) partition.number);
    }
    sqlite3_close(db);
    return true;
}

static void
change_layout(const char *url, const char *group, int step)
{
    sqlite3 *db = raw_open(url);

    (void) group;
    raw_run(db, "UPDATE pawl_meta SET value = value + %d WHERE key = 'layout'", step);
    sqlite3_close(db);
}

static void
hang(const char *url, bool hung)
{
    static sqlite3 *holder;

    if (hung) {
        holder = raw_open(url);
        raw_run(holder, "BEGIN IMMEDIATE");
    } else {
        raw_run(holder, "ROLLBACK");
        sqlite3_close(holder);
    }
}

int
main(void)
{
    conformance sqlite = {
        .name = "sqlite",
        .survives_kill = true,
        .spoil = spoil,
        .change_layout = change_layout,
        .hang = hang,
        .put_result = raw_put_result,
        .get_result = raw_get_result,
    };
    char *url;
    int failed;

    if (!raw_folder_init())
        return EXIT_FAILURE;
    sqlite.url = url = raw_url("conformance.db", "");
    raw_run_once(url, "CREATE TABLE results (name PRIMARY KEY, number)");
    failed = conformance_run(&sqlite);
    raw_folder_done();
    g_free(url);
    return failed;
}
