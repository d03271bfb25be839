/*
 * scripted_store.c - the fake: store, which does what a test wrote down
 */
#include "tests/support/scripted_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <string.h>

const script_step *scripted_steps;
pawl_entry scripted_entry;

static pawl_status
take_step(which_call call, bool *ret_apply, pawl_error *err)
{
    const script_step *step = scripted_steps;

    if (step->call != call)
        fail_msg("call %d came, and the script says %d", (int) call, (int) step->call);
    scripted_steps++;
    *ret_apply = step->apply;
    if (step->new_epoch != 0) {
        scripted_entry.epoch = step->new_epoch;
        memset(&scripted_entry.owner, 0, sizeof scripted_entry.owner);
        strcpy(scripted_entry.owner.host, "elsewhere");
    }
    if (step->new_offset.known)
        scripted_entry.offset = step->new_offset;
    if (step->status == PAWL_OK)
        return PAWL_OK;
    return pawl_error_set(err, step->status, step->flags, 0, "as the script says");
}

static pawl_status
fake_open(void *self, const pawl_store_setup *setup, pawl_error *err)
{
    (void) self;
    (void) err;
    assert_string_equal(setup->option(setup, "colour"), "a b");
    assert_string_equal(setup->option(setup, "size"), "1");
    return PAWL_OK;
}

static void
fake_close(void *self)
{
    (void) self;
}

static void
fake_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size)
{
    (void) self;
    g_snprintf(text, text_size, "the place of %s/%s/%d", group, partition.topic, (int) partition.number);
}

static pawl_status
fake_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
          pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err)
{
    bool apply;
    pawl_status status = take_step(LOAD, &apply, err);

    (void) self;
    (void) call;
    assert_int_equal(count, 1);
    ret_group->cluster[0] = '!'; /* a failed load may leave anything */
    *ret_entries = scripted_entry;
    ret_entries->partition = partitions[0];
    return status;
}

static pawl_status
fake_read_back(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
               pawl_entry *ret_entries, pawl_error *err)
{
    bool apply;
    pawl_status status = take_step(READ_BACK, &apply, err);

    (void) self;
    (void) call;
    assert_int_equal(count, 1);
    *ret_entries = scripted_entry;
    ret_entries->partition = partitions[0];
    return status;
}

static pawl_status
fake_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
             pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    bool apply;
    pawl_status status = take_step(ACQUIRE, &apply, err);

    (void) self;
    (void) call;
    (void) cluster;
    assert_int_equal(count, 1);
    assert_true(owner->renewed_ms > 0);
    if (apply) {
        scripted_entry.epoch = lines[0].epoch_seen + 1;
        scripted_entry.owner = *owner;
    }
    if (status == PAWL_OK)
        lines[0].ret_epoch = scripted_entry.epoch;
    return status;
}

static pawl_status
fake_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count, pawl_error *err)
{
    bool apply;
    pawl_status status = take_step(PLAN, &apply, err);

    (void) self;
    (void) call;
    (void) count;
    if (apply)
        scripted_entry.pending = lines[0].pending;
    return status;
}

static pawl_status
fake_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count, pawl_error *err)
{
    bool apply;
    pawl_status status = take_step(SAVE, &apply, err);

    (void) self;
    (void) call;
    (void) count;
    if (apply) {
        scripted_entry.offset = pawl_position_at(lines[0].until);
        scripted_entry.batch = lines[0].batch;
        scripted_entry.pending = pawl_position_absent();
    }
    return status;
}

static pawl_status
fake_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    bool apply;
    pawl_status status = take_step(RELEASE, &apply, err);

    (void) self;
    (void) call;
    (void) lines;
    (void) count;
    if (apply)
        memset(&scripted_entry.owner, 0, sizeof scripted_entry.owner);
    return status;
}

static pawl_status
fake_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count, pawl_error *err)
{
    bool apply;
    pawl_status status = take_step(REMOVE, &apply, err);

    (void) self;
    (void) call;
    (void) lines;
    (void) count;
    if (apply)
        scripted_entry.offset = pawl_position_absent();
    return status;
}

static pawl_status
fake_begin(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count, void **ret_handle,
           pawl_error *err)
{
    bool apply;

    (void) call;
    (void) lines;
    (void) count;
    *ret_handle = self;
    return take_step(BEGIN, &apply, err);
}

static void
fake_rollback(void *self)
{
    bool apply;

    (void) self;
    take_step(ROLLBACK, &apply, NULL);
}

static const pawl_store_option options[] = {
    {"colour", "red", "A colour."},
    {"size", "1", "A size."},
    {NULL, NULL, NULL},
};

const pawl_store_backend scripted_store = {
    .abi = PAWL_STORE_ABI,
    .scheme = "fake",
    .summary = "a script",
    .capabilities =
        PAWL_STORE_ATOMIC | PAWL_STORE_CAS_EPOCH | PAWL_STORE_CAS_OFFSET | PAWL_STORE_PLAN | PAWL_STORE_TRANSACTION,
    .instance_size = 1,
    .options = options,
    .open = fake_open,
    .close = fake_close,
    .place = fake_place,
    .load = fake_load,
    .read_back = fake_read_back,
    .acquire = fake_acquire,
    .plan = fake_plan,
    .save = fake_save,
    .begin = fake_begin,
    .rollback = fake_rollback,
    .release = fake_release,
    .remove = fake_remove,
};

script_step
ok(which_call call)
{
    return (script_step){.call = call, .apply = true};
}

script_step
lost(which_call call)
{
    return (script_step){.call = call, .status = PAWL_OUTCOME_UNKNOWN};
}

script_step
lost_applied(which_call call)
{
    return (script_step){.call = call, .apply = true, .status = PAWL_OUTCOME_UNKNOWN};
}

script_step
retriable(which_call call)
{
    return (script_step){.call = call, .status = PAWL_UNREACHABLE, .flags = PAWL_ERROR_RETRIABLE};
}

script_step
fails(which_call call, pawl_status status)
{
    return (script_step){.call = call, .status = status};
}

script_step
fails_late(which_call call, pawl_status status)
{
    return (script_step){.call = call, .apply = true, .status = status};
}

script_step
end(void)
{
    return (script_step){.call = END};
}
