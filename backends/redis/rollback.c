/*
 * rollback.c - what this handle saved last, and a server that has lost it
 *
 * A crash or a failover can bring back an older save of this very owner. It can be told from everything else that may
 * stand there: it bears our epoch, which nobody else ever had, it is what pawl wrote and nobody changed by hand, and
 * this handle knows that it has saved more.
 */
#include "backends/redis/redis_store.h"

#include <string.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/partition.h"

/* --------------------------------------------------------------------------------------------------- remembering -- */

/* The value of store->saved; its partition is the key. */
typedef struct saved {
    pawl_partition partition;
    int64_t epoch;
    pawl_position offset;
    pawl_position in_flight; /* what a save writes whose answer was lost */
    pawl_position pending;
} saved;

static void
saved_free(void *value)
{
    g_free((char *) ((saved *) value)->partition.topic);
    g_free(value);
}

/* What was saved last, or NULL. */
static saved *
last_saved(const pawl__redis_store *store, const char *group, pawl_partition partition)
{
    if (store->saved == NULL || strcmp(store->saved_group, group) != 0)
        return NULL;
    return g_hash_table_lookup(store->saved, &partition);
}

/* The same, if it was under this epoch. */
static saved *
last_saved_under(const pawl__redis_store *store, const char *group, pawl_partition partition, int64_t epoch)
{
    saved *last = last_saved(store, group, partition);

    return last != NULL && last->epoch == epoch ? last : NULL;
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

/* The same as last_saved_under(), and where nothing was saved yet it is what the line expects. */
static saved *
last_saved_or_new(pawl__redis_store *store, const char *group, const pawl_save_line *line)
{
    saved *last = last_saved_under(store, group, line->partition, line->epoch);

    if (last != NULL)
        return last;
    remember_group(store, group);
    last = g_new0(saved, 1);
    last->partition = (pawl_partition){g_strdup(line->partition.topic), line->partition.number};
    last->epoch = line->epoch;
    last->offset = line->expected;
    g_hash_table_replace(store->saved, &last->partition, last);
    return last;
}

void
pawl__redis_remember_saved(pawl__redis_store *store, const char *group, const pawl_save_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        saved *last = last_saved_or_new(store, group, &lines[i]);

        last->offset = pawl_position_at(lines[i].until);
        last->in_flight = last->pending = pawl_position_absent();
    }
}

void
pawl__redis_remember_in_flight(pawl__redis_store *store, const char *group, const pawl_save_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        last_saved_or_new(store, group, &lines[i])->in_flight = pawl_position_at(lines[i].until);
}

void
pawl__redis_remember_planned(pawl__redis_store *store, const char *group, const pawl_plan_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        saved *last = last_saved_under(store, group, lines[i].partition, lines[i].epoch);

        if (last != NULL)
            last->pending = lines[i].pending;
    }
}

static bool
has_arrived(const saved *last, const pawl_entry *entry)
{
    return last->in_flight.known && pawl_position_equal(entry->offset, last->in_flight);
}

void
pawl__redis_remember_read(pawl__redis_store *store, const char *group, const pawl_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        saved *last = last_saved_under(store, group, entries[i].partition, entries[i].epoch);

        if (last == NULL || !has_arrived(last, &entries[i]))
            continue;
        last->offset = last->in_flight;
        last->in_flight = last->pending = pawl_position_absent();
    }
}

void
pawl__redis_forget(pawl__redis_store *store)
{
    g_clear_pointer(&store->saved, g_hash_table_destroy);
    g_clear_pointer(&store->saved_group, g_free);
}

/* ---------------------------------------------------------------------------------------------------- going back -- */

/* What was found, beside what was saved last. */
typedef enum fate { KEPT, LOST, CHANGED_BY_OTHERS } fate;

static fate
fate_of(const saved *last, const pawl__redis_found *found)
{
    if (last->epoch != found->entry.epoch)
        return CHANGED_BY_OTHERS;
    if (pawl_position_equal(found->entry.offset, last->offset) || has_arrived(last, &found->entry))
        return KEPT;
    return pawl_position_equal(found->entry.offset, found->written) ? LOST : CHANGED_BY_OTHERS;
}

bool
pawl__redis_went_back(const pawl__redis_store *store, const char *group, const pawl__redis_found *found)
{
    const saved *last = last_saved(store, group, found->entry.partition);

    return last != NULL && fate_of(last, found) == LOST;
}

static pawl_status
refuse(pawl__redis_store *store, const char *group, const saved *last, const pawl__redis_found *found, pawl_error *err)
{
    char place[PAWL__REDIS_PLACE_SIZE], is[PAWL_POSITION_TEXT_SIZE], was[PAWL_POSITION_TEXT_SIZE];

    pawl__redis_place(store, group, last->partition, place, sizeof place);
    return pawl_error_set(err, PAWL_CONFLICT, 0, 0,
                          "partition %d of '%s' holds offset %s again, where we had saved %s: the server lost our last "
                          "saves in a crash or a failover; nothing was written; starting again reads them once more, "
                          "and on_rollback=reassert writes them again instead; see %s",
                          (int) last->partition.number, last->partition.topic,
                          pawl_position_text(found->entry.offset, is), pawl_position_text(last->offset, was), place);
}

static void
add_again(pawl__redis_changes *changes, const saved *last, pawl_position found)
{
    pawl__redis_changes_add(changes, last->partition, last->epoch, found);
    pawl__redis_args_add_position(&changes->args, last->offset);
    pawl__redis_args_add(&changes->args, "="); /* the batch */
    pawl__redis_args_add_position(&changes->args, last->pending);
    pawl__redis_args_add(&changes->args, ""); /* the print */
}

/* Collects what is to be written again: nothing at all where others have changed something. PAWL_CONFLICT: it must not
 * be written again. */
static pawl_status
collect_lost(pawl__redis_store *store, const char *group, const pawl__redis_found *found, size_t count,
             pawl__redis_changes *changes, size_t *ret_lost, pawl_error *err)
{
    bool others = false;
    size_t lost = 0;

    for (size_t i = 0; i < count; i++) {
        const saved *last = last_saved(store, group, found[i].entry.partition);
        fate is = last != NULL ? fate_of(last, &found[i]) : KEPT;

        if (is == LOST && !store->reassert)
            return refuse(store, group, last, &found[i], err);
        if (is == LOST) {
            add_again(changes, last, found[i].entry.offset);
            lost++;
        }
        others = others || is == CHANGED_BY_OTHERS;
    }
    *ret_lost = others ? 0 : lost;
    return PAWL_OK;
}

static pawl_status
write_again(pawl__redis_store *store, const pawl_store_call *call, const pawl__redis_found *found, size_t count,
            pawl_error *err)
{
    pawl__redis_changes changes;
    pawl__redis_found refused;
    size_t line, lost = 0;
    pawl_status status;

    pawl__redis_changes_init(&changes, PAWL__REDIS_CHANGE);
    pawl__redis_args_add_number(&changes.args, pawl__clock_wall_ms());
    status = collect_lost(store, call->group, found, count, &changes, &lost, err);
    if (status != PAWL_OK || lost == 0) {
        pawl__redis_changes_done(&changes);
        return status;
    }
    pawl__log(store->log, PAWL_LOG_WARN, "store",
              "group '%s' in %s: the server lost our last saves of %zu partitions in a crash or a failover; they are "
              "written again (on_rollback=reassert)",
              call->group, store->url, lost);
    return pawl__redis_changes_run(store, call, &changes, &line, &refused, err);
}

pawl_status
pawl__redis_restore(pawl__redis_store *store, const pawl_store_call *call, const void *lines, size_t stride,
                    size_t count, pawl_error *err)
{
    pawl_partition *partitions = g_new(pawl_partition, count);
    pawl__redis_found *found = g_new0(pawl__redis_found, count);
    pawl_group_info group = {0};
    pawl_status status;

    for (size_t i = 0; i < count; i++)
        partitions[i] = *(const pawl_partition *) ((const char *) lines + stride * i);
    status = pawl__redis_load_found(store, call, partitions, count, found, &group, err);
    if (status == PAWL_OK)
        status = write_again(store, call, found, count, err);
    g_free(found);
    g_free(partitions);
    return status;
}
