/*
 * postgresql.h - results and offsets in one PostgreSQL transaction
 */
#ifndef PAWL_POSTGRESQL_H
#define PAWL_POSTGRESQL_H

#include <string.h>

#include <pawl/job.h>

PAWL_BEGIN_DECLS

/*
 * The PGconn * of the job's store, inside the transaction that saves this batch's offsets: what flush writes through it
 * is committed with them, or not at all. Valid until flush returns. Savepoints are fine. COMMIT and ROLLBACK are not:
 * they fail the batch, and what a COMMIT has written stays, without its offsets. A statement has to be finished before
 * flush returns. What the server remarks goes to pawl's log; a notice receiver that flush sets holds until it returns.
 * PAWL_UNSUPPORTED: the store of the job is no postgresql: store.
 *
 *     PGconn *conn;
 *
 *     if (pawl_postgresql_transaction(batch, (void **)&conn, err) != PAWL_OK)
 *         return PAWL_STOP;
 */
static inline pawl_status
pawl_postgresql_transaction(const pawl_batch *batch, void **ret_pgconn, pawl_error *err)
{
    return pawl_batch_transaction(batch, "postgresql", ret_pgconn, err);
}

/*
 * What flush answers when a statement of its own has failed with this SQLSTATE (PQresultErrorField(), PG_DIAG_SQLSTATE;
 * NULL: the connection broke): PAWL_RETRY where another transaction came in between (class 40: a serialization failure, a
 * deadlock) or the connection broke, since the same batch may succeed in a transaction of its own. Else PAWL_STOP.
 */
static inline pawl_verdict
pawl_postgresql_verdict(const char *sqlstate)
{
    return sqlstate == NULL || strncmp(sqlstate, "40", 2) == 0 ? PAWL_RETRY : PAWL_STOP;
}

PAWL_END_DECLS

#endif
