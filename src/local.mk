# src/local.mk - libpawl, in layers: util < core < source

LIBPAWL_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
LIBPAWL_CPPFLAGS = $(AM_CPPFLAGS) -DPAWL_MODULE_DIR='"$(pkglibdir)"'
LIBPAWL_LIBS = $(RDKAFKA_LIBS) $(GLIB_LIBS)

# Pure helpers. Modules link it too, so that they need nothing hidden of libpawl itself.
noinst_LTLIBRARIES += src/libpawl-util.la
src_libpawl_util_la_CPPFLAGS = $(LIBPAWL_CPPFLAGS)
src_libpawl_util_la_CFLAGS = $(LIBPAWL_CFLAGS)
src_libpawl_util_la_SOURCES = \
	src/util/backoff.c \
	src/util/backoff.h \
	src/util/clock.c \
	src/util/clock.h \
	src/util/error.c \
	src/util/error.h \
	src/util/log.c \
	src/util/log.h \
	src/util/nearest.c \
	src/util/nearest.h \
	src/util/partition.c \
	src/util/partition.h \
	src/util/pattern.c \
	src/util/pattern.h \
	src/util/poll.c \
	src/util/poll.h \
	src/util/text.c \
	src/util/text.h \
	src/util/url.c \
	src/util/url.h \
	src/util/wait.c \
	src/util/wait.h

# All of libpawl with its internal names still visible: what unit tests link.
noinst_LTLIBRARIES += src/libpawl-core.la
src_libpawl_core_la_CPPFLAGS = $(LIBPAWL_CPPFLAGS)
src_libpawl_core_la_CFLAGS = $(LIBPAWL_CFLAGS)
src_libpawl_core_la_LIBADD = src/libpawl-util.la
src_libpawl_core_la_SOURCES = \
	src/builtin_stores.c \
	src/builtins.c \
	src/core/batch.c \
	src/core/batch.h \
	src/core/call.c \
	src/core/call.h \
	src/core/config.c \
	src/core/config.h \
	src/core/crew.c \
	src/core/crew.h \
	src/core/holdings.c \
	src/core/holdings.h \
	src/core/job.c \
	src/core/job.h \
	src/core/keeper.c \
	src/core/keeper.h \
	src/core/loss.c \
	src/core/members.c \
	src/core/mirror.c \
	src/core/mirror.h \
	src/core/offsets.c \
	src/core/pins.c \
	src/core/plan.c \
	src/core/plan.h \
	src/core/planning.c \
	src/core/positions.c \
	src/core/preview.c \
	src/core/print.c \
	src/core/print.h \
	src/core/recover.c \
	src/core/registry.c \
	src/core/report.c \
	src/core/saving.c \
	src/core/settings.c \
	src/core/settings.h \
	src/core/settings_check.c \
	src/core/settings_names.c \
	src/core/settings_parse.c \
	src/core/settings_special.c \
	src/core/settings_special.h \
	src/core/source.h \
	src/core/sources.c \
	src/core/starts.c \
	src/core/stop.c \
	src/core/stop.h \
	src/core/store.c \
	src/core/store.h \
	src/core/store_check.c \
	src/core/store_owner.c \
	src/core/store_read.c \
	src/core/store_resolve.c \
	src/core/store_run.c \
	src/core/store_save.c \
	src/core/store_write.c \
	src/core/takeover.c \
	src/core/telling.c \
	src/core/version.c \
	src/core/worker.c \
	src/core/worker.h \
	src/source/kafka/ask.c \
	src/source/kafka/client.c \
	src/source/kafka/deliver.c \
	src/source/kafka/hunger.c \
	src/source/kafka/kafka.h \
	src/source/kafka/lane.c \
	src/source/kafka/lane.h \
	src/source/kafka/member.c \
	src/source/kafka/member.h \
	src/source/kafka/nudge.c \
	src/source/kafka/offsets.c \
	src/source/kafka/rebalance.c \
	src/source/kafka/source.c \
	src/source/kafka/tap.c

# A cluster in memory: only tests link it.
SOURCE_MEMORY_SOURCES = \
	src/source/memory/cluster.c \
	src/source/memory/cluster.h \
	src/source/memory/group.c \
	src/source/memory/lane.c \
	src/source/memory/memory.h \
	src/source/memory/source.c

lib_LTLIBRARIES += src/libpawl.la
src_libpawl_la_SOURCES =
src_libpawl_la_LIBADD = src/libpawl-core.la $(LIBPAWL_LIBS)
src_libpawl_la_LDFLAGS = $(LINK_FLAGS) -no-undefined -Wl,-z,defs -version-info $(PAWL_LIBRARY_VERSION) \
	-Wl,--version-script=$(srcdir)/src/libpawl.map
EXTRA_src_libpawl_la_DEPENDENCIES = src/libpawl.map

if !WITH_MODULES
src_libpawl_la_LIBADD += $(STORES) $(STORE_LIBS)
endif

EXTRA_DIST += src/libpawl.map src/module.map

# How the programs that are built here are linked, examples and benchmarks: with the allocator of --with-allocator, and
# with the shared library. `X_LDFLAGS = $(PROGRAM_LINK)`, `X_LDADD = $(PROGRAM_LIBS)` and what else X needs.
PROGRAM_LINK = $(ALLOCATOR_LDFLAGS) $(AM_LDFLAGS)
PROGRAM_LIBS = src/libpawl.la

# How a store's module is linked. MODULES, STORES and STORE_LIBS are filled by the backends.
MODULE_LIBS = src/libpawl-util.la src/libpawl.la $(GLIB_LIBS)
MODULE_LINK = $(LINK_FLAGS) -module -avoid-version -shared -no-undefined -Wl,-z,defs \
	-Wl,--version-script=$(srcdir)/src/module.map

# A module is relinked when it is installed, against the libpawl that is then there already. (The name goes through a
# variable since automake would take the rule for a replacement of its own.)
install_pkglibLTLIBRARIES = install-pkglibLTLIBRARIES
$(install_pkglibLTLIBRARIES): install-libLTLIBRARIES

# The build tree looks like an installed one: modules lie in "pawl" beside the shared library.
if WITH_MODULES
ALL_LOCAL += src/.libs/pawl/.stamp
CLEAN_LOCAL += clean-modules
PHONY += clean-modules

src/.libs/pawl/.stamp: src/libpawl.la $(MODULES)
	$(AM_V_GEN)$(MKDIR_P) src/.libs/pawl; \
	for module in $(MODULES); do \
	    name=`basename $$module .la`.so; \
	    ln -sf "../../../`dirname $$module`/.libs/$$name" "src/.libs/pawl/$$name" || exit 1; \
	done; \
	touch $@

clean-modules:
	rm -rf src/.libs/pawl
endif
