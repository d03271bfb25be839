/*
 * record_text.c - records as lines, for programs that read them
 *
 * Written by hand rather than with yajl: this is what a job with `exec` spends its time on.
 */
#include "cli/record_text.h"

#include <glib.h>

/* GLib's check takes a NUL for an end; in JSON it is a character like others. */
static bool
is_utf8(const char *bytes, size_t size)
{
    const char *end = bytes + size;

    while (bytes < end) {
        const char *nul = memchr(bytes, '\0', (size_t) (end - bytes));
        const char *stop = nul != NULL ? nul : end;

        if (!g_utf8_validate_len(bytes, (gsize) (stop - bytes), NULL))
            return false;
        bytes = stop + 1;
    }
    return true;
}

void
pawl__record_json_head(pawl_buffer *head, const char *topic, int32_t partition)
{
    pawl__buffer_add_text(head, "{\"topic\":");
    pawl__buffer_add_json(head, topic, strlen(topic));
    pawl__buffer_add_text(head, ",\"partition\":");
    pawl__buffer_add_number(head, partition);
    pawl__buffer_add_text(head, ",\"offset\":");
}

/* ,"NAME":"..." with its encoding, where that is not UTF-8. The name comes with its comma, quotes and colon. */
static void
add_bytes(pawl_buffer *out, const char *name, const char *encoding, const void *bytes, size_t size)
{
    pawl__buffer_add_text(out, name);
    if (bytes == NULL) {
        pawl__buffer_add(out, "null", 4);
    } else if (is_utf8(bytes, size)) {
        pawl__buffer_add_json(out, bytes, size);
    } else {
        pawl__buffer_add_byte(out, '"');
        pawl__buffer_add_base64(out, bytes, size);
        pawl__buffer_add_byte(out, '"');
        pawl__buffer_add_text(out, encoding);
    }
}

static void
add_header(pawl_buffer *out, const pawl_header *header)
{
    char *name = g_utf8_make_valid(header->name, -1);

    pawl__buffer_add_text(out, "{\"name\":");
    pawl__buffer_add_json(out, name, strlen(name));
    add_bytes(out, ",\"value\":", ",\"value_encoding\":\"base64\"", header->value, header->value_size);
    pawl__buffer_add_byte(out, '}');
    g_free(name);
}

static void
add_headers(pawl_buffer *out, const pawl_record *record)
{
    pawl_header header;

    pawl__buffer_add_text(out, ",\"headers\":[");
    for (size_t i = 0; pawl_record_header(record, i, &header); i++) {
        if (i > 0)
            pawl__buffer_add_byte(out, ',');
        add_header(out, &header);
    }
    pawl__buffer_add(out, "]}\n", 3);
}

void
pawl__record_json(pawl_buffer *out, const pawl_buffer *head, const pawl_record *record)
{
    pawl__buffer_add(out, head->data, head->size);
    pawl__buffer_add_number(out, record->offset);
    pawl__buffer_add_text(out, ",\"timestamp\":");
    if (record->timestamp_type == PAWL_TIMESTAMP_NONE)
        pawl__buffer_add(out, "null", 4);
    else
        pawl__buffer_add_number(out, record->timestamp_ms);
    add_bytes(out, ",\"key\":", ",\"key_encoding\":\"base64\"", record->key, record->key_size);
    add_bytes(out, ",\"value\":", ",\"value_encoding\":\"base64\"", record->value, record->value_size);
    add_headers(out, record);
}
