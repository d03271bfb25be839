"""`pawl run` under a service manager, and as the first process of a container."""

import os
import shutil
import signal
import socket
import subprocess

import pytest

import jobs
from conftest import wait_for
from jobs import job  # noqa: F401, a fixture

UNIT = jobs.SOURCE / "dist/pawl@.service"


@pytest.fixture
def topic(kafka):
    """A topic with one record."""
    name = kafka.topic()
    kafka("fill", name, 0, 1)
    return name


# -------------------------------------------------------------------------------------------------------------- systemd --


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
def test_unit(tmp_path):
    """systemd understands each line. The program is installed elsewhere than it looks for it."""
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("ExecStart=pawl ", f"ExecStart={jobs.executable()} "))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, timeout=60)
    complaints = [line for line in done.stdout.splitlines() if UNIT.name.split("@", maxsplit=1)[0] in line]
    assert (done.returncode, complaints) == (0, [])


def test_unit_starts_a_job(job, topic, brokers, tmp_path):
    """What stands behind ExecStart= is a command line of ours."""
    made = job(brokers, topic, process__exec="cat >/dev/null")
    start = [line for line in UNIT.read_text().splitlines() if line.startswith("ExecStart=")][0]
    program, *words = start.removeprefix("ExecStart=").replace("/etc/pawl/%i", str(tmp_path / "job")).split()
    assert program == "pawl"
    done = subprocess.run([jobs.executable(), *words], cwd=made.folder, env=jobs.environment(), stderr=subprocess.PIPE,
                          text=True, check=False, timeout=jobs.TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    assert all(line.startswith("time=") for line in done.stderr.splitlines())


@pytest.fixture
def manager(tmp_path):
    """A service manager's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        listener.settimeout(60)
        yield listener


def states(manager, until):
    """What it is told, from now on up to a state that `until` is true for."""
    found = []
    while not found or not until(found[-1]):
        found.append(manager.recv(1000).decode())
    return found


def test_tells_a_service_manager(job, topic, brokers, manager):
    made = job(brokers, topic, trigger="continuous", process__exec="cat >/dev/null")
    process = made.start(NOTIFY_SOCKET=manager.getsockname())
    before = states(manager, lambda state: state == "READY=1")
    assert all(state == "STATUS=waiting for partitions" for state in before[:-1])
    states(manager, lambda state: state.startswith("STATUS=") and state.endswith("records/s, lag 0, caught up"))
    process.terminate()
    assert states(manager, lambda state: "STOPPING=1" in state)[-1] == \
        "STOPPING=1\nSTATUS=finishing and saving the batch in hand"
    made.end(process)


def test_a_standby_is_ready(job, topic, brokers, manager, tmp_path):
    """There is one partition, and it is another's. What is told before the group has answered is not that, and afterwards
    nothing comes to look at."""
    settings = {"trigger": "10m", "members": "group", "group": topic, "process__exec": "cat >/dev/null"}
    (tmp_path / "first").mkdir()
    first = jobs.Job(tmp_path / "first", brokers, topic, **settings)
    owner = first.start()
    try:
        wait_for(lambda: " read " in first.log())
        made = job(brokers, topic, **settings)
        process = made.start(NOTIFY_SOCKET=manager.getsockname())
        assert states(manager, lambda state: "READY=1" in state)[-1] == "READY=1\nSTATUS=waiting for partitions"
        assert " read " not in made.log()
        process.terminate()
        made.end(process)
    finally:
        owner.terminate()
        first.end(owner)


def test_is_not_ready_without_its_topic(job, brokers, manager):
    made = job(brokers, "no-such-topic", topic_timeout="2s", process__exec="cat >/dev/null")
    process = made.start(NOTIFY_SOCKET=manager.getsockname())
    assert states(manager, lambda state: "STOPPING=1" in state)[:-1] in (
        ["STATUS=waiting for partitions"], ["STATUS=waiting for partitions"] * 2)
    made.end(process, 1)


# ------------------------------------------------------------------------------------------------------------ process 1 --

UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "--"]
needs_namespaces = pytest.mark.skipif(
    os.geteuid() != 0 or subprocess.run([*UNSHARE, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0,
    reason="needs a PID namespace")


@needs_namespaces
def test_as_the_first_process(job, topic, brokers):
    """It collects what others leave behind, hands signals on, and ends as the job does."""
    made = job(brokers, topic, trigger="continuous",
               process__exec="cat >/dev/null; setsid sh -c 'sleep 0.2 & exec sleep 0.3' & exit 0")
    process = made.start(wrapper=UNSHARE)
    wait_for(lambda: made.stored() == {(topic, 0): 1})
    first = wait_for(lambda: list(jobs.children(process.pid)))[0]
    wait_for(lambda: len(jobs.children(first)) == 1)  # what was adopted has been collected
    assert "Z" not in jobs.children(first).values()

    def reported():
        os.kill(first, signal.SIGUSR1)
        return "no range is in hand" in made.log()

    wait_for(reported)
    os.kill(first, signal.SIGTERM)
    made.end(process, 0, seconds=20)
    assert "SIGTERM: finishing" in made.log()


@needs_namespaces
@pytest.mark.parametrize("code, settings", [
    (0, {"process__exec": "cat >/dev/null"}),
    (1, {"process__exec": "exit 9"}),
    (2, {"process__exec": "cat", "trigger": "sometimes"}),
    (5, {"process__exec": "cat", "kafka__bootstrap__servers": "127.0.0.1:1", "source_timeout": "1s"}),
])
def test_ends_as_the_job_does(code, settings, job, topic, brokers):
    made = job(brokers, topic, **settings)
    made.end(made.start(wrapper=UNSHARE), code)


@needs_namespaces
def test_a_job_that_was_killed(job, topic, brokers):
    made = job(brokers, topic, trigger="continuous", process__exec="cat >/dev/null")
    process = made.start(wrapper=UNSHARE)
    wait_for(lambda: made.stored() == {(topic, 0): 1})
    first = list(jobs.children(process.pid))[0]
    os.kill(list(jobs.children(first))[0], signal.SIGKILL)
    made.end(process, 128 + signal.SIGKILL)
