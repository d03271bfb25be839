/*
 * test_settings.c - the table of settings, and values that each of them takes or refuses
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "core/settings.h"

static pawl__settings
parsed(const char *name, const char *text)
{
    pawl__settings settings = {0};
    const pawl__setting *setting = pawl__setting_find(name);
    pawl_error err = {0};

    assert_non_null(setting);
    if (pawl__setting_parse(setting, &settings, text, &err) != PAWL_OK)
        fail_msg("%s = %s: %s", name, text, err.message);
    return settings;
}

/* ------------------------------------------------------------------------------------------------------- the table -- */

static void
every_row_is_whole(void **state)
{
    size_t count;
    const pawl__setting *table = pawl__setting_table(&count);

    (void) state;
    assert_true(count > 30);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(pawl__setting_find(table[i].name), &table[i]); /* so no name comes twice */
        assert_non_null(table[i].summary);
        assert_true(g_str_has_suffix(table[i].summary, "."));
        assert_true(table[i].kind != PAWL__SETTING_CHOICE || table[i].choices != NULL);
        assert_true(table[i].kind != PAWL__SETTING_SPECIAL || (table[i].parse != NULL && table[i].form != NULL));
        assert_true(table[i].min <= table[i].max);
        if (table[i].fallback != NULL) {
            pawl__settings settings = parsed(table[i].name, table[i].fallback);

            pawl__settings_done(&settings);
        }
    }
}

static bool
is_number(const pawl__setting *setting)
{
    return setting->kind == PAWL__SETTING_INTEGER || setting->kind == PAWL__SETTING_DURATION ||
           setting->kind == PAWL__SETTING_SIZE;
}

/* The text of a number in the unit that the table counts in. */
static char *
number_text(const pawl__setting *setting, int64_t value)
{
    return g_strdup_printf("%" G_GINT64_FORMAT "%s", value, setting->kind == PAWL__SETTING_DURATION ? "ms" : "");
}

static void
check_number(const pawl__setting *setting, int64_t value, pawl_status expected)
{
    pawl__settings settings = {0};
    char *text = number_text(setting, value);
    int64_t field;

    if (pawl__setting_parse(setting, &settings, text, NULL) != expected)
        fail_msg("%s = %s", setting->name, text);
    memcpy(&field, (char *) &settings + setting->field, sizeof field);
    assert_int_equal(field, expected == PAWL_OK ? value : 0);
    g_free(text);
}

static void
numbers_have_bounds(void **state)
{
    size_t count;
    const pawl__setting *table = pawl__setting_table(&count);

    (void) state;
    for (size_t i = 0; i < count; i++) {
        if (!is_number(&table[i]))
            continue;
        check_number(&table[i], table[i].min, PAWL_OK);
        check_number(&table[i], table[i].max, PAWL_OK);
        check_number(&table[i], table[i].min - 1, PAWL_INVALID);
        if (table[i].max < INT64_MAX)
            check_number(&table[i], table[i].max + 1, PAWL_INVALID);
    }
}

/* Two settings must not share a field. */
static void
fields_are_their_own(void **state)
{
    size_t count;
    const pawl__setting *table = pawl__setting_table(&count);

    (void) state;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (table[i].kind != PAWL__SETTING_SPECIAL && table[j].kind != PAWL__SETTING_SPECIAL)
                assert_true(table[i].field != table[j].field);
}

static void
choices_follow_their_enum(void **state)
{
    pawl__settings settings;

    (void) state;
    settings = parsed("on_data_loss", "fail");
    assert_int_equal(settings.on_data_loss, PAWL__LOSS_FAIL);
    settings = parsed("on_data_loss", "earliest");
    assert_int_equal(settings.on_data_loss, PAWL__LOSS_EARLIEST);
    settings = parsed("on_data_loss", "latest");
    assert_int_equal(settings.on_data_loss, PAWL__LOSS_LATEST);
    settings = parsed("isolation", "read_committed");
    assert_int_equal(settings.isolation, PAWL__READ_COMMITTED);
    settings = parsed("isolation", "read_uncommitted");
    assert_int_equal(settings.isolation, PAWL__READ_UNCOMMITTED);
    settings = parsed("on_error", "stop");
    assert_int_equal(settings.on_error, PAWL__ON_ERROR_STOP);
    settings = parsed("on_error", "skip");
    assert_int_equal(settings.on_error, PAWL__ON_ERROR_SKIP);
    settings = parsed("replay", "free");
    assert_int_equal(settings.replay, PAWL__REPLAY_FREE);
    settings = parsed("replay", "exact");
    assert_int_equal(settings.replay, PAWL__REPLAY_EXACT);
}

/* ------------------------------------------------------------------------------------------ values with a grammar -- */

static void
topics(void **state)
{
    pawl__settings settings = parsed("topics", "flights, a.b-c_D9 ,x");

    (void) state;
    assert_string_equal(settings.topics[0], "flights");
    assert_string_equal(settings.topics[1], "a.b-c_D9");
    assert_string_equal(settings.topics[2], "x");
    assert_null(settings.topics[3]);
    pawl__settings_done(&settings);
    assert_null(settings.topics);
}

static void
partitions(void **state)
{
    pawl__settings settings = parsed("partitions", " flights:2,0,1\tother:2147483647\n");

    (void) state;
    assert_int_equal(settings.partition_count, 4);
    assert_string_equal(settings.partitions[0].topic, "flights");
    assert_int_equal(settings.partitions[0].partition, 2);
    assert_int_equal(settings.partitions[1].partition, 0);
    assert_string_equal(settings.partitions[3].topic, "other");
    assert_int_equal(settings.partitions[3].partition, INT32_MAX);
    assert_int_equal(settings.partitions[3].offset, 0);
    pawl__settings_done(&settings);
    assert_int_equal(settings.partition_count, 0);
}

static void
starts(void **state)
{
    pawl__settings settings;

    (void) state;
    settings = parsed("start", "earliest");
    assert_int_equal(settings.start, PAWL__START_EARLIEST);
    settings = parsed("start", "latest");
    assert_int_equal(settings.start, PAWL__START_LATEST);
    settings = parsed("start", "none");
    assert_int_equal(settings.start, PAWL__START_NONE);
    settings = parsed("start", "2013-01-01T11:00:00+01:00");
    assert_int_equal(settings.start, PAWL__START_TIME);
    assert_int_equal(settings.start_time_ms, INT64_C(1357034400000));
    settings = parsed("start", "1357034400000");
    assert_int_equal(settings.start, PAWL__START_TIME);
    assert_int_equal(settings.start_time_ms, INT64_C(1357034400000));
    settings = parsed("start", "flights:0=17  flights:1=9223372036854775807");
    assert_int_equal(settings.start, PAWL__START_OFFSETS);
    assert_int_equal(settings.start_offset_count, 2);
    assert_string_equal(settings.start_offsets[1].topic, "flights");
    assert_int_equal(settings.start_offsets[1].partition, 1);
    assert_int_equal(settings.start_offsets[1].offset, INT64_MAX);
    pawl__settings_done(&settings);
}

static void
triggers(void **state)
{
    pawl__settings settings;

    (void) state;
    settings = parsed("trigger", "continuous");
    assert_int_equal(settings.trigger, PAWL__TRIGGER_CONTINUOUS);
    settings = parsed("trigger", "once");
    assert_int_equal(settings.trigger, PAWL__TRIGGER_ONCE);
    settings = parsed("trigger", "available-now");
    assert_int_equal(settings.trigger, PAWL__TRIGGER_AVAILABLE_NOW);
    settings = parsed("trigger", "PT10S");
    assert_int_equal(settings.trigger, PAWL__TRIGGER_INTERVAL);
    assert_int_equal(settings.trigger_interval_ms, 10000);
}

static void
takeovers(void **state)
{
    pawl__settings settings;

    (void) state;
    settings = parsed("takeover", "now");
    assert_int_equal(settings.takeover, PAWL__TAKEOVER_NOW);
    settings = parsed("takeover", "refuse");
    assert_int_equal(settings.takeover, PAWL__TAKEOVER_REFUSE);
    settings = parsed("takeover", "idle:30s");
    assert_int_equal(settings.takeover, PAWL__TAKEOVER_IDLE);
    assert_int_equal(settings.takeover_idle_ms, 30000);
}

/* A second value replaces the first, and one that is refused leaves it. */
static void
values_are_replaced_or_left(void **state)
{
    static const char *const values[][3] = {
        {"group", "a", ""},
        {"topics", "a,b", "a,"},
        {"topics_pattern", "a.*", "("},
        {"partitions", "a:0,1", "a:0,0"},
        {"store", "sqlite:a", "sqlite"},
        {"start", "a:0=1 a:1=1", "a:0=1 a:0=1"},
    };
    pawl__settings settings = {0}, before;

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
        const pawl__setting *setting = pawl__setting_find(values[i][0]);

        assert_int_equal(pawl__setting_parse(setting, &settings, values[i][1], NULL), PAWL_OK);
        assert_int_equal(pawl__setting_parse(setting, &settings, values[i][1], NULL), PAWL_OK);
        before = settings;
        assert_int_equal(pawl__setting_parse(setting, &settings, values[i][2], NULL), PAWL_INVALID);
        assert_memory_equal(&before, &settings, sizeof settings);
    }
    assert_int_equal(pawl__setting_parse(pawl__setting_find("start"), &settings, "latest", NULL), PAWL_OK);
    assert_int_equal(settings.start_offset_count, 0);
    pawl__settings_done(&settings);
    pawl__settings_done(&settings);
}

/* ----------------------------------------------------------------------------------------------------------- names -- */

static void
mistyped_names(void **state)
{
    static const struct {
        const char *name, *nearest;
    } cases[] = {
        {"topic", "topics"},
        {"groups", "group"},
        {"Group", "group"},
        {"gruop", "group"},
        {"max-offsets-per-batch", "max_offsets_per_batch"},
        {"max_offset_per_batch", "max_offsets_per_batch"},
        {"maxOffsetsPerBatch", "max_offsets_per_batch"},
        {"min_offsets_per_batch", "min_offsets_per_batch"},
        {"max_offsets_per_partitions", "max_offsets_per_partition"},
        {"fetch_memory", "fetch.memory"},
        {"discovery-interval", "discovery.interval"},
        {"paralelism", "parallelism"},
        {"on_dataloss", "on_data_loss"},
        {"shutdown.timeout", "shutdown_timeout"},
        {"stroe", "store"},
        {"x", NULL},
        {"", NULL},
        {"bootstrap.servers", NULL},
        {"something_else_entirely", NULL},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *nearest = pawl__setting_nearest(cases[i].name);

        if (g_strcmp0(nearest, cases[i].nearest) != 0)
            fail_msg("%s: %s", cases[i].name, nearest != NULL ? nearest : "none");
    }
}

static void
owned_properties(void **state)
{
    static const struct {
        const char *name, *instead; /* NULL: passes through */
    } cases[] = {
        {"group.id", "group"},
        {"client.id", "client_id"},
        {"enable.auto.commit", "store"},
        {"enable.auto.offset.store", "store"},
        {"auto.commit.interval.ms", "store"},
        {"auto.commit.enable", "store"},
        {"offset.store.method", "store"},
        {"auto.offset.reset", "start"},
        {"isolation.level", "isolation"},
        {"transactional.id", "only reads"},
        {"enable.partition.eof", "sets it"},
        {"queued.min.messages", "fetch.memory"},
        {"queued.max.messages.kbytes", "fetch.memory"},
        {"fetch.message.max.bytes", "fetch.memory"},
        {"max.partition.fetch.bytes", "fetch.memory"},
        {"fetch.max.bytes", "fetch.memory"},
        {"bootstrap.servers", NULL},
        {"check.crcs", NULL},
        {"fetch.wait.max.ms", NULL},
        {"group.instance.id", "instance_id"},
        {"enable.idempotence", NULL},
        {"group.ID", NULL}, /* librdkafka, too, minds the case, and refuses it */
        {"queued", NULL},
        {"", NULL},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *instead = pawl__setting_instead_of(cases[i].name);

        if ((instead == NULL) != (cases[i].instead == NULL) ||
            (instead != NULL && strstr(instead, cases[i].instead) == NULL))
            fail_msg("%s: %s", cases[i].name, instead != NULL ? instead : "passes");
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_whole),
        cmocka_unit_test(numbers_have_bounds),
        cmocka_unit_test(fields_are_their_own),
        cmocka_unit_test(choices_follow_their_enum),
        cmocka_unit_test(topics),
        cmocka_unit_test(partitions),
        cmocka_unit_test(starts),
        cmocka_unit_test(triggers),
        cmocka_unit_test(takeovers),
        cmocka_unit_test(values_are_replaced_or_left),
        cmocka_unit_test(mistyped_names),
        cmocka_unit_test(owned_properties),
    };

    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
