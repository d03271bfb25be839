"""pawl peek: exactly the records of a range."""

import json


def test_records(kafka, pawl, brokers):
    topic = kafka.topic()
    kafka("put", topic, 0, 1356998400000, "a", "one", "h=x", "h=y")
    kafka("put", topic, 0, 1356998400001, "-", "-")
    kafka("put", topic, 0, 1356998400002, r"\377", r"two\nlines")
    kafka("put", topic, 0, 1356998400003, "d", "")
    shown = pawl("peek", f"{topic}:0:0-4", "--brokers", brokers).out.splitlines()
    assert shown == [
        '0 2013-01-01T00:00:00.000Z key="a" value="one" header.h="x" header.h="y"',
        "1 2013-01-01T00:00:00.001Z key=null value=null",
        r'2 2013-01-01T00:00:00.002Z key="\xff" value="two\x0alines"',
        '3 2013-01-01T00:00:00.003Z key="d" value=""',
    ]
    lines = [json.loads(line)
             for line in pawl("peek", f"{topic}:0:1-3", "--brokers", brokers, "--json").out.splitlines()]
    assert [line["offset"] for line in lines] == [1, 2]
    assert (lines[0]["key"], lines[0]["value"], lines[0]["timestamp"]) == (None, None, 1356998400001)
    assert (lines[1]["key"], lines[1]["key_encoding"], lines[1]["value"]) == ("/w==", "base64", "two\nlines")


def test_exact_range(kafka, pawl, brokers):
    topic = kafka.topic(2)
    kafka("fill", topic, 1, 5000)
    for start, end in (0, 1), (17, 4711), (4999, 5000):
        lines = pawl("peek", f"{topic}:1:{start}-{end}", "--brokers", brokers).out.splitlines()
        assert [int(line.split()[0]) for line in lines] == list(range(start, end))


def test_what_is_not_there(kafka, pawl, brokers):
    topic = kafka.topic()
    kafka("fill", topic, 0, 10)
    kafka("trim", topic, 0, 4)
    for bounds in "3-5", "9-11", "10-11":
        failed = pawl("peek", f"{topic}:0:{bounds}", "--brokers", brokers, code=2)
        assert f"holds the offsets 4 to 10 (not itself), and not all of {bounds}" in failed.err
    failed = pawl("peek", f"{topic}:7:0-1", "--brokers", brokers, code=2)
    assert f"partition 7 of '{topic}' does not exist" in failed.err
