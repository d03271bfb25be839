# backends/redis/local.mk - the redis: store, a module; built in where there are no modules, and for tests

STORE_REDIS_SOURCES = \
	backends/redis/args.c \
	backends/redis/change.c \
	backends/redis/entry.c \
	backends/redis/error.c \
	backends/redis/link.c \
	backends/redis/link.h \
	backends/redis/options.c \
	backends/redis/read.c \
	backends/redis/redis_store.c \
	backends/redis/redis_store.h \
	backends/redis/request.c \
	backends/redis/resolve.c \
	backends/redis/rollback.c \
	backends/redis/save.c \
	backends/redis/script.c \
	backends/redis/server.c \
	backends/redis/session.c \
	backends/redis/write.c

nobase_dist_doc_DATA += backends/redis/README.md

if WITH_REDIS

# Built in: under a name of its own, so that several stores fit into one program.
STORES += backends/redis/libstore-redis.la
STORE_LIBS += $(REDIS_LIBS)
noinst_LTLIBRARIES += backends/redis/libstore-redis.la
backends_redis_libstore_redis_la_CPPFLAGS = $(AM_CPPFLAGS) $(REDIS_CFLAGS) -Dpawl_store_module=pawl__store_redis
backends_redis_libstore_redis_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
backends_redis_libstore_redis_la_SOURCES = $(STORE_REDIS_SOURCES)

if WITH_MODULES
MODULES += backends/redis/store-redis.la
backends_redis_store_redis_la_CPPFLAGS = $(AM_CPPFLAGS) $(REDIS_CFLAGS)
backends_redis_store_redis_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
backends_redis_store_redis_la_SOURCES = $(STORE_REDIS_SOURCES)
backends_redis_store_redis_la_LIBADD = $(MODULE_LIBS) $(REDIS_LIBS)
backends_redis_store_redis_la_LDFLAGS = $(MODULE_LINK)
EXTRA_backends_redis_store_redis_la_DEPENDENCIES = src/module.map
endif

endif
