/*
 * cmd_offsets_reset.c - pawl offsets reset: offsets by a rule
 */
#include "cli/commands.h"

#include <string.h>

#include "cli/change.h"
#include "cli/specs.h"
#include "util/clock.h"
#include "util/text.h"

typedef struct reset_values {
    pawl_places places;
    bool to_earliest;
    bool to_latest;
    const char *to_offset;
    const char *to_time;
    const char *by_duration;
    const char *shift_by;
} reset_values;

static const pawl_option to_earliest_option = {
    .name = "to-earliest",
    .kind = PAWL_OPTION_FLAG,
    .summary = "To the start of the log.",
    .field = offsetof(reset_values, to_earliest),
};

static const pawl_option to_latest_option = {
    .name = "to-latest",
    .kind = PAWL_OPTION_FLAG,
    .summary = "To the end of the log.",
    .field = offsetof(reset_values, to_latest),
};

static const pawl_option to_offset_option = {
    .name = "to-offset",
    .kind = PAWL_OPTION_TEXT,
    .argument = "N",
    .summary = "To this offset, or as near to it as the log reaches.",
    .field = offsetof(reset_values, to_offset),
};

static const pawl_option to_time_option = {
    .name = "to-time",
    .kind = PAWL_OPTION_TEXT,
    .argument = "TIME",
    .summary =
        "To the first record whose timestamp is at or after a time: 2013-01-01T10:00:00Z, with another offset from "
        "UTC, or milliseconds since 1970. Where there is no such record: to the end of the log.",
    .field = offsetof(reset_values, to_time),
};

static const pawl_option by_duration_option = {
    .name = "by-duration",
    .kind = PAWL_OPTION_TEXT,
    .argument = "DURATION",
    .summary = "To the first record whose timestamp is not older than this: PT1H, P2D or 90m.",
    .field = offsetof(reset_values, by_duration),
};

static const pawl_option shift_by_option = {
    .name = "shift-by",
    .kind = PAWL_OPTION_TEXT,
    .argument = "N",
    .summary = "By so many offsets, back with a minus sign, and as far as the log reaches.",
    .field = offsetof(reset_values, shift_by),
};

static const pawl_option *const options[] = {
    &pawl__option_store,   &pawl__option_group,      &pawl__option_brokers,
    &pawl__option_topic,   &pawl__option_all_topics, &to_earliest_option,
    &to_latest_option,     &to_offset_option,        &to_time_option,
    &by_duration_option,   &shift_by_option,         &pawl__option_execute,
    &pawl__option_kafka,   &pawl__option_force,      &pawl__option_isolation,
    &pawl__option_timeout, &pawl__option_json,       NULL,
};

static const char *const examples[] = {
    "pawl offsets reset --store sqlite:offsets.db --group etl --brokers localhost:9092 --topic flights --to-earliest",
    "pawl offsets reset --store sqlite:offsets.db --group etl --brokers localhost:9092 --topic flights:0,3 "
    "--to-time 2013-01-01T10:00:00-05:00 --execute",
    NULL,
};

/* ---------------------------------------------------------------------------------------------------- where it goes -- */

/* The nearest offset that the log holds. */
static void
clip(pawl_move *move, int64_t offset)
{
    move->note = NULL;
    if (offset < move->low.offset)
        move->note = "clipped to the start of the log";
    else if (offset > move->high.offset)
        move->note = "clipped to the end of the log";
    move->to = pawl_position_at(CLAMP(offset, move->low.offset, move->high.offset));
}

static pawl_status
to_earliest(pawl_change *change, pawl_move *move, pawl_error *err)
{
    (void) change, (void) err;
    move->to = move->low;
    return PAWL_OK;
}

static pawl_status
to_latest(pawl_change *change, pawl_move *move, pawl_error *err)
{
    (void) change, (void) err;
    move->to = move->high;
    return PAWL_OK;
}

static pawl_status
to_offset(pawl_change *change, pawl_move *move, pawl_error *err)
{
    (void) err;
    clip(move, *(const int64_t *) change->user);
    return PAWL_OK;
}

static pawl_status
shift_by(pawl_change *change, pawl_move *move, pawl_error *err)
{
    int64_t by = *(const int64_t *) change->user, offset;

    if (!move->entry.offset.known)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "nothing is stored for partition %d of '%s', so there is nothing to shift; nothing was "
                              "written",
                              (int) move->partition.number, move->partition.topic);
    if (__builtin_add_overflow(move->entry.offset.offset, by, &offset))
        offset = by < 0 ? INT64_MIN : INT64_MAX;
    clip(move, offset);
    return PAWL_OK;
}

/* The brokers have said already; absent: there is no record at or after that time. */
static pawl_status
to_time(pawl_change *change, pawl_move *move, pawl_error *err)
{
    (void) change, (void) err;
    if (move->at_time.known) {
        clip(move, move->at_time.offset);
        return PAWL_OK;
    }
    move->to = move->high;
    move->note = "no record at or after: the end of the log";
    return PAWL_OK;
}

static pawl_status
ask_time(pawl_change *change, pawl_cluster *cluster, pawl_error *err)
{
    size_t count = change->moves->len;
    pawl_time_line *lines = g_new0(pawl_time_line, count);
    pawl_status status;

    for (size_t i = 0; i < count; i++)
        lines[i].partition = pawl__moves_at(change->moves, i)->partition;
    status =
        cluster->source->at_time(cluster->self, pawl__cluster_deadline(cluster), change->time_ms, lines, count, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        pawl__moves_at(change->moves, i)->at_time =
            lines[i].ret_none_after ? pawl_position_absent() : pawl_position_at(lines[i].ret_offset);
    g_free(lines);
    return status;
}

/* -------------------------------------------------------------------------------------------------- what is wanted -- */

static pawl_status
take_offset(const reset_values *values, int64_t *number, pawl_error *err)
{
    if (pawl__text_offset(values->to_offset, strlen(values->to_offset), number))
        return PAWL_OK;
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "--to-offset: an offset is a number from 0 to 2^63-1");
}

static pawl_status
take_duration(pawl_change *change, const reset_values *values, pawl_error *err)
{
    int64_t ms, now_ms = pawl__clock_wall_ms();
    pawl_status status = pawl__text_duration(values->by_duration, &ms, err);

    if (status != PAWL_OK)
        return pawl_error_prefix(err, "--by-duration");
    if (ms > now_ms)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "--by-duration: that is before 1970");
    change->time_ms = now_ms - ms;
    return PAWL_OK;
}

static size_t
count_rules(const reset_values *values)
{
    return (size_t) values->to_earliest + (size_t) values->to_latest + (values->to_offset != NULL) +
           (values->to_time != NULL) + (values->by_duration != NULL) + (values->shift_by != NULL);
}

static pawl_status
take_rule(pawl_change *change, const reset_values *values, int64_t *number, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    if (count_rules(values) != 1)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "one of --to-earliest, --to-latest, --to-offset, --to-time, --by-duration and --shift-by "
                              "is needed, and only one");
    change->user = number;
    change->resolve = to_time;
    change->ask = NULL;
    if (values->to_earliest) {
        change->resolve = to_earliest;
    } else if (values->to_latest) {
        change->resolve = to_latest;
    } else if (values->to_offset != NULL) {
        change->resolve = to_offset;
        status = take_offset(values, number, err);
    } else if (values->shift_by != NULL) {
        change->resolve = shift_by;
        change->is_relative = true;
        status = pawl__text_integer(values->shift_by, number, err);
        if (status != PAWL_OK)
            pawl_error_prefix(err, "--shift-by");
    } else if (values->to_time != NULL) {
        change->ask = ask_time;
        status = pawl__text_time(values->to_time, &change->time_ms, err);
        if (status != PAWL_OK)
            pawl_error_prefix(err, "--to-time");
    } else {
        change->ask = ask_time;
        status = take_duration(change, values, err);
    }
    return status;
}

static pawl_status
run(const pawl_invocation *call, pawl_error *err)
{
    const reset_values *values = call->values;
    pawl_change change = pawl__change_begin(call);
    int64_t number = 0;
    pawl_status status = take_rule(&change, values, &number, err);

    if (status == PAWL_OK)
        status = pawl__change_select(&change, err);
    if (status == PAWL_OK)
        status = pawl__change_run(&change, err);
    pawl__change_done(&change);
    return status;
}

const pawl_command pawl__cmd_offsets_reset = {
    .name = "reset",
    .summary = "stores offsets that follow from a rule",
    .details = "What lies outside of the log is clipped to its start or end, and the table says so.",
    .examples = examples,
    .options = options,
    .values_size = sizeof(reset_values),
    .run = run,
};
