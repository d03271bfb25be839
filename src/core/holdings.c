/*
 * holdings.c - the partitions that a job holds
 */
#include "core/holdings.h"

#include <glib.h>

#include "util/clock.h"
#include "util/partition.h"

struct pawl__holdings {
    GPtrArray *all;    /* owns them */
    GHashTable *index; /* partition -> holding; the key is inside the value */
};

static void
holding_free(gpointer data)
{
    pawl__holding *holding = data;

    g_free((char *) holding->partition.topic);
    g_free(holding);
}

void
pawl__holding_note_saved(pawl__holding *holding, const pawl_save_line *line)
{
    holding->stored = pawl_position_at(line->until);
    holding->stored_print = pawl__print_stored(line->print, line->until);
    holding->saved_ms = pawl__clock_ms();
}

pawl__holdings *
pawl__holdings_new(void)
{
    pawl__holdings *holdings = g_new0(pawl__holdings, 1);

    holdings->all = g_ptr_array_new_with_free_func(holding_free);
    holdings->index = g_hash_table_new(pawl__partition_hash, pawl__partition_equal);
    return holdings;
}

void
pawl__holdings_free(pawl__holdings *holdings)
{
    if (holdings == NULL)
        return;
    g_hash_table_unref(holdings->index);
    g_ptr_array_unref(holdings->all);
    g_free(holdings);
}

/* Where a partition has to be among those that are there. */
static guint
place(const pawl__holdings *holdings, const pawl_partition *partition)
{
    guint first = 0, after = holdings->all->len;

    while (first < after) {
        guint middle = first + (after - first) / 2;
        const pawl__holding *holding = g_ptr_array_index(holdings->all, middle);

        if (pawl__partition_compare(&holding->partition, partition) < 0)
            first = middle + 1;
        else
            after = middle;
    }
    return first;
}

pawl__holding *
pawl__holdings_add(pawl__holdings *holdings, pawl_partition partition)
{
    pawl__holding *holding = g_new0(pawl__holding, 1);

    holding->partition.topic = g_strdup(partition.topic);
    holding->partition.number = partition.number;
    g_ptr_array_insert(holdings->all, (gint) place(holdings, &partition), holding);
    g_hash_table_insert(holdings->index, &holding->partition, holding);
    return holding;
}

void
pawl__holdings_remove(pawl__holdings *holdings, pawl__holding *holding)
{
    g_hash_table_remove(holdings->index, &holding->partition);
    g_ptr_array_remove(holdings->all, holding); /* frees it, and keeps the order */
}

pawl__holding *
pawl__holdings_find(pawl__holdings *holdings, pawl_partition partition)
{
    return g_hash_table_lookup(holdings->index, &partition);
}

size_t
pawl__holdings_count(const pawl__holdings *holdings)
{
    return holdings->all->len;
}

pawl__holding *
pawl__holdings_at(pawl__holdings *holdings, size_t index)
{
    return g_ptr_array_index(holdings->all, index);
}
