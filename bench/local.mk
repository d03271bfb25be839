# bench/local.mk - what `make bench` and `make bench-stores` run
#
# Each loop is linked twice: with the allocator that the examples have, and with the system's.

EXTRA_PROGRAMS += bench/fill
CLEANFILES += bench/fill
if WITH_SQLITE
BENCHMARKS = bench/bare_loop bench/bare_loop_system bench/pawl_loop bench/pawl_loop_system
EXTRA_PROGRAMS += $(BENCHMARKS)
CLEANFILES += $(BENCHMARKS)
endif

MEASURE_SOURCES = bench/measure.c bench/measure.h

bench_fill_SOURCES = bench/fill.c
bench_fill_LDADD = $(RDKAFKA_LIBS)

bench_bare_loop_SOURCES = bench/bare_loop.c $(MEASURE_SOURCES)
bench_bare_loop_LDFLAGS = $(PROGRAM_LINK)
bench_bare_loop_LDADD = $(RDKAFKA_LIBS) $(SQLITE_LIBS)

bench_bare_loop_system_SOURCES = $(bench_bare_loop_SOURCES)
bench_bare_loop_system_LDADD = $(bench_bare_loop_LDADD)

bench_pawl_loop_SOURCES = bench/pawl_loop.c $(MEASURE_SOURCES)
bench_pawl_loop_LDFLAGS = $(PROGRAM_LINK)
bench_pawl_loop_LDADD = $(PROGRAM_LIBS)

bench_pawl_loop_system_SOURCES = $(bench_pawl_loop_SOURCES)
bench_pawl_loop_system_LDADD = $(bench_pawl_loop_LDADD)

# How long stores take, beside their bare clients: one program for each client that is there.
STORE_BENCHMARKS = bench/saves_kafka
if WITH_SQLITE
STORE_BENCHMARKS += bench/saves_sqlite
endif
if WITH_POSTGRESQL
STORE_BENCHMARKS += bench/saves_postgresql
endif
if WITH_REDIS
STORE_BENCHMARKS += bench/saves_redis
endif
if WITH_ZOOKEEPER
STORE_BENCHMARKS += bench/saves_zookeeper
endif
if WITH_HBASE
STORE_BENCHMARKS += bench/saves_hbase
endif
EXTRA_PROGRAMS += $(STORE_BENCHMARKS)
CLEANFILES += $(STORE_BENCHMARKS)

SAVES_SOURCES = bench/store_saves.c bench/bare.h
SAVES_LIBS = $(PROGRAM_LIBS) $(GLIB_LIBS)

bench_saves_sqlite_SOURCES = $(SAVES_SOURCES) bench/bare_sqlite.c
bench_saves_sqlite_LDFLAGS = $(PROGRAM_LINK)
bench_saves_sqlite_LDADD = $(SAVES_LIBS) $(SQLITE_LIBS)

bench_saves_postgresql_SOURCES = $(SAVES_SOURCES) bench/bare_postgresql.c
bench_saves_postgresql_LDFLAGS = $(PROGRAM_LINK)
bench_saves_postgresql_LDADD = $(SAVES_LIBS) $(POSTGRESQL_LIBS)

bench_saves_redis_SOURCES = $(SAVES_SOURCES) bench/bare_redis.c
bench_saves_redis_LDFLAGS = $(PROGRAM_LINK)
bench_saves_redis_LDADD = $(SAVES_LIBS) $(REDIS_LIBS)

bench_saves_zookeeper_SOURCES = $(SAVES_SOURCES) bench/bare_zookeeper.c
bench_saves_zookeeper_LDFLAGS = $(PROGRAM_LINK)
bench_saves_zookeeper_LDADD = $(SAVES_LIBS) $(ZOOKEEPER_LIBS)

bench_saves_hbase_SOURCES = $(SAVES_SOURCES) bench/bare_hbase.c
bench_saves_hbase_LDFLAGS = $(PROGRAM_LINK)
bench_saves_hbase_LDADD = $(SAVES_LIBS) $(HBASE_LIBS)

bench_saves_kafka_SOURCES = $(SAVES_SOURCES) bench/bare_kafka.c
bench_saves_kafka_LDFLAGS = $(PROGRAM_LINK)
bench_saves_kafka_LDADD = $(SAVES_LIBS) $(RDKAFKA_LIBS)

PHONY += bench bench-stores
bench: all
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) bench/fill $(BENCHMARKS)
	$(srcdir)/bench/run $(abs_builddir)
	$(srcdir)/bench/exec $(abs_builddir)

bench-stores: all
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) bench/fill $(STORE_BENCHMARKS)
	$(srcdir)/bench/stores $(abs_builddir)

EXTRA_DIST += bench/exec bench/run bench/stores
