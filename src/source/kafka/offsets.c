/*
 * offsets.c - questions about offsets: where logs begin and end, and where a time is
 */
#include "source/kafka/kafka.h"

#include <string.h>

#include "util/clock.h"

/* ListOffsets' own names for the ends of a log (KAFKA protocol: timestamp -1 and -2). */
#define LATEST   (-1)
#define EARLIEST (-2)

/* librdkafka does not say of each partition that it does not exist when none of them does. */
static bool
is_about_missing(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
           code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
}

static void
set_errors(rd_kafka_topic_partition_list_t *list, rd_kafka_resp_err_t code)
{
    for (int i = 0; i < list->cnt; i++)
        if (list->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR)
            list->elems[i].err = code;
}

/* A broker does not have a partition that it leads as far as the client knows: it has to look again. */
static bool
look_again(rd_kafka_t *client, int timeout_ms)
{
    const rd_kafka_metadata_t *metadata;

    if (rd_kafka_metadata(client, 0, NULL, &metadata, timeout_ms) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return false;
    rd_kafka_metadata_destroy(metadata);
    return true;
}

/*
 * Asks for one offset of each partition in the list, one question a broker. What is wrong with one is told by its `err`, as
 * far as the client knows; if only the broker does, it spoils the answer for all of them.
 */
static pawl_status
ask_offsets(kafka_source *source, rd_kafka_t *client, int64_t deadline_ms, rd_kafka_topic_partition_list_t *list,
            int64_t time, pawl_error *err)
{
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TIMED_OUT;
    bool looked = list->cnt == 1;
    int slice;

    while ((slice = pawl__kafka_slice_ms(source, deadline_ms)) > 0) {
        int64_t asked_ms = pawl__clock_ms();

        for (int i = 0; i < list->cnt; i++) {
            list->elems[i].offset = time;
            list->elems[i].err = RD_KAFKA_RESP_ERR_NO_ERROR;
        }
        code = rd_kafka_offsets_for_times(client, list, slice);
        if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART && !looked) {
            looked = look_again(client, slice);
            pawl__kafka_breathe(source, asked_ms);
            continue;
        }
        if (is_about_missing(code))
            set_errors(list, code);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR || is_about_missing(code))
            return PAWL_OK;
        if (!pawl__kafka_is_worth_another_try(code))
            break;
        pawl__kafka_breathe(source, asked_ms);
    }
    return pawl__kafka_unreachable(source, code, "where the logs begin and end", err);
}

static pawl_status
status_of(const rd_kafka_topic_partition_t *answer)
{
    if (is_about_missing(answer->err))
        return PAWL_FAILED;
    if (answer->err != RD_KAFKA_RESP_ERR_NO_ERROR || answer->offset < 0)
        return PAWL_UNREACHABLE;
    return PAWL_OK;
}

static const char *
why_of(const rd_kafka_topic_partition_t *answer)
{
    if (is_about_missing(answer->err))
        return "the partition does not exist";
    return answer->err != RD_KAFKA_RESP_ERR_NO_ERROR ? rd_kafka_err2str(answer->err) : "it tells none";
}

const rd_kafka_topic_partition_t *
pawl__kafka_answer(const rd_kafka_topic_partition_list_t *list, int hint, pawl_partition partition)
{
    const rd_kafka_topic_partition_t *element = &list->elems[hint];

    if (element->partition == partition.number && strcmp(element->topic, partition.topic) == 0)
        return element;
    return rd_kafka_topic_partition_list_find((rd_kafka_topic_partition_list_t *) list, partition.topic,
                                              partition.number);
}

/* Asks for both ends of each line's log. librdkafka may sort its list, so answers are found by name. */
static pawl_status
ask_bounds(kafka_source *source, rd_kafka_t *client, int64_t deadline_ms, pawl_bounds_line *lines, size_t count,
           pawl_error *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int) count);
    const int64_t ends[] = {EARLIEST, LATEST};
    pawl_status status = PAWL_OK;

    for (size_t i = 0; i < count; i++) {
        rd_kafka_topic_partition_list_add(list, lines[i].partition.topic, lines[i].partition.number);
        lines[i].ret_status = PAWL_OK;
    }
    for (size_t e = 0; status == PAWL_OK && e < G_N_ELEMENTS(ends); e++) {
        status = ask_offsets(source, client, deadline_ms, list, ends[e], err);
        for (size_t i = 0; status == PAWL_OK && i < count; i++) {
            const rd_kafka_topic_partition_t *answer = pawl__kafka_answer(list, (int) i, lines[i].partition);

            if (lines[i].ret_status == PAWL_OK) {
                lines[i].ret_status = status_of(answer);
                lines[i].ret_why = lines[i].ret_status != PAWL_OK ? why_of(answer) : NULL;
            }
            *(ends[e] == EARLIEST ? &lines[i].ret_low : &lines[i].ret_high) = answer->offset;
        }
    }
    rd_kafka_topic_partition_list_destroy(list);
    return status;
}

pawl_status
pawl__kafka_bounds(void *self, int64_t deadline_ms, pawl_bounds_line *lines, size_t count, pawl_error *err)
{
    kafka_source *source = self;

    return ask_bounds(source, source->asker, deadline_ms, lines, count, err);
}

pawl_status
pawl__kafka_log_end(void *self, int64_t deadline_ms, pawl_bounds_line *lines, size_t count, pawl_error *err)
{
    kafka_source *source = self;
    kafka_client_setup setup = source->asker_setup;
    rd_kafka_t *client = NULL;
    pawl_status status;

    if (!setup.read_committed)
        return pawl__kafka_bounds(self, deadline_ms, lines, count, err);
    /* A client has one isolation for all it asks, so this rare question gets a client of its own. */
    setup.read_committed = false;
    status = pawl__kafka_client_new(&setup, &source->budget, &client, err);
    if (status == PAWL_OK)
        status = ask_bounds(source, client, deadline_ms, lines, count, err);
    pawl__kafka_client_free(client);
    return status;
}

static pawl_status
untold_time(const rd_kafka_topic_partition_t *answer, pawl_error *err)
{
    return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, answer->err,
                          "%s [%d]: the broker does not tell the offset of a time: %s", answer->topic,
                          answer->partition, why_of(answer));
}

/* "No record at or after" is answered with -1. */
static pawl_status
take_times(const rd_kafka_topic_partition_list_t *list, pawl_time_line *lines, size_t count, pawl_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const rd_kafka_topic_partition_t *answer = pawl__kafka_answer(list, (int) i, lines[i].partition);

        if (answer->err != RD_KAFKA_RESP_ERR_NO_ERROR)
            return untold_time(answer, err);
        lines[i].ret_none_after = answer->offset < 0;
        lines[i].ret_offset = answer->offset;
    }
    return PAWL_OK;
}

/* Puts the ends of the logs where there is no record at or after. */
static pawl_status
ask_ends(kafka_source *source, int64_t deadline_ms, pawl_time_line *lines, size_t count, pawl_error *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int) count);
    pawl_status status = PAWL_OK;
    int next = 0;

    for (size_t i = 0; i < count; i++)
        if (lines[i].ret_none_after)
            rd_kafka_topic_partition_list_add(list, lines[i].partition.topic, lines[i].partition.number);
    if (list->cnt > 0)
        status = ask_offsets(source, source->asker, deadline_ms, list, LATEST, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        const rd_kafka_topic_partition_t *answer;

        if (!lines[i].ret_none_after)
            continue;
        answer = pawl__kafka_answer(list, next++, lines[i].partition);
        lines[i].ret_offset = answer->offset;
        if (status_of(answer) != PAWL_OK)
            status = untold_time(answer, err);
    }
    rd_kafka_topic_partition_list_destroy(list);
    return status;
}

pawl_status
pawl__kafka_at_time(void *self, int64_t deadline_ms, int64_t time_ms, pawl_time_line *lines, size_t count,
                    pawl_error *err)
{
    kafka_source *source = self;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int) count);
    pawl_status status;

    for (size_t i = 0; i < count; i++)
        rd_kafka_topic_partition_list_add(list, lines[i].partition.topic, lines[i].partition.number);
    status = ask_offsets(source, source->asker, deadline_ms, list, time_ms, err);
    if (status == PAWL_OK)
        status = take_times(list, lines, count, err);
    if (status == PAWL_OK)
        status = ask_ends(source, deadline_ms, lines, count, err);
    rd_kafka_topic_partition_list_destroy(list);
    return status;
}
