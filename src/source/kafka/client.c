/*
 * client.c - librdkafka's client: its properties and its log
 */
#include "source/kafka/kafka.h"

#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "util/clock.h"
#include "util/log.h"

/* What a parsed message costs librdkafka beside its bytes (measured: 2.0.2 on 64 bits). */
#define MESSAGE_COST 400

/* Messages that a quick process function takes in a millisecond, and partitions that cost a millisecond's wait. */
#define QUICK  1000
#define COSTLY 32

/* Kafka 4 does not accept the SCRAM of earlier versions, which send the client's nonce twice (librdkafka#4895). */
#define SCRAM_WITH_KAFKA_4 0x02060100

/* Complaints that say the same again are not logged again for so long. */
#define REPEAT_MS 30000

/* A complaint that has not come again for so long is settled. librdkafka keeps the same one back for up to 30 seconds. */
#define SETTLED_MS 60000

/* -------------------------------------------------------------------------------------------------------- budget -- */

kafka_budget
pawl__kafka_budget(int64_t memory_bytes, int partitions, int lanes)
{
    int64_t share = memory_bytes / (partitions + lanes);

    /*
     * A queue takes messages until it is over a limit, and then what is under way: one fetch of its partition. So half of
     * the share is for the limits. Of these, librdkafka counts values in bytes, and messages by number.
     *
     * One fetch at a time is under way with a broker. When the queues of all that has more to read are full, it is one for
     * the partitions at their end, which waits for news while the full queues run empty. So it may wait for no longer than
     * they last; but a fetch has its cost, which grows with the partitions.
     */
    return (kafka_budget){
        .partitions = partitions,
        .queue_bytes = MAX(share / 2, 1024),
        .queue_messages = MAX(share / 2 / MESSAGE_COST, 100),
        .partition_fetch_bytes = CLAMP(share / 8, 16 * 1024, 1024 * 1024),
        .fetch_bytes = CLAMP(memory_bytes / 8, 1024 * 1024, 50 * 1024 * 1024),
        .fetch_wait_ms = CLAMP(MAX(share / 2 / MESSAGE_COST / QUICK, partitions / COSTLY), 5, 20),
    };
}

/* ----------------------------------------------------------------------------------------------------------- log -- */

static pawl_log_level
level_of(int syslog_level)
{
    if (syslog_level <= LOG_WARNING)
        return PAWL_LOG_WARN; /* librdkafka goes on after its errors; whether the job does is not for it to say */
    return PAWL_LOG_DEBUG;
}

/* True when the complaint is news. */
static bool
remember_complaint(kafka_complaint *complaint, const char *text)
{
    int64_t now = pawl__clock_ms();
    bool news;

    pthread_mutex_lock(&complaint->mutex);
    news = strcmp(complaint->text, text) != 0 || now - complaint->logged_ms >= REPEAT_MS;
    if (news)
        complaint->logged_ms = now;
    complaint->came_ms = now;
    g_strlcpy(complaint->text, text, sizeof complaint->text);
    pthread_mutex_unlock(&complaint->mutex);
    return news;
}

void
pawl__kafka_complain(kafka_complaint *complaint, const char *text)
{
    remember_complaint(complaint, text);
}

void
pawl__kafka_complaint_text(kafka_complaint *complaint, int64_t now_ms, char text[PAWL__KAFKA_COMPLAINT_SIZE])
{
    pthread_mutex_lock(&complaint->mutex);
    g_strlcpy(text, now_ms - complaint->came_ms < SETTLED_MS ? complaint->text : "", PAWL__KAFKA_COMPLAINT_SIZE);
    pthread_mutex_unlock(&complaint->mutex);
}

/* Without "[thrd:...]: " before, and " (after 3ms in state UP, 1 identical error(s) suppressed)" behind. */
static void
strip(const char *text, char stripped[PAWL_ERROR_MESSAGE_SIZE])
{
    const char *message = strstr(text, "]: ");
    char *end;

    g_strlcpy(stripped, message != NULL ? message + 3 : text, PAWL_ERROR_MESSAGE_SIZE);
    end = g_strrstr(stripped, " (after ");
    if (end != NULL)
        *end = '\0';
}

/* On any of librdkafka's threads. */
static void
take_log(const rd_kafka_t *client, int level, const char *facility, const char *text)
{
    const kafka_client_setup *setup = client != NULL ? rd_kafka_opaque(client) : NULL;
    char message[PAWL_ERROR_MESSAGE_SIZE];

    if (setup == NULL)
        return;
    strip(text, message);
    /* A summary of complaints that were there before, or our own closing: they must not take the place of what tells why. */
    if (g_str_has_suffix(message, " brokers are down") || g_str_has_suffix(message, "Broker handle destroyed"))
        return;
    /* A connection for groups, which pawl does not use: it fails where the broker's own does, and sends people astray. */
    if (g_str_has_prefix(message, "GroupCoordinator: "))
        return;
    if (level_of(level) == PAWL_LOG_WARN && !remember_complaint(setup->complaint, message))
        return;
    pawl__log(setup->log, level_of(level), "client", "%s: %s", facility, message);
}

/* ---------------------------------------------------------------------------------------------------- properties -- */

static pawl_status
set(rd_kafka_conf_t *conf, const char *name, const char *value, pawl_error *err)
{
    char why[256];
    rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, name, value, why, sizeof why);

    if (result == RD_KAFKA_CONF_OK)
        return PAWL_OK;
    if (result == RD_KAFKA_CONF_UNKNOWN)
        return pawl_error_set(err, PAWL_INVALID, 0, 0, "kafka.%s: librdkafka %s has no such property", name,
                              rd_kafka_version_str());
    /* Its own words may show the value, which may be a secret. */
    return pawl_error_set(err, PAWL_INVALID, 0, 0, "kafka.%s: librdkafka does not accept this value", name);
}

static pawl_status
set_number(rd_kafka_conf_t *conf, const char *name, int64_t value, pawl_error *err)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long) value);
    return set(conf, name, text, err);
}

/* What a user may override. */
static pawl_status
set_defaults(rd_kafka_conf_t *conf, pawl_error *err)
{
    static const char *const defaults[][2] = {
        {"check.crcs", "true"},
        /* A record of any size that the broker took may come. */
        {"receive.message.max.bytes", "2147483647"},
        {"socket.nagle.disable", "true"},
        /* A broker that is back is found soon. */
        {"reconnect.backoff.ms", "50"},
        {"reconnect.backoff.max.ms", "1000"},
        {"fetch.error.backoff.ms", "100"},
        {"topic.metadata.propagation.max.ms", "1000"},
        /* Partitions that stay with a member are not taken from it while others move. */
        {"partition.assignment.strategy", "cooperative-sticky"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(defaults); i++)
        if (set(conf, defaults[i][0], defaults[i][1], err) != PAWL_OK)
            return err->status;
    return PAWL_OK;
}

static pawl_status
set_users(rd_kafka_conf_t *conf, const GPtrArray *properties, pawl_error *err)
{
    for (guint i = 0; i < properties->len; i += 2) {
        pawl_status status = set(conf, g_ptr_array_index(properties, i), g_ptr_array_index(properties, i + 1), err);

        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

/* What makes ranges exact is not for the user to change: the configuration refuses these by name. */
static pawl_status
set_owned(rd_kafka_conf_t *conf, const kafka_client_setup *setup, pawl_error *err)
{
    const char *const owned[][2] = {
        {"client.id", setup->client_id},
        {"enable.auto.commit", "false"},
        {"enable.auto.offset.store", "false"},
        {"auto.offset.reset", "error"}, /* never jump: an offset out of range is for the planner */
        {"enable.partition.eof", "true"},
        {"isolation.level", setup->read_committed ? "read_committed" : "read_uncommitted"},
    };

    if (setup->group != NULL && set(conf, "group.id", setup->group, err) != PAWL_OK)
        return err->status;
    if (setup->instance_id != NULL && set(conf, "group.instance.id", setup->instance_id, err) != PAWL_OK)
        return err->status;
    if (setup->is_told_of_topics && (set(conf, "topic.metadata.refresh.interval.ms", "-1", err) != PAWL_OK ||
                                     set(conf, "metadata.max.age.ms", "86400000", err) != PAWL_OK))
        return err->status;
    for (size_t i = 0; i < G_N_ELEMENTS(owned); i++)
        if (set(conf, owned[i][0], owned[i][1], err) != PAWL_OK)
            return err->status;
    return PAWL_OK;
}

static pawl_status
set_budget(rd_kafka_conf_t *conf, const kafka_budget *budget, pawl_error *err)
{
    const struct {
        const char *name;
        int64_t value;
    } limits[] = {
        {"queued.max.messages.kbytes", MAX(budget->queue_bytes / 1024, 1)},
        {"queued.min.messages", MIN(budget->queue_messages, 10000000)},
        {"max.partition.fetch.bytes", budget->partition_fetch_bytes},
        {"fetch.max.bytes", budget->fetch_bytes},
        {"fetch.wait.max.ms", budget->fetch_wait_ms},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(limits); i++)
        if (set_number(conf, limits[i].name, limits[i].value, err) != PAWL_OK)
            return err->status;
    return PAWL_OK;
}

/* -------------------------------------------------------------------------------------------------------- client -- */

pawl_status
pawl__kafka_client_new(const kafka_client_setup *setup, const kafka_budget *budget, rd_kafka_t **ret_client,
                       pawl_error *err)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char why[512];
    pawl_error local = {0};
    pawl_error *failure = err != NULL ? err : &local;
    pawl_status status = set_defaults(conf, failure);

    if (status == PAWL_OK)
        status = set_budget(conf, budget, failure);
    if (status == PAWL_OK)
        status = set_users(conf, setup->properties, failure);
    if (status == PAWL_OK)
        status = set_owned(conf, setup, failure);
    if (status == PAWL_OK) {
        rd_kafka_conf_set_log_cb(conf, take_log);
        rd_kafka_conf_set_opaque(conf, (void *) setup);
        rd_kafka_conf_set_events(conf, setup->events);
        if (setup->on_new != NULL)
            rd_kafka_conf_interceptor_add_on_new(conf, "pawl", setup->on_new, setup->on_new_opaque);
        *ret_client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
        if (*ret_client != NULL)
            return PAWL_OK; /* and conf is the client's now */
        status = pawl_error_set(failure, PAWL_INVALID, 0, 0, "librdkafka refuses the kafka.* settings: %s", why);
    }
    rd_kafka_conf_destroy(conf);
    return status;
}

void
pawl__kafka_client_free(rd_kafka_t *client)
{
    if (client != NULL)
        rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

/* What to look at, where librdkafka's own words do not say it. */
static const char *
advice(const char *complaint, bool answered)
{
    if (complaint[0] == '\0')
        return answered ? "" : "; if they are there, they may speak another security.protocol";
    if (strstr(complaint, "SSL routines") != NULL && strstr(complaint, "certificate") == NULL)
        return "; they may not speak TLS, check security.protocol";
    if (strstr(complaint, "certificate verify failed") != NULL && strstr(complaint, "ssl.ca.location") == NULL)
        return "; check ssl.ca.location";
    if (strstr(complaint, "SASL authentication error") == NULL)
        return "";
    if (strstr(complaint, "SCRAM") != NULL && rd_kafka_version() < SCRAM_WITH_KAFKA_4)
        return "; check sasl.username and sasl.password, and whether they are Kafka 4, where SCRAM needs librdkafka "
               "2.6.1";
    return "; check sasl.username and sasl.password";
}

pawl_status
pawl__kafka_unreachable(kafka_source *source, rd_kafka_resp_err_t code, const char *question, pawl_error *err)
{
    char complaint[PAWL__KAFKA_COMPLAINT_SIZE];

    if (atomic_load(&source->cancelled))
        return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "asking the brokers for %s was cancelled", question);
    pawl__kafka_complaint_text(&source->complaint, pawl__clock_ms(), complaint);
    return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, code, "the brokers do not tell %s: %s%s%s%s",
                          question, rd_kafka_err2str(code), complaint[0] != '\0' ? "; " : "", complaint,
                          advice(complaint, source->answered));
}
