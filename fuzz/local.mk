# fuzz/local.mk - the fuzz targets: with --enable-fuzzing libFuzzer's programs, else programs that try the files they are
# given, as tests/check-corpus does

FUZZ_TARGETS = \
	fuzz/fuzz_job_file \
	fuzz/fuzz_offsets_file \
	fuzz/fuzz_plan \
	fuzz/fuzz_settings \
	fuzz/fuzz_specs \
	fuzz/fuzz_text \
	fuzz/fuzz_url

check_PROGRAMS += $(FUZZ_TARGETS)
EXTRA_DIST += fuzz/README.md fuzz/corpus fuzz/url.dict

if WITH_FUZZING
FUZZ_MAIN = fuzz/target.h
FUZZ_LINK = $(AM_LDFLAGS) -fsanitize=fuzzer
else
FUZZ_MAIN = fuzz/target.h fuzz/replay.c
FUZZ_LINK = $(AM_LDFLAGS)
endif

FUZZ_LIBS = src/cli/libpawl-cli.la
if !WITH_MODULES
if WITH_SQLITE
FUZZ_LIBS += backends/sqlite/libstore-sqlite.la
endif
endif
FUZZ_LIBS += src/libpawl-core.la $(YAJL_LIBS) $(SQLITE_LIBS) $(LIBPAWL_LIBS)

fuzz_fuzz_job_file_SOURCES = fuzz/fuzz_job_file.c $(FUZZ_MAIN)
fuzz_fuzz_job_file_LDADD = $(FUZZ_LIBS)
fuzz_fuzz_job_file_LDFLAGS = $(FUZZ_LINK)
fuzz_fuzz_offsets_file_SOURCES = fuzz/fuzz_offsets_file.c $(FUZZ_MAIN)
fuzz_fuzz_offsets_file_LDADD = $(FUZZ_LIBS)
fuzz_fuzz_offsets_file_LDFLAGS = $(FUZZ_LINK)
fuzz_fuzz_plan_SOURCES = fuzz/fuzz_plan.c $(FUZZ_MAIN)
fuzz_fuzz_plan_LDADD = $(FUZZ_LIBS)
fuzz_fuzz_plan_LDFLAGS = $(FUZZ_LINK)
fuzz_fuzz_settings_SOURCES = fuzz/fuzz_settings.c $(FUZZ_MAIN)
fuzz_fuzz_settings_LDADD = $(FUZZ_LIBS)
fuzz_fuzz_settings_LDFLAGS = $(FUZZ_LINK)
fuzz_fuzz_specs_SOURCES = fuzz/fuzz_specs.c $(FUZZ_MAIN)
fuzz_fuzz_specs_LDADD = $(FUZZ_LIBS)
fuzz_fuzz_specs_LDFLAGS = $(FUZZ_LINK)
fuzz_fuzz_text_SOURCES = fuzz/fuzz_text.c $(FUZZ_MAIN)
fuzz_fuzz_text_LDADD = $(FUZZ_LIBS)
fuzz_fuzz_text_LDFLAGS = $(FUZZ_LINK)
fuzz_fuzz_url_SOURCES = fuzz/fuzz_url.c $(FUZZ_MAIN)
fuzz_fuzz_url_LDADD = $(FUZZ_LIBS)
fuzz_fuzz_url_LDFLAGS = $(FUZZ_LINK)

PHONY += fuzz
fuzz: $(FUZZ_TARGETS)
