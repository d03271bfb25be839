# bench/local.mk - what `make bench` runs
#
# Each loop is linked twice: with the allocator that the examples have, and with the system's.

if WITH_SQLITE
BENCHMARKS = bench/fill bench/bare_loop bench/bare_loop_system bench/pawl_loop bench/pawl_loop_system
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

# How long stores take, beside their bare clients; for `make bench-stores`.
if WITH_REDIS
EXTRA_PROGRAMS += bench/redis_saves
CLEANFILES += bench/redis_saves
endif

bench_redis_saves_SOURCES = bench/redis_saves.c
bench_redis_saves_LDFLAGS = $(PROGRAM_LINK)
bench_redis_saves_LDADD = $(PROGRAM_LIBS) $(REDIS_LIBS) $(GLIB_LIBS)

PHONY += bench
bench: all
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) $(BENCHMARKS)
	$(srcdir)/bench/run $(abs_builddir)
	$(srcdir)/bench/exec $(abs_builddir)

EXTRA_DIST += bench/exec bench/run
