/*
 * url.h - the URL of a store, taken apart
 */
#ifndef PAWL_UTIL_URL_H
#define PAWL_UTIL_URL_H

#include <glib.h>

#include <pawl/error.h>

/* Parts are decoded and never NULL unless said so; all are owned by the struct. {0} is a URL that holds nothing. */
typedef struct pawl__url {
    char *scheme;      /* in lower case */
    char *user;        /* NULL when there is none */
    char *password;    /* NULL when there is none */
    char *hosts;       /* "h1:2181,h2:2181", each checked; "" for sqlite:FILE */
    char *path;        /* with its leading slash where there are hosts */
    GHashTable *query; /* name to value, decoded; empty when there is none */
    char *masked;      /* the whole URL with *** for the password and for secret query parameters */
} pawl__url;

/*
 * Takes a URL apart: scheme:path?query or scheme://user:password@h1:1,h2:2/path?query.
 *
 * PAWL_INVALID with a message that shows nothing but the scheme, since anything else may be part of a password that was
 * not written as it should be. For the same reason a '#', and an '@' after the hosts, are refused: an unescaped '/', '?'
 * or '#' in a password moves the rest of it to where it would be shown. *ret_url is {0} then: pawl__url_done() is fine in any case.
 */
pawl_status pawl__url_parse(const char *text, pawl__url *ret_url, pawl_error *err);

/* Cuts one of the hosts: "host", "host:port" or "[address]:port". The port is `no_port` where there is none. The caller
 * frees both. */
void pawl__url_cut_host(const char *text, const char *no_port, char **ret_host, char **ret_port);

/* The other way round; the caller frees it. */
char *pawl__url_join_host(const char *host, const char *port);

/* Frees the parts and makes the URL {0}. */
void pawl__url_done(pawl__url *url);

#endif
