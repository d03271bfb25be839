/*
 * sys/source.h - for those who write a source
 *
 * A source knows partitions, tells the bounds of their logs, and reads exact ranges of them. Two kinds of threads call
 * it: the loop (discover, bounds, hold ...) and the workers, each of which has a lane of its own and takes records out of
 * it. The loop gives a range to a lane only while no batch of that partition is open, so a tap has one user at a time.
 *
 *     source -- one per job
 *       tap  -- one per partition held: remembers what was read ahead
 *       lane -- one per worker: delivers the records of the ranges that are open on it, as they arrive
 */
#ifndef PAWL_SYS_SOURCE_H
#define PAWL_SYS_SOURCE_H

#include <pawl/batch.h>
#include <pawl/error.h>
#include <pawl/log.h>
#include <pawl/offsets.h>

PAWL_BEGIN_DECLS

#define PAWL_SOURCE_ABI 1u

typedef struct pawl_source_tap pawl_source_tap;
typedef struct pawl_source_lane pawl_source_lane;

/* How a source gets at the rest of a record. */
struct pawl_record_ops {
    bool (*header)(const pawl_record *record, size_t index, pawl_header *ret_header);
};

/* A source that is a member of a group. */
typedef struct pawl_source_group {
    const char *instance_id;     /* of a static member, or NULL */
    void (*changed)(void *user); /* on any thread, once it has subscribed: look at assigned and revoked */
    void *user;
} pawl_source_group;

/* A member of a group, to whoever saves as one. */
typedef struct pawl_source_member {
    /* Native: rd_kafka_t *. There may be another one later; each is good until the source is closed. Any thread. */
    void *(*client)(const struct pawl_source_member *member);
    /* Waits until the group is through with a rebalance that this member takes part in, or may be about to: what is saved
     * meanwhile may have an old generation, and be refused. False: the deadline passed first. Any thread. */
    bool (*await_generation)(const struct pawl_source_member *member, int64_t deadline_ms);
} pawl_source_member;

/* What open gets; borrowed until open returns, but for `log`, which lives as long as the source. */
typedef struct pawl_source_setup {
    const char *group;
    const char *client_id;
    const char *const *topics;        /* NULL-terminated, or NULL */
    const char *topics_pattern;       /* a regular expression, or NULL */
    const pawl_partition *partitions; /* explicit ones */
    size_t partition_count;
    bool read_committed; /* else uncommitted records are read, and ends and lag count them */
    int64_t memory_bytes;
    int64_t stall_timeout_ms;
    int lanes;
    const pawl_source_group *group_member; /* members = group; NULL: alone */
    const pawl_log *log;
    /* Calls fn for each property that is passed through ("kafka.NAME" without the prefix). */
    void (*properties)(const struct pawl_source_setup *setup,
                       void (*fn)(void *user, const char *name, const char *value), void *user);
    const void *_properties;
} pawl_source_setup;

/* The bounds of one log. */
typedef struct pawl_bounds_line {
    pawl_partition partition;
    int64_t ret_low;        /* the first offset there is */
    int64_t ret_high;       /* one past the last that may be read at the source's isolation */
    pawl_status ret_status; /* PAWL_OK, or why this one could not be asked: PAWL_UNREACHABLE, or PAWL_FAILED when the
                             * partition does not exist (any more) */
    const char *ret_why;    /* if not: a few words for people, which stay; or NULL */
} pawl_bounds_line;

/* One offset by time. */
typedef struct pawl_time_line {
    pawl_partition partition;
    int64_t ret_offset;  /* the first whose timestamp is at or after the time asked for; the end when there is none */
    bool ret_none_after; /* whether there was none */
} pawl_time_line;

/* A partition to read from now on. */
typedef struct pawl_hold_line {
    pawl_partition partition;
    int64_t position;
    pawl_source_tap *ret_tap;
} pawl_hold_line;

typedef enum pawl_delivery_kind {
    PAWL_DELIVERY_NONE,    /* the deadline passed, or wake was called */
    PAWL_DELIVERY_RECORDS, /* the next records of a range */
    PAWL_DELIVERY_END,     /* all records of a range were delivered; it is shut */
    PAWL_DELIVERY_FAILED,  /* the range cannot be read; it is shut, and `err` says why */
} pawl_delivery_kind;

/* What a lane gives. */
typedef struct pawl_delivery {
    pawl_delivery_kind kind;
    void *cookie;               /* as given to range_open */
    const pawl_record *records; /* borrowed until the next call of `next` on this lane */
    size_t count;
    pawl_error err; /* FAILED: PAWL_DATA_LOSS (the range is out of the log's bounds), PAWL_STALLED, PAWL_FAILED */
} pawl_delivery;

typedef struct pawl_source_backend {
    uint32_t abi; /* PAWL_SOURCE_ABI */
    const char *name;
    size_t instance_size;

    /* Makes ready; need not have connected when it returns. close copes with what is half-open, ends all threads. */
    pawl_status (*open)(void *self, const pawl_source_setup *setup, pawl_error *err);
    void (*close)(void *self);

    /* ---- the loop's thread; each call returns within a second of its deadline, and soon after cancel. */

    /* The id of the cluster; "" when it has none. */
    pawl_status (*cluster)(void *self, int64_t deadline_ms, char *ret_id, size_t size, pawl_error *err);

    /* Calls found for every partition that is selected and exists now; the topic is borrowed. A topic that does not
     * exist is simply not there. Every topic that was asked for by name and has none is told by `missing`. */
    pawl_status (*discover)(void *self, int64_t deadline_ms, void (*found)(void *user, pawl_partition partition),
                            void (*missing)(void *user, const char *topic), void *user, pawl_error *err);

    /* Bounds of many logs, in one question a broker. Fails only when nothing could be asked at all. */
    pawl_status (*bounds)(void *self, int64_t deadline_ms, pawl_bounds_line *lines, size_t count, pawl_error *err);

    /* Like bounds, but ret_high is the end of the log whatever the isolation. */
    pawl_status (*log_end)(void *self, int64_t deadline_ms, pawl_bounds_line *lines, size_t count, pawl_error *err);

    /* The first offsets at or after a time. */
    pawl_status (*at_time)(void *self, int64_t deadline_ms, int64_t time_ms, pawl_time_line *lines, size_t count,
                           pawl_error *err);

    /* Starts and ends to read partitions. The next range of a held one starts at its position. */
    pawl_status (*hold)(void *self, pawl_hold_line *lines, size_t count, pawl_error *err);
    void (*unhold)(void *self, pawl_source_tap *const *taps, size_t count);

    /* The lane of worker number `index`; owned by the source. */
    pawl_source_lane *(*lane)(void *self, int index);

    /*
     * ---- members = group, the loop's thread; all NULL where a source knows no groups.
     *
     * The group assigns partitions to its members, and takes them back. What it takes back goes to nobody else until this
     * member has let go of it, unless it was lost.
     */

    /* Joins the group, or tells it that there are more topics now, or more partitions of them. Called again and again: does
     * nothing when they are as many as before. PAWL_UNREACHABLE: the brokers do not answer, nothing was done. */
    pawl_status (*subscribe)(void *self, const char *const *topics, size_t partitions, pawl_error *err);

    /* Calls found for each partition that is assigned, but for those that are revoked. False: the group is about to assign
     * more, as far as this member can tell. */
    bool (*assigned)(void *self, void (*found)(void *user, pawl_partition partition), void *user);

    /*
     * Calls found for each partition that has to be given back. `lost`: it belongs to somebody else already, so nothing of
     * it may be saved. PAWL_FENCED, PAWL_FAILED: this is no member any more.
     */
    pawl_status (*revoked)(void *self, void (*found)(void *user, pawl_partition partition, bool lost), void *user,
                           pawl_error *err);

    /* Gives back what `revoked` has told. */
    void (*let_go)(void *self);

    /* Leaves the group; without waiting for anybody when the source was cancelled. `changed` is not called any more. */
    void (*unsubscribe)(void *self);

    /* The member, for a store that saves as one; borrowed until the source is closed. NULL: there is none. */
    const pawl_source_member *(*member)(void *self);

    /* ---- any thread */

    /* Makes `next` return on all lanes. */
    void (*wake)(void *self);

    /* Makes the loop's calls return PAWL_CANCELLED. */
    void (*cancel)(void *self);

    /* ---- the thread of the lane */

    /*
     * Opens [from, until) of a tap on this lane: its records come out of `next` from now on. Records of a tap come in
     * one order for ever, so `from` is where its last range ended, or where it was held, or what rewind said.
     */
    void (*range_open)(pawl_source_lane *lane, pawl_source_tap *tap, int64_t from, int64_t until, void *cookie);

    /* Shuts a range before its end. What was read ahead stays with the tap. */
    void (*range_shut)(pawl_source_lane *lane, pawl_source_tap *tap);

    /* Forgets what was read ahead: the next range starts at `offset`. The tap is shut. */
    pawl_status (*rewind)(pawl_source_lane *lane, pawl_source_tap *tap, int64_t offset, pawl_error *err);

    /* Waits for the next delivery. Everything borrowed from the delivery before is given back. */
    void (*next)(pawl_source_lane *lane, int64_t deadline_ms, pawl_delivery *ret_delivery);

    /* No range is open on this lane: gives back what `next` lent, and lets its taps go to other lanes. */
    void (*settle)(pawl_source_lane *lane);
} pawl_source_backend;

PAWL_END_DECLS

#endif
