/*
 * builtin_stores.c - the stores that are built in, for a core that knows none of them
 *
 * There are none where stores can be modules. A file of its own: programs that need it do not need a source, too.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "core/store.h"

#ifdef PAWL_STATIC_HBASE
extern const pawl_store_backend pawl__store_hbase;
#endif
#ifdef PAWL_STATIC_KAFKA
extern const pawl_store_backend pawl__store_kafka;
#endif
#ifdef PAWL_STATIC_POSTGRESQL
extern const pawl_store_backend pawl__store_postgresql;
#endif
#ifdef PAWL_STATIC_REDIS
extern const pawl_store_backend pawl__store_redis;
#endif
#ifdef PAWL_STATIC_SQLITE
extern const pawl_store_backend pawl__store_sqlite;
#endif
#ifdef PAWL_STATIC_ZOOKEEPER
extern const pawl_store_backend pawl__store_zookeeper;
#endif

const pawl_store_backend *const pawl__builtin_stores[] = {
#ifdef PAWL_STATIC_HBASE
    &pawl__store_hbase,
#endif
#ifdef PAWL_STATIC_KAFKA
    &pawl__store_kafka,
#endif
#ifdef PAWL_STATIC_POSTGRESQL
    &pawl__store_postgresql,
#endif
#ifdef PAWL_STATIC_REDIS
    &pawl__store_redis,
#endif
#ifdef PAWL_STATIC_SQLITE
    &pawl__store_sqlite,
#endif
#ifdef PAWL_STATIC_ZOOKEEPER
    &pawl__store_zookeeper,
#endif
    NULL,
};
