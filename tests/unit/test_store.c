/*
 * test_store.c - what the wrappers do when a store fails, stays silent, or answers too late
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <pthread.h>
#include <string.h>

#include <pawl/sys/registry.h>

#include "tests/support/scripted_store.h"
#include "util/clock.h"

static pawl_store *store;

/* --------------------------------------------------------------------------------------------------- the harness -- */

static void
open_with_timeout(int64_t timeout_ms)
{
    pawl_store_options opening = {.size = sizeof opening, .timeout_ms = timeout_ms};
    pawl_error err = {0};

    assert_int_equal(pawl_store_open("fake:x?colour=a%20b", &opening, &store, &err), PAWL_OK);
}

/* The partition is ours, with epoch 3, at offset 10. */
static int
setup(void **state)
{
    (void) state;
    memset(&scripted_entry, 0, sizeof scripted_entry);
    scripted_entry.epoch = 3;
    scripted_entry.offset = pawl_position_at(10);
    strcpy(scripted_entry.owner.host, "here");
    open_with_timeout(5000);
    return 0;
}

static int
teardown(void **state)
{
    (void) state;
    pawl_store_close(store);
    return 0;
}

static void
run_script(const script_step *steps)
{
    scripted_steps = steps;
}

static void
assert_script_is_done(void)
{
    assert_int_equal(scripted_steps->call, END);
}

/* Saves 10 -> 20 and checks what comes of it. */
static void
save_by(const script_step *steps, pawl_status expected, int64_t stored)
{
    pawl_save_line line = {
        .partition = {"t", 0}, .epoch = 3, .expected = pawl_position_at(10), .until = 20, .batch = 1};
    pawl_error err = {0};

    run_script(steps);
    assert_int_equal(pawl_store_save(store, "g", &line, 1, &err), expected);
    assert_int_equal(err.status, expected); /* untouched by a save that came to a good end in the second try */
    assert_script_is_done();
    assert_int_equal(scripted_entry.offset.offset, stored);
}

/* --------------------------------------------------------------------------------------------- answers to a save -- */

static void
answer_lost_applied(void **state)
{
    (void) state;
    save_by((script_step[]){lost_applied(SAVE), ok(READ_BACK), end()}, PAWL_OK, 20);
}

static void
answer_lost_not_applied(void **state)
{
    (void) state;
    save_by((script_step[]){lost(SAVE), ok(READ_BACK), ok(SAVE), end()}, PAWL_OK, 20);
}

static void
answer_lost_twice(void **state)
{
    (void) state;
    save_by((script_step[]){lost(SAVE), ok(READ_BACK), lost_applied(SAVE), ok(READ_BACK), end()}, PAWL_OK, 20);
}

/* The first one is applied after it was read back as lost; the second meets its work. */
static void
answer_lost_applied_late(void **state)
{
    (void) state;
    save_by((script_step[]){lost(SAVE), ok(READ_BACK), fails_late(SAVE, PAWL_CONFLICT), ok(READ_BACK), end()}, PAWL_OK,
            20);
}

/* The epoch counts for more than the offset: even `until` under a newer epoch is not ours to use. */
static void
answer_lost_and_fenced(void **state)
{
    static const int64_t offsets[] = {10, 20, 15};

    for (size_t i = 0; i < G_N_ELEMENTS(offsets); i++) {
        teardown(state);
        setup(state);
        save_by(
            (script_step[]){lost(SAVE), {READ_BACK, .new_epoch = 4, .new_offset = pawl_position_at(offsets[i])}, end()},
            PAWL_FENCED, offsets[i]);
    }
}

static void
answer_lost_and_moved(void **state)
{
    (void) state;
    save_by((script_step[]){lost(SAVE), {READ_BACK, .new_offset = pawl_position_at(15)}, end()}, PAWL_CONFLICT, 15);
}

/* The store has forgotten us: it was replaced by an older copy. */
static void
answer_lost_and_older_epoch(void **state)
{
    (void) state;
    save_by((script_step[]){lost(SAVE), {READ_BACK, .new_epoch = 2}, end()}, PAWL_CONFLICT, 10);
}

static void
conflict_at_once_is_a_verdict(void **state)
{
    (void) state;
    save_by((script_step[]){fails_late(SAVE, PAWL_CONFLICT), end()}, PAWL_CONFLICT, 20);
}

static void
read_back_is_tried_again(void **state)
{
    (void) state;
    save_by((script_step[]){lost_applied(SAVE), retriable(READ_BACK), retriable(READ_BACK), ok(READ_BACK), end()},
            PAWL_OK, 20);
}

static void
never_read_back(void **state)
{
    pawl_save_line line = {.partition = {"t", 0}, .epoch = 3, .expected = pawl_position_at(10), .until = 20};
    script_step steps[64] = {lost_applied(SAVE)};
    int64_t start_ms = pawl__clock_ms();
    pawl_error err = {0};

    (void) state;
    pawl_store_close(store);
    open_with_timeout(400);
    for (size_t i = 1; i < G_N_ELEMENTS(steps); i++)
        steps[i] = retriable(READ_BACK);
    run_script(steps);
    assert_int_equal(pawl_store_save(store, "g", &line, 1, &err), PAWL_OUTCOME_UNKNOWN);
    assert_in_range(pawl__clock_ms() - start_ms, 100, 1400);
    assert_non_null(strstr(err.message, "not known"));
    assert_non_null(strstr(err.message, "starting again is safe"));
    assert_non_null(strstr(err.message, "as the script says"));
}

/* What cannot be read cannot be told from what we wrote. */
static void
read_back_unreadable(void **state)
{
    (void) state;
    save_by((script_step[]){lost(SAVE), fails(READ_BACK, PAWL_UNREADABLE), end()}, PAWL_OUTCOME_UNKNOWN, 10);
}

static void
tried_again_while_it_helps(void **state)
{
    (void) state;
    save_by((script_step[]){retriable(SAVE), retriable(SAVE), ok(SAVE), end()}, PAWL_OK, 20);
    scripted_entry.offset = pawl_position_at(10);
    save_by((script_step[]){fails(SAVE, PAWL_FAILED), end()}, PAWL_FAILED, 10);
    save_by((script_step[]){fails(SAVE, PAWL_TIMEOUT), end()}, PAWL_TIMEOUT, 10);
}

static void
given_up_at_the_timeout(void **state)
{
    pawl_save_line line = {.partition = {"t", 0}, .epoch = 3, .expected = pawl_position_at(10), .until = 20};
    int64_t start_ms = pawl__clock_ms();
    pawl_error err = {0};
    script_step steps[64];

    (void) state;
    pawl_store_close(store);
    open_with_timeout(400);
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++)
        steps[i] = retriable(SAVE);
    run_script(steps);
    assert_int_equal(pawl_store_save(store, "g", &line, 1, &err), PAWL_UNREACHABLE);
    assert_int_equal(err.flags, PAWL_ERROR_RETRIABLE);
    assert_in_range(pawl__clock_ms() - start_ms, 100, 1400);
}

/* A backend may know more than its entries show. */
static void
read_back_is_a_verdict(void **state)
{
    (void) state;
    save_by((script_step[]){lost(SAVE), fails(READ_BACK, PAWL_CONFLICT), end()}, PAWL_CONFLICT, 10);
}

/* A save that moves nothing is told by what else it writes. */
static void
a_save_that_moves_nothing(void **state)
{
    pawl_save_line line = {
        .partition = {"t", 0}, .epoch = 3, .expected = pawl_position_at(10), .until = 10, .batch = 5};
    pawl_error err = {0};

    (void) state;
    run_script((script_step[]){lost(SAVE), ok(READ_BACK), ok(SAVE), end()});
    assert_int_equal(pawl_store_save(store, "g", &line, 1, &err), PAWL_OK);
    assert_script_is_done();
    line.batch = 6;
    run_script((script_step[]){lost_applied(SAVE), ok(READ_BACK), end()});
    assert_int_equal(pawl_store_save(store, "g", &line, 1, &err), PAWL_OK);
    assert_script_is_done();
}

/* -------------------------------------------------------------------------------------------------- other writes -- */

static void
acquire_by(const script_step *steps, pawl_status expected, int64_t epoch)
{
    pawl_owner owner = {.host = "here", .pid = 7, .client_id = "c"};
    pawl_acquire_line line = {.partition = {"t", 0}, .epoch_seen = 3, .ret_epoch = -1};
    pawl_error err = {0};

    scripted_entry.epoch = 3;
    run_script(steps);
    assert_int_equal(pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), expected);
    assert_int_equal(line.ret_epoch, epoch);
    assert_script_is_done();
}

static void
acquire_with_a_lost_answer(void **state)
{
    (void) state;
    acquire_by((script_step[]){lost_applied(ACQUIRE), ok(READ_BACK), end()}, PAWL_OK, 4);
    acquire_by((script_step[]){lost(ACQUIRE), ok(READ_BACK), ok(ACQUIRE), end()}, PAWL_OK, 4);
    acquire_by((script_step[]){lost(ACQUIRE), {READ_BACK, .new_epoch = 4}, end()}, PAWL_STALE, -1);
    acquire_by((script_step[]){lost(ACQUIRE), ok(READ_BACK), fails_late(ACQUIRE, PAWL_STALE), ok(READ_BACK), end()},
               PAWL_OK, 4);
    acquire_by((script_step[]){fails(ACQUIRE, PAWL_STALE), end()}, PAWL_STALE, -1);
}

/* Containers: the same host, the same pid, the same millisecond. Another one's acquire is not taken for ours. */
static void
acquire_by_a_twin(void **state)
{
    pawl_owner owner = {.host = "here", .pid = 1, .client_id = "c", .renewed_ms = 5};
    pawl_acquire_line line = {.partition = {"t", 0}, .epoch_seen = 3};
    pawl_error err = {0};

    (void) state;
    run_script((script_step[]){ok(ACQUIRE), end()});
    assert_int_equal(pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), PAWL_OK);
    assert_script_is_done();
    run_script((script_step[]){lost(ACQUIRE), ok(READ_BACK), end()});
    assert_int_equal(pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), PAWL_STALE);
    assert_script_is_done();
}

/* What is stored with a host's name to tell acquires apart is not for those who load. */
static void
an_owner_is_loaded_as_it_was_given(void **state)
{
    pawl_owner owner = {.host = "here~0123456789abcdef", .pid = 1, .client_id = "c", .renewed_ms = 5};
    pawl_acquire_line line = {.partition = {"t", 0}, .epoch_seen = 3};
    pawl_entry entry;
    pawl_error err = {0};

    (void) state;
    run_script((script_step[]){ok(ACQUIRE), ok(LOAD), end()});
    assert_int_equal(pawl_store_acquire(store, "g", &owner, NULL, &line, 1, &err), PAWL_OK);
    assert_int_equal(pawl_store_load(store, "g", &line.partition, 1, &entry, NULL, &err), PAWL_OK);
    assert_string_equal(entry.owner.host, owner.host);
    assert_string_not_equal(scripted_entry.owner.host, owner.host);
    assert_script_is_done();
}

static void
assert_refused(const pawl_owner *owner, const char *cluster, const char *says)
{
    pawl_acquire_line line = {.partition = {"t", 0}, .epoch_seen = 3};
    pawl_error err = {0};

    run_script((script_step[]){end()});
    assert_int_equal(pawl_store_acquire(store, "g", owner, cluster, &line, 1, &err), PAWL_INVALID);
    assert_string_equal(err.message, says);
}

static void
texts_that_are_refused(void **state)
{
    pawl_owner owner = {.host = "here", .pid = 1, .client_id = "c"}, wrong;
    char cluster[PAWL_CLUSTER_SIZE + 1] = {0};

    (void) state;
    wrong = owner, strcpy(wrong.host, "");
    assert_refused(&wrong, NULL, "an owner has a host: an empty one means nobody");
    wrong = owner, strcpy(wrong.host, "he\nre");
    assert_refused(&wrong, NULL, "an owner's host must not hold control characters");
    wrong = owner, strcpy(wrong.host, "h\xc3");
    assert_refused(&wrong, NULL, "an owner's host must be UTF-8");
    wrong = owner, memset(wrong.host, 'h', sizeof wrong.host);
    assert_refused(&wrong, NULL, "an owner's host must not be longer than 255 bytes");
    wrong = owner, strcpy(wrong.client_id, "c\xc2\x85");
    assert_refused(&wrong, NULL, "an owner's client id must not hold control characters");
    wrong = owner, strcpy(wrong.client_id, "\xff");
    assert_refused(&wrong, NULL, "an owner's client id must be UTF-8");
    assert_refused(&owner, "x\ty", "a cluster's id must not hold control characters");
    assert_refused(&owner, "\xed\xa0\x80", "a cluster's id must be UTF-8");
    memset(cluster, 'x', PAWL_CLUSTER_SIZE);
    assert_refused(&owner, cluster, "a cluster's id must not be longer than 127 bytes");
}

static void
plan_by(const script_step *steps, pawl_status expected)
{
    pawl_plan_line line = {
        .partition = {"t", 0}, .epoch = 3, .expected = pawl_position_at(10), .pending = pawl_position_at(30)};
    pawl_error err = {0};

    scripted_entry.epoch = 3, scripted_entry.offset = pawl_position_at(10),
    scripted_entry.pending = pawl_position_absent();
    run_script(steps);
    assert_int_equal(pawl_store_plan(store, "g", &line, 1, &err), expected);
    assert_script_is_done();
}

static void
plan_with_a_lost_answer(void **state)
{
    (void) state;
    plan_by((script_step[]){lost_applied(PLAN), ok(READ_BACK), end()}, PAWL_OK);
    plan_by((script_step[]){lost(PLAN), ok(READ_BACK), ok(PLAN), end()}, PAWL_OK);
    plan_by((script_step[]){lost(PLAN), {READ_BACK, .new_epoch = 4}, end()}, PAWL_FENCED);
    plan_by((script_step[]){lost(PLAN), {READ_BACK, .new_offset = pawl_position_at(11)}, end()}, PAWL_CONFLICT);
}

static void
remove_by(const script_step *steps, pawl_status expected, bool removed)
{
    pawl_remove_line line = {.partition = {"t", 0}, .epoch = 3, .expected = pawl_position_at(10)};
    pawl_error err = {0};

    scripted_entry.epoch = 3, scripted_entry.offset = pawl_position_at(10);
    run_script(steps);
    assert_int_equal(pawl_store_remove(store, "g", &line, 1, &err), expected);
    assert_int_equal(line.ret_removed, removed);
    assert_script_is_done();
}

static void
remove_with_a_lost_answer(void **state)
{
    (void) state;
    remove_by((script_step[]){lost_applied(REMOVE), ok(READ_BACK), end()}, PAWL_OK, true);
    remove_by((script_step[]){lost(REMOVE), ok(READ_BACK), ok(REMOVE), end()}, PAWL_OK, true);
    remove_by((script_step[]){lost(REMOVE), {READ_BACK, .new_epoch = 4}, end()}, PAWL_FENCED, false);
    remove_by((script_step[]){lost(REMOVE), {READ_BACK, .new_offset = pawl_position_at(11)}, end()}, PAWL_CONFLICT,
              false);
}

static void
release_with_a_lost_answer(void **state)
{
    pawl_acquire_line line = {.partition = {"t", 0}, .ret_epoch = 3};
    pawl_error err = {0};

    (void) state;
    run_script((script_step[]){lost(RELEASE), ok(READ_BACK), lost_applied(RELEASE), ok(READ_BACK), end()});
    assert_int_equal(pawl_store_release(store, "g", &line, 1, &err), PAWL_OK);
    assert_script_is_done();
    run_script((script_step[]){lost(RELEASE), {READ_BACK, .new_epoch = 4}, end()});
    assert_int_equal(pawl_store_release(store, "g", &line, 1, &err), PAWL_OK); /* nothing of ours is left */
    assert_script_is_done();
}

/* ------------------------------------------------------------------------------------------- transactions, loads -- */

static void
commit_by(const script_step *steps, pawl_status expected, unsigned flags)
{
    pawl_save_line line = {
        .partition = {"t", 0}, .epoch = 3, .expected = pawl_position_at(10), .until = 20, .batch = 1};
    pawl_error err = {0};
    void *handle;

    scripted_entry.epoch = 3, scripted_entry.offset = pawl_position_at(10);
    run_script(steps);
    assert_int_equal(pawl_store_begin(store, "g", &line, 1, &handle, &err), PAWL_OK);
    assert_int_equal(pawl_store_save(store, "g", &line, 1, &err), expected);
    assert_int_equal(err.flags, flags);
    assert_script_is_done();
}

/* What was in the transaction is gone with it: the wrapper may find out, and may not send it again. */
static void
a_commit_is_sent_once(void **state)
{
    (void) state;
    commit_by((script_step[]){retriable(BEGIN), ok(BEGIN), ok(SAVE), end()}, PAWL_OK, 0);
    commit_by((script_step[]){ok(BEGIN), lost_applied(SAVE), ok(READ_BACK), end()}, PAWL_OK, 0);
    commit_by((script_step[]){ok(BEGIN), lost(SAVE), ok(READ_BACK), end()}, PAWL_FAILED, PAWL_ERROR_RETRIABLE);
    commit_by((script_step[]){ok(BEGIN), retriable(SAVE), end()}, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE);
    commit_by((script_step[]){ok(BEGIN), lost(SAVE), {READ_BACK, .new_epoch = 4}, end()}, PAWL_FENCED, 0);
}

static void
a_failed_load_leaves_no_trace(void **state)
{
    pawl_partition partition = {"t", 0};
    pawl_group_info group = {"?"};
    pawl_entry loaded, before;
    pawl_error err = {0};

    (void) state;
    memset(&loaded, 0x55, sizeof loaded);
    before = loaded;
    run_script((script_step[]){fails(LOAD, PAWL_UNREADABLE), end()});
    assert_int_equal(pawl_store_load(store, "g", &partition, 1, &loaded, &group, &err), PAWL_UNREADABLE);
    assert_memory_equal(&loaded, &before, sizeof loaded);
    assert_string_equal(group.cluster, "?");

    pawl_error_clear(&err);
    run_script((script_step[]){retriable(LOAD), ok(LOAD), end()});
    assert_int_equal(pawl_store_load(store, "g", &partition, 1, &loaded, &group, &err), PAWL_OK);
    assert_int_equal(err.status, PAWL_OK);
    assert_int_equal(loaded.offset.offset, 10);
}

static void *
cancel_when_it_pauses(void *user)
{
    (void) user;
    pawl_store_cancel(store);
    return NULL;
}

/* Cancel ends the pause between two tries. The script never succeeds, so nothing else does. */
static void
cancel_ends_a_pause(void **state)
{
    pawl_partition partition = {"t", 0};
    int64_t start_ms = pawl__clock_ms();
    script_step steps[64];
    pawl_entry loaded;
    pawl_error err = {0};
    pthread_t thread;

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++)
        steps[i] = retriable(LOAD);
    run_script(steps);
    assert_int_equal(pthread_create(&thread, NULL, cancel_when_it_pauses, NULL), 0);
    assert_int_equal(pawl_store_load(store, "g", &partition, 1, &loaded, NULL, &err), PAWL_CANCELLED);
    pthread_join(thread, NULL);
    assert_true(pawl__clock_ms() - start_ms < 2000);
}

static void
capabilities_are_asked_first(void **state)
{
    pawl_error err = {0};

    (void) state;
    run_script((script_step[]){end()});
    assert_int_equal(pawl_store_list(store, NULL, NULL, NULL, &err), PAWL_UNSUPPORTED);
    assert_non_null(strstr(err.message, "fake: store cannot list"));
    assert_string_equal(pawl_store_scheme(store), "fake");
}

static void
options_are_checked(void **state)
{
    pawl_store_options bad = {.size = 1}, negative = {.size = sizeof negative, .timeout_ms = -1};
    pawl_store *none = NULL;
    pawl_error err = {0};

    (void) state;
    assert_int_equal(pawl_store_open("fake:x?color=red", NULL, &none, &err), PAWL_INVALID);
    assert_non_null(strstr(err.message, "'color'; its options are: colour, size"));
    assert_int_equal(pawl_store_open("fake:x", &bad, &none, &err), PAWL_INVALID);
    assert_int_equal(pawl_store_open("fake:x", &negative, &none, &err), PAWL_INVALID);
    assert_int_equal(pawl_store_open("", NULL, &none, &err), PAWL_INVALID);
    assert_null(none);
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        test(answer_lost_applied),         test(answer_lost_not_applied),
        test(answer_lost_twice),           test(answer_lost_applied_late),
        test(answer_lost_and_fenced),      test(answer_lost_and_moved),
        test(answer_lost_and_older_epoch), test(conflict_at_once_is_a_verdict),
        test(read_back_is_tried_again),    test(never_read_back),
        test(read_back_unreadable),        test(tried_again_while_it_helps),
        test(given_up_at_the_timeout),     test(a_save_that_moves_nothing),
        test(acquire_with_a_lost_answer),  test(plan_with_a_lost_answer),
        test(acquire_by_a_twin),           test(an_owner_is_loaded_as_it_was_given),
        test(texts_that_are_refused),      test(read_back_is_a_verdict),
        test(remove_with_a_lost_answer),   test(release_with_a_lost_answer),
        test(a_commit_is_sent_once),       test(a_failed_load_leaves_no_trace),
        test(cancel_ends_a_pause),         test(capabilities_are_asked_first),
        test(options_are_checked),
    };

    if (pawl_registry_add_store(&scripted_store, NULL) != PAWL_OK)
        return 1;
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
