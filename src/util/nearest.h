/*
 * nearest.h - which known name did somebody mean who wrote another one?
 */
#ifndef PAWL_UTIL_NEAREST_H
#define PAWL_UTIL_NEAREST_H

#include <stddef.h>

/* A search. `found` is the nearest name that was tried, or NULL when none comes near: further away it would be a guess. */
typedef struct pawl__nearest {
    const char *wanted;
    const char *found;
    size_t _limit;
} pawl__nearest;

/* Starts a search. The name is borrowed. */
pawl__nearest pawl__nearest_to(const char *wanted);

/* Tries one more name, which is borrowed. Of names that are equally near the first one counts. Whether words are joined
 * with a dot, an underscore or a dash makes no difference, nor does case. */
void pawl__nearest_try(pawl__nearest *nearest, const char *name);

#endif
