/*
 * keeper.h - renews the owner's entry while the loop's thread cannot
 *
 * Where the loop waits for its workers or for its trigger, it wakes up and renews the entry itself. Inside a question to
 * the brokers, or inside the user's flush, it cannot: for that time it lends the store to the keeper, which is a thread
 * that calls pawl__job_refresh() when that is due. While the store is lent, the loop's thread touches neither the store
 * nor what a refresh touches: what the holdings say is stored or planned, and when that was renewed.
 */
#ifndef PAWL_CORE_KEEPER_H
#define PAWL_CORE_KEEPER_H

#include <pawl/job.h>

typedef struct pawl__keeper pawl__keeper;

/* Starts the thread. The job is borrowed until pawl__keeper_free(). */
pawl_status pawl__keeper_new(pawl_job *job, pawl__keeper **ret_keeper, pawl_error *err);

/* Ends it; the store is not lent. NULL is fine. */
void pawl__keeper_free(pawl__keeper *keeper);

/* Lends the store. NULL: nobody owns anything yet, nothing happens. */
void pawl__keeper_lend(pawl__keeper *keeper);

/* Takes the store back, waiting for a renewal under way. The status of one that failed: the job has to end with it. */
pawl_status pawl__keeper_take_back(pawl__keeper *keeper, pawl_error *err);

#endif
