/*
 * exec.h - hooks that run a command for each range
 */
#ifndef PAWL_CLI_EXEC_H
#define PAWL_CLI_EXEC_H

#include <stdbool.h>

#include <pawl/job.h>
#include <pawl/log.h>

#include "cli/process.h"

/* Exit codes of a command; anything else is a failure. */
#define PAWL_EXEC_DONE  0
#define PAWL_EXEC_RETRY 75 /* EX_TEMPFAIL of sysexits.h */

typedef struct pawl_exec pawl_exec;

/*
 * Makes the hooks of a job with `exec`. `process` and `log` are borrowed until pawl__exec_free(). `output_to_log`: what
 * commands write to standard output goes to the log, since ours is for other things.
 */
pawl_status pawl__exec_new(const pawl_process *process, const pawl_log *log, bool output_to_log, pawl_exec **ret_exec,
                           pawl_hooks *ret_hooks, pawl_error *err);

/* Kills all commands that run, and those that start later; their ranges fail. Any thread. */
void pawl__exec_abort(pawl_exec *exec);

/* Frees it once the job has ended. NULL is fine. */
void pawl__exec_free(pawl_exec *exec);

#endif
