/*
 * config.c - the settings of a job, as texts
 *
 * Texts are checked one by one when they are set, so that an error names the line that is wrong, and kept as they came:
 * what a value means is parsed anew for each job.
 */
#include "core/config.h"

#include <string.h>

#include "util/text.h"

#define KAFKA_PREFIX "kafka."
#define USER_PREFIX  "user."

struct pawl_config {
    GHashTable *texts; /* pawl's own and the user's, by whole name */
    GHashTable *kafka; /* librdkafka's, without the prefix */
    pawl_log log;
};

static GHashTable *
text_table_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

pawl_config *
pawl_config_new(void)
{
    pawl_config *config = g_new0(pawl_config, 1);

    config->texts = text_table_new();
    config->kafka = text_table_new();
    return config;
}

void
pawl_config_free(pawl_config *config)
{
    if (config == NULL)
        return;
    g_hash_table_unref(config->texts);
    g_hash_table_unref(config->kafka);
    g_free(config);
}

static void
copy_table(GHashTable *to, GHashTable *from)
{
    GHashTableIter iter;
    gpointer name, text;

    g_hash_table_iter_init(&iter, from);
    while (g_hash_table_iter_next(&iter, &name, &text))
        g_hash_table_insert(to, g_strdup(name), g_strdup(text));
}

pawl_config *
pawl__config_copy(const pawl_config *config)
{
    pawl_config *copy = pawl_config_new();

    copy_table(copy->texts, config->texts);
    copy_table(copy->kafka, config->kafka);
    copy->log = config->log;
    return copy;
}

/* ------------------------------------------------------------------------------------------------------------- set -- */

/* Whether librdkafka knows a property is for the source to say: it has the client at hand. Values are never shown, since
 * many of them are secrets. */
static pawl_status
set_kafka(pawl_config *config, const char *property, const char *value, pawl_error *err)
{
    const char *instead = pawl__setting_instead_of(property);

    if (property[0] == '\0')
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "kafka. is followed by the name of a librdkafka property, as in kafka.bootstrap.servers");
    if (instead != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "kafka.%s cannot be set: %s", property, instead);
    g_hash_table_replace(config->kafka, g_strdup(property), g_strdup(value));
    return PAWL_OK;
}

static pawl_status
refuse_unknown(const char *name, pawl_error *err)
{
    char shown[PAWL__BYTES_TEXT_SIZE];
    const char *nearest = pawl__setting_nearest(name);
    const char *instead = pawl__setting_instead_of(name);
    const char *whose = NULL, *ours = pawl__setting_for_foreign(name, &whose);

    pawl__text_from_bytes(name, strlen(name), shown);
    if (instead != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s cannot be set: %s", shown, instead);
    if (ours != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s is %s name: write %s", shown, whose, ours);
    if (nearest != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "there is no setting \"%s\"; did you mean %s?", shown, nearest);
    if (strchr(name, '.') != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "there is no setting \"%s\"; librdkafka's properties are written kafka.NAME", shown);
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "there is no setting \"%s\"; see pawl-settings(5)", shown);
}

static pawl_status
set_own(pawl_config *config, const char *name, const char *value, pawl_error *err)
{
    const pawl__setting *setting = pawl__setting_find(name);
    pawl__settings scratch = {0};
    pawl_status status;

    if (setting == NULL)
        return refuse_unknown(name, err);
    if (setting->empty_unsets && value[0] == '\0') {
        g_hash_table_remove(config->texts, name);
        return PAWL_OK;
    }
    status = pawl__setting_parse(setting, &scratch, value, err);
    pawl__settings_done(&scratch);
    if (status == PAWL_OK)
        g_hash_table_replace(config->texts, g_strdup(name), g_strdup(value));
    return status;
}

pawl_status
pawl_config_set(pawl_config *config, const char *name, const char *value, pawl_error *err)
{
    if (name == NULL || value == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "a setting has a name and a value, neither of them NULL");
    if (g_str_has_prefix(name, KAFKA_PREFIX))
        return set_kafka(config, name + strlen(KAFKA_PREFIX), value, err);
    if (!g_str_has_prefix(name, USER_PREFIX))
        return set_own(config, name, value, err);
    if (name[strlen(USER_PREFIX)] == '\0')
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "user. is followed by a name of the program's own");
    g_hash_table_replace(config->texts, g_strdup(name), g_strdup(value));
    return PAWL_OK;
}

void
pawl_config_set_log(pawl_config *config, const pawl_log *log)
{
    config->log = *log;
}

/* ------------------------------------------------------------------------------------------------------------- get -- */

const char *
pawl_config_get(const pawl_config *config, const char *name)
{
    const char *text = g_hash_table_lookup(config->texts, name);
    const pawl__setting *setting = pawl__setting_find(name);

    if (g_str_has_prefix(name, KAFKA_PREFIX))
        return g_hash_table_lookup(config->kafka, name + strlen(KAFKA_PREFIX));
    if (text == NULL && setting != NULL)
        text = setting->fallback;
    return text;
}

GHashTable *
pawl__config_kafka(const pawl_config *config)
{
    return config->kafka;
}

const pawl_log *
pawl__config_log(const pawl_config *config)
{
    return &config->log;
}

pawl_status
pawl__config_settings(const pawl_config *config, pawl__settings *ret_settings, pawl_error *err)
{
    pawl__settings settings = {0};
    pawl_status status = PAWL_OK;
    size_t count;
    const pawl__setting *table = pawl__setting_table(&count);

    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        const char *text = pawl_config_get(config, table[i].name);

        if (text != NULL)
            status = pawl__setting_parse(&table[i], &settings, text, err);
    }
    if (status == PAWL_OK)
        status = pawl__settings_check(&settings, err);
    if (status == PAWL_OK)
        *ret_settings = settings;
    else
        pawl__settings_done(&settings);
    return status;
}

/* An empty list of brokers is what a variable that was never set leaves. */
static bool
is_unset(const pawl_config *config, const char *property)
{
    const char *value = g_hash_table_lookup(config->kafka, property);

    return value == NULL || value[0] == '\0';
}

pawl_status
pawl_config_check(const pawl_config *config, pawl_error *err)
{
    pawl__settings settings;
    pawl_status status = pawl__config_settings(config, &settings, err);

    if (status != PAWL_OK)
        return status;
    pawl__settings_done(&settings);
    /* The second is librdkafka's other name for the first. */
    if (is_unset(config, "bootstrap.servers") && is_unset(config, "metadata.broker.list"))
        return pawl_error_set(err, PAWL_INVALID, 0, 0,
                              "kafka.bootstrap.servers is required: HOST:PORT of a broker, or of several with commas");
    return PAWL_OK;
}
