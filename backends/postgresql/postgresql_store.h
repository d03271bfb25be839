/*
 * postgresql_store.h - what the files of the postgresql: store share
 *
 *     postgresql_store.c  the table; options, opening, closing, cancelling
 *     connection.c        a connection to the first of the hosts that can be written to
 *     exchange.c          a statement and its answer, with a deadline; stopping what runs on the server
 *     params.c            the parameters of a statement: columns of all lines as arrays
 *     statement.c         the SQL of the store
 *     read.c              load, read_back, list
 *     write.c             acquire, release, plan, remove
 *     save.c              begin, save, rollback
 *     error.c             PostgreSQL's SQLSTATEs in pawl's words
 */
#ifndef PAWL_POSTGRESQL_POSTGRESQL_STORE_H
#define PAWL_POSTGRESQL_POSTGRESQL_STORE_H

#include <libpq-fe.h>

#include <pawl/sys/store.h>

#include "util/wait.h"

#define PAWL__PG_PLACE_SIZE PAWL_ERROR_MESSAGE_SIZE

typedef enum pawl__pg_sql {
    PAWL__PG_GREET,
    PAWL__PG_END_LOST,
    PAWL__PG_CREATE,
    PAWL__PG_BEGIN,
    PAWL__PG_COMMIT,
    PAWL__PG_ROLLBACK,
    PAWL__PG_LOAD,
    PAWL__PG_LOCK,
    PAWL__PG_CLUSTER,
    PAWL__PG_SET_CLUSTER,
    PAWL__PG_ACQUIRE,
    PAWL__PG_RELEASE,
    PAWL__PG_PLAN,
    PAWL__PG_SAVE,
    PAWL__PG_REMOVE,
    PAWL__PG_GROUPS,
    PAWL__PG_PARTITIONS,
    PAWL__PG_SQL_COUNT,
} pawl__pg_sql;

typedef struct pawl__pg_store {
    const pawl_log *log;
    char *url;   /* for messages */
    char *table; /* with its schema, quoted */
    char *sql[PAWL__PG_SQL_COUNT];
    bool prepared[PAWL__PG_SQL_COUNT]; /* on this connection */

    char **hosts;    /* "h1:5432"; ended by NULL, at least one */
    size_t host;     /* the one that answered last */
    char **keywords; /* for libpq, but for the host: name, value, name, value ...; ended by NULL */
    int64_t lock_timeout_ms;
    int64_t hold_timeout_ms;
    bool read_only;
    bool takes_replica; /* in this try to connect */

    PGconn *conn;        /* NULL: not connected */
    char *session[2];    /* the server's process for it: its number, and when it began */
    bool unreplicated;   /* a commit did not wait for its standby to the end */
    char *lost[2];       /* the same of a connection on which the answer to a write was lost; NULL: there is none */
    int64_t deadline_ms; /* of the call in progress */
    int cancel_fd;       /* an eventfd: readable once the store is cancelled */

    pawl__wait wait; /* its lock is for `lent`, which cancel looks at */
    bool lent;       /* between begin and save or rollback: the program writes its results */
    int64_t xid;     /* of the transaction that was lent */
} pawl__pg_store;

/* ------------------------------------------------------------------------------------------------------- error.c -- */

/* Sets the error for a result that is none and returns its status. */
pawl_status pawl__pg_fail(pawl__pg_store *store, const PGresult *result, pawl_error *err);

/* What libpq or the server says of a connection, in one line. The caller frees it. */
char *pawl__pg_connection_says(const PGconn *conn);

/* Whether a statement failed since pawl's table is not there: then nothing is stored. */
bool pawl__pg_is_missing(const PGresult *result);

/* Whether a CREATE TABLE failed since somebody else made the table at the same moment: then it is there. */
bool pawl__pg_is_made(const PGresult *result);

/* Whether a guarded statement found other rows than its lines believe, and wrote nothing: its division by zero. */
bool pawl__pg_is_refused(const PGresult *result);

/* --------------------------------------------------------------------------------------------------- statement.c -- */

/* Makes the SQL for the store's table. */
void pawl__pg_sql_init(pawl__pg_store *store);
void pawl__pg_sql_done(pawl__pg_store *store);

/* ------------------------------------------------------------------------------------------------------ params.c -- */

#define PAWL__PG_PARAMS 12

/* The parameters of one statement, in the order in which they are added: $1, $2 ... {0} is none. */
typedef struct pawl__pg_params {
    int count;
    Oid types[PAWL__PG_PARAMS];
    const char *values[PAWL__PG_PARAMS];
    int lengths[PAWL__PG_PARAMS];
    int formats[PAWL__PG_PARAMS];
    void *owned[PAWL__PG_PARAMS];
} pawl__pg_params;

void pawl__pg_add_text(pawl__pg_params *params, const char *text); /* borrowed; NULL is NULL */
void pawl__pg_add_number(pawl__pg_params *params, int64_t number);

/* Arrays of `count` elements, one from each line of an array of structs that are `stride` bytes long: `first` points into
 * the first line. A position that is absent, and a text that is NULL, is NULL. */
void pawl__pg_add_texts(pawl__pg_params *params, const char *const *first, size_t stride, size_t count);
void pawl__pg_add_numbers(pawl__pg_params *params, const int64_t *first, size_t stride, size_t count);
void pawl__pg_add_positions(pawl__pg_params *params, const pawl_position *first, size_t stride, size_t count);

/* Two arrays: the topics and the numbers of lines that begin with a pawl_partition. */
void pawl__pg_add_partitions(pawl__pg_params *params, const void *lines, size_t stride, size_t count);

void pawl__pg_params_done(pawl__pg_params *params);

/* -------------------------------------------------------------------------------------------------- connection.c -- */

/* Connects, by the deadline of the call in progress. PAWL_UNREACHABLE, with what each host said. */
pawl_status pawl__pg_connect(pawl__pg_store *store, pawl_error *err);

/* Starts a call: takes its deadline, and connects where there is no connection that lives. */
pawl_status pawl__pg_enter(pawl__pg_store *store, const pawl_store_call *call, pawl_error *err);

/* Sends the server's notices to the log; what it says of standbys is remembered. */
void pawl__pg_hear_notices(pawl__pg_store *store);

/* The answer to a write was lost: drops the connection, and remembers it for pawl__pg_end_lost(). */
void pawl__pg_lose(pawl__pg_store *store);

/* Ends the server's end of the connection that was lost, so that a request which is still on its way comes to nothing. */
pawl_status pawl__pg_end_lost(pawl__pg_store *store, pawl_error *err);

/* Frees what is known of sessions. */
void pawl__pg_forget_sessions(pawl__pg_store *store);

/* Closes the connection without a word to the server, which may be frozen. */
void pawl__pg_drop(pawl__pg_store *store);

/* ---------------------------------------------------------------------------------------------------- exchange.c -- */

/* What a statement that got no answer may have left behind. */
typedef enum pawl__pg_effect {
    PAWL__PG_NOTHING, /* it reads, or writes inside a transaction that is gone with its connection */
    PAWL__PG_COMMITS, /* it commits: PAWL_OUTCOME_UNKNOWN */
} pawl__pg_effect;

/* Waits for the socket until the deadline. PAWL_TIMEOUT, PAWL_CANCELLED: without a message. */
pawl_status pawl__pg_await(pawl__pg_store *store, short events);

/*
 * Runs a statement of ours. *ret_result is what it gave, an error as well; the caller clears it. That pawl's table is not there, or that a
 * guarded statement is refused, is no error here, see above; such a result has no rows.
 *
 * When the deadline passes, or cancel comes, the statement is stopped on the server. If the server confirms that, nothing
 * was written: PAWL_TIMEOUT or PAWL_CANCELLED. A commit that was only waiting for a standby is there, but not where it
 * was to be: PAWL_OUTCOME_UNKNOWN.
 */
pawl_status pawl__pg_run(pawl__pg_store *store, pawl__pg_sql sql, const pawl__pg_params *params, pawl__pg_effect effect,
                         PGresult **ret_result, pawl_error *err);

/* The same for a statement without parameters whose result is of no interest. */
pawl_status pawl__pg_do(pawl__pg_store *store, pawl__pg_sql sql, pawl__pg_effect effect, pawl_error *err);

/* Has the server plan a statement once for this connection, if it has not yet; then pawl__pg_run() sends its name only. */
pawl_status pawl__pg_prepare(pawl__pg_store *store, pawl__pg_sql sql, const pawl__pg_params *params, pawl_error *err);

/* Asks the server to stop what runs on this connection. Does not wait: a server that is frozen would not let it. */
void pawl__pg_stop_statement(PGconn *conn);

/* -------------------------------------------------------------------------------------------------------- read.c -- */

void pawl__pg_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size);

/* Reads entries; with `lock` they are locked until the transaction ends, and *ret_xid (may be NULL) is its number.
 * *ret_missing (may be NULL): whether there is no table. */
pawl_status pawl__pg_read_entries(pawl__pg_store *store, const char *group, const void *lines, size_t stride,
                                  size_t count, bool lock, pawl_entry *ret_entries, int64_t *ret_xid, bool *ret_missing,
                                  pawl_error *err);

pawl_status pawl__pg_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                          pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err);
pawl_status pawl__pg_read_back(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                               pawl_entry *ret_entries, pawl_error *err);
pawl_status pawl__pg_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err);

/* ----------------------------------------------------------------------------------------------- write.c, save.c -- */

/* Ends the transaction that is open, if any, or else the connection. */
void pawl__pg_abandon(pawl__pg_store *store);

/* COMMIT. After a failure there is no transaction. */
pawl_status pawl__pg_commit(pawl__pg_store *store, pawl_error *err);

/* What a line of plan, save, begin or remove believes. The lines begin with a pawl_partition; epoch and expected point
 * into the first one. */
typedef struct pawl__pg_beliefs {
    const void *lines;
    const int64_t *epoch;
    const pawl_position *expected;
    size_t stride;
    size_t count;
} pawl__pg_beliefs;

/* The parameters $1 to $5 of a guarded statement. */
void pawl__pg_add_beliefs(pawl__pg_params *params, const char *group, const pawl__pg_beliefs *beliefs);

/* Compares what was found with what is believed. */
pawl_status pawl__pg_check_beliefs(pawl__pg_store *store, const char *group, const pawl__pg_beliefs *beliefs,
                                   const pawl_entry *entries, pawl_error *err);

/* Runs a guarded statement by itself. When it is refused the rows are read, to say why. */
pawl_status pawl__pg_write_guarded(pawl__pg_store *store, const char *group, pawl__pg_sql sql,
                                   const pawl__pg_params *params, const pawl__pg_beliefs *beliefs, pawl_error *err);

/* Why a guarded statement was refused; outside of a transaction: PAWL_FENCED, PAWL_CONFLICT, PAWL_UNREADABLE, PAWL_UNSUPPORTED. */
pawl_status pawl__pg_explain(pawl__pg_store *store, const char *group, const pawl__pg_beliefs *beliefs,
                             pawl_error *err);

pawl_status pawl__pg_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
                             pawl_acquire_line *lines, size_t count, pawl_error *err);
pawl_status pawl__pg_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count,
                             pawl_error *err);
pawl_status pawl__pg_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count,
                          pawl_error *err);
pawl_status pawl__pg_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count,
                            pawl_error *err);

pawl_status pawl__pg_begin(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
                           void **ret_handle, pawl_error *err);
pawl_status pawl__pg_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
                          pawl_error *err);
void pawl__pg_rollback(void *self);

#endif
