/*
 * pins.c - the offsets at which a job ends by itself: available-now and once
 *
 *     the end of each log is pinned once  ->  nothing is cut beyond them  ->  all is read up to them: the job is over
 */
#include "core/job.h"

bool
pawl__job_ends_by_itself(const pawl_job *job)
{
    return job->settings.trigger == PAWL__TRIGGER_AVAILABLE_NOW || job->settings.trigger == PAWL__TRIGGER_ONCE;
}

static bool
all_bounds_are_known(const pawl_job *job)
{
    for (size_t i = 0; i < pawl__holdings_count(job->holdings); i++)
        if (pawl__holdings_at(job->holdings, i)->unanswered_since_ms != 0)
            return false;
    return true;
}

/* The end of each log, where it is known and not pinned yet. */
static void
pin_known(pawl_job *job)
{
    for (size_t i = 0; i < pawl__holdings_count(job->holdings); i++) {
        pawl__holding *holding = pawl__holdings_at(job->holdings, i);

        if (!holding->pin.known && holding->unanswered_since_ms == 0)
            holding->pin = pawl_position_at(holding->high);
    }
}

/*
 * available-now: what is there at the first look is all that will be read. once: it is all that there will be to cut a
 * batch from. In a group, the ends of what is assigned meanwhile are pinned as well.
 */
bool
pawl__job_pin_ends(pawl_job *job)
{
    bool is_member = pawl__job_is_member(job);

    if (!pawl__job_ends_by_itself(job) || (job->pinned && !is_member))
        return true;
    if (!is_member && !all_bounds_are_known(job))
        return false;
    pin_known(job);
    job->pinned = job->pinned || !is_member || job->membership.assigned;
    return job->pinned;
}

pawl_position
pawl__job_pin(const pawl_job *job, const pawl__holding *holding)
{
    return job->pinned && !holding->pin.known ? pawl_position_at(holding->position) : holding->pin;
}

bool
pawl__job_pin_left(pawl_job *job)
{
    bool left = false;

    for (size_t i = 0; i < pawl__holdings_count(job->holdings); i++) {
        pawl__holding *holding = pawl__holdings_at(job->holdings, i);

        if (holding->fetch_lost || holding->pending_above_since_ms != 0)
            left = true;
        else
            holding->pin = pawl_position_at(holding->position);
    }
    return left;
}

/* Whether the group may still assign something, or has done so and it is not taken over yet. */
static bool
more_may_come(const pawl_job *job)
{
    const pawl__membership *membership = &job->membership;

    return pawl__job_is_member(job) &&
           (!membership->assigned || membership->follow_due_ms != PAWL__NEVER || membership->changed);
}

bool
pawl__job_is_drained(const pawl_job *job)
{
    for (size_t i = 0; i < pawl__holdings_count(job->holdings); i++) {
        const pawl__holding *holding = pawl__holdings_at(job->holdings, i);

        if (!holding->pin.known && pawl__job_is_member(job))
            return false;
        if (holding->pin.known && (holding->unanswered_since_ms != 0 || holding->pending_above_since_ms != 0 ||
                                   holding->position < MIN(holding->pin.offset, holding->high)))
            return false;
    }
    return job->pinned && !more_may_come(job);
}
