/*
 * cmd_lag.c - pawl lag: how far a group is behind
 *
 * The ends are asked for after the offsets were read, so a job that runs can only make the lag look greater than it is,
 * and never negative.
 */
#include "cli/commands.h"

#include <string.h>

#include "cli/moves.h"
#include "cli/specs.h"
#include "cli/table.h"
#include "util/clock.h"
#include "util/partition.h"
#include "util/text.h"

static const pawl_option *const options[] = {
    &pawl__option_store,     &pawl__option_group,   &pawl__option_brokers, &pawl__option_kafka,
    &pawl__option_isolation, &pawl__option_timeout, &pawl__option_json,    NULL,
};

static const pawl_column columns[] = {
    {"TOPIC", "topic", PAWL_COLUMN_TEXT},
    {"PARTITION", "partition", PAWL_COLUMN_NUMBER},
    {"STORED", "stored", PAWL_COLUMN_NUMBER},
    {"END", "end", PAWL_COLUMN_NUMBER},
    {"LAG", "lag", PAWL_COLUMN_NUMBER},
    {"ALARM", NULL, PAWL_COLUMN_TEXT},
    {NULL, "stored_past_end", PAWL_COLUMN_BOOL},
    {"OWNER", "owner", PAWL_COLUMN_TEXT},
    {"AGE", NULL, PAWL_COLUMN_TEXT},
    {NULL, "owner_age_ms", PAWL_COLUMN_NUMBER},
    {0},
};

struct lag {
    const pawl_places *places;
    GArray *moves;
    int64_t total;
    size_t known;   /* partitions whose lag is part of the total */
    size_t unknown; /* those whose broker did not answer */
};

/* --------------------------------------------------------------------------------------------------------- asking -- */

static bool
is_listed(const GArray *moves, pawl_partition partition)
{
    for (size_t i = 0; i < moves->len; i++)
        if (pawl__partition_compare(pawl__moves_at(moves, i), &partition) == 0)
            return true;
    return false;
}

/* Partitions of the group's topics for which nothing is stored yet have a place in the list, too. */
static pawl_status
add_others(struct lag *lag, pawl_cluster *cluster, pawl_error *err)
{
    GArray *found = NULL;
    pawl_status status = pawl__cluster_discover(cluster, &found, err);

    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < found->len; i++) {
        pawl_partition partition = g_array_index(found, pawl_partition, i);

        if (!is_listed(lag->moves, partition))
            pawl__moves_add(lag->moves, partition, pawl_position_absent());
    }
    g_array_unref(found);
    return pawl__moves_sort(lag->moves, err);
}

/* Where this is not told, the end for committed records says nothing either: the offset may lie past both. */
static void
take_log_end(pawl_move *move, const pawl_bounds_line *line)
{
    move->asked = line->ret_status;
    if (line->ret_status == PAWL_OK)
        move->log_end = pawl_position_at(line->ret_high);
    else
        move->high = pawl_position_absent();
}

/* Transactions that are open end a log early, for those who read committed records. An offset beyond them is no alarm. */
static pawl_status
look_beyond(struct lag *lag, pawl_cluster *cluster, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    for (size_t i = 0; status == PAWL_OK && i < lag->moves->len; i++) {
        pawl_move *move = pawl__moves_at(lag->moves, i);
        pawl_bounds_line line = {.partition = move->partition};

        if (!move->entry.offset.known || !move->high.known || move->entry.offset.offset <= move->high.offset)
            continue;
        status = cluster->source->log_end(cluster->self, pawl__cluster_deadline(cluster), &line, 1, err);
        if (status == PAWL_OK)
            take_log_end(move, &line);
    }
    return status;
}

static pawl_status
ask_brokers(struct lag *lag, pawl_error *err)
{
    const char **topics = pawl__moves_topics(lag->moves);
    pawl_cluster cluster = {NULL};
    pawl_status status = pawl__cluster_open(lag->places, topics, &cluster, err);

    if (status == PAWL_OK)
        status = add_others(lag, &cluster, err);
    if (status == PAWL_OK)
        status = pawl__moves_bound(lag->moves, &cluster, err);
    if (status == PAWL_OK)
        status = look_beyond(lag, &cluster, err);
    pawl__cluster_close(&cluster);
    g_free(topics);
    return status;
}

static pawl_status
read_store(struct lag *lag, pawl_error *err)
{
    pawl_store *store = NULL;
    pawl_status status = pawl__places_open_store(lag->places, true, &store, err);

    if (status == PAWL_OK)
        status = pawl__moves_add_stored(lag->moves, store, lag->places->group, err);
    if (status == PAWL_OK)
        status = pawl__moves_load(lag->moves, store, lag->places->group, NULL, err);
    pawl_store_close(store);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- showing -- */

static bool
is_past_end(const pawl_move *move)
{
    return move->entry.offset.known && move->log_end.known && move->entry.offset.offset > move->log_end.offset;
}

static void
add_lag(struct lag *lag, pawl_table *table, const pawl_move *move)
{
    int64_t behind;

    if (move->asked != PAWL_OK && !pawl__move_is_missing(move))
        lag->unknown++;
    if (!move->entry.offset.known || !move->high.known) {
        pawl__table_text(table, NULL);
        return;
    }
    behind = MAX(0, move->high.offset - move->entry.offset.offset);
    lag->total += behind;
    lag->known++;
    pawl__table_number(table, behind);
}

static void
add_alarm(pawl_table *table, const pawl_move *move)
{
    if (pawl__move_is_missing(move))
        pawl__table_text(table, "NO SUCH PARTITION");
    else if (move->asked != PAWL_OK)
        pawl__table_text(table, "NO ANSWER");
    else
        pawl__table_text(table, is_past_end(move) ? "STORED > END" : "");
    if (move->entry.offset.known && move->high.known)
        pawl__table_bool(table, is_past_end(move));
    else
        pawl__table_text(table, NULL);
}

static void
add_owner(pawl_table *table, const pawl_owner *owner)
{
    char *name = pawl__owner_text(owner), age[PAWL__DURATION_TEXT_SIZE];
    int64_t age_ms = MAX(0, pawl__clock_wall_ms() - owner->renewed_ms);

    pawl__table_text(table, name);
    if (name != NULL) {
        pawl__table_text(table, pawl__text_from_duration(age_ms < 10000 ? age_ms : age_ms / 1000 * 1000, age));
        pawl__table_number(table, age_ms);
    }
    g_free(name);
}

static pawl_table *
make_table(struct lag *lag)
{
    pawl_table *table = pawl__table_new(columns);

    for (size_t i = 0; i < lag->moves->len; i++) {
        const pawl_move *move = pawl__moves_at(lag->moves, i);

        pawl__table_row(table);
        pawl__table_text(table, move->partition.topic);
        pawl__table_number(table, move->partition.number);
        pawl__table_position(table, move->entry.offset);
        pawl__table_position(table, move->high);
        add_lag(lag, table, move);
        add_alarm(table, move);
        add_owner(table, &move->entry.owner);
    }
    return table;
}

static void
show(struct lag *lag)
{
    pawl_table *table = make_table(lag);
    yajl_gen json;

    if (!lag->places->json) {
        pawl__table_print(table);
        pawl__table_free(table);
        return;
    }
    json = pawl__json_begin(stdout);
    yajl_gen_map_open(json);
    pawl__json_text(json, "group", lag->places->group);
    if (lag->known == lag->moves->len)
        pawl__json_number(json, "lag", lag->total);
    else
        pawl__json_text(json, "lag", NULL);
    pawl__json_key(json, "partitions");
    pawl__table_to_json(table, json);
    yajl_gen_map_close(json);
    pawl__json_end(json);
    pawl__table_free(table);
}

static pawl_status
run(const pawl_invocation *call, pawl_error *err)
{
    struct lag lag = {.places = call->values, .moves = pawl__moves_new()};
    pawl_status status = read_store(&lag, err);

    if (status == PAWL_OK)
        status = ask_brokers(&lag, err);
    if (status == PAWL_OK)
        show(&lag);
    if (status == PAWL_OK && lag.unknown > 0)
        status = pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, 0,
                                "the ends of %zu partitions are not known: their brokers do not answer", lag.unknown);
    g_array_unref(lag.moves);
    return status;
}

const pawl_command pawl__cmd_lag = {
    .name = "lag",
    .summary = "shows how many offsets a group is behind, and who works on them",
    .details =
        "The end of a log is asked for after the offset was read, and the lag is what lies between, never less "
        "than 0. An offset that lies past the end of its log has an alarm: records were lost, or it belongs to "
        "another cluster. What is not known is shown as -, and not as 0. The age is the time since the owner "
        "has last renewed its entry. An alarm says STORED > END, NO SUCH PARTITION or NO ANSWER; only the last one "
        "changes the exit status, to 5, so that a check looks at stored_past_end in --json.",
    .options = options,
    .values_size = sizeof(pawl_places),
    .run = run,
};
