/*
 * settings_check.c - whether settings that are right by themselves agree
 */
#include "core/settings.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "util/pattern.h"
#include "util/text.h"

static pawl_status
check_required(const pawl__settings *settings, pawl_error *err)
{
    int selections = (settings->topics != NULL) + (settings->topics_pattern != NULL) + (settings->partitions != NULL);

    if (settings->group == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "group is required: the name under which offsets are kept");
    if (settings->store == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "store is required: where offsets are kept, sqlite:offsets.db for instance");
    if (selections == 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "one of topics, topics_pattern and partitions is required");
    if (selections > 1)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "only one of topics, topics_pattern and partitions can be set; an empty one is not set");
    return PAWL_OK;
}

static pawl_status
check_limits(const pawl__settings *settings, pawl_error *err)
{
    int64_t most = settings->max_offsets_per_batch;

    if (most != 0 && settings->min_offsets_per_batch > most)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "min_offsets_per_batch: %" PRId64
                              " is more than max_offsets_per_batch, which is %" PRId64,
                              settings->min_offsets_per_batch, most);
    return PAWL_OK;
}

/* An owner that renews its entry less often than others wait for it would be fenced off while it works. */
static pawl_status
check_takeover(const pawl__settings *settings, pawl_error *err)
{
    char idle[PAWL__DURATION_TEXT_SIZE], refresh[PAWL__DURATION_TEXT_SIZE];

    if (settings->takeover != PAWL__TAKEOVER_IDLE || settings->takeover_idle_ms > settings->refresh_interval_ms)
        return PAWL_OK;
    return pawl_error_set(err, PAWL_INVALID, 0, 0,
                          "takeover: idle:%s has to be longer than refresh.interval, which is %s",
                          pawl__text_from_duration(settings->takeover_idle_ms, idle),
                          pawl__text_from_duration(settings->refresh_interval_ms, refresh));
}

/* In a group it is the group that says who owns what. */
static pawl_status
check_members(const pawl__settings *settings, pawl_error *err)
{
    if (settings->members == PAWL__MEMBERS_ALONE && settings->instance_id != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "instance_id is for members = group, and this job is alone");
    if (settings->members == PAWL__MEMBERS_ALONE)
        return PAWL_OK;
    if (g_ascii_isspace(settings->group[0]))
        return pawl_error_set(
            err, PAWL_INVALID, 0, 0,
            "group '%s': with members = group it must not begin with a blank, which librdkafka cuts off",
            settings->group);
    if (settings->partitions != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "members = group shares whole topics: set topics or topics_pattern, not partitions");
    if (settings->takeover != PAWL__TAKEOVER_NOW)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "members = group leaves it to the group who owns a partition: takeover has to be now");
    return PAWL_OK;
}

static pawl_status
check_mirror(const pawl__settings *settings, pawl_error *err)
{
    if (settings->mirror == PAWL__MIRROR_NONE || !g_str_has_prefix(settings->store, "kafka:"))
        return PAWL_OK;
    return pawl_error_set(err, PAWL_INVALID, 0, 0,
                          "mirror = kafka is for other stores: with a kafka: store offsets are in the group already");
}

/* ----------------------------------------------------------------------------------------------------------- start -- */

static bool
lists_partition(const pawl__settings *settings, const pawl__settings_place *place)
{
    for (size_t i = 0; i < settings->partition_count; i++)
        if (settings->partitions[i].partition == place->partition &&
            strcmp(settings->partitions[i].topic, place->topic) == 0)
            return true;
    return false;
}

/* pattern: the compiled topics_pattern where there is one. */
static bool
selects(const pawl__settings *settings, const GRegex *pattern, const pawl__settings_place *place)
{
    if (settings->topics != NULL)
        return g_strv_contains((const char *const *) settings->topics, place->topic);
    if (pattern != NULL)
        return pawl__pattern_matches(pattern, place->topic);
    return lists_partition(settings, place);
}

static pawl_status
check_start(const pawl__settings *settings, pawl_error *err)
{
    pawl_status status = PAWL_OK;
    GRegex *pattern = NULL;

    if (settings->topics_pattern != NULL && settings->start_offset_count > 0)
        status = pawl__pattern_new(settings->topics_pattern, &pattern, err);
    for (size_t i = 0; i < settings->start_offset_count && status == PAWL_OK; i++) {
        const pawl__settings_place *place = &settings->start_offsets[i];

        if (!selects(settings, pattern, place))
            status = pawl_error_set(err, PAWL_INVALID, 0, 0, "start: %s:%" PRId32 " is not among what is read",
                                    place->topic, place->partition);
    }
    g_clear_pointer(&pattern, g_regex_unref);
    return status;
}

pawl_status
pawl__settings_check(const pawl__settings *settings, pawl_error *err)
{
    static pawl_status (*const checks[])(const pawl__settings *settings, pawl_error *err) = {
        check_required, check_limits, check_takeover, check_members, check_mirror, check_start,
    };
    pawl_status status = PAWL_OK;

    for (size_t i = 0; i < G_N_ELEMENTS(checks) && status == PAWL_OK; i++)
        status = checks[i](settings, err);
    return status;
}
