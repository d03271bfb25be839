/*
 * hbase_store.h - what the files of the hbase: store share
 *
 *     hbase_store.c  the table of functions; options, opening, closing, cancelling
 *     http.c         one request to one of the gateways: deadline, cancel, the next gateway
 *     table.c        is HBase's table there, and has it our family? Making it
 *     scan.c         rows out of the gateway's JSON
 *     row.c          what the cells of a group's row mean, read and written
 *     guard.c        a row is changed by a PUT that names the guard it has to find
 *     read.c         load, list, read back
 *     write.c        acquire, plan, save, release, remove
 */
#ifndef PAWL_HBASE_HBASE_STORE_H
#define PAWL_HBASE_HBASE_STORE_H

#include <curl/curl.h>
#include <glib.h>

#include <pawl/sys/store.h>

#define PAWL__HBASE_PLACE_SIZE PAWL_ERROR_MESSAGE_SIZE

/* A token of 128 random bits, in hex. */
#define PAWL__HBASE_TOKEN_SIZE 33

/* What is stored for one partition. */
typedef struct pawl__hbase_line {
    pawl_entry entry; /* the topic of its partition is owned by the line */
    char *unreadable; /* the sentence about a cell that pawl did not write, or NULL */
} pawl__hbase_line;

/* A group's row, as it was under its guard. */
typedef struct pawl__hbase_row {
    char *group;
    char *guard;        /* the token of the last write; "" where pawl has not written yet */
    pawl_status status; /* PAWL_UNSUPPORTED: another layout; PAWL_UNREADABLE: a cell that pawl did not write */
    char *unreadable;   /* the sentence about it, or NULL */
    bool has_layout;
    char cluster[PAWL_CLUSTER_SIZE];
    GHashTable *lines; /* pawl_partition, inside the line, to pawl__hbase_line */
} pawl__hbase_row;

typedef struct pawl__hbase_store {
    const pawl_log *log;
    char *table;
    char *family;
    char *user; /* NULL: none */
    char *password;
    char *ca_file; /* "": the system's */
    bool tls;
    int64_t request_timeout_ms;
    bool nothing_stored; /* opened for reading, and there is no table */

    char **gateways; /* "host:port" */
    guint gateway;   /* the one in use */

    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    char curl_error[CURL_ERROR_SIZE];
    int cancelled; /* atomic */

    /* The row that was read or written last: while its guard is the one in HBase, so is all of it. */
    pawl__hbase_row *row;

    /* The PUT whose answer was lost, or NULL. */
    GString *lost;
    char *lost_group;
} pawl__hbase_store;

/* -------------------------------------------------------------------------------------------------------- http.c -- */

/* The status and the body of an answer; the caller frees the body. */
typedef struct pawl__hbase_answer {
    long code;
    GString *body;
} pawl__hbase_answer;

/* Makes ready to ask. */
pawl_status pawl__hbase_http_init(pawl__hbase_store *store, pawl_error *err);
void pawl__hbase_http_done(pawl__hbase_store *store);

/*
 * Asks one of the gateways for what is at "/path": a GET, or a PUT where there is a body. A GET goes to the next gateway
 * when one fails; a PUT does as long as none of it was sent.
 *
 * PAWL_OK: an answer that says something about the request; its code is for the caller. PAWL_OUTCOME_UNKNOWN: a PUT
 * whose answer was lost, or says that HBase failed. PAWL_UNREACHABLE, PAWL_TIMEOUT, PAWL_CANCELLED, PAWL_FAILED.
 */
pawl_status pawl__hbase_ask(pawl__hbase_store *store, int64_t deadline_ms, const char *path, const GString *body,
                            pawl__hbase_answer *ret_answer, pawl_error *err);

/* The error for an answer whose code the caller has no use for. */
pawl_status pawl__hbase_unexpected(const pawl__hbase_store *store, const pawl__hbase_answer *answer, pawl_error *err);

/* Waits that long, or until cancel. PAWL_TIMEOUT: the deadline comes first, and nothing was waited for. */
pawl_status pawl__hbase_pause(pawl__hbase_store *store, int64_t pause_ms, int64_t deadline_ms, pawl_error *err);

/* ------------------------------------------------------------------------------------------------------- table.c -- */

/* Makes sure that the table is there and has the family; makes it where `create`. */
pawl_status pawl__hbase_table_open(pawl__hbase_store *store, int64_t deadline_ms, bool create, bool read_only,
                                   pawl_error *err);

/* The error when the gateway says that there is no such table, or no such family. */
pawl_status pawl__hbase_table_missing(const pawl__hbase_store *store, pawl_error *err);

/* -------------------------------------------------------------------------------------------------------- scan.c -- */

typedef struct pawl__hbase_cell {
    char *column; /* "o:flights:3" */
    char *value;  /* any bytes, with a NUL behind them */
    size_t size;
} pawl__hbase_cell;

typedef struct pawl__hbase_cells {
    GString *key;
    GArray *cells; /* pawl__hbase_cell */
} pawl__hbase_cells;

/* Takes a row; both borrowed. */
typedef void (*pawl__hbase_row_fn)(void *user, const pawl__hbase_cells *row);

/* Tells the rows from the key `from` on, `end` excluded (NULL: up to the last one), at most `limit` of them. */
pawl_status pawl__hbase_scan(pawl__hbase_store *store, int64_t deadline_ms, const GString *from, const GString *end,
                             int limit, pawl__hbase_row_fn fn, void *user, pawl_error *err);

/* --------------------------------------------------------------------------------------------------------- row.c -- */

void pawl__hbase_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size);

pawl__hbase_row *pawl__hbase_row_new(const char *group);
void pawl__hbase_row_free(pawl__hbase_row *row);

/* Fills in a new row. */
void pawl__hbase_row_read(pawl__hbase_store *store, pawl__hbase_row *row, const pawl__hbase_cells *cells);

/* Whether the line says more than which epochs there were. */
bool pawl__hbase_line_is_listed(const pawl__hbase_line *line);

/* What is stored for a partition: zeros where nothing is. PAWL_UNREADABLE: something else than pawl writes. */
pawl_status pawl__hbase_row_entry(const pawl__hbase_row *row, pawl_partition partition, pawl_entry *ret_entry,
                                  pawl_error *err);

/* Puts an entry in the place of the one that is there. */
void pawl__hbase_row_set(pawl__hbase_row *row, const pawl_entry *entry);

/* The body of a PUT: begun, filled with cells, and ended with the guard, old and new. The caller frees it. */
GString *pawl__hbase_put_begin(const char *group);
void pawl__hbase_put_cell(const pawl__hbase_store *store, GString *put, const char *column, const char *value);
void pawl__hbase_put_end(const pawl__hbase_store *store, GString *put, const char *new_guard, const char *old_guard);

/* Adds the cells in which two entries for the same partition differ. */
void pawl__hbase_put_entry(const pawl__hbase_store *store, GString *put, const pawl_entry *before,
                           const pawl_entry *after);

/* Adds what a row says of itself, where it does not say so yet. */
void pawl__hbase_put_group(const pawl__hbase_store *store, GString *put, const pawl__hbase_row *row,
                           const char *cluster);

/* ------------------------------------------------------------------------------------------------------- guard.c -- */

/* A change of some lines of a row. */
typedef struct pawl__hbase_change {
    const pawl_store_call *call;
    size_t count;
    pawl_partition (*partition)(const struct pawl__hbase_change *change, size_t i);

    /* Checks the entry that is stored against line i and makes of it what shall be stored. A failure is told without
     * a place when `place` is NULL, since most checks succeed. */
    pawl_status (*line)(const struct pawl__hbase_change *change, size_t i, pawl_entry *entry, const char *place,
                        pawl_error *err);

    union {
        const pawl_acquire_line *acquire; /* of release, too */
        const pawl_plan_line *plan;
        const pawl_save_line *save;
        const pawl_remove_line *remove;
    } lines;
    const pawl_owner *owner; /* of acquire */
    const char *cluster;
    int64_t now_ms;      /* wall clock */
    bool may_be_nothing; /* of release: on a row just read, lines that change nothing are not written */
} pawl__hbase_change;

/* Reads the row of a group into store->row. PAWL_UNSUPPORTED: a newer layout. PAWL_UNREADABLE. */
pawl_status pawl__hbase_row_load(pawl__hbase_store *store, const char *group, int64_t deadline_ms, pawl_error *err);

/* Writes the change, all of it or nothing. */
pawl_status pawl__hbase_write(pawl__hbase_store *store, const pawl__hbase_change *change, pawl_error *err);

/* Sends the PUT of this group whose answer was lost once more: afterwards no copy of it can be applied any more. */
pawl_status pawl__hbase_settle(pawl__hbase_store *store, const pawl_store_call *call, pawl_error *err);

/* ---------------------------------------------------------------------------------------------- read.c, write.c -- */

pawl_status pawl__hbase_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                             pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err);
pawl_status pawl__hbase_read_back(void *self, const pawl_store_call *call, const pawl_partition *partitions,
                                  size_t count, pawl_entry *ret_entries, pawl_error *err);
pawl_status pawl__hbase_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err);

pawl_status pawl__hbase_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
                                pawl_acquire_line *lines, size_t count, pawl_error *err);
pawl_status pawl__hbase_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count,
                             pawl_error *err);
pawl_status pawl__hbase_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
                             pawl_error *err);
pawl_status pawl__hbase_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count,
                                pawl_error *err);
pawl_status pawl__hbase_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count,
                               pawl_error *err);

#endif
