# backends/kafka/local.mk - the kafka: store, a module; built in where there are no modules, and for tests

STORE_KAFKA_SOURCES = \
	backends/kafka/admin.c \
	backends/kafka/client.c \
	backends/kafka/kafka_store.c \
	backends/kafka/kafka_store.h \
	backends/kafka/metadata.c \
	backends/kafka/offsets.c \
	backends/kafka/request.c

nobase_dist_doc_DATA += backends/kafka/README.md

# Built in: under a name of its own, so that several stores fit into one program.
STORES += backends/kafka/libstore-kafka.la
STORE_LIBS += $(YAJL_LIBS)
noinst_LTLIBRARIES += backends/kafka/libstore-kafka.la
backends_kafka_libstore_kafka_la_CPPFLAGS = $(AM_CPPFLAGS) -Dpawl_store_module=pawl__store_kafka
backends_kafka_libstore_kafka_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
backends_kafka_libstore_kafka_la_SOURCES = $(STORE_KAFKA_SOURCES)

if WITH_MODULES
MODULES += backends/kafka/store-kafka.la
backends_kafka_store_kafka_la_CPPFLAGS = $(AM_CPPFLAGS)
backends_kafka_store_kafka_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
backends_kafka_store_kafka_la_SOURCES = $(STORE_KAFKA_SOURCES)
backends_kafka_store_kafka_la_LIBADD = $(MODULE_LIBS) $(RDKAFKA_LIBS) $(YAJL_LIBS)
backends_kafka_store_kafka_la_LDFLAGS = $(MODULE_LINK)
EXTRA_backends_kafka_store_kafka_la_DEPENDENCIES = src/module.map
endif
