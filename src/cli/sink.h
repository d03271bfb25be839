/*
 * sink.h - where the log lines of a running job go: standard error, and beside them a line of progress
 */
#ifndef PAWL_CLI_SINK_H
#define PAWL_CLI_SINK_H

#include <pthread.h>
#include <stdbool.h>

#include <pawl/log.h>

typedef enum pawl_sink_format { PAWL_SINK_TEXT, PAWL_SINK_LOGFMT, PAWL_SINK_JSON } pawl_sink_format;

typedef struct pawl_sink {
    pawl_sink_format format;
    pthread_mutex_t mutex; /* guards the terminal */
    bool shows_progress;   /* the last line of the terminal is one of progress */
} pawl_sink;

void pawl__sink_init(pawl_sink *sink, pawl_sink_format format);
void pawl__sink_done(pawl_sink *sink);

/* A pawl_log_fn; `user` is the sink. One write a line. */
void pawl__sink_take(void *user, const pawl_log_line *line);

/* Writes a line whatever the log's level is. Any thread. */
void pawl__sink_say(pawl_sink *sink, pawl_log_level level, const char *scope, const char *format, ...)
    PAWL_PRINTF(4, 5);

/* Shows a line of progress in place of the last one; NULL takes it away. For terminals. */
void pawl__sink_progress(pawl_sink *sink, const char *text);

#endif
