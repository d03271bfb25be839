/*
 * buffer.c - bytes that grow at their end
 */
#include "cli/buffer.h"

#include <glib.h>

#define SMALLEST_ROOM 4096

void
pawl__buffer_done(pawl_buffer *buffer)
{
    g_free(buffer->data);
    *buffer = (pawl_buffer){NULL, 0, 0};
}

void
pawl__buffer_grow(pawl_buffer *buffer, size_t more)
{
    size_t wanted = buffer->size + more;

    buffer->room = MAX(MAX(buffer->room * 2, wanted), SMALLEST_ROOM);
    buffer->data = g_realloc(buffer->data, buffer->room);
}

void
pawl__buffer_add_number(pawl_buffer *buffer, int64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    uint64_t left = number < 0 ? 0 - (uint64_t) number : (uint64_t) number;

    do {
        digits[--at] = (char) ('0' + left % 10);
        left /= 10;
    } while (left != 0);
    if (number < 0)
        pawl__buffer_add_byte(buffer, '-');
    pawl__buffer_add(buffer, digits + at, sizeof digits - at);
}

/* The bytes that a JSON string cannot hold as they are: what stands behind the backslash, or 'u' for \u00NN. */
static char
escape_of(unsigned char byte)
{
    switch (byte) {
    case '"':
    case '\\':
        return (char) byte;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return byte < 0x20 ? 'u' : 0;
    }
}

static inline int
is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte != '"' && byte != '\\';
}

static void
add_escaped(pawl_buffer *buffer, unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    char mark = escape_of(byte);

    pawl__buffer_add_byte(buffer, '\\');
    pawl__buffer_add_byte(buffer, mark);
    if (mark != 'u')
        return;
    pawl__buffer_add(buffer, "00", 2);
    pawl__buffer_add_byte(buffer, hex[byte >> 4]);
    pawl__buffer_add_byte(buffer, hex[byte & 15]);
}

void
pawl__buffer_add_json(pawl_buffer *buffer, const void *bytes, size_t size)
{
    const unsigned char *at = bytes, *end = at + size;

    pawl__buffer_reserve(buffer, size + 2);
    pawl__buffer_add_byte(buffer, '"');
    while (at < end) {
        const unsigned char *start = at;

        while (at < end && is_plain(*at))
            at++;
        pawl__buffer_add(buffer, start, (size_t) (at - start));
        if (at < end)
            add_escaped(buffer, *at++);
    }
    pawl__buffer_add_byte(buffer, '"');
}

void
pawl__buffer_add_base64(pawl_buffer *buffer, const void *bytes, size_t size)
{
    gint state = 0, save = 0;

    pawl__buffer_reserve(buffer, (size / 3 + 1) * 4 + 4); /* what g_base64_encode_step() asks for */
    buffer->size += g_base64_encode_step(bytes, size, FALSE, buffer->data + buffer->size, &state, &save);
    buffer->size += g_base64_encode_close(FALSE, buffer->data + buffer->size, &state, &save);
}
