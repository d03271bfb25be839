/*
 * test_plan.c - cutting ranges: single cases in tables, and laws that hold for any input
 *
 * PAWL_TEST_SEED repeats a run of the random tests; the seed of each is printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "core/plan.h"

#define LINES_MAX 40

__extension__ typedef unsigned __int128 wide;

static uint32_t seed;

static pawl__plan_line
line_of(int64_t position, int64_t low, int64_t high)
{
    pawl__plan_line line = {.position = position, .low = low, .high = high};

    return line;
}

/* -------------------------------------------------------------------------------------------------------- one line -- */

static void
one_line(void **state)
{
    static const int64_t top = INT64_MAX;
    static const struct {
        const char *what;
        int64_t position, low, high;
        int64_t pin, pending; /* -1: none */
        pawl__plan_finding finding;
        int64_t until; /* of a range */
    } cases[] = {
        {"all there is", 0, 0, 10, -1, -1, PAWL__PLAN_RANGE, 10},
        {"an empty log", 0, 0, 0, -1, -1, PAWL__PLAN_NOTHING, 0},
        {"an emptied log", 7, 7, 7, -1, -1, PAWL__PLAN_NOTHING, 0},
        {"at the end", 10, 0, 10, -1, -1, PAWL__PLAN_NOTHING, 0},
        {"from the middle", 4, 2, 10, -1, -1, PAWL__PLAN_RANGE, 10},
        {"at the start", 2, 2, 10, -1, -1, PAWL__PLAN_RANGE, 10},
        {"one below the start", 1, 2, 10, -1, -1, PAWL__PLAN_BELOW, 0},
        {"below an emptied log", 1, 9, 9, -1, -1, PAWL__PLAN_BELOW, 0},
        {"one above the end", 11, 2, 10, -1, -1, PAWL__PLAN_ABOVE, 0},
        {"above an empty log", 1, 0, 0, -1, -1, PAWL__PLAN_ABOVE, 0},
        {"the greatest range", 0, 0, top, -1, -1, PAWL__PLAN_RANGE, top},
        {"the last offset", top - 1, 0, top, -1, -1, PAWL__PLAN_RANGE, top},
        {"nothing after the last offset", top, 0, top, -1, -1, PAWL__PLAN_NOTHING, 0},
        {"a log above the position, far", 0, top, top, -1, -1, PAWL__PLAN_BELOW, 0},

        {"up to the pin", 0, 0, 10, 6, -1, PAWL__PLAN_RANGE, 6},
        {"at the pin", 6, 0, 10, 6, -1, PAWL__PLAN_NOTHING, 0},
        {"past the pin", 8, 0, 10, 6, -1, PAWL__PLAN_NOTHING, 0},
        {"a pin of 0", 0, 0, 10, 0, -1, PAWL__PLAN_NOTHING, 0},
        {"a pin past the end", 0, 0, 10, 12, -1, PAWL__PLAN_RANGE, 10},
        {"below the start, at the pin", 1, 2, 10, 1, -1, PAWL__PLAN_BELOW, 0},
        {"above the end, past the pin", 11, 2, 10, 6, -1, PAWL__PLAN_ABOVE, 0},

        {"a pending range", 2, 0, 10, -1, 5, PAWL__PLAN_RANGE, 5},
        {"a pending range up to the end", 2, 0, 10, -1, 10, PAWL__PLAN_RANGE, 10},
        {"a pending range past the pin", 2, 0, 10, 3, 5, PAWL__PLAN_RANGE, 5},
        {"a pending range, all of it past the pin", 4, 0, 10, 3, 5, PAWL__PLAN_RANGE, 5},
        {"a pending range that was saved", 5, 0, 10, -1, 5, PAWL__PLAN_RANGE, 10},
        {"a pending range behind", 5, 0, 10, -1, 3, PAWL__PLAN_RANGE, 10},
        {"a pending range below the start", 1, 2, 10, -1, 5, PAWL__PLAN_BELOW, 0},
        {"a pending range that begins above the end", 11, 2, 10, -1, 15, PAWL__PLAN_ABOVE, 0},
        {"a pending range that ends above the end", 5, 2, 10, -1, 11, PAWL__PLAN_PENDING_ABOVE, 0},
        {"a pending range with nothing of it there", 10, 2, 10, -1, 11, PAWL__PLAN_PENDING_ABOVE, 0},
        {"the greatest pending range", 0, 0, top, -1, top, PAWL__PLAN_RANGE, top},

        {"a log that ends before it starts", 5, 10, 2, -1, -1, PAWL__PLAN_NOTHING, 0},
        {"a negative position", -1, 0, 10, -1, -1, PAWL__PLAN_NOTHING, 0},
        {"the most negative position", INT64_MIN, 0, top, -1, -1, PAWL__PLAN_NOTHING, 0},
        {"a negative start", 0, -1, 10, -1, -1, PAWL__PLAN_NOTHING, 0},
        {"a negative end", 0, INT64_MIN, -1, -1, -1, PAWL__PLAN_NOTHING, 0},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        static const pawl__plan_limits none = {0};
        pawl__plan_line line = line_of(cases[i].position, cases[i].low, cases[i].high);
        bool is_range = cases[i].finding == PAWL__PLAN_RANGE;
        size_t ranges;

        if (cases[i].pin >= 0)
            line.pin = pawl_position_at(cases[i].pin);
        if (cases[i].pending >= 0)
            line.pending = pawl_position_at(cases[i].pending);
        ranges = pawl__plan(&line, 1, &none);
        if (line.ret_finding != cases[i].finding || ranges != (is_range ? 1 : 0) ||
            line.ret_from != cases[i].position || line.ret_until != (is_range ? cases[i].until : cases[i].position))
            fail_msg("%s: finding %d, [%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")", cases[i].what, line.ret_finding,
                     line.ret_from, line.ret_until);
    }
}

/* Bounds that nobody tells: whatever is known of the line otherwise, nothing is found, and least of all a loss. */
static void
unknown_bounds(void **state)
{
    static const int64_t positions[] = {0, 2, 5, 10, 11};

    (void) state;
    for (size_t i = 0; i < 4 * G_N_ELEMENTS(positions); i++) {
        static const pawl__plan_limits none = {0};
        pawl__plan_line line = line_of(positions[i / 4], 2, 10);

        line.unknown = true;
        line.remade = (i & 1) != 0;
        line.pending = (i & 2) != 0 ? pawl_position_at(12) : pawl_position_absent();
        assert_int_equal(pawl__plan(&line, 1, &none), 0);
        assert_int_equal(line.ret_finding, PAWL__PLAN_NOTHING);
        assert_int_equal(line.ret_until, line.position);
    }
}

/* Of a log that is known to be another: what the bounds say comes first. */
static void
remade_logs(void **state)
{
    static const struct {
        int64_t position;
        pawl__plan_finding finding;
    } cases[] = {{1, PAWL__PLAN_BELOW}, {2, PAWL__PLAN_REMADE}, {10, PAWL__PLAN_REMADE}, {11, PAWL__PLAN_ABOVE}};

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        static const pawl__plan_limits none = {0};
        pawl__plan_line line = line_of(cases[i].position, 2, 10);

        line.remade = true;
        assert_int_equal(pawl__plan(&line, 1, &none), 0);
        assert_int_equal(line.ret_finding, cases[i].finding);
    }
}

static void
no_lines(void **state)
{
    static const pawl__plan_limits limits = {.per_batch = 5, .at_least = 1};

    (void) state;
    assert_int_equal(pawl__plan(NULL, 0, &limits), 0);
}

/* --------------------------------------------------------------------------------------------------------- limits -- */

#define SHARES_MAX 6

/* Lags of partitions, limits, and what each gets. */
static void
shares(void **state)
{
    static const int64_t top = INT64_MAX;
    static const struct {
        const char *what;
        int64_t lags[SHARES_MAX];
        pawl__plan_limits limits;
        int64_t shares[SHARES_MAX];
    } cases[] = {
        {"no limit", {5, 0, 7}, {0}, {5, 0, 7}},
        {"a limit that is not reached", {5, 7}, {.per_batch = 13}, {5, 7}},
        {"a limit that is just reached", {5, 7}, {.per_batch = 12}, {5, 7}},
        {"one less than there is", {5, 7}, {.per_batch = 11}, {5, 6}},
        {"nothing at all, with a limit", {0, 0, 0}, {.per_batch = 10}, {0, 0, 0}},
        {"in proportion", {101, 201, 301}, {.per_batch = 63}, {11, 21, 31}},
        {"the small does not starve", {1, 1000000}, {.per_batch = 100}, {1, 99}},
        {"one for each", {9, 9, 9}, {.per_batch = 3}, {1, 1, 1}},
        {"turn 0", {9, 9, 9}, {.per_batch = 2}, {1, 1, 0}},
        {"turn 1", {9, 9, 9}, {.per_batch = 2, .turn = 1}, {1, 0, 1}},
        {"turn 2", {9, 9, 9}, {.per_batch = 2, .turn = 2}, {0, 1, 1}},
        {"turns among those that lag", {9, 0, 9, 0, 9}, {.per_batch = 1, .turn = 1}, {0, 0, 1, 0, 0}},
        {"a turn past 2^63", {9, 9, 9}, {.per_batch = 2, .turn = (UINT64_C(1) << 63) + 1}, {1, 1, 0}},
        {"one for each that has one", {1, 1, 1}, {.per_batch = 3}, {1, 1, 1}},
        {"the rest takes turns", {9, 9, 9}, {.per_batch = 5, .turn = 0}, {2, 2, 1}},
        {"the rest takes turns, next", {9, 9, 9}, {.per_batch = 5, .turn = 1}, {2, 1, 2}},
        {"the limit of a partition", {5, 100, 3}, {.per_partition = 4}, {4, 4, 3}},
        {"the limit of a partition first", {1000, 4}, {.per_batch = 6, .per_partition = 4}, {3, 3}},
        {"both limits fit", {1000, 2}, {.per_batch = 6, .per_partition = 4}, {4, 2}},
        {"negative limits are none", {5, 7}, {.per_batch = -1, .per_partition = -1, .at_least = -1}, {5, 7}},

        {"one of the greatest", {top}, {.per_batch = top}, {top}},
        {"more than 2^63 together", {top, top, top, top}, {0}, {top, top, top, top}},
        {"more than 2^63, halved", {top, top}, {.per_batch = top}, {top / 2 + 1, top / 2}},
        {"more than 2^63, a small limit", {top, top, top}, {.per_batch = 30}, {10, 10, 10}},
        {"the greatest beside the least", {top, 1}, {.per_batch = top}, {top - 1, 1}},
        {"the greatest turn", {9, 9, 9}, {.per_batch = 1, .turn = UINT64_MAX}, {1, 0, 0}},

        {"too little for a batch", {5, 4}, {.at_least = 10}, {0, 0}},
        {"just enough for a batch", {5, 5}, {.at_least = 10}, {5, 5}},
        {"too little, and due", {5, 4}, {.at_least = 10, .due = true}, {5, 4}},
        {"nothing, and due", {0, 0}, {.at_least = 10, .due = true}, {0, 0}},
        {"enough, counted before limits", {50, 50}, {.per_batch = 4, .per_partition = 3, .at_least = 100}, {2, 2}},
        {"the most that can be asked for", {top, 1}, {.at_least = top}, {top, 1}},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pawl__plan_line lines[SHARES_MAX];
        size_t ranges = 0;

        for (size_t j = 0; j < SHARES_MAX; j++) {
            lines[j] = line_of(INT64_MAX - cases[i].lags[j], 0, INT64_MAX);
            ranges += cases[i].shares[j] > 0 ? 1 : 0;
        }
        if (pawl__plan(lines, SHARES_MAX, &cases[i].limits) != ranges)
            fail_msg("%s: not %zu ranges", cases[i].what, ranges);
        for (size_t j = 0; j < SHARES_MAX; j++)
            if (lines[j].ret_until - lines[j].ret_from != cases[i].shares[j])
                fail_msg("%s: number %zu gets %" G_GINT64_FORMAT, cases[i].what, j,
                         lines[j].ret_until - lines[j].ret_from);
    }
}

/* Losses take no share, and do not count for at_least. */
static void
losses_take_no_share(void **state)
{
    pawl__plan_line lines[] = {line_of(0, 5, 100), line_of(10, 0, 20), line_of(500, 0, 100)};
    pawl__plan_limits limits = {.per_batch = 10};

    (void) state;
    assert_int_equal(pawl__plan(lines, 3, &limits), 1);
    assert_int_equal(lines[0].ret_finding, PAWL__PLAN_BELOW);
    assert_int_equal(lines[1].ret_until, 20);
    assert_int_equal(lines[2].ret_finding, PAWL__PLAN_ABOVE);
    limits.at_least = 11;
    assert_int_equal(pawl__plan(lines, 3, &limits), 0);
    assert_int_equal(lines[0].ret_finding, PAWL__PLAN_BELOW);
    assert_int_equal(lines[1].ret_finding, PAWL__PLAN_NOTHING);
}

/* Line 0 has a pending range of 8 offsets, line 1 has 20 offsets to offer. */
static void
pending_comes_first(void **state)
{
    static const struct {
        pawl__plan_limits limits;
        int64_t pending, free;
    } cases[] = {
        {{0}, 8, 20},
        {{.per_batch = 10}, 8, 2},
        {{.per_batch = 8}, 8, 0},
        {{.per_batch = 3}, 8, 0},
        {{.per_partition = 5}, 8, 5},
        {{.at_least = 29}, 8, 0},
        {{.at_least = 28}, 8, 20},
        {{.at_least = 29, .due = true}, 8, 20},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pawl__plan_line lines[] = {line_of(2, 0, 30), line_of(0, 0, 20)};

        lines[0].pending = pawl_position_at(10);
        assert_int_equal(pawl__plan(lines, 2, &cases[i].limits), cases[i].free > 0 ? 2 : 1);
        assert_int_equal(lines[0].ret_until - lines[0].ret_from, cases[i].pending);
        assert_int_equal(lines[1].ret_until - lines[1].ret_from, cases[i].free);
    }
}

/* ----------------------------------------------------------------------------------------------------------- laws -- */

/* Mostly small, sometimes near an end of what there is. */
static int64_t
any_offset(GRand *rand)
{
    switch (g_rand_int_range(rand, 0, 10)) {
    case 0:
        return 0;
    case 1:
        return INT64_MAX - g_rand_int_range(rand, 0, 3);
    case 2:
        return (int64_t) (((uint64_t) g_rand_int(rand) << 32 | g_rand_int(rand)) >> 1);
    default:
        return g_rand_int_range(rand, 0, 2000);
    }
}

static int64_t
any_limit(GRand *rand)
{
    return g_rand_boolean(rand) ? 0 : any_offset(rand);
}

static pawl__plan_line
any_line(GRand *rand)
{
    pawl__plan_line line = line_of(any_offset(rand), any_offset(rand), any_offset(rand));

    if (g_rand_int_range(rand, 0, 10) > 0 && line.low > line.high) { /* mostly bounds that can be */
        int64_t low = line.high;

        line.high = line.low;
        line.low = low;
    }
    if (g_rand_int_range(rand, 0, 4) > 0) /* and mostly a position within them */
        line.position = CLAMP(line.position, line.low, MAX(line.low, line.high));
    if (g_rand_int_range(rand, 0, 4) == 0)
        line.pin = pawl_position_at(any_offset(rand));
    if (g_rand_int_range(rand, 0, 4) == 0)
        line.pending = pawl_position_at(any_offset(rand));
    memset(&line.ret_finding, 0xa5, sizeof line.ret_finding);
    line.ret_from = line.ret_until = -1;
    return line;
}

static bool
is_pending(const pawl__plan_line *line)
{
    return line->pending.known && line->pending.offset > line->position;
}

/* What a line could give within the limit of a partition, worked out another way than the planner does it; 0 for one that
 * is pending, lost or wrong. */
static int64_t
offer(const pawl__plan_line *line, int64_t per_partition)
{
    int64_t most = line->high;

    if (line->low > line->high || line->position < line->low || line->position > line->high || is_pending(line))
        return 0;
    if (line->pin.known)
        most = MIN(most, line->pin.offset);
    most = MAX(most - line->position, 0);
    return per_partition > 0 ? MIN(most, per_partition) : most;
}

static void
check_line(const pawl__plan_line *line)
{
    assert_int_equal(line->ret_from, line->position);
    switch (line->ret_finding) {
    case PAWL__PLAN_RANGE:
        assert_true(line->ret_until > line->ret_from);
        assert_true(line->ret_from >= line->low);
        assert_true(line->ret_until <= line->high);
        if (is_pending(line))
            assert_int_equal(line->ret_until, line->pending.offset);
        else if (line->pin.known)
            assert_true(line->ret_until <= line->pin.offset);
        return;
    case PAWL__PLAN_BELOW:
        assert_true(line->position < line->low && line->low <= line->high);
        break;
    case PAWL__PLAN_ABOVE:
        assert_true(line->position > line->high && line->low <= line->high);
        break;
    case PAWL__PLAN_PENDING_ABOVE:
        assert_true(is_pending(line) && line->pending.offset > line->high && line->position <= line->high);
        break;
    case PAWL__PLAN_NOTHING:
        break;
    default:
        fail_msg("no finding: %d", line->ret_finding);
    }
    assert_int_equal(line->ret_until, line->position);
}

/* What is handed out is all there is, or all that the limit leaves; with enough for all, each gets some. */
static void
check_shares(const pawl__plan_line *lines, size_t count, const pawl__plan_limits *limits)
{
    wide offered = 0, planned = 0, pending = 0, limit;
    size_t offering = 0, served = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t most = offer(&lines[i], limits->per_partition);

        offered += (wide) most;
        offering += most > 0 ? 1 : 0;
        if (is_pending(&lines[i])) {
            pending += (wide) (lines[i].ret_until - lines[i].ret_from);
            continue;
        }
        planned += (wide) (lines[i].ret_until - lines[i].ret_from);
        served += lines[i].ret_finding == PAWL__PLAN_RANGE ? 1 : 0;
        assert_true(lines[i].ret_until - lines[i].ret_from <= most);
    }
    limit = (wide) limits->per_batch > pending ? (wide) limits->per_batch - pending : 0;
    if (limits->per_batch == 0 || offered <= limit)
        limit = offered;
    if (served == 0 && limits->at_least > 0 && !limits->due)
        return;
    assert_true(planned == limit);
    assert_int_equal(served, MIN((wide) offering, limit));
}

static void
laws_of_a_plan(void **state)
{
    GRand *rand = g_rand_new_with_seed(seed);

    (void) state;
    for (int round = 0; round < 20000; round++) {
        pawl__plan_line lines[LINES_MAX], again[LINES_MAX];
        size_t count = (size_t) g_rand_int_range(rand, 0, LINES_MAX + 1), ranges = 0;
        pawl__plan_limits limits = {any_limit(rand), any_limit(rand), any_limit(rand), g_rand_boolean(rand),
                                    g_rand_int(rand)};

        for (size_t i = 0; i < count; i++)
            lines[i] = again[i] = any_line(rand);
        if (pawl__plan(lines, count, &limits) != pawl__plan(again, count, &limits))
            fail_msg("the same plan again is another");
        for (size_t i = 0; i < count; i++) {
            check_line(&lines[i]);
            assert_int_equal(lines[i].ret_until, again[i].ret_until);
            ranges += lines[i].ret_finding == PAWL__PLAN_RANGE ? 1 : 0;
        }
        assert_int_equal(pawl__plan(lines, count, &limits), ranges); /* and what was there before does not count */
        check_shares(lines, count, &limits);
    }
    g_rand_free(rand);
}

/* Proportion: of two free ranges that were cut, the longer one does not get less, but for one offset of the rest. */
static void
longer_gets_no_less(void **state)
{
    GRand *rand = g_rand_new_with_seed(seed);

    (void) state;
    for (int round = 0; round < 2000; round++) {
        pawl__plan_line lines[LINES_MAX];
        size_t count = (size_t) g_rand_int_range(rand, 1, LINES_MAX + 1);
        pawl__plan_limits limits = {.per_batch = g_rand_int_range(rand, 1, 100000), .turn = g_rand_int(rand)};

        for (size_t i = 0; i < count; i++)
            lines[i] = line_of(0, 0, any_offset(rand));
        if (limits.per_batch < (int64_t) count)
            continue;
        pawl__plan(lines, count, &limits);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < count; j++)
                if (lines[i].high >= lines[j].high)
                    assert_true(lines[i].ret_until >= lines[j].ret_until - 1);
    }
    g_rand_free(rand);
}

/* As long as n partitions lag and the limit is less, each gets some in any ceil(n / limit) batches in a row. */
static void
nobody_starves(void **state)
{
    (void) state;
    for (size_t n = 1; n <= LINES_MAX; n++) {
        for (size_t limit = 1; limit <= n; limit++) {
            size_t window = (n + limit - 1) / limit, last_served[LINES_MAX] = {0};
            pawl__plan_line lines[LINES_MAX];

            for (size_t i = 0; i < n; i++)
                lines[i] = line_of(0, 0, INT64_MAX);
            for (size_t batch = 1; batch <= 3 * n; batch++) {
                pawl__plan_limits limits = {.per_batch = (int64_t) limit, .turn = batch + (seed & 0xffff)};

                assert_int_equal(pawl__plan(lines, n, &limits), limit);
                for (size_t i = 0; i < n; i++) {
                    last_served[i] = lines[i].ret_finding == PAWL__PLAN_RANGE ? batch : last_served[i];
                    lines[i].position = lines[i].ret_until;
                    assert_true(batch - last_served[i] < window);
                }
            }
        }
    }
}

/* Batch after batch, every partition comes to its end, and no offset is read twice or left out. */
static void
drains(void **state)
{
    GRand *rand = g_rand_new_with_seed(seed);

    (void) state;
    for (int round = 0; round < 200; round++) {
        pawl__plan_line lines[LINES_MAX];
        size_t count = (size_t) g_rand_int_range(rand, 1, LINES_MAX + 1);
        int64_t total = 0, read = 0, limit = g_rand_int_range(rand, 1, 500);
        pawl__plan_limits limits = {.per_batch = limit};

        for (size_t i = 0; i < count; i++) {
            lines[i] = line_of(0, 0, g_rand_int_range(rand, 0, 300));
            total += lines[i].high;
        }
        while (pawl__plan(lines, count, &limits) > 0) {
            for (size_t i = 0; i < count; i++) {
                read += lines[i].ret_until - lines[i].ret_from;
                lines[i].position = lines[i].ret_until;
            }
            limits.turn++;
        }
        assert_int_equal(read, total);
        assert_int_equal(limits.turn, (total + limit - 1) / limit);
    }
    g_rand_free(rand);
}

static int
choose_seed(void **state)
{
    const char *text = getenv("PAWL_TEST_SEED");

    (void) state;
    seed = text != NULL ? (uint32_t) strtoul(text, NULL, 10) : g_random_int();
    print_message("# PAWL_TEST_SEED=%u\n", seed);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line),
        cmocka_unit_test(unknown_bounds),
        cmocka_unit_test(remade_logs),
        cmocka_unit_test(no_lines),
        cmocka_unit_test(shares),
        cmocka_unit_test(losses_take_no_share),
        cmocka_unit_test(pending_comes_first),
        cmocka_unit_test(laws_of_a_plan),
        cmocka_unit_test(longer_gets_no_less),
        cmocka_unit_test(nobody_starves),
        cmocka_unit_test(drains),
    };

    return cmocka_run_group_tests_name("plan", tests, choose_seed, NULL);
}
