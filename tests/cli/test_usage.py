"""Command lines that are wrong, and what --help and its relatives show. None of these needs a broker."""

import re
import shlex
import subprocess

import pytest

from conftest import BUILD, SOURCE

STORE = "--store sqlite:{tmp}/offsets.db"
WHERE = STORE + " --group g"
THERE = WHERE + " --brokers 127.0.0.1:1"

# A command line, its exit status, and what it says.
WRONG = [
    # commands
    ("", 2, "pawl: a command is missing"),
    ("offset", 2, 'there is no command "offset"; did you mean pawl offsets?'),
    ("store", 2, 'there is no command "store"; did you mean pawl stores?'),
    ("LAG", 2, 'there is no command "LAG"; did you mean pawl lag?'),
    ("nonsense", 2, 'there is no command "nonsense"'),
    ("'two\nlines'", 2, r'there is no command "two\x0alines"'),
    ("offsets", 2, "pawl offsets: a command is missing"),
    ("offsets sett", 2, 'there is no command "sett"; did you mean pawl offsets set?'),
    ("offsets list", 2, 'there is no command "list"'),
    ("help", 2, 'there is no command "help"'),
    # options
    ("--verbose", 2, "there is no option --verbose"),
    ("-x", 2, "there is no option -x"),
    ("stores -j", 2, "there is no option -j"),
    ("stores --jsn", 2, "there is no option --jsn; did you mean --json?"),
    ("stores --js", 2, "there is no option --js; did you mean --json?"),
    ("stores --json=yes", 2, "--json takes no value"),
    ("stores sqlite redis", 2, '"redis" is one word too many'),
    ("stores nothing", 2, "there is no store for 'nothing:'; there is"),
    ("offsets show --group g", 2, "--store URL is required"),
    ("offsets show --store", 2, "--store needs a value"),
    (f"offsets show {STORE} {STORE}", 2, "--store is given twice"),
    (f"offsets show {STORE} --grop g", 2, "there is no option --grop; did you mean --group?"),
    (f"offsets show {STORE} --grop=g", 2, "there is no option --grop; did you mean --group?"),
    (f"offsets show {STORE} --gro g", 2, "there is no option --gro; did you mean --group?"),
    (f"offsets show {THERE} --isolation committed", 2,
     '--isolation is one of read_committed, read_uncommitted, not "committed"'),
    (f"offsets show {WHERE} --timeout 30", 2, '--timeout: "30" is not a duration'),
    (f"offsets show {WHERE} --timeout 1ms", 2, "--timeout: 1ms is not between 100ms and 1h"),
    (f"offsets show {WHERE} t", 2, '"t" is one word too many'),
    ("offsets show --store nonsense:x --group g", 2, "there is no store for 'nonsense:'; there is"),
    ("offsets show --store x --group g", 2, ""),
    ("offsets show --store sqlite:{tmp}/x.db?colour=red --group g", 2, "colour"),
    (f"offsets export {WHERE} --format xml", 2, '--format is one of csv, json, not "xml"'),
    (f"offsets export {STORE}", 2, "--group NAME is required"),
    # offsets set
    (f"offsets set {WHERE} t:0=1", 2, "--brokers HOST:PORT is required"),
    (f"offsets set {THERE}", 2, "TOPIC:PARTITION=OFFSET ... is missing"),
    (f"offsets set {THERE} t", 2, '"t" is not TOPIC:PARTITION=OFFSET'),
    (f"offsets set {THERE} t:0", 2, '"t:0" is not TOPIC:PARTITION=OFFSET'),
    (f"offsets set {THERE} t=1", 2, '"t=1" is not TOPIC:PARTITION=OFFSET'),
    (f"offsets set {THERE} t:0=", 2, "an offset is a number from 0 to 2^63-1"),
    (f"offsets set {THERE} t:0=-1", 2, "an offset is a number from 0 to 2^63-1"),
    (f"offsets set {THERE} t:0=1.5", 2, "an offset is a number from 0 to 2^63-1"),
    (f"offsets set {THERE} t:0=9223372036854775808", 2, "an offset is a number from 0 to 2^63-1"),
    (f"offsets set {THERE} t:0=1e3", 2, "an offset is a number from 0 to 2^63-1"),
    (f"offsets set {THERE} t:2147483648=1", 2, '"t:2147483648=1" is not TOPIC:PARTITION=OFFSET'),
    (f"offsets set {THERE} t:-1=1", 2, '"t:-1=1" is not TOPIC:PARTITION=OFFSET'),
    (f"offsets set {THERE} a/b:0=1", 2, '"a/b:0=1" is not TOPIC:PARTITION=OFFSET'),
    (f"offsets set {THERE} ..:0=1", 2, '"..:0=1" is not TOPIC:PARTITION=OFFSET'),
    (f"offsets set {THERE} t:0=1 t:0=2", 2, "partition 0 of 't' is given twice"),
    (f"offsets set {THERE} t:0=1 --kafka nonsense", 2, "--kafka takes NAME=VALUE"),
    (f"offsets set {THERE} t:0=1 --kafka =x", 2, "--kafka takes NAME=VALUE"),
    (f"offsets set {THERE} t:0=1 --kafka group.id=x", 2, "kafka.group.id cannot be set: set group instead"),
    (f"offsets set {THERE} t:0=1 --kafka no.such.thing=x", 2, "no.such.thing"),
    # offsets reset
    (f"offsets reset {THERE} --to-earliest", 2, "either --topic or --all-topics is needed"),
    (f"offsets reset {THERE} --to-earliest --topic t --all-topics", 2, "either --topic or --all-topics is needed"),
    (f"offsets reset {THERE} --topic t", 2, "one of --to-earliest, --to-latest, --to-offset"),
    (f"offsets reset {THERE} --topic t --to-earliest --to-latest", 2, "is needed, and only one"),
    (f"offsets reset {THERE} --topic t --to-offset", 2, "--to-offset needs a value"),
    (f"offsets reset {THERE} --topic t --to-offset -1", 2, "--to-offset: an offset is a number from 0 to 2^63-1"),
    (f"offsets reset {THERE} --topic t --to-offset ten", 2, "--to-offset: an offset is a number from 0 to 2^63-1"),
    (f"offsets reset {THERE} --topic t --shift-by 1.5", 2, '--shift-by: "1.5" is not a whole number'),
    (f"offsets reset {THERE} --topic t --shift-by 9223372036854775808", 2, "--shift-by: "),
    (f"offsets reset {THERE} --topic t --to-time 2013-01-01T10:00:00", 2, "--to-time: "),
    (f"offsets reset {THERE} --topic t --to-time 2013-01-01", 2, "--to-time: "),
    (f"offsets reset {THERE} --topic t --to-time 2013-13-01T10:00:00Z", 2, "--to-time: "),
    (f"offsets reset {THERE} --topic t --to-time yesterday", 2, "--to-time: "),
    (f"offsets reset {THERE} --topic t --to-time -1", 2, "--to-time: "),
    (f"offsets reset {THERE} --topic t --by-duration 10", 2, "--by-duration: "),
    (f"offsets reset {THERE} --topic t --by-duration -PT1H", 2, "--by-duration: "),
    (f"offsets reset {THERE} --topic t --by-duration 100000d", 2, "--by-duration: that is before 1970"),
    (f"offsets reset {THERE} --topic t: --to-earliest", 2, '--topic: "t:" is not TOPIC or TOPIC:PARTITION,PARTITION'),
    (f"offsets reset {THERE} --topic t:0, --to-earliest", 2, '--topic: "t:0," is not TOPIC'),
    (f"offsets reset {THERE} --topic t:0-3 --to-earliest", 2, '--topic: "t:0-3" is not TOPIC'),
    (f"offsets reset {THERE} --topic t:01 --to-earliest", 2, '--topic: "t:01" is not TOPIC'),
    (f"offsets reset {THERE} --topic t:0,0 --to-earliest", 2, "partition 0 of 't' is given twice"),
    (f"offsets reset {THERE} --topic t --topic t --to-earliest", 2, "is given twice"),
    (f"offsets reset {THERE} --topic t --to-earliest now", 2, '"now" is one word too many'),
    # the rest
    (f"offsets delete {WHERE}", 2, "either --topic or --all-topics is needed"),
    (f"offsets delete {WHERE} --all-topics", 1, "nothing is stored for group 'g' in sqlite:"),
    (f"offsets import {THERE}", 2, "FILE is missing"),
    (f"offsets import {THERE} {{tmp}}/none", 2, "No such file or directory"),
    (f"offsets import {THERE} {{tmp}} ", 2, "Is a directory"),
    (f"offsets import {THERE} a b", 2, '"b" is one word too many'),
    (f"offsets set {THERE} t:0=1 --timeout 500ms", 5, "the brokers do not tell"),
    (f"lag {THERE}", 1, "nothing is stored for group 'g' in sqlite:"),
    (f"lag {WHERE}", 2, "--brokers HOST:PORT is required"),
    ("offsets show --store kafka://me:x@127.0.0.1:1 --group g", 2, "kafka.sasl.username"),
    ("peek t:0:0-1", 2, "--brokers HOST:PORT is required"),
    ("peek --brokers 127.0.0.1:1", 2, "TOPIC:PARTITION:FROM-UNTIL is missing"),
    ("peek --brokers 127.0.0.1:1 t:0", 2, '"t:0" is not TOPIC:PARTITION:FROM-UNTIL'),
    ("peek --brokers 127.0.0.1:1 t:0:5", 2, '"t:0:5" is not TOPIC:PARTITION:FROM-UNTIL'),
    ("peek --brokers 127.0.0.1:1 t:0:5-5", 2, '"t:0:5-5" is not a range'),
    ("peek --brokers 127.0.0.1:1 t:0:5-3", 2, '"t:0:5-3" is not a range'),
    ("peek --brokers 127.0.0.1:1 t:x:5-6", 2, '"t:x:5-6" is not TOPIC:PARTITION:FROM-UNTIL'),
    ("peek --brokers 127.0.0.1:1 t:0:0-1 --timeout 500ms", 5, "the brokers do not tell"),
]


@pytest.mark.parametrize("line, code, message", WRONG, ids=[f"{i}: {row[0][:60]!r}" for i, row in enumerate(WRONG)])
def test_wrong(pawl, tmp_path, line, code, message):
    result = pawl(*shlex.split(line.replace("{tmp}", str(tmp_path))), code=code)
    assert message in result.err
    assert result.err.startswith("pawl") or "WARN" in result.err
    assert result.out == ""
    assert not (tmp_path / "offsets.db").exists()


def test_a_secret_is_not_shown(pawl, tmp_path):
    for url in "nonsense://me:hunter2@host/", "redis://host/?pasword=hunter2", "kafka://me:hunter2@host:9092":
        result = pawl("offsets", "show", "--store", url, "--group", "g", code=2)
        assert "hunter2" not in result.err
    result = pawl("offsets", "set", "--store", f"sqlite:{tmp_path}/x", "--group", "g", "--brokers", "127.0.0.1:1",
                  "--kafka", "sasl.password=hunter2", "--kafka", "no.such.thing=hunter2", "t:0=1", code=2)
    assert "hunter2" not in result.err


def commands():
    """All commands, as --help lists them."""
    found = []

    def walk(words):
        text = subprocess.run([BUILD / "src/cli/pawl", *words, "--help"], check=True, stdout=subprocess.PIPE,
                              text=True).stdout
        found.append(words)
        listed = re.search(r"\nCommands:\n((?:  .*\n)+)", text)
        for name in re.findall(r"^  (\w+)", listed[1], re.M) if listed else []:
            walk([*words, name])

    walk([])
    return found


def test_help_manual_and_completion_agree(pawl):
    overview = (BUILD / "man/pawl.1").read_text()
    completion = (BUILD / "tools/completion/pawl").read_text()
    names = commands()
    assert ["offsets", "reset"] in names
    for words in names[1:]:
        manual = (BUILD / f"man/pawl-{words[0]}.1").read_text()
        assert f".It Xr pawl-{words[0]} 1\n" in overview
        assert len(words) == 1 or f".Ss pawl {' '.join(words)}\n" in manual
        assert f"'pawl {' '.join(words)} '*)" in completion
        for option in re.findall(r"^  --([\w-]+)", pawl(*words, "--help").out, re.M):
            assert option == "help" or f"--{option} " in completion
            assert option == "help" or f"Fl \\-{option}" in manual


def complete(*words):
    script = f"""
        source {shlex.quote(str(BUILD / "tools/completion/pawl"))}
        COMP_WORDS=(pawl {" ".join(map(shlex.quote, words))}) COMP_CWORD={len(words)}
        _pawl && printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], check=True, stdout=subprocess.PIPE, text=True, cwd=SOURCE)
    return done.stdout.split()


def test_completion():
    assert {"offsets", "lag", "stores", "peek"} <= set(complete(""))
    assert complete("la") == ["lag"]
    assert set(complete("offsets", "s")) == {"show", "set"}
    assert complete("offsets", "set", "--ex") == ["--execute"]
    assert complete("lag", "--isolation", "read_u") == ["read_uncommitted"]
    assert complete("offsets", "export", "--format", "") == ["csv", "json"]
    assert complete("offsets", "import", "READ") == ["README.md"]


def test_version_and_help(pawl):
    assert re.fullmatch(r"pawl \d+\.\d+\.\d+\n", pawl("--version").out)
    assert "Usage: pawl offsets set --store URL --group NAME --brokers HOST:PORT [OPTION ...] TOPIC" in pawl(
        "offsets", "set", "--help").out
    assert pawl("offsets", "set", "-h").out == pawl("offsets", "set", "--help").out


def test_stores(pawl):
    rows = {row["scheme"]: row for row in pawl("stores", "--json").json}
    assert rows["sqlite"]["atomic"] is True and rows["sqlite"]["transaction"] is True
    assert "sqlite" in pawl("stores").out


def test_a_full_disk_is_noticed(pawl):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BUILD / "src/cli/pawl", "stores"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "cannot write to standard output" in done.stderr


def test_options_of_a_store(pawl):
    """What the module's table says stands there, for people and for programs."""
    rows = {row["name"]: row for row in pawl("stores", "sqlite", "--json").json}
    assert rows["busy_timeout"]["default"] == "30s"
    assert set(rows) == {line.split()[0] for line in pawl("stores", "sqlite").out.splitlines()[1:]}
