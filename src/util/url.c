/*
 * url.c - the URL of a store, taken apart
 *
 * GUri knows one host and one port; a ZooKeeper ensemble or a Redis cluster is several. So the generic syntax of RFC 3986
 * is cut here, and GLib does what can go wrong in it: the scheme, percent-decoding and the query.
 */
#include "util/url.h"

#include <string.h>

#include "util/text.h"

/* The pieces of a URL as they stand, not decoded. NULL: there is no such piece. */
typedef struct pieces {
    char *userinfo;
    char *hosts;
    char *path;
    char *query;
} pieces;

static void
pieces_done(pieces *raw)
{
    g_free(raw->userinfo);
    g_free(raw->hosts);
    g_free(raw->path);
    g_free(raw->query);
}

static pawl_status
refuse(const char *scheme, const char *reason, pawl_error *err)
{
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "%s URL: %s", scheme, reason);
}

/* ------------------------------------------------------------------------------------------------------- cutting -- */

/* Cuts what stands after "scheme:". Every text can be cut; whether the pieces are right is found out later. */
static void
cut(const char *rest, pieces *ret_raw)
{
    pieces raw = {0};
    const char *query = strchr(rest, '?');
    const char *path_end = query != NULL ? query : rest + strlen(rest);

    if (g_str_has_prefix(rest, "//")) {
        size_t size = strcspn(rest + 2, "/?");
        char *authority = g_strndup(rest + 2, size);
        char *at = strrchr(authority, '@');

        if (at != NULL)
            raw.userinfo = g_strndup(authority, (size_t) (at - authority));
        raw.hosts = g_strdup(at != NULL ? at + 1 : authority);
        g_free(authority);
        rest += 2 + size;
    }
    raw.path = g_strndup(rest, (size_t) (path_end - rest));
    raw.query = query != NULL ? g_strdup(query + 1) : NULL;
    *ret_raw = raw;
}

/* -------------------------------------------------------------------------------------------------------- checking -- */

static bool
has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if (g_ascii_iscntrl(*text))
            return true;
    return false;
}

static bool
port_is_right(const char *port)
{
    int64_t number;

    return pawl__text_offset(port, strlen(port), &number) && number >= 1 && number <= 65535;
}

/* One of "name", "name:port", "[address]", "[address]:port". */
static bool
host_is_right(const char *host)
{
    const char *end = host;

    if (*host == '[') {
        end = host + 1 + strspn(host + 1, "0123456789abcdefABCDEF:.");
        if (end == host + 1 || *end != ']')
            return false;
        end++;
    } else {
        while (g_ascii_isalnum(*end) || *end == '-' || *end == '.' || *end == '_')
            end++;
        if (end == host)
            return false;
    }
    return *end == '\0' || (*end == ':' && port_is_right(end + 1));
}

static bool
hosts_are_right(const char *hosts)
{
    char **list = g_strsplit(hosts, ",", -1);
    bool right = true;

    for (size_t i = 0; list[i] != NULL && right; i++)
        right = host_is_right(list[i]);
    g_strfreev(list);
    return right;
}

static pawl_status
check(const char *scheme, const char *rest, const pieces *raw, pawl_error *err)
{
    if (has_control(rest))
        return refuse(scheme, "a control character in it is written as %NN", err);
    if (strchr(rest, '#') != NULL)
        return refuse(scheme, "a # in it is written %23", err);
    if (raw->hosts == NULL)
        return PAWL_OK;
    if ((raw->hosts[0] != '\0' || raw->userinfo != NULL) &&
        (strchr(raw->path, '@') != NULL || (raw->query != NULL && strchr(raw->query, '@') != NULL)))
        return refuse(scheme,
                      "an @ after the hosts is written %40; in a user or password, / is written %2F, ? is written "
                      "%3F and @ is written %40",
                      err);
    if (raw->hosts[0] == '\0' && raw->userinfo != NULL)
        return refuse(scheme, "there is a user, and no host", err);
    if (raw->hosts[0] != '\0' && !hosts_are_right(raw->hosts))
        return refuse(scheme, "the hosts are not HOST, HOST:PORT or several of them with commas between", err);
    return PAWL_OK;
}

/* -------------------------------------------------------------------------------------------------------- decoding -- */

/* The user is what stands before the first colon. An empty one, as in redis://:password@host, is none. */
static pawl_status
decode_userinfo(const char *userinfo, pawl__url *url, pawl_error *err)
{
    const char *colon = strchr(userinfo, ':');
    const char *end = colon != NULL ? colon : userinfo + strlen(userinfo);

    if (end > userinfo)
        url->user = g_uri_unescape_segment(userinfo, end, NULL);
    if (colon != NULL)
        url->password = g_uri_unescape_segment(colon + 1, NULL, NULL);
    if ((end > userinfo && url->user == NULL) || (colon != NULL && url->password == NULL))
        return refuse(url->scheme, "a % in the user or password is written %25", err);
    return PAWL_OK;
}

static pawl_status
decode_query(const char *query, pawl__url *url, pawl_error *err)
{
    GUriParamsIter iter;
    GError *error = NULL;
    char *name, *value;

    g_uri_params_iter_init(&iter, query, -1, "&", G_URI_PARAMS_NONE);
    while (g_uri_params_iter_next(&iter, &name, &value, &error)) {
        if (!g_hash_table_insert(url->query, name, value))
            return refuse(url->scheme, "a parameter after the ? comes twice", err);
    }
    if (error == NULL)
        return PAWL_OK;
    g_error_free(error); /* its text may show the value */
    return refuse(url->scheme, "what stands after the ? is not NAME=VALUE&NAME=VALUE in %-encoded UTF-8", err);
}

static pawl_status
decode(const pieces *raw, pawl__url *url, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    url->hosts = g_strdup(raw->hosts != NULL ? raw->hosts : "");
    url->path = g_uri_unescape_string(raw->path, NULL);
    url->query = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    if (url->path == NULL)
        return refuse(url->scheme, "a % in the path is written %25", err);
    if (raw->userinfo != NULL)
        status = decode_userinfo(raw->userinfo, url, err);
    if (status == PAWL_OK && raw->query != NULL)
        status = decode_query(raw->query, url, err);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- masking -- */

static void
append_masked_query(GString *masked, const char *query)
{
    char **list = g_strsplit(query, "&", -1);

    for (size_t i = 0; list[i] != NULL; i++) {
        const char *equals = strchr(list[i], '=');
        char *name = equals != NULL ? g_uri_unescape_segment(list[i], equals, NULL) : NULL;

        g_string_append_c(masked, i == 0 ? '?' : '&');
        if (name != NULL && pawl__text_is_secret_name(name)) {
            g_string_append_len(masked, list[i], equals + 1 - list[i]);
            g_string_append(masked, "***");
        } else
            g_string_append(masked, list[i]);
        g_free(name);
    }
    g_strfreev(list);
}

/* A path such as "user:password@host", where somebody forgot the slashes, is shown without what may be the password. */
static void
append_masked_path(GString *masked, const char *path)
{
    const char *colon = strchr(path, ':');
    const char *at = strrchr(path, '@');

    if (colon == NULL || at == NULL || at < colon) {
        g_string_append(masked, path);
        return;
    }
    g_string_append_len(masked, path, colon + 1 - path);
    g_string_append_printf(masked, "***%s", at);
}

static char *
mask(const char *scheme, const pieces *raw)
{
    GString *masked = g_string_new(scheme);
    const char *colon = raw->userinfo != NULL ? strchr(raw->userinfo, ':') : NULL;

    g_string_append(masked, raw->hosts != NULL ? "://" : ":");
    if (colon != NULL) {
        g_string_append_len(masked, raw->userinfo, colon + 1 - raw->userinfo);
        g_string_append(masked, "***@");
    } else if (raw->userinfo != NULL)
        g_string_append_printf(masked, "%s@", raw->userinfo);
    if (raw->hosts != NULL)
        g_string_append(masked, raw->hosts);
    append_masked_path(masked, raw->path);
    if (raw->query != NULL)
        append_masked_query(masked, raw->query);
    return g_string_free(masked, FALSE);
}

/* ------------------------------------------------------------------------------------------------------------------ */

pawl_status
pawl__url_parse(const char *text, pawl__url *ret_url, pawl_error *err)
{
    pawl__url url = {0};
    pieces raw;
    pawl_status status;
    const char *rest = strchr(text, ':');
    char *scheme = g_uri_parse_scheme(text);

    memset(ret_url, 0, sizeof *ret_url);
    if (scheme == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "a URL starts with a scheme, as in sqlite:offsets.db");
    url.scheme = g_ascii_strdown(scheme, -1);
    g_free(scheme);
    rest++;
    cut(rest, &raw);
    status = check(url.scheme, rest, &raw, err);
    if (status == PAWL_OK)
        status = decode(&raw, &url, err);
    if (status == PAWL_OK) {
        url.masked = mask(url.scheme, &raw);
        *ret_url = url;
    } else
        pawl__url_done(&url);
    pieces_done(&raw);
    return status;
}

void
pawl__url_cut_host(const char *text, const char *no_port, char **ret_host, char **ret_port)
{
    const char *bracket = strchr(text, ']');
    const char *colon = strrchr(bracket != NULL ? bracket : text, ':');
    const char *start = bracket != NULL ? text + 1 : text;
    const char *end = bracket != NULL ? bracket : colon != NULL ? colon : text + strlen(text);

    *ret_host = g_strndup(start, (gsize) (end - start));
    *ret_port = g_strdup(colon != NULL ? colon + 1 : no_port);
}

char *
pawl__url_join_host(const char *host, const char *port)
{
    return g_strdup_printf(strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, port);
}

void
pawl__url_done(pawl__url *url)
{
    g_free(url->scheme);
    g_free(url->user);
    g_free(url->password);
    g_free(url->hosts);
    g_free(url->path);
    g_clear_pointer(&url->query, g_hash_table_unref);
    g_free(url->masked);
    memset(url, 0, sizeof *url);
}
