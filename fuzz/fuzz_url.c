/*
 * fuzz_url.c - any text as the URL of a store
 */
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "fuzz/target.h"
#include "util/url.h"

/* The masked URL is the same one but for its password, which is *** there. */
static void
check_mask(const pawl__url *url)
{
    pawl__url masked;

    if (pawl__url_parse(url->masked, &masked, NULL) != PAWL_OK)
        abort();
    if (g_strcmp0(masked.user, url->user) != 0 || strcmp(masked.hosts, url->hosts) != 0 ||
        g_hash_table_size(masked.query) != g_hash_table_size(url->query) ||
        g_strcmp0(masked.password, url->password != NULL ? "***" : NULL) != 0)
        abort();
    pawl__url_done(&masked);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = g_strndup((const char *) data, size);
    pawl__url url;
    pawl_error err = {0};

    if (pawl__url_parse(text, &url, &err) == PAWL_OK) {
        if (url.scheme == NULL || url.hosts == NULL || url.path == NULL || url.query == NULL || url.masked == NULL)
            abort();
        check_mask(&url);
    } else if (err.status != PAWL_INVALID || err.message[0] == '\0')
        abort();
    pawl__url_done(&url);
    g_free(text);
    return 0;
}
