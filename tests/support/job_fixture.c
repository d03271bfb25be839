/*
 * job_fixture.c - a job on a cluster and a store in memory
 */
#include "tests/support/job_fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "core/job.h"
#include "util/clock.h"

#define DEADLINE_MS 20000

/* What is in the slot of a range: the state of its attempt. */
typedef struct range_slot {
    fixture *f;
    int64_t next; /* the least that the next record's offset may be */
    bool busy, ended;
} range_slot;

int64_t
fixture_deadline(void)
{
    return pawl__clock_ms() + DEADLINE_MS;
}

/* ---------------------------------------------------------------------------------------------------- transcript -- */

static void
add_event(void *user, const char *line)
{
    fixture *f = user;

    pawl__wait_lock(&f->wait);
    g_ptr_array_add(f->events, g_strdup(line));
    pawl__wait_wake(&f->wait);
    pawl__wait_unlock(&f->wait);
}

/* Takes the line. */
static void
add_line(fixture *f, GString *line)
{
    add_event(f, line->str);
    g_string_free(line, TRUE);
}

/* With the lock held. */
static int
count_events(const fixture *f, const char *start)
{
    int count = 0;

    for (guint i = 0; i < f->events->len; i++)
        count += g_str_has_prefix(g_ptr_array_index(f->events, i), start);
    return count;
}

int
fixture_count(fixture *f, const char *start)
{
    int count;

    pawl__wait_lock(&f->wait);
    count = count_events(f, start);
    pawl__wait_unlock(&f->wait);
    return count;
}

void
fixture_await(fixture *f, const char *start, int count)
{
    int64_t deadline_ms = fixture_deadline();
    int come;

    pawl__wait_lock(&f->wait);
    while (count_events(f, start) < count && pawl__wait_until(&f->wait, deadline_ms))
        continue;
    come = count_events(f, start);
    pawl__wait_unlock(&f->wait);
    if (come < count)
        fail_msg("waited for %d lines '%s', and %d came", count, start, come);
}

void
fixture_forget(fixture *f)
{
    pawl__wait_lock(&f->wait);
    g_ptr_array_set_size(f->events, 0);
    pawl__wait_unlock(&f->wait);
}

static bool
is_one_of(const char *words, const char *line)
{
    char **list = g_strsplit(words, " ", -1);
    bool is = false;

    for (char **word = list; *word != NULL; word++) {
        size_t size = strlen(*word);

        is = is || (strncmp(line, *word, size) == 0 && (line[size] == '\0' || line[size] == ' ' || line[size] == ':'));
    }
    g_strfreev(list);
    return is;
}

void
fixture_expect(fixture *f, const char *words, const char *lines)
{
    GString *text = g_string_new(NULL);

    pawl__wait_lock(&f->wait);
    for (guint i = 0; i < f->events->len; i++) {
        const char *line = g_ptr_array_index(f->events, i);

        if (is_one_of(words, line))
            g_string_append_printf(text, "%s\n", line);
    }
    pawl__wait_unlock(&f->wait);
    assert_string_equal(text->str, lines);
    g_string_free(text, TRUE);
}

static void
take_log(void *user, const pawl_log_line *line)
{
    fixture *f = user;

    pawl__wait_lock(&f->wait);
    g_ptr_array_add(f->lines, g_strdup(line->message));
    pawl__wait_wake(&f->wait);
    pawl__wait_unlock(&f->wait);
}

/* With the lock held. */
static bool
has_logged(const fixture *f, const char *text)
{
    for (guint i = 0; i < f->lines->len; i++)
        if (strstr(g_ptr_array_index(f->lines, i), text) != NULL)
            return true;
    return false;
}

bool
fixture_logged(fixture *f, const char *text)
{
    bool is;

    pawl__wait_lock(&f->wait);
    is = has_logged(f, text);
    pawl__wait_unlock(&f->wait);
    return is;
}

void
fixture_await_log(fixture *f, const char *text)
{
    int64_t deadline_ms = fixture_deadline();
    bool come;

    pawl__wait_lock(&f->wait);
    while (!has_logged(f, text) && pawl__wait_until(&f->wait, deadline_ms))
        continue;
    come = has_logged(f, text);
    pawl__wait_unlock(&f->wait);
    if (!come)
        fail_msg("waited for '%s' in the log", text);
}

/* --------------------------------------------------------------------------------------------------------- hooks -- */

/* A promise of the library; asserting on a worker's thread would not end the test. */
static void
promise(fixture *f, bool kept)
{
    if (kept)
        return;
    pawl__wait_lock(&f->wait);
    f->faults++;
    pawl__wait_unlock(&f->wait);
}

static pawl_verdict
answer(fixture *f, const char *hook, pawl_range *range, pawl_error *err)
{
    return f->answer != NULL ? f->answer(f, hook, range, err) : PAWL_DONE;
}

static void
free_slot(void *data)
{
    range_slot *slot = data;

    pawl__wait_lock(&slot->f->wait);
    slot->f->slots--;
    pawl__wait_unlock(&slot->f->wait);
    g_free(slot);
}

static void
add_range(GString *line, const char *before, const pawl_range *range)
{
    g_string_append_printf(line, "%s%s:%" PRId32 " %" PRId64 "..%" PRId64, before, pawl_range_topic(range),
                           pawl_range_partition(range), pawl_range_from(range), pawl_range_until(range));
}

static GString *
range_line(const char *hook, const pawl_range *range)
{
    GString *line = g_string_new(hook);

    add_range(line, " ", range);
    g_string_append_printf(line, " #%d", pawl_range_attempt(range));
    return line;
}

static pawl_verdict
range_begin(void *user, pawl_range *range, pawl_error *err)
{
    fixture *f = user;
    range_slot *slot = g_new0(range_slot, 1);

    promise(f, pawl_range_slot(range) == NULL);
    slot->f = f;
    slot->next = pawl_range_from(range);
    pawl__wait_lock(&f->wait);
    f->slots++;
    pawl__wait_unlock(&f->wait);
    pawl_range_set_slot(range, slot, free_slot);
    add_line(f, range_line("begin", range));
    return answer(f, "begin", range, err);
}

static pawl_verdict
process(void *user, pawl_range *range, const pawl_record *records, size_t count, pawl_error *err)
{
    fixture *f = user;
    range_slot *slot = pawl_range_slot(range);
    GString *line = range_line("process", range);
    pawl_verdict verdict;

    promise(f, count > 0);
    promise(f, f->hooks.range_begin == NULL || (slot != NULL && !slot->busy && !slot->ended));
    if (slot != NULL)
        slot->busy = true;
    g_string_append_c(line, ':');
    for (size_t i = 0; i < count; i++) {
        promise(f, records[i].offset >= (slot != NULL ? slot->next : pawl_range_from(range)));
        promise(f, records[i].offset < pawl_range_until(range));
        if (slot != NULL)
            slot->next = records[i].offset + 1;
        g_string_append_printf(line, " %" PRId64, records[i].offset);
    }
    add_line(f, line);
    verdict = answer(f, "process", range, err);
    if (slot != NULL)
        slot->busy = false;
    return verdict;
}

static pawl_verdict
range_end(void *user, pawl_range *range, pawl_error *err)
{
    fixture *f = user;
    range_slot *slot = pawl_range_slot(range);

    promise(f, f->hooks.range_begin == NULL || (slot != NULL && !slot->busy && !slot->ended));
    if (slot != NULL)
        slot->ended = true;
    add_line(f, range_line("end", range));
    return answer(f, "end", range, err);
}

static pawl_verdict
flush(void *user, pawl_batch *batch, pawl_error *err)
{
    fixture *f = user;
    GString *line = g_string_new(NULL);

    g_string_printf(line, "flush %" PRId64 ":", pawl_batch_number(batch));
    for (size_t i = 0; i < pawl_batch_count(batch); i++)
        add_range(line, " ", pawl_batch_range(batch, i));
    add_line(f, line);
    return f->on_flush != NULL ? f->on_flush(f, batch, err) : PAWL_DONE;
}

static pawl_verdict
on_open(void *user, pawl_opening *openings, size_t count, pawl_error *err)
{
    fixture *f = user;

    for (size_t i = 0; i < count; i++) {
        char stored[PAWL_POSITION_TEXT_SIZE], position[PAWL_POSITION_TEXT_SIZE];
        GString *line = g_string_new(NULL);

        g_string_printf(line, "open %s:%" PRId32 " %s@%s", openings[i].partition.topic, openings[i].partition.number,
                        pawl_position_text(openings[i].stored, stored),
                        pawl_position_text(openings[i].position, position));
        add_line(f, line);
    }
    return f->on_open != NULL ? f->on_open(f, openings, count, err) : PAWL_DONE;
}

static void
on_close(void *user, const pawl_partition *partitions, size_t count)
{
    GString *line = g_string_new("close");

    for (size_t i = 0; i < count; i++)
        g_string_append_printf(line, " %s:%" PRId32, partitions[i].topic, partitions[i].number);
    add_line(user, line);
}

static pawl_verdict
thread_init(void *user, void **ret_thread, pawl_error *err)
{
    *ret_thread = user;
    add_event(user, "init");
    return answer(user, "init", NULL, err);
}

static void
thread_exit(void *user, void *thread)
{
    promise(user, thread == user);
    add_event(user, "exit");
}

/* ------------------------------------------------------------------------------------------------- set up and down -- */

void
fixture_select(fixture *f, const char *name, const char *value)
{
    pawl_log log = {.level = PAWL_LOG_DEBUG, .fn = take_log, .user = f};

    pawl_config_free(f->config);
    f->config = pawl_config_new();
    pawl_config_set_log(f->config, &log);
    fixture_set(f, "kafka.bootstrap.servers", f->name);
    fixture_set(f, "group", "g");
    fixture_set(f, name, value);
    fixture_set(f, "trigger", "available-now");
    fixture_set(f, "retry_backoff", "1ms");
    fixture_use_store(f, "trap");
}

void
fixture_use_store(fixture *f, const char *scheme)
{
    char *url = g_strdup_printf("%s:%s", scheme, f->name);

    fixture_set(f, "store", url);
    g_free(url);
}

int
fixture_setup(void **state)
{
    static int number;
    fixture *f = g_new0(fixture, 1);

    pawl__wait_init(&f->wait);
    f->events = g_ptr_array_new_with_free_func(g_free);
    f->lines = g_ptr_array_new_with_free_func(g_free);
    g_snprintf(f->name, sizeof f->name, "fixture-%d", ++number);
    f->cluster = pawl__memory_cluster_new(f->name, "cluster-one");
    pawl__memory_make_topic(f->cluster, "t", 1);
    f->hooks = (pawl_hooks){
        .size = sizeof f->hooks,
        .user = f,
        .on_open = on_open,
        .thread_init = thread_init,
        .thread_exit = thread_exit,
        .range_begin = range_begin,
        .process = process,
        .range_end = range_end,
        .flush = flush,
        .on_close = on_close,
    };
    trap_store_reset();
    trap_store_tell(add_event, f);
    fixture_select(f, "topics", "t");
    *state = f;
    return 0;
}

int
fixture_teardown(void **state)
{
    fixture *f = *state;
    int broken = f->faults + f->slots;

    if (f->running) { /* the test failed in the middle */
        pawl_job_stop(f->job);
        pawl_job_stop(f->job);
        pthread_join(f->thread, NULL);
    }
    if (f->faults > 0)
        print_error("%d promises to hooks were broken\n", f->faults);
    if (f->slots != 0)
        print_error("%d slots were not freed\n", f->slots);
    pawl_job_free(f->job);
    trap_store_reset();
    pawl__memory_cluster_free(f->cluster);
    pawl_config_free(f->config);
    g_ptr_array_unref(f->events);
    g_ptr_array_unref(f->lines);
    pawl__wait_done(&f->wait);
    g_free(f);
    return broken;
}

void
fixture_set(fixture *f, const char *name, const char *value)
{
    pawl_error err;

    if (pawl_config_set(f->config, name, value, &err) != PAWL_OK)
        fail_msg("%s", err.message);
}

/* ------------------------------------------------------------------------------------------------------- running -- */

void
fixture_make(fixture *f)
{
    pawl_error err;

    pawl_job_free(f->job);
    f->job = NULL;
    if (pawl__job_new_with_source(f->config, &f->hooks, &pawl__memory_source, &f->job, &err) != PAWL_OK)
        fail_msg("%s", err.message);
}

static void *
run(void *data)
{
    fixture *f = data;

    f->status = pawl_job_run(f->job, &f->err);
    f->stats.size = sizeof f->stats;
    pawl_job_stats(f->job, &f->stats);
    return NULL;
}

pawl_status
fixture_run(fixture *f)
{
    fixture_make(f);
    run(f);
    return f->status;
}

void
fixture_start(fixture *f)
{
    fixture_make(f);
    f->running = pthread_create(&f->thread, NULL, run, f) == 0;
    assert_true(f->running);
}

pawl_status
fixture_join(fixture *f)
{
    pthread_join(f->thread, NULL);
    f->running = false;
    return f->status;
}

pawl_status
fixture_stop(fixture *f)
{
    pawl_job_stop(f->job);
    return fixture_join(f);
}

pawl_verdict
fixture_silence_brokers(fixture *f, pawl_batch *batch, pawl_error *err)
{
    (void) batch, (void) err;
    pawl__memory_hang_calls(f->cluster, PAWL__MEMORY_BOUNDS, true);
    return PAWL_DONE;
}
