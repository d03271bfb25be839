/*
 * job.h - a job from inside, and the steps that its loop is made of
 *
 * Everything here belongs to the thread that runs the job, but for `stop`, what is lent to `keeper`, the numbers under
 * `stats_wait`, and what the stop's thread touches. The steps return PAWL_OK, or the status with which the job ends.
 */
#ifndef PAWL_CORE_JOB_H
#define PAWL_CORE_JOB_H

#include <glib.h>
#include <stdatomic.h>

#include <pawl/job.h>
#include <pawl/store.h>

#include "core/batch.h"
#include "core/call.h"
#include "core/crew.h"
#include "core/holdings.h"
#include "core/keeper.h"
#include "core/mirror.h"
#include "core/plan.h"
#include "core/settings.h"
#include "core/source.h"
#include "core/stop.h"
#include "util/wait.h"

/* members = group: what the group shares out, and what it wants of this member. */
typedef struct pawl__membership {
    GArray *selected;            /* pawl_partition: all that the group shares; topics are owned */
    GArray *at_start;            /* pawl_partition: what there was when the job started; topics are owned */
    GHashTable *topics_at_start; /* names of the topics that were read before */
    atomic_bool changed;         /* the group wants something; set on a thread of the source */
    bool assigned;               /* the group has assigned what it will, as far as can be told */
    int64_t follow_due_ms;       /* when to try again to take over what could not be */
    int64_t leave_by_ms;         /* until when revoked partitions may be worked on; 0: none are */
    int64_t silence_told_ms;     /* since when it has assigned nothing, or when that was told last; 0: it has */
} pawl__membership;

/* What is cut next of each holding, in their order, by what is known of them. */
typedef struct pawl__cut {
    pawl__plan_line *lines; /* to be freed */
    size_t count;
    size_t ranges; /* so many of the lines have one */
    size_t losses; /* so many found a loss */
} pawl__cut;

struct pawl_job {
    pawl_config *config;
    pawl__settings settings;
    pawl_hooks hooks;
    pawl_log log;

    pawl_store *store;
    pawl__source source;
    pawl__crew *crew;
    pawl__stop *stop;
    pawl__keeper *keeper;
    pawl__mirror *mirror; /* NULL: there is none */
    bool has_run;

    pawl_owner owner;
    char cluster[PAWL_CLUSTER_SIZE];
    pawl__holdings *holdings;
    bool recovered;           /* the first discovery is over: what appears now is read from its beginning */
    int64_t discovery_due_ms; /* when to look for new partitions */

    int64_t batch_number;         /* of the last batch */
    int64_t looked_ms;            /* when the brokers last told what there is: triggers count from there */
    int64_t batch_ended_ms;       /* max_trigger_delay counts from there */
    int64_t unanswered_since_ms;  /* since when the brokers do not answer at all; 0: they do */
    int64_t end_unknown_since_ms; /* since when a loss is suspected and nobody tells; 0: there is none, or they do */
    int held_batches;             /* in a row with a range that flush held */
    bool pinned;                  /* available-now, once: the ends are pinned */
    bool broken_off;              /* a step gave up since the job was told to end, with no batch in hand */
    bool answered;                /* the last look told all that has to be known */
    pawl__call call;              /* the hook that the loop's thread is in */
    int64_t hung_looked_ms;       /* when the stop's thread last looked for hooks that hang */

    pawl__membership membership;

    pawl__wait stats_wait; /* guards what follows */
    pawl_stats stats;
    pawl_batch *in_hand; /* what pawl_job_report() tells of */
    pawl__crew_counts counts;
};

/* Makes a job that reads another source than Kafka: for tests. */
pawl_status pawl__job_new_with_source(const pawl_config *config, const pawl_hooks *hooks,
                                      const pawl_source_backend *source, pawl_job **ret_job, pawl_error *err);

/* ------------------------------------------------------------------------------------------------------ recover.c -- */

/* Opens the source and the store, the latter perhaps for reading only, and otherwise the mirror. */
pawl_status pawl__job_open(pawl_job *job, bool read_only, pawl_error *err);

/* Finds the partitions that pawl__job_recover() would take over, and gives them to fn, all at once. */
pawl_status pawl__job_find(pawl_job *job,
                           pawl_status (*fn)(pawl_job *job, const pawl_partition *partitions, size_t count, void *user,
                                             pawl_error *err),
                           void *user, pawl_error *err);

/* Finds the partitions, takes them over and learns where to start. Waits up to topic_timeout for topics. */
pawl_status pawl__job_recover(pawl_job *job, pawl_error *err);

/* Looks for partitions that appeared, when it is time, and takes them over as well. */
pawl_status pawl__job_discover(pawl_job *job, pawl_error *err);

/* Closes all partitions, and gives them back to the store unless that may hang. */
void pawl__job_release(pawl_job *job, bool give_back);

/* Closes some of them, for good: they are no holdings any more. */
void pawl__job_give_up(pawl_job *job, pawl__holding **holdings, size_t count, bool give_back);

/* ------------------------------------------------------------------------------------------------------ members.c -- */

bool pawl__job_is_member(const pawl_job *job);

/* Whether membership is what the store is fenced by: it compares no epochs, and keeps no owner's entry. */
bool pawl__job_is_fenced_by_group(const pawl_job *job);

/* Notes what there is when the job starts, and what is stored of it: whatever comes later is new. */
void pawl__job_note_start(pawl_job *job, const pawl_entry *entries, size_t count);

/* Whether a partition was added after its topic began to be read, so that all of it has to be read. */
bool pawl__job_is_new(const pawl_job *job, pawl_partition partition);

/* Has the loop look what the group wants of it. On a thread of the source. */
void pawl__job_group_changed(void *job);

/* Has the group share out these partitions, sorted, and remembers them. */
pawl_status pawl__job_subscribe(pawl_job *job, const pawl_partition *selected, size_t count, pawl_error *err);

/* Between batches: gives up what is revoked, takes over what is assigned. Does nothing when there is no news. */
pawl_status pawl__job_follow_group(pawl_job *job, pawl_error *err);

/* Learns which partitions the group takes back: says so in their tenure. */
pawl_status pawl__job_note_revoked(pawl_job *job, pawl_error *err);

/* Whether what is in hand of a partition has to be dropped: it is lost, or was revoked longer ago than revoke_timeout. */
bool pawl__job_is_given_up(const pawl_job *job, const pawl__holding *holding);

/*
 * Learns what is revoked, and waits while the group goes on to another generation, where that is what the store is fenced
 * by: a save would be refused. For as long as a rebalance may take; PAWL_CANCELLED when the job has to leave.
 */
pawl_status pawl__job_await_generation(pawl_job *job, pawl_error *err);

/* While a batch runs: drops its ranges of partitions that are lost, or revoked for too long. */
pawl_status pawl__job_mind_group(pawl_job *job, pawl_batch *batch, pawl_error *err);

/* When pawl__job_mind_group() has to be called without news. */
int64_t pawl__job_group_deadline(const pawl_job *job);

/* After PAWL_FENCED, in a group: finds the partitions that were taken over, and marks them as gone, since the job can go on
 * without them. False: there are none. */
bool pawl__job_mark_fenced(pawl_job *job);

/* ----------------------------------------------------------------------------------------------------- takeover.c -- */

/* Whether the offsets that are stored belong to the Kafka cluster that the job reads. */
pawl_status pawl__job_check_cluster(pawl_job *job, const char *stored, pawl_error *err);

/* Becomes the owner of these partitions, which are not held yet, and starts to read them. */
pawl_status pawl__job_take_over(pawl_job *job, const pawl_partition *partitions, size_t count, pawl_error *err);

/* ------------------------------------------------------------------------------------------------------- starts.c -- */

/*
 * Where to start in the partitions that have nothing stored: ret_initial is absent for the others. A partition that
 * appeared later than its topic's others, while the job ran or while it did not, starts at its beginning.
 */
pawl_status pawl__job_resolve_starts(pawl_job *job, const pawl_entry *entries, size_t count, pawl_position *ret_initial,
                                     pawl_error *err);

/*
 * Asks for bounds until every one is known, or source_timeout has passed. While the job runs there are others to read: then
 * it asks once only. PAWL_UNREACHABLE: some are not known.
 */
pawl_status pawl__job_bounds(pawl_job *job, pawl_bounds_line *lines, size_t count, pawl_error *err);

/* --------------------------------------------------------------------------------------------------- planning.c -- */

/*
 * Asks for the ends of the logs and cuts the next ranges. *ret_batch is NULL when there is nothing to do now;
 * *ret_finished says that the trigger is exhausted: nothing more will come.
 */
pawl_status pawl__job_plan(pawl_job *job, pawl_batch **ret_batch, bool *ret_finished, pawl_error *err);

/* Asks for all bounds. Brokers that do not answer are waited for; *ret_known is false then. */
pawl_status pawl__job_ask_bounds(pawl_job *job, bool *ret_known, pawl_error *err);

/* Counts how long something has gone unanswered; true when that is too long. */
bool pawl__job_has_stalled(const pawl_job *job, int64_t *since_ms);

/* Offsets between what is stored and the ends of the logs, as they were last told. */
int64_t pawl__job_lag(const pawl_job *job);

/* The limits of a batch that is planned now. */
pawl__plan_limits pawl__job_limits(const pawl_job *job);

/* Cuts anew, by what is known now. `cut` is {0} at first. */
void pawl__job_cut(const pawl_job *job, pawl__cut *cut);

/* A line that writes down the range of a partition up to `pending`. */
pawl_plan_line pawl__job_plan_line(const pawl__holding *holding, pawl_position pending);

/* The last batch of a job whose sink holds records back: nothing to read, all to flush. NULL when it holds none. */
pawl_batch *pawl__job_plan_held(pawl_job *job);

/* ------------------------------------------------------------------------------------------------------- pins.c -- */

/* Whether the trigger is available-now or once. */
bool pawl__job_ends_by_itself(const pawl_job *job);

/* Pins the ends of the logs for such a job. False: some of them are not known yet. */
bool pawl__job_pin_ends(pawl_job *job);

/* Beyond which offset nothing of a partition is read. One that appeared after the ends were pinned is the next run's. */
pawl_position pawl__job_pin(const pawl_job *job, const pawl__holding *holding);

/* once: what was lost while the one batch ran, or was waited for, has still to be dealt with, and nothing else. False:
 * nothing is left. */
bool pawl__job_pin_left(pawl_job *job);

/* Whether everything that was pinned has been read, or is gone. */
bool pawl__job_is_drained(const pawl_job *job);

/* ------------------------------------------------------------------------------------------------------- loss.c -- */

/*
 * Looks at the losses that cutting found. A position that lies outside of its log, surely so, fails the job or is moved and
 * saved, as on_data_loss says. Then it is cut anew, and no loss is left, unless *ret_known is false: nobody tells
 * whether it is so.
 */
pawl_status pawl__job_settle_losses(pawl_job *job, pawl__cut *cut, bool *ret_known, pawl_error *err);

/* A fetch found a range outside of the log, and the bounds do not say so: has it read again, but not for ever. */
pawl_status pawl__job_reopen_lost(pawl_job *job, pawl_error *err);

/* ----------------------------------------------------------------------------------------------------- saving.c -- */

/* Flushes the batch and saves its offsets. */
pawl_status pawl__job_save(pawl_job *job, pawl_batch *batch, pawl_error *err);

/* --------------------------------------------------------------------------------------------------- positions.c -- */

/* Saves without a batch: positions[i] for holdings[i], of which no print is known; positions = NULL: what is stored, with
 * its print, which renews it. */
pawl_status pawl__job_save_positions(pawl_job *job, pawl__holding *const *holdings, const int64_t *positions,
                                     size_t count, pawl_error *err);

/*
 * Renews the entries of partitions that were not saved for refresh.interval: by a save of what is stored, and by a plan of
 * what is planned, since a save would clear that. On the loop's thread, or on the keeper's while the store is lent.
 */
pawl_status pawl__job_refresh(pawl_job *job, pawl_error *err);

/* When that has to be called; PAWL__NEVER when nothing has to be renewed. On the same threads. */
int64_t pawl__job_refresh_due(const pawl_job *job);

/* ----------------------------------------------------------------------------------------------------- preview.c -- */

/* What pawl_job_preview() does between opening and closing. */
pawl_status pawl__job_preview(pawl_job *job, pawl_preview_fn fn, void *user, pawl_error *err);

/* ----------------------------------------------------------------------------------------------------- telling.c -- */

/* Log what runs; a batch that is saved and counted; an offset that is; why the job ends, and what it has done in all. */
void pawl__job_tell_start(pawl_job *job);
void pawl__job_tell_batch(pawl_job *job, const pawl_batch *batch);
void pawl__job_tell_saved(pawl_job *job, const pawl_save_line *line);
void pawl__job_tell_end(pawl_job *job, pawl_status status, int64_t started_ms);

/* ------------------------------------------------------------------------------------------------------ report.c -- */

/* Says which batch is in hand; NULL: none. */
void pawl__job_take_in_hand(pawl_job *job, pawl_batch *batch);

/* Warns of hooks that have not returned for stall_timeout, and again at each doubling of it. On the stop's thread, which
 * is told when to look again. */
int64_t pawl__job_warn_of_hung(void *job);

/* -------------------------------------------------------------------------------------------------------- job.c -- */

/* Has a sink that gathers several batches let go of what it holds back, and saves that. */
pawl_status pawl__job_flush_held(pawl_job *job, pawl_error *err);

/* Waits until the deadline; false as soon as the job was told to end. */
bool pawl__job_wait(pawl_job *job, int64_t deadline_ms);

/* The status of a step that was broken off because the job was told to end. */
pawl_status pawl__job_broken_off(pawl_job *job, pawl_error *err);

/* The status of a batch that has failed before it was sent to the store: of one that was cancelled since the job has to
 * leave, nobody needs to know what it was just doing. */
pawl_status pawl__job_left_unsaved(const pawl_job *job, pawl_status status, pawl_error *err);

/* The deadline of a question to the brokers that is asked now. */
int64_t pawl__job_source_deadline(const pawl_job *job);

#endif
