/*
 * write.c - what acquire, plan, save, release and remove put into their multi
 */
#include "backends/zookeeper/zookeeper_store.h"

#include <string.h>

#include "util/clock.h"

/* Bytes in a multi: of a partition's offset, beside its path, and of its line in the owner's node, at the most. */
#define OFFSET_SIZE (9 + 4 + 4 + 19 + 4)
#define LINE_SIZE   (sizeof "2147483647 held 9223372036854775807 - " + PAWL_PRINT_SIZE)
#define OTHERS_SIZE 2048 /* of the group's and the owner's node */

/* Each call's change has lines of its own type. */
#define LINES(type, change) ((type *) (change)->lines)

static pawl__zk_part *
part_of(pawl__zk_store *store, pawl_partition partition)
{
    return pawl__zk_view_part(store->view, partition);
}

/* Whether the caller owns the partition, and it holds what the caller expects. */
static pawl_status
judge_owned(pawl__zk_store *store, const pawl__zk_change *change, const pawl__zk_part *part, int64_t epoch,
            pawl_position expected, pawl_error *err)
{
    char place[PAWL__ZK_PLACE_SIZE];
    pawl_entry found;

    if (pawl__zk_part_epoch(part) == epoch && pawl_position_equal(part->offset, expected))
        return PAWL_OK;
    pawl__zk_part_entry(part, part->partition, &found);
    pawl__zk_place(store, change->call->group, part->partition, place, sizeof place);
    return pawl_sys_check_owned(&found, epoch, expected, place, err);
}

/* Writes an offset where there is one, or none. */
static void
put_offset(pawl__zk_store *store, pawl__zk_part *part, int64_t offset, pawl__zk_round *round)
{
    char *path = pawl__zk_offset_path(store, store->view->group, part->partition);
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, offset);
    if (part->exists) {
        pawl__zk_multi_set(round, path, text, part->version++);
    } else {
        pawl__zk_multi_create(round, path, text);
        part->exists = true;
        part->version = 0;
    }
    part->offset = pawl_position_at(offset);
    g_free(path);
}

/* ------------------------------------------------------------------------------------------------------- acquire -- */

static pawl_status
judge_acquire(pawl__zk_store *store, const pawl__zk_change *change, size_t i, pawl__zk_part *part, pawl_error *err)
{
    char place[PAWL__ZK_PLACE_SIZE];
    pawl_entry found;

    if (pawl__zk_part_epoch(part) == LINES(const pawl_acquire_line, change)[i].epoch_seen)
        return PAWL_OK;
    pawl__zk_part_entry(part, part->partition, &found);
    pawl__zk_place(store, change->call->group, part->partition, place, sizeof place);
    return pawl_sys_check_seen(&found, LINES(const pawl_acquire_line, change)[i].epoch_seen, place, err);
}

static gint
compare_parts(gconstpointer a, gconstpointer b)
{
    const pawl__zk_part *left = *(pawl__zk_part *const *) a, *right = *(pawl__zk_part *const *) b;
    int order = strcmp(left->partition.topic, right->partition.topic);

    return order != 0 ? order
                      : (left->partition.number > right->partition.number) -
                            (left->partition.number < right->partition.number);
}

/*
 * Also an offset that stays what it is gets a new version: whoever remembers the old one can no longer write. A partition
 * that was never owned may have no node at all: two who acquire it meet at the group's.
 */
static void
write_acquire(pawl__zk_store *store, const pawl__zk_change *change, pawl__zk_round *round)
{
    char *uuid = g_uuid_string_random(), *below = g_strconcat("/pawl/owners/", uuid, NULL);
    pawl__zk_owner *made = pawl__zk_view_owner(store->view, pawl__zk_group_path(store, store->view->group, below));

    made->owner = *change->owner;
    for (size_t i = 0; i < change->count; i++) {
        const pawl_acquire_line *line = &LINES(const pawl_acquire_line, change)[i];
        pawl__zk_part *part = part_of(store, line->partition);

        store->view->changed = store->view->changed || part->owner == NULL;
        pawl__zk_part_move(part, made);
        part->held = true;
        if (part->exists)
            put_offset(store, part, part->offset.offset, round);
        else if (line->initial.known)
            put_offset(store, part, line->initial.offset, round);
    }
    g_ptr_array_sort(made->parts, compare_parts);
    g_free(below);
    g_free(uuid);
}

/* A job that was let in has to be able to save, however great its numbers become. */
static pawl_status
check_size(pawl__zk_store *store, const char *group, const pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    size_t size = OTHERS_SIZE;

    for (size_t i = 0; i < count; i++) {
        char *path = pawl__zk_offset_path(store, group, lines[i].partition);

        size += OFFSET_SIZE + strlen(path) + LINE_SIZE;
        if (i == 0 || strcmp(lines[i].partition.topic, lines[i - 1].partition.topic) != 0)
            size += strlen(path);
        g_free(path);
    }
    if (size <= store->packet_limit)
        return PAWL_OK;
    return pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0,
                          "%zu partitions of group '%s' are too many: a save of them can take %zu bytes, and ZooKeeper "
                          "at %s takes %zu; raise jute.maxbuffer on its servers, and packet_limit in the URL",
                          count, group, size, store->hosts, store->packet_limit);
}

pawl_status
pawl__zk_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
                 pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    pawl__zk_store *store = self;
    pawl__zk_change change = {.call = call,
                              .lines = lines,
                              .stride = sizeof *lines,
                              .count = count,
                              .afresh = true,
                              .judge = judge_acquire,
                              .write = write_acquire,
                              .owner = owner,
                              .cluster = cluster};
    pawl_status status = check_size(store, call->group, lines, count, err);

    if (status == PAWL_OK)
        status = pawl__zk_change_check(store, &change, err); /* before anything is made */
    if (status == PAWL_OK)
        status = pawl__zk_make_parents(store, call, lines, sizeof *lines, count, err);
    if (status == PAWL_OK)
        status = pawl__zk_change_run(store, &change, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        lines[i].ret_epoch = pawl__zk_part_epoch(part_of(store, lines[i].partition));
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- plan -- */

static pawl_status
judge_plan(pawl__zk_store *store, const pawl__zk_change *change, size_t i, pawl__zk_part *part, pawl_error *err)
{
    const pawl_plan_line *line = &LINES(const pawl_plan_line, change)[i];

    return judge_owned(store, change, part, line->epoch, line->expected, err);
}

static void
write_plan(pawl__zk_store *store, const pawl__zk_change *change, pawl__zk_round *round)
{
    int64_t now_ms = pawl__clock_wall_ms();

    for (size_t i = 0; i < change->count; i++) {
        const pawl_plan_line *line = &LINES(const pawl_plan_line, change)[i];
        pawl__zk_part *part = part_of(store, line->partition);
        char *path = pawl__zk_offset_path(store, store->view->group, line->partition);

        if (part->exists)
            pawl__zk_multi_check(round, path, part->version);
        part->pending = line->pending;
        part->owner->owner.renewed_ms = now_ms;
        part->owner->changed = true;
        g_free(path);
    }
}

pawl_status
pawl__zk_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count, pawl_error *err)
{
    pawl__zk_change change = {.call = call,
                              .lines = lines,
                              .stride = sizeof *lines,
                              .count = count,
                              .judge = judge_plan,
                              .write = write_plan};

    return pawl__zk_change_run(self, &change, err);
}

/* ---------------------------------------------------------------------------------------------------------- save -- */

static pawl_status
judge_save(pawl__zk_store *store, const pawl__zk_change *change, size_t i, pawl__zk_part *part, pawl_error *err)
{
    const pawl_save_line *line = &LINES(const pawl_save_line, change)[i];

    return judge_owned(store, change, part, line->epoch, line->expected, err);
}

static void
write_save(pawl__zk_store *store, const pawl__zk_change *change, pawl__zk_round *round)
{
    int64_t now_ms = pawl__clock_wall_ms();

    for (size_t i = 0; i < change->count; i++) {
        const pawl_save_line *line = &LINES(const pawl_save_line, change)[i];
        pawl__zk_part *part = part_of(store, line->partition);

        put_offset(store, part, line->until, round);
        part->pending = pawl_position_absent();
        if (line->batch != 0)
            part->batch = line->batch;
        g_strlcpy(part->print, line->print != NULL ? line->print : "", sizeof part->print);
        part->owner->owner.renewed_ms = now_ms;
        part->owner->changed = true;
    }
}

pawl_status
pawl__zk_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count, pawl_error *err)
{
    pawl__zk_change change = {.call = call,
                              .lines = lines,
                              .stride = sizeof *lines,
                              .count = count,
                              .judge = judge_save,
                              .write = write_save};

    return pawl__zk_change_run(self, &change, err);
}

/* ------------------------------------------------------------------------------------------------------- release -- */

static pawl_status
judge_release(pawl__zk_store *store, const pawl__zk_change *change, size_t i, pawl__zk_part *part, pawl_error *err)
{
    (void) store, (void) change, (void) i, (void) part, (void) err;
    return PAWL_OK; /* what is another's stays as it is */
}

static void
write_release(pawl__zk_store *store, const pawl__zk_change *change, pawl__zk_round *round)
{
    (void) round;
    for (size_t i = 0; i < change->count; i++) {
        const pawl_acquire_line *line = &LINES(const pawl_acquire_line, change)[i];
        pawl__zk_part *part = part_of(store, line->partition);

        if (part->owner == NULL || part->owner->epoch != line->ret_epoch || !part->held)
            continue;
        part->held = false;
        part->owner->changed = true;
    }
}

pawl_status
pawl__zk_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    pawl__zk_change change = {.call = call,
                              .lines = lines,
                              .stride = sizeof *lines,
                              .count = count,
                              .afresh = true,
                              .judge = judge_release,
                              .write = write_release};

    return pawl__zk_change_run(self, &change, err);
}

/* -------------------------------------------------------------------------------------------------------- remove -- */

static pawl_status
judge_remove(pawl__zk_store *store, const pawl__zk_change *change, size_t i, pawl__zk_part *part, pawl_error *err)
{
    const pawl_remove_line *line = &LINES(const pawl_remove_line, change)[i];

    return judge_owned(store, change, part, line->epoch, line->expected, err);
}

static void
write_remove(pawl__zk_store *store, const pawl__zk_change *change, pawl__zk_round *round)
{
    for (size_t i = 0; i < change->count; i++) {
        pawl__zk_part *part = part_of(store, LINES(const pawl_remove_line, change)[i].partition);
        char *path = pawl__zk_offset_path(store, store->view->group, part->partition);

        if (part->exists)
            pawl__zk_multi_delete(round, path, part->version);
        part->exists = false;
        part->offset = part->pending = pawl_position_absent();
        part->print[0] = '\0';
        part->owner->changed = true;
        g_free(path);
    }
}

pawl_status
pawl__zk_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count, pawl_error *err)
{
    pawl__zk_change change = {.call = call,
                              .lines = lines,
                              .stride = sizeof *lines,
                              .count = count,
                              .judge = judge_remove,
                              .write = write_remove};
    return pawl__zk_change_run(self, &change, err);
}
