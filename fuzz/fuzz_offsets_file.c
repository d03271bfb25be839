/*
 * fuzz_offsets_file.c - a file of offsets, as CSV or JSON
 *
 * What was read is written in both forms and read again: that gives the same offsets.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/offsets_file.h"
#include "fuzz/target.h"
#include "util/partition.h"

static bool
same(const GArray *left, const GArray *right)
{
    if (left->len != right->len)
        return false;
    for (size_t i = 0; i < left->len; i++) {
        const pawl_move *a = pawl__moves_at(left, i), *b = pawl__moves_at(right, i);

        if (pawl__partition_compare(a, b) != 0 || a->given.offset != b->given.offset || !b->given.known)
            return false;
    }
    return true;
}

static void
check_again(const char *text, size_t size, const GArray *moves, const char *cluster)
{
    GArray *again = pawl__moves_new();
    const char *cluster_again = NULL;

    if (pawl__offsets_read("f", text, size, again, &cluster_again, NULL) != PAWL_OK || !same(moves, again))
        abort();
    if (g_strcmp0(cluster, cluster_again) != 0)
        abort();
    g_array_unref(again);
}

static void
write_and_read(GArray *moves, const char *cluster)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    for (size_t i = 0; i < moves->len; i++)
        pawl__moves_at(moves, i)->entry.offset = pawl__moves_at(moves, i)->given;
    pawl__offsets_write_csv(file, moves);
    fclose(file);
    check_again(text, size, moves, NULL);
    free(text);
    file = open_memstream(&text, &size);
    pawl__offsets_write_json(file, "g", cluster != NULL ? cluster : "", moves);
    fclose(file);
    check_again(text, size, moves, cluster);
    free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = g_malloc(size + 1);
    GArray *moves = pawl__moves_new();
    const char *cluster = NULL;
    pawl_error err = {0};

    memcpy(text, data, size);
    text[size] = '\0';
    if (pawl__offsets_read("f", text, size, moves, &cluster, &err) == PAWL_OK)
        write_and_read(moves, cluster);
    else if (err.status != PAWL_INVALID || err.message[0] != 'f')
        abort();
    g_array_unref(moves);
    g_free(text);
    return 0;
}
