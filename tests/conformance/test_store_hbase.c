/*
 * test_store_hbase.c - the hbase: store passes the conformance suite, and the tests of its own, one after the
 * other: these kill the server
 */
#include "tests/conformance/suite.h"

#include "tests/conformance/hbase_raw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A new one for each run: the server is not. */
static char *table;

static bool
spoil(const char *url, const char *group, pawl_partition partition, const char *text)
{
    char *column = g_strdup_printf("o:%s:%d", partition.topic, (int) partition.number);

    (void) url;
    raw_hbase_put(table, group, column, text);
    g_free(column);
    return true;
}

static void
change_layout(const char *url, const char *group, int step)
{
    char *version = raw_hbase_get(table, group, "o:layout"), *changed = g_strdup_printf("%d", atoi(version) + step);

    (void) url;
    raw_hbase_put(table, group, "o:layout", changed);
    g_free(changed);
    g_free(version);
}

static void
hang(const char *url, bool hung)
{
    (void) url;
    service_signal(&raw_hbase, "HBASE_GATEWAY_PID", hung ? SIGSTOP : SIGCONT);
}

int
main(void)
{
    conformance hbase = {
        .name = "hbase",
        .survives_kill = true,
        .spoil = spoil,
        .change_layout = change_layout,
        .hang = hang,
    };
    char *url;
    int failed;

    if (!raw_hbase_init()) {
        printf("# no HBase: PAWL_TEST_HBASE is not set\n");
        return 77;
    }
    table = g_strdup_printf("conformance-%d-%" G_GINT64_FORMAT, (int) getpid(), g_get_real_time());
    hbase.url = url = g_strdup_printf("hbase://%s/%s?create=yes", raw_hbase_gateway(), table);
    failed = conformance_run(&hbase);
    raw_hbase_table = g_strdup_printf("own-%d-%" G_GINT64_FORMAT, (int) getpid(), g_get_real_time());
    raw_hbase_make(raw_hbase_table, "o");
    failed += hbase_row_tests();
    failed += hbase_server_tests();
    raw_hbase_done();
    g_free(url);
    g_free(raw_hbase_table);
    g_free(table);
    return failed;
}
