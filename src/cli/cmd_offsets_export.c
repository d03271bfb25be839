/*
 * cmd_offsets_export.c - pawl offsets export: offsets into a file
 */
#include "cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/file.h"
#include "cli/offsets_file.h"

typedef struct export_values {
    pawl_places places;
    const char *format;
    const char *file;
} export_values;

static const char *const formats[] = {"csv", "json", NULL};

static const pawl_option format_option = {
    .name = "format",
    .kind = PAWL_OPTION_TEXT,
    .argument = "FORMAT",
    .fallback = "json",
    .choices = formats,
    .summary =
        "csv: a line topic,partition,offset each, as kafka-consumer-groups reads it. json: with the group and the "
        "id of the Kafka cluster, which import checks.",
    .field = offsetof(export_values, format),
};

static const pawl_option file_option = {
    .name = "file",
    .kind = PAWL_OPTION_TEXT,
    .argument = "FILE",
    .is_file = true,
    .summary = "Where to write it; what is there is replaced once all is written. Without it: to standard output.",
    .field = offsetof(export_values, file),
};

static const pawl_option *const options[] = {
    &pawl__option_store,
    &pawl__option_group,
    &pawl__option_kafka,
    &format_option,
    &file_option,
    &pawl__option_timeout,
    NULL,
};

static void
write_to(FILE *file, const export_values *values, const char *cluster, const GArray *moves)
{
    if (values->format != NULL && strcmp(values->format, "csv") == 0)
        pawl__offsets_write_csv(file, moves);
    else
        pawl__offsets_write_json(file, values->places.group, cluster, moves);
}

static pawl_status
write_file(const export_values *values, const char *cluster, const GArray *moves, pawl_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory;
    pawl_status status;

    if (values->file == NULL) {
        write_to(stdout, values, cluster, moves); /* main sees whether that went well */
        return PAWL_OK;
    }
    memory = open_memstream(&text, &size);
    if (memory != NULL)
        write_to(memory, values, cluster, moves);
    if (memory == NULL || fclose(memory) != 0)
        status = pawl_error_set(err, PAWL_FAILED, 0, errno, "%s", g_strerror(errno));
    else
        status = pawl__file_write(values->file, text, size, err);
    if (status != PAWL_OK)
        pawl_error_prefix(err, "cannot write %s", values->file);
    free(text);
    return status;
}

static pawl_status
run(const pawl_invocation *call, pawl_error *err)
{
    const export_values *values = call->values;
    GArray *moves = pawl__moves_new();
    pawl_store *store = NULL;
    pawl_group_info info;
    pawl_status status = pawl__places_open_store(&values->places, true, &store, err);

    if (status == PAWL_OK)
        status = pawl__moves_add_stored(moves, store, values->places.group, err);
    if (status == PAWL_OK)
        status = pawl__moves_load(moves, store, values->places.group, &info, err);
    if (status == PAWL_OK)
        status = write_file(values, info.cluster, moves, err);
    pawl_store_close(store);
    g_array_unref(moves);
    return status;
}

const pawl_command pawl__cmd_offsets_export = {
    .name = "export",
    .summary = "writes the stored offsets of a group into a file",
    .options = options,
    .values_size = sizeof(export_values),
    .run = run,
};
