# tests/local.mk - each test stands here once
#
# `make check` runs them all, but that INTEGRATION_TESTS are skipped without a broker (PAWL_TEST_BROKERS), and
# STATIC_CHECKS, which take long, without PAWL_TEST_STATIC=1. There is a target for each kind too. All of them talk TAP to
# Automake's driver, by way of tests/support/run-case.

CHECKS = \
	tests/check-corpus \
	tests/check-exports \
	tests/check-format \
	tests/check-headers \
	tests/check-layers \
	tests/check-manuals

STATIC_CHECKS = \
	tests/check-analyzer \
	tests/check-cppcheck

UNIT_TESTS = \
	tests/unit/test_backoff \
	tests/unit/test_buffer \
	tests/unit/test_chatter \
	tests/unit/test_child \
	tests/unit/test_cluster \
	tests/unit/test_complaint \
	tests/unit/test_config \
	tests/unit/test_error \
	tests/unit/test_expand \
	tests/unit/test_ini \
	tests/unit/test_job_group \
	tests/unit/test_job_hold \
	tests/unit/test_job_hung \
	tests/unit/test_job_loop \
	tests/unit/test_job_loss \
	tests/unit/test_job_mirror \
	tests/unit/test_job_owner \
	tests/unit/test_job_print \
	tests/unit/test_job_renewal \
	tests/unit/test_job_retry \
	tests/unit/test_job_start \
	tests/unit/test_job_stop \
	tests/unit/test_job_telling \
	tests/unit/test_jobfile \
	tests/unit/test_log \
	tests/unit/test_mirror \
	tests/unit/test_offsets \
	tests/unit/test_offsets_file \
	tests/unit/test_parse \
	tests/unit/test_pattern \
	tests/unit/test_plan \
	tests/unit/test_print \
	tests/unit/test_registry \
	tests/unit/test_settings \
	tests/unit/test_specs \
	tests/unit/test_stop \
	tests/unit/test_store \
	tests/unit/test_table \
	tests/unit/test_text \
	tests/unit/test_url

CONFORMANCE_TESTS = tests/conformance/test_store_memory
if WITH_HBASE
CONFORMANCE_TESTS += tests/conformance/test_store_hbase
endif
if WITH_SQLITE
CONFORMANCE_TESTS += \
	tests/conformance/test_sqlite_files \
	tests/conformance/test_sqlite_results \
	tests/conformance/test_store_sqlite
endif
if WITH_POSTGRESQL
CONFORMANCE_TESTS += \
	tests/conformance/test_postgresql_lost \
	tests/conformance/test_postgresql_results \
	tests/conformance/test_postgresql_servers \
	tests/conformance/test_store_postgresql
endif
if WITH_ZOOKEEPER
CONFORMANCE_TESTS += \
	tests/conformance/test_store_zookeeper \
	tests/conformance/test_zookeeper_names \
	tests/conformance/test_zookeeper_server
endif

if WITH_REDIS
CONFORMANCE_TESTS += \
	tests/conformance/test_redis_errors \
	tests/conformance/test_redis_failover \
	tests/conformance/test_redis_lost \
	tests/conformance/test_redis_server \
	tests/conformance/test_store_redis
endif

INTEGRATION_TESTS = \
	tests/conformance/test_kafka_lost \
	tests/conformance/test_store_kafka \
	tests/integration/test_kafka_asks \
	tests/integration/test_kafka_broker \
	tests/integration/test_kafka_lanes \
	tests/integration/test_kafka_loss \
	tests/integration/test_kafka_member \
	tests/integration/test_kafka_memory \
	tests/integration/test_kafka_offsets \
	tests/integration/test_kafka_ranges \
	tests/integration/test_kafka_records \
	tests/integration/test_kafka_retry \
	tests/integration/test_kafka_starts \
	tests/integration/test_kafka_topics
if WITH_SQLITE
INTEGRATION_TESTS += tests/integration/test_kafka_stores
endif

# What only tests use: the in-memory source and store, the sqlite: store without its module, and helpers.
TESTING_SOURCES = $(STORE_MEMORY_SOURCES) $(SOURCE_MEMORY_SOURCES) $(JOB_FIXTURE_SOURCES) $(KAFKA_FIXTURE_SOURCES)

JOB_FIXTURE_SOURCES = \
	tests/support/job_fixture.c \
	tests/support/job_fixture.h \
	tests/support/job_fixture_store.c \
	tests/support/trap_store.c \
	tests/support/trap_store.h

KAFKA_FIXTURE_SOURCES = \
	tests/support/kafka_broker.c \
	tests/support/kafka_fixture.c \
	tests/support/kafka_fixture.h \
	tests/support/kafka_records.c \
	tests/support/measure.c \
	tests/support/measure.h \
	tests/support/recorder.c \
	tests/support/recorder.h

# G_SLICE: sanitizers do not see into GLib's own allocator.
TESTS_ENVIRONMENT = \
	G_SLICE=always-malloc; export G_SLICE; \
	PAWL_BUILD_DIR='$(abs_builddir)'; export PAWL_BUILD_DIR; \
	PAWL_SOURCE_DIR='$(abs_srcdir)'; export PAWL_SOURCE_DIR; \
	PAWL_CC='$(CC)'; export PAWL_CC; \
	PAWL_CFLAGS='$(GLIB_CFLAGS) $(RDKAFKA_CFLAGS) $(SQLITE_CFLAGS) $(YAJL_CFLAGS) $(HBASE_CFLAGS) $(POSTGRESQL_CFLAGS) $(REDIS_CFLAGS)'; \
	export PAWL_CFLAGS; \
	PAWL_CXX='$(CXX)'; export PAWL_CXX; \
	PAWL_CLANG_FORMAT='$(CLANG_FORMAT)'; export PAWL_CLANG_FORMAT; \
	ASAN_OPTIONS='detect_leaks=1:strict_string_checks=1:abort_on_error=1'; export ASAN_OPTIONS; \
	UBSAN_OPTIONS='print_stacktrace=1'; export UBSAN_OPTIONS; \
	TSAN_OPTIONS='second_deadlock_stack=1:suppressions=$(abs_srcdir)/tests/support/tsan.supp'; export TSAN_OPTIONS;

LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
AM_LOG_DRIVER_FLAGS = --ignore-exit
LOG_COMPILER = $(top_srcdir)/tests/support/run-case

TESTS += $(CHECKS) $(STATIC_CHECKS)
EXTRA_DIST += \
	$(CHECKS) \
	$(STATIC_CHECKS) \
	tests/installed \
	tests/report-full.md \
	tests/support/run-case \
	tests/support/stores.py \
	tests/support/tap.sh \
	tests/support/tsan.supp

if WITH_CMOCKA
TESTS += $(UNIT_TESTS) $(CONFORMANCE_TESTS) $(INTEGRATION_TESTS)
check_PROGRAMS += $(UNIT_TESTS) $(CONFORMANCE_TESTS) $(INTEGRATION_TESTS)
check_LTLIBRARIES += tests/libpawl-testing.la tests/libpawl-conformance.la
endif

# Those of the program.
CLI_TEST_LIBS = src/cli/libpawl-cli.la $(LDADD) $(YAJL_LIBS)
tests_unit_test_buffer_LDADD = $(CLI_TEST_LIBS)
tests_unit_test_chatter_LDADD = $(CLI_TEST_LIBS)
tests_unit_test_child_LDADD = $(CLI_TEST_LIBS)
tests_unit_test_cluster_LDADD = $(CLI_TEST_LIBS)
tests_unit_test_expand_LDADD = $(CLI_TEST_LIBS)
tests_unit_test_ini_LDADD = $(CLI_TEST_LIBS)
tests_unit_test_jobfile_LDADD = $(CLI_TEST_LIBS)
tests_unit_test_offsets_file_LDADD = $(CLI_TEST_LIBS)
tests_unit_test_parse_LDADD = $(CLI_TEST_LIBS)
tests_unit_test_specs_LDADD = $(CLI_TEST_LIBS)
tests_unit_test_table_LDADD = $(CLI_TEST_LIBS)

tests_unit_test_store_SOURCES = \
	tests/support/scripted_store.c \
	tests/support/scripted_store.h \
	tests/unit/test_store.c

# The suite that every store's test runs.
tests_libpawl_conformance_la_SOURCES = \
	tests/conformance/arguments.c \
	tests/conformance/conformance.h \
	tests/conformance/killing.c \
	tests/conformance/names.c \
	tests/conformance/owning.c \
	tests/conformance/planning.c \
	tests/conformance/racing.c \
	tests/conformance/saving.c \
	tests/conformance/spoiling.c \
	tests/conformance/suite.c \
	tests/conformance/suite.h \
	tests/conformance/transactions.c \
	tests/conformance/waiting.c
CONFORMANCE_LIBS = tests/libpawl-conformance.la $(LDADD)
tests_conformance_test_store_memory_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_kafka_lost_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_kafka_lost_SOURCES = \
	tests/conformance/test_kafka_lost.c \
	tests/support/proxy.c \
	tests/support/proxy.h \
	tests/support/service.c \
	tests/support/service.h
tests_conformance_test_store_kafka_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_store_kafka_SOURCES = \
	tests/conformance/test_store_kafka.c \
	tests/support/service.c \
	tests/support/service.h
REDIS_RAW_SOURCES = \
	tests/conformance/redis_raw.c \
	tests/conformance/redis_raw.h \
	tests/support/service.c \
	tests/support/service.h
tests_conformance_test_redis_errors_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_redis_failover_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_redis_failover_SOURCES = \
	tests/conformance/test_redis_failover.c \
	tests/support/proxy.c \
	tests/support/proxy.h \
	$(REDIS_RAW_SOURCES)
tests_conformance_test_redis_lost_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_redis_lost_SOURCES = \
	tests/conformance/test_redis_lost.c \
	tests/support/proxy.c \
	tests/support/proxy.h \
	$(REDIS_RAW_SOURCES)
tests_conformance_test_redis_server_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_redis_server_SOURCES = tests/conformance/test_redis_server.c $(REDIS_RAW_SOURCES)
tests_conformance_test_store_redis_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_store_redis_SOURCES = tests/conformance/test_store_redis.c $(REDIS_RAW_SOURCES)
tests_conformance_test_store_hbase_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_store_hbase_SOURCES = \
	tests/conformance/hbase_raw.c \
	tests/conformance/hbase_raw.h \
	tests/conformance/hbase_row.c \
	tests/conformance/hbase_server.c \
	tests/conformance/test_store_hbase.c \
	tests/support/proxy.c \
	tests/support/proxy.h \
	tests/support/service.c \
	tests/support/service.h
SQLITE_RAW_SOURCES = tests/conformance/sqlite_raw.c tests/conformance/sqlite_raw.h
tests_conformance_test_sqlite_files_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_sqlite_files_SOURCES = tests/conformance/test_sqlite_files.c $(SQLITE_RAW_SOURCES)
tests_conformance_test_sqlite_results_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_sqlite_results_SOURCES = tests/conformance/test_sqlite_results.c $(SQLITE_RAW_SOURCES)
tests_conformance_test_store_sqlite_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_store_sqlite_SOURCES = tests/conformance/test_store_sqlite.c $(SQLITE_RAW_SOURCES)

POSTGRESQL_RAW_SOURCES = \
	tests/conformance/postgresql_raw.c \
	tests/conformance/postgresql_raw.h \
	tests/support/service.c \
	tests/support/service.h
tests_conformance_test_postgresql_lost_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_postgresql_lost_SOURCES = \
	tests/conformance/test_postgresql_lost.c \
	tests/support/proxy.c \
	tests/support/proxy.h \
	$(POSTGRESQL_RAW_SOURCES)
tests_conformance_test_postgresql_results_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_postgresql_results_SOURCES = tests/conformance/test_postgresql_results.c $(POSTGRESQL_RAW_SOURCES)
tests_conformance_test_postgresql_servers_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_postgresql_servers_SOURCES = tests/conformance/test_postgresql_servers.c $(POSTGRESQL_RAW_SOURCES)
tests_conformance_test_store_postgresql_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_store_postgresql_SOURCES = tests/conformance/test_store_postgresql.c $(POSTGRESQL_RAW_SOURCES)

ZOOKEEPER_RAW_SOURCES = \
	tests/conformance/zookeeper_raw.c \
	tests/conformance/zookeeper_raw.h \
	tests/support/service.c \
	tests/support/service.h
tests_conformance_test_store_zookeeper_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_store_zookeeper_SOURCES = tests/conformance/test_store_zookeeper.c $(ZOOKEEPER_RAW_SOURCES)
tests_conformance_test_zookeeper_names_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_zookeeper_server_LDADD = $(CONFORMANCE_LIBS)
tests_conformance_test_zookeeper_server_SOURCES = tests/conformance/test_zookeeper_server.c $(ZOOKEEPER_RAW_SOURCES)

tests_libpawl_testing_la_SOURCES = $(TESTING_SOURCES)
tests_libpawl_testing_la_LIBADD = $(STORES)

# Where stores are built in, libpawl-core asks for them after libpawl-testing, which has them: they have to be wanted
# before.
if !WITH_MODULES
if WITH_HBASE
AM_LDFLAGS += -Wl,-u,pawl__store_hbase
endif
if WITH_POSTGRESQL
AM_LDFLAGS += -Wl,-u,pawl__store_postgresql
endif
if WITH_REDIS
AM_LDFLAGS += -Wl,-u,pawl__store_redis
endif
if WITH_SQLITE
AM_LDFLAGS += -Wl,-u,pawl__store_sqlite
endif
if WITH_ZOOKEEPER
AM_LDFLAGS += -Wl,-u,pawl__store_zookeeper
endif
endif

# Tests are linked statically with all that is internal. One that has to see only what users see says
# `tests_..._LDADD = $(SHARED_TEST_LIBS)`.
LDADD = tests/libpawl-testing.la src/libpawl-core.la $(CMOCKA_LIBS) $(STORE_LIBS) $(LIBPAWL_LIBS)
SHARED_TEST_LIBS = src/libpawl.la $(CMOCKA_LIBS) $(SQLITE_LIBS) $(LIBPAWL_LIBS)

PHONY += build-tests check-integration check-programs check-static
build-tests: all
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) $(check_LTLIBRARIES) $(check_PROGRAMS)

check-integration: build-tests
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(INTEGRATION_TESTS)'

# Without the checks of the source, which need no second run with another sanitizer.
check-programs: build-tests
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(UNIT_TESTS) $(CONFORMANCE_TESTS)'

# These take longer, and are of use after a change only.
check-static:
	$(AM_V_at)PAWL_TEST_STATIC=1 $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(STATIC_CHECKS)'

# The layout of all C. `make format` applies it, tests/check-format checks it.
PHONY += format
format:
	cd $(srcdir) && find include src backends tests examples bench fuzz tools -name '*.[ch]' -exec $(CLANG_FORMAT) -i {} +
