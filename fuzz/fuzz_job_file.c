/*
 * fuzz_job_file.c - a job file: sections, keys, values, and references in these
 *
 * Whatever stands in it, it is read to its end or refused with the number of a line in the message, and a value holds no
 * line end. References are expanded only where they name nothing that is there: a fuzzer shall not read files.
 */
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "cli/expand.h"
#include "cli/ini.h"
#include "fuzz/target.h"

static pawl_status
take(void *user, const pawl_ini_entry *entry, pawl_error *err)
{
    char *value = NULL, *shown = NULL;
    pawl_status status = PAWL_OK;

    (void) user;
    if (entry->key[0] == '\0' || strchr(entry->value, '\n') != NULL)
        abort();
    if (strstr(entry->value, "${file:") == NULL)
        status = pawl__expand(entry->value, &value, &shown, err);
    g_free(value);
    g_free(shown);
    return status;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pawl_error err = {0};

    if (pawl__ini_parse("f", (const char *) data, size, take, NULL, &err) == PAWL_OK)
        return 0;
    if (err.status != PAWL_INVALID || strncmp(err.message, "f:", 2) != 0 || !g_ascii_isdigit(err.message[2]))
        abort();
    return 0;
}
