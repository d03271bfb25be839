/*
 * url.h - the URL of a store, taken apart
 */
#ifndef PAWL_UTIL_URL_H
#define PAWL_UTIL_URL_H

#include <glib.h>

#include <pawl/error.h>

/* Parts are decoded and never NULL unless said so; all are owned by the struct. */
typedef struct pawl__url {
    char *scheme;
    char *user;        /* NULL when there is none */
    char *password;    /* NULL when there is none */
    char *hosts;       /* "h1:2181,h2:2181"; "" for sqlite:FILE */
    char *path;        /* with its leading slash where there are hosts */
    GHashTable *query; /* name to value, decoded; empty when there is none */
    char *masked;      /* the whole URL with *** for the password */
} pawl__url;

/* Takes a URL apart: scheme:path?query or scheme://user:password@h1:1,h2:2/path?query. PAWL_INVALID with a message that
 * never shows the password. The caller calls pawl__url_done() in any case. */
pawl_status pawl__url_parse(const char *text, pawl__url *ret_url, pawl_error *err);

void pawl__url_done(pawl__url *url);

#endif
