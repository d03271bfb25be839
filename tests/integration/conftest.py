"""What the tests with a real Kafka share. ./run-tests sets the environment:

PAWL_TEST_BROKERS    a running Kafka; without it the tests are skipped
PAWL_TEST_HBASE      the folder of a running HBase; what needs it is skipped without
PAWL_BUILD_DIR       where the programs were built (default: the top of the source tree)
PAWL_TEST_SEED       an integer: which slice of a sweep is run (default: from the clock, and printed)
PAWL_TEST_FULL       1: whole sweeps, the whole data
"""

import itertools
import os
import pathlib
import subprocess
import time

import pytest

import flights
import stores

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PAWL_BUILD_DIR") or SOURCE)
SEED = int(os.environ.get("PAWL_TEST_SEED") or time.time())
FULL = os.environ.get("PAWL_TEST_FULL") == "1"


def pytest_report_header():
    return f"pawl: seed {SEED}, {'full' if FULL else 'a slice'}, build in {BUILD}"


@pytest.fixture(scope="session")
def seed():
    return SEED


@pytest.fixture(scope="session")
def full():
    return FULL


@pytest.fixture(scope="session")
def brokers():
    text = os.environ.get("PAWL_TEST_BROKERS")
    if not text:
        pytest.skip("PAWL_TEST_BROKERS is not set: no Kafka")
    return text


@pytest.fixture(scope="session")
def servers(tmp_path_factory):
    """The servers of stores by their schemes. Tests kill them, so the broker is not the one of the other tests."""
    made = stores.Servers(tmp_path_factory, own=["kafka"])
    yield made
    made.stop()


@pytest.fixture(scope="session")
def program():
    """Finds a built program by its path in the tree."""

    def find(name):
        path = BUILD / name
        if not path.exists():
            pytest.fail(f"{path} is not built")
        return str(path)

    return find


@pytest.fixture(scope="session")
def all_rows():
    """All rows of 2013, without the heading, as text."""
    fetched = subprocess.run([SOURCE / "examples/data/fetch-flights"], check=True, stdout=subprocess.PIPE, text=True)
    return flights.read_rows(fetched.stdout.strip())


@pytest.fixture(scope="session")
def load(program):
    """Puts rows into a topic, a new one of 8 partitions if none is named, and returns its name."""
    numbers = itertools.count(1)

    def load_rows(brokers, rows, topic=None):
        partitions = [] if topic else ["8"]
        topic = topic or f"flights-{os.getpid()}-{next(numbers)}"
        subprocess.run([program("examples/load_flights"), brokers, topic, *partitions],
                       input="".join(rows), text=True, check=True, timeout=300)
        return topic

    return load_rows


@pytest.fixture(scope="session")
def topics(load, brokers, all_rows):
    """Topics on the shared broker by their number of rows, each made once."""
    made = {}

    def of_size(count):
        if count not in made:
            made[count] = load(brokers, all_rows[:count])
        return made[count]

    return of_size
