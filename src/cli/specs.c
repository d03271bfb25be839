/*
 * specs.c - partitions, offsets and ranges as they are written on a command line
 */
#include "cli/specs.h"

#include <string.h>

#include "util/text.h"

#define TOPIC_MAX_SIZE 249

bool
pawl__topic_is_legal(const char *topic)
{
    size_t size = strlen(topic);

    if (size == 0 || size > TOPIC_MAX_SIZE || strcmp(topic, ".") == 0 || strcmp(topic, "..") == 0)
        return false;
    for (; *topic != '\0'; topic++)
        if (!g_ascii_isalnum(*topic) && strchr("._-", *topic) == NULL)
            return false;
    return true;
}

static pawl_status
refuse(const char *text, const char *expected, pawl_error *err)
{
    char shown[PAWL__BYTES_TEXT_SIZE];

    return pawl_error_set(err, PAWL_INVALID, 0, 0, "\"%s\" is not %s", pawl__text_from_bytes(text, strlen(text), shown),
                          expected);
}

static bool
take_topic(const char *text, size_t size, const char **ret_topic)
{
    char *topic = g_strndup(text, size);
    bool legal = pawl__topic_is_legal(topic);

    if (legal)
        *ret_topic = g_intern_string(topic);
    g_free(topic);
    return legal;
}

static bool
take_number(const char *text, size_t size, int32_t *ret_number)
{
    int64_t number;

    if (!pawl__text_offset(text, size, &number) || number > G_MAXINT32)
        return false;
    *ret_number = (int32_t) number;
    return true;
}

/* "TOPIC:PARTITION", `size` bytes of it. */
static bool
take_partition(const char *text, size_t size, pawl_partition *ret_partition)
{
    const char *colon = memchr(text, ':', size);
    pawl_partition partition;

    if (colon == NULL || !take_topic(text, (size_t) (colon - text), &partition.topic) ||
        !take_number(colon + 1, size - (size_t) (colon - text) - 1, &partition.number))
        return false;
    *ret_partition = partition;
    return true;
}

pawl_status
pawl__spec_topic(const char *text, GArray *partitions, pawl_error *err)
{
    const char *expected = "TOPIC or TOPIC:PARTITION,PARTITION";
    size_t size = strcspn(text, ":");
    pawl_partition partition = {NULL, PAWL__ALL_PARTITIONS};
    const char *at = text + size;

    if (!take_topic(text, size, &partition.topic))
        return refuse(text, expected, err);
    if (*at == '\0')
        g_array_append_val(partitions, partition);
    while (*at != '\0') {
        at++;
        size = strcspn(at, ",");
        if (!take_number(at, size, &partition.number))
            return refuse(text, expected, err);
        g_array_append_val(partitions, partition);
        at += size;
    }
    return PAWL_OK;
}

pawl_status
pawl__spec_offset(const char *text, pawl_partition *ret_partition, int64_t *ret_offset, pawl_error *err)
{
    const char *equals = strchr(text, '=');
    pawl_partition partition;
    int64_t offset;

    if (equals == NULL || !take_partition(text, (size_t) (equals - text), &partition))
        return refuse(text, "TOPIC:PARTITION=OFFSET", err);
    if (!pawl__text_offset(equals + 1, strlen(equals + 1), &offset))
        return refuse(text, "TOPIC:PARTITION=OFFSET: an offset is a number from 0 to 2^63-1", err);
    *ret_partition = partition;
    *ret_offset = offset;
    return PAWL_OK;
}

pawl_status
pawl__spec_range(const char *text, pawl_partition *ret_partition, int64_t *ret_from, int64_t *ret_until,
                 pawl_error *err)
{
    const char *bounds = strrchr(text, ':');
    const char *dash = bounds != NULL ? strchr(bounds, '-') : NULL;
    int64_t from, until;

    if (dash == NULL || !take_partition(text, (size_t) (bounds - text), ret_partition) ||
        !pawl__text_offset(bounds + 1, (size_t) (dash - bounds) - 1, &from) ||
        !pawl__text_offset(dash + 1, strlen(dash + 1), &until))
        return refuse(text, "TOPIC:PARTITION:FROM-UNTIL", err);
    if (from >= until)
        return refuse(text, "a range: FROM is the first offset of it and UNTIL the one after its last", err);
    *ret_from = from;
    *ret_until = until;
    return PAWL_OK;
}
