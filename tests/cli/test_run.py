"""`pawl run` with a real broker: commands that end in every way, signals, and what is seen from outside."""

import base64
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

import jobs
from conftest import wait_for
from jobs import job  # noqa: F401, a fixture


@pytest.fixture
def topic(kafka):
    """Makes a topic with so many records in each partition."""

    def make(*counts):
        name = kafka.topic(len(counts))
        for number, count in enumerate(counts):
            if count:
                kafka("fill", name, number, count)
        return name

    return make


# ------------------------------------------------------------------------------------------------------------- README --


def test_the_example_of_the_readme(brokers, tmp_path):
    text = (jobs.SOURCE / "README.md").read_text()
    file = re.search(r"```ini\n(.*?)```", text, re.DOTALL).group(1)
    console = re.search(r"```console\n(.*?)```", text, re.DOTALL).group(1)
    # The README's topic may be there from an earlier run: this one has another name, as long as the other.
    name = f"fl{os.getpid() % 100000:05}"
    file, console = file.replace("flights", name), console.replace("flights", name)
    rows = (jobs.SOURCE / "examples/data/flights-sample.csv").read_text()
    subprocess.run([jobs.BUILD / "examples/load_flights", brokers, name, "3"], input=rows, text=True, check=True,
                   timeout=jobs.TIMEOUT_S)
    (tmp_path / "archive.ini").write_text(file)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/pawl").symlink_to(jobs.executable())
    env = jobs.environment(KAFKA_BROKERS=brokers, PATH=f"{tmp_path}/bin:{os.environ['PATH']}", LC_ALL="C")
    assert console.count("\n$ ") >= 5
    for step in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, wanted = step.partition("\n")
        ran = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=env, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, check=False, timeout=jobs.TIMEOUT_S)
        assert (ran.returncode, ran.stdout) == (0, wanted), command


# -------------------------------------------------------------------------------------------------------- what it gets --


def test_json(job, kafka, brokers):
    name = kafka.topic(1)
    kafka("put", name, 0, 1357034400000, "AA", 'one\\ntwo"\\\\\\011\\001', "source=a", "source=b")
    kafka("put", name, 0, 1357034400001, "\\377k", "\\377\\376")
    kafka("put", name, 0, 1357034400002, "-", "-")
    kafka("put", name, 0, 1357034400003, "\\303\\244", "-")
    made = job(brokers, name, process__exec="cat > records")
    made.run()
    found = [json.loads(line) for line in made.file("records").splitlines()]
    same = {"topic": name, "partition": 0, "headers": []}
    assert found == [
        {**same, "offset": 0, "timestamp": 1357034400000, "key": "AA", "value": 'one\ntwo"\\\t\1',
         "headers": [{"name": "source", "value": "a"}, {"name": "source", "value": "b"}]},
        {**same, "offset": 1, "timestamp": 1357034400001, "key": base64.b64encode(b"\xffk").decode(),
         "key_encoding": "base64", "value": base64.b64encode(b"\xff\xfe").decode(), "value_encoding": "base64"},
        {**same, "offset": 2, "timestamp": 1357034400002, "key": None, "value": None},
        {**same, "offset": 3, "timestamp": 1357034400003, "key": "ä", "value": None},
    ]
    assert made.stored() == {(name, 0): 4}


def test_values(job, kafka, brokers):
    name = kafka.topic(1)
    for value in ("a", "-", "c\\040c"):
        kafka("put", name, 0, 1, "-", value)
    made = job(brokers, name, process__exec="cat > values", process__format="value")
    made.run()
    assert made.file("values") == "a\n\nc c\n"  # a null is an empty line


def test_a_value_with_a_newline_is_refused(job, kafka, brokers):
    name = kafka.topic(1)
    kafka("put", name, 0, 1, "-", "fine")
    kafka("put", name, 0, 1, "-", "one\\ntwo")
    made = job(brokers, name, process__exec="cat > values", process__format="value")
    log = made.run(code=1)
    assert f"{name} [0] 0..2, attempt 1: process: offset 1: its value has a newline" in log
    assert made.stored() == {(name, 0): 0}
    made.set(process__separator="nul")
    made.run()
    assert made.file("values") == "fine\0one\ntwo\0"
    assert made.stored() == {(name, 0): 2}


def variables(text):
    """Those of pawl run, and not of the tests."""
    found = dict(line.split("=", 1) for line in text.splitlines())
    return {name: value for name, value in found.items() if not re.match("PAWL_(TEST|BUILD|SOURCE)", name)}


def test_environment(job, topic, brokers):
    name = topic(3)
    made = job(brokers, name, max_offsets_per_batch=2, group="the group",
               process__exec="cat >/dev/null; env | grep ^PAWL_ > env-$PAWL_FROM; [ $PAWL_ATTEMPT = 2 ] || exit 75",
               process__flush="env | grep ^PAWL_ > flush-$PAWL_BATCH")
    made.run()
    assert variables(made.file("env-2")) == {
        "PAWL_ATTEMPT": "2", "PAWL_BATCH": "2", "PAWL_FROM": "2", "PAWL_GROUP": "the group", "PAWL_PARTITION": "0",
        "PAWL_TOPIC": name, "PAWL_UNTIL": "3"}
    assert variables(made.file("flush-1")) == {"PAWL_BATCH": "1", "PAWL_GROUP": "the group"}


def test_a_range_without_records_runs_nothing(job, kafka, brokers):
    name = kafka.topic(2)
    kafka("fill", name, 0, 5)
    made = job(brokers, name, process__exec="cat > ran-$PAWL_PARTITION", process__flush="echo x >> flushed")
    made.run()
    assert made.file("ran-0") and not (made.folder / "ran-1").exists()
    assert made.file("flushed") == "x\n"
    made.run()
    assert made.file("flushed") == "x\n"  # nothing new: no batch


# ----------------------------------------------------------------------------------------------------------- how it ends --


ENDINGS = {
    "exit 1": ("cat >/dev/null; exit 1", "range_end: the command exited with 1"),
    "exit 1 with a reason": ("cat >/dev/null; echo reading; echo 'disk full' >&2; exit 1",
                             "the command exited with 1, its last words: disk full"),
    "exit 1 at once": ("exit 1", "the command exited with 1"),
    "no such program": ("no-such-program", "the command exited with 127, its last words: "),
    "SIGKILL": ("read line; kill -KILL $$", "the command died of SIGKILL"),
    "SIGSEGV": ("cat >/dev/null; kill -SEGV $$", "the command died of SIGSEGV"),
    "a signal without a name": ("read line; kill -40 $$", "the command died of signal 40"),
    "always 75": ("cat >/dev/null; echo x >> tries; exit 75", "attempt 4: range_end: the command exited with 75"),
    "hangs": ("sleep 1000", "the command was killed after process_timeout = 1s"),
    "hangs and ignores signals": ("trap '' TERM INT HUP; cat >/dev/null; while :; do sleep 1000; done",
                                  "the command was killed after process_timeout = 1s"),
    "hangs in a pipe": ("sleep 1000 | cat", "the command was killed after process_timeout = 1s"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_failures(ending, job, topic, brokers):
    command, wanted = ENDINGS[ending]
    name = topic(2000)
    made = job(brokers, name, process__exec=command, process__process_timeout="1s")
    log = made.run(code=1)
    assert wanted in log
    assert f"{name} [0] 0..2000, attempt " in log
    assert made.stored() == {(name, 0): 0}
    if ending == "always 75":
        assert made.file("tries") == "x\n" * 4  # max_retries = 3
    assert not jobs.processes_with("sleep 1000")


SUCCESSES = {
    "exit 0": "cat > /dev/null",
    "stops reading after a line": "head -n 1 > first",
    "reads nothing": "true",
    "closes its input and works on": "exec <&-; sleep 0.3",
    "75 once": "cat >/dev/null; [ $PAWL_ATTEMPT -gt 1 ] || exit 75",
    "a child keeps the pipes open": "cat >/dev/null; sleep 1000 & exit 0",
    "a child reads on": "(sleep 1000; cat) & exit 0",
    "a child that has escaped keeps them open": "cat >/dev/null; setsid sleep 1001 & sleep 0.5; exit 0",
}


@pytest.mark.parametrize("way", SUCCESSES)
def test_successes(way, job, topic, brokers):
    name = topic(50000)
    started = time.monotonic()
    made = job(brokers, name, process__exec=SUCCESSES[way], process__process_timeout="30s")
    made.run()
    escaped = jobs.processes_with("sleep 1001")
    for pid in escaped:
        os.kill(pid, signal.SIGKILL)
    assert time.monotonic() - started < 20
    assert made.stored() == {(name, 0): 50000}
    assert bool(escaped) == ("escaped" in way)
    assert not jobs.processes_with("sleep 1000")


def test_skipped_after_retries(job, topic, brokers):
    name = topic(10, 10)
    made = job(brokers, name, on_error="skip", max_retries=1,
               process__exec="cat >/dev/null; [ $PAWL_PARTITION = 1 ] || { echo x >> tries; exit 75; }")
    log = made.run("--json")
    assert "skipped after 2 attempts" in log
    assert made.stored() == {(name, 0): 10, (name, 1): 10}
    line = json.loads(made.output())
    assert (line["records"], line["skipped"], line["ranges"]) == (10, 10, 1)


def test_one_failure_ends_the_others(job, topic, brokers):
    """A command that would go on for long is not waited for when nothing of its batch will be saved."""
    name = topic(10, 10)
    made = job(brokers, name, open_ranges=2,
               process__exec="cat >/dev/null; [ $PAWL_PARTITION = 0 ] && { sleep 1; exit 3; }; sleep 1000")
    started = time.monotonic()
    log = made.run(code=1)
    assert time.monotonic() - started < 30
    assert f"{name} [0] 0..10, attempt 1: range_end: the command exited with 3" in log
    assert not jobs.processes_with("sleep 1000")
    assert made.stored() == {(name, 0): 0, (name, 1): 0}


@pytest.mark.parametrize("command,code,wanted", [
    ("exit 1", 1, "batch 1: flush: the command exited with 1"),
    ("exit 75", 1, "batch 1: flush: the command exited with 75"),
    ("sleep 1000", 1, "batch 1: flush: the command was killed after process_timeout = 1s"),
    ("[ -e again ] || { touch again; exit 75; }", 0, "batch 1: attempt 1 failed"),
])
def test_flush(command, code, wanted, job, topic, brokers):
    name = topic(5)
    made = job(brokers, name, process__exec="cat >/dev/null", process__flush=command, process__process_timeout="1s")
    assert wanted in made.run(code=code)
    assert made.stored() == {(name, 0): 5 if code == 0 else 0}


# ------------------------------------------------------------------------------------------------------ nothing is left --


def test_standard_error_without_end(job, topic, brokers):
    """Every line of it would be too much for a log, and all of it too much for memory."""
    name = topic(1000)
    mib = 1000 if jobs.FULL else 50
    made = job(brokers, name, fetch__memory="16MiB", process__process_timeout="0",
               process__exec=f"cat >/dev/null; yes 'all is well' | head -c {mib}M >&2; echo the end >&2; "
                             f"head -c 5M /dev/zero | tr '\\0' z >&2")
    log = made.run()
    assert len(log) < 1_000_000
    assert re.search(r"\d+ lines more, not logged \(\d+ bytes\); the last: z{900}", log)
    assert log.count("all is well") > 50
    assert all(f"{name} [0] 0..1000, attempt 1: " in line for line in log.splitlines() if "all is well" in line)
    if not jobs.SANITIZED:
        assert made.peak_mib < 100
    assert made.stored() == {(name, 0): 1000}


def test_no_descriptor_is_handed_down(job, topic, brokers):
    name = topic(1)
    made = job(brokers, name, process__exec="cat >/dev/null; exec python3 -c 'import os; print(sorted(os.listdir("
                                            "\"/proc/self/fd\")))' > descriptors",
               process__flush="exec python3 -c 'import os; print(sorted(os.listdir(\"/proc/self/fd\")))' > flush")
    made.run()
    # The fourth is the folder that is being listed.
    assert made.file("descriptors") == made.file("flush") == "['0', '1', '2', '3']\n"


def test_nothing_piles_up(job, topic, brokers, kafka):
    """No zombie and no descriptor is left of hundreds of commands, whatever became of them."""
    name = topic(1)
    made = job(brokers, name, trigger="continuous", max_offsets_per_batch=1, discovery__interval="1d",
               process__exec="case $((PAWL_FROM % 5))$PAWL_ATTEMPT in 01) exit 75;; 2*) exec head -n 1 >/dev/null;; "
                             "3*) exec <&-;; 4*) sleep 1000 & exit 0;; *) cat >/dev/null;; esac")
    process = made.start()
    wait_for(lambda: made.stored() == {(name, 0): 1})
    before = len(jobs.descriptors(process.pid))
    kafka("fill", name, 0, 200)
    wait_for(lambda: made.stored() == {(name, 0): 201}, 120)
    wait_for(lambda: jobs.children(process.pid) == {})
    assert not jobs.processes_with("sleep 1000")
    assert len(jobs.descriptors(process.pid)) == before
    process.terminate()
    made.end(process)


def test_signals_are_not_handed_down(job, topic, brokers):
    """Whoever starts pawl may ignore or block signals; commands start with none of that."""
    name = topic(1)
    made = job(brokers, name, process__exec="cat >/dev/null; grep -E '^Sig(Blk|Ign)' /proc/self/status > signals")
    made.run()
    masks = [int(mask, 16) for mask in re.findall(r"\t(\w+)", made.file("signals"))]
    internal = 0b11 << 31  # two signals that glibc keeps for itself, which its posix_spawn() ignores
    assert len(masks) == 2 and not any(mask & ~internal for mask in masks)


def test_started_with_sigchld_ignored(job, topic, brokers):
    """As some supervisors do it; whoever ignores it is not told how its children end."""
    name = topic(5)
    made = job(brokers, name, process__exec="cat >/dev/null")
    made.end(made.start(wrapper=["env", "--ignore-signal=CHLD"]))
    assert made.stored() == {(name, 0): 5}


# ---------------------------------------------------------------------------------------------------------------- signals --


def test_sigterm_finishes_and_saves(job, topic, brokers):
    name = topic(5)
    made = job(brokers, name, trigger="continuous",
               process__exec="cat >/dev/null; touch began; while [ ! -e go ]; do sleep 0.05; done")
    process = made.start()
    wait_for(lambda: (made.folder / "began").exists())
    process.terminate()
    wait_for(lambda: "SIGTERM: finishing" in made.log())
    (made.folder / "go").touch()
    made.end(process, 0)
    assert made.stored() == {(name, 0): 5}


def test_a_second_signal_leaves_at_once(job, topic, brokers):
    name = topic(5)
    made = job(brokers, name, trigger="continuous", process__exec="cat >/dev/null; touch began; sleep 1000")
    process = made.start()
    wait_for(lambda: (made.folder / "began").exists())
    process.send_signal(signal.SIGINT)
    wait_for(lambda: "SIGINT: finishing" in made.log())
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    made.end(process, 1, seconds=20)
    assert made.stored() == {(name, 0): 0}
    assert not jobs.processes_with("sleep 1000")


def test_shutdown_timeout(job, topic, brokers):
    name = topic(5)
    made = job(brokers, name, trigger="continuous", shutdown_timeout="500ms",
               process__exec="cat >/dev/null; touch began; sleep 1000")
    process = made.start()
    wait_for(lambda: (made.folder / "began").exists())
    process.terminate()
    made.end(process, 1, seconds=20)
    assert made.stored() == {(name, 0): 0}
    assert not jobs.processes_with("sleep 1000")


def test_sigterm_between_batches(job, topic, brokers):
    name = topic(5)
    made = job(brokers, name, trigger="continuous", process__exec="cat >/dev/null")
    process = made.start()
    wait_for(lambda: made.stored() == {(name, 0): 5})
    process.terminate()
    made.end(process, 0, seconds=20)


def test_sigusr1_reports(job, topic, brokers):
    name = topic(3, 4)
    made = job(brokers, name, trigger="continuous", open_ranges=1,
               process__exec="cat >/dev/null; touch began; while [ ! -e go ]; do sleep 0.05; done")
    process = made.start("--log-level", "error")
    wait_for(lambda: (made.folder / "began").exists())
    process.send_signal(signal.SIGUSR1)
    wait_for(lambda: made.log().count("report: ") >= 2)
    lines = re.findall(rf"report: {name} \[(\d)\] 0\.\.(\d), attempt 1: (.*), at offset (\d), age (.*)", made.log())
    lines = [[re.sub(r"for [\d.]+m?s", "for a while", word) for word in line[:4]] + [line[4]] for line in lines]
    # The larger range comes first, and the other one waits for it.
    assert [line[:4] for line in sorted(lines)] == [["0", "3", "waiting", "0"],
                                                    ["1", "4", "processing (in range_end for a while)", "4"]]
    assert sorted(lines)[0][4] == "not opened" and re.fullmatch(r"[\d.]+m?s", sorted(lines)[1][4])
    (made.folder / "go").touch()
    wait_for(lambda: made.stored() == {(name, 0): 3, (name, 1): 4})

    def nothing():
        process.send_signal(signal.SIGUSR1)
        return "no range is in hand" in made.log()

    wait_for(nothing)
    process.terminate()
    made.end(process)


def test_a_command_that_hangs_is_warned_of(job, topic, brokers):
    name = topic(3)
    made = job(brokers, name, stall_timeout="1s", process__exec="cat >/dev/null; while [ ! -e go ]; do sleep 0.05; done")
    process = made.start()
    wait_for(lambda: made.log().count("has not returned for") >= 2)
    (made.folder / "go").touch()
    log = made.end(process)
    assert re.search(rf"WARN  job: {name} \[0\] at offset 3: range_end has not returned for 1\S*s "
                     r"\(range 0\.\.3, attempt 1\)", log)
    assert re.search(r"INFO  job: end: trigger available-now is exhausted; batches 1, records 3 ", log)


# ----------------------------------------------------------------------------------------------------------------- output --


def test_a_line_of_json_a_batch(job, topic, brokers):
    name = topic(6, 4)
    made = job(brokers, name, max_offsets_per_batch=5, process__exec="cat; echo chatter")
    log = made.run("--json")
    lines = [json.loads(line) for line in made.output().splitlines()]
    assert [line["batch"] for line in lines] == [1, 2]
    assert [line["records"] for line in lines] == [5, 5]
    assert [line["lag"] for line in lines] == [5, 0]
    assert all(line["ranges"] == 2 and line["bytes"] > 0 and line["records_per_s"] > 0 for line in lines)
    assert {"bytes_per_s", "plan_ms", "process_ms", "flush_ms", "save_ms"} <= set(lines[0])
    assert "attempt 1: chatter" in log  # what the command prints goes to the log then


def test_output_of_commands_is_ours_otherwise(job, topic, brokers):
    made = job(brokers, topic(2), process__exec="wc -l")
    made.run()
    assert made.output().split() == ["2"]


@pytest.mark.parametrize("form", ["text", "logfmt", "json"])
def test_log_formats(form, job, topic, brokers):
    made = job(brokers, topic(1), process__exec="cat >/dev/null; printf '%s\\n' 'a \"quoted\" line' >&2")
    lines = made.run("--log-format", form).splitlines()
    said = [line for line in lines if "quoted" in line]
    assert len(said) == 1
    if form == "json":
        found = [json.loads(line) for line in lines]
        assert all(set(line) == {"time", "level", "scope", "message"} for line in found)
        assert [line for line in found if line["scope"] == "exec"][0]["message"].endswith('attempt 1: a "quoted" line')
    elif form == "logfmt":
        assert all(re.match(r'time=\S+ level=\w+ scope=\w+ msg=".*"$', line) for line in lines)
    else:
        assert all(re.match(r"\d{4}-\d\d-\d\dT\S+Z (INFO |WARN |ERROR) \w+: ", line) for line in lines)


def test_log_level(job, topic, brokers):
    assert job(brokers, topic(1), process__exec="cat >/dev/null").run("--log-level", "warn") == ""


def test_progress_on_a_terminal(job, topic, brokers):
    made = job(brokers, topic(1), trigger="continuous", process__exec="cat >/dev/null")
    ours, terminal = os.openpty()
    process = made.start("--log-level", "warn", stderr=terminal)
    os.close(terminal)
    os.set_blocking(ours, False)
    seen = bytearray()

    def caught_up():
        try:
            seen.extend(os.read(ours, 4096))
        except BlockingIOError:
            pass
        return re.search(rb"\r\x1b\[K\d+ records/s, lag 0, caught up", seen)

    wait_for(caught_up)
    process.terminate()
    made.end(process)
    os.close(ours)


def test_dry_run_touches_nothing(job, topic, brokers):
    name = topic(6, 0)
    made = job(brokers, name, max_offsets_per_batch=5, process__exec="touch ran", process__flush="touch ran")
    made.run("--dry-run", "--json")
    rows = json.loads(made.output())
    same = {"topic": name, "stored": None, "start": 0, "low": 0, "lost": False, "owner": None}
    assert rows == [{**same, "partition": 0, "high": 6, "from": 0, "until": 5},
                    {**same, "partition": 1, "high": 0, "from": None, "until": None}]
    assert sorted(path.name for path in made.folder.iterdir()) == ["err", "job.ini", "out"]
    made.run()
    before = (made.folder / "offsets.db").read_bytes()
    made.run("--dry-run", "--json")
    assert json.loads(made.output())[0]["stored"] == 6
    assert (made.folder / "offsets.db").read_bytes() == before


def test_dry_run_names_the_owner(job, topic, brokers):
    made = job(brokers, topic(1), trigger="continuous", process__exec="cat >/dev/null")
    process = made.start()
    wait_for(lambda: 1 in made.stored().values())
    seen = subprocess.run([jobs.executable(), "run", "job.ini", "--dry-run"], cwd=made.folder, env=jobs.environment(),
                          stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    assert f"process {process.pid} on {socket.gethostname()}" in seen.stdout
    process.terminate()
    made.end(process)


def test_dry_run_is_ended_by_a_signal(job):
    """It waits for brokers that do not answer."""
    made = job(source_timeout="1h", process__exec="touch ran")
    process = made.start("--dry-run")
    wait_for(lambda: "127.0.0.1:1" in made.log())
    process.terminate()
    made.end(process, -signal.SIGTERM, seconds=20)


# ----------------------------------------------------------------------------------------------------------------- plugins --


@pytest.fixture
def plugin():
    path = jobs.BUILD / "examples/.libs/plugin_count.so"
    if not path.exists():
        pytest.skip("no plugins in a static build")
    return path


def test_plugin(job, topic, brokers, plugin):
    name = topic(6, 4)
    made = job(brokers, name, process__plugin=plugin, user__output="counts", max_offsets_per_batch=5)
    made.run("--json")
    assert [line.split()[:2] for line in made.file("counts").splitlines()] == [["1", "5"], ["2", "5"]]
    assert made.stored() == {(name, 0): 6, (name, 1): 4}
    assert len(made.output().splitlines()) == 2


def test_plugin_misses_its_setting(job, plugin):
    made = job(process__plugin=plugin)
    assert "output is required in [user]" in made.run(code=2)


@pytest.mark.skipif(not shutil.which(os.environ.get("PAWL_CC", "cc")), reason="no compiler")
@pytest.mark.parametrize("source,wanted", [
    ("struct { unsigned abi; } pawl_plugin_module = {99};",
     "was made for version 99 of the plugin interface, and this pawl has version 1: compile it anew"),
    ("int x;", "is no plugin of pawl: it has no symbol pawl_plugin_module"),
    ("struct { unsigned abi; const char *p[2]; void *f[2]; } pawl_plugin_module = {1, {\"a\", \"b\"}, {0, 0}};",
     "has no init function"),
])
def test_wrong_plugins(source, wanted, job, tmp_path):
    (tmp_path / "p.c").write_text(source)
    subprocess.run([os.environ.get("PAWL_CC", "cc"), "-shared", "-fPIC", "-o", tmp_path / "p.so", tmp_path / "p.c"],
                   check=True)
    made = job(process__plugin="p.so")
    assert wanted in made.run(code=2)
