/*
 * replay.c - a main for compilers without libFuzzer: tries each file that is named
 */
#include <stdio.h>

#include <glib.h>

#include "fuzz/target.h"

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *data;
        gsize size;
        GError *error = NULL;

        if (!g_file_get_contents(argv[i], &data, &size, &error)) {
            fprintf(stderr, "%s\n", error->message);
            g_error_free(error);
            return 1;
        }
        LLVMFuzzerTestOneInput((const uint8_t *) data, size);
        g_free(data);
    }
    return 0;
}
