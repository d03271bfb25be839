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

/* Becomes the owner: the line says of which epoch. */
static pawl_acquire_line
acquire(fixture *f, pawl_store *store, const char *topic, int partition, int64_t wall_ms)
{
    pawl_owner owner = {.host = "elsewhere", .pid = 7, .client_id = "intruder", .renewed_ms = wall_ms};
    pawl_acquire_line line = {.partition = {topic, partition}, .epoch_seen = fixture_stored(f, topic, partition).epoch};

    assert_int_equal(pawl_store_acquire(store, "g", &owner, NULL, &line, 1, NULL), PAWL_OK);
    return line;
}

static void
save(fixture *f, pawl_store *store, const pawl_acquire_line *owned, int64_t offset)
{
    pawl_save_line line = {
        .partition = owned->partition,
        .epoch = owned->ret_epoch,
        .expected = fixture_stored(f, owned->partition.topic, owned->partition.number).offset,
        .until = offset,
    };

    assert_int_equal(pawl_store_save(store, "g", &line, 1, NULL), PAWL_OK);
}

static void
intrude(fixture *f, const char *topic, int partition, int64_t offset, int64_t wall_ms)
{
    pawl_store *store = open_store(f);
    pawl_acquire_line line = acquire(f, store, topic, partition, wall_ms);

    if (offset >= 0)
        save(f, store, &line, offset);
    pawl_store_close(store);
}

void
fixture_import(fixture *f, const char *topic, int partition, int64_t offset)
{
    pawl_store *store = open_store(f);
    pawl_acquire_line line = acquire(f, store, topic, partition, 0);

    save(f, store, &line, offset);
    assert_int_equal(pawl_store_release(store, "g", &line, 1, NULL), PAWL_OK);
    pawl_store_close(store);
}

void
fixture_remove(fixture *f, const char *topic, int partition)
{
    pawl_store *store = open_store(f);
    pawl_acquire_line line = acquire(f, store, topic, partition, 0);
    pawl_remove_line removed = {
        .partition = line.partition, .epoch = line.ret_epoch, .expected = fixture_stored(f, topic, partition).offset};

    assert_int_equal(pawl_store_remove(store, "g", &removed, 1, NULL), PAWL_OK);
    assert_int_equal(pawl_store_release(store, "g", &line, 1, NULL), PAWL_OK);
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
    pawl_store *store = open_store(f);
    pawl_acquire_line line = {.partition = {topic, partition}, .ret_epoch = fixture_stored(f, topic, partition).epoch};

    save(f, store, &line, offset);
    pawl_store_close(store);
}
