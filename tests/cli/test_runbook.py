"""docs/runbook.md: each part's commands, in order, in the state that it is for, and what they show."""

import json
import os
import re
import subprocess
import time

import pytest

import jobs
from conftest import wait_for

RUNBOOK = (jobs.SOURCE / "docs/runbook.md").read_text()
SERVICE = "systemctl start pawl@flights"


class Hosts:
    """Two hosts with a job file each, and a store that both reach. The topic has a name of its own."""

    def __init__(self, folder, kafka, brokers):
        self.folder = folder
        self.kafka = kafka
        self.brokers = brokers
        self.topic = kafka.topic(2)
        self.preamble = re.search(r"```sh\n(.*?)```", RUNBOOK, re.DOTALL).group(1)
        (folder / "bin").mkdir()
        (folder / "bin/pawl").symlink_to(jobs.executable())
        for name in ("systemctl", "journalctl"):
            (folder / "bin" / name).symlink_to(jobs.SOURCE / "tests/support/systemctl")
        for host in ("a", "b"):
            (folder / f"host-{host}").mkdir()

    def records(self, *partitions):
        for number, values in enumerate(partitions):
            for value in values:
                self.kafka("put", self.topic, number, 1357016400000, "-", value)

    def job(self, command, **settings):
        lines = {"group": "flights", "topics": self.topic, "store": f"sqlite:{self.folder}/offsets.db",
                 "discovery.interval": "200ms", "refresh.interval": "500ms", "shutdown_timeout": "1s", **settings}
        for host in ("a", "b"):
            (self.folder / f"host-{host}/flights.ini").write_text(
                "[job]\n" + "".join(f"{name} = {value}\n" for name, value in lines.items()) +
                f"[kafka]\nbootstrap.servers = {self.brokers}\n[process]\nformat = value\nexec = {command}\n")

    def place(self, text, host="a"):
        """The runbook's names, as they are here."""
        text = text.replace("/var/lib/pawl/flights/offsets.db", f"{self.folder}/offsets.db")
        text = text.replace("connect-flights", f"connect-{self.topic}")
        for there in ("/etc/pawl", "/var/lib/pawl/flights"):
            text = text.replace(there, str(self.folder / f"host-{host}"))
        return text.replace("topic=flights", f"topic={self.topic}").replace("kafka-1:9092", self.brokers)

    def run(self, command, host="a"):
        env = jobs.environment(PATH=f"{self.folder}/bin:{os.environ['PATH']}", UNITS=str(self.folder / f"host-{host}"),
                               LC_ALL="C")
        return subprocess.run(["bash", "-c", self.place(self.preamble + command, host)], cwd=self.folder, env=env,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=120)

    def lags(self):
        """Of the partitions; [] while nothing is stored."""
        done = self.run("pawl lag $where --json")
        return [row["lag"] for row in json.loads(done.stdout)["partitions"]] if done.returncode == 0 else []


@pytest.fixture
def hosts(tmp_path, kafka, brokers):
    made = Hosts(tmp_path, kafka, brokers)
    yield made
    for host in ("a", "b"):
        made.run("systemctl stop pawl@flights", host)


def pattern(shown, topic):
    """A regular expression for what is shown: blanks are as many as there are, and "..." is anything."""
    parts = [re.escape(" ".join(part.split(" "))) for part in shown.replace("flights [", f"{topic} [").split("...")]
    return re.compile(".*".join(parts), re.DOTALL)


def squeezed(text):
    return re.sub(r"[ \t]+", " ", re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE))


def wait_for_output(hosts, command, shown, host="a"):
    """Looks until it is so: a job that has just been started takes its time."""
    wanted = pattern(squeezed(re.sub("^flights ", f"{hosts.topic} ", shown, flags=re.MULTILINE)), hosts.topic)
    deadline = time.monotonic() + 30
    while True:
        output = squeezed(hosts.run(command, host).stdout)
        if wanted.fullmatch(output):
            return
        if time.monotonic() > deadline or not re.match("pawl (lag|offsets show)|journalctl", command):
            pytest.fail(f"{command}\nshows\n{output}\nand not\n{shown}")
        time.sleep(0.1)


# ------------------------------------------------------------------------------------------------- the state of each part --


GOOD = ["good"] * 4


def stuck(hosts):
    hosts.records(GOOD, ["good", "good", "poison", "good"])
    hosts.job("while read -r line; do [ $line = good ] || { echo \"not a flight: $line\" >&2; exit 1; }; done")


def lagging(hosts):
    """A range waits until the other one is there: more than one at a time have to be allowed."""
    hosts.records(GOOD, GOOD)
    hosts.job("cat >/dev/null; touch $PAWL_PARTITION.here; until [ -e 0.here ] && [ -e 1.here ]; do sleep 0.05; done",
              open_ranges=1)
    hosts.run(SERVICE)
    wait_for(lambda: list(hosts.folder.glob("host-a/*.here")))


def running(hosts):
    hosts.records(GOOD, GOOD)
    hosts.job("cat >/dev/null")
    hosts.run(SERVICE)
    wait_for(lambda: hosts.lags() == [0, 0])


def lost(hosts):
    hosts.records(GOOD, GOOD * 2)
    hosts.job("cat >/dev/null")
    hosts.run("pawl offsets set $where $topic:0=4 $topic:1=4 --execute")
    hosts.kafka("trim", hosts.topic, 1, 6)


def consumed(hosts):
    hosts.records(GOOD, GOOD)
    hosts.job("cat >/dev/null")
    hosts.run("pawl offsets set --store kafka://$brokers --group connect-flights --brokers $brokers "
              "$topic:0=2 $topic:1=3 --execute")


def settled(hosts):
    lost(hosts)
    hosts.run("pawl offsets set $where $topic:1=8 --execute")
    hosts.run(SERVICE)
    wait_for(lambda: hosts.lags() == [0, 0])


PARTS = {
    "A job is stuck at a record": stuck,
    "A job lags": lagging,
    "Hand a job over to another host": running,
    "Upgrade, one host after the other": running,
    "Records are gone": lost,
    "Take over from a consumer group, or from Spark": consumed,
    "Move a group to another store": settled,
}


def parts():
    """The text of each part that has commands, by its heading."""
    found = re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", RUNBOOK, re.DOTALL | re.MULTILINE)
    return {heading: text for heading, text in found if "```console" in text}


def test_no_part_is_left_out():
    assert set(parts()) == set(PARTS)


@pytest.mark.parametrize("heading", PARTS)
def test_part(heading, hosts):
    PARTS[heading](hosts)
    console = "".join(re.findall(r"```console\n(.*?)```", parts()[heading], re.DOTALL))
    steps = re.findall(r"^(?:host-(\w))?\$ (.*)\n((?:(?!(?:host-\w)?\$ ).*\n)*)", console, re.MULTILINE)
    assert len(steps) >= 3
    for host, command, shown in steps:
        if re.match(r"\w+=", command):
            hosts.preamble += command + "\n"
        else:
            wait_for_output(hosts, command, shown, host or "a")


def test_every_exit_code_asks_for_something():
    assert re.findall(r"^\| (\d) \|", RUNBOOK, re.MULTILINE) == list("012345")
