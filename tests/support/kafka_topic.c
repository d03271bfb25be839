/*
 * kafka_topic.c - makes topics and records for tests that are not in C
 *
 *     kafka_topic < COMMANDS     # with the broker that PAWL_TEST_BROKERS and PAWL_TEST_KAFKA_CONFIG name
 *
 * A line is a command, with blanks between its words, and is answered with a line "done" when it is:
 *
 *     make TOPIC PARTITIONS
 *     grow TOPIC PARTITIONS                                      # it has so many of them now
 *     put TOPIC PARTITION TIMESTAMP KEY VALUE [NAME=VALUE ...]   # "-" is null; \n, \\ and \377 in words are escapes
 *     fill TOPIC PARTITION COUNT
 *     count TOPIC PARTITIONS FIRST AFTER                         # the numbers from FIRST on, one partition after the other
 *     trim TOPIC PARTITION BEFORE                                # moves the start of the log
 *     hold TOPIC PARTITION COUNT                                 # in a transaction that stays open until the input ends
 *     allow USER topic|group NAME Read|Describe                  # on a secured broker
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/kafka_fixture.h"

static rd_kafka_t *plain;
static rd_kafka_t *transactional;

static void
make(char **words)
{
    /* Records may be as old as a test likes. */
    const char *const config[] = {"retention.ms", "-1", NULL};

    kafka_fixture_make_named(words[0], atoi(words[1]), config);
}

static void
grow(char **words)
{
    kafka_fixture_add_partitions(words[0], atoi(words[1]));
}

/* The headers of a record out of words NAME=VALUE, or NULL. */
static rd_kafka_headers_t *
headers_of(char **words)
{
    rd_kafka_headers_t *headers = words[0] != NULL ? rd_kafka_headers_new(4) : NULL;

    for (; *words != NULL; words++) {
        char **pair = g_strsplit(*words, "=", 2);

        rd_kafka_header_add(headers, pair[0], -1, pair[1], -1);
        g_strfreev(pair);
    }
    return headers;
}

/* The bytes that a word stands for, or NULL. The caller frees them. */
static char *
bytes_of(const char *word)
{
    return strcmp(word, "-") == 0 ? NULL : g_strcompress(word);
}

static void
put(char **words)
{
    char *key = bytes_of(words[3]), *value = bytes_of(words[4]);

    kafka_fixture_send(plain, words[0], atoi(words[1]), key, key != NULL ? strlen(key) : 0, value,
                       value != NULL ? strlen(value) : 0, headers_of(words + 5), g_ascii_strtoll(words[2], NULL, 10));
    kafka_fixture_flush(plain);
    g_free(key);
    g_free(value);
}

static void
fill(char **words)
{
    kafka_fixture_fill(words[0], atoi(words[1]), atoi(words[2]));
}

/* The producer has to be new, since the topic may have grown. */
static void
count(char **words)
{
    rd_kafka_t *producer = kafka_fixture_producer(NULL);
    int partitions = atoi(words[1]), after = atoi(words[3]);

    for (int number = atoi(words[2]); number < after; number++) {
        char value[16];
        int size = g_snprintf(value, sizeof value, "%d", number);

        kafka_fixture_send(producer, words[0], number % partitions, NULL, 0, value, (size_t) size, NULL, 0);
    }
    kafka_fixture_flush(producer);
    rd_kafka_destroy(producer);
}

static void
trim(char **words)
{
    kafka_fixture_delete_records(words[0], atoi(words[1]), g_ascii_strtoll(words[2], NULL, 10));
}

static void
hold(char **words)
{
    if (transactional == NULL)
        transactional = kafka_fixture_transactional("none");
    kafka_fixture_begin(transactional);
    kafka_fixture_send_many(transactional, words[0], atoi(words[1]), NULL, atoi(words[2]));
    kafka_fixture_flush(transactional);
}

static void
allow(char **words)
{
    bool reads = strcmp(words[3], "Read") == 0;

    kafka_fixture_allow(words[0], strcmp(words[1], "group") == 0 ? RD_KAFKA_RESOURCE_GROUP : RD_KAFKA_RESOURCE_TOPIC,
                        words[2], reads ? RD_KAFKA_ACL_OPERATION_READ : RD_KAFKA_ACL_OPERATION_DESCRIBE);
}

static const struct {
    const char *name;
    guint words; /* at least */
    void (*run)(char **words);
} commands[] = {
    {"make", 2, make},   {"grow", 2, grow}, {"put", 5, put},   {"fill", 3, fill},
    {"count", 4, count}, {"trim", 3, trim}, {"hold", 3, hold}, {"allow", 4, allow},
};

static bool
run(const char *line)
{
    char **words = g_strsplit(line, " ", -1);
    bool known = false;

    for (size_t i = 0; i < G_N_ELEMENTS(commands) && !known; i++) {
        known = strcmp(words[0], commands[i].name) == 0 && g_strv_length(words) > commands[i].words;
        if (known)
            commands[i].run(words + 1);
    }
    g_strfreev(words);
    return known;
}

int
main(void)
{
    char *line = NULL;
    size_t room = 0;
    bool ok = kafka_fixture_brokers() != NULL;

    if (!ok)
        return 2;
    plain = kafka_fixture_producer(NULL);
    while (ok && getline(&line, &room, stdin) > 0) {
        line[strcspn(line, "\n")] = '\0';
        ok = run(line);
        puts(ok ? "done" : "what?");
        fflush(stdout);
    }
    free(line);
    rd_kafka_destroy(plain);
    if (transactional != NULL) {
        kafka_fixture_abort(transactional);
        rd_kafka_destroy(transactional);
    }
    kafka_fixture_done();
    return ok ? 0 : 2;
}
