/*
 * plan.c - cutting ranges
 *
 * First each line is looked at alone, which gives it a finding and the range it would have if there were no other; then
 * the ranges that are free are cut down to their share of what one batch may hold.
 */
#include "core/plan.h"

/* Lags of several partitions add up to more than 63 bits, and the product of two offsets has 126. */
__extension__ typedef unsigned __int128 wide;

/* What the free ranges would read together: those that are not pending ones. */
typedef struct demand {
    size_t count;
    wide offsets;
} demand;

static int64_t
lower(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t
length(const pawl__plan_line *line)
{
    return line->ret_until - line->ret_from;
}

static bool
has_pending(const pawl__plan_line *line)
{
    return line->pending.known && line->pending.offset > line->position;
}

static bool
is_free(const pawl__plan_line *line)
{
    return line->ret_finding == PAWL__PLAN_RANGE && !has_pending(line);
}

/* ------------------------------------------------------------------------------------------------ each line alone -- */

/* How far a line may be read when no limit is set. */
static int64_t
reach(const pawl__plan_line *line)
{
    if (has_pending(line))
        return line->pending.offset;
    return line->pin.known ? lower(line->pin.offset, line->high) : line->high;
}

static pawl__plan_finding
find(const pawl__plan_line *line)
{
    if (line->unknown || line->position < 0 || line->low < 0 || line->low > line->high)
        return PAWL__PLAN_NOTHING;
    if (line->position < line->low)
        return PAWL__PLAN_BELOW;
    if (line->position > line->high)
        return PAWL__PLAN_ABOVE;
    if (line->remade)
        return PAWL__PLAN_REMADE;
    if (has_pending(line))
        return line->pending.offset <= line->high ? PAWL__PLAN_RANGE : PAWL__PLAN_PENDING_ABOVE;
    return reach(line) > line->position ? PAWL__PLAN_RANGE : PAWL__PLAN_NOTHING;
}

/* Cuts every line as far as it reaches, and returns how many offsets that is. */
static wide
cut_alone(pawl__plan_line *lines, size_t count)
{
    wide offsets = 0;

    for (size_t i = 0; i < count; i++) {
        pawl__plan_line *line = &lines[i];

        line->ret_finding = find(line);
        line->ret_from = line->position;
        line->ret_until = line->ret_finding == PAWL__PLAN_RANGE ? reach(line) : line->position;
        offsets += (wide) length(line);
    }
    return offsets;
}

static void
drop(pawl__plan_line *line)
{
    line->ret_finding = PAWL__PLAN_NOTHING;
    line->ret_until = line->ret_from;
}

/* -------------------------------------------------------------------------------------------------------- sharing -- */

/* How far a free range may go within the limit of a partition. */
static int64_t
most(const pawl__plan_line *line, int64_t per_partition)
{
    int64_t far = reach(line);

    return per_partition > 0 && far - line->position > per_partition ? line->position + per_partition : far;
}

/* Applies the limit of a partition and adds up what is left of the free ranges. */
static demand
cap(pawl__plan_line *lines, size_t count, int64_t per_partition)
{
    demand wish = {0, 0};

    for (size_t i = 0; i < count; i++) {
        if (!is_free(&lines[i]))
            continue;
        lines[i].ret_until = most(&lines[i], per_partition);
        wish.count++;
        wish.offsets += (wide) length(&lines[i]);
    }
    return wish;
}

/* What the pending ranges leave of the batch's limit. */
static int64_t
remaining(const pawl__plan_line *lines, size_t count, int64_t per_batch)
{
    for (size_t i = 0; i < count; i++)
        if (lines[i].ret_finding == PAWL__PLAN_RANGE && !is_free(&lines[i]))
            per_batch -= lower(per_batch, length(&lines[i]));
    return per_batch;
}

/* Whether number `index` of n is among the `size` whose turn it is: those after the ones of the turn before, round and
 * round. size < n. */
static bool
has_turn(size_t index, size_t size, size_t n, uint64_t turn)
{
    size_t start = (size_t) ((wide) turn * size % n);
    size_t after = index >= start ? index - start : index + (n - start);

    return after < size;
}

/* Fewer offsets than free ranges: some get one offset each. */
static void
share_by_turns(pawl__plan_line *lines, size_t count, size_t n, size_t limit, uint64_t turn)
{
    size_t index = 0;

    for (size_t i = 0; i < count; i++) {
        if (!is_free(&lines[i]))
            continue;
        if (has_turn(index++, limit, n, turn))
            lines[i].ret_until = lines[i].ret_from + 1;
        else
            drop(&lines[i]);
    }
}

/*
 * One offset for each free range, and a part of what is then left of the limit, rounded down: of n ranges with `sum`
 * offsets, one of length l gets 1 + (limit - n) * (l - 1) / (sum - n). Since limit < sum, that is less than l for each
 * l > 1. Returns what rounding left over, which is less than the number of ranges that were cut.
 */
static int64_t
share_in_proportion(pawl__plan_line *lines, size_t count, const demand *wish, int64_t limit)
{
    wide spare = (wide) limit - wish->count;
    wide wanted = wish->offsets - wish->count;
    int64_t left = limit;

    for (size_t i = 0; i < count; i++) {
        if (!is_free(&lines[i]))
            continue;
        lines[i].ret_until = lines[i].ret_from + 1 + (int64_t) (spare * (wide) (length(&lines[i]) - 1) / wanted);
        left -= length(&lines[i]);
    }
    return left;
}

/* Gives one more offset to `left` of the ranges that were cut, in turns. */
static void
share_rest(pawl__plan_line *lines, size_t count, int64_t per_partition, int64_t left, uint64_t turn)
{
    size_t n = 0, index = 0;

    for (size_t i = 0; i < count; i++)
        n += is_free(&lines[i]) && lines[i].ret_until < most(&lines[i], per_partition) ? 1 : 0;
    for (size_t i = 0; i < count; i++)
        if (is_free(&lines[i]) && lines[i].ret_until < most(&lines[i], per_partition))
            lines[i].ret_until += has_turn(index++, (size_t) left, n, turn) ? 1 : 0;
}

static void
share(pawl__plan_line *lines, size_t count, const pawl__plan_limits *limits)
{
    demand wish = cap(lines, count, limits->per_partition);
    int64_t limit = remaining(lines, count, limits->per_batch);
    int64_t left;

    if (limits->per_batch <= 0 || wish.offsets <= (wide) limit)
        return;
    if ((wide) limit < wish.count) {
        share_by_turns(lines, count, wish.count, (size_t) limit, limits->turn);
        return;
    }
    left = share_in_proportion(lines, count, &wish, limit);
    share_rest(lines, count, limits->per_partition, left, limits->turn);
}

/* ------------------------------------------------------------------------------------------------------------------ */

size_t
pawl__plan(pawl__plan_line *lines, size_t count, const pawl__plan_limits *limits)
{
    wide offsets = cut_alone(lines, count);
    bool enough = limits->due || limits->at_least <= 0 || offsets >= (wide) limits->at_least;
    size_t ranges = 0;

    for (size_t i = 0; i < count; i++)
        if (!enough && is_free(&lines[i]))
            drop(&lines[i]);
    share(lines, count, limits);
    for (size_t i = 0; i < count; i++)
        ranges += lines[i].ret_finding == PAWL__PLAN_RANGE ? 1 : 0;
    return ranges;
}

bool
pawl__plan_is_loss(pawl__plan_finding finding)
{
    return finding == PAWL__PLAN_BELOW || finding == PAWL__PLAN_ABOVE || finding == PAWL__PLAN_REMADE;
}
