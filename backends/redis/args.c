/*
 * args.c - the words of a request, written down as they go over the wire
 *
 * *COUNT, then of each word $SIZE and the word itself, a line each.
 */
#include "backends/redis/redis_store.h"

#include <stdio.h>
#include <string.h>

#define LINE_END "\r\n"
#define ROOM     24 /* for a number of 64 bits */

void
pawl__redis_args_init(pawl__redis_args *args)
{
    args->bytes = g_string_sized_new(4096);
    args->count = 0;
}

void
pawl__redis_args_done(pawl__redis_args *args)
{
    g_string_free(args->bytes, TRUE);
}

/* Writes the digits of a number that is not negative in front of `end`, and returns where they begin. */
static char *
write_digits(uint64_t number, char *end)
{
    do
        *--end = (char) ('0' + number % 10);
    while ((number /= 10) > 0);
    return end;
}

static void
append_head(GString *bytes, char kind, size_t number)
{
    char room[ROOM], *end = room + sizeof room, *start = write_digits(number, end);

    *--start = kind;
    g_string_append_len(bytes, start, end - start);
    g_string_append_len(bytes, LINE_END, strlen(LINE_END));
}

static void
add(pawl__redis_args *args, const char *text, size_t size)
{
    append_head(args->bytes, '$', size);
    g_string_append_len(args->bytes, text, (gssize) size);
    g_string_append_len(args->bytes, LINE_END, strlen(LINE_END));
    args->count++;
}

void
pawl__redis_args_add(pawl__redis_args *args, const char *text)
{
    add(args, text, strlen(text));
}

void
pawl__redis_args_printf(pawl__redis_args *args, const char *format, ...)
{
    va_list values;
    char *text;

    va_start(values, format);
    text = g_strdup_vprintf(format, values);
    va_end(values);
    pawl__redis_args_add(args, text);
    g_free(text);
}

void
pawl__redis_args_add_number(pawl__redis_args *args, int64_t number)
{
    char room[ROOM], *end = room + sizeof room, *start = write_digits((uint64_t) number, end);

    add(args, start, (size_t) (end - start));
}

void
pawl__redis_args_add_position(pawl__redis_args *args, pawl_position position)
{
    if (position.known)
        pawl__redis_args_add_number(args, position.offset);
    else
        pawl__redis_args_add(args, "-");
}

void
pawl__redis_args_add_field(pawl__redis_args *args, pawl_partition partition)
{
    char room[ROOM], *end = room + sizeof room, *start = write_digits((uint64_t) partition.number, end);
    size_t topic_size = strlen(partition.topic);

    *--start = ':';
    append_head(args->bytes, '$', topic_size + (size_t) (end - start));
    g_string_append_len(args->bytes, partition.topic, (gssize) topic_size);
    g_string_append_len(args->bytes, start, end - start);
    g_string_append_len(args->bytes, LINE_END, strlen(LINE_END));
    args->count++;
}

GString *
pawl__redis_args_request(const pawl__redis_args *first, const pawl__redis_args *rest)
{
    size_t size = first->bytes->len + (rest != NULL ? rest->bytes->len : 0);
    GString *request = g_string_sized_new(size + ROOM);

    append_head(request, '*', first->count + (rest != NULL ? rest->count : 0));
    g_string_append_len(request, first->bytes->str, (gssize) first->bytes->len);
    if (rest != NULL)
        g_string_append_len(request, rest->bytes->str, (gssize) rest->bytes->len);
    return request;
}
