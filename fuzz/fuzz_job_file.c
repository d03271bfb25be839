/*
 * fuzz_job_file.c - a job file: sections, keys, values, and references in these
 *
 * Whatever stands in it, it becomes the settings of a job or is refused with a message that names it. References to files
 * are left out: a fuzzer shall not read any.
 */
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "cli/jobfile.h"
#include "fuzz/target.h"

/* Of what was understood, each setting is found again, one line long. */
static void
check_entries(const pawl_jobfile *jobfile)
{
    for (guint i = 0; i < jobfile->entries->len; i++) {
        const pawl_jobfile_entry *entry = g_ptr_array_index(jobfile->entries, i);

        if (pawl__jobfile_find(jobfile, entry->section, entry->key) != entry || entry->shown == NULL)
            abort();
        if (entry->key[0] == '\0' || strchr(entry->text, '\n') != NULL)
            abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GPtrArray *sets;
    pawl_jobfile jobfile;
    pawl_error err = {0};

    if (g_strstr_len((const char *) data, (gssize) size, "${file:") != NULL)
        return -1; /* not into the corpus */
    sets = g_ptr_array_new();
    if (pawl__jobfile_parse("f", (const char *) data, size, sets, &jobfile, &err) == PAWL_OK)
        check_entries(&jobfile);
    else if (err.status != PAWL_INVALID || strncmp(err.message, "f:", 2) != 0)
        abort();
    pawl__jobfile_done(&jobfile);
    g_ptr_array_unref(sets);
    return 0;
}
