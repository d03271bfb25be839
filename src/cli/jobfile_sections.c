/*
 * jobfile_sections.c - what may stand in which section
 */
#include "cli/jobfile.h"

#include <string.h>

#include <librdkafka/rdkafka.h>

#include "util/nearest.h"
#include "util/text.h"
#include "util/url.h"

#define KAFKA_PREFIX "kafka."
#define USER_PREFIX  "user."

/* ------------------------------------------------------------------------------------------------- wrong section -- */

static pawl_status
move_to(const char *key, const char *section, pawl_error *err)
{
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s belongs into section [%s]", key, section);
}

/* ----------------------------------------------------------------------------------------------------------- [job] -- */

static pawl_status
apply_job(pawl_jobfile *jobfile, const char *key, const char *value, pawl_error *err)
{
    if (g_str_has_prefix(key, KAFKA_PREFIX))
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "write %s into section [kafka], as %s", key,
                              key + strlen(KAFKA_PREFIX));
    if (g_str_has_prefix(key, USER_PREFIX))
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "write %s into section [user], as %s", key,
                              key + strlen(USER_PREFIX));
    if (pawl__process_find(key) != NULL)
        return move_to(key, "process", err);
    if (strcmp(key, "bootstrap.servers") == 0)
        return move_to(key, "kafka", err);
    return pawl_config_set(jobfile->config, key, value, err);
}

/* --------------------------------------------------------------------------------------------------------- [kafka] -- */

static pawl_status
refuse_property(const rd_kafka_conf_t *conf, const char *key, pawl_error *err)
{
    size_t count = 0;
    const char **names = rd_kafka_conf_dump((rd_kafka_conf_t *) conf, &count); /* names and values, in turn */
    pawl__nearest nearest = pawl__nearest_to(key);

    for (size_t i = 0; i + 1 < count; i += 2)
        pawl__nearest_try(&nearest, names[i]);
    if (nearest.found != NULL)
        pawl_error_set(err, PAWL_INVALID, 0, 0, "librdkafka has no property \"%s\"; did you mean %s?", key,
                       nearest.found);
    else
        pawl_error_set(err, PAWL_INVALID, 0, 0, "librdkafka %s has no property \"%s\"", rd_kafka_version_str(), key);
    rd_kafka_conf_dump_free(names, count);
    return PAWL_INVALID;
}

/* Whether librdkafka takes a property. Its own words may show the value. */
static pawl_status
check_property(const char *key, const char *value, pawl_error *err)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char why[512];
    rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, key, value, why, sizeof why);
    pawl_status status = PAWL_OK;

    if (result == RD_KAFKA_CONF_UNKNOWN)
        status = refuse_property(conf, key, err);
    else if (result != RD_KAFKA_CONF_OK)
        status = pawl_error_set(err, PAWL_INVALID, 0, 0, "%s: %s", key,
                                pawl__text_is_secret_name(key) ? "librdkafka does not accept this value" : why);
    rd_kafka_conf_destroy(conf);
    return status;
}

static pawl_status
apply_kafka(pawl_jobfile *jobfile, const char *key, const char *value, pawl_error *err)
{
    const char *instead = pawl__setting_instead_of(key);
    char *name;
    pawl_status status = PAWL_OK;

    if (g_str_has_prefix(key, KAFKA_PREFIX))
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "in section [kafka] write %s, without kafka.",
                              key + strlen(KAFKA_PREFIX));
    if (pawl__setting_find(key) != NULL)
        return move_to(key, "job", err);
    if (instead == NULL)
        status = check_property(key, value, err);
    if (status != PAWL_OK)
        return status;
    name = g_strconcat(KAFKA_PREFIX, key, NULL);
    status = pawl_config_set(jobfile->config, name, value, err);
    g_free(name);
    return status;
}

/* -------------------------------------------------------------------------------------------- [process] and [user] -- */

static pawl_status
apply_process(pawl_jobfile *jobfile, const char *key, const char *value, pawl_error *err)
{
    const pawl__setting *row = pawl__process_find(key);
    pawl__nearest nearest = pawl__nearest_to(key);
    size_t count;
    const pawl__setting *table = pawl__process_table(&count);

    if (row != NULL)
        return pawl__setting_parse(row, &jobfile->process, value, err);
    if (pawl__setting_find(key) != NULL)
        return move_to(key, "job", err);
    for (size_t i = 0; i < count; i++)
        pawl__nearest_try(&nearest, table[i].name);
    if (nearest.found != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "[process] has no setting \"%s\"; did you mean %s?", key,
                              nearest.found);
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "[process] has no setting \"%s\"", key);
}

static pawl_status
apply_user(pawl_jobfile *jobfile, const char *key, const char *value, pawl_error *err)
{
    char *name = g_strconcat(USER_PREFIX, key, NULL);
    pawl_status status = pawl_config_set(jobfile->config, name, value, err);

    g_free(name);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ all -- */

static const struct {
    const char *name;
    pawl_status (*apply)(pawl_jobfile *jobfile, const char *key, const char *value, pawl_error *err);
} sections[] = {
    {"job", apply_job},
    {"kafka", apply_kafka},
    {"process", apply_process},
    {"user", apply_user},
};

pawl_status
pawl__jobfile_apply(pawl_jobfile *jobfile, const char *section, const char *key, const char *value, pawl_error *err)
{
    pawl__nearest nearest = pawl__nearest_to(section);
    char shown[PAWL__BYTES_TEXT_SIZE];

    for (size_t i = 0; i < G_N_ELEMENTS(sections); i++) {
        if (strcmp(sections[i].name, section) == 0)
            return sections[i].apply(jobfile, key, value, err);
        pawl__nearest_try(&nearest, sections[i].name);
    }
    pawl__text_from_bytes(section, strlen(section), shown);
    if (nearest.found != NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "there is no section [%s]; did you mean [%s]?", shown,
                              nearest.found);
    return pawl_error_set(err, PAWL_INVALID, 0, 0,
                          "there is no section [%s]; there are [job], [kafka], [process] and "
                          "[user]",
                          shown);
}

char *
pawl__jobfile_mask(const char *section, const char *key, const char *value, const char *shown)
{
    pawl__url url = {0};
    char *masked = NULL;

    if (pawl__text_is_secret_name(key) && strcmp(section, "process") != 0)
        return g_strdup("***");
    if (strcmp(section, "job") != 0 || strcmp(key, "store") != 0)
        return g_strdup(shown);
    if (pawl__url_parse(value, &url, NULL) == PAWL_OK)
        masked = g_strdup(url.masked);
    pawl__url_done(&url);
    return masked != NULL ? masked : g_strdup("***");
}
