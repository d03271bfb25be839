/*
 * trap_store.c - the memory: store with traps
 */
#include "tests/support/trap_store.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include <pawl/sys/registry.h>

#include "backends/memory/memory.h"
#include "util/wait.h"

typedef struct trap_store {
    void *inner; /* of the memory: store */
    bool cancelled;
} trap_store;

/* One kind of call. */
typedef struct trap {
    int failing, losing;
    pawl_status status;
    unsigned flags;
    bool hang;
    int hanging;
    void (*before)(void *user);
    void *user;
} trap;

static pawl__wait trap_wait; /* guards all of these, and each store's `cancelled` */
static trap traps[TRAP_CALLS];
static void (*tell)(void *user, const char *line);
static void *tell_user;
static size_t most_partitions;

static const pawl_store_backend *const memory = &pawl__store_memory;

/* ---------------------------------------------------------------------------------------------------- the springs -- */

void
trap_store_tell(void (*fn)(void *user, const char *line), void *user)
{
    pawl__wait_lock(&trap_wait);
    tell = fn;
    tell_user = user;
    pawl__wait_unlock(&trap_wait);
}

void
trap_store_fail(trap_call call, int times, pawl_status status, unsigned flags)
{
    pawl__wait_lock(&trap_wait);
    traps[call].failing = times;
    traps[call].status = status;
    traps[call].flags = flags;
    pawl__wait_unlock(&trap_wait);
}

void
trap_store_lose_answer(trap_call call, int times)
{
    pawl__wait_lock(&trap_wait);
    traps[call].losing = times;
    pawl__wait_unlock(&trap_wait);
}

void
trap_store_hang(trap_call call, bool hang)
{
    pawl__wait_lock(&trap_wait);
    traps[call].hang = hang;
    pawl__wait_wake(&trap_wait);
    pawl__wait_unlock(&trap_wait);
}

bool
trap_store_await_hanging(trap_call call, int64_t deadline_ms)
{
    bool hangs;

    pawl__wait_lock(&trap_wait);
    while (traps[call].hanging == 0 && pawl__wait_until(&trap_wait, deadline_ms))
        continue;
    hangs = traps[call].hanging > 0;
    pawl__wait_unlock(&trap_wait);
    return hangs;
}

void
trap_store_before(trap_call call, void (*fn)(void *user), void *user)
{
    pawl__wait_lock(&trap_wait);
    traps[call].before = fn;
    traps[call].user = user;
    pawl__wait_unlock(&trap_wait);
}

void
trap_store_limit(size_t max_partitions)
{
    pawl__wait_lock(&trap_wait);
    most_partitions = max_partitions;
    pawl__wait_unlock(&trap_wait);
}

/* ---------------------------------------------------------------------------------------------------- one call -- */

static void
call_before(trap_call call)
{
    void (*before)(void *user);
    void *user;

    pawl__wait_lock(&trap_wait);
    before = traps[call].before;
    user = traps[call].user;
    pawl__wait_unlock(&trap_wait);
    if (before != NULL)
        before(user);
}

/* Waits in the trap. With the lock held. */
static pawl_status
hang(trap_store *store, trap *sprung, int64_t deadline_ms, pawl_error *err)
{
    bool late = false;

    sprung->hanging++;
    pawl__wait_wake(&trap_wait);
    while (sprung->hang && !store->cancelled && !late)
        late = !pawl__wait_until(&trap_wait, deadline_ms);
    sprung->hanging--;
    if (store->cancelled)
        return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "the trap was cancelled");
    return late ? pawl_error_set(err, PAWL_TIMEOUT, 0, 0, "the trap did not answer") : PAWL_OK;
}

/* What happens before a call does its work. */
static pawl_status
enter(trap_store *store, trap_call call, int64_t deadline_ms, pawl_error *err)
{
    trap *sprung = &traps[call];
    pawl_status status = PAWL_OK;

    call_before(call);
    pawl__wait_lock(&trap_wait);
    if (sprung->hang)
        status = hang(store, sprung, deadline_ms, err);
    if (status == PAWL_OK && sprung->failing != 0) {
        sprung->failing -= sprung->failing > 0;
        status = pawl_error_set(err, sprung->status, sprung->flags, 0, "the trap was sprung");
    }
    pawl__wait_unlock(&trap_wait);
    return status;
}

/* What happens after it. Takes the line. */
static pawl_status
leave(trap_call call, pawl_status status, GString *line, pawl_error *err)
{
    bool lost;

    pawl__wait_lock(&trap_wait);
    lost = status == PAWL_OK && traps[call].losing > 0;
    traps[call].losing -= lost;
    if (status == PAWL_OK && tell != NULL)
        tell(tell_user, line->str);
    pawl__wait_unlock(&trap_wait);
    g_string_free(line, TRUE);
    return lost ? pawl_error_set(err, PAWL_OUTCOME_UNKNOWN, 0, 0, "the trap took the answer") : status;
}

/* ------------------------------------------------------------------------------------------------------ the table -- */

static pawl_status
trap_open(void *self, const pawl_store_setup *setup, pawl_error *err)
{
    trap_store *store = self;
    pawl_status status = enter(store, TRAP_OPEN, setup->deadline_ms, err);

    if (status != PAWL_OK)
        return status;
    store->inner = g_malloc0(memory->instance_size);
    return memory->open(store->inner, setup, err);
}

static void
trap_close(void *self)
{
    trap_store *store = self;

    if (store->inner != NULL)
        memory->close(store->inner);
    g_free(store->inner);
}

static void
trap_cancel(void *self)
{
    trap_store *store = self;

    pawl__wait_lock(&trap_wait);
    store->cancelled = true;
    pawl__wait_wake(&trap_wait);
    pawl__wait_unlock(&trap_wait);
}

static size_t
trap_max_partitions(const void *self)
{
    size_t most;

    (void) self;
    pawl__wait_lock(&trap_wait);
    most = most_partitions;
    pawl__wait_unlock(&trap_wait);
    return most;
}

static void
trap_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size)
{
    memory->place(((trap_store *) self)->inner, group, partition, text, text_size);
}

static pawl_status
trap_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
          pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err)
{
    trap_store *store = self;
    pawl_status status = enter(store, TRAP_LOAD, call->deadline_ms, err);

    if (status != PAWL_OK)
        return status;
    return memory->load(store->inner, call, partitions, count, ret_entries, ret_group, err);
}

static void
add_position(GString *line, const char *before, pawl_position position)
{
    char text[PAWL_POSITION_TEXT_SIZE];

    g_string_append_printf(line, "%s%s", before, pawl_position_text(position, text));
}

static void
add_partition(GString *line, pawl_partition partition)
{
    g_string_append_printf(line, " %s:%" PRId32, partition.topic, partition.number);
}

static pawl_status
trap_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
             pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    trap_store *store = self;
    GString *line = g_string_new("acquire:");
    pawl_status status = enter(store, TRAP_ACQUIRE, call->deadline_ms, err);

    if (status == PAWL_OK)
        status = memory->acquire(store->inner, call, owner, cluster, lines, count, err);
    for (size_t i = 0; i < count; i++) {
        add_partition(line, lines[i].partition);
        add_position(line, "=", lines[i].initial);
    }
    return leave(TRAP_ACQUIRE, status, line, err);
}

static pawl_status
trap_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count, pawl_error *err)
{
    trap_store *store = self;
    GString *line = g_string_new("plan:");
    pawl_status status = enter(store, TRAP_PLAN, call->deadline_ms, err);

    if (status == PAWL_OK)
        status = memory->plan(store->inner, call, lines, count, err);
    for (size_t i = 0; i < count; i++) {
        add_partition(line, lines[i].partition);
        add_position(line, " ", lines[i].expected);
        add_position(line, "..", lines[i].pending);
    }
    return leave(TRAP_PLAN, status, line, err);
}

static pawl_status
trap_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count, pawl_error *err)
{
    trap_store *store = self;
    GString *line = g_string_new(NULL);
    pawl_status status = enter(store, TRAP_SAVE, call->deadline_ms, err);

    if (status == PAWL_OK)
        status = memory->save(store->inner, call, lines, count, err);
    g_string_printf(line, "save %" PRId64 ":", lines[0].batch);
    for (size_t i = 0; i < count; i++) {
        add_partition(line, lines[i].partition);
        add_position(line, " ", lines[i].expected);
        g_string_append_printf(line, ">%" PRId64, lines[i].until);
    }
    return leave(TRAP_SAVE, status, line, err);
}

static pawl_status
trap_begin(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count, void **ret_handle,
           pawl_error *err)
{
    static char handle[] = "transaction";
    trap_store *store = self;
    pawl_status status = enter(store, TRAP_BEGIN, call->deadline_ms, err);
    char place[PAWL_ERROR_MESSAGE_SIZE];

    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        pawl_entry entry = {0};
        pawl_group_info group = {{0}};

        status = memory->load(store->inner, call, &lines[i].partition, 1, &entry, &group, err);
        memory->place(store->inner, call->group, lines[i].partition, place, sizeof place);
        if (status == PAWL_OK)
            status = pawl_sys_check_owned(&entry, lines[i].epoch, lines[i].expected, place, err);
    }
    *ret_handle = handle;
    return leave(TRAP_BEGIN, status, g_string_new("transaction"), err);
}

static void
trap_rollback(void *self)
{
    (void) self;
    pawl__wait_lock(&trap_wait);
    if (tell != NULL)
        tell(tell_user, "rollback");
    pawl__wait_unlock(&trap_wait);
}

static pawl_status
trap_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    trap_store *store = self;
    GString *line = g_string_new("release:");
    pawl_status status = enter(store, TRAP_RELEASE, call->deadline_ms, err);

    if (status == PAWL_OK)
        status = memory->release(store->inner, call, lines, count, err);
    for (size_t i = 0; i < count; i++)
        add_partition(line, lines[i].partition);
    return leave(TRAP_RELEASE, status, line, err);
}

static pawl_status
trap_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count, pawl_error *err)
{
    return memory->remove(((trap_store *) self)->inner, call, lines, count, err);
}

#define CAPABILITIES (PAWL_STORE_ATOMIC | PAWL_STORE_CAS_EPOCH | PAWL_STORE_CAS_OFFSET | PAWL_STORE_PLAN)

/* What all three have. */
#define WITH_TRAPS                                                                                        \
    .abi = PAWL_STORE_ABI, .instance_size = sizeof(trap_store), .open = trap_open, .close = trap_close,   \
    .cancel = trap_cancel, .max_partitions = trap_max_partitions, .place = trap_place, .load = trap_load, \
    .acquire = trap_acquire, .plan = trap_plan, .save = trap_save, .release = trap_release, .remove = trap_remove

static const pawl_store_backend trap_backend = {
    WITH_TRAPS,
    .scheme = "trap",
    .summary = "memory: with traps",
    .capabilities = CAPABILITIES,
};

static const pawl_store_backend traptx_backend = {
    WITH_TRAPS,
    .scheme = "traptx",
    .summary = "memory: with traps and something like transactions",
    .capabilities = CAPABILITIES | PAWL_STORE_TRANSACTION,
    .begin = trap_begin,
    .rollback = trap_rollback,
};

static const pawl_store_backend trapgroup_backend = {
    WITH_TRAPS,
    .scheme = "trapgroup",
    .summary = "memory: with traps, fenced by nothing but a group",
    .capabilities = PAWL_STORE_ATOMIC | PAWL_STORE_PLAN,
};

void
trap_store_reset(void)
{
    static bool known;

    if (!known) {
        known = true;
        pawl__wait_init(&trap_wait);
        pawl_registry_add_store(&pawl__store_memory, NULL);
        pawl_registry_add_store(&trap_backend, NULL);
        pawl_registry_add_store(&traptx_backend, NULL);
        pawl_registry_add_store(&trapgroup_backend, NULL);
    }
    pawl__wait_lock(&trap_wait);
    memset(traps, 0, sizeof traps);
    tell = NULL;
    most_partitions = 0;
    pawl__wait_unlock(&trap_wait);
}
