/*
 * moves.c - partitions, what is stored for them, and the bounds of their logs
 */
#include "cli/moves.h"

#include <inttypes.h>
#include <string.h>

#include "cli/specs.h"
#include "util/nearest.h"
#include "util/partition.h"

GArray *
pawl__moves_new(void)
{
    return g_array_new(FALSE, TRUE, sizeof(pawl_move));
}

pawl_move *
pawl__moves_at(const GArray *moves, size_t i)
{
    return &g_array_index(moves, pawl_move, i);
}

void
pawl__moves_add(GArray *moves, pawl_partition partition, pawl_position given)
{
    pawl_move move = {.partition = partition, .given = given};

    g_array_append_val(moves, move);
}

pawl_status
pawl__moves_sort(GArray *moves, pawl_error *err)
{
    g_array_sort(moves, pawl__partition_compare);
    for (size_t i = 1; i < moves->len; i++) {
        const pawl_move *move = pawl__moves_at(moves, i);

        if (pawl__partition_compare(move, pawl__moves_at(moves, i - 1)) == 0)
            return pawl_error_set(err, PAWL_INVALID, 0, 0, "partition %d of '%s' is given twice",
                                  (int) move->partition.number, move->partition.topic);
    }
    return PAWL_OK;
}

const char **
pawl__moves_topics(const GArray *moves)
{
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    const char **topics = g_new0(const char *, moves->len + 1);
    size_t count = 0;

    for (size_t i = 0; i < moves->len; i++) {
        const char *topic = pawl__moves_at(moves, i)->partition.topic;

        if (g_hash_table_add(seen, (gpointer) topic))
            topics[count++] = topic;
    }
    g_hash_table_unref(seen);
    return topics;
}

/* How many partitions of a topic were found. */
static size_t
count_of(const GArray *found, const char *topic)
{
    size_t count = 0;

    for (size_t i = 0; i < found->len; i++)
        if (strcmp(g_array_index(found, pawl_partition, i).topic, topic) == 0)
            count++;
    return count;
}

/* All partitions of a topic, in the place of one that stands for them. */
static void
expand(GArray *to, const pawl_move *move, const GArray *found)
{
    if (move->partition.number != PAWL__ALL_PARTITIONS) {
        g_array_append_vals(to, move, 1);
        return;
    }
    for (size_t i = 0; i < found->len; i++) {
        pawl_partition partition = g_array_index(found, pawl_partition, i);

        if (strcmp(partition.topic, move->partition.topic) == 0)
            pawl__moves_add(to, partition, move->given);
    }
}

/* Puts `with` in the place of the moves, which stays the same array. */
static void
replace(GArray *moves, GArray *with)
{
    g_array_set_size(moves, 0);
    g_array_append_vals(moves, with->data, with->len);
}

/* -------------------------------------------------------------------------------------------------- what is stored -- */

static bool
add_stored(void *user, const char *group, const pawl_partition *partition)
{
    (void) group;
    pawl__moves_add(user, (pawl_partition){g_intern_string(partition->topic), partition->number},
                    pawl_position_absent());
    return true;
}

/* A group may have nothing stored and yet be listed: it is no better for that. */
static bool
try_group(void *user, const char *group, const pawl_partition *partition)
{
    pawl__nearest *nearest = user;

    (void) partition;
    if (strcmp(group, nearest->wanted) != 0)
        pawl__nearest_try(nearest, g_intern_string(group));
    return true;
}

static pawl_status
unknown_group(pawl_store *store, const char *group, pawl_error *err)
{
    pawl__nearest nearest = pawl__nearest_to(group);

    if (pawl_store_list(store, NULL, try_group, &nearest, NULL) == PAWL_OK && nearest.found != NULL)
        return pawl_error_set(err, PAWL_FAILED, 0, 0, "nothing is stored for group '%s' in %s; did you mean '%s'?",
                              group, pawl_store_url(store), nearest.found);
    return pawl_error_set(err, PAWL_FAILED, 0, 0, "nothing is stored for group '%s' in %s", group,
                          pawl_store_url(store));
}

pawl_status
pawl__moves_add_stored(GArray *moves, pawl_store *store, const char *group, pawl_error *err)
{
    pawl_status status = pawl_store_list(store, group, add_stored, moves, err);

    if (status == PAWL_OK && moves->len == 0)
        status = unknown_group(store, group, err);
    return status;
}

static bool
note_stored(void *user, const char *group, const pawl_partition *partition)
{
    pawl_partition copy = {g_intern_string(partition->topic), partition->number};

    (void) group;
    g_array_append_val((GArray *) user, copy);
    return true;
}

pawl_status
pawl__moves_expand_stored(GArray *moves, pawl_store *store, const char *group, pawl_error *err)
{
    GArray *expanded = pawl__moves_new(), *stored = g_array_new(FALSE, FALSE, sizeof(pawl_partition));
    pawl_status status = pawl_store_list(store, group, note_stored, stored, err);

    if (status == PAWL_OK && stored->len == 0)
        status = unknown_group(store, group, err);
    for (size_t i = 0; status == PAWL_OK && i < moves->len; i++) {
        const pawl_move *move = pawl__moves_at(moves, i);

        if (count_of(stored, move->partition.topic) == 0)
            status = pawl_error_set(err, PAWL_FAILED, 0, 0, "nothing is stored for topic '%s' of group '%s' in %s",
                                    move->partition.topic, group, pawl_store_url(store));
        expand(expanded, move, stored);
    }
    if (status == PAWL_OK)
        replace(moves, expanded);
    g_array_unref(stored);
    g_array_unref(expanded);
    return status;
}

pawl_status
pawl__moves_load(GArray *moves, pawl_store *store, const char *group, pawl_group_info *ret_info, pawl_error *err)
{
    pawl_partition *partitions = g_new0(pawl_partition, moves->len);
    pawl_entry *entries = g_new0(pawl_entry, moves->len);
    pawl_status status;

    for (size_t i = 0; i < moves->len; i++)
        partitions[i] = pawl__moves_at(moves, i)->partition;
    status = pawl_store_load(store, group, partitions, moves->len, entries, ret_info, err);
    for (size_t i = 0; status == PAWL_OK && i < moves->len; i++) {
        pawl__moves_at(moves, i)->entry = entries[i];
        pawl__moves_at(moves, i)->entry.partition = pawl__moves_at(moves, i)->partition;
    }
    g_free(entries);
    g_free(partitions);
    return status;
}

char *
pawl__owner_text(const pawl_owner *owner)
{
    if (owner->host[0] == '\0')
        return NULL;
    return g_strdup_printf("%s (pid %" PRId64 " on %s)", owner->client_id, owner->pid, owner->host);
}

/* ------------------------------------------------------------------------------------------------- what the log has -- */

static pawl_status
check_exists(const GArray *found, pawl_partition partition, pawl_error *err)
{
    size_t count = count_of(found, partition.topic);

    if (count == 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "topic '%s' does not exist, or may not be seen",
                              partition.topic);
    if (partition.number == PAWL__ALL_PARTITIONS ||
        g_array_binary_search((GArray *) found, &partition, pawl__partition_compare, NULL))
        return PAWL_OK;
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "partition %d of '%s' does not exist: it has %zu, counted from 0",
                          (int) partition.number, partition.topic, count);
}

pawl_status
pawl__moves_discover(GArray *moves, pawl_cluster *cluster, pawl_error *err)
{
    GArray *expanded = pawl__moves_new(), *found = NULL;
    pawl_status status = pawl__cluster_discover(cluster, &found, err);

    for (size_t i = 0; status == PAWL_OK && i < moves->len; i++) {
        const pawl_move *move = pawl__moves_at(moves, i);

        status = check_exists(found, move->partition, err);
        if (status == PAWL_OK)
            expand(expanded, move, found);
    }
    if (status == PAWL_OK) {
        replace(moves, expanded);
        status = pawl__moves_sort(moves, err);
    }
    if (found != NULL)
        g_array_unref(found);
    g_array_unref(expanded);
    return status;
}

/* Asks about those that exist. To look for them first tells a topic that is gone from one that may not be seen. */
static pawl_status
ask_bounds(GArray *moves, const GArray *found, pawl_cluster *cluster, pawl_error *err)
{
    pawl_bounds_line *lines = g_new0(pawl_bounds_line, moves->len);
    pawl_status status = PAWL_OK;
    size_t count = 0, next = 0;

    for (size_t i = 0; i < moves->len; i++) {
        pawl_move *move = pawl__moves_at(moves, i);
        bool exists = g_array_binary_search((GArray *) found, &move->partition, pawl__partition_compare, NULL);

        move->asked = exists ? PAWL_OK : PAWL_FAILED;
        if (exists)
            lines[count++].partition = move->partition;
    }
    if (count > 0)
        status = cluster->source->bounds(cluster->self, pawl__cluster_deadline(cluster), lines, count, err);
    for (size_t i = 0; status == PAWL_OK && i < moves->len; i++) {
        pawl_move *move = pawl__moves_at(moves, i);
        const pawl_bounds_line *line = move->asked == PAWL_OK ? &lines[next++] : NULL;

        move->asked = line != NULL ? line->ret_status : move->asked;
        move->low = move->asked == PAWL_OK ? pawl_position_at(line->ret_low) : pawl_position_absent();
        move->high = move->asked == PAWL_OK ? pawl_position_at(line->ret_high) : pawl_position_absent();
    }
    g_free(lines);
    return status;
}

pawl_status
pawl__moves_bound(GArray *moves, pawl_cluster *cluster, pawl_error *err)
{
    GArray *found = NULL;
    pawl_status status = pawl__cluster_discover(cluster, &found, err);

    if (status != PAWL_OK)
        return status;
    status = ask_bounds(moves, found, cluster, err);
    g_array_unref(found);
    return status;
}

bool
pawl__move_is_missing(const pawl_move *move)
{
    return move->asked == PAWL_FAILED;
}

pawl_status
pawl__moves_need_bounds(const GArray *moves, pawl_error *err)
{
    for (size_t i = 0; i < moves->len; i++) {
        const pawl_move *move = pawl__moves_at(moves, i);

        if (pawl__move_is_missing(move))
            return pawl_error_set(err, PAWL_INVALID, 0, 0, "partition %d of '%s' does not exist",
                                  (int) move->partition.number, move->partition.topic);
        if (move->asked != PAWL_OK)
            return pawl_error_set(err, move->asked, PAWL_ERROR_RETRIABLE, 0,
                                  "where the log of partition %d of '%s' begins and ends is not known, its broker does "
                                  "not answer",
                                  (int) move->partition.number, move->partition.topic);
    }
    return PAWL_OK;
}
