/*
 * worker.h - one worker of a crew
 */
#ifndef PAWL_CORE_WORKER_H
#define PAWL_CORE_WORKER_H

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/crew.h"
#include "util/wait.h"

typedef struct pawl__worker {
    pawl__crew *crew;
    pawl_source_lane *lane;
    pthread_t pthread;
    bool started;
    void *thread_data; /* of the user's thread_init */

    GPtrArray *unopened; /* its share of the batch, largest first; guarded by the crew's lock */
    int64_t share;       /* offsets in it, when it was shared out */

    GPtrArray *waiting; /* ranges of its own that are tried again later */
    GPtrArray *opened;  /* ranges open on its lane */
    size_t quota;       /* at most */
    unsigned drops;     /* as last looked at */
} pawl__worker;

struct pawl__crew {
    const pawl__source *source;
    const pawl_hooks *hooks;
    const pawl__settings *settings;
    const pawl_log *log;
    pawl__crew_counts *counts;
    pawl__worker *workers;
    int size;
    atomic_bool abandoned; /* the job leaves: for good */
    atomic_uint drops;     /* grows when ranges were marked as dropped */

    pawl__wait wait;    /* guards what follows, and the workers' unopened */
    unsigned turn;      /* grows with each batch */
    int busy;           /* workers that are not through with it */
    pawl_error failure; /* the first */
    bool nudged;        /* the loop has something else to do than to wait */
    bool quit;
};

/* Works on the crew's present batch until nothing is left of it. */
void pawl__worker_run(pawl__worker *worker);

/* Fails the batch, unless it has failed already, and makes the other workers stop too. */
void pawl__worker_fail(pawl__worker *worker, pawl_status status, const char *format, ...) PAWL_PRINTF(3, 4);

#endif
