/*
 * settings_special.c - settings whose values have a grammar of their own
 */
#include "core/settings_special.h"

#include <string.h>

#include <glib.h>

#include "util/pattern.h"
#include "util/text.h"
#include "util/url.h"

#define DAY_MS  INT64_C(86400000)
#define YEAR_MS (366 * DAY_MS)

/* Of Kafka: org.apache.kafka.common.internals.Topic.MAX_NAME_LENGTH. */
#define TOPIC_MAX_SIZE 249

#define BLANKS         " \t\r\n"

/* "WHAT" is not EXPECTED. */
static pawl_status
refuse(const char *text, const char *expected, pawl_error *err)
{
    char shown[PAWL__BYTES_TEXT_SIZE];

    return pawl_error_set(err, PAWL_INVALID, 0, 0, "\"%s\" is not %s", pawl__text_from_bytes(text, strlen(text), shown),
                          expected);
}

static pawl_status
check_topic(const char *topic, pawl_error *err)
{
    size_t size = strlen(topic);
    size_t legal = strspn(topic, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

    if (size == 0 || size > TOPIC_MAX_SIZE || legal < size || strcmp(topic, ".") == 0 || strcmp(topic, "..") == 0)
        return refuse(topic, "a topic's name: 1 to 249 letters, digits, dots, underscores and dashes", err);
    return PAWL_OK;
}

/* ------------------------------------------------------------------------------------------------------- selection -- */

pawl_status
pawl__settings_parse_topics(pawl__settings *settings, const char *text, pawl_error *err)
{
    char **topics = g_strsplit(text, ",", -1);
    pawl_status status = topics[0] == NULL ? refuse(text, "TOPIC, TOPIC ...", err) : PAWL_OK;

    for (size_t i = 0; topics[i] != NULL && status == PAWL_OK; i++) {
        status = check_topic(g_strstrip(topics[i]), err);
        for (size_t j = 0; j < i && status == PAWL_OK; j++)
            if (strcmp(topics[j], topics[i]) == 0)
                status = pawl_error_set(err, PAWL_INVALID, 0, 0, "%s comes twice", topics[i]);
    }
    if (status != PAWL_OK) {
        g_strfreev(topics);
        return status;
    }
    g_strfreev(settings->topics);
    settings->topics = topics;
    return PAWL_OK;
}

pawl_status
pawl__settings_parse_topics_pattern(pawl__settings *settings, const char *text, pawl_error *err)
{
    GRegex *pattern;
    pawl_status status = pawl__pattern_new(text, &pattern, err);

    if (status != PAWL_OK)
        return status;
    g_regex_unref(pattern);
    g_free(settings->topics_pattern);
    settings->topics_pattern = g_strdup(text);
    return PAWL_OK;
}

pawl_status
pawl__settings_parse_store(pawl__settings *settings, const char *text, pawl_error *err)
{
    pawl__url url;
    pawl_status status = pawl__url_parse(text, &url, err);

    if (status != PAWL_OK)
        return status;
    pawl__url_done(&url);
    g_free(settings->store);
    settings->store = g_strdup(text);
    return PAWL_OK;
}

/* ---------------------------------------------------------------------------------------------------------- places -- */

/* A list of places while it is read. */
typedef struct places {
    GArray *list;     /* pawl__settings_place */
    GHashTable *seen; /* "topic:partition" */
} places;

static void
places_init(places *reading)
{
    reading->list = g_array_new(FALSE, FALSE, sizeof(pawl__settings_place));
    reading->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

/* Gives the list when all went well, and frees what is left. */
static void
places_done(places *reading, pawl_status status, pawl__settings_place **list, size_t *count)
{
    size_t size = reading->list->len;
    pawl__settings_place *read = (pawl__settings_place *) g_array_free(reading->list, FALSE);

    g_hash_table_unref(reading->seen);
    if (status == PAWL_OK) {
        pawl__settings_free_places(*list, *count);
        *list = read;
        *count = size;
    } else
        pawl__settings_free_places(read, size);
}

void
pawl__settings_free_places(pawl__settings_place *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        g_free(list[i].topic);
    g_free(list);
}

static pawl_status
places_add(places *reading, const char *topic, const char *number, int64_t offset, pawl_error *err)
{
    pawl__settings_place place;
    int64_t partition;

    if (!pawl__text_offset(number, strlen(number), &partition) || partition > INT32_MAX)
        return refuse(number, "the number of a partition", err);
    if (!g_hash_table_add(reading->seen, g_strdup_printf("%s:%s", topic, number)))
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s:%s comes twice", topic, number);
    place.topic = g_strdup(topic);
    place.partition = (int32_t) partition;
    place.offset = offset;
    g_array_append_val(reading->list, place);
    return PAWL_OK;
}

/* Calls read_one for each word of a text; at least one is required. A word may be written to. */
static pawl_status
each_word(const char *text, pawl_status (*read_one)(places *reading, char *word, pawl_error *err), const char *form,
          places *reading, pawl_error *err)
{
    char **words = g_strsplit_set(text, BLANKS, -1);
    pawl_status status = PAWL_OK;

    for (size_t i = 0; words[i] != NULL && status == PAWL_OK; i++)
        if (words[i][0] != '\0')
            status = read_one(reading, words[i], err);
    g_strfreev(words);
    if (status == PAWL_OK && reading->list->len == 0)
        status = refuse(text, form, err);
    return status;
}

/* TOPIC:0,1,2 */
static pawl_status
read_partitions(places *reading, char *word, pawl_error *err)
{
    char *colon = strchr(word, ':');
    char **numbers;
    pawl_status status;

    if (colon == NULL)
        return refuse(word, "TOPIC:0,1,2", err);
    *colon = '\0';
    numbers = g_strsplit(colon + 1, ",", -1);
    status = check_topic(word, err);
    if (status == PAWL_OK && numbers[0] == NULL)
        status = refuse("", "the number of a partition", err);
    for (size_t i = 0; numbers[i] != NULL && status == PAWL_OK; i++)
        status = places_add(reading, word, numbers[i], 0, err);
    g_strfreev(numbers);
    return status;
}

/* TOPIC:PARTITION=OFFSET */
static pawl_status
read_offset(places *reading, char *word, pawl_error *err)
{
    char *equals = strchr(word, '=');
    char *colon = strchr(word, ':');
    int64_t offset;
    pawl_status status;

    if (colon == NULL || equals == NULL || colon > equals)
        return refuse(word, "TOPIC:PARTITION=OFFSET", err);
    *colon = '\0';
    *equals = '\0';
    if (!pawl__text_offset(equals + 1, strlen(equals + 1), &offset))
        return refuse(equals + 1, "an offset", err);
    status = check_topic(word, err);
    return status == PAWL_OK ? places_add(reading, word, colon + 1, offset, err) : status;
}

pawl_status
pawl__settings_parse_partitions(pawl__settings *settings, const char *text, pawl_error *err)
{
    places reading;
    pawl_status status;

    places_init(&reading);
    status = each_word(text, read_partitions, "TOPIC:0,1,2 TOPIC:3 ...", &reading, err);
    places_done(&reading, status, &settings->partitions, &settings->partition_count);
    return status;
}

/* ---------------------------------------------------------------------------------------- start, trigger, takeover -- */

static pawl_status
parse_start_offsets(pawl__settings *settings, const char *text, pawl_error *err)
{
    places reading;
    pawl_status status;

    places_init(&reading);
    status = each_word(text, read_offset, "TOPIC:PARTITION=OFFSET ...", &reading, err);
    places_done(&reading, status, &settings->start_offsets, &settings->start_offset_count);
    if (status == PAWL_OK)
        settings->start = PAWL__START_OFFSETS;
    return status;
}

/* Whatever the start is from now on, it is no list of offsets. */
static pawl_status
set_start(pawl__settings *settings, pawl__start_kind start, int64_t time_ms)
{
    pawl__settings_free_places(settings->start_offsets, settings->start_offset_count);
    settings->start_offsets = NULL;
    settings->start_offset_count = 0;
    settings->start = start;
    settings->start_time_ms = time_ms;
    return PAWL_OK;
}

pawl_status
pawl__settings_parse_start(pawl__settings *settings, const char *text, pawl_error *err)
{
    int64_t time_ms;

    if (strcmp(text, "earliest") == 0)
        return set_start(settings, PAWL__START_EARLIEST, 0);
    if (strcmp(text, "latest") == 0)
        return set_start(settings, PAWL__START_LATEST, 0);
    if (strcmp(text, "none") == 0)
        return set_start(settings, PAWL__START_NONE, 0);
    if (strchr(text, '=') != NULL)
        return parse_start_offsets(settings, text, err);
    if (!g_ascii_isdigit(text[0]))
        return refuse(text, "earliest, latest, none, a time, or TOPIC:PARTITION=OFFSET ...", err);
    if (pawl__text_time(text, &time_ms, err) != PAWL_OK)
        return PAWL_INVALID;
    return set_start(settings, PAWL__START_TIME, time_ms);
}

pawl_status
pawl__settings_parse_trigger(pawl__settings *settings, const char *text, pawl_error *err)
{
    static const struct {
        const char *name;
        pawl__trigger_kind kind;
    } words[] = {
        {"continuous", PAWL__TRIGGER_CONTINUOUS},
        {"once", PAWL__TRIGGER_ONCE},
        {"available-now", PAWL__TRIGGER_AVAILABLE_NOW},
    };
    int64_t interval_ms;

    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (strcmp(text, words[i].name) == 0) {
            settings->trigger = words[i].kind;
            settings->trigger_interval_ms = 0;
            return PAWL_OK;
        }
    if (pawl__text_duration(text, &interval_ms, NULL) != PAWL_OK)
        return refuse(text, "continuous, once, available-now, or a duration such as 10s", err);
    if (interval_ms == 0)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "0 is no interval; continuous starts a batch as soon as it can");
    if (pawl__settings_check_duration(interval_ms, 1, YEAR_MS, err) != PAWL_OK)
        return PAWL_INVALID;
    settings->trigger = PAWL__TRIGGER_INTERVAL;
    settings->trigger_interval_ms = interval_ms;
    return PAWL_OK;
}

pawl_status
pawl__settings_parse_takeover(pawl__settings *settings, const char *text, pawl_error *err)
{
    pawl__takeover_kind takeover = PAWL__TAKEOVER_IDLE;
    int64_t idle_ms = 0;

    if (strcmp(text, "now") == 0)
        takeover = PAWL__TAKEOVER_NOW;
    else if (strcmp(text, "refuse") == 0)
        takeover = PAWL__TAKEOVER_REFUSE;
    else if (!g_str_has_prefix(text, "idle:") || pawl__text_duration(text + strlen("idle:"), &idle_ms, NULL) != PAWL_OK)
        return refuse(text, "now, refuse, or idle:DURATION such as idle:30s", err);
    else if (pawl__settings_check_duration(idle_ms, 100, DAY_MS, err) != PAWL_OK)
        return PAWL_INVALID;
    settings->takeover = takeover;
    settings->takeover_idle_ms = idle_ms;
    return PAWL_OK;
}
