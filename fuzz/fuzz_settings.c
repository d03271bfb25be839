/*
 * fuzz_settings.c - a whole configuration, line by line: NAME, '=', VALUE
 *
 * Whatever is set, a configuration that was accepted is one from which a job's settings can be made, or is refused as a
 * whole with a message.
 */
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "core/config.h"
#include "fuzz/target.h"

static void
set_line(pawl_config *config, char *line)
{
    char *equals = strchr(line, '=');
    pawl_error err = {0};

    if (equals == NULL)
        return;
    *equals = '\0';
    if (pawl_config_set(config, line, equals + 1, &err) == PAWL_OK) {
        if (strcmp(pawl_config_get(config, line), equals + 1) != 0)
            abort();
    } else if (err.status != PAWL_INVALID || err.message[0] == '\0')
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = g_strndup((const char *) data, size);
    char **lines = g_strsplit(text, "\n", -1);
    pawl_config *config = pawl_config_new();
    pawl__settings settings = {0};
    pawl_error err = {0};

    for (size_t i = 0; lines[i] != NULL; i++)
        set_line(config, lines[i]);
    if (pawl__config_settings(config, &settings, &err) != PAWL_OK && err.message[0] == '\0')
        abort();
    pawl__settings_done(&settings);
    pawl_config_free(config);
    g_strfreev(lines);
    g_free(text);
    return 0;
}
