/*
 * plugin_count.c - a plugin for `pawl run`: counts records and appends the counts to a file
 *
 *     [process]
 *     plugin = ./plugin_count.so
 *
 *     [user]
 *     output = counts.txt
 *
 * For each batch it writes one line: the number of the batch, and the records and the bytes in it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pawl/plugin.h>

typedef struct counter {
    pawl_hooks hooks;
    FILE *output;
} counter;

/* What was counted in one range. It lives in the range's slot, so worker threads share nothing. */
typedef struct count {
    int64_t records, bytes;
} count;

static pawl_verdict
begin_range(void *user, pawl_range *range, pawl_error *err)
{
    count *c = calloc(1, sizeof *c);

    (void) user;
    if (c == NULL) {
        pawl_error_set(err, PAWL_FAILED, 0, 0, "out of memory");
        return PAWL_STOP;
    }
    pawl_range_set_slot(range, c, free);
    return PAWL_DONE;
}

static pawl_verdict
process(void *user, pawl_range *range, const pawl_record *records, size_t n, pawl_error *err)
{
    count *c = pawl_range_slot(range);

    (void) user, (void) err;
    for (size_t i = 0; i < n; i++) {
        c->records++;
        c->bytes += (int64_t) (records[i].key_size + records[i].value_size);
    }
    return PAWL_DONE;
}

/* A file is no transaction: after a crash here a batch may stand in it twice, with the same number. */
static pawl_verdict
flush(void *user, pawl_batch *batch, pawl_error *err)
{
    counter *self = user;
    count sum = {0, 0};

    for (size_t i = 0; i < pawl_batch_count(batch); i++) {
        const count *c = pawl_range_slot(pawl_batch_range(batch, i)); /* NULL: the range had no records */

        sum.records += c != NULL ? c->records : 0;
        sum.bytes += c != NULL ? c->bytes : 0;
    }
    if (fprintf(self->output, "%" PRId64 " %" PRId64 " %" PRId64 "\n", pawl_batch_number(batch), sum.records,
                sum.bytes) > 0 &&
        fflush(self->output) == 0)
        return PAWL_DONE;
    pawl_error_set(err, PAWL_FAILED, 0, 0, "cannot write the counts");
    return PAWL_STOP;
}

static void
done(void *user)
{
    counter *self = user;

    fclose(self->output);
    free(self);
}

static pawl_status
init(const pawl_config *config, const pawl_hooks **ret_hooks, pawl_error *err)
{
    const char *path = pawl_config_get(config, "user.output");
    counter *self;

    if (path == NULL)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "output is required in [user]: the file for the counts");
    self = calloc(1, sizeof *self);
    if (self == NULL)
        return pawl_error_set(err, PAWL_FAILED, 0, 0, "out of memory");
    self->output = fopen(path, "a");
    if (self->output == NULL) {
        free(self);
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "output: cannot open %s", path);
    }
    self->hooks = (pawl_hooks){
        .size = sizeof self->hooks,
        .user = self,
        .range_begin = begin_range,
        .process = process,
        .flush = flush,
    };
    *ret_hooks = &self->hooks;
    return PAWL_OK;
}

PAWL_API const pawl_plugin pawl_plugin_module = {
    .abi = PAWL_PLUGIN_ABI,
    .name = "count",
    .summary = "counts records",
    .init = init,
    .done = done,
};
