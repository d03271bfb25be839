/*
 * table.c - is HBase's table there, and has it our family? Making it
 *
 * HBase changes a table that is there when it is told to make one, so this looks first. "No such table" is believed of a
 * gateway of HBase only: any web server answers 404.
 */
#include "backends/hbase/hbase_store.h"

#include <string.h>

#include <yajl/yajl_tree.h>

#define FIRST_PAUSE_MS   100
#define LONGEST_PAUSE_MS 2000

typedef enum finding { TABLE_MISSING, FAMILY_MISSING, ALL_THERE } finding;

static const char *
gateway(const pawl__hbase_store *store)
{
    return store->gateways[store->gateway];
}

pawl_status
pawl__hbase_table_missing(const pawl__hbase_store *store, pawl_error *err)
{
    return pawl_error_set(err, PAWL_FAILED, 0, 404,
                          "there is no table '%s' with a family '%s' at HBase's gateway %s any more", store->table,
                          store->family, gateway(store));
}

static pawl_status
no_gateway(const pawl__hbase_store *store, pawl_error *err)
{
    return pawl_error_set(err, PAWL_UNREACHABLE, 0, 0, "what answers at %s is no REST gateway of HBase",
                          gateway(store));
}

/* ------------------------------------------------------------------------------------------------------- looking -- */

static bool
is_object_with(yajl_val object, const char *name, yajl_type type)
{
    return yajl_tree_get(object, (const char *[]){name, NULL}, type) != NULL;
}

/* Whether {"ColumnSchema": [{"name": F, ...}, ...]} names our family. */
static bool
has_family(yajl_val schema, const char *family)
{
    yajl_val families = yajl_tree_get(schema, (const char *[]){"ColumnSchema", NULL}, yajl_t_array);

    for (size_t i = 0; families != NULL && i < families->u.array.len; i++) {
        yajl_val name = yajl_tree_get(families->u.array.values[i], (const char *[]){"name", NULL}, yajl_t_string);

        if (name != NULL && strcmp(name->u.string, family) == 0)
            return true;
    }
    return false;
}

/* The JSON at a path, which the caller frees; NULL where there is none. */
static pawl_status
get_json(pawl__hbase_store *store, int64_t deadline_ms, const char *path, long *ret_code, yajl_val *ret_json,
         pawl_error *err)
{
    pawl__hbase_answer answer;
    pawl_status status = pawl__hbase_ask(store, deadline_ms, path, NULL, &answer, err);
    char reason[8];

    if (status != PAWL_OK)
        return status;
    *ret_code = answer.code;
    *ret_json = answer.code == 200 ? yajl_tree_parse(answer.body->str, reason, sizeof reason) : NULL;
    g_string_free(answer.body, TRUE);
    return PAWL_OK;
}

/* {"REST": "0.0.3", ...} */
static pawl_status
check_gateway(pawl__hbase_store *store, int64_t deadline_ms, pawl_error *err)
{
    yajl_val version = NULL;
    long code;
    pawl_status status = get_json(store, deadline_ms, "version/rest", &code, &version, err);

    if (status == PAWL_OK && !is_object_with(version, "REST", yajl_t_string))
        status = no_gateway(store, err);
    yajl_tree_free(version);
    return status;
}

static pawl_status
look(pawl__hbase_store *store, int64_t deadline_ms, finding *ret_finding, pawl_error *err)
{
    char *path = g_strdup_printf("%s/schema", store->table);
    yajl_val schema = NULL;
    long code = 0;
    pawl_status status = get_json(store, deadline_ms, path, &code, &schema, err);

    if (status == PAWL_OK && is_object_with(schema, "ColumnSchema", yajl_t_array))
        *ret_finding = has_family(schema, store->family) ? ALL_THERE : FAMILY_MISSING;
    else if (status == PAWL_OK && code == 404)
        status = check_gateway(store, deadline_ms, err), *ret_finding = TABLE_MISSING;
    else if (status == PAWL_OK)
        status = no_gateway(store, err);
    yajl_tree_free(schema);
    g_free(path);
    return status;
}

/* A gateway whose HBase is just starting is asked again; one that is not there is not. */
static pawl_status
look_patiently(pawl__hbase_store *store, int64_t deadline_ms, finding *ret_finding, pawl_error *err)
{
    int64_t pause_ms = FIRST_PAUSE_MS;
    pawl_error said;

    for (;; pause_ms = MIN(2 * pause_ms, LONGEST_PAUSE_MS)) {
        pawl_status status = look(store, deadline_ms, ret_finding, &said);

        if (status == PAWL_UNREACHABLE && said.native_code >= 500)
            status = pawl__hbase_pause(store, pause_ms, deadline_ms, NULL);
        else if (status == PAWL_OK)
            return PAWL_OK;
        if (status != PAWL_OK) {
            if (err != NULL)
                *err = said;
            return said.status;
        }
    }
}

/* -------------------------------------------------------------------------------------------------------- making -- */

/* 304: somebody else was faster. */
static pawl_status
make(pawl__hbase_store *store, int64_t deadline_ms, pawl_error *err)
{
    char *path = g_strdup_printf("%s/schema", store->table);
    GString *schema = g_string_new(NULL);
    pawl__hbase_answer answer;
    pawl_status status;

    g_string_printf(schema, "{\"name\":\"%s\",\"ColumnSchema\":[{\"name\":\"%s\"}]}", store->table, store->family);
    status = pawl__hbase_ask(store, deadline_ms, path, schema, &answer, err);
    g_string_free(schema, TRUE);
    g_free(path);
    if (status == PAWL_OUTCOME_UNKNOWN) /* looking tells */
        return PAWL_OK;
    if (status != PAWL_OK)
        return status;
    if (answer.code != 201 && answer.code != 200 && answer.code != 304)
        status = pawl__hbase_unexpected(store, &answer, err);
    g_string_free(answer.body, TRUE);
    return status;
}

static pawl_status
judge(const pawl__hbase_store *store, finding found, pawl_error *err)
{
    if (found == ALL_THERE)
        return PAWL_OK;
    if (found == FAMILY_MISSING)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "HBase's table '%s' at %s has no column family '%s': name another table, or add it with "
                              "alter '%s', '%s' in the HBase shell",
                              store->table, gateway(store), store->family, store->table, store->family);
    return pawl_error_set(err, PAWL_INVALID, 0, 0,
                          "there is no table '%s' in the HBase at %s: create=yes in the URL makes it, or create '%s', "
                          "'%s' in the HBase shell",
                          store->table, gateway(store), store->table, store->family);
}

pawl_status
pawl__hbase_table_open(pawl__hbase_store *store, int64_t deadline_ms, bool create, bool read_only, pawl_error *err)
{
    finding found = TABLE_MISSING;
    pawl_status status = look_patiently(store, deadline_ms, &found, err);

    if (status == PAWL_OK && found == TABLE_MISSING && create && read_only) {
        store->nothing_stored = true;
        return PAWL_OK;
    }
    if (status == PAWL_OK && found == TABLE_MISSING && create) {
        status = make(store, deadline_ms, err);
        if (status == PAWL_OK)
            status = look_patiently(store, deadline_ms, &found, err);
    }
    return status == PAWL_OK ? judge(store, found, err) : status;
}
