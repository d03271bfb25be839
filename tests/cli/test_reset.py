"""pawl offsets reset: each rule, on logs of every kind."""

import time

import pytest

HOUR = 3600 * 1000
DAY = 24 * HOUR
T0 = 1_356_998_400_000  # 2013-01-01T00:00:00Z


@pytest.fixture(scope="session")
def differing(kafka):
    """A log on which all rules give different numbers: 10 to 100, two days ago from 40 on, the last hour from 90 on."""
    topic = kafka.topic()
    now = int(time.time() * 1000)
    for i in range(100):
        stamp = T0 + i if i < 40 else now - 2 * DAY + i if i < 90 else now - HOUR // 2 + i
        kafka("put", topic, 0, stamp, f"k{i}", f"v{i}")
    kafka("trim", topic, 0, 10)
    return topic


def moved(result, topic, partition=0):
    row = result.partitions()[topic, partition]
    return row["from"], row["to"], row["low"], row["high"], row["lag"]


@pytest.mark.parametrize("rule, to", [
    (["--to-earliest"], 10),
    (["--to-latest"], 100),
    (["--to-offset", 25], 25),
    (["--to-time", "2013-01-01T00:00:00.030Z"], 30),
    (["--to-time", "2013-01-01T02:00:00.031+02:00"], 31),
    (["--to-time", str(T0 + 32)], 32),
    (["--by-duration", "P3D"], 40),
    (["--by-duration", "PT1H"], 90),
    (["--by-duration", "90m"], 90),
    (["--shift-by", 7], 57),
    (["--shift-by", -7], 43),
    (["--shift-by=-7"], 43),
])
def test_rules(offsets, differing, rule, to):
    offsets.set(f"{differing}:0=50")
    dry = offsets.change("reset", "--topic", differing, *rule, "--json")
    assert moved(dry, differing) == (50, to, 10, 100, 100 - to)
    assert dry.json["executed"] is False
    assert offsets.stored() == {(differing, 0): 50}
    done = offsets.change("reset", "--topic", differing, *rule, "--json", "--execute")
    assert moved(done, differing) == (50, to, 10, 100, 100 - to)
    assert done.json["executed"] is True
    assert offsets.stored() == {(differing, 0): to}


@pytest.mark.parametrize("rule, to, note", [
    (["--to-offset", 3], 10, "clipped to the start of the log"),
    (["--to-offset", 2**63 - 1], 100, "clipped to the end of the log"),
    (["--shift-by", -1000], 10, "clipped to the start of the log"),
    (["--shift-by", 1000], 100, "clipped to the end of the log"),
    (["--shift-by", 2**63 - 1], 100, "clipped to the end of the log"),
    (["--shift-by", -2**63], 10, "clipped to the start of the log"),
    (["--to-offset", 100], 100, None),
    (["--to-offset", 10], 10, None),
])
def test_clipping(offsets, differing, rule, to, note):
    offsets.set(f"{differing}:0=50")
    row = offsets.change("reset", "--topic", differing, *rule, "--json").partitions()[differing, 0]
    assert (row["to"], row["note"]) == (to, note)


def test_instant_is_shown(offsets, differing):
    for time_text in "2013-01-01T01:00:00+01:00", str(T0):
        shown = offsets.change("reset", "--topic", differing, "--to-time", time_text)
        assert f"2013-01-01T00:00:00.000Z ({T0})" in shown.out
    told = offsets.change("reset", "--topic", differing, "--to-time", str(T0), "--json").json
    assert (told["time"], told["time_ms"]) == ("2013-01-01T00:00:00.000Z", T0)


def test_shift_needs_something_stored(offsets, differing):
    failed = offsets.change("reset", "--topic", differing, "--shift-by", 1, "--execute", code=2)
    assert "nothing is stored" in failed.err
    assert offsets.stored() == {}


# --------------------------------------------------------------------------------------------- logs of every kind --


def by_time(offsets, topic, stamp):
    row = offsets.change("reset", "--topic", topic, "--to-time", stamp, "--json").partitions()[topic, 0]
    return row["to"], row["note"]


END = "no record at or after: the end of the log"


def test_time_out_of_order(offsets, kafka):
    """The first offset whose timestamp is at or after the time, whatever comes after it."""
    topic = kafka.topic()
    for stamp in 500, 100, 300, 700, 200, 600, 50:
        kafka("put", topic, 0, T0 + stamp, "k", "v")
    assert by_time(offsets, topic, T0) == (0, None)
    assert by_time(offsets, topic, T0 + 500) == (0, None)
    assert by_time(offsets, topic, T0 + 501) == (3, None)
    assert by_time(offsets, topic, T0 + 700) == (3, None)
    assert by_time(offsets, topic, T0 + 701) == (7, END)


def test_time_all_older(offsets, kafka):
    topic = kafka.topic()
    for i in range(5):
        kafka("put", topic, 0, T0 + i, "k", "v")
    assert by_time(offsets, topic, T0 + 5) == (5, END)
    offsets.change("reset", "--topic", topic, "--to-time", T0 + 5, "--execute")
    assert offsets.stored() == {(topic, 0): 5}


def test_time_empty(offsets, kafka):
    topic = kafka.topic()
    assert by_time(offsets, topic, T0) == (0, END)


def test_time_emptied(offsets, kafka):
    """low = high > 0: neither -1 nor 0 will do."""
    topic = kafka.topic()
    kafka("fill", topic, 0, 8)
    kafka("trim", topic, 0, 8)
    assert by_time(offsets, topic, T0) == (8, END)
    for rule in ["--to-earliest"], ["--to-latest"], ["--to-offset", 0], ["--by-duration", "P1D"]:
        row = offsets.change("reset", "--topic", topic, *rule, "--json").partitions()[topic, 0]
        assert (row["to"], row["low"], row["high"], row["lag"]) == (8, 8, 8, 0)


def test_time_of_what_was_trimmed(offsets, kafka):
    topic = kafka.topic()
    for i in range(10):
        kafka("put", topic, 0, T0 + i, "k", "v")
    kafka("trim", topic, 0, 6)
    assert by_time(offsets, topic, T0 + 2) == (6, None)
    assert by_time(offsets, topic, T0 + 8) == (8, None)


@pytest.fixture(scope="session")
def logs(kafka):
    """Topics of one partition each, by what is odd about its log."""
    made = {kind: kafka.topic() for kind in ("out of order", "all older", "empty", "emptied")}
    for stamp in 500, 100, 300, 700, 200, 600, 50:
        kafka("put", made["out of order"], 0, T0 + stamp, "k", "v")
    for kind in "all older", "emptied":
        for i in range(5):
            kafka("put", made[kind], 0, T0 + i, "k", "v")
    kafka("trim", made["emptied"], 0, 5)
    return made


EARLIEST, LATEST, TIME, LAST_DAY = ["--to-earliest"], ["--to-latest"], ["--to-time", T0 + 400], ["--by-duration", "P1D"]
FORWARD, BACK = ["--shift-by", 2], ["--shift-by", -100]


@pytest.mark.parametrize("kind, start, wanted", [
    ("out of order", 3, {"earliest": 0, "latest": 7, "time": 0, "last day": 7, "forward": 5, "back": 0}),
    ("all older", 2, {"earliest": 0, "latest": 5, "time": 5, "last day": 5, "forward": 4, "back": 0}),
    ("empty", 0, {"earliest": 0, "latest": 0, "time": 0, "last day": 0, "forward": 0, "back": 0}),
    ("emptied", 5, {"earliest": 5, "latest": 5, "time": 5, "last day": 5, "forward": 5, "back": 5}),
])
def test_every_rule_on_odd_logs(offsets, logs, kind, start, wanted):
    topic = logs[kind]
    rules = {"earliest": EARLIEST, "latest": LATEST, "time": TIME, "last day": LAST_DAY, "forward": FORWARD, "back": BACK}
    assert set(rules) == set(wanted)
    for name, rule in rules.items():
        offsets.set(f"{topic}:0={start}")
        row = offsets.change("reset", "--topic", topic, *rule, "--execute", "--json").partitions()[topic, 0]
        assert (name, row["from"], row["to"]) == (name, start, wanted[name])
        assert offsets.stored() == {(topic, 0): wanted[name]}


# ------------------------------------------------------------------------------------------------------ selection --


def test_partitions(offsets, kafka):
    topic, other = kafka.topic(4), kafka.topic(2)
    for partition in range(4):
        kafka("fill", topic, partition, partition + 1)
    dry = offsets.change("reset", "--topic", f"{topic}:1,3", "--topic", other, "--to-latest", "--json").partitions()
    assert {key: row["to"] for key, row in dry.items()} == {(topic, 1): 2, (topic, 3): 4, (other, 0): 0, (other, 1): 0}
    offsets.set(f"{topic}:0=0", f"{topic}:2=1")
    dry = offsets.change("reset", "--all-topics", "--to-latest", "--json").partitions()
    assert {key: row["to"] for key, row in dry.items()} == {(topic, 0): 1, (topic, 2): 3}


@pytest.mark.parametrize("selection, message", [
    ("{topic}:5", "partition 5 of '{topic}' does not exist: it has 2, counted from 0"),
    ("{topic}-typo", "topic '{topic}-typo' does not exist, or may not be seen"),
])
def test_what_does_not_exist(offsets, kafka, selection, message):
    topic = kafka.topic(2)
    failed = offsets.change("reset", "--topic", topic, "--topic", selection.format(topic=topic), "--to-earliest",
                            "--execute", code=2)
    assert message.format(topic=topic) in failed.err
    assert offsets.stored() == {}
    offsets.change("reset", "--topic", f"{topic}-typo", "--to-earliest", code=2)  # nor was it made by asking


def test_open_transaction_ends_the_log(offsets, kafka):
    from conftest import Kafka

    topic = kafka.topic()
    kafka("fill", topic, 0, 5)
    other = Kafka()
    try:
        other("hold", topic, 0, 3)
        to = {level: offsets.change("reset", "--topic", topic, "--to-latest", "--isolation", level,
                                    "--json").partitions()[topic, 0]["to"]
              for level in ("read_committed", "read_uncommitted")}
        assert to == {"read_committed": 5, "read_uncommitted": 8}
        # An offset beyond the open transaction is no alarm, and no negative lag.
        offsets.set(f"{topic}:0=8")
        row = offsets.lag().partitions()[topic, 0]
        assert (row["end"], row["lag"], row["stored_past_end"]) == (5, 0, False)
    finally:
        other.close()
