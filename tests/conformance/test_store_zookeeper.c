/*
 * test_store_zookeeper.c - the zookeeper: store passes the conformance suite
 */
#include "tests/conformance/conformance.h"
#include "tests/conformance/zookeeper_raw.h"

#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOT "/pawl/tests"

static bool
spoil(const char *url, const char *group, pawl_partition partition, const char *text)
{
    char *path = g_strdup_printf(ROOT "/consumers/%s/offsets/%s/%d", group, partition.topic, (int) partition.number);

    (void) url;
    raw_set(path, text);
    g_free(path);
    return true;
}

static void
change_layout(const char *url, const char *group, int step)
{
    char *path = g_strdup_printf(ROOT "/consumers/%s/pawl", group), *text = raw_get(path), *changed;

    (void) url;
    changed = g_strdup_printf("layout %d%s", atoi(text + strlen("layout ")) + step, strchr(text, '\n'));
    raw_set(path, changed);
    g_free(changed);
    g_free(text);
    g_free(path);
}

static void
hang(const char *url, bool hung)
{
    (void) url;
    service_signal(raw_server, "ZOOKEEPER_PID", hung ? SIGSTOP : SIGCONT);
}

int
main(void)
{
    conformance zookeeper = {
        .name = "zookeeper",
        .survives_kill = true,
        .spoil = spoil,
        .change_layout = change_layout,
        .hang = hang,
    };
    char *url;
    int failed;

    if (!raw_init(NULL))
        return EXIT_FAILURE;
    zookeeper.url = url = raw_url(ROOT);
    failed = conformance_run(&zookeeper);
    raw_done();
    g_free(url);
    return failed;
}
