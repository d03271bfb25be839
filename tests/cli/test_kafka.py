"""Offsets as a consumer group's own: what pawl saves Kafka's own tool shows, and where that puts a group pawl goes on."""

import os
import pathlib
import re
import subprocess

import pytest

from conftest import Offsets, wait_for
from jobs import job  # noqa: F401, a fixture

TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"


class Tool:
    """ConsumerGroupCommand, about one group. A Java costs seconds: a test runs it but a few times."""

    def __init__(self, folder, brokers, group):
        env = dict(line.split("=", 1) for line in (folder / "env").read_text().splitlines())
        self.command = ["java", "-XX:TieredStopAtLevel=1", "-cp", env["KAFKA_CLASSPATH"].strip("'"), TOOL,
                        "--bootstrap-server", brokers, "--group", group]

    def run(self, *words):
        done = subprocess.run([*self.command, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        return done.stdout

    def described(self):
        """The rows by (topic, partition), each by the heads of its columns."""
        rows = [line.split() for line in self.run("--describe").splitlines() if line.strip()]
        heads = next((row for row in rows if row[0] == "GROUP"), [])
        found = [dict(zip(heads, row)) for row in rows if len(row) == len(heads) and row != heads]
        return {(row["TOPIC"], int(row["PARTITION"])): row for row in found}

    def offsets(self):
        return {place: int(row["CURRENT-OFFSET"]) for place, row in self.described().items()}

    def reset(self, *words):
        return self.run("--reset-offsets", *words, "--execute")


@pytest.fixture
def topic(kafka):
    """With 10 and 20 records."""
    name = kafka.topic(2)
    kafka("fill", name, 0, 10)
    kafka("fill", name, 1, 20)
    return name


@pytest.fixture
def tool(brokers, topic):
    folder = os.environ.get("PAWL_TEST_KAFKA_DIR")
    if not folder:
        pytest.skip("PAWL_TEST_KAFKA_DIR is not set: no Kafka of services/kafka/start")
    return Tool(pathlib.Path(folder), brokers, topic)


@pytest.fixture
def offsets(pawl, brokers, topic, tmp_path):
    made = Offsets(pawl, brokers, tmp_path)
    made.store = f"kafka://{brokers}"
    made.group = topic
    return made


def shown(offsets):
    printed = offsets.pawl("offsets", "export", *offsets.where(), "--format", "csv", code=(0, 1)).out
    rows = [line.split(",") for line in printed.splitlines()]
    return {(topic, int(partition)): int(offset) for topic, partition, offset in rows}


@pytest.mark.parametrize("members", ["alone", "group"])
def test_both_see_where_a_job_is(brokers, offsets, topic, tool, job, members):
    made = job(brokers, topic, group=topic, store="kafka:", members=members, process__exec="wc -l >> counts")
    made.run()
    assert tool.offsets() == shown(offsets) == {(topic, 0): 10, (topic, 1): 20}
    tool.reset("--to-offset", 4, "--topic", f"{topic}:0")
    assert shown(offsets) == {(topic, 0): 4, (topic, 1): 20}
    made.run()
    assert sum(map(int, made.file("counts").split())) == 10 + 20 + 6
    assert tool.offsets() == {(topic, 0): 10, (topic, 1): 20}


def test_a_member_is_shown_and_cannot_be_reset(brokers, offsets, topic, tool, job):
    made = job(brokers, topic, group=topic, store="kafka:", members="group", client_id="etl-7", trigger="continuous",
               process__exec="cat > /dev/null")
    process = made.start()
    wait_for(lambda: shown(offsets) == {(topic, 0): 10, (topic, 1): 20})
    rows = tool.described()
    assert {(row["CLIENT-ID"], row["LAG"]) for row in rows.values()} == {("etl-7", "0")}
    assert re.search("only be reset if the group .* is inactive", tool.reset("--to-earliest", "--topic", topic))
    process.terminate()
    made.end(process)
    assert shown(offsets) == {(topic, 0): 10, (topic, 1): 20}


def test_knows_no_owners(brokers, topic, job):
    made = job(brokers, topic, store="kafka:", takeover="refuse", process__exec="cat >/dev/null")
    assert "takeover has to be now: a kafka: store knows no owners" in made.run(code=2)


def test_both_change_the_same(offsets, topic, tool):
    offsets.set(f"{topic}:0=3", f"{topic}:1=7")
    assert tool.offsets() == {(topic, 0): 3, (topic, 1): 7}
    tool.run("--delete-offsets", "--topic", f"{topic}:1")
    assert shown(offsets) == {(topic, 0): 3}
    offsets.pawl("offsets", "delete", *offsets.where(), "--all-topics", "--execute")
    # Kafka still knows the name of the group.
    assert f"did you mean '{topic}'" not in offsets.pawl("offsets", "show", *offsets.where(), code=1).err
    assert tool.described() == {}


def test_files_of_each_other(offsets, topic, tool, tmp_path):
    file = tmp_path / "of-pawl.csv"
    offsets.set(f"{topic}:0=3", f"{topic}:1=7")
    offsets.pawl("offsets", "export", *offsets.where(), "--format", "csv", "--file", file)
    offsets.set(f"{topic}:0=0", f"{topic}:1=0")
    tool.reset("--from-file", file)
    assert shown(offsets) == {(topic, 0): 3, (topic, 1): 7}
    file = tmp_path / "of-kafka.csv"
    file.write_text(tool.run("--reset-offsets", "--to-current", "--all-topics", "--export", "--dry-run"))
    offsets.set(f"{topic}:0=0", f"{topic}:1=0")
    offsets.change("import", file, "--execute")
    assert shown(offsets) == {(topic, 0): 3, (topic, 1): 7}
