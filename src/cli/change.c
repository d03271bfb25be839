/*
 * change.c - changing stored offsets by hand
 */
#include "cli/change.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/specs.h"
#include "cli/table.h"
#include "util/partition.h"
#include "util/text.h"

/* How often the epochs may change under our hands before somebody is taken to fight for them. */
#define EXECUTE_ATTEMPTS 5

static const pawl_column columns[] = {
    {"TOPIC", "topic", PAWL_COLUMN_TEXT}, {"PARTITION", "partition", PAWL_COLUMN_NUMBER},
    {"FROM", "from", PAWL_COLUMN_NUMBER}, {"TO", "to", PAWL_COLUMN_NUMBER},
    {"LOW", "low", PAWL_COLUMN_NUMBER},   {"HIGH", "high", PAWL_COLUMN_NUMBER},
    {"LAG", "lag", PAWL_COLUMN_NUMBER},   {"OWNER", "owner", PAWL_COLUMN_TEXT},
    {"NOTE", "note", PAWL_COLUMN_TEXT},   {0},
};

pawl_change
pawl__change_begin(const pawl_invocation *call)
{
    return (pawl_change){.call = call, .places = call->values, .moves = pawl__moves_new(), .time_ms = -1};
}

void
pawl__change_done(pawl_change *change)
{
    g_array_unref(change->moves);
    change->moves = NULL;
}

pawl_status
pawl__change_select(pawl_change *change, pawl_error *err)
{
    const GPtrArray *topics = change->places->topics;
    GArray *partitions = g_array_new(FALSE, FALSE, sizeof(pawl_partition));
    pawl_status status = PAWL_OK;

    if ((topics->len > 0) == change->places->all_topics)
        status = pawl_error_set(err, PAWL_INVALID, 0, 0, "either --topic or --all-topics is needed");
    for (guint i = 0; status == PAWL_OK && i < topics->len; i++) {
        status = pawl__spec_topic(g_ptr_array_index(topics, i), partitions, err);
        if (status != PAWL_OK)
            pawl_error_prefix(err, "--topic");
    }
    for (guint i = 0; i < partitions->len; i++)
        pawl__moves_add(change->moves, g_array_index(partitions, pawl_partition, i), pawl_position_absent());
    change->all_stored = change->places->all_topics;
    g_array_unref(partitions);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- looking -- */

/* For how many there was an offset. */
static size_t
count_stored(const GArray *moves)
{
    size_t count = 0;

    for (size_t i = 0; i < moves->len; i++)
        if (pawl__moves_at(moves, i)->entry.offset.known)
            count++;
    return count;
}

/* The cluster's id outlives the offsets: without any it says nothing. */
static pawl_status
check_cluster(const pawl_change *change, const char *stored, const char *here, pawl_error *err)
{
    bool has_offsets = change->has_others || count_stored(change->moves) > 0;
    const char *other = NULL;

    if (change->places->force || here[0] == '\0')
        return PAWL_OK;
    if (has_offsets && stored[0] != '\0' && strcmp(stored, here) != 0)
        other = stored;
    else if (change->from_cluster != NULL && strcmp(change->from_cluster, here) != 0)
        other = change->from_cluster;
    if (other == NULL)
        return PAWL_OK;
    return pawl_error_set(err, PAWL_INVALID, 0, 0,
                          "the offsets belong to the Kafka cluster %s, and these brokers are %s, where they mean "
                          "nothing; --force insists",
                          other, here);
}

/* Loads, and notes who the owners are as long as it is not us. */
static pawl_status
load(pawl_change *change, pawl_store *store, pawl_group_info *ret_info, pawl_error *err)
{
    pawl_status status = pawl__moves_load(change->moves, store, change->places->group, ret_info, err);

    for (size_t i = 0; status == PAWL_OK && i < change->moves->len; i++)
        pawl__moves_at(change->moves, i)->owner = pawl__moves_at(change->moves, i)->entry.owner;
    return status;
}

static pawl_status
resolve_all(pawl_change *change, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    for (size_t i = 0; status == PAWL_OK && i < change->moves->len; i++)
        status = change->resolve(change, pawl__moves_at(change->moves, i), err);
    return status;
}

/* Asks about times and bounds. Where offsets are only forgotten this is for show, and nobody has to answer. */
static pawl_status
ask_brokers(pawl_change *change, pawl_cluster *cluster, pawl_error *err)
{
    pawl_error ignored;
    pawl_status status = PAWL_OK;

    if (change->removes) {
        pawl__moves_bound(change->moves, cluster, &ignored);
        return PAWL_OK;
    }
    if (change->ask != NULL)
        status = change->ask(change, cluster, err);
    if (status == PAWL_OK)
        status = pawl__moves_bound(change->moves, cluster, err);
    if (status == PAWL_OK)
        status = pawl__moves_need_bounds(change->moves, err);
    return status;
}

/* Where each move goes, by what is loaded of it and by what the brokers say now. */
static pawl_status
work_out(pawl_change *change, pawl_cluster *cluster, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    if (change->places->brokers != NULL)
        status = ask_brokers(change, cluster, err);
    if (status == PAWL_OK)
        status = resolve_all(change, err);
    return status;
}

/* Connects to the brokers, and asks which partitions there are. */
static pawl_status
open_cluster(pawl_change *change, pawl_cluster *ret_cluster, pawl_error *err)
{
    const char **topics = pawl__moves_topics(change->moves);
    pawl_status status = pawl__cluster_open(change->places, topics, ret_cluster, err);

    if (status == PAWL_OK && !change->removes)
        status = pawl__moves_discover(change->moves, ret_cluster, err);
    g_free(topics);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- showing -- */

/* What there will be to read after the move. */
static void
add_lag(pawl_table *table, const pawl_move *move)
{
    if (move->high.known && move->to.known)
        pawl__table_number(table, MAX(0, move->high.offset - move->to.offset));
    else
        pawl__table_text(table, NULL);
}

static pawl_table *
make_table(const pawl_change *change)
{
    pawl_table *table = pawl__table_new(columns);

    for (size_t i = 0; i < change->moves->len; i++) {
        const pawl_move *move = pawl__moves_at(change->moves, i);
        char *owner = pawl__owner_text(&move->owner);

        pawl__table_row(table);
        pawl__table_text(table, move->partition.topic);
        pawl__table_number(table, move->partition.number);
        pawl__table_position(table, move->entry.offset);
        pawl__table_position(table, move->to);
        pawl__table_position(table, move->low);
        pawl__table_position(table, move->high);
        add_lag(table, move);
        pawl__table_text(table, owner);
        pawl__table_text(table, move->note);
        g_free(owner);
    }
    return table;
}

static void
show_json(const pawl_change *change, const pawl_table *table)
{
    char time[PAWL__TIME_TEXT_SIZE];
    yajl_gen json = pawl__json_begin(stdout);

    yajl_gen_map_open(json);
    pawl__json_text(json, "command", change->call->command->name);
    pawl__json_text(json, "group", change->places->group);
    pawl__json_bool(json, "executed", change->places->execute);
    if (change->time_ms >= 0) {
        pawl__json_text(json, "time", pawl__text_from_time(change->time_ms, time));
        pawl__json_number(json, "time_ms", change->time_ms);
    }
    pawl__json_key(json, "partitions");
    pawl__table_to_json(table, json);
    yajl_gen_map_close(json);
    pawl__json_end(json);
}

static void
show_text(const pawl_change *change, const pawl_table *table)
{
    char time[PAWL__TIME_TEXT_SIZE];

    if (change->time_ms >= 0)
        printf("the first records at or after %s (%" PRId64 ")\n", pawl__text_from_time(change->time_ms, time),
               change->time_ms);
    pawl__table_print(table);
    if (change->is_new_group)
        printf("Nothing was stored for group '%s' before.\n", change->places->group);
}

static bool
is_owned(const pawl_change *change)
{
    for (size_t i = 0; i < change->moves->len; i++)
        if (pawl__moves_at(change->moves, i)->owner.host[0] != '\0')
            return true;
    return false;
}

static void
show_dry_run(const pawl_change *change)
{
    pawl_table *table = make_table(change);

    if (change->places->json) {
        show_json(change, table);
    } else {
        show_text(change, table);
        if (is_owned(change))
            puts("There is an owner: it will be fenced off when it saves next.");
        puts("Nothing was changed: --execute does it.");
    }
    pawl__table_free(table);
}

static void
show_done(const pawl_change *change, const pawl_table *table)
{
    if (change->places->json)
        show_json(change, table);
    else if (change->removes)
        printf("Removed: %zu.\n", count_stored(change->moves));
    else
        printf("Saved: %u.\n", change->moves->len);
}

/* ------------------------------------------------------------------------------------------------------- writing -- */

/* Who did it, for the job that is fenced off by it. */
static pawl_owner
owner_of(const pawl_change *change)
{
    pawl_owner owner = {.pid = getpid()};

    g_strlcpy(owner.host, g_get_host_name(), sizeof owner.host);
    g_snprintf(owner.client_id, sizeof owner.client_id, "%s (by %s)", change->call->name, g_get_user_name());
    return owner;
}

static pawl_status
acquire(const pawl_change *change, pawl_store *store, const char *cluster_id, pawl_acquire_line *lines, pawl_error *err)
{
    pawl_owner owner = owner_of(change);

    for (size_t i = 0; i < change->moves->len; i++)
        lines[i] = (pawl_acquire_line){.partition = pawl__moves_at(change->moves, i)->partition,
                                       .epoch_seen = pawl__moves_at(change->moves, i)->entry.epoch};
    return pawl_store_acquire(store, change->places->group, &owner, cluster_id, lines, change->moves->len, err);
}

static pawl_status
save(const pawl_change *change, pawl_store *store, const pawl_acquire_line *owned, pawl_error *err)
{
    pawl_save_line *lines = g_new0(pawl_save_line, change->moves->len);
    pawl_status status;

    for (size_t i = 0; i < change->moves->len; i++) {
        const pawl_move *move = pawl__moves_at(change->moves, i);

        lines[i] = (pawl_save_line){.partition = move->partition,
                                    .epoch = owned[i].ret_epoch,
                                    .expected = move->entry.offset,
                                    .until = move->to.offset};
    }
    status = pawl_store_save(store, change->places->group, lines, change->moves->len, err);
    g_free(lines);
    return status;
}

static pawl_status
forget(const pawl_change *change, pawl_store *store, const pawl_acquire_line *owned, pawl_error *err)
{
    pawl_remove_line *lines = g_new0(pawl_remove_line, change->moves->len);
    pawl_status status;

    for (size_t i = 0; i < change->moves->len; i++)
        lines[i] = (pawl_remove_line){.partition = owned[i].partition,
                                      .epoch = owned[i].ret_epoch,
                                      .expected = pawl__moves_at(change->moves, i)->entry.offset};
    status = pawl_store_remove(store, change->places->group, lines, change->moves->len, err);
    g_free(lines);
    return status;
}

/* As the owner: what is stored now is replaced, and then shown. */
static pawl_status
write_as_owner(pawl_change *change, pawl_store *store, pawl_cluster *cluster, const pawl_acquire_line *owned,
               pawl_error *err)
{
    pawl_table *table;
    pawl_status status = pawl__moves_load(change->moves, store, change->places->group, NULL, err);

    if (status == PAWL_OK)
        status = work_out(change, cluster, err);
    if (status != PAWL_OK)
        return status;
    table = make_table(change);
    status = change->removes ? forget(change, store, owned, err) : save(change, store, owned, err);
    if (status == PAWL_OK && !change->places->json)
        show_text(change, table);
    if (status == PAWL_OK)
        show_done(change, table);
    pawl__table_free(table);
    return status;
}

static pawl_status
execute_once(pawl_change *change, pawl_store *store, pawl_cluster *cluster, pawl_error *err)
{
    pawl_acquire_line *lines = g_new0(pawl_acquire_line, change->moves->len);
    pawl_status status = acquire(change, store, cluster->id, lines, err), released;
    pawl_error late = {0};

    if (status == PAWL_OK) {
        status = write_as_owner(change, store, cluster, lines, err);
        released = pawl_store_release(store, change->places->group, lines, change->moves->len, &late);
        if (status == PAWL_OK && released != PAWL_OK)
            fprintf(stderr, "%s: it is done, but the partitions were not given back: %s\n", change->call->name,
                    late.message);
    }
    g_free(lines);
    return status;
}

/*
 * Whether somebody was quicker, and all of it may be done again. PAWL_STALE: before the acquire. PAWL_FENCED: before the
 * save, as a member of a group is that takes back at once what was taken from it. But it may also have come behind a save
 * whose answer was lost: then a move from where the offset stood would be made twice.
 */
static bool
may_be_repeated(const pawl_change *change, pawl_status status)
{
    return status == PAWL_STALE || (status == PAWL_FENCED && !change->is_relative);
}

static pawl_status
execute(pawl_change *change, pawl_store *store, pawl_cluster *cluster, pawl_error *err)
{
    pawl_status status = execute_once(change, store, cluster, err);

    for (int attempt = 1; may_be_repeated(change, status) && attempt < EXECUTE_ATTEMPTS; attempt++) {
        status = load(change, store, NULL, err);
        if (status == PAWL_OK)
            status = execute_once(change, store, cluster, err);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------- all of it -- */

static bool
note_partition(void *user, const char *group, const pawl_partition *partition)
{
    pawl_change *change = user;

    (void) group;
    change->is_new_group = false;
    change->has_others = !g_array_binary_search(change->moves, partition, pawl__partition_compare, NULL);
    return !change->has_others;
}

/* A mistyped group is a new one: that is worth a word. A store that cannot list does not know. */
static pawl_status
look_for_group(pawl_change *change, pawl_store *store, pawl_error *err)
{
    bool can_list = (pawl_store_capabilities(store) & PAWL_STORE_LIST) != 0;

    change->is_new_group = can_list;
    change->has_others = !can_list;
    return can_list ? pawl_store_list(store, change->places->group, note_partition, change, err) : PAWL_OK;
}

static pawl_status
prepare(pawl_change *change, pawl_store *store, pawl_cluster *ret_cluster, pawl_error *err)
{
    pawl_group_info info;
    pawl_status status = PAWL_OK;

    if (change->all_stored)
        status = pawl__moves_add_stored(change->moves, store, change->places->group, err);
    else if (change->removes)
        status = pawl__moves_expand_stored(change->moves, store, change->places->group, err);
    if (status == PAWL_OK)
        status = pawl__moves_sort(change->moves, err);
    if (status == PAWL_OK && change->places->brokers != NULL)
        status = open_cluster(change, ret_cluster, err);
    if (status == PAWL_OK)
        status = load(change, store, &info, err);
    if (status == PAWL_OK)
        status = look_for_group(change, store, err);
    if (status == PAWL_OK)
        status = check_cluster(change, info.cluster, ret_cluster->id, err);
    if (status == PAWL_OK)
        status = work_out(change, ret_cluster, err);
    return status;
}

pawl_status
pawl__change_run(pawl_change *change, pawl_error *err)
{
    pawl_cluster cluster = {NULL};
    pawl_store *store = NULL;
    pawl_status status = pawl__moves_sort(change->moves, err);

    if (status == PAWL_OK)
        status = pawl__places_open_store(change->places, !change->places->execute, &store, err);
    if (status == PAWL_OK)
        status = prepare(change, store, &cluster, err);
    if (status == PAWL_OK && change->places->execute)
        status = execute(change, store, &cluster, err);
    else if (status == PAWL_OK)
        show_dry_run(change);
    pawl__cluster_close(&cluster);
    pawl_store_close(store);
    return status;
}

/* The log has to hold the offset, unless --force was given. */
static pawl_status
check_bounds(const pawl_change *change, const pawl_move *move, int64_t offset, pawl_error *err)
{
    if (change->places->force || (offset >= move->low.offset && offset <= move->high.offset))
        return PAWL_OK;
    return pawl_error_set(err, PAWL_INVALID, 0, 0,
                          "partition %d of '%s' holds the offsets %" PRId64 " to %" PRId64 ", and not %" PRId64
                          "; nothing was written; --force insists",
                          (int) move->partition.number, move->partition.topic, move->low.offset, move->high.offset,
                          offset);
}

pawl_status
pawl__change_resolve_given(pawl_change *change, pawl_move *move, pawl_error *err)
{
    move->to = move->given;
    move->note = pawl_position_equal(move->to, move->entry.offset) ? "as it is" : NULL;
    return check_bounds(change, move, move->to.offset, err);
}
