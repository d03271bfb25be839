/*
 * chatter.h - what a command says on standard error, into the log
 *
 * Line by line, and bounded: long lines are cut, and of many lines most are only counted. The last line is kept, since it
 * is often the one that tells why.
 */
#ifndef PAWL_CLI_CHATTER_H
#define PAWL_CLI_CHATTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pawl/log.h>

#define PAWL_CHATTER_LINE_SIZE 1000

typedef struct pawl_chatter {
    const pawl_log *log;
    const char *who; /* "flights [3] 100..200, attempt 1": goes before each line */

    char line[PAWL_CHATTER_LINE_SIZE]; /* the beginning of the line that is not at its end yet */
    size_t size;
    bool cut; /* it is longer than that */

    char last[PAWL_CHATTER_LINE_SIZE]; /* the last whole line, as text */
    int64_t allowed;                   /* lines that may be logged now */
    int64_t filled_ms;                 /* when more became allowed */
    int64_t left_out;
    int64_t left_out_bytes;
} pawl_chatter;

/* Borrows both until pawl__chatter_end(). */
void pawl__chatter_init(pawl_chatter *chatter, const pawl_log *log, const char *who, int64_t now_ms);

/* Takes what came next. */
void pawl__chatter_add(pawl_chatter *chatter, const char *bytes, size_t size, int64_t now_ms);

/* Nothing more comes: takes a last line that has no end, and logs how much was left out. */
void pawl__chatter_end(pawl_chatter *chatter, int64_t now_ms);

#endif
