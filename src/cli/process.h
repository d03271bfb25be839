/*
 * process.h - the settings of [process]: what is done with the records
 */
#ifndef PAWL_CLI_PROCESS_H
#define PAWL_CLI_PROCESS_H

#include "core/settings.h"

typedef enum pawl_process_format { PAWL_FORMAT_JSON, PAWL_FORMAT_VALUE } pawl_process_format;
typedef enum pawl_process_separator { PAWL_SEPARATOR_NEWLINE, PAWL_SEPARATOR_NUL } pawl_process_separator;

/* Texts are owned; NULL where one is not set. */
typedef struct pawl_process {
    char *exec;
    char *plugin;
    char *flush;
    pawl_process_format format;
    pawl_process_separator separator;
    int64_t process_timeout_ms; /* 0: none */
} pawl_process;

/* The table, and its length. Its order is that of the manual. None of its rows is SPECIAL. */
const pawl__setting *pawl__process_table(size_t *ret_count);

/* The row of that name, or NULL. */
const pawl__setting *pawl__process_find(const char *name);

/* Every setting has its default. pawl__process_done() frees the texts, and may be called on all zeros. */
void pawl__process_init(pawl_process *process);
void pawl__process_done(pawl_process *process);

/* Checks what one setting alone cannot tell. The message begins with the name of the setting that is wrong. */
pawl_status pawl__process_check(const pawl_process *process, pawl_error *err);

#endif
