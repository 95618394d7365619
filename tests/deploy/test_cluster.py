"""`make cluster` as a process: what it says, and that nothing stays behind, however it ends."""

import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.support.serving import ROOT, TIMEOUT_S, wait_for
from tools.cluster import CLEAN, NODES, CannotStart, Process, Proxy

STARTS = """
import pathlib, sys, time
from tools.cluster import Process

it = Process("it", pathlib.Path(sys.argv[1]), ["sleep", "100"])
it.launch()
print(it.pid, flush=True)
time.sleep(100)
"""


def alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_ctrl_c_ends_all_of_it(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with said.open("wb") as log:
        cluster = subprocess.Popen(
            [sys.executable, "-m", "tools.cluster"],
            cwd=ROOT,
            env={**CLEAN, "SLAPJACK_PORT": "0", "TMPDIR": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    wait_for(lambda: len(re.findall("process", said.read_text())) == len(NODES) or cluster.poll() is not None, "it")
    assert cluster.poll() is None, said.read_text()
    children = list(map(int, Path(f"/proc/{cluster.pid}/task/{cluster.pid}/children").read_text().split()))
    assert len(children) == len(NODES) + 2
    where = re.search(r"http://localhost:\d+", said.read_text())
    assert where is not None
    with urllib.request.urlopen(f"{where[0].replace('localhost', '127.0.0.1')}/healthz", timeout=5) as answer:
        assert answer.status == 200
    cluster.send_signal(signal.SIGINT)
    assert cluster.wait(TIMEOUT_S) == 0
    assert not any(map(alive, children))
    assert [each.name for each in tmp_path.iterdir()] == ["said"]


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="a machine that cannot say when a parent has died")
def test_what_is_started_ends_with_whoever_started_it(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTS, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        # Until then it is not yet bound to its parent.
        wait_for(lambda: Path(f"/proc/{child}/comm").read_text(encoding="utf-8") == "sleep\n", "it to begin")
        parent.kill()
    wait_for(lambda: not alive(child), "it to end as well")


def test_what_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=r"no-such-server is not installed"):
        Process("it", tmp_path, ["no-such-server"]).launch()
    broken = Process("it", tmp_path, ["sh", "-c", "echo it cannot; exit 1"])
    broken.launch()
    with pytest.raises(CannotStart, match="it has ended:\nit cannot"):
        broken.wait(lambda: False)
    proxy = Proxy(tmp_path)
    with pytest.raises(CannotStart, match=rf"port {proxy.port}: .*choose another with SLAPJACK_PORT"):
        Proxy(tmp_path, proxy.port)
    proxy.end()
