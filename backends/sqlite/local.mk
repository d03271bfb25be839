# backends/sqlite/local.mk - the sqlite: store, a module; built in where there are no modules, and for tests

STORE_SQLITE_SOURCES = \
	backends/sqlite/error.c \
	backends/sqlite/read.c \
	backends/sqlite/save.c \
	backends/sqlite/schema.c \
	backends/sqlite/sqlite_store.c \
	backends/sqlite/sqlite_store.h \
	backends/sqlite/statement.c \
	backends/sqlite/transaction.c \
	backends/sqlite/write.c

nobase_dist_doc_DATA += backends/sqlite/README.md

if WITH_SQLITE

# Built in: under a name of its own, so that several stores fit into one program.
STORES += backends/sqlite/libstore-sqlite.la
STORE_LIBS += $(SQLITE_LIBS)
noinst_LTLIBRARIES += backends/sqlite/libstore-sqlite.la
backends_sqlite_libstore_sqlite_la_CPPFLAGS = $(AM_CPPFLAGS) -Dpawl_store_module=pawl__store_sqlite
backends_sqlite_libstore_sqlite_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
backends_sqlite_libstore_sqlite_la_SOURCES = $(STORE_SQLITE_SOURCES)

if WITH_MODULES
MODULES += backends/sqlite/store-sqlite.la
backends_sqlite_store_sqlite_la_CPPFLAGS = $(AM_CPPFLAGS)
backends_sqlite_store_sqlite_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
backends_sqlite_store_sqlite_la_SOURCES = $(STORE_SQLITE_SOURCES)
backends_sqlite_store_sqlite_la_LIBADD = $(MODULE_LIBS) $(SQLITE_LIBS)
backends_sqlite_store_sqlite_la_LDFLAGS = $(MODULE_LINK)
EXTRA_backends_sqlite_store_sqlite_la_DEPENDENCIES = src/module.map
endif

endif
