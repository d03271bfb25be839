/*
 * jobfile.h - a job file, and what --set says instead
 *
 *     [job]       pawl's settings             [kafka]   librdkafka's properties
 *     [process]   see process.h               [user]    the program's own, for plugins
 */
#ifndef PAWL_CLI_JOBFILE_H
#define PAWL_CLI_JOBFILE_H

#include <stdbool.h>

#include <glib.h>

#include <pawl/config.h>

#include "cli/process.h"

/* One setting, and where it comes from. */
typedef struct pawl_jobfile_entry {
    char *section;
    char *key;
    char *text;   /* as it was written */
    char *shown;  /* expanded, secrets masked: for people */
    char *origin; /* "job.ini:12" or "--set" */
} pawl_jobfile_entry;

typedef struct pawl_jobfile {
    char *name;
    pawl_config *config;
    pawl_process process;
    GPtrArray *entries; /* of pawl_jobfile_entry, in the order in which they were written */
} pawl_jobfile;

/*
 * Reads the file, applies what --set says ("SECTION.KEY=VALUE" each), expands references, and checks every setting alone
 * and with the others. PAWL_INVALID: the message says which file, line and key. pawl__jobfile_done() is called in any
 * case, and may be on all zeros.
 */
pawl_status pawl__jobfile_load(const char *path, const GPtrArray *sets, pawl_jobfile *ret_jobfile, pawl_error *err);
void pawl__jobfile_done(pawl_jobfile *jobfile);

/* The same with a job file's text; `name` is what messages call it. */
pawl_status pawl__jobfile_parse(const char *name, const char *text, size_t size, const GPtrArray *sets,
                                pawl_jobfile *ret_jobfile, pawl_error *err);

/* The entry for a setting, or NULL when it is not set. */
const pawl_jobfile_entry *pawl__jobfile_find(const pawl_jobfile *jobfile, const char *section, const char *key);

/* Prints every setting with its value and origin. */
void pawl__jobfile_print(const pawl_jobfile *jobfile, bool json);

/* ------------------------------------------------------------------------------------------- jobfile_sections.c -- */

/* Sets one expanded value. PAWL_INVALID: the section or the key is unknown (the nearest is named), the value is wrong. */
pawl_status pawl__jobfile_apply(pawl_jobfile *jobfile, const char *section, const char *key, const char *value,
                                pawl_error *err);

/* What people may see of a value: masks the secrets of URLs and of properties that sound like one. The caller frees. */
char *pawl__jobfile_mask(const char *section, const char *key, const char *value, const char *shown);

#endif
