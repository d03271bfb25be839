/*
 * preview_table.h - what --dry-run prints
 */
#ifndef PAWL_CLI_PREVIEW_TABLE_H
#define PAWL_CLI_PREVIEW_TABLE_H

#include <stdbool.h>

#include <pawl/job.h>

/* Finds out what the job would do first, and prints it. Nothing is written anywhere. */
pawl_status pawl__preview_print(pawl_job *job, bool json, pawl_error *err);

#endif
