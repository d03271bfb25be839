"""The flights on every store, into a sink that writes down what it gets: nothing is missed, and what comes twice was in
the last batch, which was not saved; whatever happens to the job, or to the server of the store."""

import contextlib
import os
import subprocess
import time

import pytest

import flights
import killing
import stores
from recording import Recording
from test_flights import sweep_rows, wait_until

AWAY_S = 30

# For servers that have to start first, on a busy machine.
PATIENT = "store_timeout=5m"

# What the job of a store needs besides: in Kafka it is a member, which may come back at once under its name.
SETTINGS = {"kafka": ["members=group", "instance_id=one"]}


class Etl(Recording):
    """One job, with a group of its own."""

    def __init__(self, program, server, brokers, topic, folder):
        super().__init__(folder / "records", self.load)
        self.program = program
        self.server = server
        self.brokers = brokers
        self.topic = topic
        self.group = f"etl-{os.getpid()}-{folder.parent.name}-{folder.name}"
        self.log = folder / "log"

    def command(self, limit, *settings, prefix=""):
        return [self.program("tests/support/recording"), self.brokers, prefix + self.server.url, str(self.file),
                f"topics={self.topic}", f"group={self.group}", "trigger=available-now", f"max_offsets_per_batch={limit}",
                *SETTINGS.get(self.server.scheme, []), *settings]

    def load(self):
        shown = subprocess.run([self.program("src/cli/pawl"), "offsets", "export", "--store", self.server.url, "--group",
                                self.group, "--format", "csv"], stdout=subprocess.PIPE, text=True, timeout=120)
        assert shown.returncode in (0, 1)  # 1: there is nothing of this group
        rows = [line.split(",") for line in shown.stdout.splitlines()]
        return {int(partition): int(offset) for _, partition, offset in rows if offset.isdigit()}

    def count(self):
        """How many records have come so far."""
        return self.file.read_bytes().count(b"\n") if self.file.exists() else 0

    def start(self, *settings):
        self.process = flights.start(self.command(50, *settings), self.log)

    def wait_for(self, count):
        wait_until(lambda: self.count() >= count, self.process, self.log)

    def end(self, count):
        """Waits for the end of a run that nobody has killed: each record came once."""
        assert self.process.wait(flights.TIMEOUT_S) == 0, flights.tail(self.log)
        self.check_run()
        self.check_end(count)
        assert self.count() == count

    def assert_runs(self):
        assert self.process.poll() is None, f"it has ended, so this test shows nothing:\n{flights.tail(self.log)}"

    def clean_up(self):
        self.server.thaw()
        self.process.kill()
        self.process.wait()


@pytest.fixture
def etl(program, servers, brokers, topics, load, tmp_path):
    """Makes the job of a store that reads these rows. With `kafka:` they are on the broker that keeps the offsets."""
    on_own_broker = {}

    def make(scheme, rows, name="1"):
        server = servers(scheme)
        folder = tmp_path / f"{scheme}-{name}"
        folder.mkdir()
        if scheme != "kafka":
            return Etl(program, server, brokers, topics(len(rows)), folder)
        if len(rows) not in on_own_broker:
            on_own_broker[len(rows)] = load(server.env["KAFKA_BROKERS"], rows)
        return Etl(program, server, server.env["KAFKA_BROKERS"], on_own_broker[len(rows)], folder)

    return make


@pytest.fixture
def started():
    """Starts jobs, and ends those that a failed test has left."""
    with contextlib.ExitStack() as stack:

        def start(job, *settings):
            job.start(*settings)
            stack.callback(job.clean_up)
            return job

        yield start


@pytest.mark.parametrize("scheme", stores.KINDS)
def test_killed(etl, all_rows, tmp_path, full, seed, record_property, scheme):
    rows = sweep_rows(all_rows, full)
    rounds = {}

    def job(round):
        if round not in rounds:
            rounds[round] = etl(scheme, rows, round)
        return rounds[round]

    sweep = killing.Sweep(record_property, lambda round: job(round).command(500, prefix="killing+"),
                          lambda round: job(round).check_end(len(rows)), tmp_path / "log",
                          lambda round: job(round).check_run())
    sweep.run(killing.FULL if full else killing.FEW, seed)
    record_property("records that came more than once", sum(job.doubles for job in rounds.values()))


@pytest.mark.parametrize("scheme", stores.WITH_SERVER)
def test_server_killed_in_the_middle(etl, started, all_rows, full, scheme):
    """The job goes on by itself when the server is there again."""
    rows = all_rows[:10000]
    job = started(etl(scheme, rows), PATIENT)
    for part in (10, 5, 2) if full else (5,):
        job.wait_for(len(rows) // part)
        job.server.kill()
        job.assert_runs()
        job.server.start()
    job.end(len(rows))


@pytest.mark.parametrize("leave, come_back, settings", [("freeze", "thaw", []), ("kill", "start", [PATIENT])],
                         ids=["frozen", "killed"])
def test_servers_away_for_half_a_minute(etl, started, all_rows, full, leave, come_back, settings):
    """All at once, each under its own job."""
    if leave == "kill" and not full:
        pytest.skip("in full only")
    rows = all_rows[:10000]
    jobs = [etl(scheme, rows) for scheme in stores.WITH_SERVER]
    for job in jobs:
        started(job, *settings).wait_for(len(rows) // 10)
        getattr(job.server, leave)()
    time.sleep(AWAY_S)  # not a wait for anything: the time that they are away
    for job in jobs:
        job.assert_runs()
        getattr(job.server, come_back)()
    for job in jobs:
        job.end(len(rows))
