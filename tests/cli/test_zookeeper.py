"""Offsets in ZooKeeper: what pawl writes another client reads, and the other way round.

The other client is kazoo, in Python, which shares no code with ZooKeeper's own. pip fetches it once into the cache.
"""

import os
import pathlib
import subprocess
import sys

import pytest

from conftest import SOURCE, Offsets

KAZOO = "2.10.0"
SERVICE = SOURCE / "services" / "zookeeper"


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zookeeper")
    subprocess.run([SERVICE / "start", folder], check=True, stdout=subprocess.DEVNULL)
    yield dict(line.split("=", 1) for line in (folder / "env").read_text().splitlines())["ZOOKEEPER_HOSTS"]
    subprocess.run([SERVICE / "stop", folder], check=True)


@pytest.fixture(scope="module")
def kazoo():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "pawl"
    folder = cache / f"kazoo-{KAZOO}"
    if not folder.exists():
        part = cache / f"kazoo-{KAZOO}.{os.getpid()}"
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", part,
                        f"kazoo=={KAZOO}"], check=True)
        part.rename(folder)
    sys.path.insert(0, str(folder))
    import kazoo.client
    yield kazoo.client
    sys.path.remove(str(folder))


@pytest.fixture
def other(kazoo, hosts):
    client = kazoo.KazooClient(hosts=hosts)
    client.start(timeout=60)
    yield client
    client.stop()
    client.close()


@pytest.fixture
def offsets(pawl, brokers, hosts, tmp_path, request):
    offsets = Offsets(pawl, brokers, tmp_path)
    offsets.store = f"zookeeper://{hosts}/{request.node.name}"
    offsets.root = f"/{request.node.name}/consumers/etl"
    return offsets


def test_what_pawl_writes(offsets, kafka, other):
    topic = kafka.topic(2)
    offsets.set(f"{topic}:0=3", f"{topic}:1={2**63 - 1}")
    assert other.get(f"{offsets.root}/offsets/{topic}/0")[0] == b"3"
    assert other.get(f"{offsets.root}/offsets/{topic}/1")[0] == b"%d" % (2**63 - 1)
    owner, = other.get_children(f"{offsets.root}/pawl/owners")
    _, stat = other.get(f"{offsets.root}/pawl/owners/{owner}")
    assert {row["epoch"] for row in offsets.show().values()} == {stat.czxid}


def test_what_another_client_writes(offsets, kafka, other):
    topic = kafka.topic(2)
    other.create(f"{offsets.root}/offsets/{topic}/0", b"41", makepath=True)
    row = offsets.show()[topic, 0]
    assert (row["offset"], row["epoch"], row["owner"]) == (41, 0, None)
    offsets.set(f"{topic}:0=42")
    assert other.get(f"{offsets.root}/offsets/{topic}/0")[0] == b"42"
    other.set(f"{offsets.root}/offsets/{topic}/0", b"43")
    assert offsets.show()[topic, 0]["offset"] == 43


def test_what_is_no_offset(offsets, other):
    other.create(f"{offsets.root}/offsets/t/0", b"4x2", makepath=True)
    failed = offsets.pawl("offsets", "show", *offsets.where(), code=(1, 5))
    assert "'4x2'" in failed.err and f"{offsets.root}/offsets/t/0" in failed.err
    assert other.get(f"{offsets.root}/offsets/t/0")[0] == b"4x2"


def test_secrets_are_not_shown(offsets, hosts):
    offsets.store = f"zookeeper://etl:very-secret@{hosts.rsplit(':', 1)[0]}:1/x"
    failed = offsets.pawl("offsets", "show", *offsets.where(), "--timeout", "2s", code=(1, 2, 5))
    assert "very-secret" not in failed.err + failed.out
