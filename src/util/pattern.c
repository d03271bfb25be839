/*
 * pattern.c - topics by regular expression
 */
#include "util/pattern.h"

#include <string.h>

#include "util/text.h"

pawl_status
pawl__pattern_new(const char *text, GRegex **ret_pattern, pawl_error *err)
{
    const GRegexCompileFlags flags = G_REGEX_DOLLAR_ENDONLY;
    GError *error = NULL;
    GRegex *alone = NULL, *whole = NULL;

    /* First alone, so that the position in the message is one in the user's text, and so that "a)(b" stays wrong. */
    if (text[0] == '\0' || !g_utf8_validate(text, -1, NULL))
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "a pattern is a regular expression in UTF-8, and not empty");
    alone = g_regex_new(text, flags, 0, &error);
    if (alone != NULL) {
        char *wrapped = g_strdup_printf("^(?:%s)$", text);

        whole = g_regex_new(wrapped, flags | G_REGEX_OPTIMIZE, 0, &error);
        g_free(wrapped);
        g_regex_unref(alone);
    }
    if (whole == NULL) {
        char shown[PAWL__BYTES_TEXT_SIZE];

        pawl_error_set(err, PAWL_INVALID, 0, error->code, "\"%s\" is no regular expression: %s",
                       pawl__text_from_bytes(text, strlen(text), shown), error->message);
        g_error_free(error);
        return PAWL_INVALID;
    }
    *ret_pattern = whole;
    return PAWL_OK;
}

/* As exclude.internal.topics of Kafka's own consumers has it: without this ".*" reads what it makes itself. */
static bool
is_internal(const char *topic)
{
    static const char *const internal[] = {"__consumer_offsets", "__transaction_state", "__share_group_state",
                                           "__cluster_metadata", NULL};

    return g_strv_contains(internal, topic);
}

bool
pawl__pattern_matches(const GRegex *pattern, const char *topic)
{
    return !is_internal(topic) && g_regex_match(pattern, topic, 0, NULL);
}
