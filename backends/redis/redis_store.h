/*
 * redis_store.h - what the files of the redis: store share
 *
 *     redis_store.c  the table; opening, closing, cancelling
 *     options.c      the URL
 *     link.c         one connection; resolve.c: names, with a deadline
 *     session.c      finding a master that can be relied upon, and beginning to talk to it
 *     server.c       what kind of server is it, and may it be relied upon?
 *     request.c      requests on that connection, and those whose answer was lost
 *     error.c        what a server answers instead, in pawl's words
 *     args.c         the words of a request
 *     script.c       the Lua that runs on the server
 *     entry.c        keys, fields, and the text that is kept beside an offset
 *     read.c         load and list
 *     change.c       lines with guards, as one script
 *     write.c        acquire, release, plan, remove
 *     save.c         save
 *     rollback.c     what this handle saved last, and a server that has lost it
 */
#ifndef PAWL_REDIS_REDIS_STORE_H
#define PAWL_REDIS_REDIS_STORE_H

#include <glib.h>

#include <pawl/sys/store.h>

#include "backends/redis/link.h"

#define PAWL__REDIS_PLACE_SIZE PAWL_ERROR_MESSAGE_SIZE

/* A connection on which an answer was lost, as the server knows it: it is ended there, so that no request is left. */
typedef struct pawl__redis_stray {
    char *run; /* the server's run_id: numbers of connections are its own */
    int64_t connection;
} pawl__redis_stray;

typedef enum pawl__redis_script {
    PAWL__REDIS_LOAD,
    PAWL__REDIS_LIST,
    PAWL__REDIS_SETTLE,
    PAWL__REDIS_ACQUIRE,
    PAWL__REDIS_RELEASE,
    PAWL__REDIS_CHANGE,
    PAWL__REDIS_SAVE,
    PAWL__REDIS_SCRIPTS,
} pawl__redis_script;

typedef struct pawl__redis_store {
    char *url; /* secrets masked */
    const pawl_log *log;

    /* options.c */
    char **addresses; /* "host:port", or one path of a socket */
    char *user;       /* NULL: the default one */
    char *password;   /* NULL: none is asked for */
    char *database;
    int64_t connect_timeout_ms;
    int64_t replicas;
    bool durable;  /* durability=full */
    bool reassert; /* on_rollback=reassert */

    /* session.c */
    int cancel_fd;
    pawl__redis_link link;
    size_t current;         /* the address that is tried first */
    char *elsewhere;        /* where a node of a cluster has sent us; NULL: nowhere */
    int64_t our_connection; /* its number on the server; 0: not known */

    /* server.c */
    bool cluster; /* the server is a node of one */
    bool told;    /* what is worth a warning about the server's settings has been logged */
    char *run;    /* of the server that the link goes to */

    /* request.c */
    pawl__redis_stray stray;

    /* script.c */
    char *hashes[PAWL__REDIS_SCRIPTS];

    /* write.c: our last acquire: the end of a state that it wrote, and its epoch */
    char *owner;
    int64_t epoch;

    /* rollback.c: what this handle saved last; NULL: nothing yet */
    char *saved_group;
    GHashTable *saved;
} pawl__redis_store;

/* ----------------------------------------------------------------------------------------------------- options.c -- */

/* Reads the URL. What it sets is freed by pawl__redis_options_done(). */
pawl_status pawl__redis_options(pawl__redis_store *store, const pawl_store_setup *setup, pawl_error *err);
void pawl__redis_options_done(pawl__redis_store *store);

/* ----------------------------------------------------------------------------------------------------- session.c -- */

/* Sees to it that there is a connection to a master that keeps what it is given. */
pawl_status pawl__redis_session(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err);
void pawl__redis_session_done(pawl__redis_store *store);

/* ------------------------------------------------------------------------------------------------------ server.c -- */

/* Asks it what it is. PAWL_UNREACHABLE: no master. PAWL_FAILED: it throws offsets away by itself. */
pawl_status pawl__redis_look_at_server(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err);

/* ----------------------------------------------------------------------------------------------------- request.c -- */

/*
 * One request on the connection that pawl__redis_session() made. *ret_reply, which the caller frees, may be an error
 * that the server answers: see pawl__redis_fail().
 *
 * For one that writes, PAWL_OUTCOME_UNKNOWN means that the answer was lost. The next session then begins with ending that
 * connection on the server's side, too, so that nothing overtakes the request.
 */
pawl_status pawl__redis_write(pawl__redis_store *store, const GString *request, int64_t deadline_ms,
                              redisReply **ret_reply, pawl_error *err);
pawl_status pawl__redis_read(pawl__redis_store *store, const GString *request, int64_t deadline_ms,
                             redisReply **ret_reply, pawl_error *err);

/* The latter, of these words. */
pawl_status pawl__redis_ask(pawl__redis_store *store, int argc, const char **argv, int64_t deadline_ms,
                            redisReply **ret_reply, pawl_error *err);

/* Asks for what is never refused: an answer that is an error fails. The caller frees *ret_reply. */
pawl_status pawl__redis_request(pawl__redis_store *store, int argc, const char **argv, int64_t deadline_ms,
                                redisReply **ret_reply, pawl_error *err);

/* The same where the answer is of no interest. */
pawl_status pawl__redis_tell(pawl__redis_store *store, int argc, const char **argv, int64_t deadline_ms,
                             pawl_error *err);

/* Has the server end the connection on which an answer was lost, if there is one and this is that server. */
pawl_status pawl__redis_end_stray(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err);

/* Waits until as many replicas as `replicas` asks for have all that was written on this connection. That they have not
 * says nothing of the write itself: PAWL_TIMEOUT. */
pawl_status pawl__redis_wait_replicas(pawl__redis_store *store, int64_t deadline_ms, pawl_error *err);

/* ------------------------------------------------------------------------------------------------------- error.c -- */

/* Whether it is an error that begins with this word. */
bool pawl__redis_is_error(const redisReply *reply, const char *word);

/* Sets the error for an answer that is one, and returns its status. Ends the connection where another server, or a
 * later time, is what helps. */
pawl_status pawl__redis_fail(pawl__redis_store *store, const redisReply *reply, pawl_error *err);

/* An answer of a form that this request does not have. */
pawl_status pawl__redis_strange(const pawl__redis_store *store, pawl_error *err);

/* -------------------------------------------------------------------------------------------------------- args.c -- */

typedef struct pawl__redis_args {
    GString *bytes;
    size_t count;
} pawl__redis_args;

void pawl__redis_args_init(pawl__redis_args *args);
void pawl__redis_args_done(pawl__redis_args *args);
void pawl__redis_args_add(pawl__redis_args *args, const char *text);
void pawl__redis_args_printf(pawl__redis_args *args, const char *format, ...) G_GNUC_PRINTF(2, 3);
void pawl__redis_args_add_number(pawl__redis_args *args, int64_t number); /* never negative */
void pawl__redis_args_add_position(pawl__redis_args *args, pawl_position position);
void pawl__redis_args_add_field(pawl__redis_args *args, pawl_partition partition);

/* A whole request of these words; `rest` may be NULL. The caller frees it. */
GString *pawl__redis_args_request(const pawl__redis_args *first, const pawl__redis_args *rest);

/* ------------------------------------------------------------------------------------------------------ script.c -- */

void pawl__redis_scripts_done(pawl__redis_store *store);

/*
 * Runs a script on a group. *ret_reply, which the caller frees, is an array; its first element tells what it is:
 * "OK" or "LINE". A group whose layout is another is PAWL_UNSUPPORTED. args may be NULL.
 */
pawl_status pawl__redis_run(pawl__redis_store *store, const pawl_store_call *call, pawl__redis_script script,
                            const pawl__redis_args *args, redisReply **ret_reply, pawl_error *err);

/* Of a script with `count` lines: the one that it refused. False: it has written. */
bool pawl__redis_refused(const redisReply *reply, size_t count, size_t *ret_line);

/* ------------------------------------------------------------------------------------------------------- entry.c -- */

/* Keys of a group; the caller frees them. */
char *pawl__redis_offsets_key(const char *group);
char *pawl__redis_states_key(const char *group);

/* The group of a key of either kind, which the caller frees; NULL: it is no key of ours. */
char *pawl__redis_group_of_key(const char *key, bool *ret_has_offsets);

/* Takes a field apart; the topic, cut out of it, is the caller's. False: it is none. */
bool pawl__redis_read_field(const char *field, char **ret_topic, int32_t *ret_number);

void pawl__redis_place(void *self, const char *group, pawl_partition partition, char *text, size_t text_size);

/* Names and prints in a state: blanks, '=' and the like are percent-encoded. The caller frees it. */
char *pawl__redis_escape(const char *text);

/* What is stored for a partition. */
typedef struct pawl__redis_found {
    pawl_entry entry;
    pawl_position written; /* the offset as pawl wrote it last: another one was put there by somebody else */
} pawl__redis_found;

/* Reads the two texts, strings or nil. PAWL_UNREADABLE. */
pawl_status pawl__redis_read_entry(pawl__redis_store *store, const char *group, pawl_partition partition,
                                   const redisReply *offset, const redisReply *state, pawl__redis_found *ret_found,
                                   pawl_error *err);

/* The same of the line that a script refused. */
pawl_status pawl__redis_read_refused(pawl__redis_store *store, const char *group, pawl_partition partition,
                                     const redisReply *reply, pawl__redis_found *ret_found, pawl_error *err);

/* ------------------------------------------------------------------------------------------------------ change.c -- */

/* Lines that an owner changes. */
typedef struct pawl__redis_changes {
    pawl__redis_script script;
    pawl__redis_args args;
    GArray *guards;
} pawl__redis_changes;

/* For one of the scripts CHANGE and SAVE; see there for what the caller adds to the args: before the lines, and behind
 * what each of them has to find. */
void pawl__redis_changes_init(pawl__redis_changes *changes, pawl__redis_script script);

/* Begins a line; topics are borrowed until it runs. */
void pawl__redis_changes_add(pawl__redis_changes *changes, pawl_partition partition, int64_t epoch,
                             pawl_position expected);

/*
 * Sends them, and frees them. PAWL_FENCED, PAWL_CONFLICT, PAWL_UNREADABLE: nothing was written, since line *ret_refused
 * has found *ret_found, as far as that could be read.
 */
pawl_status pawl__redis_changes_run(pawl__redis_store *store, const pawl_store_call *call, pawl__redis_changes *changes,
                                    size_t *ret_refused, pawl__redis_found *ret_found, pawl_error *err);

/* Frees them unsent. */
void pawl__redis_changes_done(pawl__redis_changes *changes);

/* -------------------------------------------------------------------------------------------------------- read.c -- */

pawl_status pawl__redis_load_found(pawl__redis_store *store, const pawl_store_call *call,
                                   const pawl_partition *partitions, size_t count, pawl__redis_found *ret_found,
                                   pawl_group_info *ret_group, pawl_error *err);

pawl_status pawl__redis_load(void *self, const pawl_store_call *call, const pawl_partition *partitions, size_t count,
                             pawl_entry *ret_entries, pawl_group_info *ret_group, pawl_error *err);
pawl_status pawl__redis_read_back(void *self, const pawl_store_call *call, const pawl_partition *partitions,
                                  size_t count, pawl_entry *ret_entries, pawl_error *err);
pawl_status pawl__redis_list(void *self, const pawl_store_call *call, pawl_list_fn fn, void *user, pawl_error *err);

/* ----------------------------------------------------------------------------------------------- write.c, save.c -- */

pawl_status pawl__redis_acquire(void *self, const pawl_store_call *call, const pawl_owner *owner, const char *cluster,
                                pawl_acquire_line *lines, size_t count, pawl_error *err);
pawl_status pawl__redis_release(void *self, const pawl_store_call *call, const pawl_acquire_line *lines, size_t count,
                                pawl_error *err);
pawl_status pawl__redis_plan(void *self, const pawl_store_call *call, const pawl_plan_line *lines, size_t count,
                             pawl_error *err);
pawl_status pawl__redis_remove(void *self, const pawl_store_call *call, const pawl_remove_line *lines, size_t count,
                               pawl_error *err);
pawl_status pawl__redis_save(void *self, const pawl_store_call *call, const pawl_save_line *lines, size_t count,
                             pawl_error *err);

/* ---------------------------------------------------------------------------------------------------- rollback.c -- */

/* After a save; after one whose answer was lost; after a plan that may have been written; after reading back. */
void pawl__redis_remember_saved(pawl__redis_store *store, const char *group, const pawl_save_line *lines, size_t count);
void pawl__redis_remember_in_flight(pawl__redis_store *store, const char *group, const pawl_save_line *lines,
                                    size_t count);
void pawl__redis_remember_planned(pawl__redis_store *store, const char *group, const pawl_plan_line *lines,
                                  size_t count);
void pawl__redis_remember_read(pawl__redis_store *store, const char *group, const pawl_entry *entries, size_t count);
void pawl__redis_forget(pawl__redis_store *store);

/* Whether what was found is older than what this handle saved, and is ours. */
bool pawl__redis_went_back(const pawl__redis_store *store, const char *group, const pawl__redis_found *found);

/*
 * Writes again what the server has lost of these partitions; `lines` are structs that begin with one, `stride` bytes each.
 * Nothing is written where others have changed one of them. With on_rollback=fail PAWL_CONFLICT if it has lost any.
 */
pawl_status pawl__redis_restore(pawl__redis_store *store, const pawl_store_call *call, const void *lines, size_t stride,
                                size_t count, pawl_error *err);

#endif
