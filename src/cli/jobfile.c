/*
 * jobfile.c - a job file, and what --set says instead
 *
 *     gather entries  ->  expand and apply each  ->  defaults of exec  ->  check them together
 */
#include "cli/jobfile.h"

#include <inttypes.h>
#include <string.h>

#include "cli/expand.h"
#include "cli/file.h"
#include "cli/ini.h"
#include "util/text.h"

#define FILE_MAX_MIB 16

/* The most that parallelism may be. */
#define PARALLELISM_MAX 1024

static void
entry_free(gpointer data)
{
    pawl_jobfile_entry *entry = data;

    g_free(entry->section);
    g_free(entry->key);
    g_free(entry->text);
    g_free(entry->shown);
    g_free(entry->origin);
    g_free(entry);
}

static pawl_jobfile_entry *
find(const pawl_jobfile *jobfile, const char *section, const char *key)
{
    for (guint i = 0; i < jobfile->entries->len; i++) {
        pawl_jobfile_entry *entry = g_ptr_array_index(jobfile->entries, i);

        if (strcmp(entry->section, section) == 0 && strcmp(entry->key, key) == 0)
            return entry;
    }
    return NULL;
}

const pawl_jobfile_entry *
pawl__jobfile_find(const pawl_jobfile *jobfile, const char *section, const char *key)
{
    return find(jobfile, section, key);
}

/* Adds an entry, or changes the one that is there. */
static void
put(pawl_jobfile *jobfile, const char *section, const char *key, const char *text, char *origin)
{
    pawl_jobfile_entry *entry = find(jobfile, section, key);

    if (entry == NULL) {
        entry = g_new0(pawl_jobfile_entry, 1);
        entry->section = g_strdup(section);
        entry->key = g_strdup(key);
        g_ptr_array_add(jobfile->entries, entry);
    }
    g_free(entry->text);
    g_free(entry->origin);
    entry->text = g_strdup(text);
    entry->origin = origin;
}

/* ------------------------------------------------------------------------------------------------------ gathering -- */

static pawl_status
take_entry(void *user, const pawl_ini_entry *entry, pawl_error *err)
{
    pawl_jobfile *jobfile = user;

    (void) err;
    put(jobfile, entry->section, entry->key, entry->value, g_strdup_printf("%s:%u", jobfile->name, entry->line));
    return PAWL_OK;
}

/* "job.group=x". What stands behind the "=" may be a secret: it is not shown. */
static pawl_status
take_set(pawl_jobfile *jobfile, const char *set, pawl_error *err)
{
    const char *equals = strchr(set, '='), *dot = strchr(set, '.');
    char *section, *key;

    if (equals == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "--set takes SECTION.KEY=VALUE, and there is no = in \"%s\"",
                              set);
    if (dot == NULL || dot > equals || dot == set || dot + 1 == equals)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "--set takes SECTION.KEY=VALUE, job.group=flights for instance, "
                              "not \"%.*s\"",
                              (int) (equals - set), set);
    section = g_strndup(set, (gsize) (dot - set));
    key = g_strstrip(g_strndup(dot + 1, (gsize) (equals - dot - 1)));
    put(jobfile, section, key, equals + 1, g_strdup("--set"));
    g_free(section);
    g_free(key);
    return PAWL_OK;
}

/* ------------------------------------------------------------------------------------------------------- applying -- */

/* Messages about a line of a file name the key anyway, those about an option as well: "--set: group: ...". */
static pawl_status
apply_entry(pawl_jobfile *jobfile, pawl_jobfile_entry *entry, pawl_error *err)
{
    char *value = NULL, *shown = NULL;
    pawl_status status = pawl__expand(entry->text, &value, &shown, err);

    if (status != PAWL_OK)
        pawl_error_prefix(err, "%s: %s", entry->origin, entry->key);
    if (status == PAWL_OK) {
        status = pawl__jobfile_apply(jobfile, entry->section, entry->key, value, err);
        if (status != PAWL_OK)
            pawl_error_prefix(err, "%s", entry->origin);
    }
    if (status == PAWL_OK)
        entry->shown = pawl__jobfile_mask(entry->section, entry->key, value, shown);
    g_free(value);
    g_free(shown);
    return status;
}

/* The whole number that a setting of pawl's own is, with its default where it is not set. */
static int64_t
integer(const pawl_jobfile *jobfile, const char *name)
{
    int64_t value = 0;

    pawl__text_integer(pawl_config_get(jobfile->config, name), &value, NULL);
    return value;
}

static pawl_status
set_integer(pawl_jobfile *jobfile, const char *name, int64_t value, pawl_error *err)
{
    char text[24];

    g_snprintf(text, sizeof text, "%" PRId64, value);
    return pawl_config_set(jobfile->config, name, text, err);
}

/*
 * Defaults that are no constants: each worker runs one command at a time, and there are as many as there are cores. Who
 * sets one of open_ranges and parallelism means the other as well.
 */
static pawl_status
default_parallelism(pawl_jobfile *jobfile, pawl_error *err)
{
    int64_t cores = MIN(g_get_num_processors(), PARALLELISM_MAX);
    bool has_open = find(jobfile, "job", "open_ranges") != NULL;
    bool has_threads = find(jobfile, "job", "parallelism") != NULL;
    int64_t open = has_open ? integer(jobfile, "open_ranges") : 0;
    pawl_status status = PAWL_OK;

    if (jobfile->process.exec == NULL)
        return PAWL_OK;
    if (!has_open)
        status = set_integer(jobfile, "open_ranges", has_threads ? integer(jobfile, "parallelism") : cores, err);
    if (status == PAWL_OK && !has_threads)
        status = set_integer(jobfile, "parallelism", open > 0 ? MIN(open, PARALLELISM_MAX) : cores, err);
    return status;
}

/* "KEY: what is wrong" of settings that do not agree: says where the key was set, when it was. */
static void
add_origin(const pawl_jobfile *jobfile, pawl_error *err)
{
    static const char *const sections[] = {"job", "process", "kafka"};
    char *key = g_strndup(err->message, strcspn(err->message, ": "));
    const char *origin = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(sections) && origin == NULL; i++) {
        const pawl_jobfile_entry *entry = find(jobfile, sections[i], key);

        origin = entry != NULL ? entry->origin : NULL;
    }
    pawl_error_prefix(err, "%s", origin != NULL ? origin : jobfile->name);
    g_free(key);
}

static pawl_status
check_together(pawl_jobfile *jobfile, pawl_error *err)
{
    pawl_status status = pawl__process_check(&jobfile->process, err);

    if (status == PAWL_OK)
        status = pawl_config_check(jobfile->config, err);
    if (status != PAWL_OK)
        add_origin(jobfile, err);
    return status;
}

pawl_status
pawl__jobfile_parse(const char *name, const char *text, size_t size, const GPtrArray *sets, pawl_jobfile *ret_jobfile,
                    pawl_error *err)
{
    pawl_status status;

    *ret_jobfile = (pawl_jobfile){
        .name = g_strdup(name),
        .config = pawl_config_new(),
        .entries = g_ptr_array_new_with_free_func(entry_free),
    };
    pawl__process_init(&ret_jobfile->process);
    status = pawl__ini_parse(name, text, size, take_entry, ret_jobfile, err);
    for (guint i = 0; i < sets->len && status == PAWL_OK; i++)
        status = take_set(ret_jobfile, g_ptr_array_index(sets, i), err);
    for (guint i = 0; i < ret_jobfile->entries->len && status == PAWL_OK; i++)
        status = apply_entry(ret_jobfile, g_ptr_array_index(ret_jobfile->entries, i), err);
    if (status == PAWL_OK)
        status = default_parallelism(ret_jobfile, err);
    return status == PAWL_OK ? check_together(ret_jobfile, err) : status;
}

pawl_status
pawl__jobfile_load(const char *path, const GPtrArray *sets, pawl_jobfile *ret_jobfile, pawl_error *err)
{
    char *text;
    size_t size;
    pawl_status status;

    *ret_jobfile = (pawl_jobfile){.name = NULL};
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "there is no job file %s", path);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s is a folder, not a job file", path);
    status = pawl__file_read(path, FILE_MAX_MIB, &text, &size, err);
    if (status != PAWL_OK) {
        pawl_error_prefix(err, "%s", path);
        return status;
    }
    status = pawl__jobfile_parse(path, text, size, sets, ret_jobfile, err);
    g_free(text);
    return status;
}

void
pawl__jobfile_done(pawl_jobfile *jobfile)
{
    pawl_config_free(jobfile->config);
    pawl__process_done(&jobfile->process);
    if (jobfile->entries != NULL)
        g_ptr_array_unref(jobfile->entries);
    g_free(jobfile->name);
    *jobfile = (pawl_jobfile){.name = NULL};
}
