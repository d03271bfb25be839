/*
 * version.c - which pawl a program runs with
 */
#include <pawl/version.h>

const char *
pawl_version(void)
{
    return PAWL_VERSION;
}
