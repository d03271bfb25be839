/*
 * measure.c - the memory of this process, from /proc
 */
#include "tests/support/measure.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

/* A line of /proc/self/status, in bytes; -1: it is not there. */
static int64_t
status_line(const char *name)
{
    char *text, *line;
    int64_t kilobytes = -1;

    if (!g_file_get_contents("/proc/self/status", &text, NULL, NULL))
        return -1;
    line = strstr(text, name);
    if (line != NULL)
        kilobytes = g_ascii_strtoll(line + strlen(name) + 1, NULL, 10);
    g_free(text);
    return kilobytes * 1024;
}

int64_t
measure_reset_peak(void)
{
    malloc_trim(0);
    g_file_set_contents_full("/proc/self/clear_refs", "5", 1, G_FILE_SET_CONTENTS_NONE, 0644, NULL);
    return status_line("VmRSS");
}

int64_t
measure_peak(void)
{
    return status_line("VmHWM");
}

bool
measure_is_blurred(void)
{
    return g_strcmp0(g_getenv("PAWL_TEST_SANITIZED"), "1") == 0;
}
