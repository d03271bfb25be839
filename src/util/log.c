/*
 * log.c - where pawl's log lines go
 */
#include "util/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/text.h"

/* A message, and what is put before it. */
#define STDIO_LINE_SIZE (PAWL__LOG_MESSAGE_SIZE + 256)

static const char *const level_names[] = {
    [PAWL_LOG_ERROR] = "error",
    [PAWL_LOG_WARN] = "warn",
    [PAWL_LOG_INFO] = "info",
    [PAWL_LOG_DEBUG] = "debug",
};

/* As wide as each other, so that what follows stands in a column. */
static const char *const level_columns[] = {
    [PAWL_LOG_ERROR] = "ERROR",
    [PAWL_LOG_WARN] = "WARN ",
    [PAWL_LOG_INFO] = "INFO ",
    [PAWL_LOG_DEBUG] = "DEBUG",
};

static size_t
level_index(pawl_log_level level)
{
    size_t index = (size_t) level;

    return index < sizeof level_names / sizeof level_names[0] ? index : PAWL_LOG_DEBUG;
}

const char *
pawl_log_level_name(pawl_log_level level)
{
    return level_names[level_index(level)];
}

bool
pawl__log_takes(const pawl_log *log, pawl_log_level level)
{
    return log != NULL && log->fn != NULL && level <= log->level;
}

void
pawl__log(const pawl_log *log, pawl_log_level level, const char *scope, const char *format, ...)
{
    char message[PAWL__LOG_MESSAGE_SIZE + 1];
    pawl_log_line line = {sizeof line, level, 0, scope, message};
    va_list args;

    if (!pawl__log_takes(log, level))
        return;
    va_start(args, format);
    if (vsnprintf(message, sizeof message, format, args) < 0)
        message[0] = '\0';
    va_end(args);
    message[pawl__text_cut(message, strlen(message), PAWL__LOG_MESSAGE_SIZE - 1)] = '\0';
    line.time_ms = pawl__clock_wall_ms();
    log->fn(log->user, &line);
}

/* A topic, a group or a server's answer may hold a newline or a terminal's escape: it must not make up lines. */
static void
blank_controls(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char) *text < 0x20 || *text == 0x7f)
            *text = ' ';
}

void
pawl_log_to_stdio(void *user, const pawl_log_line *line)
{
    char time[PAWL__TIME_TEXT_SIZE];
    char text[STDIO_LINE_SIZE];
    FILE *file = (FILE *) user;
    size_t size;

    snprintf(text, sizeof text, "%s %s %s: %s", pawl__text_from_time(line->time_ms, time),
             level_columns[level_index(line->level)], line->scope, line->message);
    blank_controls(text);
    size = pawl__text_cut(text, strlen(text), sizeof text - 2);
    text[size++] = '\n';
    /* One write, so that lines of several threads, or of several processes with one terminal, do not mix. The lock spans
     * both calls: fflush() must not push out the half of another thread's line. */
    flockfile(file);
    fwrite(text, 1, size, file);
    fflush(file);
    funlockfile(file);
}
