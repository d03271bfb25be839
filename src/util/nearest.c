/*
 * nearest.c - which known name did somebody mean who wrote another one?
 */
#include "util/nearest.h"

#include <glib.h>
#include <string.h>

/* Longer names than this are not looked at: none that is known comes near. */
#define NAME_MAX_SIZE 64

/* Words are joined now with a dot, now with an underscore, and on command lines with a dash: that is no difference. */
static char
fold(char c)
{
    return c == '-' || c == '.' ? '_' : g_ascii_tolower(c);
}

/* The edit distance (Levenshtein's): how many characters have to be put in, left out or changed. */
static size_t
distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_SIZE + 1]; /* of the matrix: distances of the a seen so far from each beginning of b */
    size_t b_size = strlen(b);

    for (size_t j = 0; j <= b_size; j++)
        row[j] = j;
    for (size_t i = 1; *a != '\0'; a++, i++) {
        size_t diagonal = row[0]; /* what stood up and to the left */

        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t change = diagonal + (fold(*a) != fold(b[j - 1]) ? 1 : 0);

            diagonal = row[j];
            row[j] = MIN(change, MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_size];
}

pawl__nearest
pawl__nearest_to(const char *wanted)
{
    return (pawl__nearest){.wanted = wanted, .found = NULL, ._limit = 2 + strlen(wanted) / 4};
}

void
pawl__nearest_try(pawl__nearest *nearest, const char *name)
{
    size_t size = strlen(nearest->wanted), d;

    if (size == 0 || size > NAME_MAX_SIZE)
        return;
    d = distance(name, nearest->wanted);
    if (d >= nearest->_limit)
        return;
    nearest->found = name;
    nearest->_limit = d; /* from now on only what is nearer */
}
