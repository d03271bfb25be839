"""The stores of the tests in Python, each on a real server of services/: started, killed, frozen, woken up again."""

import collections
import contextlib
import os
import pathlib
import shlex
import signal
import subprocess

import pytest

SERVICES = pathlib.Path(__file__).resolve().parents[2] / "services"

# url: with the names that the start of the server has written down. pid: the name of the process without which nothing
# answers. lent: what names the folder of one that runs already, where there may be one.
Kind = collections.namedtuple("Kind", "url pid lent", defaults=[None, None])

KINDS = {
    "hbase": Kind("hbase://{HBASE_REST}/pawl?create=yes", "HBASE_GATEWAY_PID", "PAWL_TEST_HBASE"),
    "kafka": Kind("kafka://{KAFKA_BROKERS}", "KAFKA_PID", "PAWL_TEST_KAFKA_DIR"),
    "postgresql": Kind("{POSTGRESQL_URL}", "POSTGRESQL_PID"),
    "redis": Kind("redis://127.0.0.1:{REDIS_PORT}", "REDIS_PID"),
    "sqlite": Kind("sqlite:{folder}/offsets.db"),
    "zookeeper": Kind("zookeeper://{ZOOKEEPER_HOSTS}/pawl", "ZOOKEEPER_PID"),
}
WITH_SERVER = [scheme for scheme, kind in KINDS.items() if kind.pid]


class Server:
    """What keeps the offsets of a store, with its data in a folder. For sqlite: that is a file."""

    def __init__(self, scheme, folder):
        self.scheme = scheme
        self.kind = KINDS[scheme]
        self.folder = folder
        self.env = {"folder": str(folder)}

    @property
    def url(self):
        return self.kind.url.format(**self.env)

    def do(self, verb):
        if self.kind.pid:
            subprocess.run([SERVICES / self.scheme / verb, self.folder], check=True, timeout=300,
                           stdout=subprocess.DEVNULL)

    def read_env(self):
        if self.kind.pid:
            words = shlex.split((self.folder / "env").read_text().replace("export ", ""))
            self.env.update(word.split("=", 1) for word in words)

    def start(self):
        self.do("start")
        self.read_env()

    def stop(self):
        self.do("stop")

    def kill(self):
        """SIGKILL; start() brings it back with what it had."""
        self.do("kill")

    def signal(self, number):
        pid = self.env[self.kind.pid]
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            os.kill(int(pid), number)
            for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                os.kill(int(child), number)

    def freeze(self):
        """It takes connections, and answers nothing."""
        self.signal(signal.SIGSTOP)

    def thaw(self):
        self.signal(signal.SIGCONT)


def let_servers_in(folder, base):
    """The user of a server that refuses to be root has to come by the folders of a test, which are closed."""
    for above in [folder, *folder.parents]:
        if above.is_relative_to(base):
            above.chmod(above.stat().st_mode | 0o111)


class Servers:
    """The servers of a test session by their schemes, each started when it is first asked for. `own`: of which the tests
    may do as they like, so that they want no other than their own."""

    def __init__(self, tmp_path_factory, own=()):
        self.tmp_path_factory = tmp_path_factory
        self.own = own
        self.made = {}
        self.started = []

    def __call__(self, scheme):
        if scheme not in self.made:
            lent = scheme not in self.own and KINDS[scheme].lent
            self.made[scheme] = self.borrow(scheme, lent) if lent else self.start(scheme)
        return self.made[scheme]

    def borrow(self, scheme, name):
        if not os.environ.get(name):
            pytest.skip(f"{name} is not set: no {scheme}")
        server = Server(scheme, pathlib.Path(os.environ[name]))
        server.read_env()
        return server

    def start(self, scheme):
        folder = self.tmp_path_factory.mktemp(scheme)
        let_servers_in(folder, self.tmp_path_factory.getbasetemp())
        server = Server(scheme, folder)
        server.start()
        self.started.append(server)
        return server

    def stop(self):
        for server in self.started:
            server.stop()
