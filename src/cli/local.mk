# src/cli/local.mk - the program pawl; it links the shared library, and sees what users see and util

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

CLI_LIBS = src/cli/libpawl-cli.la src/libpawl.la $(YAJL_LIBS) $(GLIB_LIBS)

# An installed program: libtool links it anew for its place, so in the build folder it is started by a script.
bin_PROGRAMS += src/cli/pawl
src_cli_pawl_SOURCES = src/cli/main.c
src_cli_pawl_LDFLAGS = $(ALLOCATOR_LDFLAGS) $(LINK_FLAGS)
src_cli_pawl_LDADD = $(CLI_LIBS)
