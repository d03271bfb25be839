"""Jobs that are members of a consumer group: partitions come and go, and no record is missed."""

import collections
import contextlib
import os
import random
import signal
import time

import pytest

from conftest import wait_for
from jobs import FULL, SANITIZED, Job

SESSION_S = 6
HEARTBEAT_S = 0.5

# A range's records become visible all at once, under a name that says which range it was and who ran it.
RECORD = ("cat > .part.$$ && mv .part.$$ "
          "../ranges/$PAWL_PARTITION.$PAWL_FROM.$PAWL_UNTIL.$PAWL_BATCH.$$")

Range = collections.namedtuple("Range", "partition first until batch process values seen_s")


class Group:
    """Members of one group, each in a folder of its own, that write down what they read."""

    def __init__(self, folder, brokers, topic, store, **settings):
        self.folder = folder
        self.brokers = brokers
        self.topic = topic
        self.store = store
        self.settings = settings
        self.ranges = folder / "ranges"
        self.ranges.mkdir()
        self.members = {}
        self.made = 0

    def add(self, *words, **settings):
        """Starts one more member, with these words on its command line, and returns its name."""
        name = f"member-{self.made}"
        self.made += 1
        folder = self.folder / name
        folder.mkdir()
        job = Job(folder, self.brokers, self.topic, **{
            "group": "g-" + self.topic, "store": self.store, "client_id": name, "members": "group",
            "trigger": "continuous", "refresh__interval": "1s", "discovery__interval": "1s", "revoke_timeout": "5s",
            "kafka__session.timeout.ms": int(SESSION_S * 1000), "kafka__heartbeat.interval.ms": int(HEARTBEAT_S * 1000),
            "process__exec": RECORD, "process__format": "value", **self.settings, **settings})
        job.process = job.start(*words)
        self.members[name] = job
        return name

    def signal(self, name, number):
        os.kill(self.members[name].process.pid, number)

    def kill(self, name):
        job = self.members.pop(name)
        job.process.kill()
        job.process.wait()

    def leave(self, name, code=0):
        job = self.members.pop(name)
        wait_for(job.log, 60)  # before its first line it may not have got as far as to take signals
        job.process.terminate()
        return job.end(job.process, code)

    def log(self, name):
        return self.members[name].log()

    def read(self):
        """All ranges that were written down."""
        found = []
        for path in self.ranges.iterdir():
            numbers = map(int, path.name.split("."))
            found.append(Range(*numbers, [int(line) for line in path.read_text().split()], path.stat().st_mtime))
        return found

    def values(self):
        return {value for found in self.read() for value in found.values}

    def close(self):
        for name in list(self.members):
            with contextlib.suppress(ProcessLookupError):
                self.signal(name, signal.SIGCONT)
            self.kill(name)


class Producer:
    """Counts into a topic."""

    def __init__(self, kafka, partitions):
        self.kafka = kafka
        self.partitions = partitions
        self.topic = kafka.topic(partitions)
        self.count = 0

    def produce(self, number):
        """Returns when the records are there."""
        if number > 0:
            self.kafka("count", self.topic, self.partitions, self.count, self.count + number)
        self.count += number

    def grow(self):
        self.partitions += 1
        self.kafka("grow", self.topic, self.partitions)


@pytest.fixture
def producer(kafka):
    """Makes a topic with so many partitions, and counts into it."""
    return lambda partitions: Producer(kafka, partitions)


@pytest.fixture
def group(tmp_path, brokers):
    made = []

    def make(topic, store, **settings):
        folder = tmp_path / f"group-{len(made)}"
        folder.mkdir()
        made.append(Group(folder, brokers, topic, store, **settings))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def stores(tmp_path):
    """URLs of stores by their scheme."""
    return {"kafka": "kafka:", "sqlite": f"sqlite:{tmp_path}/offsets.db"}


def owned(group, name):
    """Which partitions a member said that it reads, or has read."""
    return {line.split("[", 1)[1].split("]", 1)[0] for line in group.log(name).splitlines() if " read " in line}


def assert_covered(ranges):
    """What was saved follows on each other: every offset of a partition is in a range."""
    by_partition = collections.defaultdict(list)
    for found in ranges:
        by_partition[found.partition].append((found.first, found.until))
    for partition, spans in by_partition.items():
        reached = 0
        for first, until in sorted(spans):
            assert first <= reached, f"partition {partition}: nobody read {reached}..{first}"
            reached = max(reached, until)


@pytest.mark.parametrize("scheme", ["kafka", "sqlite"])
@pytest.mark.parametrize("strategy", ["cooperative-sticky", "range"])
def test_partitions_are_shared_and_given_back(producer, group, stores, scheme, strategy):
    numbers = producer(4)
    members = group(numbers.topic, stores[scheme], **{"kafka__partition.assignment.strategy": strategy})
    first = members.add()
    numbers.produce(400)
    wait_for(lambda: len(members.values()) == 400)
    second = members.add()
    wait_for(lambda: len(owned(members, second)) == 2)
    numbers.produce(400)
    wait_for(lambda: len(members.values()) == 800)
    log = members.leave(second)
    assert "WARN" not in log, log
    numbers.produce(400)
    wait_for(lambda: len(members.values()) == 1200)
    log = members.leave(first)
    assert "WARN" not in log, log
    ranges = members.read()
    assert sum(len(found.values) for found in ranges) == 1200, "an ordinary rebalance repeats nothing"
    assert_covered(ranges)


def test_a_revoked_range_is_finished_and_saved(producer, group, stores):
    """A batch that runs while the group takes partitions back: what is in hand is not lost and not repeated."""
    numbers = producer(2)
    members = group(numbers.topic, stores["kafka"], process__exec="sleep 3; " + RECORD, open_ranges=2, parallelism=2,
                    revoke_timeout="20s")
    first = members.add()
    wait_for(lambda: len(owned(members, first)) == 2)
    numbers.produce(10)
    second = members.add()
    wait_for(lambda: len(owned(members, second)) == 1)
    numbers.produce(10)
    wait_for(lambda: len(members.values()) == 20)
    members.leave(second)
    members.leave(first)
    assert sum(len(found.values) for found in members.read()) == 20


@pytest.mark.parametrize("strategy", ["cooperative-sticky", "range"])
@pytest.mark.parametrize("scheme", ["kafka", "sqlite"])
def test_a_topic_grows_while_a_range_is_finished(producer, group, stores, scheme, strategy):
    """What the group takes back stays with its member until that has saved it, even if partitions are added meanwhile."""
    numbers = producer(2)
    members = group(numbers.topic, stores[scheme], process__exec="while ! test -e ../go; do sleep 0.1; done; " + RECORD,
                    open_ranges=2, parallelism=2, revoke_timeout="60s",
                    **{"kafka__partition.assignment.strategy": strategy})
    first = members.add("--log-level", "debug")
    wait_for(lambda: len(owned(members, first)) == 2)
    numbers.produce(10)
    second = members.add()
    wait_for(lambda: "member: revoked" in members.log(first))
    numbers.grow()
    time.sleep(3)  # a client that looks for new partitions by itself finds them within discovery.interval
    assert not owned(members, second)
    (members.folder / "go").touch()
    wait_for(lambda: len(owned(members, first) | owned(members, second)) == 3)
    numbers.produce(20)
    wait_for(lambda: len(members.values()) == 30)
    members.leave(second)
    numbers.produce(30)
    wait_for(lambda: len(members.values()) == 60)
    members.leave(first)
    ranges = members.read()
    assert sum(len(found.values) for found in ranges) == 60, "an ordinary rebalance repeats nothing"
    assert_covered(ranges)


def test_leaving_while_the_group_waits_for_another(producer, group, stores):
    """A topic grows, and the member that has seen it leaves before the rebalance is over that it was to be told after."""
    numbers = producer(2)
    members = group(numbers.topic, stores["kafka"], process__exec="while ! test -e ../go; do sleep 0.1; done; " + RECORD,
                    open_ranges=2, parallelism=2, revoke_timeout="60s")
    first = members.add("--log-level", "debug")
    wait_for(lambda: len(owned(members, first)) == 2)
    numbers.produce(10)
    second = members.add("--log-level", "debug", kafka__debug="cgrp")
    wait_for(lambda: "member: revoked" in members.log(first) and "member: assigned" in members.log(second))
    members.add()
    wait_for(lambda: "Group is rebalancing" in members.log(second))
    numbers.grow()
    wait_for(lambda: "postponing subscribe" in members.log(second))
    members.leave(second)
    (members.folder / "go").touch()
    numbers.produce(20)
    wait_for(lambda: len(members.values()) == 30)


def test_a_range_that_takes_too_long_is_dropped(producer, group, stores):
    numbers = producer(2)
    members = group(numbers.topic, stores["sqlite"], revoke_timeout="200ms", max_retries=1000)
    first = members.add(process__exec="cat > /dev/null; sleep 600", process__process_timeout="10s")
    wait_for(lambda: len(owned(members, first)) == 2)
    numbers.produce(100)
    second = members.add()
    wait_for(lambda: "dropped unsaved, revoke_timeout has passed" in members.log(first), 60)
    wait_for(members.values, 60)
    members.leave(second)


def test_instance_fences_its_double(producer, group, stores):
    """Two static members of one name: the one that was there first ends, with the exit code of a fenced job."""
    numbers = producer(1)
    members = group(numbers.topic, stores["kafka"], instance_id="one")
    first = members.add()
    numbers.produce(1)
    wait_for(members.values)
    members.add()
    job = members.members.pop(first)
    job.end(job.process, 4, 60)


@pytest.mark.parametrize("scheme", ["kafka", "sqlite"])
def test_taken_over_soon_after_a_kill(producer, group, stores, scheme, record_property):
    numbers = producer(12)
    members = group(numbers.topic, stores[scheme])
    names = [members.add() for _ in range(3)]
    wait_for(lambda: all(len(owned(members, name)) >= 4 for name in names), 60)
    numbers.produce(1000)
    wait_for(lambda: len(members.values()) == 1000)
    killed_s = time.time()
    members.kill(names[0])
    numbers.produce(1000)
    wait_for(lambda: len(members.values()) == 2000, 60)
    took_s = max(found.seen_s for found in members.read()) - killed_s
    record_property("seconds", round(took_s, 1))
    assert took_s <= (SESSION_S + 2 * HEARTBEAT_S + 2) * (3 if SANITIZED else 1)


# --------------------------------------------------------------------------------------------------------- chaos --

class Chaos:
    """Does one thing after the other to the members of a group, chosen by a seed, while records are produced."""

    LEAST, MOST, MOST_PARTITIONS = 2, 4, 16

    def __init__(self, members, numbers, seed):
        self.members = members
        self.numbers = numbers
        self.random = random.Random(seed)
        self.frozen = {}  # name -> until when
        self.done = collections.Counter()

    def pick(self):
        return self.random.choice(sorted(set(self.members.members) - set(self.frozen)))

    def kill(self):
        self.members.kill(self.pick())

    def leave(self):
        self.members.leave(self.pick())

    def freeze(self):
        name = self.pick()
        self.members.signal(name, signal.SIGSTOP)
        self.frozen[name] = time.monotonic() + self.random.choice([0.5, SESSION_S + 3])

    def add(self):
        if len(self.members.members) < self.MOST:
            self.members.add()

    def grow(self):
        if self.numbers.partitions < self.MOST_PARTITIONS:
            self.numbers.grow()

    def thaw(self, all_of_them=False):
        for name, until_s in list(self.frozen.items()):
            if all_of_them or time.monotonic() >= until_s:
                self.members.signal(name, signal.SIGCONT)
                del self.frozen[name]

    def assert_all_run(self):
        for name, job in self.members.members.items():
            assert job.process.poll() is None, f"{name} has ended by itself:\n{job.log()}"

    def step(self):
        self.thaw()
        self.assert_all_run()
        few = len(self.members.members) - len(self.frozen) <= self.LEAST
        act = self.add if few else self.random.choice([self.kill, self.leave, self.freeze, self.add, self.grow])
        act()
        self.done[act.__name__] += 1

    def end(self):
        """Waits until all is read, and looks whether it was."""
        self.thaw(all_of_them=True)
        wait_for(lambda: len(self.members.values()) == self.numbers.count, 120)
        self.assert_all_run()
        ranges = self.members.read()
        for found in ranges:
            assert found.values == sorted(found.values), "a range is read in order"
        assert_covered(ranges)


def test_nothing_is_missed_whatever_happens_to_members(producer, group, stores, record_property):
    """A group on each of two stores, side by side: most of the time is the group protocol's, not the processor's."""
    seed = int(os.environ.get("PAWL_TEST_SEED") or time.time())
    groups = {}
    for scheme in ["kafka", "sqlite"]:
        numbers = producer(12)
        groups[scheme] = Chaos(group(numbers.topic, stores[scheme]), numbers, f"{seed} {scheme}")
    until_s = time.monotonic() + (600 if FULL else 120)
    while time.monotonic() < until_s:
        for chaos in groups.values():
            chaos.step()
            chaos.numbers.produce(chaos.random.randrange(2000))
            time.sleep(chaos.random.random() * 1.5)  # the pace of what is done to them, not a wait for anything
    for scheme, chaos in groups.items():
        chaos.end()
        record_property(f"acts on {scheme}", dict(chaos.done))
        record_property(f"records on {scheme}", chaos.numbers.count)
