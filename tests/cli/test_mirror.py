"""mirror = kafka: offsets that are saved in another store are seen in Kafka's group, too."""

import pytest

from conftest import wait_for
from jobs import Job, job  # noqa: F401, a fixture

NOTHING = "cat > /dev/null"


@pytest.fixture
def topic(kafka):
    """With 10 and 20 records."""
    name = kafka.topic(2)
    kafka("fill", name, 0, 10)
    kafka("fill", name, 1, 20)
    return name


@pytest.fixture
def in_kafka(pawl, brokers):
    """The offsets of a group as Kafka has them, by (topic, partition)."""

    def read(group):
        shown = pawl("offsets", "export", "--store", f"kafka://{brokers}", "--group", group, "--format", "csv",
                     code=(0, 1))
        rows = [line.split(",") for line in shown.out.splitlines()]
        return {(topic, int(partition)): int(offset) for topic, partition, offset in rows}

    return read


@pytest.mark.parametrize("members", ["alone", "group"])
def test_kafka_shows_what_is_saved(brokers, topic, job, kafka, in_kafka, members):
    made = job(brokers, topic, group=topic, process__exec=NOTHING, mirror="kafka", members=members)
    assert in_kafka(topic) == {}
    assert "WARN" not in made.run()
    assert in_kafka(topic) == made.stored() == {(topic, 0): 10, (topic, 1): 20}
    kafka("fill", topic, 0, 5)
    made.set(trigger="continuous")
    process = made.start()
    wait_for(lambda: in_kafka(topic) == {(topic, 0): 15, (topic, 1): 20})
    process.terminate()
    assert "WARN" not in made.end(process)


def test_what_was_saved_before_is_mirrored(brokers, topic, job, in_kafka):
    made = job(brokers, topic, group=topic, process__exec=NOTHING)
    made.run()
    assert in_kafka(topic) == {}
    made.set(mirror="kafka")
    made.run()
    assert in_kafka(topic) == {(topic, 0): 10, (topic, 1): 20}


def test_a_renewal_is_mirrored(pawl, brokers, topic, job, in_kafka):
    """So a job that has nothing to read does not let its offsets in Kafka expire."""
    made = job(brokers, topic, group=topic, process__exec=NOTHING, mirror="kafka", trigger="continuous",
               refresh__interval="100ms")
    process = made.start()
    wait_for(lambda: in_kafka(topic) == {(topic, 0): 10, (topic, 1): 20})
    pawl("offsets", "delete", "--store", f"kafka://{brokers}", "--group", topic, "--all-topics", "--execute")
    wait_for(lambda: in_kafka(topic) == {(topic, 0): 10, (topic, 1): 20})
    process.terminate()
    made.end(process)


def test_a_refusal_only_warns(brokers, topic, job, in_kafka, tmp_path):
    """Somebody else is a member of the group: only members may change its offsets then."""
    folder = tmp_path / "member"
    folder.mkdir()
    member = Job(folder, brokers, topic, group=topic, process__exec=NOTHING, store="kafka:", members="group",
                 trigger="continuous")
    made = job(brokers, topic, group=topic, process__exec=NOTHING, mirror="kafka")
    process = member.start()
    try:
        wait_for(lambda: len(in_kafka(topic)) == 2)
        log = made.run()
    finally:
        process.kill()
        process.wait()
    assert made.stored() == {(topic, 0): 10, (topic, 1): 20}
    assert log.count("were not mirrored, next try in") == 1, log
    assert "the group has members, and only they may change its offsets" in log
    assert log.count("WARN") == 2 and "the last offsets of group" in log, log
