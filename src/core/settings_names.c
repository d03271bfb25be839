/*
 * settings_names.c - names that are no settings: mistyped ones, and librdkafka properties that pawl owns
 */
#include "core/settings.h"

#include <string.h>

#include <glib.h>

/* Longer names than this are not looked at: no setting comes near. */
#define NAME_MAX_SIZE 64

#define USE_STORE     "pawl saves offsets itself, in its store, once a batch is done"
#define USE_MEMORY    "set fetch.memory instead, from which it is derived"

/* A name that ends with a dot stands for all that begin with it. */
static const struct {
    const char *name;
    const char *instead;
} owned[] = {
    {"group.id", "set group instead"},
    {"client.id", "set client_id instead"},
    {"enable.auto.", USE_STORE},
    {"auto.commit.", USE_STORE},
    {"offset.store.", USE_STORE},
    {"auto.offset.reset", "set start for partitions with nothing stored, and on_data_loss for offsets that are gone"},
    {"isolation.level", "set isolation instead"},
    {"transactional.id", "pawl names its transactions itself"},
    {"enable.partition.eof", "pawl needs it to see the end of a range, and sets it"},
    {"queued.", USE_MEMORY},
    {"fetch.max.bytes", USE_MEMORY},
    {"fetch.message.max.bytes", USE_MEMORY},
    {"max.partition.fetch.bytes", USE_MEMORY},
};

const char *
pawl__setting_instead_of(const char *kafka_property)
{
    for (size_t i = 0; i < G_N_ELEMENTS(owned); i++) {
        const char *name = owned[i].name;
        bool is_prefix = g_str_has_suffix(name, ".");

        if (is_prefix ? g_str_has_prefix(kafka_property, name) : strcmp(kafka_property, name) == 0)
            return owned[i].instead;
    }
    return NULL;
}

/* Words are joined now with a dot, now with an underscore, and on command lines with a dash: that is no difference. */
static char
fold(char c)
{
    return c == '-' || c == '.' ? '_' : g_ascii_tolower(c);
}

/* The edit distance (Levenshtein's): how many characters have to be put in, left out or changed. */
static size_t
distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_SIZE + 1]; /* of the matrix: distances of the a seen so far from each beginning of b */
    size_t b_size = strlen(b);

    for (size_t j = 0; j <= b_size; j++)
        row[j] = j;
    for (size_t i = 1; *a != '\0'; a++, i++) {
        size_t diagonal = row[0]; /* what stood up and to the left */

        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t change = diagonal + (fold(*a) != fold(b[j - 1]) ? 1 : 0);

            diagonal = row[j];
            row[j] = MIN(change, MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_size];
}

const char *
pawl__setting_nearest(const char *name)
{
    size_t size = strlen(name), count;
    const pawl__setting *table = pawl__setting_table(&count);
    const char *nearest = NULL;
    size_t limit = 1 + size / 4; /* further away it would be a guess */

    if (size == 0 || size > NAME_MAX_SIZE)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(table[i].name, name);

        if (d <= limit) {
            nearest = table[i].name;
            if (d == 0)
                break;
            limit = d - 1; /* from now on only what is nearer */
        }
    }
    return nearest;
}
