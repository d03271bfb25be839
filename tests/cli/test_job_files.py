"""Job files and command lines of `pawl run`: what is wrong is told with file, line and key, before anything starts."""

import json
import subprocess

import pytest

import jobs

GOOD = """[job]
group = g
topics = t
store = sqlite:offsets.db
[kafka]
bootstrap.servers = 127.0.0.1:1
[process]
exec = cat
"""

HEAD = "[job]\ngroup = g\ntopics = t\nstore = sqlite:offsets.db\n"  # line 5 comes next
TAIL = "[kafka]\nbootstrap.servers = 127.0.0.1:1\n[process]\nexec = cat\n"


def job(line):
    """A good file but for line 5, in [job]."""
    return HEAD + line + "\n" + TAIL


def kafka(line):
    """The same for line 7, in [kafka]."""
    return GOOD.replace("127.0.0.1:1\n", f"127.0.0.1:1\n{line}\n")


def process(line):
    """The same for line 9, in [process]."""
    return GOOD + line + "\n"


def without(start):
    return "".join(line for line in GOOD.splitlines(keepends=True) if not line.startswith(start))


# The file, and what the message has to say: all of these texts.
WRONG_FILES = {
    # names
    "unknown setting": (job("grup = x"), "job.ini:5: ", '"grup"', "did you mean group?"),
    "unknown setting, dash": (job("max-retries = 3"), "job.ini:5: ", "did you mean max_retries?"),
    "unknown setting, case": (job("Trigger = once"), "job.ini:5: ", "did you mean trigger?"),
    "unknown setting, dots": (job("fetch_memory = 1GiB"), "job.ini:5: ", "did you mean fetch.memory?"),
    "unknown setting, far": (job("colour = red"), "job.ini:5: ", 'there is no setting "colour"'),
    "owned by pawl": (job("group.id = x"), "job.ini:5: ", "set group instead"),
    "exec in [job]": (job("exec = cat"), "job.ini:5: exec belongs into section [process]"),
    "format in [job]": (job("format = value"), "job.ini:5: format belongs into section [process]"),
    "brokers in [job]": (job("bootstrap.servers = x:1"), "job.ini:5: bootstrap.servers belongs into section [kafka]"),
    "Spark's name": (job("startingOffsets = latest"), "job.ini:5: startingOffsets is Spark's name: write start = "),
    "Kafka Connect's name": (job("tasks.max = 2"), "job.ini:5: tasks.max is Kafka Connect's name: write parallelism in one process, "
                              "members = group over several"),
    "a Java client's name": (kafka("max.poll.records = 9"), "job.ini:7: kafka.max.poll.records cannot be set: "),
    "kafka. in [job]": (job("kafka.debug = all"), "job.ini:5: ", "into section [kafka], as debug"),
    "user. in [job]": (job("user.x = 1"), "job.ini:5: ", "into section [user], as x"),
    "unknown property": (kafka("sesion.timeout.ms = 1000"), "job.ini:7: ", "did you mean session.timeout.ms?"),
    "unknown property, far": (kafka("frobnicate = 1"), "job.ini:7: ", 'no property "frobnicate"'),
    "property owned by pawl": (kafka("group.id = x"), "job.ini:7: kafka.group.id cannot be set: set group instead"),
    "property auto.offset.reset": (kafka("auto.offset.reset = earliest"), "job.ini:7: ", "set start"),
    "property enable.auto.commit": (kafka("enable.auto.commit = true"), "job.ini:7: ", "pawl saves offsets itself"),
    "kafka. in [kafka]": (kafka("kafka.debug = all"), "job.ini:7: in section [kafka] write debug"),
    "setting in [kafka]": (kafka("trigger = once"), "job.ini:7: trigger belongs into section [job]"),
    "unknown in [process]": (process("exce = cat"), "job.ini:9: ", "did you mean exec?"),
    "unknown in [process], far": (process("colour = red"), 'job.ini:9: [process] has no setting "colour"'),
    "setting in [process]": (process("trigger = once"), "job.ini:9: trigger belongs into section [job]"),
    "unknown section": (GOOD + "[jobs]\nx = 1\n", "job.ini:10: there is no section [jobs]; did you mean [job]?"),
    "unknown section, far": (GOOD + "[colours]\nx = 1\n", "job.ini:10: there is no section [colours]"),
    # values
    "no duration": (job("trigger = fast"), "job.ini:5: trigger: ", '"fast"', "10s"),
    "no unit": (job("stall_timeout = 60"), "job.ini:5: stall_timeout: ", "60"),
    "wrong unit": (job("stall_timeout = 60sec"), "job.ini:5: stall_timeout: ", "60sec"),
    "size as duration": (job("refresh.interval = 10MiB"), "job.ini:5: refresh.interval: "),
    "duration as size": (job("fetch.memory = 10s"), "job.ini:5: fetch.memory: ", "10s"),
    "size without sense": (job("fetch.memory = much"), "job.ini:5: fetch.memory: ", "much"),
    "size too small": (job("fetch.memory = 1KiB"), "job.ini:5: fetch.memory: ", "1KiB is not between 1MiB and 1TiB"),
    "number too big": (job("parallelism = 5000"), "job.ini:5: parallelism: 5000 is not between 1 and 1024"),
    "number too small": (job("parallelism = 0"), "job.ini:5: parallelism: 0 is not between"),
    "number negative": (job("max_retries = -1"), "job.ini:5: max_retries: -1 is not between"),
    "number with a fraction": (job("max_retries = 1.5"), "job.ini:5: max_retries: ", "1.5"),
    "number beyond 64 bits": (job("max_offsets_per_batch = 99999999999999999999"), "job.ini:5: max_offsets_per_batch: "),
    "number missing": (job("max_retries ="), "job.ini:5: max_retries: "),
    "choice": (job("on_error = ignore"), 'job.ini:5: on_error: "ignore" is not one of: stop, skip'),
    "choice, isolation": (job("isolation = dirty"), "job.ini:5: isolation: ", "read_committed"),
    "flag": (job("accept_cluster = maybe"), "job.ini:5: accept_cluster: ", "maybe"),
    "start time without a zone": (job("start = 2013-01-01T00:00:00"), "job.ini:5: start: ", "add Z or an offset"),
    "start list": (job("start = t:0=x"), "job.ini:5: start: "),
    "start of another topic": (job("start = u:0=5"), "job.ini:5: start: u:0 is not among what is read"),
    "takeover": (job("takeover = idle"), "job.ini:5: takeover: ", "idle:30s"),
    "takeover shorter than refresh": (job("takeover = idle:1s"), "job.ini:5: takeover: ", "longer than refresh.interval"),
    "pattern": (HEAD.replace("topics = t", "topics_pattern = (") + TAIL, "job.ini:3: topics_pattern: "),
    "partitions": (HEAD.replace("topics = t", "partitions = t:x") + TAIL, "job.ini:3: partitions: "),
    "partition twice": (HEAD.replace("topics = t", "partitions = t:0,0") + TAIL, "job.ini:3: partitions: "),
    "topic name": (HEAD.replace("topics = t", "topics = a/b") + TAIL, "job.ini:3: topics: ", "a/b"),
    "group empty": (GOOD.replace("group = g", "group ="), "job.ini:2: group: has 0 bytes"),
    "members": (job("members = many"), 'job.ini:5: members: "many" is not one of: alone, group'),
    "store of no kind": (GOOD.replace("sqlite:offsets.db", "offsets.db"), "job.ini:4: store: "),
    "property's value": (kafka("socket.timeout.ms = soon"), "job.ini:7: socket.timeout.ms: "),
    "property's range": (kafka("socket.timeout.ms = 1"), "job.ini:7: socket.timeout.ms: ", "range"),
    "property's choice": (kafka("security.protocol = tls"), "job.ini:7: security.protocol: "),
    "format": (process("format = csv"), 'job.ini:9: format: "csv" is not one of: json, value'),
    "separator": (process("separator = ;"), "job.ini:9: separator: ", "newline, nul"),
    "timeout unit": (process("process_timeout = 10"), "job.ini:9: process_timeout: "),
    "timeout too long": (process("process_timeout = 2d"), "job.ini:9: process_timeout: 2d is not between 0 and 1d"),
    "exec empty": (GOOD.replace("exec = cat", "exec ="), "job.ini:8: exec: has 0 bytes"),
    "no plugin there": (GOOD.replace("exec = cat", "plugin = none.so"), "plugin: ", "none.so"),
    # what is missing, what does not go together
    "no group": (without("group"), "job.ini: group is required"),
    "no store": (without("store"), "job.ini: store is required"),
    "no topics": (without("topics"), "job.ini: one of topics, topics_pattern and partitions is required"),
    "no brokers": (without("bootstrap"), "job.ini: kafka.bootstrap.servers is required"),
    "nothing to do": (without("exec"), "job.ini: [process] needs exec"),
    "two selections": (job("partitions = t:0"), "job.ini: only one of topics, topics_pattern and partitions"),
    "exec and plugin": (process("plugin = x.so"), "job.ini:9: plugin: only one of exec and plugin"),
    "flush and plugin": (GOOD.replace("exec = cat", "plugin = x.so\nflush = sync"), "job.ini:9: flush: goes with exec"),
    "nul and json": (process("separator = nul"), "job.ini:9: separator: nul goes with format = value"),
    "min above max": (job("max_offsets_per_batch = 5\nmin_offsets_per_batch = 6"), "job.ini:6: min_offsets_per_batch: "),
    # form
    "key twice": (job("group = h"), "job.ini:5: group is set twice, first in line 2"),
    "key twice, CRLF": (job("group = h").replace("\n", "\r\n"), "job.ini:5: group is set twice, first in line 2"),
    "section twice": (GOOD + "[job]\ntrigger = once\n", "job.ini:9: section [job] is there twice, first in line 1"),
    "no section": ("group = g\n" + GOOD, "job.ini:1: group stands before any section"),
    "no equals": (job("trigger once"), 'job.ini:5: this line is no "key = value"'),
    "no key": (job("= once"), "job.ini:5: there is no key before the ="),
    "section open": (GOOD.replace("[kafka]", "[kafka"), "job.ini:5: a section is a name between [ and ]"),
    "text behind a section": (GOOD.replace("[kafka]", "[kafka] x"), "job.ini:5: a section is a name between [ and ]"),
    "NUL": (job("trigger = o\0nce"), "job.ini:5: there is a NUL"),
    "no UTF-8": (job("client_id = \udcff"), "job.ini:5: this line is not UTF-8"),
    "empty file": ("", "job.ini: [process] needs exec"),
    # references
    "no such variable": (job("client_id = ${env:PAWL_TEST_NONE}"), "job.ini:5: client_id: ${env:PAWL_TEST_NONE}"),
    "no such file": (job("client_id = ${file:/none/such}"), "job.ini:5: client_id: ${file:/none/such}"),
    "reference to a folder": (job("client_id = ${file:/}"), "job.ini:5: client_id: ${file:/}"),
    "reference without end": (job("client_id = ${env:HOME"), "job.ini:5: client_id: the } of a ${env: is missing"),
    "reference to nothing": (job("client_id = ${env:}"), "job.ini:5: client_id: ${env:} names nothing"),
    "variable of a wrong value": (job("parallelism = ${env:PAWL_TEST_WORD}"), "job.ini:5: parallelism: "),
}

# Words behind `pawl run`, and the message.
WRONG_LINES = {
    "no file": ([], "FILE is missing"),
    "two files": (["job.ini", "b.ini"], '"b.ini" is one word too many'),
    "no such file": (["none.ini"], "there is no job file none.ini"),
    "a folder": (["."], ". is a folder"),
    "unknown option": (["job.ini", "--dryrun"], "there is no option --dryrun; did you mean --dry-run?"),
    "abbreviated option": (["job.ini", "--dry"], "there is no option --dry"),
    "flag with a value": (["job.ini", "--json=1"], "--json takes no value"),
    "option without its value": (["job.ini", "--set"], "--set needs a value"),
    "log format": (["job.ini", "--log-format", "xml"], "--log-format is one of text, logfmt, json"),
    "log level": (["job.ini", "--log-level", "loud"], "--log-level is one of error, warn, info, debug"),
    "option twice": (["job.ini", "--log-level", "info", "--log-level", "warn"], "--log-level is given twice"),
    "set without =": (["job.ini", "--set", "job.group"], "--set takes SECTION.KEY=VALUE, and there is no ="),
    "set without a section": (["job.ini", "--set", "group=x"], "--set takes SECTION.KEY=VALUE, job.group=flights"),
    "set without a key": (["job.ini", "--set", "job.=x"], "--set takes SECTION.KEY=VALUE"),
    "set in no section": (["job.ini", "--set", "jobs.group=x"], "--set: there is no section [jobs]; did you mean [job]?"),
    "set of no setting": (["job.ini", "--set", "job.grup=x"], "--set: there is no setting", "did you mean group?"),
    "set of a wrong value": (["job.ini", "--set", "job.parallelism=0"], "--set: parallelism: 0 is not between"),
    "set of a wrong reference": (["job.ini", "--set", "user.x=${env:PAWL_TEST_NONE}"], "--set: x: ${env:PAWL_TEST_NONE}"),
    "set that does not fit": (["job.ini", "--set", "process.separator=nul"], "--set: separator: nul goes with"),
}


def run(folder, *words, **env):
    """Runs pawl run, whatever comes of it."""
    return subprocess.run([jobs.executable(), "run", *words], cwd=folder, env=jobs.environment(**env), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=jobs.TIMEOUT_S)


@pytest.fixture
def run_file(tmp_path):
    """Runs pawl on a job file of this text, in a folder of its own."""

    def run_text(text, *words, **env):
        (tmp_path / "job.ini").write_bytes(text.encode("utf-8", "surrogateescape"))
        return run(tmp_path, "job.ini", *words, PAWL_TEST_WORD="many", **env)

    return run_text


@pytest.mark.parametrize("name", WRONG_FILES)
def test_wrong_files(name, run_file, tmp_path):
    text, *wanted = WRONG_FILES[name]
    ran = run_file(text)
    assert ran.returncode == 2, ran.stderr
    for part in wanted:
        assert part in ran.stderr
    assert ran.stderr.count("\n") == 1, ran.stderr
    assert ran.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["job.ini"], "something was started"


@pytest.mark.parametrize("name", WRONG_LINES)
def test_wrong_command_lines(name, tmp_path):
    words, *wanted = WRONG_LINES[name]
    (tmp_path / "job.ini").write_text(GOOD)
    ran = run(tmp_path, *words)
    assert ran.returncode == 2, ran.stderr
    for part in wanted:
        assert part in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["job.ini"]


def test_there_are_enough_of_them():
    assert len(WRONG_FILES) + len(WRONG_LINES) >= 100


def printed(ran):
    assert ran.returncode == 0, ran.stderr
    return {row["setting"]: (row["value"], row["origin"]) for row in json.loads(ran.stdout)}


@pytest.mark.parametrize("text", [GOOD, GOOD.replace("\n", "\r\n"), GOOD.replace("\n", " \t \n"), "\ufeff" + GOOD,
                                  GOOD.replace(" = ", "="), "# a comment\n\n; another\n" + GOOD, GOOD[:-1],
                                  GOOD.replace("[job]", "  [job]  ").replace("group", "\tgroup")])
def test_files_of_other_systems_are_fine(text, run_file):
    rows = printed(run_file(text, "--print-config", "--json"))
    assert rows["job.group"][0] == "g"
    assert rows["process.exec"][0] == "cat"


def test_print_config(run_file):
    rows = printed(run_file(job("trigger = once"), "--set", "job.max_retries=7", "--print-config", "--json"))
    assert rows["job.trigger"] == ("once", "job.ini:5")
    assert rows["job.max_retries"] == ("7", "--set")
    assert rows["job.on_error"] == ("stop", "default")
    assert rows["job.partitions"] == (None, "not set")
    assert rows["kafka.bootstrap.servers"] == ("127.0.0.1:1", "job.ini:7")
    assert rows["process.format"] == ("json", "default")
    assert rows["job.open_ranges"][1] == rows["job.parallelism"][1] == "default of exec"
    text = run_file(job("trigger = once"), "--print-config").stdout
    assert "job.trigger" in text and "job.ini:5" in text


def test_another_selection_than_the_files(run_file):
    rows = printed(run_file(GOOD, "--set", "job.topics=", "--set", "job.partitions=t:0", "--print-config", "--json"))
    assert rows["job.partitions"] == ("t:0", "--set")


def test_open_ranges_and_parallelism_mean_each_other(run_file):
    assert printed(run_file(job("open_ranges = 5"), "--print-config", "--json"))["job.parallelism"][0] == "5"
    assert printed(run_file(job("parallelism = 6"), "--print-config", "--json"))["job.open_ranges"][0] == "6"


def test_secrets_are_masked(run_file, tmp_path):
    (tmp_path / "secret").write_text("from-file\n")
    text = kafka("sasl.password = plain-secret\nssl.key.password = ${file:secret}") + "[user]\napi_token = user-secret\n"
    text = text.replace("sqlite:offsets.db", "redis://me:${env:DB_PASSWORD}@h:1/x?password=query-secret")
    text = text.replace("exec = cat", "exec = post --password '${env:DB_PASSWORD}' ${file:secret}")
    for arguments in (["--print-config"], ["--print-config", "--json"]):
        ran = run_file(text, *arguments, DB_PASSWORD="p@ss/w:rd")
        assert ran.returncode == 0, ran.stderr
        for secret in ("plain-secret", "from-file", "user-secret", "p@ss", "p%40ss", "query-secret"):
            assert secret not in ran.stdout
    assert "${env:DB_PASSWORD}" in ran.stdout and "${file:secret}" in ran.stdout
    assert "redis://me:***@h:1/x" in ran.stdout


def test_references(run_file, tmp_path):
    (tmp_path / "name").write_text("from-file\r\n")
    text = GOOD.replace("exec = cat", "exec = echo ${env:PAWL_TEST_WORD} $HOME ${HOME} $${env:HOME}")
    rows = printed(run_file(text.replace("group = g", "group = a-${file:name}-b"), "--print-config", "--json"))
    assert rows["job.group"][0] == "a-${file:name}-b"  # shown like this, see above
    assert rows["process.exec"][0] == "echo many $HOME ${HOME} ${env:HOME}"


def test_a_password_in_a_url_may_hold_anything(run_file):
    text = GOOD.replace("sqlite:offsets.db", "redis://${env:DB_USER}:${env:DB_PASSWORD}@h:1/x")
    ran = run_file(text, "--print-config", "--json", DB_USER="a:b@c", DB_PASSWORD="x/y?z#@")
    assert printed(ran)["job.store"][0] == "redis://a%3Ab%40c:***@h:1/x"


def test_a_password_in_a_parameter_may_hold_anything(run_file):
    text = GOOD.replace("sqlite:offsets.db", "redis:/run/redis.sock?password=${env:DB_PASSWORD}&db=2")
    ran = run_file(text, "--print-config", "--json", DB_PASSWORD="x&secret=%41#@")
    assert printed(ran)["job.store"][0] == "redis:/run/redis.sock?password=***&db=2"
