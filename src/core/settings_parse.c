/*
 * settings_parse.c - from the text of a setting to its value
 */
#include "core/settings.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "core/settings_special.h"
#include "util/text.h"

static pawl_status
out_of_bounds(const char *value, const char *min, const char *max, pawl_error *err)
{
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s is not between %s and %s", value, min, max);
}

static pawl_status
check_integer(int64_t value, int64_t min, int64_t max, pawl_error *err)
{
    char shown[3][24];

    if (value >= min && value <= max)
        return PAWL_OK;
    g_snprintf(shown[0], sizeof shown[0], "%" PRId64, value);
    g_snprintf(shown[1], sizeof shown[1], "%" PRId64, min);
    g_snprintf(shown[2], sizeof shown[2], "%" PRId64, max);
    return out_of_bounds(shown[0], shown[1], shown[2], err);
}

static pawl_status
check_size(int64_t bytes, int64_t min, int64_t max, pawl_error *err)
{
    char shown[3][PAWL__SIZE_TEXT_SIZE];

    if (bytes >= min && bytes <= max)
        return PAWL_OK;
    return out_of_bounds(pawl__text_from_size(bytes, shown[0]), pawl__text_from_size(min, shown[1]),
                         pawl__text_from_size(max, shown[2]), err);
}

pawl_status
pawl__settings_check_duration(int64_t ms, int64_t min_ms, int64_t max_ms, pawl_error *err)
{
    char shown[3][PAWL__DURATION_TEXT_SIZE];

    if (ms >= min_ms && ms <= max_ms)
        return PAWL_OK;
    return out_of_bounds(pawl__text_from_duration(ms, shown[0]), pawl__text_from_duration(min_ms, shown[1]),
                         pawl__text_from_duration(max_ms, shown[2]), err);
}

/* An INTEGER, a DURATION or a SIZE: each is an int64_t within bounds. */
static pawl_status
parse_number(const pawl__setting *setting, int64_t *field, const char *text, pawl_error *err)
{
    static const struct {
        pawl_status (*parse)(const char *text, int64_t *ret_value, pawl_error *err);
        pawl_status (*check)(int64_t value, int64_t min, int64_t max, pawl_error *err);
    } numbers[] = {
        [PAWL__SETTING_INTEGER] = {pawl__text_integer, check_integer},
        [PAWL__SETTING_DURATION] = {pawl__text_duration, pawl__settings_check_duration},
        [PAWL__SETTING_SIZE] = {pawl__text_size, check_size},
    };
    int64_t value;
    pawl_status status = numbers[setting->kind].parse(text, &value, err);

    if (status == PAWL_OK)
        status = numbers[setting->kind].check(value, setting->min, setting->max, err);
    if (status == PAWL_OK)
        *field = value;
    return status;
}

static pawl_status
parse_text(const pawl__setting *setting, char **field, const char *text, pawl_error *err)
{
    size_t size = strlen(text);

    if (size < (size_t) setting->min || size > (size_t) setting->max)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "has %zu bytes, not %" PRId64 " to %" PRId64, size, setting->min,
                              setting->max);
    if (!g_utf8_validate(text, -1, NULL))
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "is not UTF-8");
    g_free(*field);
    *field = g_strdup(text);
    return PAWL_OK;
}

static pawl_status
parse_choice(const pawl__setting *setting, void *field, const char *text, pawl_error *err)
{
    char shown[PAWL__BYTES_TEXT_SIZE];
    char *list;

    for (unsigned i = 0; setting->choices[i] != NULL; i++)
        if (strcmp(setting->choices[i], text) == 0) {
            memcpy(field, &i, sizeof i); /* an enum of whichever type: with gcc and clang all are as wide as unsigned */
            return PAWL_OK;
        }
    list = g_strjoinv(", ", (char **) setting->choices);
    pawl_error_set(err, PAWL_INVALID, 0, 0, "\"%s\" is not one of: %s",
                   pawl__text_from_bytes(text, strlen(text), shown), list);
    g_free(list);
    return PAWL_INVALID;
}

static pawl_status
parse(const pawl__setting *setting, void *fields, const char *text, pawl_error *err)
{
    void *field = (char *) fields + setting->field;

    switch (setting->kind) {
    case PAWL__SETTING_TEXT:
        return parse_text(setting, field, text, err);
    case PAWL__SETTING_INTEGER:
    case PAWL__SETTING_DURATION:
    case PAWL__SETTING_SIZE:
        return parse_number(setting, field, text, err);
    case PAWL__SETTING_FLAG:
        return pawl__text_flag(text, field, err);
    case PAWL__SETTING_CHOICE:
        return parse_choice(setting, field, text, err);
    case PAWL__SETTING_SPECIAL:
        break;
    }
    return setting->parse(fields, text, err);
}

pawl_status
pawl__setting_parse(const pawl__setting *setting, void *fields, const char *text, pawl_error *err)
{
    pawl_status status = parse(setting, fields, text, err);

    if (status != PAWL_OK)
        pawl_error_prefix(err, "%s", setting->name);
    return status;
}

void
pawl__settings_done(pawl__settings *settings)
{
    g_free(settings->group);
    g_free(settings->client_id);
    g_free(settings->instance_id);
    g_strfreev(settings->topics);
    g_free(settings->topics_pattern);
    pawl__settings_free_places(settings->partitions, settings->partition_count);
    g_free(settings->store);
    pawl__settings_free_places(settings->start_offsets, settings->start_offset_count);
    memset(settings, 0, sizeof *settings);
}
