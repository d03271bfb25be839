/*
 * killing.c - a program that kills itself at a named point, for the exactness tests
 */
#include "killing.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pawl/sys/registry.h>

#define PREFIX "killing+"

static const pawl_store_backend *inner;
static pawl_store_backend killing;
static pawl_hooks user_hooks;

/* Counts the passings of the point that was chosen; the one that was asked for is the last thing this process does. */
static void
pass(const char *point)
{
    static atomic_long passed;
    const char *chosen = getenv("PAWL_TEST_KILL");
    size_t size = strlen(point);

    if (chosen == NULL || strncmp(chosen, point, size) != 0 || chosen[size] != ':')
        return;
    if (atomic_fetch_add(&passed, 1) + 1 == atol(chosen + size + 1))
        kill(getpid(), SIGKILL);
}

/* ----------------------------------------------------------------------------------------------------------- store -- */

static pawl_status
store_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
           pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err)
{
    pass("load-before");
    pawl_status status = inner->load(self, call, partitions, count, ret_entries, ret_group, err);
    pass("load-after");
    return status;
}

static pawl_status
store_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
              pawl_acquire_line *lines, size_t count, pawl_error *err)
{
    pass("acquire-before");
    pawl_status status = inner->acquire(self, call, owner, cluster, lines, count, err);
    pass("acquire-after");
    return status;
}

static pawl_status
store_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count, pawl_error *err)
{
    pass("save-before");
    pawl_status status = inner->save(self, call, lines, count, err);
    pass("save-after");
    return status;
}

void
killing_install(const char *url)
{
    static char scheme[32];
    pawl_error err = {0};

    if (strncmp(url, PREFIX, strlen(PREFIX)) != 0)
        return;
    snprintf(scheme, sizeof scheme, "%.*s", (int) strcspn(url, ":"), url);
    if (pawl_registry_find_store(scheme + strlen(PREFIX), &inner, &err) == PAWL_OK) {
        /* The instance is the inner one's: there is nothing here that would differ between two stores. */
        killing = *inner;
        killing.scheme = scheme;
        killing.summary = "a store with points at which the process kills itself";
        killing.load = store_load;
        killing.acquire = store_acquire;
        killing.save = store_save;
        pawl_registry_add_store(&killing, &err);
    }
    if (err.status != PAWL_OK) {
        fprintf(stderr, "killing: %s\n", err.message);
        exit(1);
    }
}

/* ----------------------------------------------------------------------------------------------------------- hooks -- */

static pawl_verdict
process(void *user, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    pawl_verdict verdict = user_hooks.process(user, range, records, count, err);

    pass("process");
    return verdict;
}

static pawl_verdict
flush(void *user, pawl_batch *batch, pawl_error *err)
{
    pawl_verdict verdict = user_hooks.flush(user, batch, err);

    pass("flush");
    return verdict;
}

pawl_hooks
killing_hooks(const pawl_hooks *hooks)
{
    pawl_hooks wrapped = *hooks;

    user_hooks = *hooks;
    wrapped.process = process;
    wrapped.flush = flush;
    return wrapped;
}

pawl_status
killing_job_new(const pawl_config *config, const pawl_hooks *hooks, pawl_job **ret_job, pawl_error *err)
{
    pawl_hooks wrapped = killing_hooks(hooks);

    return pawl_job_new(config, &wrapped, ret_job, err);
}

pawl_status
killing_batch_transaction(const pawl_batch *batch, const char *scheme, void **ret_handle, pawl_error *err)
{
    bool is_ours = inner != NULL && strcmp(scheme, inner->scheme) == 0;

    return pawl_batch_transaction(batch, is_ours ? killing.scheme : scheme, ret_handle, err);
}
