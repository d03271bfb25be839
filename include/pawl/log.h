/*
 * log.h - where pawl's log lines go
 *
 * The library never writes to the terminal: it hands each line to the function of a pawl_log. A program that wants them
 * on standard error says so:
 *
 *     pawl_log log = {PAWL_LOG_INFO, pawl_log_to_stdio, stderr};
 */
#ifndef PAWL_LOG_H
#define PAWL_LOG_H

#include <stddef.h>
#include <stdint.h>

#include <pawl/visibility.h>

PAWL_BEGIN_DECLS

/* Ordered: a log takes the lines of its own level and of those above it in this list. */
typedef enum pawl_log_level {
    PAWL_LOG_ERROR, /* the job ends, or records were lost */
    PAWL_LOG_WARN,  /* it goes on, and somebody should look */
    PAWL_LOG_INFO,  /* start and end, each offset read and saved, each batch */
    PAWL_LOG_DEBUG, /* for those who work on pawl */
} pawl_log_level;

/* One line, borrowed until the log function returns. `size` tells how much of the struct is there. */
typedef struct pawl_log_line {
    size_t size;
    pawl_log_level level;
    int64_t time_ms;     /* wall clock, milliseconds since 1970, UTC */
    const char *scope;   /* who says it: "job", "source", "store", "mirror", "client" */
    const char *message; /* no newline at the end; never holds a secret */
} pawl_log_line;

/* Takes one line. Called from any thread, several at once: it has to lock what it shares. Must not call into pawl. */
typedef void (*pawl_log_fn)(void *user, const pawl_log_line *line);

/* A sink for log lines; copied by whoever takes it. {0} takes none. */
typedef struct pawl_log {
    pawl_log_level level;
    pawl_log_fn fn; /* NULL: silence */
    void *user;
} pawl_log;

/* A ready pawl_log_fn: "2013-01-01T10:00:00.000Z INFO  job: ..." to the FILE * in `user`, one write a line. */
PAWL_API void pawl_log_to_stdio(void *user, const pawl_log_line *line);

/* "error", "warn", "info", "debug"; a static string. */
PAWL_API const char *pawl_log_level_name(pawl_log_level level);

PAWL_END_DECLS

#endif
