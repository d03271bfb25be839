/*
 * worker.c - fetching and processing ranges: what one worker does with its share of a batch
 *
 *     open a few ranges -> take what the lane delivers -> hand it to user code -> act on the verdict -> ...
 */
#include "core/worker.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/backoff.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

/* A retry waits no longer than this, whatever the doubling says. */
#define RETRY_CAP_MS 60000

static const pawl_source_backend *
source_of(const pawl__worker *worker)
{
    return worker->crew->source->api;
}

/* ------------------------------------------------------------------------------------------------------ failures -- */

void
pawl__worker_fail(pawl__worker *worker, pawl_status status, const char *format, ...)
{
    pawl__crew *crew = worker->crew;
    char *text;
    va_list arguments;

    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    pawl__wait_lock(&crew->wait);
    if (crew->failure.status == PAWL_OK)
        pawl_error_set(&crew->failure, status, 0, 0, "%s", text);
    pawl__wait_unlock(&crew->wait);
    g_free(text);
    source_of(worker)->wake(crew->source->self);
}

/* Whether the batch is given up, here or by another worker or by the job. */
static bool
is_given_up(pawl__worker *worker)
{
    pawl__crew *crew = worker->crew;
    bool failed;

    if (atomic_load(&crew->abandoned))
        pawl__worker_fail(worker, PAWL_CANCELLED, "the batch was left unsaved");
    pawl__wait_lock(&crew->wait);
    failed = crew->failure.status != PAWL_OK;
    pawl__wait_unlock(&crew->wait);
    return failed;
}

/* "flights [3] 100..200" */
static const char *
range_text(const pawl_range *range, char text[512])
{
    g_snprintf(text, 512, "%s [%" PRId32 "] %" PRId64 "..%" PRId64, pawl_range_topic(range),
               pawl_range_partition(range), range->from, range->until);
    return text;
}

/* ------------------------------------------------------------------------------------------------ opening ranges -- */

/* Takes the next range that nobody has opened: of the own share, else of the worker that has most left. */
static pawl_range *
take_unopened(pawl__worker *worker)
{
    pawl__crew *crew = worker->crew;
    pawl__worker *from = worker;
    pawl_range *range = NULL;

    pawl__wait_lock(&crew->wait);
    if (worker->unopened->len == 0)
        for (int w = 0; w < crew->size; w++)
            if (crew->workers[w].unopened->len > from->unopened->len)
                from = &crew->workers[w];
    if (from->unopened->len > 0)
        range = g_ptr_array_steal_index(from->unopened, 0);
    pawl__wait_unlock(&crew->wait);
    return range;
}

/* Takes a range whose back-off is over. */
static pawl_range *
take_rested(pawl__worker *worker)
{
    for (guint i = 0; i < worker->waiting->len; i++) {
        pawl_range *range = g_ptr_array_index(worker->waiting, i);

        if (range->retry_at_ms <= pawl__clock_ms())
            return g_ptr_array_steal_index(worker->waiting, i);
    }
    return NULL;
}

/* Where the source begins: with the record before the range, as long as that has not been looked at. */
static int64_t
first_offset(const pawl_range *range)
{
    return range->from - pawl__print_is_known(&range->from_print);
}

static void
open_range(pawl__worker *worker, pawl_range *range)
{
    range->state = PAWL__RANGE_OPEN;
    range->thread = worker->thread_data;
    atomic_store(&range->tries, range->attempt);
    atomic_store(&range->opened_ms, pawl__clock_ms());
    pawl__range_enter(range, PAWL_PHASE_FETCHING);
    g_ptr_array_add(worker->opened, range);
    source_of(worker)->range_open(worker->lane, range->holding->tap, first_offset(range), range->until, range);
}

static void
open_ranges(pawl__worker *worker)
{
    while (worker->opened->len < worker->quota) {
        pawl_range *range = take_rested(worker);

        if (range == NULL)
            range = take_unopened(worker);
        if (range == NULL)
            return;
        if (atomic_load(&range->dropped))
            range->state = PAWL__RANGE_DROPPED;
        else
            open_range(worker, range);
    }
}

/* When to look at the waiting ranges again. */
static int64_t
next_retry_ms(const pawl__worker *worker)
{
    int64_t next = PAWL__NEVER;

    for (guint i = 0; i < worker->waiting->len; i++)
        next = MIN(next, ((const pawl_range *) g_ptr_array_index(worker->waiting, i))->retry_at_ms);
    return next;
}

/* ------------------------------------------------------------------------------------------------------ verdicts -- */

/* The range is through. Its lane has shut it already, or is told to by the caller. */
static void
end_range(pawl__worker *worker, pawl_range *range, pawl__range_state state)
{
    range->state = state;
    range->thread = NULL;
    pawl__range_enter(range, state == PAWL__RANGE_WAITING ? PAWL_PHASE_WAITING : PAWL_PHASE_PROCESSED);
    g_ptr_array_remove_fast(worker->opened, range);
}

/* Makes the source start over at `offset`; false when even that fails. */
static bool
rewind_range(pawl__worker *worker, pawl_range *range, int64_t offset)
{
    pawl_error err = {0};

    if (source_of(worker)->rewind(worker->lane, range->holding->tap, offset, &err) == PAWL_OK)
        return true;
    pawl__worker_fail(worker, err.status, "%s", err.message);
    return false;
}

static void
retry_later(pawl__worker *worker, pawl_range *range, const char *why)
{
    const pawl__settings *settings = worker->crew->settings;
    int64_t delay = pawl__backoff_ms(settings->retry_backoff_ms, RETRY_CAP_MS, range->attempt, g_random_int());
    char text[512], wait[PAWL__DURATION_TEXT_SIZE];

    pawl__log(worker->crew->log, PAWL_LOG_WARN, "job", "%s: attempt %d failed, next in %s: %s", range_text(range, text),
              range->attempt, pawl__text_about_duration(delay, wait), why);
    if (!rewind_range(worker, range, first_offset(range)))
        return;
    pawl__range_reset(range);
    end_range(worker, range, PAWL__RANGE_WAITING);
    atomic_fetch_add(&worker->crew->counts->retries, 1);
    range->attempt++;
    range->retry_at_ms = pawl__clock_ms() + delay;
    g_ptr_array_add(worker->waiting, range);
}

static void
skip_range(pawl__worker *worker, pawl_range *range, const char *why)
{
    char text[512];

    pawl__log(worker->crew->log, PAWL_LOG_ERROR, "job", "%s: skipped after %d attempts (on_error = skip): %s",
              range_text(range, text), range->attempt, why);
    if (!rewind_range(worker, range, range->until))
        return;
    pawl__range_reset(range);
    end_range(worker, range, PAWL__RANGE_SKIPPED);
}

/* User code said no. */
static void
refuse(pawl__worker *worker, pawl_range *range, pawl_verdict verdict, const char *hook, const pawl_error *err)
{
    const pawl__settings *settings = worker->crew->settings;
    char *why = pawl__refusal_text(hook, verdict, err);
    char text[512];

    if (verdict == PAWL_RETRY && range->attempt <= settings->max_retries)
        retry_later(worker, range, why);
    else if (verdict == PAWL_RETRY && settings->on_error == PAWL__ON_ERROR_SKIP)
        skip_range(worker, range, why);
    else
        pawl__worker_fail(worker, err->status != PAWL_OK ? err->status : PAWL_FAILED, "%s, attempt %d: %s",
                          range_text(range, text), range->attempt, why);
    g_free(why);
}

/* ---------------------------------------------------------------------------------------------------- deliveries -- */

static bool
begin_range(pawl__worker *worker, pawl_range *range)
{
    const pawl_hooks *hooks = worker->crew->hooks;
    pawl_error err = {0};
    pawl_verdict verdict;

    if (range->begun)
        return true;
    range->begun = true;
    if (hooks->range_begin == NULL)
        return true;
    pawl__call_begin(&range->call, "range_begin");
    verdict = hooks->range_begin(hooks->user, range, &err);
    pawl__call_end(&range->call);
    if (verdict == PAWL_DONE)
        return true;
    refuse(worker, range, verdict, "range_begin", &err);
    return false;
}

/* The next plan decides what becomes of that. */
static void
lose_range(pawl__worker *worker, pawl_range *range)
{
    pawl__range_reset(range);
    end_range(worker, range, PAWL__RANGE_LOST);
}

/* Takes the record before the range off the delivery, if it is there. False: it is another than it was. */
static bool
check_before(pawl_range *range, pawl_delivery *delivery)
{
    const pawl_record *first = delivery->records;

    if (pawl__print_is_known(&range->from_print) && first->offset < range->from) {
        range->remade = !pawl__print_is_of(&range->from_print, first);
        delivery->records++;
        delivery->count--;
    }
    range->from_print = pawl__print_none();
    return !range->remade;
}

static void
on_records(pawl__worker *worker, pawl_range *range, pawl_delivery *delivery)
{
    const pawl_hooks *hooks = worker->crew->hooks;
    pawl_error err;
    pawl_verdict verdict = PAWL_DONE;

    if (!check_before(range, delivery)) {
        source_of(worker)->range_shut(worker->lane, range->holding->tap);
        lose_range(worker, range);
    }
    if (range->remade || delivery->count == 0)
        return;
    pawl__range_enter(range, PAWL_PHASE_PROCESSING);
    if (!begin_range(worker, range))
        return;
    range->records += (int64_t) delivery->count;
    for (size_t i = 0; i < delivery->count; i++)
        range->bytes += (int64_t) (delivery->records[i].key_size + delivery->records[i].value_size);
    pawl_error_clear(&err);
    if (hooks->process != NULL) {
        pawl__call_begin(&range->call, "process");
        verdict = hooks->process(hooks->user, range, delivery->records, delivery->count, &err);
        pawl__call_end(&range->call);
    }
    if (verdict == PAWL_DONE) {
        const pawl_record *last = &delivery->records[delivery->count - 1];

        atomic_store_explicit(&range->handed, last->offset + 1, memory_order_relaxed);
        if (last->offset + 1 == range->until)
            range->until_print = pawl__print_of(last);
        pawl__range_enter(range, PAWL_PHASE_FETCHING);
    } else {
        refuse(worker, range, verdict, "process", &err);
    }
}

static void
on_end(pawl__worker *worker, pawl_range *range)
{
    const pawl_hooks *hooks = worker->crew->hooks;
    pawl_error err = {0};
    pawl_verdict verdict = PAWL_DONE;

    pawl__range_enter(range, PAWL_PHASE_PROCESSING);
    if (range->begun && hooks->range_end != NULL) {
        pawl__call_begin(&range->call, "range_end");
        verdict = hooks->range_end(hooks->user, range, &err);
        pawl__call_end(&range->call);
    }
    if (verdict != PAWL_DONE)
        refuse(worker, range, verdict, "range_end", &err);
    else
        end_range(worker, range, PAWL__RANGE_DONE);
}

static void
on_failed(pawl__worker *worker, pawl_range *range, const pawl_error *err)
{
    if (err->status == PAWL_DATA_LOSS) {
        pawl__log(worker->crew->log, PAWL_LOG_WARN, "job", "%s", err->message);
        lose_range(worker, range);
    } else if ((err->flags & PAWL_ERROR_RETRIABLE) != 0 && range->attempt <= worker->crew->settings->max_retries) {
        retry_later(worker, range, err->message);
    } else {
        pawl__worker_fail(worker, err->status, "%s", err->message);
    }
}

static void
take_delivery(pawl__worker *worker)
{
    pawl_delivery delivery;

    source_of(worker)->next(worker->lane, next_retry_ms(worker), &delivery);
    switch (delivery.kind) {
    case PAWL_DELIVERY_NONE:
        break;
    case PAWL_DELIVERY_RECORDS:
        on_records(worker, delivery.cookie, &delivery);
        break;
    case PAWL_DELIVERY_END:
        on_end(worker, delivery.cookie);
        break;
    case PAWL_DELIVERY_FAILED:
        on_failed(worker, delivery.cookie, &delivery.err);
        break;
    }
}

/* Lets those ranges be that the loop has marked. */
static void
drop_ranges(pawl__worker *worker)
{
    unsigned drops = atomic_load(&worker->crew->drops);

    if (drops == worker->drops)
        return;
    worker->drops = drops;
    for (guint i = worker->opened->len; i > 0; i--) {
        pawl_range *range = g_ptr_array_index(worker->opened, i - 1);

        if (!atomic_load(&range->dropped))
            continue;
        source_of(worker)->range_shut(worker->lane, range->holding->tap);
        pawl__range_reset(range);
        end_range(worker, range, PAWL__RANGE_DROPPED);
    }
    for (guint i = worker->waiting->len; i > 0; i--) {
        pawl_range *range = g_ptr_array_index(worker->waiting, i - 1);

        if (!atomic_load(&range->dropped))
            continue;
        range->state = PAWL__RANGE_DROPPED;
        g_ptr_array_remove_index_fast(worker->waiting, i - 1);
    }
}

void
pawl__worker_run(pawl__worker *worker)
{
    g_ptr_array_set_size(worker->opened, 0);
    g_ptr_array_set_size(worker->waiting, 0);
    while (!is_given_up(worker)) {
        drop_ranges(worker);
        open_ranges(worker);
        if (worker->opened->len == 0 && worker->waiting->len == 0)
            break;
        take_delivery(worker);
    }
    source_of(worker)->settle(worker->lane);
}
