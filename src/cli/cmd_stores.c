/*
 * cmd_stores.c - pawl stores: which stores there are, and what each can do
 */
#include "cli/commands.h"

#include <stdio.h>

#include <pawl/sys/registry.h>

#include "cli/table.h"

typedef struct stores_values {
    bool json;
} stores_values;

static const pawl_option json_option = {
    .name = "json",
    .kind = PAWL_OPTION_FLAG,
    .summary = "Prints JSON.",
    .field = offsetof(stores_values, json),
};

static const pawl_option *const options[] = {&json_option, NULL};

static const struct {
    const char *name;
    unsigned bit;
} capabilities[] = {
    {"atomic", PAWL_STORE_ATOMIC}, {"cas-epoch", PAWL_STORE_CAS_EPOCH},     {"cas-offset", PAWL_STORE_CAS_OFFSET},
    {"plan", PAWL_STORE_PLAN},     {"transaction", PAWL_STORE_TRANSACTION}, {"list", PAWL_STORE_LIST},
};

/* For people one column holds them all; in JSON each is a member. */
static const pawl_column columns[] = {
    {"STORE", "scheme", PAWL_COLUMN_TEXT},       {"CAN", NULL, PAWL_COLUMN_TEXT},
    {NULL, "atomic", PAWL_COLUMN_BOOL},          {NULL, "cas_epoch", PAWL_COLUMN_BOOL},
    {NULL, "cas_offset", PAWL_COLUMN_BOOL},      {NULL, "plan", PAWL_COLUMN_BOOL},
    {NULL, "transaction", PAWL_COLUMN_BOOL},     {NULL, "list", PAWL_COLUMN_BOOL},
    {"WHAT IT IS", "summary", PAWL_COLUMN_TEXT}, {0},
};

static bool
add_store(void *user, const pawl_store_backend *backend)
{
    pawl_table *table = user;
    GString *names = g_string_new(NULL);

    for (size_t i = 0; i < G_N_ELEMENTS(capabilities); i++)
        if ((backend->capabilities & capabilities[i].bit) != 0)
            g_string_append_printf(names, "%s%s", names->len > 0 ? " " : "", capabilities[i].name);
    pawl__table_row(table);
    pawl__table_text(table, backend->scheme);
    pawl__table_text(table, names->str);
    for (size_t i = 0; i < G_N_ELEMENTS(capabilities); i++)
        pawl__table_bool(table, (backend->capabilities & capabilities[i].bit) != 0);
    pawl__table_text(table, backend->summary);
    g_string_free(names, TRUE);
    return true;
}

static pawl_status
run(const pawl_invocation *call, pawl_error *err)
{
    const stores_values *values = call->values;
    const pawl_log log = {PAWL_LOG_WARN, pawl_log_to_stdio, stderr};
    pawl_table *table = pawl__table_new(columns);

    (void) err;
    pawl_registry_list_stores(add_store, table, &log);
    if (values->json) {
        yajl_gen json = pawl__json_begin(stdout);

        pawl__table_to_json(table, json);
        pawl__json_end(json);
    } else {
        pawl__table_print(table);
    }
    pawl__table_free(table);
    return PAWL_OK;
}

const pawl_command pawl__cmd_stores = {
    .name = "stores",
    .summary = "lists the stores that are installed, and what each can do",
    .details =
        "atomic: a save is all or nothing. cas-epoch: an owner who was replaced is refused. cas-offset: a save that "
        "expects another offset is refused. plan: planned ranges are kept (replay = exact). transaction: results can "
        "go into the transaction that saves the offsets. list: groups and partitions can be listed.",
    .options = options,
    .values_size = sizeof(stores_values),
    .run = run,
};
