/*
 * test_redis_errors.c - what servers of several versions answer instead, and what that means; no server is asked
 */
#include "tests/conformance/suite.h"

#include <stdlib.h>

#include "backends/redis/redis_store.h"

#define SHA "f_6b1bf486c81ceb7edf3c093f4a48b3a8e9b4b3f0"

typedef struct answer {
    const char *text;
    pawl_status status;
    bool retriable;
    const char *says;
} answer;

/* The error that this answer becomes. */
static pawl_error
refuse(const char *text)
{
    pawl__redis_store store = {.link = {.fd = -1, .cancel_fd = -1}};
    redisReply reply = {.type = REDIS_REPLY_ERROR, .str = (char *) text, .len = strlen(text)};
    pawl_error err = {0};
    pawl_status status;

    store.link.address = g_strdup("host:6379");
    status = pawl__redis_fail(&store, &reply, &err);
    assert_int_equal(status, err.status);
    pawl__redis_link_close(&store.link);
    g_free(store.elsewhere);
    return err;
}

static void
assert_meaning(const answer *answers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pawl_error err = refuse(answers[i].text);

        assert_status(answers[i].status, err.status, err);
        assert_int_equal(err.flags, answers[i].retriable ? PAWL_ERROR_RETRIABLE : 0);
        assert_says(err, "host:6379");
        assert_says(err, answers[i].says);
    }
}

/* Where a node sends us on to. */
static void
assert_moved(const char *from, const char *text, const char *to)
{
    pawl__redis_store store = {.link = {.fd = -1, .cancel_fd = -1}};
    redisReply reply = {.type = REDIS_REPLY_ERROR, .str = (char *) text, .len = strlen(text)};
    pawl_error err = {0};

    store.link.address = g_strdup(from);
    assert_int_equal(pawl__redis_fail(&store, &reply, &err), PAWL_UNREACHABLE);
    assert_string_equal(store.elsewhere, to);
    assert_null(store.link.address);
    g_free(store.elsewhere);
}

static void
moved(void **state)
{
    (void) state;
    assert_moved("host:6379", "MOVED 3999 10.0.0.1:6381", "10.0.0.1:6381");
    assert_moved("host:6379", "MOVED 3999 :6381", "host:6381");
    assert_moved("host:6379", "MOVED 3999 ?:6381", "host:6381");
    assert_moved("host", "MOVED 3999 :6381", "host:6381");
    assert_moved("[::1]:6379", "MOVED 3999 :6381", "[::1]:6381");
    assert_moved("host:6379", "MOVED 3999 2001:db8::7:6381", "[2001:db8::7]:6381");
}

/* The same with every version: it does not come from inside of a script. */
static void
plain(void **state)
{
    static const answer answers[] = {
        {"LOADING Redis is loading the dataset in memory", PAWL_UNREACHABLE, true, "still loading"},
        {"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", PAWL_UNREACHABLE,
         true, "busy"},
        {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", PAWL_UNREACHABLE, true,
         "without its master"},
        {"CLUSTERDOWN Hash slot not served", PAWL_UNREACHABLE, true, "cluster that is down"},
        {"MOVED 3999 10.0.0.1:6381", PAWL_UNREACHABLE, true, "10.0.0.1:6381"},
        {"NOAUTH Authentication required.", PAWL_UNREACHABLE, false, "wants a password"},
        {"ERR wrong number of arguments for 'evalsha' command", PAWL_FAILED, false, "wrong number of arguments"},
    };

    (void) state;
    assert_meaning(answers, G_N_ELEMENTS(answers));
}

static void
version_7(void **state)
{
    static const answer answers[] = {
        {"OOM command not allowed when used memory > 'maxmemory'. script: " SHA ", on @user_script:33.", PAWL_FAILED,
         false, "maxmemory"},
        {"READONLY You can't write against a read only replica. script: " SHA ", on @user_script:33.", PAWL_UNREACHABLE,
         true, "replica"},
        {"WRONGTYPE Operation against a key holding the wrong kind of value script: " SHA ", on @user_script:2.",
         PAWL_UNREADABLE, false, "something else"},
        {"NOPERM User x has no permissions to run the 'hset' command script: " SHA ", on @user_script:9.",
         PAWL_UNREACHABLE, false, "rights"},
        {"ERR user_script:12: attempt to index a nil value script: " SHA ", on @user_script:12.", PAWL_FAILED, false,
         "attempt to index"},
    };

    (void) state;
    assert_meaning(answers, G_N_ELEMENTS(answers));
}

/* Texts of luaPushError() and of the error handler in scripting.c of versions 5.0 and 6.0; blanks stand at the end where the
 * server has replaced a line's. */
static void
versions_5_and_6(void **state)
{
#define WRAPPED "ERR Error running script (call to " SHA "): @user_script:33: "
#define TWICE   WRAPPED "@user_script: 33: "
    static const answer answers[] = {
        {TWICE "-OOM command not allowed when used memory > 'maxmemory'.  ", PAWL_FAILED, false, "maxmemory"},
        {TWICE "-READONLY You can't write against a read only replica.  ", PAWL_UNREACHABLE, true, "replica"},
        {TWICE "-MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist on disk.  ",
         PAWL_FAILED, false, "disk"},
        {WRAPPED "WRONGTYPE Operation against a key holding the wrong kind of value ", PAWL_UNREADABLE, false,
         "something else"},
        {TWICE "The user executing the script can't run this command or subcommand ", PAWL_UNREACHABLE, false,
         "rights"},
        {TWICE
         "The user executing the script can't access at least one of the keys mentioned in the command arguments ",
         PAWL_UNREACHABLE, false, "rights"},
        {TWICE "Lua script attempted to execute a write command while the cluster is down and readonly ",
         PAWL_UNREACHABLE, true, "cluster that is down"},
        {TWICE "Lua script attempted to execute a command while the cluster is down ", PAWL_UNREACHABLE, true,
         "cluster that is down"},
        {TWICE "Lua script attempted to access a non local key in a cluster node ", PAWL_UNREACHABLE, true,
         "handing this group over"},
        {WRAPPED "user_script:12: attempt to index a nil value ", PAWL_FAILED, false,
         "answers: user_script:12: attempt to index"},
    };

    (void) state;
    assert_meaning(answers, G_N_ELEMENTS(answers));
}

/* A script that the server has not seen yet is sent in full, and is no error. */
static void
an_unknown_script(void **state)
{
    redisReply reply = {.type = REDIS_REPLY_ERROR, .str = (char *) "NOSCRIPT No matching script. Please use EVAL."};

    (void) state;
    assert_true(pawl__redis_is_error(&reply, "NOSCRIPT"));
    assert_false(pawl__redis_is_error(&reply, "NOSCRIP"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moved),
        cmocka_unit_test(plain),
        cmocka_unit_test(version_7),
        cmocka_unit_test(versions_5_and_6),
        cmocka_unit_test(an_unknown_script),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
