/*
 * test_complaint.c - what the brokers complained about is a reason for a while, and then no more
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "source/kafka/kafka.h"

#define COMPLAINT "SASL authentication error: Authentication failed"
#define MINUTE_MS 60000

static int
set_up(void **state)
{
    kafka_source *source = g_new0(kafka_source, 1);

    pthread_mutex_init(&source->complaint.mutex, NULL);
    *state = source;
    return 0;
}

static int
tear_down(void **state)
{
    kafka_source *source = *state;

    pthread_mutex_destroy(&source->complaint.mutex);
    g_free(source);
    return 0;
}

/* What is said of a question that nobody answers. */
static void
ask(kafka_source *source, pawl_error *err)
{
    assert_int_equal(pawl__kafka_unreachable(source, RD_KAFKA_RESP_ERR__TIMED_OUT, "the time", err), PAWL_UNREACHABLE);
    assert_non_null(strstr(err->message, "the brokers do not tell the time: "));
}

static void
a_recent_one_is_the_reason(void **state)
{
    kafka_source *source = *state;
    pawl_error err = {0};

    pawl__kafka_complain(&source->complaint, COMPLAINT);
    source->complaint.came_ms -= MINUTE_MS / 2;
    ask(source, &err);
    assert_non_null(strstr(err.message, COMPLAINT));
    assert_non_null(strstr(err.message, "check sasl.username and sasl.password"));
}

static void
an_old_one_is_settled(void **state)
{
    kafka_source *source = *state;
    pawl_error err = {0};

    pawl__kafka_complain(&source->complaint, COMPLAINT);
    source->complaint.came_ms -= MINUTE_MS;
    ask(source, &err);
    assert_null(strstr(err.message, COMPLAINT));
    assert_null(strstr(err.message, "sasl"));
}

/* It has come again since. */
static void
one_that_stays_is_the_reason(void **state)
{
    kafka_source *source = *state;
    pawl_error err = {0};

    pawl__kafka_complain(&source->complaint, COMPLAINT);
    source->complaint.came_ms -= MINUTE_MS;
    pawl__kafka_complain(&source->complaint, COMPLAINT);
    ask(source, &err);
    assert_non_null(strstr(err.message, COMPLAINT));
}

/* Brokers that never said anything may be spoken to in the wrong way; those that did are not. */
static void
silence_has_advice_at_first(void **state)
{
    kafka_source *source = *state;
    pawl_error err = {0};

    ask(source, &err);
    assert_non_null(strstr(err.message, "security.protocol"));
    source->answered = true;
    ask(source, &err);
    assert_null(strstr(err.message, "security.protocol"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_recent_one_is_the_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_old_one_is_settled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_stays_is_the_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(silence_has_advice_at_first, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("complaint", tests, NULL, NULL);
}
