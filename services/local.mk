# services/local.mk - scripts that start and stop real servers, for tests and people

EXTRA_DIST += \
	services/README.md \
	services/kafka/common.sh \
	services/kafka/kill \
	services/kafka/log4j2.properties \
	services/kafka/pom.xml \
	services/kafka/secure.sh \
	services/kafka/start \
	services/kafka/stop
