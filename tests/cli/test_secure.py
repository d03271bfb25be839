"""A Kafka with TLS, passwords and ACLs: the least rights, which the manual lists, and what is said when something is wrong."""

import pathlib
import re
import shutil
import subprocess
import sys
import time

import pytest

import jobs
from conftest import Kafka, wait_for
from jobs import job  # noqa: F401, a fixture

sys.path.append(str(jobs.SOURCE / "tests/integration"))
import flights  # noqa: E402

MANUAL = jobs.SOURCE / "man/pawl.7"
SERVICE = jobs.SOURCE / "services/kafka"


def manual_properties():
    """The [kafka] section that pawl(7) shows, by name."""
    shown = re.search(r"^\[kafka\]\n(.*?)^\.Ed", MANUAL.read_text(), re.DOTALL | re.MULTILINE).group(1)
    return dict(re.findall(r"^(\S+) = (\S+)$", shown, re.MULTILINE))


class Secured:
    """The broker. What its user needs is what the manual shows, with other values."""

    def __init__(self, folder):
        subprocess.run([SERVICE / "start", folder, "--secure"], check=True, timeout=300)
        env = dict(line.split("=", 1) for line in (folder / "env").read_text().splitlines())
        self.folder = folder
        self.brokers = env["KAFKA_BROKERS"]
        self.user = env["KAFKA_USER"]
        self.password = pathlib.Path(env["KAFKA_USER_PASSWORD_FILE"]).read_text().strip()
        self.properties = manual_properties()
        assert self.properties["sasl.password"].startswith("${file:")
        self.properties.update({"bootstrap.servers": self.brokers, "ssl.ca.location": env["KAFKA_CA"],
                                "sasl.username": self.user,
                                "sasl.password": "${file:" + env["KAFKA_USER_PASSWORD_FILE"] + "}"})
        self.admin = {**self.properties, "sasl.username": env["KAFKA_ADMIN"],
                      "sasl.password": "${file:" + env["KAFKA_ADMIN_PASSWORD_FILE"] + "}"}
        self.admin_config = folder / "admin.conf"
        self.admin_config.touch(0o600)
        self.admin_config.write_text("".join(f"{name}={value}\n" for name, value in {
            **self.admin, "sasl.password": pathlib.Path(env["KAFKA_ADMIN_PASSWORD_FILE"]).read_text().strip()}.items()))

    def settings(self, **others):
        """For a job file."""
        others = {name.replace("__", "."): value for name, value in others.items()}
        return {**{f"kafka.{name}": value for name, value in self.properties.items()}, "source_timeout": "3s", **others}

    def kafka(self, properties=None):
        """For the other commands, beside the brokers."""
        properties = properties or self.properties
        return [word for name, value in properties.items() if name != "bootstrap.servers"
                for word in ("--kafka", f"{name}={value}")]

    def options(self, properties=None):
        return ["--brokers", self.brokers, *self.kafka(properties)]


@pytest.fixture(scope="session")
def secured(brokers, tmp_path_factory):
    if not shutil.which("openssl"):
        pytest.skip("no openssl")
    folder = tmp_path_factory.mktemp("secured")
    made = Secured(folder)
    yield made
    subprocess.run([SERVICE / "stop", folder], check=True, timeout=60)


@pytest.fixture(scope="session")
def admin(secured):
    made = Kafka(PAWL_TEST_BROKERS=secured.brokers, PAWL_TEST_KAFKA_CONFIG=str(secured.admin_config))
    yield made
    made.close()


@pytest.fixture(scope="session")
def topics(admin, secured):
    """Topics with five records, by what the user may do with them."""
    made = {}
    for right in ("Read", "Describe", "nothing"):
        made[right] = admin.topic()
        admin("fill", made[right], 0, 5)
        if right != "nothing":
            admin("allow", secured.user, "topic", made[right], right)
    return made


def secured_job(job, secured, topic, **settings):
    made = job(secured.brokers, topic, process__exec="cat > records")
    made.set(**secured.settings(**settings))
    return made


# ----------------------------------------------------------------------------------------------------- the least rights --


def test_flights(admin, secured, tmp_path):
    """The example, with nothing but the right to read its topic."""
    rows = (jobs.SOURCE / "examples/data/flights-sample.csv").read_text().splitlines(keepends=True)[1:]
    topic = admin.topic(3)
    admin("allow", secured.user, "topic", topic, "Read")
    subprocess.run(["kcat", "-P", "-q", "-F", secured.admin_config, "-t", topic], input="".join(rows), text=True,
                   check=True, timeout=60)
    db = tmp_path / "flights.db"
    settings = {**secured.settings(topics=topic), "kafka.sasl.password": secured.password}
    flights.assert_done(flights.run([jobs.BUILD / "examples/flights", secured.brokers, f"sqlite:{db}",
                                     *(f"{name}={value}" for name, value in settings.items())], tmp_path / "log"))
    flights.assert_same(db, flights.expected(rows))
    assert secured.password not in (tmp_path / "log").read_text()


def rights_in_manual():
    """What pawl(7) says that each command needs with a topic."""
    found = re.findall(r"^\.It Cm (.*) Ta (Read|Describe)$", MANUAL.read_text(), re.MULTILINE)
    return {command.replace("Fl \\-dry\\-run", "--dry-run"): right for command, right in found}


@pytest.fixture
def attempt(job, pawl, secured, tmp_path):
    """Runs a command about a topic, which has to end with this code, and returns what it says."""

    def run(command, topic, code):
        if command.startswith("run"):
            return secured_job(job, secured, topic).run(*command.split()[1:], code=code)
        where = ["--store", f"sqlite:{tmp_path}/offsets.db", "--group", topic]
        # Who may do more has saved an offset.
        pawl("offsets", "set", f"{topic}:0=1", "--execute", *where, *secured.options(secured.admin))
        if command == "peek":
            where = []
        return pawl(*command.split(), *OPERANDS[command].format(topic=topic).split(), *where, *secured.options(),
                    code=code).err

    return run


OPERANDS = {
    "run": "",
    "run --dry-run": "",
    "peek": "{topic}:0:0-5",
    "lag": "",
    "offsets show": "",
    "offsets set": "{topic}:0=3 --execute",
    "offsets reset": "--topic {topic} --to-time 0 --execute",
    "offsets import": "{topic}.csv --execute",
}
LESS = {"Read": "Describe", "Describe": "nothing"}
LACKS = {"Describe": "this user lacks the right to read the topic", "nothing": "this user lacks the right to describe it"}


@pytest.mark.parametrize("command", OPERANDS)
def test_least_rights(command, attempt, topics, tmp_path, monkeypatch):
    """With the right that the manual names it works, and with less it says what is missing."""
    right = rights_in_manual()[command]
    monkeypatch.chdir(tmp_path)
    for topic in topics.values():
        (tmp_path / f"{topic}.csv").write_text(f"{topic},0,2\n")
    attempt(command, topics[right], 0)
    started = time.monotonic()
    said = attempt(command, topics[LESS[right]], 1)
    assert LACKS[LESS[right]] in said and topics[LESS[right]] in said
    assert time.monotonic() - started < 20


def test_a_job_may_not_see_its_topic(job, secured, topics):
    assert LACKS["nothing"] in secured_job(job, secured, topics["nothing"]).run(code=1)


def test_a_pattern_finds_what_may_be_seen(job, secured, topics):
    made = secured_job(job, secured, "unused")
    del made.settings["topics"]
    made.set(topics_pattern="|".join((topics["Read"], topics["nothing"])))
    made.run()
    assert made.stored() == {(topics["Read"], 0): 5}


def test_the_rights_on_a_group(pawl, secured, admin, topics):
    """Its offsets in Kafka: who may not see them, or not change them, is told so and does not wait."""
    topic = topics["Read"]
    group = f"group-of-{topic}"
    where = ["--store", f"kafka://{secured.brokers}", "--group", group, *secured.options()]
    place = f"{topic}:0=3"

    def refused(*words):
        started = time.monotonic()
        said = pawl("offsets", *words, *where, code=1).err
        assert "Group authorization failed" in said and group in said
        assert time.monotonic() - started < 10

    refused("show")
    refused("set", place)
    admin("allow", secured.user, "group", group, "Describe")
    assert "nothing is stored" in pawl("offsets", "show", *where, code=1).err
    refused("set", place, "--execute")
    admin("allow", secured.user, "group", group, "Read")
    pawl("offsets", "set", place, "--execute", *where)
    assert pawl("offsets", "show", *where, "--json").partitions()[topic, 0]["offset"] == 3
    exported = pawl("offsets", "export", "--format", "csv", "--store", f"kafka://{secured.brokers}", "--group", group,
                    *secured.kafka())
    assert exported.out == f"{topic},0,3\n"


# -------------------------------------------------------------------------------------------------------- wrong settings --


WRONG = {
    "password": ({"kafka.sasl.password": "hunter2hunter2"}, 5, "SASL authentication error",
                 "check sasl.username and sasl.password"),
    "user": ({"kafka.sasl.username": "nobody"}, 5, "SASL authentication error", "check sasl.username"),
    "mechanism": ({"kafka.sasl.mechanisms": "PLAIN"}, 5, "broker's supported mechanisms: SCRAM-SHA-512"),
    "authority": ({"kafka.ssl.ca.location": "other.crt"}, 5, "certificate verify failed", "ssl.ca.location"),
    "no authority": ({"kafka.ssl.ca.location": "missing.crt"}, 2, "ssl.ca.location"),
    "no TLS": ({"kafka.security.protocol": "SASL_PLAINTEXT"}, 5, "may speak another security.protocol"),
    "no password": ({"kafka.security.protocol": "SSL"}, 5, "broker might require SASL authentication"),
    "neither": ({"kafka.security.protocol": "PLAINTEXT"}, 5, "security.protocol"),
    "no file": ({"kafka.sasl.password": "${file:missing}"}, 2, "job.ini:", "sasl.password", "${file:missing}"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong(what, job, secured, topics, tmp_path):
    settings, code, *wanted = WRONG[what]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=other", "-keyout", tmp_path / "other.key", "-out", tmp_path / "other.crt"],
                   check=True, stderr=subprocess.DEVNULL, timeout=60)
    made = secured_job(job, secured, topics["Read"])
    made.set(**settings)
    started = time.monotonic()
    last = made.run("--log-level", "warn", code=code).splitlines()[-1]
    assert time.monotonic() - started < 15
    assert all(text in last for text in wanted), last
    assert "hunter2" not in made.log()


def test_tls_with_a_broker_that_has_none(job, secured, topics, brokers):
    made = secured_job(job, secured, topics["Read"], kafka__bootstrap__servers=brokers)
    assert "they may not speak TLS, check security.protocol" in made.run("--log-level", "warn", code=5)


# ----------------------------------------------------------------------------------------------------------- the password --


def test_the_password_is_never_shown(job, pawl, secured, topics):
    """Not where settings are printed, not in the most talkative log, not in a command line."""
    made = secured_job(job, secured, topics["Read"], trigger="continuous", kafka__debug="all")
    for words in (["--print-config"], ["--print-config", "--json"]):
        made.run(*words)
        assert secured.password not in made.output() + made.log()
        assert "kafka.sasl.password" in made.output()
    process = made.start("--json", "--log-level", "debug")
    wait_for(lambda: made.stored() == {(topics["Read"], 0): 5})
    assert secured.password not in pathlib.Path(f"/proc/{process.pid}/cmdline").read_text()
    process.terminate()
    made.end(process)
    assert "batch" in made.output()
    assert secured.password not in made.output() + made.log()
    shown = pawl("peek", f"{topics['Read']}:0:0-1", *secured.options(), "--kafka", "debug=all")
    assert secured.password not in shown.out + shown.err
