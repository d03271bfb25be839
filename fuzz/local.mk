# fuzz/local.mk - fuzz targets are built by fuzz/build, with a compiler of their own

EXTRA_DIST += \
	fuzz/README.md \
	fuzz/build \
	fuzz/corpus/job_file/archive \
	fuzz/corpus/settings/flights \
	fuzz/corpus/settings/partitions \
	fuzz/corpus/settings/pattern \
	fuzz/corpus/url/kafka \
	fuzz/corpus/url/postgresql \
	fuzz/corpus/url/redis \
	fuzz/corpus/url/sqlite \
	fuzz/corpus/url/zookeeper \
	fuzz/fuzz_job_file.c \
	fuzz/fuzz_settings.c \
	fuzz/fuzz_url.c \
	fuzz/replay.c \
	fuzz/target.h \
	fuzz/url.dict
