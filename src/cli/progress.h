/*
 * progress.h - how fast a job is and when it will have caught up, for people and as JSON
 */
#ifndef PAWL_CLI_PROGRESS_H
#define PAWL_CLI_PROGRESS_H

#include <pawl/job.h>

#include "cli/buffer.h"

/* All zeros at the start. */
typedef struct pawl_progress {
    /* The thread that shows it. */
    int64_t looked_ms; /* when it was looked at last */
    int64_t handled;   /* records, by then */
    double rate;       /* records a second, smoothed */
    bool standby;      /* the job is a member of a group that has nothing for it */

    /* The thread of flush. */
    pawl_stats before; /* as they were after the last batch */

} pawl_progress;

#define PAWL_PROGRESS_TEXT_SIZE 160

/* Writes "12345 records/s, lag 678, caught up in 9s" for this moment. Returns text. */
const char *pawl__progress_text(pawl_progress *progress, pawl_job *job, int64_t now_ms,
                                char text[PAWL_PROGRESS_TEXT_SIZE]);

/* A batch was saved: notes it, and adds a line of JSON about it to `out`, unless that is NULL. */
void pawl__progress_saved(pawl_progress *progress, pawl_job *job, const pawl_batch *batch, pawl_buffer *out);

#endif
