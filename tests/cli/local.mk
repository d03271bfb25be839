# tests/cli/local.mk - tests of the program, in Python

EXTRA_DIST += \
	tests/cli/conftest.py \
	tests/cli/jobs.py \
	tests/cli/pytest.ini \
	tests/cli/test_frozen.py \
	tests/cli/test_group.py \
	tests/cli/test_job_files.py \
	tests/cli/test_kafka.py \
	tests/cli/test_mirror.py \
	tests/cli/test_offsets.py \
	tests/cli/test_peek.py \
	tests/cli/test_reset.py \
	tests/cli/test_run.py \
	tests/cli/test_runbook.py \
	tests/cli/test_secure.py \
	tests/cli/test_service.py \
	tests/cli/test_usage.py \
	tests/cli/test_zookeeper.py \
	tests/support/systemctl

# Makes the topics and records that they need.
if WITH_CMOCKA
check_PROGRAMS += tests/support/kafka_topic
tests_support_kafka_topic_SOURCES = tests/support/kafka_topic.c
endif
