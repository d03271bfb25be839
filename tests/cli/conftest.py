"""What the tests of the program share. The environment is that of tests/integration/conftest.py."""

import itertools
import json
import os
import pathlib
import subprocess
import time

import pytest

import stores

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PAWL_BUILD_DIR") or SOURCE)
NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def brokers():
    text = os.environ.get("PAWL_TEST_BROKERS")
    if not text:
        pytest.skip("PAWL_TEST_BROKERS is not set: no Kafka")
    return text


@pytest.fixture(scope="session")
def servers(brokers, tmp_path_factory):
    """The servers of stores by their schemes. That of `kafka:` is the broker of all the tests."""
    made = stores.Servers(tmp_path_factory)
    yield made
    made.stop()


class Result:
    """What a run of pawl left behind."""

    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    @property
    def json(self):
        """Integers in Python have no limit, so what is printed here is what stood there."""
        return json.loads(self.out)

    def partitions(self):
        """The rows by (topic, partition)."""
        return {(row["topic"], row["partition"]): row for row in self.json["partitions"]}


@pytest.fixture(scope="session")
def pawl():
    """Runs the program and returns a Result; `code` is the exit status that it must have, or a tuple of them."""

    def run(*words, code=0, **options):
        done = subprocess.run([BUILD / "src/cli/pawl", *map(str, words)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, **options)
        result = Result(done)
        codes = code if isinstance(code, tuple) else (code,)
        assert result.code in codes, f"{words}: exit status {result.code}\n{result.out}\n{result.err}"
        return result

    return run


class Kafka:
    """Topics and records, by way of tests/support/kafka_topic, which the environment tells where."""

    def __init__(self, **env):
        self.process = subprocess.Popen([BUILD / "tests/support/kafka_topic"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env={**os.environ, **env})

    def __call__(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer == "done\n", f"{words}: {answer}"

    def topic(self, partitions=1, name=None):
        """Makes a topic, of a new name if there is none."""
        name = name or f"cli-{os.getpid()}-{next(NUMBERS)}"
        self("make", name, partitions)
        return name

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


@pytest.fixture(scope="session")
def kafka(brokers):
    made = Kafka()
    yield made
    made.close()


def stored_offsets(pawl, store, group):
    """The offsets of a group by (topic, partition), or {} when there is nothing."""
    shown = pawl("offsets", "export", "--store", store, "--group", group, "--format", "csv", code=(0, 1))
    rows = [line.split(",") for line in shown.out.splitlines()]
    return {(topic, int(partition)): int(offset) for topic, partition, offset in rows}


class Offsets:
    """A group in a store of its own, and the commands about it."""

    def __init__(self, pawl, brokers, folder):
        self.pawl = pawl
        self.path = folder / "offsets.db"
        self.store = f"sqlite:{self.path}"
        self.group = "etl"
        self.brokers = brokers

    def where(self):
        return ["--store", self.store, "--group", self.group]

    def change(self, verb, *words, code=0):
        """A command that asks the brokers."""
        return self.pawl("offsets", verb, *self.where(), "--brokers", self.brokers, *words, code=code)

    def set(self, *words):
        self.change("set", *words, "--force", "--execute")

    def show(self):
        return self.pawl("offsets", "show", *self.where(), "--json").partitions()

    def stored(self):
        """The offsets by (topic, partition), or {} when there is nothing."""
        return stored_offsets(self.pawl, self.store, self.group) if self.path.exists() else {}

    def lag(self, *words, code=0):
        return self.pawl("lag", *self.where(), "--brokers", self.brokers, "--json", *words, code=code)


@pytest.fixture
def offsets(pawl, brokers, tmp_path):
    return Offsets(pawl, brokers, tmp_path)


def wait_for(what, seconds=30):
    """Waits until what() is true, and returns what it gave."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    pytest.fail(f"it has not come about within {seconds} s")
