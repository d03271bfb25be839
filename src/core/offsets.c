/*
 * offsets.c - positions as text
 */
#include <pawl/offsets.h>

#include <inttypes.h>
#include <stdio.h>

const char *
pawl_position_text(pawl_position position, char text[PAWL_POSITION_TEXT_SIZE])
{
    if (position.known)
        snprintf(text, PAWL_POSITION_TEXT_SIZE, "%" PRId64, position.offset);
    else
        snprintf(text, PAWL_POSITION_TEXT_SIZE, "none");
    return text;
}
