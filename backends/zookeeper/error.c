/*
 * error.c - ZooKeeper's error codes in pawl's words
 */
#include "backends/zookeeper/zookeeper_store.h"

bool
pawl__zk_is_lost(int code)
{
    switch (code) {
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZSESSIONEXPIRED:
    case ZSESSIONMOVED:
    case ZINVALIDSTATE:
    case ZMARSHALLINGERROR: /* what an expired session may answer to a multi */
    case ZCLOSING:
    case ZRUNTIMEINCONSISTENCY: /* the client's own, with which it ends all that was under way: an answer out of turn, */
    case ZSYSTEMERROR:          /* ... or no socket for the next connection */
        return true;
    default:
        return false;
    }
}

pawl_status
pawl__zk_cancelled(pawl__zk_store *store, pawl_error *err)
{
    return pawl_error_set(err, PAWL_CANCELLED, 0, 0, "ZooKeeper at %s: the store was cancelled", store->hosts);
}

pawl_status
pawl__zk_fail(pawl__zk_store *store, int code, const char *path, pawl_error *err)
{
    if (pawl__zk_is_lost(code))
        return pawl_error_set(err, PAWL_UNREACHABLE, PAWL_ERROR_RETRIABLE, code,
                              "ZooKeeper at %s: the connection was lost (%s)", store->hosts, zerror(code));
    switch (code) {
    case ZNOAUTH:
        return pawl_error_set(err, PAWL_FAILED, 0, code,
                              "ZooKeeper at %s refuses access to %s: its ACL does not admit %s%s", store->hosts, path,
                              store->user != NULL ? "user " : "somebody without a user",
                              store->user != NULL ? store->user : "");
    case ZINVALIDACL:
        return pawl_error_set(err, PAWL_INVALID, 0, code,
                              "ZooKeeper at %s cannot make %s with this ACL: with acl=owner or acl=read the URL has to "
                              "name a user and a password",
                              store->hosts, path);
    case ZTHROTTLEDOP:
        return pawl_error_set(err, PAWL_FAILED, PAWL_ERROR_RETRIABLE, code, "ZooKeeper at %s is too busy: %s",
                              store->hosts, zerror(code));
    default:
        return pawl_error_set(err, PAWL_FAILED, 0, code, "ZooKeeper at %s, %s: %s", store->hosts, path, zerror(code));
    }
}
