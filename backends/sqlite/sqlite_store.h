/*
 * sqlite_store.h - what the files of the sqlite: store share
 *
 *     sqlite_store.c  the table; opening, closing, cancelling
 *     schema.c        the tables in the file and their version
 *     statement.c     the SQL, each text prepared once
 *     transaction.c   begin, commit, roll back, and waiting for the lock
 *     read.c          load and list
 *     write.c         acquire, release, plan, remove
 *     save.c          save, alone or with the program's results
 *     error.c         SQLite's result codes in pawl's words
 */
#ifndef PAWL_SQLITE_SQLITE_STORE_H
#define PAWL_SQLITE_SQLITE_STORE_H

#include <sqlite3.h>
#include <sys/types.h>

#include <pawl/sys/store.h>

#include "util/wait.h"

#define PAWL__SQLITE_PLACE_SIZE PAWL_ERROR_MESSAGE_SIZE

typedef enum pawl__sqlite_sql {
    PAWL__SQL_BEGIN_READ,
    PAWL__SQL_BEGIN_WRITE,
    PAWL__SQL_COMMIT,
    PAWL__SQL_ROLLBACK,
    PAWL__SQL_LAYOUT,
    PAWL__SQL_CLUSTER,
    PAWL__SQL_SET_CLUSTER,
    PAWL__SQL_ENTRY,
    PAWL__SQL_ACQUIRE,
    PAWL__SQL_RELEASE,
    PAWL__SQL_PLAN,
    PAWL__SQL_SAVE,
    PAWL__SQL_REMOVE,
    PAWL__SQL_GROUPS,
    PAWL__SQL_PARTITIONS,
    PAWL__SQL_COUNT,
} pawl__sqlite_sql;

typedef struct pawl__sqlite_store {
    sqlite3 *db;
    char *path; /* absolute: the working directory may change */
    const pawl_log *log;
    int64_t busy_timeout_ms;
    bool normal_durability;

    sqlite3_stmt *statements[PAWL__SQL_COUNT];

    int64_t deadline_ms;   /* of the call in progress; PAWL__NEVER while the program has the transaction */
    int64_t busy_since_ms; /* when waiting for the lock began */
    ino_t wal_inode;       /* of the -wal file when it was first seen; 0: not yet */
    pawl__wait wait;
    bool cancelled; /* under the lock of `wait` */

    bool lent;  /* between begin and save or rollback: the program writes its results */
    bool ended; /* the program ended the transaction, or SQLite rolled it back */
} pawl__sqlite_store;

/* ------------------------------------------------------------------------------------------------------- error.c -- */

/* Sets the error for a result code of the store's connection and returns its status. */
pawl_status pawl__sqlite_fail(pawl__sqlite_store *store, int rc, pawl_error *err);

/* Whether cancel was called. */
bool pawl__sqlite_is_cancelled(pawl__sqlite_store *store);

/* ------------------------------------------------------------------------------------------------------ schema.c -- */

/* Switches to WAL, makes the tables if they are missing and checks their version. */
pawl_status pawl__sqlite_schema_open(pawl__sqlite_store *store, pawl_error *err);

/* Whether the tables are there; makes them. */
pawl_status pawl__sqlite_schema_has_tables(pawl__sqlite_store *store, bool *ret_has, pawl_error *err);
pawl_status pawl__sqlite_schema_create(pawl__sqlite_store *store, pawl_error *err);

/* PAWL_UNSUPPORTED: a newer pawl has changed the layout. Inside a transaction. */
pawl_status pawl__sqlite_schema_check(pawl__sqlite_store *store, pawl_error *err);

/* --------------------------------------------------------------------------------------------------- statement.c -- */

/* Gives a statement ready to be bound. Borrowed; ends with pawl__sqlite_statement_end(). */
pawl_status pawl__sqlite_statement(pawl__sqlite_store *store, pawl__sqlite_sql sql, sqlite3_stmt **ret_statement,
                                   pawl_error *err);

/* The same with group, topic and partition number bound to ?1, ?2, ?3; they must stay until its end. */
pawl_status pawl__sqlite_statement_for(pawl__sqlite_store *store, pawl__sqlite_sql sql, const char *group,
                                       pawl_partition partition, sqlite3_stmt **ret_statement, pawl_error *err);

/* Binds an offset, or NULL when it is absent. */
void pawl__sqlite_bind_position(sqlite3_stmt *statement, int index, pawl_position position);

/* Lets go of the row and of what was bound. NULL is fine. */
void pawl__sqlite_statement_end(sqlite3_stmt *statement);

/* The next statement, the program's among them, that was stepped and not reset: of those that only read, or that write. */
sqlite3_stmt *pawl__sqlite_next_busy(pawl__sqlite_store *store, sqlite3_stmt *after, bool reads);

/* Steps a statement that gives no row, and ends it. `ret_changes` may be NULL. */
pawl_status pawl__sqlite_statement_run(pawl__sqlite_store *store, sqlite3_stmt *statement, int *ret_changes,
                                       pawl_error *err);

void pawl__sqlite_statements_done(pawl__sqlite_store *store);

/* ------------------------------------------------------------------------------------------------- transaction.c -- */

/* SQLite would go on writing to a file that has no name any more: this says that it has none. */
pawl_status pawl__sqlite_check_still_there(pawl__sqlite_store *store, pawl_error *err);

/* Begins, by the call's deadline, and checks the layout. After a failure there is no transaction. */
pawl_status pawl__sqlite_begin_read(pawl__sqlite_store *store, const pawl_store_call *call, pawl_error *err);
pawl_status pawl__sqlite_begin_write(pawl__sqlite_store *store, const pawl_store_call *call, pawl_error *err);

/* Commits when `status` is PAWL_OK, else rolls back. Returns the status of the whole. */
pawl_status pawl__sqlite_end(pawl__sqlite_store *store, pawl_status status, pawl_error *err);

/* Rolls back what is open, if anything is. */
void pawl__sqlite_abandon(pawl__sqlite_store *store);

/* Waits a little for a lock that somebody else holds. `attempt` is counted from 0. False: it is time to give up. */
bool pawl__sqlite_wait_for_lock(pawl__sqlite_store *store, int attempt);

/* -------------------------------------------------------------------------------------------------------- read.c -- */

void pawl__sqlite_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size);

/* What is stored for one partition, inside a transaction; *ret_entry is zeroed first. PAWL_UNREADABLE: see there. */
pawl_status pawl__sqlite_read_entry(pawl__sqlite_store *store, const char *group, pawl_partition partition,
                                    pawl_entry *ret_entry, pawl_error *err);

pawl_status pawl__sqlite_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                              pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err);
pawl_status pawl__sqlite_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err);

/* ----------------------------------------------------------------------------------------------- write.c, save.c -- */

/* Why a guarded UPDATE met no row: PAWL_FENCED or PAWL_CONFLICT, or PAWL_UNREADABLE. */
pawl_status pawl__sqlite_explain(pawl__sqlite_store *store, const char *group, pawl_partition partition, int64_t epoch,
                                 pawl_position expected, pawl_error *err);

pawl_status pawl__sqlite_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
                                 pawl_acquire_line *lines, size_t count, pawl_error *err);
pawl_status pawl__sqlite_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count,
                                 pawl_error *err);
pawl_status pawl__sqlite_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count,
                              pawl_error *err);
pawl_status pawl__sqlite_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count,
                                pawl_error *err);

pawl_status pawl__sqlite_begin(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
                               void **ret_handle, pawl_error *err);
pawl_status pawl__sqlite_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
                              pawl_error *err);
void pawl__sqlite_rollback(void *self);

#endif
