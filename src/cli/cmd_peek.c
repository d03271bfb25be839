/*
 * cmd_peek.c - pawl peek: prints the records of a range
 */
#include "cli/commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/moves.h"
#include "cli/record_text.h"
#include "cli/specs.h"
#include "util/text.h"

static const pawl_option *const options[] = {
    &pawl__option_brokers, &pawl__option_kafka, &pawl__option_isolation,
    &pawl__option_timeout, &pawl__option_json,  NULL,
};

static const char *const examples[] = {
    "pawl peek flights:0:1200-1210 --brokers localhost:9092",
    NULL,
};

struct peek {
    const pawl_places *places;
    pawl_cluster cluster;
    pawl_partition partition;
    int64_t from, until;
    pawl_buffer head; /* what all JSON lines begin with */
    pawl_buffer line;
};

/* ------------------------------------------------------------------------------------------------------ printing -- */

/* Bytes in one line: what is no UTF-8 and what would move the cursor are escapes. */
static void
add_bytes(pawl_buffer *line, const char *bytes, size_t size)
{
    while (size > 0) {
        gunichar c = g_utf8_get_char_validated(bytes, (gssize) size);
        bool valid = c != (gunichar) -1 && c != (gunichar) -2;
        size_t step = valid ? (size_t) g_unichar_to_utf8(c, NULL) : 1;
        char escape[8];

        if (valid && c != '\\' && g_unichar_isprint(c)) {
            pawl__buffer_add(line, bytes, step);
        } else {
            for (size_t i = 0; i < step; i++) {
                g_snprintf(escape, sizeof escape, "\\x%02x", (unsigned char) bytes[i]);
                pawl__buffer_add_text(line, escape);
            }
        }
        bytes += step;
        size -= step;
    }
}

/* name="..."; without quotes where there is nothing: name=null. */
static void
add_field(pawl_buffer *line, const char *name, const void *bytes, size_t size)
{
    pawl__buffer_add_byte(line, ' ');
    pawl__buffer_add_text(line, name);
    if (bytes == NULL) {
        pawl__buffer_add_text(line, "=null");
        return;
    }
    pawl__buffer_add_text(line, "=\"");
    add_bytes(line, bytes, size);
    pawl__buffer_add_byte(line, '"');
}

static void
add_text(pawl_buffer *line, const pawl_record *record)
{
    char time[PAWL__TIME_TEXT_SIZE];
    pawl_header header;

    pawl__buffer_add_number(line, record->offset);
    pawl__buffer_add_byte(line, ' ');
    pawl__buffer_add_text(
        line, record->timestamp_type == PAWL_TIMESTAMP_NONE ? "-" : pawl__text_from_time(record->timestamp_ms, time));
    add_field(line, "key", record->key, record->key_size);
    add_field(line, "value", record->value, record->value_size);
    for (size_t i = 0; pawl_record_header(record, i, &header); i++) {
        char *name = g_strconcat("header.", header.name, NULL);

        add_field(line, name, header.value, header.value_size);
        g_free(name);
    }
    pawl__buffer_add_byte(line, '\n');
}

static pawl_status
print_records(struct peek *peek, const pawl_delivery *delivery, pawl_error *err)
{
    for (size_t i = 0; i < delivery->count; i++) {
        peek->line.size = 0;
        if (peek->places->json)
            pawl__record_json(&peek->line, &peek->head, &delivery->records[i]);
        else
            add_text(&peek->line, &delivery->records[i]);
        if (fwrite(peek->line.data, 1, peek->line.size, stdout) != peek->line.size)
            return pawl_error_set(err, PAWL_FAILED, 0, 0, "cannot write to standard output");
    }
    return PAWL_OK;
}

/* ------------------------------------------------------------------------------------------------------- reading -- */

static pawl_status
check_range(struct peek *peek, const pawl_move *move, pawl_error *err)
{
    if (peek->from >= move->low.offset && peek->until <= move->high.offset)
        return PAWL_OK;
    return pawl_error_set(err, PAWL_INVALID, 0, 0,
                          "partition %d of '%s' holds the offsets %" PRId64 " to %" PRId64
                          " (not itself), and not all of %" PRId64 "-%" PRId64,
                          (int) peek->partition.number, peek->partition.topic, move->low.offset, move->high.offset,
                          peek->from, peek->until);
}

/* A range past the end would be waited for. */
static pawl_status
check_bounds(struct peek *peek, pawl_error *err)
{
    GArray *moves = pawl__moves_new();
    pawl_status status;

    pawl__moves_add(moves, peek->partition, pawl_position_absent());
    status = pawl__moves_discover(moves, &peek->cluster, err);
    if (status == PAWL_OK)
        status = pawl__moves_bound(moves, &peek->cluster, err);
    if (status == PAWL_OK)
        status = pawl__moves_need_bounds(moves, err);
    if (status == PAWL_OK)
        status = check_range(peek, pawl__moves_at(moves, 0), err);
    g_array_unref(moves);
    return status;
}

static pawl_status
read_range(struct peek *peek, pawl_error *err)
{
    const pawl_source_backend *source = peek->cluster.source;
    pawl_hold_line hold = {.partition = peek->partition, .position = peek->from};
    pawl_delivery delivery = {.kind = PAWL_DELIVERY_NONE};
    pawl_source_lane *lane;
    pawl_status status = source->hold(peek->cluster.self, &hold, 1, err);

    if (status != PAWL_OK)
        return status;
    lane = source->lane(peek->cluster.self, 0);
    source->range_open(lane, hold.ret_tap, peek->from, peek->until, peek);
    while (status == PAWL_OK && delivery.kind != PAWL_DELIVERY_END) {
        source->next(lane, pawl__cluster_deadline(&peek->cluster), &delivery);
        if (delivery.kind == PAWL_DELIVERY_RECORDS)
            status = print_records(peek, &delivery, err);
        else if (delivery.kind == PAWL_DELIVERY_FAILED)
            status = pawl_error_set(err, delivery.err.status, delivery.err.flags, delivery.err.native_code, "%s",
                                    delivery.err.message);
    }
    if (delivery.kind != PAWL_DELIVERY_END && delivery.kind != PAWL_DELIVERY_FAILED)
        source->range_shut(lane, hold.ret_tap);
    source->settle(lane);
    return status;
}

static pawl_status
run(const pawl_invocation *call, pawl_error *err)
{
    struct peek peek = {.places = call->values};
    const char *topics[] = {NULL, NULL};
    pawl_status status = pawl__spec_range(call->operands[0], &peek.partition, &peek.from, &peek.until, err);

    if (status != PAWL_OK)
        return status;
    topics[0] = peek.partition.topic;
    pawl__record_json_head(&peek.head, peek.partition.topic, peek.partition.number);
    status = pawl__cluster_open(peek.places, topics, &peek.cluster, err);
    if (status == PAWL_OK)
        status = check_bounds(&peek, err);
    if (status == PAWL_OK)
        status = read_range(&peek, err);
    pawl__cluster_close(&peek.cluster);
    pawl__buffer_done(&peek.head);
    pawl__buffer_done(&peek.line);
    return status;
}

const pawl_command pawl__cmd_peek = {
    .name = "peek",
    .summary = "prints the records of a range",
    .operands = "TOPIC:PARTITION:FROM-UNTIL",
    .min_operands = 1,
    .max_operands = 1,
    .details =
        "UNTIL is the offset after the last one. Offsets without a record are left out: compaction and "
        "transactions make them. With --json each record is a line as pawl run writes it to commands. No group and "
        "no store is touched.",
    .examples = examples,
    .options = options,
    .values_size = sizeof(pawl_places),
    .run = run,
};
