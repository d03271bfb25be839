/*
 * cmd_stores.c - pawl stores: which stores there are, what each can do, and the options of one
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

static const pawl_column option_columns[] = {
    {"OPTION", "name", PAWL_COLUMN_TEXT},
    {"DEFAULT", "default", PAWL_COLUMN_TEXT},
    {"WHAT IT DOES", "summary", PAWL_COLUMN_TEXT},
    {0},
};

/* What may stand in the query of a store's URL. */
static pawl_status
add_options(pawl_table *table, const char *scheme, pawl_error *err)
{
    const pawl_store_backend *backend;
    pawl_status status = pawl_registry_find_store(scheme, &backend, err);

    if (status != PAWL_OK)
        return status;
    for (const pawl_store_option *option = backend->options; option != NULL && option->name != NULL; option++) {
        pawl__table_row(table);
        pawl__table_text(table, option->name);
        pawl__table_text(table, option->fallback);
        pawl__table_text(table, option->summary);
    }
    return PAWL_OK;
}

static void
print_table(const pawl_table *table, bool as_json)
{
    yajl_gen json;

    if (!as_json) {
        pawl__table_print(table);
        return;
    }
    json = pawl__json_begin(stdout);
    pawl__table_to_json(table, json);
    pawl__json_end(json);
}

static pawl_status
run(const pawl_invocation *call, pawl_error *err)
{
    const stores_values *values = call->values;
    const pawl_log log = {PAWL_LOG_WARN, pawl_log_to_stdio, stderr};
    bool one = call->operand_count > 0;
    pawl_table *table = pawl__table_new(one ? option_columns : columns);
    pawl_status status = PAWL_OK;

    if (one)
        status = add_options(table, call->operands[0], err);
    else
        pawl_registry_list_stores(add_store, table, &log);
    if (status == PAWL_OK)
        print_table(table, values->json);
    pawl__table_free(table);
    return status;
}

const pawl_command pawl__cmd_stores = {
    .name = "stores",
    .summary = "lists the stores that are installed, and what each can do",
    .operands = "[STORE]",
    .max_operands = 1,
    .details =
        "atomic: a save is all or nothing. cas-epoch: an owner who was replaced is refused. cas-offset: a save that "
        "expects another offset is refused. plan: planned ranges are kept (replay = exact). transaction: results can "
        "go into the transaction that saves the offsets. list: groups and partitions can be listed.\n"
        "With the name of a store: the options that may stand in the query of its URL, as in "
        "sqlite:offsets.db?create=no.",
    .options = options,
    .values_size = sizeof(stores_values),
    .run = run,
};
