/*
 * job_fixture_store.c - looking at the store of a job, and meddling with it
 */
#include "tests/support/job_fixture.h"

static pawl_store *
open_store(fixture *f)
{
    char *url = g_strdup_printf("memory:%s", f->name);
    pawl_store *store = NULL;
    pawl_error err;

    if (pawl_store_open(url, NULL, &store, &err) != PAWL_OK)
        fail_msg("%s", err.message);
    g_free(url);
    return store;
}

pawl_entry
fixture_stored(fixture *f, const char *topic, int partition)
{
    pawl_partition asked = {topic, partition};
    pawl_store *store = open_store(f);
    pawl_entry entry;

    assert_int_equal(pawl_store_load(store, "g", &asked, 1, &entry, NULL, NULL), PAWL_OK);
    pawl_store_close(store);
    return entry;
}

void
fixture_expect_stored(fixture *f, const char *topic, int partition, int64_t offset)
{
    pawl_entry entry = fixture_stored(f, topic, partition);

    assert_int_equal(entry.offset.known ? entry.offset.offset : -1, offset);
}

static void
intrude(fixture *f, const char *topic, int partition, int64_t offset, int64_t wall_ms)
{
    pawl_entry entry = fixture_stored(f, topic, partition);
    pawl_owner owner = {.host = "elsewhere", .pid = 7, .client_id = "intruder", .renewed_ms = wall_ms};
    pawl_acquire_line line = {.partition = {topic, partition}, .epoch_seen = entry.epoch};
    pawl_save_line save = {.partition = {topic, partition}, .expected = entry.offset, .until = offset};
    pawl_store *store = open_store(f);

    assert_int_equal(pawl_store_acquire(store, "g", &owner, NULL, &line, 1, NULL), PAWL_OK);
    save.epoch = line.ret_epoch;
    if (offset >= 0)
        assert_int_equal(pawl_store_save(store, "g", &save, 1, NULL), PAWL_OK);
    pawl_store_close(store);
}

void
fixture_intrude(fixture *f, const char *topic, int partition, int64_t offset)
{
    intrude(f, topic, partition, offset, 0);
}

void
fixture_intrude_at(fixture *f, const char *topic, int partition, int64_t wall_ms)
{
    intrude(f, topic, partition, -1, wall_ms);
}

void
fixture_save_as_owner(fixture *f, const char *topic, int partition, int64_t offset)
{
    pawl_entry entry = fixture_stored(f, topic, partition);
    pawl_save_line save = {
        .partition = {topic, partition}, .epoch = entry.epoch, .expected = entry.offset, .until = offset};
    pawl_store *store = open_store(f);

    assert_int_equal(pawl_store_save(store, "g", &save, 1, NULL), PAWL_OK);
    pawl_store_close(store);
}
