/*
 * save.c - save: alone, or at the end of a transaction that the program has written its results into
 */
#include "backends/postgresql/postgresql_store.h"

#include <glib.h>

#include "util/clock.h"

static pawl__pg_beliefs
beliefs_of(const pawl_save_line *lines, size_t count)
{
    return (pawl__pg_beliefs){lines, &lines->epoch, &lines->expected, sizeof *lines, count};
}

static void
add_lines(pawl__pg_params *params, const char *group, const pawl__pg_beliefs *beliefs, const pawl_save_line *lines,
          size_t count)
{
    pawl__pg_add_beliefs(params, group, beliefs);
    pawl__pg_add_numbers(params, &lines->until, sizeof *lines, count);
    pawl__pg_add_numbers(params, &lines->batch, sizeof *lines, count);
    pawl__pg_add_texts(params, &lines->print, sizeof *lines, count);
    pawl__pg_add_number(params, pawl__clock_wall_ms());
}

/* --------------------------------------------------------------------------------------- lending the transaction -- */

static void
set_lent(pawl__pg_store *store, bool lent)
{
    pawl__wait_lock(&store->wait);
    store->lent = lent;
    pawl__wait_unlock(&store->wait);
}

/* The program waits in libpq's own way. */
static void
lend(pawl__pg_store *store)
{
    PQsetnonblocking(store->conn, 0);
    set_lent(store, true);
}

static void
take_back(pawl__pg_store *store)
{
    set_lent(store, false);
    pawl__pg_hear_notices(store);
    if (PQstatus(store->conn) == CONNECTION_OK)
        PQsetnonblocking(store->conn, 1);
}

pawl_status
pawl__pg_begin(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count, void **ret_handle,
               pawl_error *err)
{
    pawl__pg_store *store = self;
    const pawl__pg_beliefs beliefs = beliefs_of(lines, count);
    pawl_entry *entries;
    pawl_status status = pawl__pg_enter(store, call, err);

    if (status == PAWL_OK)
        status = pawl__pg_do(store, PAWL__PG_BEGIN, PAWL__PG_NOTHING, err);
    if (status != PAWL_OK)
        return status;

    entries = g_new(pawl_entry, count);
    status =
        pawl__pg_read_entries(store, call->group, lines, sizeof *lines, count, true, entries, &store->xid, NULL, err);
    if (status == PAWL_OK)
        status = pawl__pg_check_beliefs(store, call->group, &beliefs, entries, err);
    g_free(entries);
    if (status != PAWL_OK) {
        pawl__pg_abandon(store);
        return status;
    }
    lend(store);
    *ret_handle = store->conn;
    return PAWL_OK;
}

void
pawl__pg_rollback(void *self)
{
    pawl__pg_store *store = self;

    if (!store->lent)
        return;
    take_back(store);
    pawl__pg_abandon(store);
}

/* ---------------------------------------------------------------------------------------- ending the transaction -- */

static pawl_status
ended_by_program(pawl__pg_store *store, pawl_error *err)
{
    return pawl_error_set(
        err, PAWL_FAILED, 0, 0,
        "%s: the offsets were not saved, since the transaction was ended while the program had it, by "
        "its own COMMIT or ROLLBACK: what it committed stays",
        store->url);
}

/* In what state the program gives the connection back. */
static pawl_status
check_returned(pawl__pg_store *store, pawl_error *err)
{
    char *says;

    if (PQstatus(store->conn) != CONNECTION_OK) {
        says = pawl__pg_connection_says(store->conn);
        pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, 0,
                       "%s: the connection broke while the program had the transaction; nothing was written: %s",
                       store->url, says);
        g_free(says);
        return PAWL_UNREACHABLE;
    }
    if (PQpipelineStatus(store->conn) != PQ_PIPELINE_OFF || PQtransactionStatus(store->conn) == PQTRANS_ACTIVE)
        return pawl_error_set(err, PAWL_FAILED, 0, 0,
                              "%s: nothing was saved, since a statement of the program's is not finished", store->url);
    if (PQtransactionStatus(store->conn) == PQTRANS_INERROR)
        return pawl_error_set(err, PAWL_FAILED, 0, 0,
                              "%s: nothing was saved, since a statement of the program's had failed", store->url);
    return PQtransactionStatus(store->conn) == PQTRANS_INTRANS ? PAWL_OK : ended_by_program(store, err);
}

/* Writes the offsets into the program's transaction, if it still is the one that was lent. */
static pawl_status
write_offsets(pawl__pg_store *store, const pawl__pg_params *params, bool *ret_refused, pawl_error *err)
{
    PGresult *answer = NULL;
    pawl_status status = pawl__pg_run(store, PAWL__PG_SAVE, params, PAWL__PG_NOTHING, &answer, err);

    *ret_refused = status == PAWL_OK && PQntuples(answer) == 0;
    if (status == PAWL_OK && !*ret_refused && g_ascii_strtoll(PQgetvalue(answer, 0, 0), NULL, 10) != store->xid)
        status = ended_by_program(store, err);
    PQclear(answer);
    return status;
}

static pawl_status
save_with_results(pawl__pg_store *store, const pawl_store_call *call, const pawl__pg_params *params,
                  const pawl__pg_beliefs *beliefs, pawl_error *err)
{
    bool refused = false;
    pawl_status status;

    take_back(store);
    store->deadline_ms = call->deadline_ms;
    status = check_returned(store, err);
    if (status == PAWL_OK)
        status = write_offsets(store, params, &refused, err);
    if (status == PAWL_OK && !refused)
        return pawl__pg_commit(store, err);
    pawl__pg_abandon(store);
    if (refused)
        status = pawl__pg_enter(store, call, err);
    return refused && status == PAWL_OK ? pawl__pg_explain(store, call->group, beliefs, err) : status;
}

/* ---------------------------------------------------------------------------------------------------------- save -- */

pawl_status
pawl__pg_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count, pawl_error *err)
{
    pawl__pg_store *store = self;
    const pawl__pg_beliefs beliefs = beliefs_of(lines, count);
    pawl__pg_params params = {0};
    pawl_status status;

    add_lines(&params, call->group, &beliefs, lines, count);
    if (store->lent)
        status = save_with_results(store, call, &params, &beliefs, err);
    else {
        status = pawl__pg_enter(store, call, err);
        if (status == PAWL_OK)
            status = pawl__pg_write_guarded(store, call->group, PAWL__PG_SAVE, &params, &beliefs, err);
    }
    pawl__pg_params_done(&params);
    return status;
}
