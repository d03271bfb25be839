"""A job that was frozen in the middle of a batch, while another did its work, saves nothing when it wakes up. Nor does a
member that was cut off from its group."""

import signal

import pytest

import stores
from conftest import Kafka, stored_offsets, wait_for
from jobs import Job, job  # noqa: F401, a fixture
from test_group import RECORD, assert_covered, group, producer  # noqa: F401, fixtures

# Hangs in the middle of its range, until a file is there.
HANG = "cat > /dev/null; touch ../started; while ! test -e ../go; do sleep 0.1; done"


@pytest.fixture
def stored(pawl, servers):
    return lambda scheme, group: stored_offsets(pawl, servers(scheme).url, group)


@pytest.fixture
def thaws(pawl, servers, brokers, kafka, tmp_path, request):
    """Has a job of this store freeze in the middle of the records 0..10, while another reads them and ten more, and wakes
    it up again. Returns the job, its process and its topic."""

    def run(scheme):
        topic = kafka.topic()
        kafka("fill", topic, 0, 10)
        jobs = {}
        for name, command in (("frozen", HANG), ("other", "cat > /dev/null")):
            (tmp_path / name).mkdir()
            jobs[name] = Job(tmp_path / name, brokers, topic, group=topic, store=servers(scheme).url, client_id=name,
                             process__exec=command)
        process = jobs["frozen"].start()
        request.addfinalizer(process.kill)
        wait_for((tmp_path / "started").exists)
        process.send_signal(signal.SIGSTOP)
        (tmp_path / "go").touch()
        kafka("fill", topic, 0, 10)
        jobs["other"].run()
        process.send_signal(signal.SIGCONT)
        return jobs["frozen"], process, topic

    return run


@pytest.mark.parametrize("scheme", stores.KINDS)
def test_alone(pawl, thaws, stored, scheme):
    can = {row["scheme"]: row for row in pawl("stores", "--json").json}[scheme]
    if not can["cas_epoch"]:
        pytest.skip(f"{scheme}: has no epochs, so that nobody is fenced who is alone")
    frozen, process, topic = thaws(scheme)
    log = frozen.end(process, 4)
    assert " saved " not in log and "fenced" in log and "other" in log, log
    assert stored(scheme, topic) == {(topic, 0): 20}


def test_alone_in_kafka_nobody_is_fenced_and_the_job_says_so(thaws, stored):
    frozen, process, topic = thaws("kafka")
    assert "nothing fences off a second copy" in frozen.end(process)
    assert stored("kafka", topic) == {(topic, 0): 10}


@pytest.mark.parametrize("scheme", stores.KINDS)
def test_in_a_group(producer, group, servers, stored, scheme):
    """For longer than its session; the other member has left again when it wakes up."""
    numbers = producer(2)
    # A renewal in which it is frozen would keep the file of sqlite: locked.
    members = group(numbers.topic, servers(scheme).url, max_retries=0, refresh__interval="1m",
                    process__exec=RECORD + "; while ! test -e ../go; do sleep 0.1; done")
    frozen = members.add()
    numbers.produce(10)
    wait_for(lambda: len(members.values()) == 10)  # processed, and not saved: the commands still run
    members.signal(frozen, signal.SIGSTOP)
    (members.folder / "go").touch()
    numbers.produce(10)
    other = members.add()
    wait_for(lambda: sum(stored(scheme, "g-" + numbers.topic).values()) == 20, 60)
    members.leave(other)
    members.signal(frozen, signal.SIGCONT)
    wait_for(lambda: "were lost" in members.log(frozen), 60)
    numbers.produce(10)
    wait_for(lambda: len(members.values()) == 30, 60)
    log = members.leave(frozen)
    assert sum(len(found.values) for found in members.read()) == 40, f"only what is new is read:\n{log}"
    assert_covered(members.read())


def test_a_static_member_outlives_its_session(tmp_path, job):
    """The broker is away for longer than the session, and knows the member still when it is back; the member has been told
    meanwhile that it is none any more, and cannot answer: it flushes. What it had in hand is read again."""
    server = stores.Server("kafka", tmp_path / "kafka")
    server.start()
    brokers = server.env["KAFKA_BROKERS"]
    kafka = Kafka(PAWL_TEST_BROKERS=brokers)
    topic = kafka.topic()
    kafka("fill", topic, 0, 10)
    made = job(brokers, topic, group="g", store="kafka:", members="group", instance_id="one", trigger="continuous",
               process__exec="cat >> records", process__flush="touch flushing; while ! test -e go; do sleep 0.1; done",
               **{"kafka__session.timeout.ms": 6000})
    try:
        process = made.start()
        wait_for((tmp_path / "flushing").exists)
        server.kill()
        wait_for(lambda: "SESSTMOUT" in made.log())
        server.start()
        wait_for(lambda: "Static consumer fenced" in made.log(), 60)
        (tmp_path / "go").touch()
        wait_for(lambda: " saved " in made.log(), 60)
        process.terminate()
        made.end(process)
    finally:
        kafka.close()
        server.stop()
    assert len(made.file("records").splitlines()) == 20
