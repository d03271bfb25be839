/*
 * killing.h - a program that kills itself at a named point, for the exactness tests
 *
 * PAWL_TEST_KILL=POINT:N in the environment means: SIGKILL at the N-th passing of that point (from 1). The points:
 *
 *     process                   a chunk of records was taken by the user's code, and the job does not know it yet
 *     flush                     the user's flush has done its work, and the job does not know it yet
 *     save-before, save-after   the store is about to save; it has saved, and the job does not know it yet
 *     load-before, load-after, acquire-before, acquire-after      the same while the job recovers
 */
#ifndef TESTS_SUPPORT_KILLING_H
#define TESTS_SUPPORT_KILLING_H

#include <pawl/pawl.h>

/* Makes the store of this URL known: killing+NAME:... is the store NAME: with these points in it. Exits when that is
 * impossible. */
void killing_install(const char *url);

/* The hooks with the points process and flush around them. To be called once in a program. */
pawl_hooks killing_hooks(const pawl_hooks *hooks);

/* pawl_job_new() with the hooks wrapped. */
pawl_status killing_job_new(const pawl_config *config, const pawl_hooks *hooks, pawl_job **ret_job, pawl_error *err);

/* pawl_batch_transaction() under the name that the store has here. */
pawl_status killing_batch_transaction(const pawl_batch *batch, const char *scheme, void **ret_handle, pawl_error *err);

#endif
