/*
 * error.c - what a server answers instead, in pawl's words
 */
#include "backends/redis/redis_store.h"

#include <string.h>

#include "util/url.h"

/* What helps: nothing, the same again, or the same again on a new connection, perhaps to another server. */
typedef enum remedy { NONE, AGAIN, RECONNECT } remedy;

/* By the first word of the answer. None of these requests was carried out. */
static const struct {
    const char *word;
    pawl_status status;
    remedy remedy;
    const char *meaning;
} answers[] = {
    {"LOADING", PAWL_UNREACHABLE, RECONNECT, "is still loading its data"},
    {"READONLY", PAWL_UNREACHABLE, RECONNECT, "is a replica, which takes no writes: name the master as well"},
    {"MASTERDOWN", PAWL_UNREACHABLE, RECONNECT, "is a replica without its master"},
    {"CLUSTERDOWN", PAWL_UNREACHABLE, RECONNECT, "is a node of a cluster that is down"},
    {"ASK", PAWL_UNREACHABLE, AGAIN, "is just handing this group over to another node of its cluster"},
    {"TRYAGAIN", PAWL_UNREACHABLE, AGAIN, "is just handing this group over to another node of its cluster"},
    {"BUSY", PAWL_UNREACHABLE, AGAIN, "is busy with somebody's script"},
    {"NOREPLICAS", PAWL_UNREACHABLE, AGAIN, "has fewer replicas than min-replicas-to-write asks for"},
    {"ERR max number of clients reached", PAWL_UNREACHABLE, RECONNECT, "has as many clients as maxclients allows"},
    {"DENIED", PAWL_UNREACHABLE, NONE,
     "is in protected mode: it has no password, and takes connections of its own host only"},
    {"NOAUTH", PAWL_UNREACHABLE, NONE, "wants a password: redis://:PASSWORD@HOST or redis://USER:PASSWORD@HOST"},
    {"WRONGPASS", PAWL_UNREACHABLE, NONE, "does not accept this user and password"},
    {"NOPERM", PAWL_UNREACHABLE, NONE, "does not let this user do that: see the rights in the manual of the store"},
    {"OOM", PAWL_FAILED, NONE, "has used up its maxmemory: nothing was written"},
    {"MISCONF", PAWL_FAILED, NONE, "cannot write to its disk: nothing was written"},
    {"WRONGTYPE", PAWL_UNREADABLE, NONE, "holds something else under a key of this group"},
    {"CROSSSLOT", PAWL_UNSUPPORTED, NONE,
     "is a node of a cluster, where the name of a group must not begin with a closing brace"},
    /* Before version 7 a script has no codes for these. */
    {"The user executing the script can't", PAWL_UNREACHABLE, NONE,
     "does not let this user do that: see the rights in the manual of the store"},
    {"Lua script attempted to execute a", PAWL_UNREACHABLE, RECONNECT, "is a node of a cluster that is down"},
    {"Lua script attempted to access a non local key", PAWL_UNREACHABLE, AGAIN,
     "is just handing this group over to another node of its cluster, or the cluster is down"},
};

/*
 * Before version 7 what fails inside of a script comes wrapped, once or twice:
 *
 *     ERR Error running script (call to f_SHA): @user_script:8: WRONGTYPE Operation ...
 *     ERR Error running script (call to f_SHA): @user_script:8: @user_script: 8: -OOM command not allowed ...
 */
static const char *
unwrap(const char *answer)
{
    const char *place = g_str_has_prefix(answer, "ERR Error running script ") ? strstr(answer, "@user_script:") : NULL;

    if (place == NULL)
        return answer;
    while (g_str_has_prefix(place, "@user_script:")) {
        place += strlen("@user_script:");
        place += strspn(place, "0123456789: ");
    }
    return *place == '-' ? place + 1 : place;
}

static bool
begins_with(const char *answer, const char *word)
{
    size_t size = strlen(word);

    return strncmp(answer, word, size) == 0 && (answer[size] == ' ' || answer[size] == '\0');
}

bool
pawl__redis_is_error(const redisReply *reply, const char *word)
{
    return reply->type == REDIS_REPLY_ERROR && begins_with(reply->str, word);
}

/* A node that does not know its own host says nothing, or a question mark. */
static bool
is_unknown(const char *host)
{
    return host[0] == '\0' || strcmp(host, "?") == 0;
}

/* "MOVED 3999 127.0.0.1:6381"; without a host it is the one that we asked. */
static pawl_status
moved(pawl__redis_store *store, const redisReply *reply, pawl_error *err)
{
    const char *address = strrchr(reply->str, ' ') + 1;
    char *host, *port, *given_host, *given_port;
    pawl_status status = pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, 0,
                                        "redis at %s says that this group is at %s", store->link.address, address);

    pawl__url_cut_host(store->link.address, "", &host, &port);
    pawl__url_cut_host(address, "", &given_host, &given_port);
    g_free(store->elsewhere);
    store->elsewhere = pawl__url_join_host(is_unknown(given_host) ? host : given_host, given_port);
    g_free(given_port);
    g_free(given_host);
    g_free(port);
    g_free(host);
    pawl__redis_link_close(&store->link);
    return status;
}

pawl_status
pawl__redis_fail(pawl__redis_store *store, const redisReply *reply, pawl_error *err)
{
    const char *answer = unwrap(reply->str);
    pawl_status status;

    if (pawl__redis_is_error(reply, "MOVED") && strchr(reply->str, ':') != NULL)
        return moved(store, reply, err);
    for (size_t i = 0; i < G_N_ELEMENTS(answers); i++) {
        if (!begins_with(answer, answers[i].word))
            continue;
        status = pawl_error_set(err, answers[i].status, answers[i].remedy != NONE ? PAWL_ERROR_RETRIABLE : 0, 0,
                                "redis at %s %s (%s)", store->link.address, answers[i].meaning, answer);
        if (answers[i].remedy == RECONNECT)
            pawl__redis_link_close(&store->link);
        return status;
    }
    return pawl_error_set(err, PAWL_FAILED, 0, 0, "redis at %s answers: %s", store->link.address, answer);
}

pawl_status
pawl__redis_strange(const pawl__redis_store *store, pawl_error *err)
{
    return pawl_error_set(err, PAWL_FAILED, 0, 0, "what answers at %s is not Redis as pawl knows it",
                          store->link.address);
}
