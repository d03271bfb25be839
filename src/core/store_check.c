/*
 * store_check.c - are the arguments of a call to a store right?
 *
 * Backends rely on it, so nothing that is wrong may get past: a duplicate partition, for one, would be saved once and
 * conflict with itself the second time.
 */
#include "core/store.h"

#include <string.h>

#include "util/partition.h"

/* The functions below see lines of five kinds as things that begin with a partition. */
G_STATIC_ASSERT(offsetof(pawl_acquire_line, partition) == 0);
G_STATIC_ASSERT(offsetof(pawl_plan_line, partition) == 0);
G_STATIC_ASSERT(offsetof(pawl_save_line, partition) == 0);
G_STATIC_ASSERT(offsetof(pawl_remove_line, partition) == 0);

static pawl_status
wrong(pawl_error *err, pawl_partition partition, const char *why)
{
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "partition %d of topic '%s': %s", (int) partition.number,
                          partition.topic, why);
}

pawl_status
pawl__store_check_group(const char *group, pawl_error *err)
{
    if (group == NULL || *group == '\0')
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "a group's name must not be empty");
    if (!g_utf8_validate(group, -1, NULL))
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "a group's name must be UTF-8");
    return PAWL_OK;
}

/* They are shown to people and stored as they are, by some backends in lines of their own. */
static pawl_status
check_text(const char *what, const char *text, size_t text_size, pawl_error *err)
{
    const char *end = memchr(text, '\0', text_size);

    if (end == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s must not be longer than %zu bytes", what, text_size - 1);
    if (!g_utf8_validate(text, end - text, NULL))
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s must be UTF-8", what);
    for (const char *at = text; at < end; at = g_utf8_next_char(at))
        if (g_unichar_iscntrl(g_utf8_get_char(at)))
            return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s must not hold control characters", what);
    return PAWL_OK;
}

pawl_status
pawl__store_check_owner(const pawl_owner *owner, const char *cluster, pawl_error *err)
{
    pawl_status status = check_text("an owner's host", owner->host, sizeof owner->host, err);

    if (status == PAWL_OK)
        status = check_text("an owner's client id", owner->client_id, sizeof owner->client_id, err);
    if (status == PAWL_OK && cluster != NULL)
        status = check_text("a cluster's id", cluster, PAWL_CLUSTER_SIZE, err);
    if (status == PAWL_OK && owner->host[0] == '\0')
        status = pawl_error_set(err, PAWL_INVALID, 0, 0, "an owner has a host: an empty one means nobody");
    if (status == PAWL_OK && (owner->pid < 0 || owner->renewed_ms < 0))
        status = pawl_error_set(err, PAWL_INVALID, 0, 0, "an owner's pid and its time are never negative");
    return status;
}

/* ---------------------------------------------------------------------------------------------------- partitions -- */

static int
compare_pointers(const void *a, const void *b)
{
    return pawl__partition_compare(*(const pawl_partition *const *) a, *(const pawl_partition *const *) b);
}

static const pawl_partition *
partition_at(const void *lines, size_t stride, size_t index)
{
    return (const pawl_partition *) ((const char *) lines + stride * index);
}

/* The first partition that is there twice, or NULL. */
static const pawl_partition *
find_duplicate(const void *lines, size_t stride, size_t count)
{
    const pawl_partition **sorted, *duplicate = NULL;
    size_t ascending = 1;

    /* Most callers have them in order: that costs no sorting. */
    while (ascending < count && pawl__partition_compare(partition_at(lines, stride, ascending - 1),
                                                        partition_at(lines, stride, ascending)) < 0)
        ascending++;
    if (ascending >= count)
        return NULL;

    sorted = g_new(const pawl_partition *, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = partition_at(lines, stride, i);
    qsort(sorted, count, sizeof *sorted, compare_pointers);
    for (size_t i = 1; i < count && duplicate == NULL; i++)
        if (pawl__partition_compare(sorted[i - 1], sorted[i]) == 0)
            duplicate = sorted[i];
    g_free(sorted);
    return duplicate;
}

pawl_status
pawl__store_check_partitions(const void *lines, size_t stride, size_t count, pawl_error *err)
{
    const pawl_partition *duplicate;

    for (size_t i = 0; i < count; i++) {
        const pawl_partition *partition = partition_at(lines, stride, i);

        if (partition->topic == NULL || *partition->topic == '\0')
            return pawl_error_set(err, PAWL_INVALID, 0, 0, "a topic's name must not be empty");
        if (!g_utf8_validate(partition->topic, -1, NULL))
            return pawl_error_set(err, PAWL_INVALID, 0, 0, "a topic's name must be UTF-8");
        if (partition->number < 0)
            return wrong(err, *partition, "the number of a partition is never negative");
    }
    duplicate = find_duplicate(lines, stride, count);
    return duplicate != NULL ? wrong(err, *duplicate, "it is there twice") : PAWL_OK;
}

/* --------------------------------------------------------------------------------------------------------- lines -- */

static pawl_status
check_position(pawl_partition partition, pawl_position position, pawl_error *err)
{
    if (position.known && position.offset < 0)
        return wrong(err, partition, "an offset is never negative");
    return PAWL_OK;
}

/* Who never acquired has epoch 0, and would own everything that nobody has owned yet. */
static pawl_status
check_epoch(unsigned capabilities, pawl_partition partition, int64_t epoch, pawl_error *err)
{
    if (epoch < 0)
        return wrong(err, partition, "an epoch is never negative");
    if (epoch == 0 && (capabilities & PAWL_STORE_CAS_EPOCH))
        return wrong(err, partition, "only its owner changes it: acquire it first");
    return PAWL_OK;
}

pawl_status
pawl__store_check_acquire(const pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (lines[i].epoch_seen < 0)
            return wrong(err, lines[i].partition, "an epoch is never negative");
        if (check_position(lines[i].partition, lines[i].initial, err) != PAWL_OK)
            return PAWL_INVALID;
    }
    return PAWL_OK;
}

pawl_status
pawl__store_check_plan(unsigned capabilities, const pawl_plan_line *lines, size_t count, pawl_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const pawl_plan_line *line = &lines[i];

        if (check_epoch(capabilities, line->partition, line->epoch, err) != PAWL_OK ||
            check_position(line->partition, line->expected, err) != PAWL_OK ||
            check_position(line->partition, line->pending, err) != PAWL_OK)
            return PAWL_INVALID;
    }
    return PAWL_OK;
}

static pawl_status
check_print(pawl_partition partition, const char *print, pawl_error *err)
{
    if (print == NULL)
        return PAWL_OK;
    if (strlen(print) >= PAWL_PRINT_SIZE)
        return wrong(err, partition, "its print is too long");
    if (!g_utf8_validate(print, -1, NULL))
        return wrong(err, partition, "its print is not UTF-8");
    return PAWL_OK;
}

pawl_status
pawl__store_check_save(unsigned capabilities, const pawl_save_line *lines, size_t count, pawl_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const pawl_save_line *line = &lines[i];

        if (check_epoch(capabilities, line->partition, line->epoch, err) != PAWL_OK ||
            check_position(line->partition, line->expected, err) != PAWL_OK ||
            check_position(line->partition, pawl_position_at(line->until), err) != PAWL_OK ||
            check_print(line->partition, line->print, err) != PAWL_OK)
            return PAWL_INVALID;
        if (line->batch < 0)
            return wrong(err, line->partition, "the number of a batch is never negative");
    }
    return PAWL_OK;
}

pawl_status
pawl__store_check_remove(unsigned capabilities, const pawl_remove_line *lines, size_t count, pawl_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (check_epoch(capabilities, lines[i].partition, lines[i].epoch, err) != PAWL_OK ||
            check_position(lines[i].partition, lines[i].expected, err) != PAWL_OK)
            return PAWL_INVALID;
    return PAWL_OK;
}
