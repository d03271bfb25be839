/*
 * scripted_store.h - the fake: store, which does what a test wrote down
 *
 * Each call takes the next step of the script and fails the test if that is for another call. A step may change the one
 * entry that there is, and gives a status. What is left of the script afterwards was not asked for.
 */
#ifndef PAWL_TESTS_SCRIPTED_STORE_H
#define PAWL_TESTS_SCRIPTED_STORE_H

#include <pawl/sys/store.h>

typedef enum which_call { END, LOAD, READ_BACK, ACQUIRE, PLAN, SAVE, RELEASE, REMOVE, BEGIN, ROLLBACK } which_call;

typedef struct script_step {
    which_call call;
    bool apply; /* the write reaches the entry */
    pawl_status status;
    unsigned flags;
    /* What else happens to the entry, before it is looked at: another owner, another hand. */
    int64_t new_epoch;
    pawl_position new_offset;
} script_step;

/* "fake:", with the options colour and size. */
extern const pawl_store_backend scripted_store;

/* The steps to come, up to END. Borrowed. */
extern const script_step *scripted_steps;

/* What is stored for the one partition. */
extern pawl_entry scripted_entry;

/* A call that comes to a good end. */
script_step ok(which_call call);

/* A write that is not applied, and whose answer is lost; one that is applied. */
script_step lost(which_call call);
script_step lost_applied(which_call call);

/* Nothing is done, and the same call may succeed later. */
script_step retriable(which_call call);

script_step fails(which_call call, pawl_status status);

/* Refused since an earlier copy of the same write has arrived just before. */
script_step fails_late(which_call call, pawl_status status);

script_step end(void);

#endif
