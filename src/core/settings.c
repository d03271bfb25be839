/*
 * settings.c - the one table of settings
 *
 * What stands here is what is parsed, what `pawl_config_get` answers, and what pawl-settings(5) says.
 */
#include "core/settings.h"

#include <string.h>

#include <glib.h>

#include "core/settings_special.h"

#define SECOND_MS INT64_C(1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS   (60 * MINUTE_MS)
#define DAY_MS    (24 * HOUR_MS)
#define YEAR_MS   (366 * DAY_MS)
#define MIB       (INT64_C(1) << 20)
#define TIB       (INT64_C(1) << 40)

/* Each in the order of its enum. */
static const char *const loss_choices[] = {"fail", "earliest", "latest", NULL};
static const char *const isolation_choices[] = {"read_committed", "read_uncommitted", NULL};
static const char *const on_error_choices[] = {"stop", "skip", NULL};
static const char *const members_choices[] = {"alone", "group", NULL};
static const char *const mirror_choices[] = {"none", "kafka", NULL};
static const char *const replay_choices[] = {"free", "exact", NULL};

static const pawl__setting table[] = {
    /* ----------------------------------------------------------------------------------------- what is read, and who */
    {
        .name = "group",
        .kind = PAWL__SETTING_TEXT,
        .form = "a name, 1 to 32767 bytes of UTF-8",
        .summary =
            "The name under which offsets are kept. Required. Two jobs with the same group and store share their "
            "offsets, so only one of them can own a partition at a time.",
        .min = 1,
        .max = 32767, /* what fits into a string of Kafka's protocol, where a group may be kept too */
        .field = offsetof(pawl__settings, group),
    },
    {
        .name = "client_id",
        .kind = PAWL__SETTING_TEXT,
        .fallback = "pawl",
        .form = "a name, 1 to 255 bytes of UTF-8",
        .summary = "How this process calls itself to brokers and in the owner's entry of the store. For people.",
        .min = 1,
        .max = 255,
        .field = offsetof(pawl__settings, client_id),
    },
    {
        .name = "topics",
        .kind = PAWL__SETTING_SPECIAL,
        .form = "TOPIC, TOPIC ...",
        .summary =
            "The topics to read, all partitions of each. Partitions that are added later are found and read from "
            "their beginning. Exactly one of topics, topics_pattern and partitions is required; an empty text unsets "
            "what "
            "a program or a file has set before.",
        .parse = pawl__settings_parse_topics,
        .empty_unsets = true,
    },
    {
        .name = "topics_pattern",
        .kind = PAWL__SETTING_SPECIAL,
        .form = "a Perl-compatible regular expression",
        .summary = "Reads every topic whose whole name matches, those made later too, but for Kafka's internal ones.",
        .parse = pawl__settings_parse_topics_pattern,
        .empty_unsets = true,
    },
    {
        .name = "partitions",
        .kind = PAWL__SETTING_SPECIAL,
        .form = "TOPIC:0,1,2 TOPIC:3 ...",
        .summary = "Reads these partitions and no others.",
        .parse = pawl__settings_parse_partitions,
        .empty_unsets = true,
    },
    {
        .name = "members",
        .kind = PAWL__SETTING_CHOICE,
        .fallback = "alone",
        .summary =
            "How partitions are shared among processes. alone: this job reads all that it selects, and the store "
            "fences off whoever had them before. group: the job is a member of Kafka's consumer group of that name, "
            "and reads the partitions that the group assigns to it; they come and go while it runs.",
        .field = offsetof(pawl__settings, members),
        .choices = members_choices,
    },
    {
        .name = "instance_id",
        .kind = PAWL__SETTING_TEXT,
        .form = "a name, 1 to 255 bytes of UTF-8",
        .summary = "Makes this job a static member of its group (KIP-345): its partitions wait for it while it is "
                   "restarted, for as long as kafka.session.timeout.ms. Another job with the same name fences it off.",
        .min = 1,
        .max = 255,
        .field = offsetof(pawl__settings, instance_id),
    },
    {
        .name = "revoke_timeout",
        .kind = PAWL__SETTING_DURATION,
        .fallback = "30s",
        .summary = "How long a batch goes on with partitions that the group takes back. After that their ranges are "
                   "dropped unsaved, and the next member starts them anew. It gets them when the batch is over, in "
                   "which the ranges of other partitions still run to their ends: max_offsets_per_batch bounds that. "
                   "Kafka itself waits for as long as kafka.max.poll.interval.ms.",
        .max = HOUR_MS,
        .field = offsetof(pawl__settings, revoke_timeout_ms),
    },

    /* ------------------------------------------------------------------------------------------ where offsets are kept */
    {
        .name = "store",
        .kind = PAWL__SETTING_SPECIAL,
        .form = "a URL",
        .summary = "The store of the offsets, sqlite:offsets.db for instance. Required.",
        .parse = pawl__settings_parse_store,
    },
    {
        .name = "takeover",
        .kind = PAWL__SETTING_SPECIAL,
        .fallback = "now",
        .form = "now | refuse | idle:DURATION",
        .summary =
            "What to do when a partition has an owner. now: take it, which fences the owner off. refuse: end with "
            "an error; an owner that crashed is then released by starting once with now. idle:DURATION: wait until the "
            "owner has not renewed its entry for that long, then take it, and end with an error as soon as it "
            "renews; two supervised copies then do not fence each other for ever. The duration is 100ms to 1d, "
            "and longer than refresh.interval; with a store that has transactions also longer than a flush may "
            "take, since nothing is renewed inside of one. A store kafka: knows no owners: only now is possible.",
        .parse = pawl__settings_parse_takeover,
    },
    {
        .name = "refresh.interval",
        .kind = PAWL__SETTING_DURATION,
        .fallback = "10s",
        .summary =
            "The owner's entry of each partition in the store is renewed at least this often, also while nothing is "
            "read. Not inside the transaction in which results are flushed: its end renews it. With members = group "
            "and the store kafka: there is nothing to renew.",
        .min = 100,
        .max = HOUR_MS,
        .field = offsetof(pawl__settings, refresh_interval_ms),
    },
    {
        .name = "replay",
        .kind = PAWL__SETTING_CHOICE,
        .fallback = "free",
        .summary =
            "exact: each range is written to the store before it runs, and whoever takes the partition over after "
            "a crash runs exactly that range first. free: the records after the stored offset are cut anew.",
        .field = offsetof(pawl__settings, replay),
        .choices = replay_choices,
    },
    {
        .name = "accept_cluster",
        .kind = PAWL__SETTING_FLAG,
        .fallback = "false",
        .summary = "The store remembers which Kafka cluster its offsets belong to, and a job on another cluster ends "
                   "with an error. true: go on, and let the store remember the new one. Offsets in kafka: are those of "
                   "the cluster that keeps them.",
        .field = offsetof(pawl__settings, accept_cluster),
    },
    {
        .name = "mirror",
        .kind = PAWL__SETTING_CHOICE,
        .fallback = "none",
        .summary =
            "kafka: saved offsets are also committed to Kafka's consumer group of the same name, a little later, so "
            "that every tool that shows lag shows this job. They are for looking at: the job reads only its store, "
            "and when Kafka refuses them it warns and goes on.",
        .field = offsetof(pawl__settings, mirror),
        .choices = mirror_choices,
    },

    /* ------------------------------------------------------------------------------------------------- where to start */
    {
        .name = "start",
        .kind = PAWL__SETTING_SPECIAL,
        .fallback = "earliest",
        .form = "earliest | latest | none | TIME | TOPIC:PARTITION=OFFSET ...",
        .summary = "Where to start in a topic for which nothing is stored; a stored offset always wins. none: end "
                   "with an error. TIME: at the first record that is not older, given as ISO 8601 with Z or an offset, "
                   "or as milliseconds since 1970. TOPIC:PARTITION=OFFSET, several with blanks between: at these "
                   "offsets, and in partitions that are not listed end with an error. A partition that has nothing "
                   "stored while others of its topic have is a new one: it is read from its beginning, unless it is "
                   "listed. In a group (members = group) whose store is kafka: that goes only where a batch of another "
                   "was saved: offsets that were imported, or committed by other programs, do not make the rest new.",
        .parse = pawl__settings_parse_start,
    },
    {
        .name = "on_data_loss",
        .kind = PAWL__SETTING_CHOICE,
        .fallback = "fail",
        .summary =
            "What to do when a stored offset lies below the start of the log or above its end, or when the record "
            "before it is another than it was (the topic was made anew). fail: end with an error. earliest, latest: go "
            "on at the start or at the end of the log; this is logged, with the number of offsets that were lost where "
            "it can be known, which is below the start.",
        .field = offsetof(pawl__settings, on_data_loss),
        .choices = loss_choices,
    },
    {
        .name = "isolation",
        .kind = PAWL__SETTING_CHOICE,
        .fallback = "read_committed",
        .summary =
            "Whether records of transactions that are open or were aborted are read. It goes for ends and lag as "
            "well.",
        .field = offsetof(pawl__settings, isolation),
        .choices = isolation_choices,
    },

    /* ------------------------------------------------------------------------------------------------------- batches */
    {
        .name = "trigger",
        .kind = PAWL__SETTING_SPECIAL,
        .fallback = "continuous",
        .form = "continuous | once | available-now | DURATION",
        .summary =
            "What starts the next batch. continuous: records that are there. DURATION, 1ms to 366d: an interval; "
            "a batch that takes longer is followed by the next at once, and missed ticks do not add up. once: one "
            "batch within the limits, then the job ends. available-now: what is there at the start is read in "
            "batches within the limits, then the job ends.",
        .parse = pawl__settings_parse_trigger,
    },
    {
        .name = "max_offsets_per_batch",
        .kind = PAWL__SETTING_INTEGER,
        .fallback = "0",
        .summary = "The most offsets in one batch, shared among partitions in proportion to their lag. 0: no limit.",
        .max = INT64_MAX,
        .field = offsetof(pawl__settings, max_offsets_per_batch),
    },
    {
        .name = "max_offsets_per_partition",
        .kind = PAWL__SETTING_INTEGER,
        .fallback = "0",
        .summary = "The most offsets of one partition in one batch. 0: no limit.",
        .max = INT64_MAX,
        .field = offsetof(pawl__settings, max_offsets_per_partition),
    },
    {
        .name = "min_offsets_per_batch",
        .kind = PAWL__SETTING_INTEGER,
        .fallback = "0",
        .summary = "With less than this there is no batch yet, until max_trigger_delay has passed. 0: any record is "
                   "enough. once and available-now do not wait.",
        .max = INT64_MAX,
        .field = offsetof(pawl__settings, min_offsets_per_batch),
    },
    {
        .name = "max_trigger_delay",
        .kind = PAWL__SETTING_DURATION,
        .fallback = "15m",
        .summary = "The longest that min_offsets_per_batch holds back records.",
        .min = 1,
        .max = YEAR_MS,
        .field = offsetof(pawl__settings, max_trigger_delay_ms),
    },
    {
        .name = "max_held_batches",
        .kind = PAWL__SETTING_INTEGER,
        .fallback = "100",
        .summary =
            "After this many batches in a row of which a flush function held something back, the next one has to "
            "make everything safe.",
        .min = 1,
        .max = 1000000,
        .field = offsetof(pawl__settings, max_held_batches),
    },

    /* ---------------------------------------------------------------------------------------- threads, memory, finding */
    {
        .name = "parallelism",
        .kind = PAWL__SETTING_INTEGER,
        .fallback = "1",
        .summary = "The threads that process ranges.",
        .min = 1,
        .max = 1024,
        .field = offsetof(pawl__settings, parallelism),
    },
    {
        .name = "open_ranges",
        .kind = PAWL__SETTING_INTEGER,
        .fallback = "0",
        .summary = "The most ranges that are open at once, for programs to which an open range is expensive. 0: all.",
        .max = 1000000,
        .field = offsetof(pawl__settings, open_ranges),
    },
    {
        .name = "fetch.memory",
        .kind = PAWL__SETTING_SIZE,
        .fallback = "256MiB",
        .summary =
            "The memory for records that were fetched and not yet processed, in all. The client's own limits are "
            "derived from it.",
        .min = MIB,
        .max = TIB,
        .field = offsetof(pawl__settings, fetch_memory_bytes),
    },
    {
        .name = "discovery.interval",
        .kind = PAWL__SETTING_DURATION,
        .fallback = "30s",
        .summary = "How often new topics and partitions are looked for.",
        .min = 100,
        .max = DAY_MS,
        .field = offsetof(pawl__settings, discovery_interval_ms),
    },

    /* --------------------------------------------------------------------------------------------------- when it fails */
    {
        .name = "max_retries",
        .kind = PAWL__SETTING_INTEGER,
        .fallback = "3",
        .summary = "How often a range or a flush that asks for it is tried again.",
        .max = 1000,
        .field = offsetof(pawl__settings, max_retries),
    },
    {
        .name = "retry_backoff",
        .kind = PAWL__SETTING_DURATION,
        .fallback = "1s",
        .summary = "The delay before the first retry. It doubles each time, up to 1m, less a random part of at most a "
                   "fifth.",
        .max = HOUR_MS,
        .field = offsetof(pawl__settings, retry_backoff_ms),
    },
    {
        .name = "on_error",
        .kind = PAWL__SETTING_CHOICE,
        .fallback = "stop",
        .summary = "What to do with a range that asks to be tried again (PAWL_RETRY, exit code 75) once more than "
                   "max_retries. stop: end with an error, the batch is not saved. skip: go on without the range; its "
                   "offsets are counted and logged. PAWL_STOP, and any other exit code, ends the job in any case.",
        .field = offsetof(pawl__settings, on_error),
        .choices = on_error_choices,
    },
    {
        .name = "batch_timeout",
        .kind = PAWL__SETTING_DURATION,
        .fallback = "0",
        .summary =
            "A batch that takes longer than this to be fetched and processed ends the job with an error, unsaved. "
            "0: it may take as long as it likes.",
        .max = YEAR_MS,
        .field = offsetof(pawl__settings, batch_timeout_ms),
    },
    {
        .name = "stall_timeout",
        .kind = PAWL__SETTING_DURATION,
        .fallback = "60s",
        .summary =
            "A range of which nothing comes for this long ends the job with an error that names it, and so do brokers "
            "that answer nothing, and a partition without a leader, for this long. A function of the program's that "
            "does not return for this long is warned of, and again after twice the time, four times ...; it is never "
            "broken off.",
        .min = 100,
        .max = DAY_MS,
        .field = offsetof(pawl__settings, stall_timeout_ms),
    },
    {
        .name = "topic_timeout",
        .kind = PAWL__SETTING_DURATION,
        .fallback = "30s",
        .summary = "How long a topic may be missing at the start. 0: not at all.",
        .max = DAY_MS,
        .field = offsetof(pawl__settings, topic_timeout_ms),
    },
    {
        .name = "store_timeout",
        .kind = PAWL__SETTING_DURATION,
        .fallback = "60s",
        .summary =
            "The longest that one call to the store may take, its retries included: a server that is away for less "
            "is waited for, and then the job ends.",
        .min = 100,
        .max = HOUR_MS,
        .field = offsetof(pawl__settings, store_timeout_ms),
    },
    {
        .name = "source_timeout",
        .kind = PAWL__SETTING_DURATION,
        .fallback = "30s",
        .summary = "The longest that one question to the brokers may take.",
        .min = 100,
        .max = HOUR_MS,
        .field = offsetof(pawl__settings, source_timeout_ms),
    },
    {
        .name = "shutdown_timeout",
        .kind = PAWL__SETTING_DURATION,
        .fallback = "30s",
        .summary = "How long a job that is told to stop may take to finish and save its batch. Then the batch is left "
                   "unsaved. 0: it is left unsaved at once.",
        .max = DAY_MS,
        .field = offsetof(pawl__settings, shutdown_timeout_ms),
    },
};

const pawl__setting *
pawl__setting_table(size_t *ret_count)
{
    *ret_count = G_N_ELEMENTS(table);
    return table;
}

const pawl__setting *
pawl__setting_find(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}
