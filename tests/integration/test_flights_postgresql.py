"""The flights ETL into PostgreSQL equals SQL over the CSV, exactly, whatever happens to it or to the server."""

import itertools
import os
import signal
import subprocess

import pytest

import flights
import killing
import stores
from test_flights import sweep_rows, sweep_size, wait_until


class PostgreSQL(stores.Server):
    """A server of these tests alone."""

    def __init__(self, folder):
        super().__init__("postgresql", folder)
        self.databases = itertools.count(1)

    def url_of(self, database):
        return self.env["POSTGRESQL_URL"].rsplit("/", 1)[0] + "/" + database

    def ask(self, database, sql):
        """The rows that a statement gives, as lists of texts."""
        done = subprocess.run(["psql", "-X", "-A", "-t", "-F", ",", "-d", database, "-c", sql], check=True, timeout=60,
                              env={**os.environ, **self.env}, stdout=subprocess.PIPE, text=True)
        return [line.split(",") for line in done.stdout.splitlines()]

    def database(self):
        """A new one."""
        name = f"etl_{next(self.databases)}"
        self.ask("postgres", f"CREATE DATABASE {name}")
        return name

    def totals(self, database):
        if self.ask(database, "SELECT to_regclass('carrier_day')") == [[""]]:
            return []
        rows = self.ask(database, "SELECT * FROM carrier_day ORDER BY carrier COLLATE \"C\", day")
        return [(carrier, day, *map(int, numbers)) for carrier, day, *numbers in rows]

    def flights(self, database):
        return sum(row[2] for row in self.totals(database))


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory):
    folder = tmp_path_factory.mktemp("postgresql")
    stores.let_servers_in(folder, tmp_path_factory.getbasetemp())
    server = PostgreSQL(folder)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def etl(program, brokers, postgresql):
    def command(topic, database, *settings):
        return [program("examples/flights_postgresql"), brokers, postgresql.url_of(database), f"topics={topic}", *settings]

    return command


def test_killed_with_a_transaction(program, brokers, topics, all_rows, postgresql, tmp_path, full, seed,
                                   record_property):
    rows = sweep_rows(all_rows, full)
    topic = topics(len(rows))
    wanted = flights.expected(rows)
    databases = {}

    def database(round):
        if round not in databases:
            databases[round] = postgresql.database()
        return databases[round]

    def command(round):
        return [program("tests/support/flights_postgresql_killed"), brokers,
                "killing+" + postgresql.url_of(database(round)), f"topics={topic}", "max_offsets_per_batch=500",
                "parallelism=2"]

    sweep = killing.Sweep(record_property, command,
                          lambda round: flights.assert_equal(postgresql.totals(database(round)), wanted),
                          tmp_path / "log")
    sweep.run(sweep_size(full), seed)


def test_server_killed_in_the_middle(etl, topics, all_rows, postgresql, tmp_path):
    """The job goes on by itself when the server is there again."""
    rows = all_rows[:20000]
    database, log = postgresql.database(), tmp_path / "log"
    process = flights.start(etl(topics(len(rows)), database, "max_offsets_per_batch=50"), log)
    try:
        for part in (10, 5, 3):
            wait_until(lambda: postgresql.flights(database) > len(rows) // part, process, log)
            postgresql.kill()
            assert process.poll() is None, "the job was done before the server was killed: this test has shown nothing"
            postgresql.start()
        assert process.wait(flights.TIMEOUT_S) == 0, flights.tail(log)
    finally:
        process.kill()
        process.wait()
    flights.assert_equal(postgresql.totals(database), flights.expected(rows))


def test_frozen_owner(etl, topics, all_rows, postgresql, tmp_path):
    """Frozen in the middle, it finds when it comes back that another one has finished, and saves nothing."""
    rows = all_rows[:5000]
    database, topic = postgresql.database(), topics(len(rows))
    log, second_log = tmp_path / "log", tmp_path / "second"
    process = flights.start(etl(topic, database + "?hold_timeout=1s", "max_offsets_per_batch=5"), log)
    try:
        wait_until(lambda: postgresql.flights(database) > 100, process, log)
        process.send_signal(signal.SIGSTOP)
        flights.assert_done(flights.run(etl(topic, database), second_log))
        process.send_signal(signal.SIGCONT)
        assert process.wait(flights.TIMEOUT_S) == 4, flights.tail(log)
    finally:
        process.kill()
        process.wait()
    assert "fenced" in flights.tail(log) or "taken over" in flights.tail(log)
    flights.assert_equal(postgresql.totals(database), flights.expected(rows))
