/*
 * sink.c - where the log lines of a running job go
 */
#include "cli/sink.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include <glib.h>

#include "cli/buffer.h"
#include "util/clock.h"
#include "util/text.h"

#define CLEAR_LINE "\r\033[K"

void
pawl__sink_init(pawl_sink *sink, pawl_sink_format format)
{
    sink->format = format;
    sink->shows_progress = false;
    pthread_mutex_init(&sink->mutex, NULL);
}

void
pawl__sink_done(pawl_sink *sink)
{
    pawl__sink_progress(sink, NULL);
    pthread_mutex_destroy(&sink->mutex);
}

static void
write_all(const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(STDERR_FILENO, bytes, size);

        if (written < 0 && errno != EINTR)
            return; /* there is nobody to tell */
        if (written > 0) {
            bytes += written;
            size -= (size_t) written;
        }
    }
}

/* -------------------------------------------------------------------------------------------------------- formats -- */

static void
add_text(pawl_buffer *out, const pawl_log_line *line, const char *time)
{
    char *level = g_ascii_strup(pawl_log_level_name(line->level), -1);
    char *start = g_strdup_printf("%s %-5s %s: ", time, level, line->scope);

    pawl__buffer_add_text(out, start);
    pawl__buffer_add_text(out, line->message);
    g_free(start);
    g_free(level);
}

static void
add_logfmt(pawl_buffer *out, const pawl_log_line *line, const char *time)
{
    char *start =
        g_strdup_printf("time=%s level=%s scope=%s msg=", time, pawl_log_level_name(line->level), line->scope);

    pawl__buffer_add_text(out, start);
    pawl__buffer_add_json(out, line->message, strlen(line->message));
    g_free(start);
}

static void
add_json(pawl_buffer *out, const pawl_log_line *line, const char *time)
{
    char *start = g_strdup_printf("{\"time\":\"%s\",\"level\":\"%s\",\"scope\":\"%s\",\"message\":", time,
                                  pawl_log_level_name(line->level), line->scope);
    char *message = g_utf8_make_valid(line->message, -1);

    pawl__buffer_add_text(out, start);
    pawl__buffer_add_json(out, message, strlen(message));
    pawl__buffer_add_byte(out, '}');
    g_free(message);
    g_free(start);
}

void
pawl__sink_take(void *user, const pawl_log_line *line)
{
    pawl_sink *sink = user;
    char time[PAWL__TIME_TEXT_SIZE];
    pawl_buffer out = {NULL, 0, 0};

    pawl__buffer_grow(&out, strlen(line->message) + 128); /* once, for most lines */
    pawl__text_from_time(line->time_ms, time);
    if (sink->format == PAWL_SINK_TEXT)
        add_text(&out, line, time);
    else if (sink->format == PAWL_SINK_LOGFMT)
        add_logfmt(&out, line, time);
    else
        add_json(&out, line, time);
    pawl__buffer_add_byte(&out, '\n');
    pthread_mutex_lock(&sink->mutex);
    if (sink->shows_progress)
        write_all(CLEAR_LINE, strlen(CLEAR_LINE));
    sink->shows_progress = false;
    write_all(out.data, out.size);
    pthread_mutex_unlock(&sink->mutex);
    pawl__buffer_done(&out);
}

void
pawl__sink_say(pawl_sink *sink, pawl_log_level level, const char *scope, const char *format, ...)
{
    pawl_log_line line = {.size = sizeof line, .level = level, .time_ms = pawl__clock_wall_ms(), .scope = scope};
    va_list arguments;
    char *message;

    va_start(arguments, format);
    message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    line.message = message;
    pawl__sink_take(sink, &line);
    g_free(message);
}

void
pawl__sink_progress(pawl_sink *sink, const char *text)
{
    pthread_mutex_lock(&sink->mutex);
    if (sink->shows_progress || text != NULL)
        write_all(CLEAR_LINE, strlen(CLEAR_LINE));
    if (text != NULL)
        write_all(text, strlen(text));
    sink->shows_progress = text != NULL;
    pthread_mutex_unlock(&sink->mutex);
}
