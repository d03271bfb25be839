/*
 * jobfile_print.c - every setting with its value and where it comes from
 */
#include "cli/jobfile.h"

#include <stdio.h>
#include <string.h>

#include "cli/table.h"

static const pawl_column columns[] = {
    {"SETTING", "setting", PAWL_COLUMN_TEXT},
    {"VALUE", "value", PAWL_COLUMN_TEXT},
    {"ORIGIN", "origin", PAWL_COLUMN_TEXT},
    {NULL, NULL, PAWL_COLUMN_TEXT},
};

static void
add_row(pawl_table *rows, const char *section, const char *key, const char *value, const char *origin)
{
    char *name = g_strdup_printf("%s.%s", section, key);

    pawl__table_row(rows);
    pawl__table_text(rows, name);
    pawl__table_text(rows, value);
    pawl__table_text(rows, origin);
    g_free(name);
}

/* All rows of a table, also those that are not set. `config` has what is set in the job's place: NULL for [process]. */
static void
add_table(pawl_table *rows, const pawl_jobfile *jobfile, const char *section, const pawl__setting *table, size_t count,
          const pawl_config *config)
{
    for (size_t i = 0; i < count; i++) {
        const pawl_jobfile_entry *entry = pawl__jobfile_find(jobfile, section, table[i].name);
        const char *text = config != NULL ? pawl_config_get(config, table[i].name) : table[i].fallback;

        if (entry != NULL)
            add_row(rows, section, table[i].name, entry->shown, entry->origin);
        else if (text == NULL)
            add_row(rows, section, table[i].name, NULL, "not set");
        else
            add_row(rows, section, table[i].name, text,
                    g_strcmp0(text, table[i].fallback) == 0 ? "default" : "default of exec");
    }
}

/* What is set in a section that has no table. */
static void
add_section(pawl_table *rows, const pawl_jobfile *jobfile, const char *section)
{
    for (guint i = 0; i < jobfile->entries->len; i++) {
        const pawl_jobfile_entry *entry = g_ptr_array_index(jobfile->entries, i);

        if (strcmp(entry->section, section) == 0)
            add_row(rows, section, entry->key, entry->shown, entry->origin);
    }
}

void
pawl__jobfile_print(const pawl_jobfile *jobfile, bool json)
{
    pawl_table *rows = pawl__table_new(columns);
    size_t count;
    const pawl__setting *table = pawl__setting_table(&count);
    yajl_gen writer;

    add_table(rows, jobfile, "job", table, count, jobfile->config);
    add_section(rows, jobfile, "kafka");
    table = pawl__process_table(&count);
    add_table(rows, jobfile, "process", table, count, NULL);
    add_section(rows, jobfile, "user");
    if (json) {
        writer = pawl__json_begin(stdout);
        pawl__table_to_json(rows, writer);
        pawl__json_end(writer);
    } else {
        pawl__table_print(rows);
    }
    pawl__table_free(rows);
}
