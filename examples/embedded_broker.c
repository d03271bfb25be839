/*
 * embedded_broker.c - runs a command beside a small broker that lives in this process
 *
 *     embedded_broker TOPIC:PARTITIONS ... -- COMMAND [ARGUMENT ...]
 *
 * The command finds the broker's address in KAFKA_BROKERS. The broker ends with the command, and the exit code is the
 * command's.
 *
 * It is librdkafka's mock cluster: Kafka's protocol, in memory. Good for a first look; no stand-in for Kafka. It forgets
 * everything at its end, keeps about 5 MB a partition, and does not commit offsets within transactions.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

extern char **environ;

static pid_t command_pid;

/* Makes the topic that "NAME:PARTITIONS" asks for. */
static bool
create_topic(rd_kafka_mock_cluster_t *cluster, const char *text)
{
    const char *colon = strrchr(text, ':');
    int partitions = colon != NULL ? atoi(colon + 1) : 0;

    if (partitions < 1) {
        fprintf(stderr, "embedded_broker: \"%s\" is not TOPIC:PARTITIONS\n", text);
        return false;
    }
    char *name = strndup(text, (size_t) (colon - text));
    rd_kafka_resp_err_t rc = rd_kafka_mock_topic_create(cluster, name, partitions, 1);
    if (rc != RD_KAFKA_RESP_ERR_NO_ERROR)
        fprintf(stderr, "embedded_broker: topic %s: %s\n", name, rd_kafka_err2str(rc));
    free(name);
    return rc == RD_KAFKA_RESP_ERR_NO_ERROR;
}

static void
pass_on(int number)
{
    kill(command_pid, number);
}

/* Runs the command to its end. Returns its exit code, as a shell would. */
static int
run_command(char **command)
{
    int rc = posix_spawnp(&command_pid, command[0], NULL, NULL, command, environ);
    int status;

    if (rc != 0) {
        fprintf(stderr, "embedded_broker: %s: %s\n", command[0], strerror(rc));
        return 127;
    }
    signal(SIGTERM, pass_on);
    signal(SIGINT, SIG_IGN); /* from a terminal the command gets its own */
    while (waitpid(command_pid, &status, 0) == -1 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Finds the "--" before the command; 0 when there is no command. */
static int
find_command(int argc, char **argv)
{
    for (int i = 1; i < argc - 1; i++)
        if (strcmp(argv[i], "--") == 0)
            return i + 1;
    return 0;
}

int
main(int argc, char **argv)
{
    int command = find_command(argc, argv);
    char text[512];
    int exit_code = 1;

    if (command == 0) {
        fprintf(stderr, "usage: %s TOPIC:PARTITIONS ... -- COMMAND [ARGUMENT ...]\n", argv[0]);
        return 2;
    }

    /* The cluster belongs to a client, which does nothing else here. */
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "log_level", "3", NULL, 0); /* else it warns that this client has no brokers */
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    rd_kafka_mock_cluster_t *cluster = client != NULL ? rd_kafka_mock_cluster_new(client, 1) : NULL;
    if (cluster == NULL) {
        fprintf(stderr, "embedded_broker: cannot start\n");
        return 1;
    }

    bool ok = true;
    for (int i = 1; ok && i < command - 1; i++)
        ok = create_topic(cluster, argv[i]);
    if (ok) {
        setenv("KAFKA_BROKERS", rd_kafka_mock_cluster_bootstraps(cluster), 1);
        exit_code = run_command(argv + command);
    }
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(client);
    return exit_code;
}
