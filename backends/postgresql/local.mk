# backends/postgresql/local.mk - the postgresql: store, a module; built in where there are no modules, and for tests

STORE_POSTGRESQL_SOURCES = \
	backends/postgresql/connection.c \
	backends/postgresql/error.c \
	backends/postgresql/exchange.c \
	backends/postgresql/params.c \
	backends/postgresql/postgresql_store.c \
	backends/postgresql/postgresql_store.h \
	backends/postgresql/read.c \
	backends/postgresql/save.c \
	backends/postgresql/statement.c \
	backends/postgresql/write.c

nobase_dist_doc_DATA += backends/postgresql/README.md

if WITH_POSTGRESQL

# Built in: under a name of its own, so that several stores fit into one program.
STORES += backends/postgresql/libstore-postgresql.la
STORE_LIBS += $(POSTGRESQL_LIBS)
noinst_LTLIBRARIES += backends/postgresql/libstore-postgresql.la
backends_postgresql_libstore_postgresql_la_CPPFLAGS = $(AM_CPPFLAGS) -Dpawl_store_module=pawl__store_postgresql
backends_postgresql_libstore_postgresql_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
backends_postgresql_libstore_postgresql_la_SOURCES = $(STORE_POSTGRESQL_SOURCES)

if WITH_MODULES
MODULES += backends/postgresql/store-postgresql.la
backends_postgresql_store_postgresql_la_CPPFLAGS = $(AM_CPPFLAGS)
backends_postgresql_store_postgresql_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
backends_postgresql_store_postgresql_la_SOURCES = $(STORE_POSTGRESQL_SOURCES)
backends_postgresql_store_postgresql_la_LIBADD = $(MODULE_LIBS) $(POSTGRESQL_LIBS)
backends_postgresql_store_postgresql_la_LDFLAGS = $(MODULE_LINK)
EXTRA_backends_postgresql_store_postgresql_la_DEPENDENCIES = src/module.map
endif

endif
