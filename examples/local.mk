# examples/local.mk - programs to read; they see of libpawl what users see

noinst_PROGRAMS += examples/minimal examples/load_flights examples/embedded_broker

examples_minimal_SOURCES = examples/minimal.c
examples_minimal_LDFLAGS = $(PROGRAM_LINK)
examples_minimal_LDADD = $(PROGRAM_LIBS)

examples_load_flights_SOURCES = examples/load_flights.c
examples_load_flights_LDFLAGS = $(PROGRAM_LINK)
examples_load_flights_LDADD = $(RDKAFKA_LIBS)

examples_embedded_broker_SOURCES = examples/embedded_broker.c
examples_embedded_broker_LDFLAGS = $(PROGRAM_LINK)
examples_embedded_broker_LDADD = $(RDKAFKA_LIBS)

# A plugin for `pawl run`. It is not installed: the folder that libtool asks for only makes it a shared object.
if WITH_MODULES
noinst_LTLIBRARIES += examples/plugin_count.la
examples_plugin_count_la_SOURCES = examples/plugin_count.c
examples_plugin_count_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
examples_plugin_count_la_LIBADD = src/libpawl.la
examples_plugin_count_la_LDFLAGS = $(LINK_FLAGS) -module -avoid-version -shared -no-undefined -rpath $(abs_builddir)
endif

if WITH_SQLITE
noinst_PROGRAMS += examples/flights
examples_flights_SOURCES = examples/flights.c examples/flights.h examples/flights_sqlite.c
examples_flights_LDFLAGS = $(PROGRAM_LINK)
examples_flights_LDADD = $(PROGRAM_LIBS) $(GLIB_LIBS) $(SQLITE_LIBS)

TESTS += tests/check-examples

# flights.c again, in programs that kill themselves: for tests/integration.
check_PROGRAMS += tests/support/flights_killed tests/support/recording
tests_support_flights_killed_SOURCES = tests/support/flights_killed.c tests/support/killing.c tests/support/killing.h
tests_support_flights_killed_CPPFLAGS = $(AM_CPPFLAGS) -DFLIGHTS_SINK='"examples/flights_sqlite.c"'
tests_support_flights_killed_LDADD = $(examples_flights_LDADD)
tests_support_recording_SOURCES = tests/support/recording.c tests/support/killing.c tests/support/killing.h
tests_support_recording_LDADD = $(PROGRAM_LIBS) $(GLIB_LIBS)
endif

if WITH_POSTGRESQL
noinst_PROGRAMS += examples/flights_postgresql
examples_flights_postgresql_SOURCES = examples/flights.c examples/flights.h examples/flights_postgresql.c
examples_flights_postgresql_LDFLAGS = $(PROGRAM_LINK)
examples_flights_postgresql_LDADD = $(PROGRAM_LIBS) $(GLIB_LIBS) $(POSTGRESQL_LIBS)

check_PROGRAMS += tests/support/flights_postgresql_killed
tests_support_flights_postgresql_killed_SOURCES = \
	tests/support/flights_killed.c \
	tests/support/killing.c \
	tests/support/killing.h
tests_support_flights_postgresql_killed_CPPFLAGS = $(AM_CPPFLAGS) -DFLIGHTS_SINK='"examples/flights_postgresql.c"'
tests_support_flights_postgresql_killed_LDADD = $(examples_flights_postgresql_LDADD)
endif

EXTRA_DIST += \
	examples/README.md \
	examples/data/README.md \
	examples/data/fetch-flights \
	examples/data/flights-sample.csv \
	examples/quickstart-demo \
	tests/check-examples \
	tests/integration/conftest.py \
	tests/integration/flights.py \
	tests/integration/killing.py \
	tests/integration/pytest.ini \
	tests/integration/recording.py \
	tests/integration/test_flights.py \
	tests/integration/test_flights_postgresql.py \
	tests/integration/test_stores.py \
	tests/mutants/absent-is-zero.patch \
	tests/mutants/expected-ignored.patch \
	tests/mutants/run \
	tests/mutants/save-before-flush.patch
