/*
 * test_store_postgresql.c - the postgresql: store passes the conformance suite
 */
#include "tests/conformance/conformance.h"
#include "tests/conformance/postgresql_raw.h"

#include <string.h>

/* pawl's column takes no text, so it becomes one that does; "42", a true offset, makes it what it was. */
static bool
spoil(const char *url, const char *group, pawl_partition partition, const char *text)
{
    PGconn *conn = raw_connect();
    bool is_number =
        raw_number(conn, "SELECT count(*) FROM information_schema.columns WHERE table_name = 'pawl_offsets'"
                         " AND column_name = 'offset' AND data_type = 'bigint'") == 1;
    char *value = raw_quote(text), *group_name = raw_quote(group), *topic = raw_quote(partition.topic);

    (void) url;
    if (is_number)
        raw_run(conn, "ALTER TABLE pawl_offsets DROP CONSTRAINT pawl_offsets_offset_check,"
                      " ALTER \"offset\" TYPE text");
    raw_run(conn, "UPDATE pawl_offsets SET \"offset\" = %s WHERE group_name = %s AND topic = %s AND partition = %d",
            value, group_name, topic, (int) partition.number);
    if (strcmp(text, "42") == 0)
        raw_run(conn, "ALTER TABLE pawl_offsets ALTER \"offset\" TYPE bigint USING \"offset\"::bigint,"
                      " ADD CONSTRAINT pawl_offsets_offset_check CHECK (\"offset\" >= 0)");
    g_free(value);
    g_free(group_name);
    g_free(topic);
    PQfinish(conn);
    return true;
}

static void
change_layout(const char *url, const char *group, int step)
{
    char *group_name = raw_quote(group);

    (void) url;
    raw_run_once("UPDATE pawl_offsets SET layout = layout + %d WHERE group_name = %s", step, group_name);
    g_free(group_name);
}

static void
hang(const char *url, bool hung)
{
    static PGconn *holder;

    (void) url;
    if (hung) {
        holder = raw_connect();
        raw_run(holder, "BEGIN; LOCK TABLE pawl_offsets");
    } else {
        PQfinish(holder);
    }
}

int
main(void)
{
    conformance postgresql = {
        .name = "postgresql",
        .survives_kill = true,
        .spoil = spoil,
        .change_layout = change_layout,
        .hang = hang,
        .put_result = raw_put_result,
        .get_result = raw_get_result,
    };
    int failed;

    raw_init();
    postgresql.url = raw_url;
    failed = conformance_run(&postgresql);
    raw_done();
    return failed;
}
