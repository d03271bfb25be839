/*
 * settings_names.c - names that are no settings: mistyped ones, and librdkafka properties that pawl owns
 */
#include "core/settings.h"

#include <string.h>

#include <glib.h>

#include "util/nearest.h"

#define USE_STORE  "pawl saves offsets itself, in its store, once a batch is done"
#define USE_MEMORY "set fetch.memory instead, from which it is derived"

/* A name that ends with a dot stands for all that begin with it. */
static const struct {
    const char *name;
    const char *instead;
} owned[] = {
    {"group.id", "set group instead"},
    {"client.id", "set client_id instead"},
    {"group.instance.id", "set instance_id instead"},
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

const char *
pawl__setting_nearest(const char *name)
{
    size_t count;
    const pawl__setting *table = pawl__setting_table(&count);
    pawl__nearest nearest = pawl__nearest_to(name);

    for (size_t i = 0; i < count; i++)
        pawl__nearest_try(&nearest, table[i].name);
    return nearest.found;
}
