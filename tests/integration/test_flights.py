"""The flights ETL equals SQL over the CSV, exactly, whatever happens to it."""

import contextlib
import os
import sqlite3
import time

import pytest

import flights
import killing
import stores


@pytest.fixture
def etl(program, brokers):
    """Gives the command that totals a topic into a file."""

    def command(topic, db, *settings, brokers=brokers):
        return [program("examples/flights"), brokers, f"sqlite:{db}", f"topics={topic}", *settings]

    return command


def assert_run(command, log, db, rows):
    flights.assert_done(flights.run(command, log))
    flights.assert_same(db, flights.expected(rows))


def test_clean_run(etl, topics, all_rows, tmp_path):
    db = tmp_path / "flights.db"
    assert_run(etl(topics(len(all_rows)), db), tmp_path / "log", db, all_rows)


def test_second_run_adds_nothing(etl, topics, all_rows, tmp_path):
    db = tmp_path / "flights.db"
    rows = all_rows[:5000]
    for number in (1, 2):
        assert_run(etl(topics(len(rows)), db), tmp_path / f"log-{number}", db, rows)


# Rows in a slice are fewer where batches are small: the number of batches is what costs time.
@pytest.mark.parametrize("limit, rows_in_slice, rows_in_full", [
    (1, 2000, 5000),
    (7, 20000, 336776),
    (1000, 336776, 336776),
])
def test_limits(etl, topics, all_rows, tmp_path, full, limit, rows_in_slice, rows_in_full):
    db = tmp_path / "flights.db"
    rows = all_rows[:rows_in_full if full else rows_in_slice]
    assert_run(etl(topics(len(rows)), db, f"max_offsets_per_batch={limit}"), tmp_path / "log", db, rows)


def test_rows_that_make_no_sense_are_rejected(etl, load, brokers, all_rows, tmp_path):
    db = tmp_path / "flights.db"
    good = all_rows[:100]
    bad = [good[0].replace("2013,1,1", "2013,2,30", 1), "1,2,3,4,5,6,7,8,9,UA\n", good[0].replace(",11,UA", ",x,UA", 1)]
    topic = load(brokers, good[:50] + bad + good[50:])
    assert_run(etl(topic, db), tmp_path / "log", db, good)
    log = (tmp_path / "log").read_text()
    for reason in ("not a date", "not 19 columns", "arr_delay is no number of minutes"):
        assert log.count(f"rejected: {reason}") == 1, flights.tail(tmp_path / "log")


def test_latest_counts_only_what_comes_later(etl, load, brokers, all_rows, tmp_path):
    """Nothing stored is not offset 0: the first run saves where it starts, and counts nothing."""
    db = tmp_path / "flights.db"
    topic = load(brokers, all_rows[:1000])
    assert_run(etl(topic, db, "start=latest"), tmp_path / "log-1", db, [])
    load(brokers, all_rows[1000:1500], topic)
    assert_run(etl(topic, db, "start=latest"), tmp_path / "log-2", db, all_rows[1000:1500])


def test_offset_moved_by_another_hand(etl, topics, all_rows, tmp_path):
    """A job saves nothing over an offset that it did not expect, and says so by its exit code."""
    db, log = tmp_path / "flights.db", tmp_path / "log"
    process = flights.start(etl(topics(5000), db, "max_offsets_per_batch=5"), log)
    try:
        wait_until(lambda: sum(line[2] for line in flights.result(db)) > 100, process, log)
        with contextlib.closing(sqlite3.connect(db, timeout=60)) as hand:
            hand.execute("UPDATE pawl_offsets SET offset = 3")
            hand.commit()
            before = hand.execute("SELECT SUM(flights) FROM carrier_day").fetchone()
        assert process.wait(60) == 4, flights.tail(log)
    finally:
        process.kill()
        process.wait()
    assert "conflict" in flights.tail(log)
    assert (sum(line[2] for line in flights.result(db)),) == before
    assert set(stored_offsets(db).values()) == {3}


# ------------------------------------------------------------------------------------------- a broker that is killed


@pytest.fixture
def own_kafka(tmp_path):
    """A broker of this test alone."""
    kafka = stores.Server("kafka", tmp_path / "kafka")
    kafka.start()
    yield kafka
    kafka.stop()


def wait_until(condition, process, log):
    deadline = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, f"ended too early, exit code {process.returncode}:\n{flights.tail(log)}"
        assert time.monotonic() < deadline, flights.tail(log)
        time.sleep(0.01)


def test_broker_killed_in_the_middle(etl, own_kafka, load, all_rows, tmp_path, full):
    rows = all_rows if full else all_rows[:100000]
    db, log = tmp_path / "flights.db", tmp_path / "log"
    topic = load(own_kafka.env["KAFKA_BROKERS"], rows)
    command = etl(topic, db, "max_offsets_per_batch=100", brokers=own_kafka.env["KAFKA_BROKERS"])
    process = flights.start(command, log)
    try:
        wait_until(lambda: sum(line[2] for line in flights.result(db)) > len(rows) // 10, process, log)
        own_kafka.kill()
        assert process.poll() is None, "the job was done before the broker was killed: this test has shown nothing"
        own_kafka.start()
        assert process.wait(flights.TIMEOUT_S) == 0, flights.tail(log)
    finally:
        process.kill()
        process.wait()
    flights.assert_same(db, flights.expected(rows))


# ------------------------------------------------------------------------------------------------- a job that is killed


def sweep_size(full):
    return killing.FULL if full else killing.SLICE


def sweep_rows(all_rows, full):
    return all_rows[:100000 if full else 10000]


def test_killed_with_a_transaction(program, brokers, topics, all_rows, tmp_path, full, seed,
                                  record_property):
    """Results and offsets in one transaction: after any number of kills the totals are exact."""
    rows = sweep_rows(all_rows, full)
    topic = topics(len(rows))
    wanted = flights.expected(rows)

    def db(round):
        return tmp_path / f"flights-{round}.db"

    def command(round):
        return [program("tests/support/flights_killed"), brokers, f"killing+sqlite:{db(round)}", f"topics={topic}",
                "max_offsets_per_batch=500", "parallelism=2"]

    sweep = killing.Sweep(record_property, command, lambda round: flights.assert_same(db(round), wanted),
                          tmp_path / "log")
    sweep.run(sweep_size(full), seed)


def stored_offsets(path):
    """partition -> offset, as the store's file has it."""
    if not os.path.exists(path):
        return {}
    db = sqlite3.connect(path)
    try:
        if not db.execute("SELECT name FROM sqlite_master WHERE name = 'pawl_offsets'").fetchone():
            return {}
        return dict(db.execute("SELECT partition, offset FROM pawl_offsets WHERE offset IS NOT NULL"))
    finally:
        db.close()
