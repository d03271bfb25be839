/*
 * fuzz_plan.c - positions, bounds and limits, and the ranges that are cut from them
 *
 * The input is a row of numbers: the limits, then line after line until it ends. What a line would get without limits is
 * planned as well, since shares are measured by it.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan.h"
#include "fuzz/target.h"

#define LINES_MAX 64

__extension__ typedef unsigned __int128 wide;

typedef struct input {
    const uint8_t *at;
    size_t size;
} input;

/* What is cut of all lines together. */
typedef struct sum {
    size_t free_ranges;
    wide free, pending;
} sum;

static uint64_t
take(input *from, size_t size)
{
    uint64_t value = 0;

    for (; size > 0; size--) {
        value = value << 8 | (from->size > 0 ? *from->at : 0);
        from->at += from->size > 0 ? 1 : 0;
        from->size -= from->size > 0 ? 1 : 0;
    }
    return value;
}

/* A byte says how long the number is: short ones meet more often. */
static int64_t
take_number(input *from)
{
    static const size_t sizes[] = {1, 1, 2, 8};
    size_t kind = (size_t) take(from, 1);

    if (kind >= 0xf0) /* near the greatest offset */
        return INT64_MAX - (int64_t) (kind & 3);
    return (int64_t) take(from, sizes[kind % 4]);
}

static pawl_position
take_position(input *from)
{
    return take(from, 1) % 2 == 0 ? pawl_position_absent() : pawl_position_at(take_number(from));
}

static pawl__plan_limits
take_limits(input *from)
{
    pawl__plan_limits limits = {.due = take(from, 1) % 2 != 0};

    limits.per_batch = take_number(from);
    limits.per_partition = take_number(from);
    limits.at_least = take_number(from);
    limits.turn = (uint64_t) take_number(from);
    return limits;
}

static pawl__plan_line
take_line(input *from)
{
    pawl__plan_line line = {.position = take_number(from)};

    line.low = take_number(from);
    line.high = take_number(from);
    line.pin = take_position(from);
    line.pending = take_position(from);
    return line;
}

static void
must(bool law)
{
    if (!law)
        abort();
}

static bool
is_pending(const pawl__plan_line *line)
{
    return line->ret_finding == PAWL__PLAN_RANGE && line->pending.known && line->pending.offset > line->position;
}

static bool
is_free(const pawl__plan_line *line)
{
    return line->ret_finding == PAWL__PLAN_RANGE && !is_pending(line);
}

static sum
add_up(const pawl__plan_line *lines, size_t count)
{
    sum all = {0, 0, 0};

    for (size_t i = 0; i < count; i++) {
        *(is_pending(&lines[i]) ? &all.pending : &all.free) += (wide) (lines[i].ret_until - lines[i].ret_from);
        all.free_ranges += is_free(&lines[i]) ? 1 : 0;
    }
    return all;
}

/* `whole` is the same line, planned without limits. */
static void
check_line(const pawl__plan_line *line, const pawl__plan_line *whole, const pawl__plan_limits *limits)
{
    must(line->ret_from == line->position);
    if (line->ret_finding != PAWL__PLAN_RANGE) {
        must(line->ret_until == line->position);
        must(line->ret_finding == whole->ret_finding || (line->ret_finding == PAWL__PLAN_NOTHING && is_free(whole)));
        return;
    }
    must(line->low <= line->ret_from && line->ret_from < line->ret_until && line->ret_until <= line->high);
    must(whole->ret_finding == PAWL__PLAN_RANGE && line->ret_until <= whole->ret_until);
    if (is_pending(line)) {
        must(line->ret_until == line->pending.offset);
        return;
    }
    must(!line->pin.known || line->ret_until <= line->pin.offset);
    must(limits->per_partition <= 0 || line->ret_until - line->ret_from <= limits->per_partition);
}

/* What the free ranges would get if the batch had no limit, each within the limit of a partition. */
static wide
wish(const pawl__plan_line *whole, size_t count, int64_t per_partition)
{
    wide offsets = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t length = whole[i].ret_until - whole[i].ret_from;

        if (is_free(&whole[i]))
            offsets += (wide) (per_partition > 0 && length > per_partition ? per_partition : length);
    }
    return offsets;
}

static void
check_shares(const pawl__plan_line *lines, const pawl__plan_line *whole, size_t count, const pawl__plan_limits *limits)
{
    sum got = add_up(lines, count), all = add_up(whole, count);
    wide wanted = wish(whole, count, limits->per_partition), limit = wanted;

    must(got.pending == all.pending);
    if (!limits->due && limits->at_least > 0 && all.free + all.pending < (wide) limits->at_least)
        wanted = limit = all.free_ranges = 0; /* no batch yet, but for what is pending */
    else if (limits->per_batch > 0)
        limit = (wide) limits->per_batch > got.pending ? (wide) limits->per_batch - got.pending : 0;
    must(got.free == (wanted < limit ? wanted : limit));
    must(got.free_ranges == (all.free_ranges < limit ? all.free_ranges : (size_t) limit));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const pawl__plan_limits none = {0};
    pawl__plan_line lines[LINES_MAX], whole[LINES_MAX];
    input from = {data, size};
    pawl__plan_limits limits = take_limits(&from);
    size_t count = 0, ranges = 0;

    while (from.size > 0 && count < LINES_MAX)
        lines[count++] = take_line(&from);
    memcpy(whole, lines, count * sizeof *lines);
    pawl__plan(whole, count, &none);
    ranges = pawl__plan(lines, count, &limits);
    for (size_t i = 0; i < count; i++) {
        check_line(&lines[i], &whole[i], &limits);
        ranges -= lines[i].ret_finding == PAWL__PLAN_RANGE ? 1 : 0;
    }
    must(ranges == 0);
    check_shares(lines, whole, count, &limits);
    return 0;
}
