/*
 * exchange.c - a statement and its answer, with a deadline; stopping what runs on the server
 */
#include "backends/postgresql/postgresql_store.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include <glib.h>

#include "util/clock.h"
#include "util/poll.h"

/* How long a statement that was to be stopped may take to say how it ended. */
#define GRACE_MS 400

/* ------------------------------------------------------------------------------------------------------- waiting -- */

/* Until when to wait, and whether cancel ends it. */
struct patience {
    int64_t deadline_ms;
    bool heeds_cancel;
};

static pawl_status
await(const pawl__pg_store *store, short events, const struct patience *patience)
{
    return pawl__poll(PQsocket(store->conn), events, patience->heeds_cancel ? store->cancel_fd : -1,
                      patience->deadline_ms);
}

pawl_status
pawl__pg_await(pawl__pg_store *store, short events)
{
    return await(store, events, &(struct patience){store->deadline_ms, true});
}

/* ------------------------------------------------------------------------------------------------------ stopping -- */

/* PQcancel() opens a connection of its own and waits for its end, for ever where the server is frozen: so a thread that
 * nobody waits for does that. */
static void *
send_stop(void *cancel)
{
    char why[256];

    PQcancel(cancel, why, sizeof why);
    PQfreeCancel(cancel);
    return NULL;
}

void
pawl__pg_stop_statement(PGconn *conn)
{
    PGcancel *cancel = PQgetCancel(conn);
    sigset_t all, before;
    pthread_t thread;

    if (cancel == NULL)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's handlers are not for this thread */
    if (pthread_create(&thread, NULL, send_stop, cancel) == 0)
        pthread_detach(thread);
    else
        PQfreeCancel(cancel);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* -------------------------------------------------------------------------------------------- sending, receiving -- */

/* Reads as well: a server that cannot get rid of its own output would not take ours. */
static pawl_status
flush(pawl__pg_store *store, const struct patience *patience)
{
    pawl_status status = PAWL_OK;
    int rc = PQflush(store->conn);

    while (rc > 0 && status == PAWL_OK) {
        status = await(store, POLLIN | POLLOUT, patience);
        if (status == PAWL_OK)
            rc = PQconsumeInput(store->conn) ? PQflush(store->conn) : -1;
    }
    return rc < 0 ? PAWL_FAILED : status;
}

/* Of several results an error counts for more than rows: a statement may fail after its last row, when it commits. */
static void
keep_result(PGresult **kept, PGresult *result)
{
    bool kept_is_error = *kept != NULL && PQresultStatus(*kept) == PGRES_FATAL_ERROR;

    if (kept_is_error) {
        PQclear(result);
        return;
    }
    PQclear(*kept);
    *kept = result;
}

/* Up to the server's "ready for the next": only then a statement is committed. */
static pawl_status
receive(pawl__pg_store *store, const struct patience *patience, PGresult **kept)
{
    PGresult *result;

    do {
        while (PQisBusy(store->conn)) {
            pawl_status status = await(store, POLLIN, patience);

            if (status != PAWL_OK)
                return status;
            if (!PQconsumeInput(store->conn))
                break; /* the result tells why */
        }
        result = PQgetResult(store->conn);
        if (result != NULL)
            keep_result(kept, result);
    } while (result != NULL);
    return PAWL_OK;
}

/* ------------------------------------------------------------------------------------------------------- judging -- */

/* The connection is gone, and with it the answer. */
static pawl_status
answer_lost(pawl__pg_store *store, pawl__pg_effect effect, pawl_error *err)
{
    char *says = pawl__pg_connection_says(store->conn);
    pawl_status status = pawl_error_set(err, effect == PAWL__PG_COMMITS ? PAWL_OUTCOME_UNKNOWN : PAWL_UNREACHABLE,
                                        effect == PAWL__PG_COMMITS ? 0 : PAWL_ERROR_RETRIABLE, 0,
                                        "%s: the connection broke before the server answered: %s", store->url, says);

    g_free(says);
    if (effect == PAWL__PG_COMMITS)
        pawl__pg_lose(store);
    else
        pawl__pg_drop(store);
    return status;
}

static pawl_status
gave_up(pawl__pg_store *store, pawl_status why, const char *and, pawl_error *err)
{
    pawl__pg_drop(store); /* an order to stop that is late must not meet the next statement */
    if (why == PAWL_CANCELLED)
        return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "%s: the store was cancelled%s", store->url, and);
    return pawl_error_set(err, PAWL_TIMEOUT, PAWL_ERROR_RETRIABLE, 0,
                          "%s: no answer in time: the server does not answer, or another transaction holds the rows%s",
                          store->url, and);
}

static pawl_status
judge(pawl__pg_store *store, const PGresult *result, pawl__pg_effect effect, pawl_error *err)
{
    ExecStatusType kind = PQresultStatus(result);
    pawl_status status;

    if (PQstatus(store->conn) != CONNECTION_OK)
        return answer_lost(store, effect, err);
    if (kind == PGRES_TUPLES_OK || kind == PGRES_COMMAND_OK || pawl__pg_is_missing(result) ||
        pawl__pg_is_refused(result))
        return PAWL_OK;
    status = pawl__pg_fail(store, result, err);
    if (status == PAWL_UNREACHABLE)
        pawl__pg_drop(store); /* another host may be the one to write to */
    return status;
}

/* Stops a statement that takes too long, and finds out how it ended. */
static pawl_status
stop_and_judge(pawl__pg_store *store, pawl_status why, pawl__pg_effect effect, PGresult **kept, pawl_error *err)
{
    const struct patience grace = {pawl__clock_ms() + GRACE_MS, false};
    pawl_status status;

    pawl__pg_stop_statement(store->conn);
    status = receive(store, &grace, kept);
    if (effect == PAWL__PG_NOTHING)
        return gave_up(store, why, "", err);
    if (status != PAWL_OK || PQstatus(store->conn) != CONNECTION_OK) {
        pawl__pg_lose(store);
        return pawl_error_set(err, PAWL_OUTCOME_UNKNOWN, 0, 0,
                              "%s: no answer in time, and the server does not say how it ended", store->url);
    }
    if (PQresultStatus(*kept) == PGRES_FATAL_ERROR)
        return gave_up(store, why, ": nothing was written", err);
    pawl__pg_drop(store);
    return PAWL_OK;
}

/* A primary that is stopped while it waits for its standby has committed, and says so: a failover may lose that. */
static pawl_status
not_replicated(pawl__pg_store *store, pawl__pg_effect effect, pawl_error *err)
{
    return pawl_error_set(err, effect == PAWL__PG_COMMITS ? PAWL_OUTCOME_UNKNOWN : PAWL_UNREACHABLE,
                          effect == PAWL__PG_COMMITS ? 0 : PAWL_ERROR_RETRIABLE, 0,
                          "%s: no standby of those in synchronous_standby_names has confirmed the commit", store->url);
}

/* ---------------------------------------------------------------------------------------------------- statements -- */

/* What comes of a statement that libpq has taken. */
static pawl_status
finish(pawl__pg_store *store, pawl__pg_effect effect, PGresult **ret_result, pawl_error *err)
{
    const struct patience patience = {store->deadline_ms, true};
    PGresult *kept = NULL;
    pawl_status status;

    store->unreplicated = false;
    status = flush(store, &patience);
    if (status == PAWL_TIMEOUT || status == PAWL_CANCELLED)
        return gave_up(store, status, ": nothing was written", err); /* half a statement does nothing */
    status = receive(store, &patience, &kept);
    if (status == PAWL_TIMEOUT || status == PAWL_CANCELLED)
        status = stop_and_judge(store, status, effect, &kept, err);
    else
        status = judge(store, kept, effect, err);

    if (status == PAWL_OK && store->unreplicated)
        status = not_replicated(store, effect, err);

    *ret_result = kept;
    return status;
}

static void
name_statement(pawl__pg_sql sql, char *name, size_t size)
{
    g_snprintf(name, size, "pawl_%d", (int) sql);
}

pawl_status
pawl__pg_prepare(pawl__pg_store *store, pawl__pg_sql sql, const pawl__pg_params *params, pawl_error *err)
{
    PGresult *result = NULL;
    char name[16];
    pawl_status status;

    if (store->prepared[sql])
        return PAWL_OK;
    name_statement(sql, name, sizeof name);
    if (!PQsendPrepare(store->conn, name, store->sql[sql], params->count, params->types))
        return answer_lost(store, PAWL__PG_NOTHING, err);
    status = finish(store, PAWL__PG_NOTHING, &result, err);
    store->prepared[sql] = status == PAWL_OK && PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return status;
}

static bool
send_statement(pawl__pg_store *store, pawl__pg_sql sql, const pawl__pg_params *params)
{
    char name[16];

    if (!store->prepared[sql])
        return PQsendQueryParams(store->conn, store->sql[sql], params->count, params->types, params->values,
                                 params->lengths, params->formats, 0);
    name_statement(sql, name, sizeof name);
    return PQsendQueryPrepared(store->conn, name, params->count, params->values, params->lengths, params->formats, 0);
}

pawl_status
pawl__pg_run(pawl__pg_store *store, pawl__pg_sql sql, const pawl__pg_params *params, pawl__pg_effect effect,
             PGresult **ret_result, pawl_error *err)
{
    if (!send_statement(store, sql, params))
        return answer_lost(store, effect, err);
    return finish(store, effect, ret_result, err);
}

pawl_status
pawl__pg_do(pawl__pg_store *store, pawl__pg_sql sql, pawl__pg_effect effect, pawl_error *err)
{
    PGresult *result = NULL;
    pawl_status status = pawl__pg_run(store, sql, &(pawl__pg_params){0}, effect, &result, err);

    PQclear(result);
    return status;
}
