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

if WITH_SQLITE
noinst_PROGRAMS += examples/flights
examples_flights_SOURCES = examples/flights.c
examples_flights_LDFLAGS = $(PROGRAM_LINK)
examples_flights_LDADD = $(PROGRAM_LIBS) $(GLIB_LIBS) $(SQLITE_LIBS)

TESTS += tests/check-examples

# flights.c again, in programs that kill themselves: for tests/integration.
check_PROGRAMS += tests/support/flights_killed tests/support/recording
tests_support_flights_killed_SOURCES = tests/support/flights_killed.c tests/support/killing.c tests/support/killing.h
tests_support_flights_killed_LDADD = $(examples_flights_LDADD)
tests_support_recording_SOURCES = tests/support/recording.c tests/support/killing.c tests/support/killing.h
tests_support_recording_LDADD = $(PROGRAM_LIBS) $(GLIB_LIBS)
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
	tests/integration/test_flights.py \
	tests/mutants/absent-is-zero.patch \
	tests/mutants/expected-ignored.patch \
	tests/mutants/run \
	tests/mutants/save-before-flush.patch
