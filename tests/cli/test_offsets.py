"""pawl offsets show, set, delete, export, import; pawl lag."""

import json
import os
import re
import resource
import stat
import subprocess

import pytest

from conftest import BUILD, SOURCE, wait_for

EXACT = [2**53 + 1, 2**63 - 1]


def test_dry_run_changes_nothing(offsets, kafka):
    topic = kafka.topic(2)
    kafka("fill", topic, 0, 10)
    dry = offsets.change("set", f"{topic}:0=3")
    assert "Nothing was changed" in dry.out
    assert not offsets.path.exists()
    offsets.set(f"{topic}:0=3")
    before = offsets.path.read_bytes(), offsets.show()
    file = offsets.path.parent / "file.csv"
    file.write_text(f"{topic},0,7\n")
    offsets.change("set", f"{topic}:0=4", f"{topic}:1=0")
    offsets.change("reset", "--topic", topic, "--to-latest")
    offsets.change("import", file)
    offsets.pawl("offsets", "delete", *offsets.where(), "--all-topics")
    assert (offsets.path.read_bytes(), offsets.show()) == before


def test_set(offsets, kafka):
    topic = kafka.topic(2)
    kafka("fill", topic, 0, 10)
    done = offsets.change("set", f"{topic}:0=3", f"{topic}:1=0", "--execute")
    assert "Saved: 2." in done.out
    assert offsets.stored() == {(topic, 0): 3, (topic, 1): 0}
    # A range that was planned, and what stood before the old offset, mean nothing after a move.
    subprocess.run(["sqlite3", offsets.path, "UPDATE pawl_offsets SET pending = 9, print = 'p', batch = 7"], check=True)
    row = offsets.show()[topic, 0]
    assert (row["pending"], row["print"], row["batch"]) == (9, "p", 7)
    offsets.change("set", f"{topic}:0=4", "--execute")
    row = offsets.show()[topic, 0]
    assert (row["offset"], row["pending"], row["print"], row["owner"], row["batch"]) == (4, None, None, None, 7)


@pytest.mark.parametrize("offset", [4, 11, 2**63 - 1])
def test_set_refuses_what_the_log_does_not_hold(offsets, kafka, offset):
    topic = kafka.topic(2)
    kafka("fill", topic, 0, 10)
    kafka("trim", topic, 0, 5)
    failed = offsets.change("set", f"{topic}:1=0", f"{topic}:0={offset}", "--execute", code=2)
    assert f"holds the offsets 5 to 10, and not {offset}; nothing was written; --force insists" in failed.err
    assert offsets.stored() == {}
    offsets.change("set", f"{topic}:0={offset}", "--execute", "--force")
    assert offsets.stored() == {(topic, 0): offset}


def test_the_example_of_the_readme(brokers, pawl, tmp_path):
    """The second one: it goes on from where the first has come to."""
    text = (SOURCE / "README.md").read_text()
    name = f"fo{os.getpid() % 100000:05}"  # as long as the README's
    console = re.findall(r"```console\n(.*?)```", text, re.DOTALL)[1].replace("flights", name)
    subprocess.run([BUILD / "examples/load_flights", brokers, name, "3"], check=True, timeout=120,
                   stdin=open(SOURCE / "examples/data/flights-sample.csv"))
    pawl("offsets", "set", "--store", "sqlite:offsets.db", "--group", "archive", "--brokers", brokers, f"{name}:0=327",
         f"{name}:1=610", f"{name}:2=847", "--execute", cwd=tmp_path)
    (tmp_path / "pawl").symlink_to(BUILD / "src/cli/.libs/pawl")
    env = {**os.environ, "KAFKA_BROKERS": brokers, "PATH": f"{tmp_path}:{os.environ['PATH']}",
           "LD_LIBRARY_PATH": str(BUILD / "src/.libs")}
    for step in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, wanted = step.partition("\n")
        ran = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=env, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=120)
        assert (ran.returncode, ran.stdout) == (0, wanted), command


def test_delete(offsets, kafka):
    topic, other = kafka.topic(2), kafka.topic(1)
    offsets.set(f"{topic}:0=0", f"{topic}:1=0", f"{other}:0=0")
    removed = offsets.pawl("offsets", "delete", *offsets.where(), "--topic", f"{topic}:1", "--execute")
    assert "Removed: 1." in removed.out
    assert offsets.stored() == {(topic, 0): 0, (other, 0): 0}
    offsets.pawl("offsets", "delete", *offsets.where(), "--topic", topic, "--execute")
    assert offsets.stored() == {(other, 0): 0}
    failed = offsets.pawl("offsets", "delete", *offsets.where(), "--topic", topic, "--execute", code=1)
    assert "nothing is stored for topic" in failed.err
    offsets.pawl("offsets", "delete", *offsets.where(), "--all-topics", "--execute")
    assert offsets.stored() == {}


def test_delete_counts_what_was_there(offsets, kafka):
    topic = kafka.topic(3)
    offsets.set(f"{topic}:0=0", f"{topic}:1=0")
    removed = offsets.pawl("offsets", "delete", *offsets.where(), "--topic", f"{topic}:1,2", "--execute")
    assert "Removed: 1." in removed.out
    assert offsets.stored() == {(topic, 0): 0}


def test_delete_of_a_topic_that_is_gone(offsets, kafka):
    """Needs no broker, and none that knows the topic."""
    topic = kafka.topic()
    offsets.set(f"{topic}:0=0")
    subprocess.run(["sqlite3", offsets.path, "UPDATE pawl_offsets SET topic = 'gone'"], check=True)
    offsets.change("delete", "--topic", "gone", "--execute")
    assert offsets.stored() == {}


def test_unknown_group(offsets, kafka, pawl):
    topic = kafka.topic()
    offsets.set(f"{topic}:0=0")
    for words in (["offsets", "show"], ["offsets", "export"], ["offsets", "delete", "--all-topics"]):
        failed = pawl(*words, "--store", offsets.store, "--group", "etll", code=1)
        assert f"nothing is stored for group 'etll' in {offsets.store}; did you mean 'etl'?" in failed.err
    failed = pawl("lag", "--store", offsets.store, "--group", "etll", "--brokers", offsets.brokers, code=1)
    assert "did you mean 'etl'?" in failed.err
    offsets.group = "etll"
    assert "Nothing was stored for group 'etll' before." in offsets.change("set", f"{topic}:0=0").out
    assert pawl("offsets", "show", "--store", offsets.store, "--json").json == [{"group": "etl"}]


# ---------------------------------------------------------------------------------------------------- running jobs --


def start(offsets, topic, *settings):
    """A job that runs on a topic until it is stopped."""
    process = subprocess.Popen(
        [BUILD / "tests/support/recording", offsets.brokers, offsets.store, offsets.path.parent / "records",
         f"topics={topic}", f"group={offsets.group}", "client_id=nightly", *settings],
        stderr=subprocess.PIPE, text=True)
    process.topic = topic
    return process


@pytest.fixture
def job(offsets, kafka):
    """One that has saved the 10 records of its topic, and renews its entry often."""
    topic = kafka.topic()
    kafka("fill", topic, 0, 10)
    process = start(offsets, topic, "refresh.interval=100ms")
    wait_for(lambda: offsets.stored() == {(topic, 0): 10})
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("verb, words", [
    ("set", ["{topic}:0=4"]),
    ("reset", ["--topic", "{topic}", "--to-offset", "4"]),
    ("delete", ["--topic", "{topic}"]),
])
def test_a_running_job_is_fenced(offsets, job, verb, words):
    words = [word.format(topic=job.topic) for word in words]
    dry = offsets.change(verb, *words)
    assert f"nightly (pid {job.pid} on " in dry.out
    assert "it will be fenced off" in dry.out
    assert job.poll() is None
    offsets.change(verb, *words, "--execute")
    _, errors = job.communicate(timeout=60)
    assert job.returncode == 4
    assert f"client 'pawl offsets {verb} (by " in errors
    assert offsets.stored() == ({} if verb == "delete" else {(job.topic, 0): 4})


def test_a_busy_job_is_no_conflict(offsets, kafka):
    """It saves all the time, so what is shown and what is stored would hardly ever be the same."""
    topic = kafka.topic()
    kafka("fill", topic, 0, 50000)
    process = start(offsets, topic, "max_offsets_per_batch=1")
    try:
        wait_for(lambda: offsets.stored().get((topic, 0), 0) > 10)
        moved = offsets.change("reset", "--topic", topic, "--shift-by", 1000, "--execute", "--json")
        row = moved.partitions()[topic, 0]
        assert 10 < row["from"] < row["to"] == row["from"] + 1000
        assert offsets.stored() == {(topic, 0): row["to"]}
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 4
        assert "client 'pawl offsets reset (by " in errors
    finally:
        process.kill()
        process.wait()


def test_lag_of_a_running_job(offsets, job):
    row = offsets.lag().partitions()[job.topic, 0]
    assert (row["stored"], row["end"], row["lag"], row["stored_past_end"]) == (10, 10, 0, False)
    assert row["owner"].startswith(f"nightly (pid {job.pid} on ")
    assert 0 <= row["owner_age_ms"] < 60000
    assert "nightly" in offsets.pawl("lag", *offsets.where(), "--brokers", offsets.brokers).out
    assert job.poll() is None


# ------------------------------------------------------------------------------------------------------------- lag --


def test_lag(offsets, kafka):
    topic = kafka.topic(4)
    kafka("fill", topic, 0, 10)
    kafka("fill", topic, 2, 5)
    offsets.set(f"{topic}:0=3", f"{topic}:1=7", f"{topic}:2=5")
    rows = offsets.lag().partitions()
    seen = {number: tuple(rows[topic, number][name] for name in ("stored", "end", "lag", "stored_past_end"))
            for number in range(4)}
    assert seen == {0: (3, 10, 7, False), 1: (7, 0, 0, True), 2: (5, 5, 0, False), 3: (None, 0, None, None)}
    assert offsets.lag().json["lag"] is None  # one is not known, so the sum is not
    text = offsets.pawl("lag", *offsets.where(), "--brokers", offsets.brokers).out
    assert "STORED > END" in text


def test_lag_without_an_answer(offsets, kafka):
    topic = kafka.topic()
    offsets.set(f"{topic}:0=0")
    failed = offsets.pawl("lag", *offsets.where(), "--brokers", "127.0.0.1:1", "--timeout", "1s", code=5)
    assert failed.out == ""


def test_lag_of_a_partition_that_is_gone(offsets, kafka):
    topic = kafka.topic()
    offsets.set(f"{topic}:0=0")
    subprocess.run(["sqlite3", offsets.path, "UPDATE pawl_offsets SET topic = 'gone'"], check=True)
    row = offsets.lag().partitions()["gone", 0]
    assert (row["stored"], row["end"], row["lag"], row["stored_past_end"]) == (0, None, None, None)


# -------------------------------------------------------------------------------------------------- exact numbers --


@pytest.mark.parametrize("offset", EXACT)
def test_exact_numbers(offsets, kafka, offset):
    topic = kafka.topic()
    done = offsets.change("set", f"{topic}:0={offset}", "--force", "--execute", "--json")
    assert f'"to": {offset},' in done.out
    assert done.partitions()[topic, 0]["to"] == offset
    assert offsets.show()[topic, 0]["offset"] == offset
    assert offsets.lag().partitions()[topic, 0]["stored"] == offset
    for format in "csv", "json":
        file = offsets.path.parent / format
        offsets.pawl("offsets", "export", *offsets.where(), "--format", format, "--file", file)
        assert str(offset) in file.read_text()
        offsets.set(f"{topic}:0=0")
        offsets.change("import", file, code=2)
        offsets.change("import", file, "--force", "--execute")
        assert offsets.stored() == {(topic, 0): offset}


# -------------------------------------------------------------------------------------------------- export, import --

ODD = ["...", ".hidden", "_", "-", "--group", "a.b_c-d", "0", "x" * 249]


@pytest.mark.parametrize("format", ["csv", "json"])
def test_round_trip(offsets, kafka, format):
    names = [f"{name}{os.getpid()}{format}"[-249:] if name != "x" * 249 else f"{os.getpid()}{format}{name}"[:249]
             for name in ODD]
    for name in names:
        kafka.topic(3, name)
        kafka("fill", name, 2, 9)
    wanted = {(name, 2): i for i, name in enumerate(names)}
    offsets.change("set", "--execute", "--", *[f"{name}:2={offset}" for (name, _), offset in wanted.items()])
    assert offsets.stored() == wanted
    file = offsets.path.parent / "file"
    offsets.pawl("offsets", "export", *offsets.where(), "--format", format, "--file", file)
    printed = offsets.pawl("offsets", "export", *offsets.where(), "--format", format)
    assert printed.out == file.read_text()
    offsets.pawl("offsets", "delete", *offsets.where(), "--all-topics", "--execute")
    assert offsets.stored() == {}
    offsets.change("import", file, "--execute")
    assert offsets.stored() == wanted
    # Into another group, which keeps what the file does not name.
    offsets.group = "copy"
    offsets.change("import", file, "--execute")
    assert offsets.stored() == wanted


@pytest.mark.parametrize("format", ["csv", "json"])
def test_an_export_that_fails_keeps_the_old_file(offsets, kafka, format):
    """The disk is full: what was exported last is there as it was, and nothing beside it."""
    topic = kafka.topic()
    offsets.set(f"{topic}:0=0")
    subprocess.run(["sqlite3", offsets.path, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)"
                    " INSERT INTO pawl_offsets (group_name, topic, partition, offset, epoch) SELECT group_name, topic, i, offset, epoch FROM pawl_offsets, n"], check=True)
    folder = offsets.path.parent / "exported"
    folder.mkdir()
    file = folder / "file"
    file.write_text("what was exported last\n")
    words = ["offsets", "export", *offsets.where(), "--format", format, "--file", file]
    failed = offsets.pawl(*words, code=1, preexec_fn=forbid_large_files, restore_signals=False)
    assert f"cannot write {file}: File too large" in failed.err
    assert file.read_text() == "what was exported last\n"
    assert os.listdir(folder) == ["file"]
    file.chmod(0o640)
    offsets.pawl(*words)
    assert file.stat().st_size > LARGE
    assert file.stat().st_mode & 0o777 == 0o640
    assert os.listdir(folder) == ["file"]


LARGE = 65536


def forbid_large_files():
    """In a process that is to come. A store of SQLite has small files beside it, which it has to be able to make."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGE, LARGE))


def test_export_to_what_is_no_plain_file(offsets, kafka, tmp_path):
    """Devices, pipes and links stay what they are."""
    topic = kafka.topic()
    offsets.set(f"{topic}:0=0")
    wanted = f"{topic},0,0\n"
    words = ["offsets", "export", *offsets.where(), "--format", "csv", "--file"]
    assert offsets.pawl(*words, "/dev/stdout").out == wanted
    failed = offsets.pawl(*words, "/dev/full", code=1)
    assert "cannot write /dev/full: No space left on device" in failed.err
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    offsets.pawl(*words, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == wanted
    failed = offsets.pawl(*words, tmp_path / "none" / "file", code=1)
    assert f"cannot write {tmp_path}/none/file: No such file or directory" in failed.err


def test_import_of_another_cluster(offsets, kafka):
    topic = kafka.topic()
    file = offsets.path.parent / "file"
    partitions = [{"topic": topic, "partition": 0, "offset": 0}]
    file.write_text(json.dumps({"group": "etl", "cluster": "elsewhere", "partitions": partitions}))
    failed = offsets.change("import", file, "--execute", code=2)
    assert "the offsets belong to the Kafka cluster elsewhere, and these brokers are" in failed.err
    assert offsets.stored() == {}
    offsets.change("import", file, "--execute", "--force")
    assert offsets.stored() == {(topic, 0): 0}


@pytest.mark.parametrize("text, message", [
    ("", "holds no offset"),
    ("t,0\n", "line 1: it is not topic,partition,offset"),
    ("t,0,1\nt,x,1\n", "line 2: the partition is not a number from 0 to 2^31-1"),
    ("t,0,-1\n", "line 1: the offset is not a number from 0 to 2^63-1"),
    ("t,0,9223372036854775808\n", "line 1: the offset is not a number from 0 to 2^63-1"),
    ("t,2147483648,1\n", "line 1: the partition is not a number from 0 to 2^31-1"),
    ("t,0,1.0\n", "line 1: the offset is not a number from 0 to 2^63-1"),
    ("a/b,0,1\n", "line 1: the topic's name is not legal"),
    ("t,0,1\nt,0,2\n", "partition 0 of 't' is given twice"),
    ("{", "is no JSON"),
    ("{}", 'has no member "partitions" with a list'),
    ('{"partitions": [3]}', "item 1 of partitions: it is no object"),
    ('{"partitions": [{"topic": "t", "partition": 0, "offset": "1"}]}', "item 1 of partitions: the offset"),
    ('{"partitions": [{"topic": "t", "partition": 0, "offset": 1e3}]}', "item 1 of partitions: the offset"),
    ('{"partitions": [{"topic": 3, "partition": 0, "offset": 1}]}', "item 1 of partitions: the topic's name"),
    ('{"partitions": []}', "holds no offset"),
    ("t\0,0,1\n", "is no text: it holds a NUL"),
])
def test_wrong_files(offsets, text, message):
    file = offsets.path.parent / "file"
    file.write_text(text)
    failed = offsets.change("import", file, "--execute", code=2)
    assert message in failed.err
    assert not offsets.path.exists()


def test_files_of_others(offsets, kafka):
    """What people and spreadsheets make of CSV."""
    topic = kafka.topic(2)
    file = offsets.path.parent / "file"
    file.write_bytes(f'topic,partition,offset\r\n"{topic}",0,0\r\n\r\n{topic},1,0'.encode())
    offsets.change("import", file, "--execute")
    assert offsets.stored() == {(topic, 0): 0, (topic, 1): 0}
