# examples/local.mk - programs that show how pawl is used, and what the quick start needs

noinst_PROGRAMS += examples/minimal
examples_minimal_LDFLAGS = $(PROGRAM_LINK)
examples_minimal_LDADD = $(PROGRAM_LIBS)

if WITH_SQLITE
noinst_PROGRAMS += examples/flights
examples_flights_LDFLAGS = $(PROGRAM_LINK)
examples_flights_LDADD = $(PROGRAM_LIBS) $(SQLITE_LIBS) $(GLIB_LIBS)
endif

# These two speak to librdkafka themselves.
noinst_PROGRAMS += examples/load-flights examples/embedded-broker
examples_load_flights_SOURCES = examples/load_flights.c
examples_load_flights_LDFLAGS = $(PROGRAM_LINK)
examples_load_flights_LDADD = $(RDKAFKA_LIBS)
examples_embedded_broker_SOURCES = examples/embedded_broker.c
examples_embedded_broker_LDFLAGS = $(PROGRAM_LINK)
examples_embedded_broker_LDADD = $(RDKAFKA_LIBS)
