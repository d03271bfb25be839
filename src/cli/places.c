/*
 * places.c - the options that many commands share: where the store is, and the brokers
 */
#include "cli/places.h"

#include <stdio.h>
#include <string.h>

#include <pawl/config.h>

#include "cli/expand.h"
#include "util/text.h"

static const char *const isolations[] = {"read_committed", "read_uncommitted", NULL};

const pawl_option pawl__option_store = {
    .name = "store",
    .kind = PAWL_OPTION_TEXT,
    .required = true,
    .argument = "URL",
    .summary =
        "The store of the offsets, sqlite:offsets.db for instance. ${env:NAME} and ${file:PATH} in it are replaced "
        "by a variable or the content of a file, which others cannot see as they can see a command line; in its user, "
        "password and parameters that is percent-encoded.",
    .field = offsetof(pawl_places, store),
};

const pawl_option pawl__option_group = {
    .name = "group",
    .kind = PAWL_OPTION_TEXT,
    .required = true,
    .argument = "NAME",
    .summary = "The name under which the offsets are kept.",
    .field = offsetof(pawl_places, group),
};

const pawl_option pawl__option_any_group = {
    .name = "group",
    .kind = PAWL_OPTION_TEXT,
    .argument = "NAME",
    .summary = "The name under which the offsets are kept. Without it the names of all groups are listed.",
    .field = offsetof(pawl_places, group),
};

const pawl_option pawl__option_brokers = {
    .name = "brokers",
    .kind = PAWL_OPTION_TEXT,
    .required = true,
    .argument = "HOST:PORT",
    .summary = "A broker of the Kafka cluster, or several with commas between.",
    .field = offsetof(pawl_places, brokers),
};

const pawl_option pawl__option_any_brokers = {
    .name = "brokers",
    .kind = PAWL_OPTION_TEXT,
    .argument = "HOST:PORT",
    .summary =
        "A broker of the Kafka cluster, or several with commas between: the bounds of the logs are shown as well.",
    .field = offsetof(pawl_places, brokers),
};

const pawl_option pawl__option_kafka = {
    .name = "kafka",
    .kind = PAWL_OPTION_LIST,
    .argument = "NAME=VALUE",
    .summary = "A property of librdkafka, security.protocol=SASL_SSL for instance. ${env:NAME} and ${file:PATH} are "
               "replaced in it, too.",
    .field = offsetof(pawl_places, kafka),
};

const pawl_option pawl__option_isolation = {
    .name = "isolation",
    .kind = PAWL_OPTION_TEXT,
    .argument = "LEVEL",
    .fallback = "read_committed",
    .choices = isolations,
    .summary = "Whether the end of a log is where transactions that are still open begin (read_committed), or not "
               "(read_uncommitted).",
    .field = offsetof(pawl_places, isolation),
};

const pawl_option pawl__option_timeout = {
    .name = "timeout",
    .kind = PAWL_OPTION_TEXT,
    .argument = "DURATION",
    .fallback = "30s",
    .summary = "The longest that one question to the store or to the brokers may take.",
    .field = offsetof(pawl_places, timeout),
};

const pawl_option pawl__option_json = {
    .name = "json",
    .kind = PAWL_OPTION_FLAG,
    .summary = "Prints JSON. Numbers are exact to 64 bits, and what is not known is null.",
    .field = offsetof(pawl_places, json),
};

const pawl_option pawl__option_execute = {
    .name = "execute",
    .kind = PAWL_OPTION_FLAG,
    .summary = "Makes the change. Without it what would be changed is shown.",
    .field = offsetof(pawl_places, execute),
};

const pawl_option pawl__option_force = {
    .name = "force",
    .kind = PAWL_OPTION_FLAG,
    .summary = "Accepts offsets that the log does not hold, and offsets that belong to another Kafka cluster.",
    .field = offsetof(pawl_places, force),
};

const pawl_option pawl__option_topic = {
    .name = "topic",
    .kind = PAWL_OPTION_LIST,
    .argument = "TOPIC[:P,P]",
    .summary = "A topic, or some of its partitions.",
    .field = offsetof(pawl_places, topics),
};

const pawl_option pawl__option_all_topics = {
    .name = "all-topics",
    .kind = PAWL_OPTION_FLAG,
    .summary = "All partitions that are stored for the group.",
    .field = offsetof(pawl_places, all_topics),
};

static void
log_line(void *user, const pawl_log_line *line)
{
    (void) user;
    pawl_log_to_stdio(stderr, line);
}

const pawl_log pawl__cli_log = {PAWL_LOG_WARN, log_line, NULL};

pawl_status
pawl__places_timeout(const pawl_places *places, int64_t *ret_ms, pawl_error *err)
{
    const int64_t min_ms = 100, max_ms = 3600 * 1000;
    int64_t ms;
    pawl_status status =
        pawl__text_duration(places->timeout != NULL ? places->timeout : pawl__option_timeout.fallback, &ms, err);

    if (status != PAWL_OK)
        return pawl_error_prefix(err, "--timeout");
    if (ms < min_ms || ms > max_ms)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "--timeout: %s is not between 100ms and 1h", places->timeout);
    *ret_ms = ms;
    return PAWL_OK;
}

/* ---------------------------------------------------------------------------------------------------- properties -- */

static void
add_property(GPtrArray *properties, const char *name, const char *value)
{
    g_ptr_array_add(properties, g_strdup(name));
    g_ptr_array_add(properties, g_strdup(value));
}

/* Which names pawl keeps for itself is for its settings to say. */
static pawl_status
check_property(const char *name, const char *value, pawl_error *err)
{
    pawl_config *config = pawl_config_new();
    char *setting = g_strconcat("kafka.", name, NULL);
    pawl_status status = pawl_config_set(config, setting, value, err);

    g_free(setting);
    pawl_config_free(config);
    return status;
}

/* One --kafka NAME=VALUE: the value is all that follows the first '='. */
static pawl_status
take_property(GPtrArray *properties, const char *text, pawl_error *err)
{
    const char *equals = strchr(text, '=');
    char *name, *value = NULL, *shown = NULL;
    pawl_status status;

    if (equals == NULL || equals == text)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "--kafka takes NAME=VALUE");
    name = g_strndup(text, (gsize) (equals - text));
    status = pawl__expand(equals + 1, &value, &shown, err);
    if (status == PAWL_OK)
        status = check_property(name, value, err);
    if (status == PAWL_OK)
        add_property(properties, name, value);
    else
        pawl_error_prefix(err, "--kafka");
    g_free(shown);
    g_free(value);
    g_free(name);
    return status;
}

pawl_status
pawl__places_properties(const pawl_places *places, GPtrArray **ret_properties, pawl_error *err)
{
    GPtrArray *properties = g_ptr_array_new_with_free_func(g_free);
    pawl_status status = PAWL_OK;

    if (places->brokers != NULL)
        add_property(properties, "bootstrap.servers", places->brokers);
    for (guint i = 0; status == PAWL_OK && places->kafka != NULL && i < places->kafka->len; i++)
        status = take_property(properties, g_ptr_array_index(places->kafka, i), err);
    g_ptr_array_add(properties, NULL);
    *ret_properties = properties;
    return status;
}

/* --------------------------------------------------------------------------------------------------------- store -- */

pawl_status
pawl__places_open_store(const pawl_places *places, bool read_only, pawl_store **ret_store, pawl_error *err)
{
    pawl_store_options options = {.size = sizeof options, .log = &pawl__cli_log, .read_only = read_only};
    char *url = NULL, *shown = NULL;
    GPtrArray *properties = NULL;
    pawl_status status = pawl__places_timeout(places, &options.timeout_ms, err);

    if (status == PAWL_OK)
        status = pawl__places_properties(places, &properties, err);
    if (status == PAWL_OK && pawl__expand(places->store, &url, &shown, err) != PAWL_OK)
        status = pawl_error_prefix(err, "--store");
    if (status == PAWL_OK) {
        options.kafka = (const char *const *) properties->pdata;
        status = pawl_store_open(url, &options, ret_store, err);
    }
    g_clear_pointer(&properties, g_ptr_array_unref);
    g_free(url);
    g_free(shown);
    return status;
}
