/*
 * offsets.h - partitions, and positions in them
 */
#ifndef PAWL_OFFSETS_H
#define PAWL_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pawl/visibility.h>

PAWL_BEGIN_DECLS

/* The key of a position: what it is a position in. The topic is borrowed; each function says until when. */
typedef struct pawl_partition {
    const char *topic;
    int32_t number;
} pawl_partition;

/*
 * A place in a partition: the next offset to read, or nothing at all.
 *
 * All zeros is "absent", so that what was never filled in can never be taken for offset 0. `offset` has a meaning only
 * where `known` is true; it is then between 0 and INT64_MAX.
 */
typedef struct pawl_position {
    bool known;
    int64_t offset;
} pawl_position;

/* The position of an offset. */
static inline pawl_position
pawl_position_at(int64_t offset)
{
    pawl_position position;

    position.known = true;
    position.offset = offset;
    return position;
}

/* The position that is none: nothing is stored. */
static inline pawl_position
pawl_position_absent(void)
{
    pawl_position position;

    position.known = false;
    position.offset = 0;
    return position;
}

/* Whether both are absent, or both are known and the same. */
static inline bool
pawl_position_equal(pawl_position a, pawl_position b)
{
    return a.known == b.known && (!a.known || a.offset == b.offset);
}

/* Room for any position as text, its NUL included. */
#define PAWL_POSITION_TEXT_SIZE 24

/* Writes "none" or the decimal offset into `text` and returns it. */
PAWL_API const char *pawl_position_text(pawl_position position, char text[PAWL_POSITION_TEXT_SIZE]);

PAWL_END_DECLS

#endif
