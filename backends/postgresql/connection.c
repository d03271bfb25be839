/*
 * connection.c - a connection to the first of the hosts that can be written to
 *
 * The hosts are tried one after the other, each with its share of the time: libpq would stay with one that does not
 * answer. Looking up a host's name is the one thing that may take longer than the deadline.
 */
#include "backends/postgresql/postgresql_store.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <glib.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/url.h"

#define OLDEST_VERSION 120000 /* AS MATERIALIZED */

void
pawl__pg_drop(pawl__pg_store *store)
{
    if (store->conn == NULL)
        return;
    if (PQsocket(store->conn) >= 0)
        shutdown(PQsocket(store->conn), SHUT_RDWR); /* PQfinish() would wait for room to say goodbye */
    PQfinish(store->conn);
    store->conn = NULL;
    memset(store->prepared, 0, sizeof store->prepared);
}

/* ------------------------------------------------------------------------------------------------------ greeting -- */

/* The columns of PAWL__PG_GREET. */
enum { LOCK_TIMEOUT, HOLD_TIMEOUT, SYNCHRONOUS_COMMIT, FSYNC, PERSISTENCE, IN_RECOVERY, READ_ONLY, PID, STARTED };

static void
warn_about_durability(pawl__pg_store *store, const PGresult *row)
{
    if (!PQgetisnull(row, 0, SYNCHRONOUS_COMMIT))
        pawl__log(store->log, PAWL_LOG_WARN, "store",
                  "%s: synchronous_commit was off, and is on for pawl's session: a save is on the disk when it returns",
                  store->url);
    if (strcmp(PQgetvalue(row, 0, FSYNC), "off") == 0)
        pawl__log(store->log, PAWL_LOG_WARN, "store",
                  "%s: the server runs with fsync = off: when its machine fails, saved offsets may be lost",
                  store->url);
}

static pawl_status
check_server(pawl__pg_store *store, const PGresult *row, pawl_error *err)
{
    bool replica = strcmp(PQgetvalue(row, 0, IN_RECOVERY), "t") == 0;

    if (strcmp(PQgetvalue(row, 0, PERSISTENCE), "u") == 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "%s: table %s is unlogged, and empty after a crash of the server: ALTER TABLE ... SET "
                              "LOGGED makes it safe",
                              store->url, store->table);
    if (!store->takes_replica && (replica || strcmp(PQgetvalue(row, 0, READ_ONLY), "on") == 0))
        return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, 0, "%s:%s can only be read: %s",
                              PQhost(store->conn), PQport(store->conn),
                              replica ? "it is a replica, and a store needs the primary"
                                      : "default_transaction_read_only is on");
    if (!store->read_only)
        warn_about_durability(store, row);
    return PAWL_OK;
}

/* The function in the server that waits for standbys: unlike the text it is the same in all languages. */
#define WAITS_FOR_STANDBY "SyncRepWaitForLSN"

static void
take_notice(void *user, const PGresult *notice)
{
    pawl__pg_store *store = user;
    const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *message = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);

    pawl__log(store->log, g_strcmp0(severity, "WARNING") == 0 ? PAWL_LOG_WARN : PAWL_LOG_DEBUG, "store",
              "%s: the server says: %s", store->url, message != NULL ? message : "nothing");
    if (g_strcmp0(PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION), WAITS_FOR_STANDBY) == 0)
        store->unreplicated = true;
}

void
pawl__pg_hear_notices(pawl__pg_store *store)
{
    PQsetNoticeReceiver(store->conn, take_notice, store);
}

static void
set_session(char *session[2], const char *pid, const char *started)
{
    g_free(session[0]);
    g_free(session[1]);
    session[0] = g_strdup(pid);
    session[1] = g_strdup(started);
}

/* Sets the session up, and looks whether the server will do. */
static pawl_status
greet(pawl__pg_store *store, pawl_error *err)
{
    char *lock_timeout = g_strdup_printf("%" G_GINT64_FORMAT, MIN(store->lock_timeout_ms, G_MAXINT32));
    char *hold_timeout = g_strdup_printf("%" G_GINT64_FORMAT, MIN(store->hold_timeout_ms, G_MAXINT32));
    pawl__pg_params params = {0};
    PGresult *row = NULL;
    pawl_status status;

    if (PQserverVersion(store->conn) < OLDEST_VERSION)
        status = pawl_error_set(err, PAWL_UNSUPPORTED, 0, 0, "%s: the server is PostgreSQL %d, and 12 is needed",
                                store->url, PQserverVersion(store->conn) / 10000);
    else {
        pawl__pg_add_text(&params, lock_timeout);
        pawl__pg_add_text(&params, hold_timeout);
        pawl__pg_add_text(&params, store->table);
        status = pawl__pg_run(store, PAWL__PG_GREET, &params, PAWL__PG_NOTHING, &row, err);
    }
    if (status == PAWL_OK)
        status = check_server(store, row, err);
    if (status == PAWL_OK)
        set_session(store->session, PQgetvalue(row, 0, PID), PQgetvalue(row, 0, STARTED));
    pawl__pg_params_done(&params);
    PQclear(row);
    g_free(lock_timeout);
    g_free(hold_timeout);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- connecting -- */

static PGconn *
start(const pawl__pg_store *store, const char *address)
{
    GPtrArray *keywords = g_ptr_array_new(), *values = g_ptr_array_new();
    char *host, *port;
    PGconn *conn;

    pawl__url_cut_host(address, "", &host, &port);
    g_ptr_array_add(keywords, (void *) "host");
    g_ptr_array_add(values, host);
    g_ptr_array_add(keywords, (void *) "port");
    g_ptr_array_add(values, port);
    for (size_t i = 0; store->keywords[i] != NULL; i += 2) {
        g_ptr_array_add(keywords, store->keywords[i]);
        g_ptr_array_add(values, store->keywords[i + 1]);
    }
    g_ptr_array_add(keywords, NULL);
    g_ptr_array_add(values, NULL);
    conn = PQconnectStartParams((const char *const *) keywords->pdata, (const char *const *) values->pdata, 0);
    g_ptr_array_free(keywords, TRUE);
    g_ptr_array_free(values, TRUE);
    g_free(host);
    g_free(port);
    return conn;
}

static pawl_status
connect_to(pawl__pg_store *store, const char *address, pawl_error *err)
{
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;
    pawl_status status = PAWL_OK;

    store->conn = start(store, address);
    pawl__pg_hear_notices(store);
    while (status == PAWL_OK && PQstatus(store->conn) != CONNECTION_BAD && step != PGRES_POLLING_OK &&
           step != PGRES_POLLING_FAILED) {
        status = pawl__pg_await(store, step == PGRES_POLLING_READING ? POLLIN : POLLOUT);
        if (status == PAWL_OK)
            step = PQconnectPoll(store->conn);
    }
    if (status != PAWL_OK)
        return pawl_error_set(err, status == PAWL_CANCELLED ? status : PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, 0,
                              "%s did not answer in time", address[0] != '\0' ? address : "the server");
    if (step != PGRES_POLLING_OK) {
        char *says = pawl__pg_connection_says(store->conn);

        pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, 0, "%s", says);
        g_free(says);
        return PAWL_UNREACHABLE;
    }
    PQsetnonblocking(store->conn, 1);
    return greet(store, err);
}

pawl_status
pawl__pg_connect(pawl__pg_store *store, pawl_error *err)
{
    const int64_t deadline_ms = store->deadline_ms;
    size_t hosts = g_strv_length(store->hosts), host = store->host;
    size_t tries = store->read_only && hosts > 1 ? 2 * hosts : hosts; /* who only reads comes to replicas last */
    GString *said = g_string_new(NULL);
    pawl_status status = PAWL_UNREACHABLE;
    pawl_error reason = {0};

    for (size_t left = tries; left > 0 && status == PAWL_UNREACHABLE; left--, host = (host + 1) % hosts) {
        int64_t now_ms = pawl__clock_ms();

        if (left == hosts)
            g_string_truncate(said, 0);
        store->takes_replica = store->read_only && left <= hosts;
        store->deadline_ms = now_ms + (deadline_ms - now_ms) / (int64_t) left;
        store->host = host;
        status = connect_to(store, store->hosts[host], &reason);
        if (status == PAWL_OK)
            break;
        if (status == PAWL_TIMEOUT)
            status = PAWL_UNREACHABLE;
        g_string_append_printf(said, "%s%s", said->len > 0 ? "; " : "", reason.message);
        pawl__pg_drop(store);
    }
    store->deadline_ms = deadline_ms;
    if (status == PAWL_UNREACHABLE)
        pawl_error_set(err, status, PAWL_ERROR_RETRIABLE, 0, "%s: %s", store->url, said->str);
    else if (status != PAWL_OK && err != NULL)
        *err = reason;
    g_string_free(said, TRUE);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- a call -- */

/* A server that ended while nobody looked has said so on the socket. */
static bool
is_alive(pawl__pg_store *store)
{
    struct pollfd fd = {.fd = PQsocket(store->conn), .events = POLLIN};

    while (PQstatus(store->conn) == CONNECTION_OK && poll(&fd, 1, 0) > 0)
        if (!PQconsumeInput(store->conn))
            return false;
    return PQstatus(store->conn) == CONNECTION_OK && PQtransactionStatus(store->conn) == PQTRANS_IDLE;
}

pawl_status
pawl__pg_enter(pawl__pg_store *store, const pawl_store_call *call, pawl_error *err)
{
    store->deadline_ms = call->deadline_ms;
    if (store->conn != NULL && !is_alive(store))
        pawl__pg_drop(store);
    return store->conn != NULL ? PAWL_OK : pawl__pg_connect(store, err);
}

/* ------------------------------------------------------------------------------------------------- lost connections -- */

void
pawl__pg_lose(pawl__pg_store *store)
{
    set_session(store->lost, store->session[0], store->session[1]);
    pawl__pg_drop(store);
}

pawl_status
pawl__pg_end_lost(pawl__pg_store *store, pawl_error *err)
{
    pawl__pg_params params = {0};
    PGresult *result = NULL;
    pawl_status status;

    if (store->lost[0] == NULL)
        return PAWL_OK;
    pawl__pg_add_text(&params, store->lost[0]);
    pawl__pg_add_text(&params, store->lost[1]);
    status = pawl__pg_run(store, PAWL__PG_END_LOST, &params, PAWL__PG_NOTHING, &result, err);
    PQclear(result);
    if (status == PAWL_OK)
        set_session(store->lost, NULL, NULL);
    return status;
}

void
pawl__pg_forget_sessions(pawl__pg_store *store)
{
    set_session(store->session, NULL, NULL);
    set_session(store->lost, NULL, NULL);
}
