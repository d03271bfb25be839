/*
 * guard.c - a row is changed by a PUT that names the guard it has to find
 *
 * Each write puts a fresh random token into the row's guard, and HBase applies it only where it finds the token that the
 * row had when we read or wrote it last. So a row in our memory is as good as the one in HBase until a PUT is refused, and
 * an ordinary save is one request. What is random cannot come back: a copy of a PUT that arrives late is refused.
 *
 * All members of a group change one row, each its own lines. Whoever is refused reads the row and, if the own lines are
 * as they should be, tries again after a random pause.
 */
#include "backends/hbase/hbase_store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "util/error.h"

#define LONGEST_KEY      10000 /* escaped twice in a URL, it still fits into what a gateway takes: 64 KiB */
#define FIRST_PAUSE_MS   4
#define LONGEST_PAUSE_MS 128

/* -------------------------------------------------------------------------------------------- the row in our memory -- */

static void
forget_row(pawl__hbase_store *store)
{
    pawl__hbase_row_free(g_steal_pointer(&store->row));
}

static bool
has_row(const pawl__hbase_store *store, const char *group)
{
    return store->row != NULL && strcmp(store->row->group, group) == 0;
}

/* What a scan for one row needs. */
typedef struct one_row {
    pawl__hbase_store *store;
    const GString *key;
    pawl__hbase_row *row;
} one_row;

static void
take_row(void *user, const pawl__hbase_cells *cells)
{
    one_row *one = user;

    if (g_string_equal(cells->key, one->key))
        pawl__hbase_row_read(one->store, one->row, cells);
}

pawl_status
pawl__hbase_row_load(pawl__hbase_store *store, const char *group, int64_t deadline_ms, pawl_error *err)
{
    GString *key = g_string_new(group), *end = g_string_new(group);
    one_row one = {.store = store, .key = key, .row = pawl__hbase_row_new(group)};
    pawl_status status = PAWL_OK;

    forget_row(store);
    g_string_append_c(end, '\0');
    if (key->len > LONGEST_KEY)
        status = pawl_error_set(err, PAWL_INVALID, 0, 0, "a group's name of %zu bytes: a row in HBase takes %d",
                                (size_t) key->len, LONGEST_KEY);
    else if (!store->nothing_stored)
        status = pawl__hbase_scan(store, deadline_ms, key, end, 1, take_row, &one, err);
    if (status == PAWL_OK && one.row->status != PAWL_OK)
        status = pawl_error_set(err, one.row->status, 0, 0, "%s", one.row->unreadable);
    if (status == PAWL_OK)
        store->row = g_steal_pointer(&one.row);
    pawl__hbase_row_free(one.row);
    g_string_free(end, TRUE);
    g_string_free(key, TRUE);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- one attempt -- */

static pawl_status
make_token(char token[PAWL__HBASE_TOKEN_SIZE], pawl_error *err)
{
    unsigned char bytes[(PAWL__HBASE_TOKEN_SIZE - 1) / 2];

    /* So few bytes come whole. */
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t) sizeof bytes)
        return pawl_error_set(err, PAWL_FAILED, 0, errno, "the system has no random numbers: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return PAWL_OK;
}

/* Checks line i against the row, and adds to the PUT what changes. */
static pawl_status
change_line(pawl__hbase_store *store, const pawl__hbase_change *change, size_t i, GString *put, pawl_entry *ret_after,
            pawl_error *err)
{
    pawl_partition partition = change->partition(change, i);
    char place[PAWL__HBASE_PLACE_SIZE];
    pawl_entry before;
    pawl_status status = pawl__hbase_row_entry(store->row, partition, &before, err);

    if (status != PAWL_OK)
        return status;
    *ret_after = before;
    if (change->line(change, i, ret_after, NULL, NULL) == PAWL_OK) {
        pawl__hbase_put_entry(store, put, &before, ret_after);
        return PAWL_OK;
    }
    pawl__hbase_place(store, change->call->group, partition, place, sizeof place);
    return change->line(change, i, ret_after, place, err);
}

/* Makes the PUT out of the row in our memory, and the entries as they will be. *ret_put is NULL when nothing changes
 * and nothing has to. */
static pawl_status
make_put(pawl__hbase_store *store, const pawl__hbase_change *change, const char *token, GString **ret_put,
         pawl_entry *ret_after, pawl_error *err)
{
    GString *put = pawl__hbase_put_begin(change->call->group);
    pawl_status status = PAWL_OK;
    gsize begun;

    pawl__hbase_put_group(store, put, store->row, change->cluster);
    begun = put->len;
    for (size_t i = 0; i < change->count && status == PAWL_OK; i++)
        status = change_line(store, change, i, put, &ret_after[i], err);
    if (status == PAWL_OK && (put->len > begun || !change->may_be_nothing)) {
        pawl__hbase_put_end(store, put, token, store->row->guard);
        *ret_put = put;
    } else {
        g_string_free(put, TRUE);
    }
    return status;
}

/* The row in our memory becomes what HBase has now. */
static void
keep_row(pawl__hbase_store *store, const pawl__hbase_change *change, const char *token, const pawl_entry *after)
{
    pawl__hbase_row *row = store->row;

    g_free(row->guard);
    row->guard = g_strdup(token);
    row->has_layout = true;
    if (change->cluster != NULL && change->cluster[0] != '\0')
        g_strlcpy(row->cluster, change->cluster, sizeof row->cluster);
    for (size_t i = 0; i < change->count; i++)
        pawl__hbase_row_set(row, &after[i]);
}

/* Sends a PUT. *ret_refused: the guard is another one. */
static pawl_status
send_put(pawl__hbase_store *store, int64_t deadline_ms, const GString *put, bool *ret_refused, pawl_error *err)
{
    char *path = g_strdup_printf("%s/row?check=put", store->table); /* which row is said in the PUT */
    pawl__hbase_answer answer;
    pawl_status status = pawl__hbase_ask(store, deadline_ms, path, put, &answer, err);

    g_free(path);
    if (status != PAWL_OK)
        return status;
    *ret_refused = answer.code == 304;
    if (answer.code == 404)
        status = pawl__hbase_table_missing(store, err);
    else if (answer.code != 200 && answer.code != 304)
        status = pawl__hbase_unexpected(store, &answer, err);
    g_string_free(answer.body, TRUE);
    return status;
}

/* Writes the change to the row as it is in our memory. *ret_refused: HBase has another one. */
static pawl_status
try_change(pawl__hbase_store *store, const pawl__hbase_change *change, bool *ret_refused, pawl_error *err)
{
    pawl_entry *after = g_new(pawl_entry, change->count);
    char token[PAWL__HBASE_TOKEN_SIZE];
    GString *put = NULL;
    pawl_status status = make_token(token, err);

    if (status == PAWL_OK)
        status = make_put(store, change, token, &put, after, err);
    if (status == PAWL_OK && put != NULL)
        status = send_put(store, change->call->deadline_ms, put, ret_refused, err);
    if (status == PAWL_OK && put != NULL && !*ret_refused)
        keep_row(store, change, token, after);
    else
        forget_row(store);
    if (status == PAWL_OUTCOME_UNKNOWN) {
        store->lost = g_steal_pointer(&put);
        store->lost_group = g_strdup(change->call->group);
    }
    if (put != NULL)
        g_string_free(put, TRUE);
    g_free(after);
    return status;
}

/* -------------------------------------------------------------------------------------------------- until it is done -- */

static void
forget_lost(pawl__hbase_store *store)
{
    if (store->lost != NULL)
        g_string_free(g_steal_pointer(&store->lost), TRUE);
    g_clear_pointer(&store->lost_group, g_free);
}

static pawl_status
pause_after_refusal(pawl__hbase_store *store, const pawl_store_call *call, int refusals, pawl_error *err)
{
    int64_t longest_ms = MIN(FIRST_PAUSE_MS << MIN(refusals, 10), LONGEST_PAUSE_MS);
    pawl_status status = pawl__hbase_pause(store, g_random_int_range(0, (gint32) longest_ms), call->deadline_ms, err);

    if (status == PAWL_TIMEOUT)
        pawl_error_prefix(err, "others were faster each time to change row '%s' in HBase's table '%s'", call->group,
                          store->table);
    return status;
}

/* What came of looking at the row, and not of talking to HBase. */
static bool
is_verdict(pawl_status status)
{
    return status == PAWL_FENCED || status == PAWL_CONFLICT || status == PAWL_STALE || status == PAWL_UNREADABLE;
}

/*
 * A gateway asks HBase again when it hears nothing, and is then refused because of its own first try. So after a refusal
 * our lines may have been written, which only reading back can tell.
 */
static pawl_status
doubt(pawl_status status, pawl_error *err)
{
    switch (status) {
    case PAWL_FENCED:
    case PAWL_UNREADABLE:
    case PAWL_UNSUPPORTED:
    case PAWL_CANCELLED:
    case PAWL_OUTCOME_UNKNOWN:
        return status;
    default:
        return pawl__error_turn_into(err, PAWL_OUTCOME_UNKNOWN, 0);
    }
}

pawl_status
pawl__hbase_write(pawl__hbase_store *store, const pawl__hbase_change *change, pawl_error *err)
{
    const pawl_store_call *call = change->call;
    pawl_status status = PAWL_OK;
    int refusals = 0;

    forget_lost(store);
    while (status == PAWL_OK) {
        bool remembered = has_row(store, call->group), refused = false;

        if (!remembered)
            status = pawl__hbase_row_load(store, call->group, call->deadline_ms, err);
        if (status == PAWL_OK)
            status = try_change(store, change, &refused, err);
        if (status == PAWL_OK && !refused)
            return PAWL_OK;
        if (refused)
            status = pause_after_refusal(store, call, refusals++, err);
        else if (remembered && is_verdict(status))
            status = PAWL_OK; /* on what we remember: the row may be another one by now */
    }
    return refusals > 0 ? doubt(status, err) : status;
}

/* A second answer that is lost is no third state: the same may be sent once more. */
pawl_status
pawl__hbase_settle(pawl__hbase_store *store, const pawl_store_call *call, pawl_error *err)
{
    pawl_error said;
    bool refused;
    pawl_status status;

    if (store->lost == NULL || strcmp(store->lost_group, call->group) != 0)
        return PAWL_OK;
    status = send_put(store, call->deadline_ms, store->lost, &refused, &said);
    if (status == PAWL_OK)
        forget_lost(store);
    else if (status == PAWL_OUTCOME_UNKNOWN)
        status = pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, said.native_code, "%s", said.message);
    else if (err != NULL)
        *err = said;
    return status;
}
