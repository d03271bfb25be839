/*
 * expand.c - ${env:NAME} and ${file:PATH} in a value
 */
#include "cli/expand.h"

#include <stdbool.h>
#include <string.h>

#include <glib.h>

#include "cli/file.h"
#include "util/text.h"

#define ENV_REF  "${env:"
#define FILE_REF "${file:"

/* A value is a line or a certificate, not a data set. */
#define FILE_MAX_MIB 1

static pawl_status
read_variable(const char *name, char **ret_text, pawl_error *err)
{
    const char *text = g_getenv(name);

    if (text == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "${env:%s}: there is no such environment variable", name);
    *ret_text = g_strdup(text);
    return PAWL_OK;
}

static void
drop_line_end(char *text)
{
    size_t size = strlen(text);

    if (size > 0 && text[size - 1] == '\n')
        text[--size] = '\0';
    if (size > 0 && text[size - 1] == '\r')
        text[--size] = '\0';
}

static pawl_status
read_file(const char *path, char **ret_text, pawl_error *err)
{
    char *text;
    size_t size;
    pawl_status status = pawl__file_read(path, FILE_MAX_MIB, &text, &size, err);

    if (status != PAWL_OK) {
        pawl_error_prefix(err, "${file:%s}", path);
        return status;
    }
    if (strlen(text) != size) {
        g_free(text);
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "${file:%s}: there is a NUL in it", path);
    }
    drop_line_end(text);
    *ret_text = text;
    return PAWL_OK;
}

/*
 * The URL that `before` ends in, from behind the colon of its scheme, or NULL. The whole value is one, or, with a "//", a
 * word in it: a command may have URLs among its arguments.
 */
static const char *
find_url(const char *before)
{
    const char *authority = g_strrstr(before, "://");

    if (g_uri_peek_scheme(before) != NULL)
        return strchr(before, ':') + 1;
    return authority != NULL && strpbrk(authority, " '\"") == NULL ? authority + 1 : NULL;
}

/* Whether it ends in the user or the password, before the "@". */
static bool
is_in_userinfo(const char *url, const char *after)
{
    return g_str_has_prefix(url, "//") && strpbrk(url + 2, "/?@") == NULL && after[strcspn(after, "/?@ ")] == '@';
}

/* Whether it ends in the value of a parameter, behind the "=". */
static bool
is_in_parameter(const char *url)
{
    const char *query = strchr(url, '?');
    const char *last = query != NULL ? strrchr(query, '&') : NULL;

    return query != NULL && strchr(last != NULL ? last : query, '=') != NULL;
}

/* What follows the other references that begin right at `text`, so that they do not hide the "@" behind them. */
static const char *
skip_references(const char *text)
{
    while (g_str_has_prefix(text, ENV_REF) || g_str_has_prefix(text, FILE_REF) || *text == ':') {
        const char *end = *text == ':' ? text : strchr(text, '}');

        if (end == NULL)
            break;
        text = end + 1;
    }
    return text;
}

static bool
has_to_be_encoded(const char *before, const char *after)
{
    const char *url = find_url(before);

    return url != NULL && (is_in_userinfo(url, skip_references(after)) || is_in_parameter(url));
}

/* One reference, of which `body` is what stands between the colon and the brace. */
static pawl_status
expand_one(bool is_file, const char *body, const char *after, GString *value, GString *shown, pawl_error *err)
{
    char *text = NULL;
    pawl_status status = is_file ? read_file(body, &text, err) : read_variable(body, &text, err);

    if (status != PAWL_OK)
        return status;
    if (has_to_be_encoded(value->str, after)) {
        char *plain = text;

        text = g_uri_escape_string(plain, NULL, FALSE);
        g_free(plain);
    }
    g_string_append(value, text);
    if (is_file || pawl__text_is_secret_name(body))
        g_string_append_printf(shown, "%s%s}", is_file ? FILE_REF : ENV_REF, body);
    else
        g_string_append(shown, text);
    g_free(text);
    return PAWL_OK;
}

static pawl_status
expand_next(const char **text, GString *value, GString *shown, pawl_error *err)
{
    bool is_file = g_str_has_prefix(*text, FILE_REF);
    const char *start = *text + strlen(is_file ? FILE_REF : ENV_REF);
    const char *end = strchr(start, '}');
    char *body;
    pawl_status status;

    if (end == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "the } of a %s is missing", is_file ? FILE_REF : ENV_REF);
    if (end == start)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s} names nothing", is_file ? FILE_REF : ENV_REF);
    body = g_strndup(start, (gsize) (end - start));
    status = expand_one(is_file, body, end + 1, value, shown, err);
    g_free(body);
    *text = end + 1;
    return status;
}

static void
add_both(GString *value, GString *shown, const char *text, size_t size)
{
    g_string_append_len(value, text, (gssize) size);
    g_string_append_len(shown, text, (gssize) size);
}

pawl_status
pawl__expand(const char *text, char **ret_value, char **ret_shown, pawl_error *err)
{
    GString *value = g_string_new(NULL), *shown = g_string_new(NULL);
    pawl_status status = PAWL_OK;

    while (*text != '\0' && status == PAWL_OK) {
        if (g_str_has_prefix(text, "$" ENV_REF) || g_str_has_prefix(text, "$" FILE_REF)) {
            add_both(value, shown, "${", 2);
            text += 3;
        } else if (g_str_has_prefix(text, ENV_REF) || g_str_has_prefix(text, FILE_REF)) {
            status = expand_next(&text, value, shown, err);
        } else {
            add_both(value, shown, text++, 1);
        }
    }
    if (status == PAWL_OK) {
        *ret_value = g_string_free(value, FALSE);
        *ret_shown = g_string_free(shown, FALSE);
        return PAWL_OK;
    }
    g_string_free(value, TRUE);
    g_string_free(shown, TRUE);
    return status;
}
