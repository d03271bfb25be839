/*
 * store_resolve.c - what became of a write whose answer was lost?
 *
 * Pure: told by what was written and what was read back. Within one epoch nobody but its owner writes, so what stands
 * there under our epoch and is what we sent, we have written.
 */
#include "core/store.h"

#include <string.h>

#include "util/text.h"

#define PLACE_SIZE PAWL_ERROR_MESSAGE_SIZE

/* What a line that was read back looks like. With `expected` the same as what was to be written, it may be both. */
typedef struct finding {
    bool applied;
    bool untouched;
} finding;

/* --------------------------------------------------------------------------------------------- for backends, too -- */

static pawl_status
fenced(const pawl_entry *found, int64_t epoch, const char *place, pawl_error *err)
{
    char when[PAWL__TIME_TEXT_SIZE];
    pawl_owner owner = found->owner;

    pawl__owner_unmark(&owner);
    if (owner.host[0] == '\0' && owner.client_id[0] != '\0')
        return pawl_error_set(err, PAWL_FENCED, 0, 0,
                              "partition %d of '%s' was taken over and given back by client '%s' (epoch "
                              "%" G_GINT64_FORMAT ", ours is %" G_GINT64_FORMAT "): nothing was written; see %s",
                              (int) found->partition.number, found->partition.topic, owner.client_id, found->epoch,
                              epoch, place);
    if (owner.host[0] == '\0')
        return pawl_error_set(err, PAWL_FENCED, 0, 0,
                              "partition %d of '%s' has had another owner since (epoch %" G_GINT64_FORMAT
                              ", ours is %" G_GINT64_FORMAT "): nothing was written; see %s",
                              (int) found->partition.number, found->partition.topic, found->epoch, epoch, place);
    return pawl_error_set(err, PAWL_FENCED, 0, 0,
                          "partition %d of '%s' is owned by client '%s', pid %" G_GINT64_FORMAT " on %s, seen at %s "
                          "(epoch %" G_GINT64_FORMAT ", ours is %" G_GINT64_FORMAT "): nothing was written; see %s",
                          (int) found->partition.number, found->partition.topic, owner.client_id, owner.pid, owner.host,
                          pawl__text_from_time(owner.renewed_ms, when), found->epoch, epoch, place);
}

pawl_status
pawl_sys_check_owned(const pawl_entry *found, int64_t epoch, pawl_position expected, const char *place, pawl_error *err)
{
    char is[PAWL_POSITION_TEXT_SIZE], should[PAWL_POSITION_TEXT_SIZE];

    if (found->epoch > epoch)
        return fenced(found, epoch, place, err);
    if (found->epoch < epoch)
        return pawl_error_set(err, PAWL_CONFLICT, 0, 0,
                              "partition %d of '%s' has epoch %" G_GINT64_FORMAT ", older than ours, which is "
                              "%" G_GINT64_FORMAT ": the store went back or was replaced; nothing was written; see %s",
                              (int) found->partition.number, found->partition.topic, found->epoch, epoch, place);
    if (!pawl_position_equal(found->offset, expected))
        return pawl_error_set(err, PAWL_CONFLICT, 0, 0,
                              "partition %d of '%s' holds offset %s where %s was expected: somebody moved it; nothing "
                              "was written; see %s",
                              (int) found->partition.number, found->partition.topic,
                              pawl_position_text(found->offset, is), pawl_position_text(expected, should), place);
    return PAWL_OK;
}

pawl_status
pawl_sys_check_seen(const pawl_entry *found, int64_t epoch_seen, const char *place, pawl_error *err)
{
    if (found->epoch == epoch_seen)
        return PAWL_OK;
    return pawl_error_set(err, PAWL_STALE, 0, 0,
                          "partition %d of '%s' has epoch %" G_GINT64_FORMAT " now, and had %" G_GINT64_FORMAT
                          " when it was read: somebody else acquired it meanwhile; see %s",
                          (int) found->partition.number, found->partition.topic, found->epoch, epoch_seen, place);
}

/* ------------------------------------------------------------------------------------------------- all the lines -- */

static pawl_status
not_applied(pawl_error *err)
{
    return pawl_error_set(err, PAWL_FAILED, PAWL_ERROR_RETRIABLE, 0,
                          "a write was not applied, as reading back has shown");
}

/* Some lines applied and others not: only a store that is not atomic may do that, and then the rest is sent again if
 * the store does not mind what is there already. */
static pawl_status
half_applied(const pawl_store *store, const char *group, pawl_error *err)
{
    unsigned capabilities = store->backend->capabilities;

    if (!(capabilities & (PAWL_STORE_ATOMIC | PAWL_STORE_CAS_OFFSET)))
        return not_applied(err);
    return pawl_error_set(err, PAWL_CONFLICT, 0, 0,
                          "group '%s': of a write whose answer was lost, some partitions are stored and others are not",
                          group);
}

/* Sums up one more line. A new owner counts for more than anything else, so it is looked for in all lines first. */
static void
add_finding(finding *all, finding line)
{
    all->applied = all->applied && line.applied;
    all->untouched = all->untouched && line.untouched;
}

static pawl_status
conclude(const pawl_store *store, const char *group, finding all, pawl_error *err)
{
    if (all.applied)
        return PAWL_OK;
    return all.untouched ? not_applied(err) : half_applied(store, group, err);
}

/* FENCED if the line has a newer owner. */
static pawl_status
check_fenced(pawl_store *store, const char *group, const pawl_entry *entry, int64_t epoch, pawl_error *err)
{
    char place[PLACE_SIZE];

    if (entry->epoch <= epoch)
        return PAWL_OK;
    return pawl_sys_check_owned(entry, epoch, entry->offset,
                                pawl_store_place(store, group, entry->partition, place, sizeof place), err);
}

/* The line is neither applied nor untouched: says in which way. */
static pawl_status
moved(pawl_store *store, const char *group, const pawl_entry *entry, int64_t epoch, pawl_position expected,
      pawl_error *err)
{
    char place[PLACE_SIZE];

    return pawl_sys_check_owned(entry, epoch, expected,
                                pawl_store_place(store, group, entry->partition, place, sizeof place), err);
}

/* ---------------------------------------------------------------------------------------------------------- save -- */

static finding
look_at_save(const pawl_save_line *line, const pawl_entry *entry)
{
    pawl_position until = pawl_position_at(line->until);
    finding found = {false, false};

    if (entry->epoch != line->epoch)
        return found;
    found.untouched = pawl_position_equal(entry->offset, line->expected);
    found.applied = pawl_position_equal(entry->offset, until);
    /* A save that moves nothing can only be told by what else it writes. */
    if (found.untouched && found.applied)
        found.applied = !entry->pending.known && (line->batch == 0 || line->batch == entry->batch);
    return found;
}

pawl_status
pawl__store_judge_save(pawl_store *store, const char *group, const pawl_save_line *lines, size_t count,
                       const pawl_entry *entries, pawl_error *err)
{
    finding all = {true, true};

    for (size_t i = 0; i < count; i++)
        if (check_fenced(store, group, &entries[i], lines[i].epoch, err) != PAWL_OK)
            return PAWL_FENCED;
    for (size_t i = 0; i < count; i++) {
        finding line = look_at_save(&lines[i], &entries[i]);

        if (!line.applied && !line.untouched)
            return moved(store, group, &entries[i], lines[i].epoch, lines[i].expected, err);
        add_finding(&all, line);
    }
    return conclude(store, group, all, err);
}

/* ----------------------------------------------------------------------------------------------- plan and remove -- */

pawl_status
pawl__store_judge_plan(pawl_store *store, const char *group, const pawl_plan_line *lines, size_t count,
                       const pawl_entry *entries, pawl_error *err)
{
    finding all = {true, true};

    for (size_t i = 0; i < count; i++)
        if (check_fenced(store, group, &entries[i], lines[i].epoch, err) != PAWL_OK)
            return PAWL_FENCED;
    for (size_t i = 0; i < count; i++) {
        finding line = {.applied = pawl_position_equal(entries[i].pending, lines[i].pending), .untouched = true};
        pawl_status status = moved(store, group, &entries[i], lines[i].epoch, lines[i].expected, err);

        if (status != PAWL_OK)
            return status;
        add_finding(&all, line);
    }
    return conclude(store, group, all, err);
}

pawl_status
pawl__store_judge_remove(pawl_store *store, const char *group, const pawl_remove_line *lines, size_t count,
                         const pawl_entry *entries, pawl_error *err)
{
    finding all = {true, true};

    for (size_t i = 0; i < count; i++)
        if (check_fenced(store, group, &entries[i], lines[i].epoch, err) != PAWL_OK)
            return PAWL_FENCED;
    for (size_t i = 0; i < count; i++) {
        finding line = {.applied = !entries[i].offset.known && !entries[i].pending.known,
                        .untouched = pawl_position_equal(entries[i].offset, lines[i].expected)};

        if (entries[i].epoch != lines[i].epoch || (!line.applied && !line.untouched))
            return moved(store, group, &entries[i], lines[i].epoch, lines[i].expected, err);
        add_finding(&all, line);
    }
    return conclude(store, group, all, err);
}

/* ------------------------------------------------------------------------------------------- acquire and release -- */

pawl_status
pawl__store_judge_release(const pawl_acquire_line *lines, size_t count, const pawl_entry *entries, pawl_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].epoch == lines[i].ret_epoch && entries[i].owner.host[0] != '\0')
            return not_applied(err);
    return PAWL_OK;
}

/* Each acquire has a token of its own behind the host's name. */
static bool
is_same_owner(const pawl_owner *a, const pawl_owner *b)
{
    return a->pid == b->pid && strcmp(a->host, b->host) == 0 && strcmp(a->client_id, b->client_id) == 0;
}

pawl_status
pawl__store_judge_acquire(pawl_store *store, const char *group, const pawl_owner *owner, pawl_acquire_line *lines,
                          size_t count, const pawl_entry *entries, pawl_error *err)
{
    finding all = {true, true};
    char place[PLACE_SIZE];
    pawl_status status;

    for (size_t i = 0; i < count; i++) {
        finding line = {.applied = entries[i].epoch > lines[i].epoch_seen && is_same_owner(owner, &entries[i].owner),
                        .untouched = entries[i].epoch == lines[i].epoch_seen};

        if (!line.applied && !line.untouched)
            return pawl_sys_check_seen(&entries[i], lines[i].epoch_seen,
                                       pawl_store_place(store, group, entries[i].partition, place, sizeof place), err);
        add_finding(&all, line);
    }
    status = conclude(store, group, all, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        lines[i].ret_epoch = entries[i].epoch;
    return status;
}
