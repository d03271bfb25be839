/*
 * error.c - how pawl says that something went wrong
 *
 * Messages are built in a buffer of their own before they replace the one that is there: a caller may well pass the old
 * message as an argument of the new one.
 */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/text.h"

/* What each status is called, the exit code it becomes, and what manuals say about it. */
static const struct {
    const char *name;
    int exit_code;
    const char *meaning;
} statuses[] = {
    [PAWL_OK] = {"ok", 0, "All that was to be done is done."},
    [PAWL_FAILED] = {"failed", 1, "Something for which there is no word of its own, the program's own code among it."},
    [PAWL_INVALID] = {"invalid", 2,
                      "A setting, an argument or a URL is wrong, or does not fit what is there: a store that cannot be "
                      "written, offsets of another cluster. It has to be changed; nothing was written."},
    [PAWL_UNSUPPORTED] = {"unsupported", 2, "This store cannot do what the settings ask of it."},
    [PAWL_UNREACHABLE] = {"unreachable", 5, "A server does not answer, or refuses to talk. Later it may."},
    [PAWL_TIMEOUT] = {"timeout", 5, "A server has not answered in time. Later it may."},
    [PAWL_CANCELLED] = {"cancelled", 1, "Told to stop, and the batch in hand was left unsaved."},
    [PAWL_UNREADABLE] = {"unreadable", 1, "What is stored is no offset, or the store is damaged. It was left alone."},
    [PAWL_STALE] = {"stale", 4, "Somebody else keeps becoming the owner."},
    [PAWL_FENCED] = {"fenced", 4, "Somebody else owns the partitions now. Nothing was written."},
    [PAWL_CONFLICT] = {"conflict", 4, "Somebody has moved the offset that was to be replaced. Nothing was written."},
    [PAWL_OUTCOME_UNKNOWN] = {"outcome unknown", 5,
                              "The store went away while it was written to, and did not come back. Starting again is "
                              "safe: it is read first."},
    [PAWL_DATA_LOSS] = {"data loss", 3, "Records that were never read are gone from Kafka: see on_data_loss."},
    [PAWL_STALLED] = {"stalled", 1,
                      "Nothing came of a range for stall_timeout, or a batch took longer than batch_timeout. Starting "
                      "again is safe; if it comes again, a record or a partition is broken."},
};

size_t
pawl__status_count(void)
{
    return sizeof statuses / sizeof statuses[0];
}

static size_t
status_index(pawl_status status)
{
    size_t index = (size_t) status;

    return index < pawl__status_count() ? index : PAWL_FAILED;
}

/* Copies a text into the message, cut where a character ends, without the newlines at its end. */
static void
put_message(pawl_error *err, const char *text, size_t size)
{
    size = pawl__text_cut(text, size, sizeof err->message - 1);
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
        size--;
    memcpy(err->message, text, size);
    err->message[size] = '\0';
}

/* vsnprintf() into a buffer: how many bytes are there, which may be fewer than there should be. */
static size_t PAWL_PRINTF(3, 0) format_into(char *buffer, size_t room, const char *format, va_list args)
{
    int size = vsnprintf(buffer, room, format, args);

    if (size < 0) { /* a wide character that the locale lacks: better no text than half of one */
        buffer[0] = '\0';
        return 0;
    }
    return (size_t) size < room ? (size_t) size : room - 1;
}

void
pawl_error_clear(pawl_error *err)
{
    if (err != NULL)
        memset(err, 0, sizeof *err);
}

pawl_status
pawl_error_set(pawl_error *err, pawl_status status, unsigned flags, int32_t native_code, const char *format, ...)
{
    char text[2 * PAWL_ERROR_MESSAGE_SIZE]; /* more than fits, so that the cut is made by put_message() alone */
    size_t size;
    va_list args;

    if (err == NULL)
        return status;
    va_start(args, format);
    size = format_into(text, sizeof text, format, args);
    va_end(args);
    err->status = status;
    err->flags = flags;
    err->native_code = native_code;
    put_message(err, text, size);
    return status;
}

pawl_status
pawl_error_prefix(pawl_error *err, const char *format, ...)
{
    char text[2 * PAWL_ERROR_MESSAGE_SIZE];
    size_t size;
    va_list args;

    if (err == NULL)
        return PAWL_OK;
    va_start(args, format);
    size = format_into(text, sizeof text, format, args);
    va_end(args);
    size += (size_t) snprintf(text + size, sizeof text - size, ": %s", err->message);
    put_message(err, text, size < sizeof text ? size : sizeof text - 1);
    return err->status;
}

pawl_status
pawl__error_turn_into(pawl_error *err, pawl_status status, unsigned flags)
{
    if (err != NULL) {
        err->status = status;
        err->flags = flags;
    }
    return status;
}

const char *
pawl_status_name(pawl_status status)
{
    return statuses[status_index(status)].name;
}

int
pawl_status_exit_code(pawl_status status)
{
    return statuses[status_index(status)].exit_code;
}

const char *
pawl__status_meaning(pawl_status status)
{
    return statuses[status_index(status)].meaning;
}
