# services/local.mk - scripts that start and stop real servers, for tests and people

EXTRA_DIST += \
	services/README.md \
	services/common.sh \
	services/hbase/common.sh \
	services/hbase/kill \
	services/hbase/log4j.properties \
	services/hbase/pom.xml \
	services/hbase/start \
	services/hbase/stop \
	services/kafka/common.sh \
	services/kafka/kill \
	services/kafka/log4j2.properties \
	services/kafka/pom.xml \
	services/kafka/secure.sh \
	services/kafka/start \
	services/kafka/stop \
	services/postgresql/common.sh \
	services/postgresql/kill \
	services/postgresql/start \
	services/postgresql/stop \
	services/redis/kill \
	services/redis/start \
	services/redis/stop \
	services/zookeeper/kill \
	services/zookeeper/start \
	services/zookeeper/stop
