/*
 * fuzz_specs.c - any text as partitions, an offset or a range of a command line
 *
 * What was understood is written down again: there is one way to write each, so that has to be the same text.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/specs.h"
#include "fuzz/target.h"

/* `written` is what was understood; NULL: it was refused. */
static void
check(const char *text, const char *written, const pawl_error *err)
{
    if (written != NULL ? strcmp(text, written) != 0 : err->status != PAWL_INVALID || err->message[0] != '"')
        abort();
}

static void
try_offset(const char *text)
{
    pawl_partition partition;
    int64_t offset;
    pawl_error err = {0};
    char *written = NULL;

    if (pawl__spec_offset(text, &partition, &offset, &err) == PAWL_OK)
        written = g_strdup_printf("%s:%" PRId32 "=%" PRId64, partition.topic, partition.number, offset);
    check(text, written, &err);
    g_free(written);
}

static void
try_range(const char *text)
{
    pawl_partition partition;
    int64_t from, until;
    pawl_error err = {0};
    char *written = NULL;

    if (pawl__spec_range(text, &partition, &from, &until, &err) == PAWL_OK)
        written =
            g_strdup_printf("%s:%" PRId32 ":%" PRId64 "-%" PRId64, partition.topic, partition.number, from, until);
    check(text, written, &err);
    g_free(written);
}

static void
try_topic(const char *text)
{
    GArray *partitions = g_array_new(FALSE, FALSE, sizeof(pawl_partition));
    GString *written = NULL;
    pawl_error err = {0};

    if (pawl__spec_topic(text, partitions, &err) == PAWL_OK)
        written = g_string_new(g_array_index(partitions, pawl_partition, 0).topic);
    for (guint i = 0; written != NULL && i < partitions->len; i++) {
        int32_t number = g_array_index(partitions, pawl_partition, i).number;

        if (number != PAWL__ALL_PARTITIONS)
            g_string_append_printf(written, "%c%" PRId32, i == 0 ? ':' : ',', number);
    }
    check(text, written != NULL ? written->str : NULL, &err);
    if (written != NULL)
        g_string_free(written, TRUE);
    g_array_unref(partitions);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = g_strndup((const char *) data, size);

    try_offset(text);
    try_range(text);
    try_topic(text);
    g_free(text);
    return 0;
}
