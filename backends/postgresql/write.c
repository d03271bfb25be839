/*
 * write.c - acquire, release, plan and remove
 *
 * All but acquire are one statement, which is a transaction of its own. An acquire makes rows, and the table when it is
 * the first: several statements in one transaction.
 */
#include "backends/postgresql/postgresql_store.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "util/clock.h"

/* How long a server may take to roll back before its connection is dropped, which does the same. */
#define ROLLBACK_MS 1000

/* -------------------------------------------------------------------------------------------- ending transactions -- */

void
pawl__pg_abandon(pawl__pg_store *store)
{
    if (store->conn == NULL || PQtransactionStatus(store->conn) == PQTRANS_IDLE)
        return;
    store->deadline_ms = pawl__clock_ms() + ROLLBACK_MS;
    if (PQpipelineStatus(store->conn) != PQ_PIPELINE_OFF || PQtransactionStatus(store->conn) == PQTRANS_ACTIVE ||
        pawl__pg_do(store, PAWL__PG_ROLLBACK, PAWL__PG_NOTHING, NULL) != PAWL_OK)
        pawl__pg_drop(store);
}

/* COMMIT answers ROLLBACK when a statement before it had failed. */
pawl_status
pawl__pg_commit(pawl__pg_store *store, pawl_error *err)
{
    PGresult *result = NULL;
    pawl_status status = pawl__pg_run(store, PAWL__PG_COMMIT, &(pawl__pg_params){0}, PAWL__PG_COMMITS, &result, err);

    if (status == PAWL_OK && strcmp(PQcmdStatus(result), "COMMIT") != 0)
        status = pawl_error_set(err, PAWL_FAILED, 0, 0,
                                "%s: nothing was saved, since a statement of the transaction had failed", store->url);
    PQclear(result);
    return status;
}

/* ------------------------------------------------------------------------------------------------ guarded writes -- */

/* What lies `i` lines after the first one. */
static const void *
at(const void *first, size_t stride, size_t i)
{
    return (const char *) first + i * stride;
}

void
pawl__pg_add_beliefs(pawl__pg_params *params, const char *group, const pawl__pg_beliefs *beliefs)
{
    pawl__pg_add_text(params, group);
    pawl__pg_add_partitions(params, beliefs->lines, beliefs->stride, beliefs->count);
    pawl__pg_add_numbers(params, beliefs->epoch, beliefs->stride, beliefs->count);
    pawl__pg_add_positions(params, beliefs->expected, beliefs->stride, beliefs->count);
}

pawl_status
pawl__pg_check_beliefs(pawl__pg_store *store, const char *group, const pawl__pg_beliefs *beliefs,
                       const pawl_entry *entries, pawl_error *err)
{
    char place[PAWL__PG_PLACE_SIZE];
    pawl_status status = PAWL_OK;

    for (size_t i = 0; i < beliefs->count && status == PAWL_OK; i++) {
        const int64_t *epoch = at(beliefs->epoch, beliefs->stride, i);
        const pawl_position *expected = at(beliefs->expected, beliefs->stride, i);

        pawl__pg_place(store, group, entries[i].partition, place, sizeof place);
        status = pawl_sys_check_owned(&entries[i], *epoch, *expected, place, err);
    }
    return status;
}

pawl_status
pawl__pg_explain(pawl__pg_store *store, const char *group, const pawl__pg_beliefs *beliefs, pawl_error *err)
{
    pawl_entry *entries = g_new(pawl_entry, beliefs->count);
    pawl_status status = pawl__pg_read_entries(store, group, beliefs->lines, beliefs->stride, beliefs->count, false,
                                               entries, NULL, NULL, err);

    if (status == PAWL_OK)
        status = pawl__pg_check_beliefs(store, group, beliefs, entries, err);
    if (status == PAWL_OK)
        status = pawl_error_set(err, PAWL_FAILED, PAWL_ERROR_RETRIABLE, 0,
                                "%s, table %s: nothing was written, since a row of group '%s' was changing", store->url,
                                store->table, group);
    g_free(entries);
    return status;
}

pawl_status
pawl__pg_write_guarded(pawl__pg_store *store, const char *group, pawl__pg_sql sql, const pawl__pg_params *params,
                       const pawl__pg_beliefs *beliefs, pawl_error *err)
{
    PGresult *answer = NULL;
    pawl_status status = pawl__pg_prepare(store, sql, params, err);
    bool written;

    if (status == PAWL_OK)
        status = pawl__pg_run(store, sql, params, PAWL__PG_COMMITS, &answer, err);
    written = status == PAWL_OK && PQntuples(answer) == 1;
    PQclear(answer);
    if (status == PAWL_OK && !written)
        status = pawl__pg_explain(store, group, beliefs, err);
    return status;
}

pawl_status
pawl__pg_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count, pawl_error *err)
{
    pawl__pg_store *store = self;
    const pawl__pg_beliefs beliefs = {lines, &lines->epoch, &lines->expected, sizeof *lines, count};
    pawl__pg_params params = {0};
    pawl_status status = pawl__pg_enter(store, call, err);

    if (status != PAWL_OK)
        return status;
    pawl__pg_add_beliefs(&params, call->group, &beliefs);
    pawl__pg_add_positions(&params, &lines->pending, sizeof *lines, count);
    pawl__pg_add_number(&params, pawl__clock_wall_ms());
    status = pawl__pg_write_guarded(store, call->group, PAWL__PG_PLAN, &params, &beliefs, err);
    pawl__pg_params_done(&params);
    return status;
}

pawl_status
pawl__pg_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count, pawl_error *err)
{
    pawl__pg_store *store = self;
    const pawl__pg_beliefs beliefs = {lines, &lines->epoch, &lines->expected, sizeof *lines, count};
    pawl__pg_params params = {0};
    pawl_status status = pawl__pg_enter(store, call, err);

    if (status != PAWL_OK)
        return status;
    pawl__pg_add_beliefs(&params, call->group, &beliefs);
    status = pawl__pg_write_guarded(store, call->group, PAWL__PG_REMOVE, &params, &beliefs, err);
    pawl__pg_params_done(&params);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- release -- */

pawl_status
pawl__pg_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    pawl__pg_store *store = self;
    pawl__pg_params params = {0};
    PGresult *result = NULL;
    pawl_status status = pawl__pg_enter(store, call, err);

    if (status != PAWL_OK)
        return status;
    pawl__pg_add_text(&params, call->group);
    pawl__pg_add_partitions(&params, lines, sizeof *lines, count);
    pawl__pg_add_numbers(&params, &lines->ret_epoch, sizeof *lines, count);
    status = pawl__pg_run(store, PAWL__PG_RELEASE, &params, PAWL__PG_COMMITS, &result, err);
    pawl__pg_params_done(&params);
    PQclear(result);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- acquire -- */

/* What an acquire is about. */
struct acquiring {
    pawl__pg_store *store;
    const char *group;
    const pawl_owner *owner;
    const char *cluster; /* NULL: none */
    const pawl_acquire_line *lines;
    size_t count;
};

static pawl_status
check_seen(const struct acquiring *acquiring, const pawl_entry *entries, pawl_error *err)
{
    char place[PAWL__PG_PLACE_SIZE];
    pawl_status status = PAWL_OK;

    for (size_t i = 0; i < acquiring->count && status == PAWL_OK; i++) {
        pawl__pg_place(acquiring->store, acquiring->group, entries[i].partition, place, sizeof place);
        if (entries[i].epoch == INT64_MAX)
            return pawl_error_set(err, PAWL_FAILED, 0, 0, "there is no epoch after the last one: %s", place);
        status = pawl_sys_check_seen(&entries[i], acquiring->lines[i].epoch_seen, place, err);
    }
    return status;
}

/* Locks the rows that are there and compares their epochs with those that were seen. */
static pawl_status
lock_and_check(const struct acquiring *acquiring, bool *ret_missing, pawl_error *err)
{
    pawl_entry *entries = g_new(pawl_entry, acquiring->count);
    pawl_status status =
        pawl__pg_read_entries(acquiring->store, acquiring->group, acquiring->lines, sizeof *acquiring->lines,
                              acquiring->count, true, entries, NULL, ret_missing, err);

    if (status == PAWL_OK)
        status = check_seen(acquiring, entries, err);
    g_free(entries);
    return status;
}

static pawl_status
set_cluster(const struct acquiring *acquiring, pawl_error *err)
{
    pawl__pg_params params = {0};
    PGresult *result = NULL;
    pawl_status status;

    if (acquiring->cluster == NULL)
        return PAWL_OK;
    pawl__pg_add_text(&params, acquiring->group);
    pawl__pg_add_text(&params, acquiring->cluster);
    status = pawl__pg_run(acquiring->store, PAWL__PG_SET_CLUSTER, &params, PAWL__PG_NOTHING, &result, err);
    PQclear(result);
    return status;
}

/* A row that was not there when rows were locked may have been made by another meanwhile: it is not taken over then. */
static pawl_status
take_over(const struct acquiring *acquiring, pawl_error *err)
{
    const pawl_acquire_line *lines = acquiring->lines;
    pawl__pg_params params = {0};
    PGresult *result = NULL;
    pawl_status status;

    pawl__pg_add_text(&params, acquiring->group);
    pawl__pg_add_partitions(&params, lines, sizeof *lines, acquiring->count);
    pawl__pg_add_numbers(&params, &lines->epoch_seen, sizeof *lines, acquiring->count);
    pawl__pg_add_positions(&params, &lines->initial, sizeof *lines, acquiring->count);
    pawl__pg_add_text(&params, acquiring->owner->host);
    pawl__pg_add_number(&params, acquiring->owner->pid);
    pawl__pg_add_text(&params, acquiring->owner->client_id);
    pawl__pg_add_number(&params, acquiring->owner->renewed_ms);
    pawl__pg_add_text(&params, acquiring->cluster);
    status = pawl__pg_run(acquiring->store, PAWL__PG_ACQUIRE, &params, PAWL__PG_NOTHING, &result, err);
    if (status == PAWL_OK && strtoull(PQcmdTuples(result), NULL, 10) != acquiring->count)
        status = pawl_error_set(err, PAWL_STALE, 0, 0,
                                "%s, table %s: somebody else acquired a partition of group '%s' at the same moment",
                                acquiring->store->url, acquiring->store->table, acquiring->group);
    pawl__pg_params_done(&params);
    PQclear(result);
    return status;
}

/* One transaction. *ret_missing: there is no table yet, and nothing was done. */
static pawl_status
acquire_all(const struct acquiring *acquiring, bool *ret_missing, pawl_error *err)
{
    pawl__pg_store *store = acquiring->store;
    pawl_status status = pawl__pg_do(store, PAWL__PG_BEGIN, PAWL__PG_NOTHING, err);

    *ret_missing = false;
    if (status == PAWL_OK)
        status = lock_and_check(acquiring, ret_missing, err);
    if (status == PAWL_OK && !*ret_missing)
        status = set_cluster(acquiring, err);
    if (status == PAWL_OK && !*ret_missing)
        status = take_over(acquiring, err);
    if (status == PAWL_OK && !*ret_missing)
        return pawl__pg_commit(store, err);
    pawl__pg_abandon(store);
    return status;
}

static pawl_status
create_table(pawl__pg_store *store, pawl_error *err)
{
    PGresult *result = NULL;
    pawl_status status = pawl__pg_run(store, PAWL__PG_CREATE, &(pawl__pg_params){0}, PAWL__PG_NOTHING, &result, err);

    if (pawl__pg_is_made(result))
        status = PAWL_OK;
    PQclear(result);
    return status;
}

/* The same for the first acquire of all, which finds no table. */
static pawl_status
acquire_in_new_table(const struct acquiring *acquiring, const pawl_store_call *call, pawl_error *err)
{
    pawl__pg_store *store = acquiring->store;
    bool missing = false;
    pawl_status status = pawl__pg_enter(store, call, err);

    if (status == PAWL_OK)
        status = create_table(store, err);
    if (status == PAWL_OK)
        status = acquire_all(acquiring, &missing, err);
    if (status == PAWL_OK && missing)
        status =
            pawl_error_set(err, PAWL_FAILED, PAWL_ERROR_RETRIABLE, 0,
                           "%s, table %s: somebody dropped the table as soon as it was made", store->url, store->table);
    return status;
}

pawl_status
pawl__pg_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
                 pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    pawl__pg_store *store = self;
    const struct acquiring acquiring = {
        .store = store,
        .group = call->group,
        .owner = owner,
        .cluster = cluster != NULL && cluster[0] != '\0' ? cluster : NULL,
        .lines = lines,
        .count = count,
    };
    bool missing = false;
    pawl_status status = pawl__pg_enter(store, call, err);

    if (status == PAWL_OK)
        status = acquire_all(&acquiring, &missing, err);
    if (status == PAWL_OK && missing)
        status = acquire_in_new_table(&acquiring, call, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        lines[i].ret_epoch = lines[i].epoch_seen + 1;
    return status;
}
