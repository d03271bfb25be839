/*
 * cmd_offsets_show.c - pawl offsets show: everything that is stored
 */
#include "cli/commands.h"

#include "cli/moves.h"
#include "cli/table.h"
#include "util/text.h"

static const pawl_option *const options[] = {
    &pawl__option_store,     &pawl__option_any_group, &pawl__option_any_brokers, &pawl__option_kafka,
    &pawl__option_isolation, &pawl__option_timeout,   &pawl__option_json,        NULL,
};

static const pawl_column group_columns[] = {{"GROUP", "group", PAWL_COLUMN_TEXT}, {0}};

static const pawl_column columns[] = {
    {"TOPIC", "topic", PAWL_COLUMN_TEXT},     {"PARTITION", "partition", PAWL_COLUMN_NUMBER},
    {"OFFSET", "offset", PAWL_COLUMN_NUMBER}, {"PENDING", "pending", PAWL_COLUMN_NUMBER},
    {"LOW", "low", PAWL_COLUMN_NUMBER},       {"HIGH", "high", PAWL_COLUMN_NUMBER},
    {"BATCH", "batch", PAWL_COLUMN_NUMBER},   {"EPOCH", "epoch", PAWL_COLUMN_NUMBER},
    {"OWNER", "owner", PAWL_COLUMN_TEXT},     {"RENEWED", "renewed", PAWL_COLUMN_TEXT},
    {NULL, "renewed_ms", PAWL_COLUMN_NUMBER}, {NULL, "print", PAWL_COLUMN_TEXT},
    {NULL, "place", PAWL_COLUMN_TEXT},        {0},
};

static bool
add_group(void *user, const char *group, const pawl_partition *partition)
{
    (void) partition;
    pawl__table_row(user);
    pawl__table_text(user, group);
    return true;
}

static void
add_owner(pawl_table *table, const pawl_owner *owner)
{
    char *name = pawl__owner_text(owner), time[PAWL__TIME_TEXT_SIZE];

    pawl__table_text(table, name);
    if (name != NULL) {
        pawl__table_text(table, pawl__text_from_time(owner->renewed_ms, time));
        pawl__table_number(table, owner->renewed_ms);
    } else {
        pawl__table_text(table, NULL);
        pawl__table_text(table, NULL);
    }
    g_free(name);
}

static void
add_move(pawl_table *table, pawl_store *store, const char *group, const pawl_move *move)
{
    char place[PAWL_ERROR_MESSAGE_SIZE];

    pawl__table_row(table);
    pawl__table_text(table, move->partition.topic);
    pawl__table_number(table, move->partition.number);
    pawl__table_position(table, move->entry.offset);
    pawl__table_position(table, move->entry.pending);
    pawl__table_position(table, move->low);
    pawl__table_position(table, move->high);
    pawl__table_number(table, move->entry.batch);
    pawl__table_number(table, move->entry.epoch);
    add_owner(table, &move->entry.owner);
    pawl__table_text(table, move->entry.print[0] != '\0' ? move->entry.print : NULL);
    pawl__table_text(table, pawl_store_place(store, group, move->partition, place, sizeof place));
}

static pawl_status
ask_brokers(const pawl_places *places, GArray *moves, pawl_error *err)
{
    const char **topics = pawl__moves_topics(moves);
    pawl_cluster cluster = {NULL};
    pawl_status status = pawl__cluster_open(places, topics, &cluster, err);

    if (status == PAWL_OK)
        status = pawl__moves_bound(moves, &cluster, err);
    pawl__cluster_close(&cluster);
    g_free(topics);
    return status;
}

static void
print_offsets(const pawl_places *places, const pawl_group_info *info, const pawl_table *table)
{
    yajl_gen json;

    if (!places->json) {
        pawl__table_print(table);
        return;
    }
    json = pawl__json_begin(stdout);
    yajl_gen_map_open(json);
    pawl__json_text(json, "group", places->group);
    pawl__json_text(json, "cluster", info->cluster[0] != '\0' ? info->cluster : NULL);
    pawl__json_key(json, "partitions");
    pawl__table_to_json(table, json);
    yajl_gen_map_close(json);
    pawl__json_end(json);
}

static pawl_status
show_group(const pawl_places *places, pawl_store *store, pawl_error *err)
{
    pawl_table *table = pawl__table_new(columns);
    GArray *moves = pawl__moves_new();
    pawl_group_info info = {.cluster = ""};
    pawl_status status = pawl__moves_add_stored(moves, store, places->group, err);

    if (status == PAWL_OK)
        status = pawl__moves_load(moves, store, places->group, &info, err);
    if (status == PAWL_OK && places->brokers != NULL)
        status = ask_brokers(places, moves, err);
    for (size_t i = 0; status == PAWL_OK && i < moves->len; i++)
        add_move(table, store, places->group, pawl__moves_at(moves, i));
    if (status == PAWL_OK)
        print_offsets(places, &info, table);
    g_array_unref(moves);
    pawl__table_free(table);
    return status;
}

static pawl_status
show_groups(const pawl_places *places, pawl_store *store, pawl_error *err)
{
    pawl_table *table = pawl__table_new(group_columns);
    pawl_status status = pawl_store_list(store, NULL, add_group, table, err);

    if (status == PAWL_OK && places->json) {
        yajl_gen json = pawl__json_begin(stdout);

        pawl__table_to_json(table, json);
        pawl__json_end(json);
    } else if (status == PAWL_OK) {
        pawl__table_print(table);
    }
    pawl__table_free(table);
    return status;
}

static pawl_status
run(const pawl_invocation *call, pawl_error *err)
{
    const pawl_places *places = call->values;
    pawl_store *store = NULL;
    pawl_status status = pawl__places_open_store(places, true, &store, err);

    if (status == PAWL_OK)
        status = places->group != NULL ? show_group(places, store, err) : show_groups(places, store, err);
    pawl_store_close(store);
    return status;
}

const pawl_command pawl__cmd_offsets_show = {
    .name = "show",
    .summary = "shows everything that is stored for a group",
    .options = options,
    .values_size = sizeof(pawl_places),
    .run = run,
};
