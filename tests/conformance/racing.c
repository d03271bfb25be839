/*
 * racing.c - several writers at once
 */
#include "tests/conformance/suite.h"

#include <pthread.h>

/* A racer writes no error of its own into cmocka, which knows one thread only: it counts, and the test looks. */
typedef struct racing_thread {
    const conformance *under_test;
    const char *group;
    const char *name; /* two owners of one name and one moment are one to a store */
    int32_t number;   /* of the partition */
    int64_t goal;     /* offsets to reach */
    uint8_t *saved;   /* one counter an offset, shared: each has to be raised exactly once */
    int64_t own_saves;
    int64_t takeovers;
    pthread_barrier_t *start;
    int failures;
    pawl_error err;
} racing_thread;

/* Takes the partition over, whoever has it. */
static pawl_status
take_over(pawl_store *store, const racing_thread *racer, int64_t *ret_epoch, pawl_position *ret_offset, pawl_error *err)
{
    pawl_owner owner = suite_owner(racer->name);
    pawl_acquire_line line = {.partition = {"t", racer->number}, .initial = pawl_position_at(0)};
    pawl_entry entry;
    pawl_status status = pawl_store_load(store, racer->group, &line.partition, 1, &entry, NULL, err);

    line.epoch_seen = entry.epoch;
    if (status == PAWL_OK)
        status = pawl_store_acquire(store, racer->group, &owner, NULL, &line, 1, err);
    if (status == PAWL_OK)
        status = pawl_store_load(store, racer->group, &line.partition, 1, &entry, NULL, err);
    if (status == PAWL_OK) {
        *ret_epoch = line.ret_epoch;
        *ret_offset = entry.offset;
    }
    return status;
}

static bool
is_part_of_the_game(pawl_status status)
{
    return status == PAWL_STALE || status == PAWL_FENCED || status == PAWL_CONFLICT;
}

/* Saves offset after offset until somebody else takes over. */
static pawl_status
save_on(pawl_store *store, racing_thread *racer, int64_t epoch, pawl_position offset)
{
    pawl_partition partition = {"t", racer->number};
    pawl_entry entry;

    while (offset.offset < racer->goal) {
        pawl_status status =
            suite_save(store, racer->group, "t", racer->number, epoch, offset, offset.offset + 1, &racer->err);

        if (status != PAWL_OK)
            return status;
        __atomic_fetch_add(&racer->saved[offset.offset], 1, __ATOMIC_RELAXED);
        racer->own_saves++;
        offset.offset++;
        /* Reading in between lets the others in, as a job's work does. */
        if (pawl_store_load(store, racer->group, &partition, 1, &entry, NULL, &racer->err) != PAWL_OK)
            return racer->err.status;
    }
    return PAWL_OK;
}

static void *
race(void *user)
{
    racing_thread *racer = user;
    pawl_store_options options = {.size = sizeof options, .timeout_ms = 60000};
    pawl_store *store = NULL;
    pawl_status status = pawl_store_open(racer->under_test->url, &options, &store, &racer->err);
    pawl_position offset = pawl_position_at(0);

    pthread_barrier_wait(racer->start);
    while ((status == PAWL_OK || is_part_of_the_game(status)) && offset.offset < racer->goal) {
        int64_t epoch;

        status = take_over(store, racer, &epoch, &offset, &racer->err);
        racer->takeovers += status == PAWL_OK;
        if (status == PAWL_OK)
            status = save_on(store, racer, epoch, offset);
        if (status == PAWL_OK)
            break;
    }
    racer->failures = status != PAWL_OK;
    pawl_store_close(store);
    return NULL;
}

static void
run_race(racing_thread *racers, size_t count)
{
    pthread_t *threads = g_new(pthread_t, count);
    pthread_barrier_t start;
    int failures = 0;

    pthread_barrier_init(&start, NULL, (unsigned) count);
    for (size_t i = 0; i < count; i++) {
        racers[i].start = &start;
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < count; i++) {
        if (racers[i].failures != 0)
            print_error("racer %zu: %s\n", i, racers[i].err.message);
        failures += racers[i].failures;
    }
    pthread_barrier_destroy(&start);
    g_free(threads);
    assert_int_equal(failures, 0);
}

/* Two processes believe that the same partition is theirs. Whatever they do, each offset is saved once. */
static void
two_owners(void **state)
{
    suite_state *suite = *state;
    int64_t goal = suite_is_full() ? 10000 : 500;
    uint8_t *saved;
    racing_thread racers[2];

    suite_need(suite, PAWL_STORE_CAS_EPOCH | PAWL_STORE_CAS_OFFSET);
    saved = g_new0(uint8_t, (gsize) goal);
    for (size_t i = 0; i < 2; i++)
        racers[i] = (racing_thread){.under_test = suite->under_test,
                                    .group = suite->group,
                                    .name = i == 0 ? "first" : "second",
                                    .goal = goal,
                                    .saved = saved};
    run_race(racers, 2);
    for (int64_t i = 0; i < goal; i++)
        assert_int_equal(saved[i], 1);
    assert_int_equal(racers[0].own_saves + racers[1].own_saves, goal);
    assert_offset(suite, "t", 0, pawl_position_at(goal));
    print_message("# saves: %d and %d; takeovers: %d and %d\n", (int) racers[0].own_saves, (int) racers[1].own_saves,
                  (int) racers[0].takeovers, (int) racers[1].takeovers);
    g_free(saved);
}

/* Each has a partition of its own: nobody is refused, nobody waits for ever. */
static void
eight_writers(void **state)
{
    suite_state *suite = *state;
    int64_t goal = suite_is_full() ? 1000 : 50;
    uint8_t *saved[8];
    racing_thread racers[8];

    for (size_t i = 0; i < 8; i++) {
        saved[i] = g_new0(uint8_t, (gsize) goal);
        racers[i] = (racing_thread){
            .under_test = suite->under_test,
            .group = suite->group,
            .name = "racer",
            .number = (int32_t) i,
            .goal = goal,
            .saved = saved[i],
        };
    }
    run_race(racers, 8);
    for (int32_t i = 0; i < 8; i++) {
        assert_int_equal(racers[i].own_saves, goal);
        assert_offset(suite, "t", i, pawl_position_at(goal));
        g_free(saved[i]);
    }
}

/* ------------------------------------------------------------------------------------------------- nobody's so far -- */

/* One who wants a partition that nobody has owned. */
typedef struct newcomer {
    pawl_store *store;
    const char *group;
    const char *name;
    int32_t number;
    pthread_barrier_t *start;
    pawl_status status;
    pawl_error err;
} newcomer;

static void *
come(void *user)
{
    newcomer *one = user;
    pawl_owner owner = suite_owner(one->name);
    pawl_acquire_line line = {.partition = {"t", one->number}};

    pthread_barrier_wait(one->start);
    one->status = pawl_store_acquire(one->store, one->group, &owner, NULL, &line, 1, &one->err);
    return NULL;
}

/* There is no offset, and none is given: all that the two can meet at is the group. */
static void
one_of_two_newcomers(void **state)
{
    suite_state *suite = *state;
    newcomer two[2];
    pthread_t threads[2];
    pthread_barrier_t start;

    suite_need(suite, PAWL_STORE_CAS_EPOCH);
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++)
        two[i] = (newcomer){.store = suite_open(suite->under_test, 60000),
                            .group = suite->group,
                            .name = i == 0 ? "first" : "second",
                            .start = &start};
    suite_acquire(suite->store, suite->group, "other", 0, pawl_position_absent());
    for (int32_t number = 0; number < 20; number++) {
        for (int i = 0; i < 2; i++) {
            two[i].number = number;
            assert_int_equal(suite_load(two[i].store, suite->group, "t", number).epoch, 0);
            assert_int_equal(pthread_create(&threads[i], NULL, come, &two[i]), 0);
        }
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < 2; i++)
            if (two[i].status != PAWL_OK)
                assert_status(PAWL_STALE, two[i].status, two[i].err);
        assert_true((two[0].status == PAWL_OK) != (two[1].status == PAWL_OK));
    }
    for (int i = 0; i < 2; i++)
        pawl_store_close(two[i].store);
    pthread_barrier_destroy(&start);
}

static const struct CMUnitTest tests[] = {
    suite_test(two_owners),
    suite_test(eight_writers),
    suite_test(one_of_two_newcomers),
};

const suite_tests suite_racing = {tests, G_N_ELEMENTS(tests)};
