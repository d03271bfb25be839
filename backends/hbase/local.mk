# backends/hbase/local.mk - the hbase: store, a module; built in where there are no modules, and for tests

STORE_HBASE_SOURCES = \
	backends/hbase/guard.c \
	backends/hbase/hbase_store.c \
	backends/hbase/hbase_store.h \
	backends/hbase/http.c \
	backends/hbase/read.c \
	backends/hbase/row.c \
	backends/hbase/scan.c \
	backends/hbase/table.c \
	backends/hbase/write.c

nobase_dist_doc_DATA += backends/hbase/README.md

if WITH_HBASE

# Built in: under a name of its own, so that several stores fit into one program.
STORES += backends/hbase/libstore-hbase.la
STORE_LIBS += $(HBASE_LIBS)
noinst_LTLIBRARIES += backends/hbase/libstore-hbase.la
backends_hbase_libstore_hbase_la_CPPFLAGS = $(AM_CPPFLAGS) -Dpawl_store_module=pawl__store_hbase
backends_hbase_libstore_hbase_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
backends_hbase_libstore_hbase_la_SOURCES = $(STORE_HBASE_SOURCES)

if WITH_MODULES
MODULES += backends/hbase/store-hbase.la
backends_hbase_store_hbase_la_CPPFLAGS = $(AM_CPPFLAGS)
backends_hbase_store_hbase_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
backends_hbase_store_hbase_la_SOURCES = $(STORE_HBASE_SOURCES)
backends_hbase_store_hbase_la_LIBADD = $(MODULE_LIBS) $(HBASE_LIBS)
backends_hbase_store_hbase_la_LDFLAGS = $(MODULE_LINK)
EXTRA_backends_hbase_store_hbase_la_DEPENDENCIES = src/module.map
endif

endif
