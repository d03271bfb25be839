# backends/zookeeper/local.mk - the zookeeper: store, a module; built in where there are no modules, and for tests

STORE_ZOOKEEPER_SOURCES = \
	backends/zookeeper/change.c \
	backends/zookeeper/client_log.c \
	backends/zookeeper/error.c \
	backends/zookeeper/list.c \
	backends/zookeeper/names.c \
	backends/zookeeper/node_text.c \
	backends/zookeeper/parents.c \
	backends/zookeeper/read.c \
	backends/zookeeper/round.c \
	backends/zookeeper/session.c \
	backends/zookeeper/view.c \
	backends/zookeeper/write.c \
	backends/zookeeper/zookeeper_store.c \
	backends/zookeeper/zookeeper_store.h

nobase_dist_doc_DATA += backends/zookeeper/README.md

if WITH_ZOOKEEPER

# Built in: under a name of its own, so that several stores fit into one program.
STORES += backends/zookeeper/libstore-zookeeper.la
STORE_LIBS += $(ZOOKEEPER_LIBS)
noinst_LTLIBRARIES += backends/zookeeper/libstore-zookeeper.la
backends_zookeeper_libstore_zookeeper_la_CPPFLAGS = $(AM_CPPFLAGS) -Dpawl_store_module=pawl__store_zookeeper
backends_zookeeper_libstore_zookeeper_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
backends_zookeeper_libstore_zookeeper_la_SOURCES = $(STORE_ZOOKEEPER_SOURCES)

if WITH_MODULES
MODULES += backends/zookeeper/store-zookeeper.la
backends_zookeeper_store_zookeeper_la_CPPFLAGS = $(AM_CPPFLAGS)
backends_zookeeper_store_zookeeper_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
backends_zookeeper_store_zookeeper_la_SOURCES = $(STORE_ZOOKEEPER_SOURCES)
backends_zookeeper_store_zookeeper_la_LIBADD = $(MODULE_LIBS) $(ZOOKEEPER_LIBS)
backends_zookeeper_store_zookeeper_la_LDFLAGS = $(MODULE_LINK)
EXTRA_backends_zookeeper_store_zookeeper_la_DEPENDENCIES = src/module.map
endif

endif
