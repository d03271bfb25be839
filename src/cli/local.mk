# src/cli/local.mk - the program pawl; it links the shared library, and sees what users see, util, and the
# tables of settings

# All but main.c: the page maker and tests link it too.
noinst_LTLIBRARIES += src/cli/libpawl-cli.la
src_cli_libpawl_cli_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
src_cli_libpawl_cli_la_LIBADD = src/libpawl-util.la
src_cli_libpawl_cli_la_SOURCES = \
	src/cli/change.c \
	src/cli/change.h \
	src/cli/cluster.c \
	src/cli/cluster.h \
	src/cli/cmd_lag.c \
	src/cli/cmd_offsets.c \
	src/cli/cmd_offsets_delete.c \
	src/cli/cmd_offsets_export.c \
	src/cli/cmd_offsets_import.c \
	src/cli/cmd_offsets_reset.c \
	src/cli/cmd_offsets_set.c \
	src/cli/cmd_offsets_show.c \
	src/cli/cmd_peek.c \
	src/cli/cmd_stores.c \
	src/cli/command.h \
	src/cli/commands.c \
	src/cli/commands.h \
	src/cli/help.c \
	src/cli/moves.c \
	src/cli/moves.h \
	src/cli/offsets_file.c \
	src/cli/offsets_file.h \
	src/cli/parse.c \
	src/cli/places.c \
	src/cli/places.h \
	src/cli/run.c \
	src/cli/specs.c \
	src/cli/specs.h \
	src/cli/table.c \
	src/cli/table.h

# pawl run: job files, commands and plugins. The tables of settings come out of libpawl-core, the rest from the library.
src_cli_libpawl_cli_la_SOURCES += \
	src/cli/buffer.c \
	src/cli/buffer.h \
	src/cli/chatter.c \
	src/cli/chatter.h \
	src/cli/child.c \
	src/cli/child.h \
	src/cli/cmd_run.c \
	src/cli/exec.c \
	src/cli/exec.h \
	src/cli/expand.c \
	src/cli/expand.h \
	src/cli/file.c \
	src/cli/file.h \
	src/cli/first.c \
	src/cli/first.h \
	src/cli/ini.c \
	src/cli/ini.h \
	src/cli/jobfile.c \
	src/cli/jobfile.h \
	src/cli/jobfile_print.c \
	src/cli/jobfile_sections.c \
	src/cli/notify.c \
	src/cli/notify.h \
	src/cli/plugin.c \
	src/cli/plugin.h \
	src/cli/preview_table.c \
	src/cli/preview_table.h \
	src/cli/process.c \
	src/cli/process.h \
	src/cli/progress.c \
	src/cli/progress.h \
	src/cli/record_text.c \
	src/cli/record_text.h \
	src/cli/sink.c \
	src/cli/sink.h \
	src/cli/watch.c \
	src/cli/watch.h

# libpawl comes before its own parts, so that of these only the tables are taken.
CLI_LIBS = src/cli/libpawl-cli.la src/libpawl.la src/libpawl-core.la $(RDKAFKA_LIBS) $(YAJL_LIBS) $(GLIB_LIBS)

# An installed program: libtool links it anew for its place, so in the build folder it is started by a script.
bin_PROGRAMS += src/cli/pawl
src_cli_pawl_SOURCES = src/cli/main.c
src_cli_pawl_LDFLAGS = $(ALLOCATOR_LDFLAGS) $(LINK_FLAGS)
src_cli_pawl_LDADD = $(CLI_LIBS)
