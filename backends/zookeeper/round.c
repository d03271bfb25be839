/*
 * round.c - requests that are sent together and answered together, by a deadline
 *
 * The client's thread fills in the answers, under the store's lock. Whoever gives up waiting leaves the round to the last
 * answer, since the client writes into it until then.
 */
#include "backends/zookeeper/zookeeper_store.h"

#include <string.h>

/* What a request and an operation of a multi take on the wire, beside their texts. */
#define REQUEST_HEADER_SIZE 8
#define MULTI_HEADER_SIZE   9
#define NUMBER_SIZE         4

typedef struct request {
    pawl__zk_answer answer;
    pawl__zk_round *round;
} request;

struct pawl__zk_round {
    pawl__zk_store *store;
    GPtrArray *requests;
    guint open; /* not answered yet */
    bool ended; /* nobody waits for the rest */

    GArray *operations;        /* zoo_op_t, of the multi */
    zoo_op_result_t *outcomes; /* of each */
    GStringChunk *texts;       /* what the operations point to */
    size_t multi_size;
};

/* ------------------------------------------------------------------------------------------------ rounds, answers -- */

pawl__zk_round *
pawl__zk_round_new(pawl__zk_store *store)
{
    pawl__zk_round *round = g_new0(pawl__zk_round, 1);

    round->store = store;
    round->requests = g_ptr_array_new();
    round->multi_size = REQUEST_HEADER_SIZE + MULTI_HEADER_SIZE;
    return round;
}

static void
round_free(pawl__zk_round *round)
{
    for (guint i = 0; i < round->requests->len; i++) {
        request *one = g_ptr_array_index(round->requests, i);

        g_clear_pointer(&one->answer.data, g_bytes_unref);
        g_strfreev(one->answer.children);
        g_free(one);
    }
    g_ptr_array_free(round->requests, TRUE);
    if (round->operations != NULL) {
        g_array_free(round->operations, TRUE);
        g_string_chunk_free(round->texts);
    }
    g_free(round->outcomes);
    g_free(round);
}

void
pawl__zk_round_end(pawl__zk_round *round)
{
    pawl__zk_store *store;
    bool all_answered;

    if (round == NULL)
        return;
    store = round->store;
    pawl__wait_lock(&store->wait);
    round->ended = true;
    all_answered = round->open == 0;
    if (!all_answered)
        g_ptr_array_add(store->unheard, round);
    pawl__wait_unlock(&store->wait);
    if (all_answered)
        round_free(round);
}

void
pawl__zk_rounds_done(pawl__zk_store *store)
{
    for (guint i = 0; i < store->unheard->len; i++)
        round_free(g_ptr_array_index(store->unheard, i));
    g_ptr_array_set_size(store->unheard, 0);
}

pawl_status
pawl__zk_round_wait(pawl__zk_round *round, int64_t deadline_ms, pawl_error *err)
{
    pawl__zk_store *store = round->store;
    int lost = ZOK;
    guint open;
    bool cancelled;

    pawl__wait_lock(&store->wait);
    while (round->open > 0 && !store->cancelled && pawl__wait_until(&store->wait, deadline_ms))
        ;
    open = round->open;
    cancelled = store->cancelled;
    pawl__wait_unlock(&store->wait);
    if (cancelled)
        return pawl__zk_cancelled(store, err);
    if (open > 0)
        return pawl_error_set(err, PAWL_TIMEOUT, PAWL_ERROR_RETRIABLE, ZOPERATIONTIMEOUT,
                              "ZooKeeper at %s has not answered in time", store->hosts);
    for (guint i = 0; i < round->requests->len && lost == ZOK; i++)
        if (pawl__zk_is_lost(pawl__zk_round_answer(round, i)->code))
            lost = pawl__zk_round_answer(round, i)->code;
    return lost == ZOK ? PAWL_OK : pawl__zk_fail(store, lost, "", err);
}

const pawl__zk_answer *
pawl__zk_round_answer(const pawl__zk_round *round, guint number)
{
    return &((request *) g_ptr_array_index(round->requests, number))->answer;
}

/* ----------------------------------------------------------------------------------------------- single requests -- */

static request *
request_new(pawl__zk_round *round)
{
    request *one = g_new0(request, 1);

    one->round = round;
    pawl__wait_lock(&round->store->wait);
    g_ptr_array_add(round->requests, one);
    round->open++;
    pawl__wait_unlock(&round->store->wait);
    return one;
}

/* The last thing that is done with an answer. */
static void
answered(request *one, int code)
{
    pawl__zk_round *round = one->round;
    pawl__zk_store *store = round->store;
    bool last, ended;

    pawl__wait_lock(&store->wait);
    one->answer.code = code;
    last = --round->open == 0;
    ended = round->ended;
    if (last && ended)
        g_ptr_array_remove_fast(store->unheard, round);
    if (last)
        pawl__wait_wake(&store->wait);
    pawl__wait_unlock(&store->wait);
    if (last && ended)
        round_free(round);
}

/* What the client did not even take is answered at once. */
static guint
sent(pawl__zk_round *round, request *one, int code)
{
    if (code != ZOK)
        answered(one, code);
    return round->requests->len - 1;
}

static void
on_done(int code, const void *user)
{
    answered((request *) user, code);
}

static void
on_text(int code, const char *text, const void *user)
{
    (void) text;
    answered((request *) user, code);
}

static void
on_stat(int code, const struct Stat *stat, const void *user)
{
    request *one = (request *) user;

    if (code == ZOK)
        one->answer.stat = *stat;
    answered(one, code);
}

static void
on_data(int code, const char *data, int size, const struct Stat *stat, const void *user)
{
    request *one = (request *) user;

    if (code == ZOK) {
        one->answer.stat = *stat;
        one->answer.data = size >= 0 ? g_bytes_new(data, (gsize) size) : NULL;
    }
    answered(one, code);
}

static void
on_children(int code, const struct String_vector *names, const struct Stat *stat, const void *user)
{
    request *one = (request *) user;

    if (code == ZOK) {
        one->answer.stat = *stat;
        one->answer.children = g_new0(char *, (gsize) names->count + 1);
        for (int i = 0; i < names->count; i++)
            one->answer.children[i] = g_strdup(names->data[i]);
    }
    answered(one, code);
}

guint
pawl__zk_round_sync(pawl__zk_round *round)
{
    request *one = request_new(round);

    return sent(round, one, zoo_async(round->store->client, "/", on_text, one));
}

guint
pawl__zk_round_get(pawl__zk_round *round, const char *path)
{
    request *one = request_new(round);

    return sent(round, one, zoo_aget(round->store->client, path, 0, on_data, one));
}

guint
pawl__zk_round_exists(pawl__zk_round *round, const char *path)
{
    request *one = request_new(round);

    return sent(round, one, zoo_aexists(round->store->client, path, 0, on_stat, one));
}

guint
pawl__zk_round_children(pawl__zk_round *round, const char *path)
{
    request *one = request_new(round);

    return sent(round, one, zoo_aget_children2(round->store->client, path, 0, on_children, one));
}

guint
pawl__zk_round_create(pawl__zk_round *round, const char *path, const char *data)
{
    request *one = request_new(round);

    return sent(round, one,
                zoo_acreate(round->store->client, path, data, (int) strlen(data), &round->store->acl, 0, on_text, one));
}

/* --------------------------------------------------------------------------------------------------------- multi -- */

/* Room for one more operation, whose path and data are copied. */
static zoo_op_t *
operation_new(pawl__zk_round *round, const char **path, const char **data)
{
    if (round->operations == NULL) {
        round->operations = g_array_new(FALSE, TRUE, sizeof(zoo_op_t));
        round->texts = g_string_chunk_new(4096);
    }
    round->multi_size += MULTI_HEADER_SIZE + NUMBER_SIZE + strlen(*path) + NUMBER_SIZE;
    *path = g_string_chunk_insert(round->texts, *path);
    if (data != NULL) {
        round->multi_size += NUMBER_SIZE + strlen(*data);
        *data = g_string_chunk_insert(round->texts, *data);
    }
    g_array_set_size(round->operations, round->operations->len + 1);
    return &g_array_index(round->operations, zoo_op_t, round->operations->len - 1);
}

static size_t
acl_size(const struct ACL_vector *acl)
{
    size_t size = NUMBER_SIZE;

    for (int i = 0; i < acl->count; i++)
        size += 3 * NUMBER_SIZE + strlen(acl->data[i].id.scheme) + strlen(acl->data[i].id.id);
    return size;
}

void
pawl__zk_multi_create(pawl__zk_round *round, const char *path, const char *data)
{
    zoo_op_t *operation = operation_new(round, &path, &data);

    round->multi_size += acl_size(&round->store->acl);
    zoo_create_op_init(operation, path, data, (int) strlen(data), &round->store->acl, 0, NULL, 0);
}

void
pawl__zk_multi_set(pawl__zk_round *round, const char *path, const char *data, int32_t version)
{
    zoo_op_t *operation = operation_new(round, &path, &data);

    zoo_set_op_init(operation, path, data, (int) strlen(data), version, NULL);
}

void
pawl__zk_multi_check(pawl__zk_round *round, const char *path, int32_t version)
{
    zoo_op_t *operation = operation_new(round, &path, NULL);

    zoo_check_op_init(operation, path, version);
}

void
pawl__zk_multi_delete(pawl__zk_round *round, const char *path, int32_t version)
{
    zoo_op_t *operation = operation_new(round, &path, NULL);

    zoo_delete_op_init(operation, path, version);
}

guint
pawl__zk_round_multi(pawl__zk_round *round)
{
    request *one = request_new(round);
    const zoo_op_t *operations = (const zoo_op_t *) (void *) round->operations->data;
    int count = (int) round->operations->len;

    round->outcomes = g_new0(zoo_op_result_t, round->operations->len);
    return sent(round, one, zoo_amulti(round->store->client, count, operations, round->outcomes, on_done, one));
}

size_t
pawl__zk_multi_size(const pawl__zk_round *round)
{
    return round->multi_size;
}

/* All the others say that they were not tried. */
const char *
pawl__zk_multi_culprit(const pawl__zk_round *round)
{
    for (guint i = 0; i < round->operations->len; i++) {
        int code = round->outcomes[i].err;

        if (code != ZOK && code != ZRUNTIMEINCONSISTENCY)
            return g_array_index(round->operations, zoo_op_t, i).check_op.path; /* in the same place in each kind */
    }
    return NULL;
}
