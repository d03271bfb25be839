/*
 * save.c - save
 */
#include "backends/redis/redis_store.h"

#include <inttypes.h>

#include "util/clock.h"

/* Whether the script SAVE will do: lines of one batch, of partitions that were acquired together. */
static bool
are_alike(const pawl_save_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (lines[i].batch == 0 || lines[i].batch != lines[0].batch || lines[i].epoch != lines[0].epoch)
            return false;
    return true;
}

static void
add_print(pawl__redis_args *args, const char *print)
{
    char *escaped;

    if (print == NULL || *print == '\0') {
        pawl__redis_args_add(args, "");
        return;
    }
    escaped = pawl__redis_escape(print);
    pawl__redis_args_add(args, escaped);
    g_free(escaped);
}

static void
add_alike(const pawl__redis_store *store, pawl__redis_changes *changes, const pawl_save_line *lines, size_t count,
          int64_t now_ms)
{
    pawl__redis_args *args = &changes->args;

    pawl__redis_args_add_number(args, (int64_t) count);
    pawl__redis_args_printf(args, "epoch=%" PRId64 " ", lines[0].epoch);
    pawl__redis_args_printf(args, "batch=%" PRId64 " pending=- at=", lines[0].batch);
    pawl__redis_args_printf(args, " renewed=%" PRId64 " ", now_ms);
    pawl__redis_args_add(args, store->owner != NULL ? store->owner : "");
    for (size_t i = 0; i < count; i++)
        pawl__redis_changes_add(changes, lines[i].partition, lines[i].epoch, lines[i].expected);
    for (size_t i = 0; i < count; i++)
        pawl__redis_args_add_position(args, lines[i].expected);
    for (size_t i = 0; i < count; i++)
        pawl__redis_args_add_number(args, lines[i].until);
    for (size_t i = 0; i < count; i++)
        add_print(args, lines[i].print);
}

/* The same for the script CHANGE. Position saves keep the number of the batch that is there. */
static void
add_each(pawl__redis_changes *changes, const pawl_save_line *lines, size_t count, int64_t now_ms)
{
    pawl__redis_args *args = &changes->args;

    pawl__redis_args_add_number(args, now_ms);
    for (size_t i = 0; i < count; i++) {
        pawl__redis_changes_add(changes, lines[i].partition, lines[i].epoch, lines[i].expected);
        pawl__redis_args_add_number(args, lines[i].until);
        if (lines[i].batch != 0)
            pawl__redis_args_add_number(args, lines[i].batch);
        else
            pawl__redis_args_add(args, "=");
        pawl__redis_args_add(args, "-");
        add_print(args, lines[i].print);
    }
}

static pawl_status
send_lines(pawl__redis_store *store, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
           size_t *ret_refused, pawl__redis_found *ret_found, pawl_error *err)
{
    bool alike = are_alike(lines, count);
    pawl__redis_changes changes;

    pawl__redis_changes_init(&changes, alike ? PAWL__REDIS_SAVE : PAWL__REDIS_CHANGE);
    if (alike)
        add_alike(store, &changes, lines, count, pawl__clock_wall_ms());
    else
        add_each(&changes, lines, count, pawl__clock_wall_ms());
    return pawl__redis_changes_run(store, call, &changes, ret_refused, ret_found, err);
}

pawl_status
pawl__redis_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count, pawl_error *err)
{
    pawl__redis_store *store = self;
    pawl__redis_found found;
    size_t refused = 0;
    pawl_status status = send_lines(store, call, lines, count, &refused, &found, err);

    if (status == PAWL_CONFLICT && pawl__redis_went_back(store, call->group, &found)) {
        status = pawl__redis_restore(store, call, lines, sizeof *lines, count, err);
        if (status == PAWL_OK)
            status = send_lines(store, call, lines, count, &refused, &found, err);
    }
    if (status == PAWL_OK)
        pawl__redis_remember_saved(store, call->group, lines, count);
    else if (status == PAWL_OUTCOME_UNKNOWN)
        pawl__redis_remember_in_flight(store, call->group, lines, count);
    return status;
}
