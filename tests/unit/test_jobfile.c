/*
 * test_jobfile.c - a job file, and what --set says instead
 *
 * That each wrong setting is told with file, line and key, tests/cli/test_job_files.py shows: here is how the parts fit
 * together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <string.h>

#include "cli/jobfile.h"

#define GOOD "[job]\ngroup = g\ntopics = t\nstore = sqlite:x\n[kafka]\nbootstrap.servers = h:1\n[process]\nexec = cat\n"

static pawl_jobfile jobfile;
static GPtrArray *sets;

static int
setup(void **state)
{
    (void) state;
    jobfile = (pawl_jobfile){.name = NULL};
    sets = g_ptr_array_new();
    return 0;
}

static int
teardown(void **state)
{
    (void) state;
    pawl__jobfile_done(&jobfile);
    g_ptr_array_unref(sets);
    return 0;
}

/* Adds a --set. */
static void
set(const char *text)
{
    g_ptr_array_add(sets, (char *) text);
}

static void
parse(const char *text)
{
    pawl_error err = {0};

    if (pawl__jobfile_parse("f", text, strlen(text), sets, &jobfile, &err) != PAWL_OK)
        fail_msg("%s", err.message);
}

static void
refuse(const char *text, const char *message)
{
    pawl_error err = {0};

    assert_int_equal(pawl__jobfile_parse("f", text, strlen(text), sets, &jobfile, &err), PAWL_INVALID);
    assert_string_equal(err.message, message);
}

static void
expect(const char *section, const char *key, const char *shown, const char *origin)
{
    const pawl_jobfile_entry *entry = pawl__jobfile_find(&jobfile, section, key);

    assert_non_null(entry);
    assert_string_equal(entry->shown, shown);
    assert_string_equal(entry->origin, origin);
}

static void
settings_go_to_their_places(void **state)
{
    (void) state;
    parse(GOOD "format = value\n[user]\nanything = x\n");
    assert_string_equal(pawl_config_get(jobfile.config, "group"), "g");
    assert_string_equal(pawl_config_get(jobfile.config, "kafka.bootstrap.servers"), "h:1");
    assert_string_equal(pawl_config_get(jobfile.config, "user.anything"), "x");
    assert_string_equal(jobfile.process.exec, "cat");
    assert_int_equal(jobfile.process.format, PAWL_FORMAT_VALUE);
    assert_int_equal(jobfile.process.process_timeout_ms, 600000);
    expect("kafka", "bootstrap.servers", "h:1", "f:6");
    expect("user", "anything", "x", "f:11");
    assert_null(pawl__jobfile_find(&jobfile, "job", "trigger"));
}

static void
a_set_comes_last(void **state)
{
    (void) state;
    set("job.group=one");
    set("job.group=two = 2");
    set("job.trigger=once");
    set("kafka.client.rack=r");
    parse(GOOD);
    assert_string_equal(pawl_config_get(jobfile.config, "group"), "two = 2");
    assert_string_equal(pawl_config_get(jobfile.config, "kafka.client.rack"), "r");
    expect("job", "group", "two = 2", "--set");
    expect("job", "trigger", "once", "--set");
    expect("job", "topics", "t", "f:3");
}

/* What a file has wrong does not matter when --set says something else. */
static void
a_set_heals(void **state)
{
    (void) state;
    set("job.group=g");
    set("process.exec=cat");
    parse("[job]\ngroup = ${env:PAWL_TEST_NONE}\ntopics = t\nstore = sqlite:x\n[kafka]\nbootstrap.servers = h:1\n");
}

static void
exec_has_defaults_of_its_own(void **state)
{
    char cores[24];

    (void) state;
    g_snprintf(cores, sizeof cores, "%u", MIN(g_get_num_processors(), 1024));
    parse(GOOD);
    assert_string_equal(pawl_config_get(jobfile.config, "open_ranges"), cores);
    assert_string_equal(pawl_config_get(jobfile.config, "parallelism"), cores);
    pawl__jobfile_done(&jobfile);
    set("job.parallelism=3");
    parse(GOOD);
    assert_string_equal(pawl_config_get(jobfile.config, "open_ranges"), "3");
    pawl__jobfile_done(&jobfile);
    set("job.open_ranges=5000");
    parse(GOOD);
    assert_string_equal(pawl_config_get(jobfile.config, "parallelism"), "3");
    pawl__jobfile_done(&jobfile);
    g_ptr_array_remove_index(sets, 0);
    parse(GOOD);
    assert_string_equal(pawl_config_get(jobfile.config, "parallelism"), "1024");
}

static void
secrets_are_masked(void **state)
{
    (void) state;
    set("kafka.sasl.password=hunter2");
    set("user.api_token=hunter2");
    set("job.store=redis://me:hunter2@h/0?password=hunter2");
    set("process.exec=token hunter2");
    parse(GOOD);
    expect("kafka", "sasl.password", "***", "--set");
    expect("user", "api_token", "***", "--set");
    expect("job", "store", "redis://me:***@h/0?password=***", "--set");
    expect("process", "exec", "token hunter2", "--set"); /* a command is not a secret: references keep one out of it */
    assert_string_equal(pawl_config_get(jobfile.config, "kafka.sasl.password"), "hunter2");
}

static void
what_does_not_agree(void **state)
{
    (void) state;
    refuse(GOOD "separator = nul\n", "f:9: separator: nul goes with format = value");
    pawl__jobfile_done(&jobfile);
    refuse("", "f: [process] needs exec, a command that reads the records, or plugin");
    pawl__jobfile_done(&jobfile);
    set("process.separator=nul");
    refuse(GOOD, "--set: separator: nul goes with format = value");
}

static void
wrong_sets(void **state)
{
    static const struct {
        const char *set, *message;
    } cases[] = {
        {"job.group", "--set takes SECTION.KEY=VALUE, and there is no = in \"job.group\""},
        {"group=hunter2", "--set takes SECTION.KEY=VALUE, job.group=flights for instance, not \"group\""},
        {".group=hunter2", "--set takes SECTION.KEY=VALUE, job.group=flights for instance, not \".group\""},
        {"job.=hunter2", "--set takes SECTION.KEY=VALUE, job.group=flights for instance, not \"job.\""},
        {"jobs.group=x", "--set: there is no section [jobs]; did you mean [job]?"},
        {"kafka.sasl.password=${env:PAWL_TEST_NONE}",
         "--set: sasl.password: ${env:PAWL_TEST_NONE}: there is no such environment variable"},
    };

    (void) state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_ptr_array_set_size(sets, 0);
        set(cases[i].set);
        refuse(GOOD, cases[i].message);
        pawl__jobfile_done(&jobfile);
    }
}

static void
files_that_cannot_be_read(void **state)
{
    pawl_error err = {0};

    (void) state;
    assert_int_equal(pawl__jobfile_load("/none/such.ini", sets, &jobfile, &err), PAWL_INVALID);
    assert_string_equal(err.message, "there is no job file /none/such.ini");
    pawl__jobfile_done(&jobfile);
    assert_int_equal(pawl__jobfile_load("/", sets, &jobfile, &err), PAWL_INVALID);
    assert_string_equal(err.message, "/ is a folder, not a job file");
    pawl__jobfile_done(&jobfile);
    assert_int_equal(pawl__jobfile_load("/dev/zero", sets, &jobfile, &err), PAWL_INVALID);
    assert_string_equal(err.message, "/dev/zero: it has more than 16 MiB");
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        test(settings_go_to_their_places),
        test(a_set_comes_last),
        test(a_set_heals),
        test(exec_has_defaults_of_its_own),
        test(secrets_are_masked),
        test(what_does_not_agree),
        test(wrong_sets),
        test(files_that_cannot_be_read),
    };

    return cmocka_run_group_tests_name("jobfile", tests, NULL, NULL);
}
