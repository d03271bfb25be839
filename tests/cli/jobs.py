"""Job files, and processes of `pawl run` that tests look at while they run."""

import os
import pathlib
import signal
import subprocess
import time

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PAWL_BUILD_DIR") or SOURCE)
FULL = os.environ.get("PAWL_TEST_FULL") == "1"
SANITIZED = os.environ.get("PAWL_TEST_SANITIZED") == "1"
TIMEOUT_S = 300


def executable():
    """Of an installed program libtool makes a script, and beside it the executable, which signals have to reach."""
    subprocess.run([BUILD / "src/cli/pawl", "--version"], check=True, stdout=subprocess.DEVNULL)
    found = [path for path in (BUILD / "src/cli/.libs/pawl", BUILD / "src/cli/.libs/lt-pawl") if path.exists()]
    return str(found[0] if found else BUILD / "src/cli/pawl")


def environment(**more):
    env = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "src/.libs"), **more}
    env.pop("NOTIFY_SOCKET", None)
    env.update(more)
    return env


class Job:
    """A job file in a folder of its own. Settings are written without their sections: "kafka.x", "process.x", "user.x"
    belong into these, all others into [job]."""

    def __init__(self, folder, brokers=None, topic=None, **settings):
        self.folder = folder
        self.settings = {"group": "g", "topics": topic or "t", "store": "sqlite:offsets.db", "trigger": "available-now",
                         "retry_backoff": "1ms", "kafka.bootstrap.servers": brokers or "127.0.0.1:1"}
        self.set(**settings)

    def set(self, **settings):
        """In Python's names a double underscore stands for the dot."""
        for name, value in settings.items():
            self.settings[name.replace("__", ".")] = str(value)
        sections = {"job": [], "kafka": [], "process": [], "user": []}
        for name, value in self.settings.items():
            section, dot, key = name.partition(".")
            if not dot or section not in sections:
                section, key = "job", name
            sections[section].append(f"{key} = {value}")
        text = "".join(f"[{name}]\n" + "".join(f"{line}\n" for line in lines) for name, lines in sections.items())
        (self.folder / "job.ini").write_text(text)

    def start(self, *words, wrapper=(), stderr=None, **env):
        """Starts it; standard output and standard error go to files."""
        with open(self.folder / "out", "w") as out, open(self.folder / "err", "w") as err:
            process = subprocess.Popen([*wrapper, executable(), "run", "job.ini", *map(str, words)], cwd=self.folder,
                                       env=environment(**env), stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=err if stderr is None else stderr)
        return process

    def run(self, *words, code=0, **env):
        """Runs it to its end, which has to be with this exit status, and returns what it logged."""
        process = self.start(*words, **env)
        return self.end(process, code)

    def end(self, process, code=0, seconds=TIMEOUT_S):
        """Waits for its end. Gives up its log, and keeps how much memory it took."""
        deadline = time.monotonic() + seconds
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                process.kill()
                os.wait4(process.pid, 0)
                raise AssertionError(f"no end after {seconds} s:\n{self.log()}")
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.peak_mib = usage.ru_maxrss / 1024
        assert process.returncode == code, f"exit status {process.returncode}:\n{self.log()}"
        return self.log()

    def log(self):
        return (self.folder / "err").read_text(errors="replace")

    def output(self):
        return (self.folder / "out").read_text(errors="replace")

    def file(self, name):
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""

    def stored(self):
        """The offsets by (topic, partition)."""
        shown = subprocess.run([executable(), "offsets", "export", "--format", "csv", "--store", "sqlite:offsets.db",
                                "--group", self.settings["group"]], cwd=self.folder, env=environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False, timeout=60)
        rows = [line.split(",") for line in shown.stdout.splitlines()]
        return {(topic, int(number)): int(offset) for topic, number, offset in rows if offset.isdigit()}


@pytest.fixture
def job(tmp_path, request):
    """Makes jobs in the test's folder. Ends what a failed test has left running."""
    started = []

    def make(*arguments, **settings):
        made = Job(tmp_path, *arguments, **settings)
        start = made.start

        def remember(*words, **more):
            started.append(start(*words, **more))
            return started[-1]

        made.start = remember
        return made

    yield make
    for process in started:
        if process.returncode is None and process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()


def children(pid):
    """The numbers and states of a process's children, "Z" for instance."""
    found = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            number, rest = stat.read_text().split(" (", 1)
            state, parent = rest.rsplit(") ", 1)[1].split()[:2]
        except (OSError, ValueError):
            continue
        if int(parent) == pid:
            found[int(number)] = state
    return found


def descriptors(pid):
    return sorted(os.listdir(f"/proc/{pid}/fd"))


def processes_with(text):
    """The numbers of the processes that have this text in their command line."""
    found = []
    for cmdline in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text in cmdline.read_bytes().decode(errors="replace").replace("\0", " "):
                found.append(int(cmdline.parent.name))
        except OSError:
            pass
    return [pid for pid in found if pid != os.getpid()]
