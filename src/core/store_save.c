/*
 * store_save.c - save: alone, or at the end of a transaction that holds the program's results, too
 */
#include "core/store.h"

#include <string.h>

/* -------------------------------------------------------------------------------------------------- transactions -- */

static void
remember_lines(pawl_store *store, const char *group, const pawl_save_line *lines, size_t count)
{
    store->begun = g_array_sized_new(FALSE, FALSE, sizeof *lines, (guint) count);
    store->texts = g_string_chunk_new(1024);
    store->begun_group = g_string_chunk_insert(store->texts, group);
    g_array_append_vals(store->begun, lines, (guint) count);
    for (size_t i = 0; i < count; i++) {
        pawl_save_line *line = &g_array_index(store->begun, pawl_save_line, i);

        line->partition.topic = g_string_chunk_insert_const(store->texts, line->partition.topic);
        line->print = NULL;
    }
    store->in_transaction = true;
}

static void
forget_lines(pawl_store *store)
{
    store->in_transaction = false;
    g_clear_pointer(&store->begun, g_array_unref);
    g_clear_pointer(&store->texts, g_string_chunk_free);
    store->begun_group = NULL;
}

static bool
is_about_the_same(const pawl_save_line *begun, const pawl_save_line *line)
{
    return begun->partition.number == line->partition.number &&
           strcmp(begun->partition.topic, line->partition.topic) == 0 && begun->epoch == line->epoch &&
           pawl_position_equal(begun->expected, line->expected);
}

/* Each line has to be one that was begun, in the same order; a range whose sink holds it back is left out. */
static pawl_status
check_begun(const pawl_store *store, const char *group, const pawl_save_line *lines, size_t count, pawl_error *err)
{
    guint next = 0;

    if (group == NULL || strcmp(group, store->begun_group) != 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "the open transaction was begun for group '%s'",
                              store->begun_group);
    for (size_t i = 0; i < count; i++) {
        while (next < store->begun->len &&
               !is_about_the_same(&g_array_index(store->begun, pawl_save_line, next), &lines[i]))
            next++;
        if (next++ >= store->begun->len)
            return pawl_error_set(err, PAWL_INVALID, 0, 0,
                                  "partition %d of '%s' was not begun with this epoch and this expected offset, or not "
                                  "in this order",
                                  (int) lines[i].partition.number, lines[i].partition.topic);
    }
    return pawl__store_check_save(store->backend->capabilities, lines, count, err);
}

pawl_status
pawl_store_begin(pawl_store *store, const char *group, const pawl_save_line *lines, size_t count, void **ret_handle,
                 pawl_error *err)
{
    pawl__store_run run;
    pawl_status status = pawl__store_write_start(&run, store, group, lines, sizeof *lines, count);
    void *handle;

    if (status == PAWL_OK)
        status = pawl__store_run_require(&run, PAWL_STORE_TRANSACTION, "take results into the transaction of a save");
    if (status == PAWL_OK)
        status = pawl__store_check_save(store->backend->capabilities, lines, count, &run.error);
    if (status == PAWL_OK && count == 0)
        status = pawl_error_set(&run.error, PAWL_INVALID, 0, 0, "a transaction of no partition at all");
    if (status != PAWL_OK)
        return pawl__store_run_end(&run, status, err);

    do
        status = store->backend->begin(store->self, &run.call, lines, count, &handle, &run.error);
    while (pawl__store_run_again(&run, &status));

    if (status == PAWL_OK) {
        remember_lines(store, group, lines, count);
        *ret_handle = handle;
    }
    return pawl__store_run_end(&run, status, err);
}

void
pawl_store_rollback(pawl_store *store)
{
    if (!store->in_transaction)
        return;
    store->backend->rollback(store->self);
    forget_lines(store);
}

/* ---------------------------------------------------------------------------------------------------------- save -- */

static pawl_status
send_save(pawl__store_run *run, const pawl__store_write *write)
{
    return run->store->backend->save(run->store->self, &run->call, write->lines.save, write->count, &run->error);
}

static pawl_status
judge_save(pawl__store_run *run, const pawl__store_write *write, const pawl_entry *entries)
{
    return pawl__store_judge_save(run->store, run->call.group, write->lines.save, write->count, entries, &run->error);
}

/* Whatever happens, the transaction is over. */
static pawl_status
commit(pawl__store_run *run, pawl_store *store, const pawl__store_write *write, const char *group)
{
    pawl_status status = pawl__store_run_start_commit(run, store, group);

    if (status == PAWL_OK)
        status = check_begun(store, group, write->lines.save, write->count, &run->error);
    if (status == PAWL_OK && write->count > 0) {
        status = pawl__store_write_run(run, write);
        forget_lines(store);
    } else {
        /* All ranges are held back: their results will come again with the flush that saves them. */
        pawl_store_rollback(store);
    }
    return status;
}

pawl_status
pawl_store_save(pawl_store *store, const char *group, const pawl_save_line *lines, size_t count, pawl_error *err)
{
    pawl__store_write write = {.send = send_save,
                               .judge = judge_save,
                               .lines.save = lines,
                               .stride = sizeof *lines,
                               .count = count,
                               .once = store->in_transaction};
    pawl__store_run run;
    pawl_status status;

    if (store->in_transaction)
        return pawl__store_run_end(&run, commit(&run, store, &write, group), err);

    status = pawl__store_write_start(&run, store, group, lines, sizeof *lines, count);
    if (status == PAWL_OK)
        status = pawl__store_check_save(store->backend->capabilities, lines, count, &run.error);
    if (status == PAWL_OK && count > 0)
        status = pawl__store_write_run(&run, &write);
    return pawl__store_run_end(&run, status, err);
}
