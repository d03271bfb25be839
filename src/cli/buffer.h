/*
 * buffer.h - bytes that grow at their end
 */
#ifndef PAWL_CLI_BUFFER_H
#define PAWL_CLI_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* All zeros is an empty buffer. */
typedef struct pawl_buffer {
    char *data;
    size_t size;
    size_t room;
} pawl_buffer;

/* Frees it and makes it empty. */
void pawl__buffer_done(pawl_buffer *buffer);

/* Makes room for so many bytes more; memory that runs out aborts. */
void pawl__buffer_grow(pawl_buffer *buffer, size_t more);

static inline void
pawl__buffer_reserve(pawl_buffer *buffer, size_t more)
{
    if (buffer->room - buffer->size < more)
        pawl__buffer_grow(buffer, more);
}

static inline void
pawl__buffer_add(pawl_buffer *buffer, const void *bytes, size_t size)
{
    pawl__buffer_reserve(buffer, size);
    if (size > 0)
        memcpy(buffer->data + buffer->size, bytes, size);
    buffer->size += size;
}

static inline void
pawl__buffer_add_byte(pawl_buffer *buffer, char byte)
{
    pawl__buffer_reserve(buffer, 1);
    buffer->data[buffer->size++] = byte;
}

static inline void
pawl__buffer_add_text(pawl_buffer *buffer, const char *text)
{
    pawl__buffer_add(buffer, text, strlen(text));
}

/* Adds a number in decimal. */
void pawl__buffer_add_number(pawl_buffer *buffer, int64_t number);

/* Adds a JSON string, quotes included. The bytes have to be UTF-8. */
void pawl__buffer_add_json(pawl_buffer *buffer, const void *bytes, size_t size);

/* Adds base64, without quotes. */
void pawl__buffer_add_base64(pawl_buffer *buffer, const void *bytes, size_t size);

#endif
