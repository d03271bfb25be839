/*
 * change.h - changing stored offsets by hand
 *
 *     load -> ask the brokers -> resolve  ->  [ acquire -> load -> ask -> resolve -> save -> release ]  ->  show
 *
 * What is in brackets happens with --execute only. acquire fences a running job off, so what is loaded after it is what
 * the save will find, however fast the job has saved until then. The job may have passed the end of the log that was told
 * before, so the brokers are asked again; if they do not answer, nothing is written, and the partitions are released. What
 * can be refused at first is refused before a job is fenced off.
 */
#ifndef PAWL_CLI_CHANGE_H
#define PAWL_CLI_CHANGE_H

#include "cli/moves.h"

typedef struct pawl_change pawl_change;

struct pawl_change {
    const pawl_invocation *call; /* its values begin with pawl_places */
    const pawl_places *places;
    GArray *moves;            /* of pawl_move */
    bool removes;             /* offsets are forgotten, and need no log to be in */
    bool all_stored;          /* every partition that is stored for the group is changed */
    const char *from_cluster; /* the Kafka cluster that the new offsets were written down for; NULL: not known */
    bool is_relative;         /* it moves from where an offset stands */
    bool is_new_group;        /* nothing is stored for it yet */
    bool has_others;          /* something may be stored for partitions that are not changed */
    int64_t time_ms;          /* an instant that is to be shown; -1: none */
    const void *user;

    /* Says where one move goes: sets to and note, from what is known of it. Is called again as the owner. */
    pawl_status (*resolve)(pawl_change *change, pawl_move *move, pawl_error *err);

    /* Asks the brokers for something, before they are asked for the bounds; or NULL. Is called again, too. */
    pawl_status (*ask)(pawl_change *change, pawl_cluster *cluster, pawl_error *err);
};

/* Starts a change of no partitions. pawl__change_done() frees what it holds. */
pawl_change pawl__change_begin(const pawl_invocation *call);
void pawl__change_done(pawl_change *change);

/* Says which partitions are changed: those of --topic, or all that are stored. */
pawl_status pawl__change_select(pawl_change *change, pawl_error *err);

/* All of it: see above. Prints what is, or would be, changed. */
pawl_status pawl__change_run(pawl_change *change, pawl_error *err);

/* For resolve: to the offset that was given. PAWL_INVALID: the log does not hold it, and --force was not given. */
pawl_status pawl__change_resolve_given(pawl_change *change, pawl_move *move, pawl_error *err);

#endif
