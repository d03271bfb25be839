/*
 * preview_table.c - what --dry-run prints
 */
#include "cli/preview_table.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/table.h"

static const pawl_column columns[] = {
    {"TOPIC", "topic", PAWL_COLUMN_TEXT},     {"PARTITION", "partition", PAWL_COLUMN_NUMBER},
    {"STORED", "stored", PAWL_COLUMN_NUMBER}, {"START", "start", PAWL_COLUMN_NUMBER},
    {"LOW", "low", PAWL_COLUMN_NUMBER},       {"HIGH", "high", PAWL_COLUMN_NUMBER},
    {"FROM", "from", PAWL_COLUMN_NUMBER},     {"UNTIL", "until", PAWL_COLUMN_NUMBER},
    {"LOST", "lost", PAWL_COLUMN_BOOL},       {"OWNER", "owner", PAWL_COLUMN_TEXT},
    {NULL, NULL, PAWL_COLUMN_TEXT},
};

static void
add_row(void *user, const pawl_preview *preview)
{
    pawl_table *rows = user;
    bool has_range = preview->from < preview->until;
    char *owner = NULL;

    if (preview->owner_host[0] != '\0')
        owner = g_strdup_printf("process %" PRId64 " on %s", preview->owner_pid, preview->owner_host);
    pawl__table_row(rows);
    pawl__table_text(rows, preview->partition.topic);
    pawl__table_number(rows, preview->partition.number);
    pawl__table_position(rows, preview->stored);
    pawl__table_number(rows, preview->position);
    pawl__table_number(rows, preview->low);
    pawl__table_number(rows, preview->high);
    pawl__table_position(rows, has_range ? pawl_position_at(preview->from) : pawl_position_absent());
    pawl__table_position(rows, has_range ? pawl_position_at(preview->until) : pawl_position_absent());
    pawl__table_bool(rows, preview->lost);
    pawl__table_text(rows, owner);
    g_free(owner);
}

pawl_status
pawl__preview_print(pawl_job *job, bool json, pawl_error *err)
{
    pawl_table *rows = pawl__table_new(columns);
    pawl_status status = pawl_job_preview(job, add_row, rows, err);
    yajl_gen writer;

    if (status == PAWL_OK && json) {
        writer = pawl__json_begin(stdout);
        pawl__table_to_json(rows, writer);
        pawl__json_end(writer);
    } else if (status == PAWL_OK) {
        pawl__table_print(rows);
    }
    pawl__table_free(rows);
    return status;
}
