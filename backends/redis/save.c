/*
 * save.c - save, also after the server went back
 *
 * A crash or a failover can bring back an older save of this very owner. It can be told from everything else that may
 * stand there: it bears our epoch, which nobody else ever had, it is what pawl wrote and nobody changed by hand, and
 * this handle knows that it has saved more.
 */
#include "backends/redis/redis_store.h"

#include <inttypes.h>
#include <string.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/partition.h"

/* ------------------------------------------------------------------------------------------- what was saved last -- */

/* The value of store->saved; its partition is the key. */
typedef struct saved {
    pawl_partition partition;
    int64_t epoch;
    pawl_position offset;
} saved;

static void
saved_free(void *value)
{
    g_free((char *) ((saved *) value)->partition.topic);
    g_free(value);
}

/* A handle nearly always works for one group; it remembers the last one. */
static void
remember_group(pawl__redis_store *store, const char *group)
{
    if (store->saved != NULL && strcmp(store->saved_group, group) == 0)
        return;
    pawl__redis_forget(store);
    store->saved_group = g_strdup(group);
    store->saved = g_hash_table_new_full(pawl__partition_hash, pawl__partition_equal, NULL, saved_free);
}

static void
remember(pawl__redis_store *store, pawl_partition partition, int64_t epoch, pawl_position offset)
{
    saved *last = g_hash_table_lookup(store->saved, &partition);

    if (last == NULL) {
        last = g_new0(saved, 1);
        last->partition = (pawl_partition){g_strdup(partition.topic), partition.number};
        g_hash_table_insert(store->saved, &last->partition, last);
    }
    last->epoch = epoch;
    last->offset = offset;
}

void
pawl__redis_remember_read(pawl__redis_store *store, const char *group, const pawl_entry *entries, size_t count)
{
    if (store->saved == NULL || strcmp(store->saved_group, group) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        saved *last = g_hash_table_lookup(store->saved, &entries[i].partition);

        if (last != NULL && last->epoch == entries[i].epoch)
            last->offset = entries[i].offset;
    }
}

void
pawl__redis_forget(pawl__redis_store *store)
{
    g_clear_pointer(&store->saved, g_hash_table_destroy);
    g_clear_pointer(&store->saved_group, g_free);
}

/* ---------------------------------------------------------------------------------------------------- going back -- */

/* Whether what was found is older than what this handle saved, and is ours. */
static bool
went_back(const pawl__redis_store *store, const char *group, const pawl_save_line *line, const pawl__redis_found *found)
{
    const saved *last = NULL;

    if (store->saved != NULL && strcmp(store->saved_group, group) == 0)
        last = g_hash_table_lookup(store->saved, &line->partition);
    return last != NULL && last->epoch == line->epoch && pawl_position_equal(last->offset, line->expected) &&
           found->entry.epoch == line->epoch && pawl_position_equal(found->entry.offset, found->written) &&
           !pawl_position_equal(found->entry.offset, line->expected);
}

static pawl_status
refuse_going_back(pawl__redis_store *store, const char *group, const pawl_save_line *line,
                  const pawl__redis_found *found, pawl_error *err)
{
    char place[PAWL__REDIS_PLACE_SIZE], is[PAWL_POSITION_TEXT_SIZE], was[PAWL_POSITION_TEXT_SIZE];

    pawl__redis_place(store, group, line->partition, place, sizeof place);
    return pawl_error_set(err, PAWL_CONFLICT, 0, 0,
                          "partition %d of '%s' holds offset %s again, where we had saved %s: the server lost our last "
                          "saves in a crash or a failover; nothing was written; starting again reads them once more, "
                          "and on_rollback=reassert writes them again instead; see %s",
                          (int) line->partition.number, line->partition.topic,
                          pawl_position_text(found->entry.offset, is), pawl_position_text(line->expected, was), place);
}

/* Whether the script SAVE will do: lines of one batch, of partitions that were acquired together. */
static bool
are_alike(const pawl_save_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (lines[i].batch == 0 || lines[i].batch != lines[0].batch || lines[i].epoch != lines[0].epoch)
            return false;
    return true;
}

static bool
have_prints(const pawl_save_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (lines[i].print != NULL && lines[i].print[0] != '\0')
            return true;
    return false;
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
add_alike(pawl__redis_changes *changes, const pawl_save_line *lines, size_t count, int64_t now_ms)
{
    pawl__redis_args *args = &changes->args;

    pawl__redis_args_add_number(args, (int64_t) count);
    pawl__redis_args_printf(args, "epoch=%" PRId64 " ", lines[0].epoch);
    pawl__redis_args_printf(args, "batch=%" PRId64 " pending=- at=", lines[0].batch);
    pawl__redis_args_printf(args, " renewed=%" PRId64, now_ms);
    for (size_t i = 0; i < count; i++)
        pawl__redis_changes_add(changes, lines[i].partition, lines[i].epoch, lines[i].expected);
    for (size_t i = 0; i < count; i++)
        pawl__redis_args_add_position(args, lines[i].expected);
    for (size_t i = 0; i < count; i++)
        pawl__redis_args_add_number(args, lines[i].until);
    if (!have_prints(lines, count))
        return;
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
        add_alike(&changes, lines, count, pawl__clock_wall_ms());
    else
        add_each(&changes, lines, count, pawl__clock_wall_ms());
    return pawl__redis_changes_run(store, call, &changes, ret_refused, ret_found, err);
}

/* Sends lines that expect what is there now, where that is an older save of ours. */
static pawl_status
reassert(pawl__redis_store *store, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
         pawl_error *err)
{
    pawl_save_line *adjusted = g_memdup2(lines, count * sizeof *lines);
    pawl_partition *partitions = g_new(pawl_partition, count);
    pawl__redis_found *found = g_new0(pawl__redis_found, count), refused;
    pawl_group_info group = {0};
    size_t older = 0, line;
    pawl_status status;

    for (size_t i = 0; i < count; i++)
        partitions[i] = lines[i].partition;
    status = pawl__redis_load_found(store, call, partitions, count, found, &group, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        if (!went_back(store, call->group, &lines[i], &found[i]))
            continue;
        adjusted[i].expected = found[i].entry.offset;
        older++;
    }
    if (status == PAWL_OK) {
        pawl__log(store->log, PAWL_LOG_WARN, "store",
                  "group '%s' in %s: the server lost our last saves of %zu partitions in a crash or a failover; they "
                  "are written again (on_rollback=reassert)",
                  call->group, store->url, older);
        status = send_lines(store, call, adjusted, count, &line, &refused, err);
    }
    g_free(found);
    g_free(partitions);
    g_free(adjusted);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- save -- */

pawl_status
pawl__redis_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count, pawl_error *err)
{
    pawl__redis_store *store = self;
    pawl__redis_found found;
    size_t refused = 0;
    pawl_status status = send_lines(store, call, lines, count, &refused, &found, err);

    if (status == PAWL_CONFLICT && went_back(store, call->group, &lines[refused], &found))
        status = store->reassert ? reassert(store, call, lines, count, err)
                                 : refuse_going_back(store, call->group, &lines[refused], &found, err);
    if (status != PAWL_OK)
        return status;
    remember_group(store, call->group);
    for (size_t i = 0; i < count; i++)
        remember(store, lines[i].partition, lines[i].epoch, pawl_position_at(lines[i].until));
    return PAWL_OK;
}
