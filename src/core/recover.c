/*
 * recover.c - opening a job, and finding the partitions it reads
 */
#include "core/job.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "core/config.h"
#include "core/store.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/partition.h"
#include "util/text.h"

/* How often a topic that is not there yet is looked for at the start. */
#define TOPIC_RETRY_MS 200

/* ------------------------------------------------------------------------------------------------------- opening -- */

struct property_fn {
    void (*fn)(void *user, const char *name, const char *value);
    void *user;
};

static void
give_property(gpointer name, gpointer value, gpointer data)
{
    const struct property_fn *property = data;

    property->fn(property->user, name, value);
}

static void
give_properties(const pawl_source_setup *setup, void (*fn)(void *user, const char *name, const char *value), void *user)
{
    struct property_fn property = {fn, user};

    g_hash_table_foreach((GHashTable *) setup->_properties, give_property, &property);
}

static pawl_status
open_source(pawl_job *job, bool read_only, pawl_error *err)
{
    const pawl__settings *settings = &job->settings;
    pawl_source_group group = {
        .instance_id = settings->instance_id,
        .changed = pawl__job_group_changed,
        .user = job,
    };
    pawl_partition *partitions = g_new0(pawl_partition, settings->partition_count);
    pawl_source_setup setup = {
        .group = settings->group,
        .client_id = settings->client_id,
        .topics = (const char *const *) settings->topics,
        .topics_pattern = settings->topics_pattern,
        .partitions = settings->partition_count > 0 ? partitions : NULL,
        .partition_count = settings->partition_count,
        .read_committed = settings->isolation == PAWL__READ_COMMITTED,
        .memory_bytes = settings->fetch_memory_bytes,
        .stall_timeout_ms = settings->stall_timeout_ms,
        .lanes = (int) settings->parallelism,
        .group_member = pawl__job_is_member(job) && !read_only ? &group : NULL,
        .log = &job->log,
        .properties = give_properties,
        ._properties = pawl__config_kafka(job->config),
    };
    pawl_status status;

    for (size_t i = 0; i < settings->partition_count; i++)
        partitions[i] = (pawl_partition){settings->partitions[i].topic, settings->partitions[i].partition};
    job->source.self = g_malloc0(job->source.api->instance_size);
    status = job->source.api->open(job->source.self, &setup, err);
    g_free(partitions);
    return status;
}

static void
append_property(gpointer name, gpointer value, gpointer user)
{
    g_ptr_array_add(user, name);
    g_ptr_array_add(user, value);
}

static pawl_status
open_store(pawl_job *job, const char *url, const pawl_log *log, bool read_only, pawl_store **ret_store, pawl_error *err)
{
    GPtrArray *properties = g_ptr_array_new();
    pawl_store_options options = {
        .size = sizeof options, .log = log, .timeout_ms = job->settings.store_timeout_ms, .read_only = read_only};
    const pawl_source_member *member = pawl__job_is_member(job) ? job->source.api->member(job->source.self) : NULL;
    pawl_status status;

    g_hash_table_foreach((GHashTable *) pawl__config_kafka(job->config), append_property, properties);
    g_ptr_array_add(properties, NULL);
    options.kafka = (const char *const *) properties->pdata;
    status = pawl__store_open_as_member(url, &options, member, ret_store, err);
    g_ptr_array_unref(properties);
    return status;
}

/* Its store logs nothing: the mirror tells what comes of it. */
static pawl_status
open_mirror(pawl_job *job, pawl_error *err)
{
    pawl_store *store;
    pawl_status status = open_store(job, "kafka:", NULL, false, &store, err);

    if (status != PAWL_OK)
        return status;
    return pawl__mirror_new(store, job->settings.group, &job->log, &job->mirror, err);
}

/* Whether the store can do what the settings ask of it. */
static pawl_status
check_store(const pawl_job *job, pawl_error *err)
{
    unsigned capabilities = pawl_store_capabilities(job->store);
    const char *scheme = pawl_store_scheme(job->store);

    if (job->settings.replay == PAWL__REPLAY_EXACT && (capabilities & PAWL_STORE_PLAN) == 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "replay = exact needs a store that keeps planned ranges, and a %s: store does not",
                              scheme);
    if (job->settings.takeover != PAWL__TAKEOVER_NOW && (capabilities & PAWL_STORE_CAS_EPOCH) == 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "takeover has to be now: a %s: store knows no owners that it could respect", scheme);
    return PAWL_OK;
}

pawl_status
pawl__job_open(pawl_job *job, bool read_only, pawl_error *err)
{
    pawl_status status = open_source(job, read_only, err);

    if (status == PAWL_OK)
        status = open_store(job, job->settings.store, &job->log, read_only, &job->store, err);
    if (status == PAWL_OK)
        status = check_store(job, err);
    if (status == PAWL_OK && !read_only && job->settings.mirror == PAWL__MIRROR_KAFKA)
        status = open_mirror(job, err);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- discovery -- */

/* What one look at the cluster gave. */
struct findings {
    pawl_job *job;
    GArray *appeared;   /* pawl_partition: selected, and, alone, not held yet; topics are owned */
    GPtrArray *missing; /* topics asked for by name that are not there */
};

static void
found(void *user, pawl_partition partition)
{
    struct findings *findings = user;

    if (pawl__job_is_member(findings->job) || pawl__holdings_find(findings->job->holdings, partition) == NULL)
        pawl__partitions_add(findings->appeared, partition);
}

static void
missing(void *user, const char *topic)
{
    struct findings *findings = user;

    g_ptr_array_add(findings->missing, g_strdup(topic));
}

static void
findings_init(struct findings *findings, pawl_job *job)
{
    findings->job = job;
    findings->appeared = pawl__partitions_new();
    findings->missing = g_ptr_array_new_with_free_func(g_free);
}

static void
findings_done(struct findings *findings)
{
    g_array_unref(findings->appeared);
    g_ptr_array_unref(findings->missing);
}

static pawl_status
look(struct findings *findings, pawl_error *err)
{
    pawl_job *job = findings->job;
    pawl_status status;

    g_array_set_size(findings->appeared, 0);
    g_ptr_array_set_size(findings->missing, 0);
    status = job->source.api->discover(job->source.self, pawl__job_source_deadline(job), found, missing, findings, err);
    job->discovery_due_ms = pawl__clock_ms() + job->settings.discovery_interval_ms;
    g_array_sort(findings->appeared, pawl__partition_compare);
    return status;
}

/* Takes over what was found, or has the group share it out. */
static pawl_status
take_over(pawl_job *job, const pawl_partition *partitions, size_t count, void *user, pawl_error *err)
{
    (void) user;
    if (pawl__job_is_member(job))
        return pawl__job_subscribe(job, partitions, count, err);
    return pawl__job_take_over(job, partitions, count, err);
}

static pawl_status
take_found(struct findings *findings, pawl_error *err)
{
    if (findings->appeared->len == 0)
        return PAWL_OK;
    return take_over(findings->job, &g_array_index(findings->appeared, pawl_partition, 0), findings->appeared->len,
                     NULL, err);
}

/* Whether the take-over came so far that there is no way back. */
static bool
is_any_held(const struct findings *findings)
{
    for (guint i = 0; i < findings->appeared->len; i++)
        if (pawl__holdings_find(findings->job->holdings, g_array_index(findings->appeared, pawl_partition, i)) != NULL)
            return true;
    return false;
}

/* What is not there, for a message. The caller frees it. */
static char *
describe_missing(const struct findings *findings)
{
    const pawl__settings *settings = &findings->job->settings;

    if (findings->missing->len == 0)
        return g_strdup_printf("no topic matches topics_pattern '%s'", settings->topics_pattern);
    if (settings->partition_count > 0)
        return g_strdup_printf("a partition of topic '%s' that was asked for, or the topic, does not exist",
                               (const char *) g_ptr_array_index(findings->missing, 0));
    return g_strdup_printf("topic '%s' does not exist, or may not be seen",
                           (const char *) g_ptr_array_index(findings->missing, 0));
}

static pawl_status
give_up_topics(const struct findings *findings, pawl_error *err)
{
    char timeout[PAWL__DURATION_TEXT_SIZE];
    char *what = describe_missing(findings);

    pawl_error_set(err, PAWL_FAILED, PAWL_ERROR_RETRIABLE, 0, "%s: nobody made it within topic_timeout = %s", what,
                   pawl__text_from_duration(findings->job->settings.topic_timeout_ms, timeout));
    g_free(what);
    return PAWL_FAILED;
}

static void
log_waiting(const struct findings *findings)
{
    char timeout[PAWL__DURATION_TEXT_SIZE];
    char *what = describe_missing(findings);

    pawl__log(&findings->job->log, PAWL_LOG_WARN, "job", "%s: waiting for up to topic_timeout = %s", what,
              pawl__text_from_duration(findings->job->settings.topic_timeout_ms, timeout));
    g_free(what);
}

/* Looks until every topic that was asked for is there. */
static pawl_status
look_for_topics(struct findings *findings, pawl_error *err)
{
    pawl_job *job = findings->job;
    int64_t deadline_ms = pawl__clock_ms() + job->settings.topic_timeout_ms;
    pawl_status status = look(findings, err);
    bool waiting = false;

    while (status == PAWL_OK && (findings->missing->len > 0 || findings->appeared->len == 0)) {
        if (pawl__clock_ms() >= deadline_ms)
            return give_up_topics(findings, err);
        if (!waiting)
            log_waiting(findings);
        waiting = true;
        if (!pawl__job_wait(job, MIN(deadline_ms, pawl__clock_ms() + TOPIC_RETRY_MS)))
            return pawl__job_broken_off(job, err);
        status = look(findings, err);
    }
    return status;
}

pawl_status
pawl__job_find(pawl_job *job,
               pawl_status (*fn)(pawl_job *job, const pawl_partition *partitions, size_t count, void *user,
                                 pawl_error *err),
               void *user, pawl_error *err)
{
    struct findings findings;
    pawl_status status;

    if (!pawl__job_wait(job, 0))
        return pawl__job_broken_off(job, err);
    findings_init(&findings, job);
    status = job->source.api->cluster(job->source.self, pawl__job_source_deadline(job), job->cluster,
                                      sizeof job->cluster, err);
    if (status == PAWL_OK)
        status = look_for_topics(&findings, err);
    if (status == PAWL_OK)
        status = fn(job, &g_array_index(findings.appeared, pawl_partition, 0), findings.appeared->len, user, err);
    findings_done(&findings);
    return status;
}

pawl_status
pawl__job_recover(pawl_job *job, pawl_error *err)
{
    pawl_status status = pawl__job_find(job, take_over, NULL, err);

    job->recovered = status == PAWL_OK;
    job->batch_ended_ms = pawl__clock_ms();
    return status;
}

pawl_status
pawl__job_discover(pawl_job *job, pawl_error *err)
{
    struct findings findings;
    pawl_error answer = {0};
    pawl_status status;

    if (pawl__clock_ms() < job->discovery_due_ms)
        return PAWL_OK;
    findings_init(&findings, job);
    pawl__keeper_lend(job->keeper);
    look(&findings, &answer);
    status = pawl__keeper_take_back(job->keeper, err);
    /* No answer, or one with fewer partitions than before, is no news: what is held stays held. */
    if (status == PAWL_OK && answer.status == PAWL_OK)
        status = take_found(&findings, err);
    else if (status == PAWL_OK)
        pawl__log(&job->log, PAWL_LOG_WARN, "job", "looking for new partitions: %s", answer.message);
    if (status == PAWL_UNREACHABLE && !is_any_held(&findings)) {
        pawl__log(&job->log, PAWL_LOG_WARN, "job", "new partitions are left until the next look: %s", err->message);
        status = PAWL_OK;
    }
    findings_done(&findings);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- release -- */

/* Tells the sink which of the partitions that it opened are no longer read. */
static void
close_partitions(pawl_job *job, pawl__holding *const *holdings, size_t count)
{
    pawl_partition *partitions = g_new0(pawl_partition, count);
    size_t opened = 0;

    for (size_t i = 0; i < count; i++)
        if (holdings[i]->opened)
            partitions[opened++] = holdings[i]->partition;
    if (opened > 0 && job->hooks.on_close != NULL) {
        pawl__call_begin(&job->call, "on_close");
        job->hooks.on_close(job->hooks.user, partitions, opened);
        pawl__call_end(&job->call);
    }
    g_free(partitions);
}

static void
release(pawl_job *job, pawl__holding *const *holdings, size_t count, bool give_back)
{
    pawl_acquire_line *lines = g_new0(pawl_acquire_line, count);
    pawl_error err = {0};

    for (size_t i = 0; i < count; i++) {
        lines[i].partition = holdings[i]->partition;
        lines[i].ret_epoch = holdings[i]->epoch;
    }
    close_partitions(job, holdings, count);
    if (give_back && count > 0 && pawl_store_release(job->store, job->settings.group, lines, count, &err) != PAWL_OK)
        pawl__log(&job->log, PAWL_LOG_WARN, "job", "the partitions were not given back: %s", err.message);
    g_free(lines);
}

void
pawl__job_release(pawl_job *job, bool give_back)
{
    size_t count = pawl__holdings_count(job->holdings);
    pawl__holding **holdings = g_new0(pawl__holding *, count);

    for (size_t i = 0; i < count; i++)
        holdings[i] = pawl__holdings_at(job->holdings, i);
    release(job, holdings, count, give_back);
    g_free(holdings);
}

void
pawl__job_give_up(pawl_job *job, pawl__holding **holdings, size_t count, bool give_back)
{
    pawl_source_tap **taps = g_new0(pawl_source_tap *, count);
    size_t held = 0;

    release(job, holdings, count, give_back);
    for (size_t i = 0; i < count; i++)
        if (holdings[i]->tap != NULL) /* NULL: it was taken half */
            taps[held++] = holdings[i]->tap;
    if (held > 0)
        job->source.api->unhold(job->source.self, taps, held);
    for (size_t i = 0; i < count; i++) {
        pawl__mirror_forget(job->mirror, holdings[i]->partition);
        pawl__holdings_remove(job->holdings, holdings[i]);
    }
    g_free(taps);
}
