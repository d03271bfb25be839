/*
 * sqlite.h - results and offsets in one SQLite transaction
 */
#ifndef PAWL_SQLITE_H
#define PAWL_SQLITE_H

#include <pawl/batch.h>

PAWL_BEGIN_DECLS

/*
 * The sqlite3 * of the job's store, inside the transaction that saves this batch's offsets: what flush writes through it
 * is committed with them, or not at all. Valid until flush returns. Savepoints are fine; COMMIT and ROLLBACK are not,
 * and fail the batch. A SELECT that is still open then is reset. PAWL_UNSUPPORTED: the store of the job is no sqlite: store.
 *
 *     sqlite3 *db;
 *
 *     if (pawl_sqlite_transaction(batch, (void **)&db, err) != PAWL_OK)
 *         return PAWL_STOP;
 */
static inline pawl_status
pawl_sqlite_transaction(const pawl_batch *batch, void **ret_sqlite3, pawl_error *err)
{
    return pawl_batch_transaction(batch, "sqlite", ret_sqlite3, err);
}

PAWL_END_DECLS

#endif
