"""Several servers on one machine, as docker-compose.yml has them in containers: `make cluster`.

redis-server, the proxy with deploy/haproxy.cfg, and three nodes, each a process that ends with this one and leaves
nothing behind. Phones reach the proxy, and the nodes as well, which believe this machine alone about where somebody
comes from. Tests have the same by `with Cluster(folder) as cluster:`, and kill, drain and start its nodes.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, Self

from tools.ports import lasting_port

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "deploy" / "haproxy.cfg"
NODES = ("a", "b", "c")
"""As they are called in haproxy.cfg and docker-compose.yml."""
START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 20.0
LOOK_EVERY_S = 0.02
CLEAN = {name: text for name, text in os.environ.items() if not name.startswith(("SLAPJACK_", "REDIS_"))}
CLEAN["PATH"] = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/sbin"
"""Settings are given, not inherited; and Debian has its haproxy where people do not look."""


class CannotStart(Exception):
    """A part of the cluster does not run; the text says which, and what it said."""


class Process:
    """One part of the cluster: how it is started, and what it says."""

    def __init__(self, name: str, folder: Path, command: Sequence[str], environ: Mapping[str, str] = {}) -> None:
        self.name = name
        self._log = folder / f"{name}.log"
        self._command = command
        self._environ = environ
        self._running: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Its process id, 0 while it does not run."""
        return self._running.pid if self._running is not None and self._running.poll() is None else 0

    def launch(self, pass_fds: Sequence[int] = (), **environ: str) -> None:
        """Starts it; raises `CannotStart`."""
        # It ends with us even at kill -9, where the machine has a way to say so (Linux).
        guard = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
        if shutil.which(self._command[0], path=CLEAN["PATH"]) is None:
            raise CannotStart(f"{self._command[0]} is not installed")
        with self._log.open("wb") as log:
            self._running = subprocess.Popen(
                [*guard, *self._command],
                cwd=ROOT,
                env={**CLEAN, **self._environ, **environ},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=pass_fds,
                start_new_session=True,  # Ctrl-C is ours to pass on
            )

    def wait(self, ready: Callable[[], object]) -> None:
        """Waits until it is ready; raises `CannotStart`."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while not ready():
            if not self.pid or time.monotonic() > deadline:
                raise CannotStart(f"{self.name} {'does not answer' if self.pid else 'has ended'}:\n{self.said()}")
            time.sleep(LOOK_EVERY_S)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Sends it a signal and waits until it has ended."""
        self.signal(how)
        if self._running is not None:
            try:
                self._running.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.signal(signal.SIGKILL)
                self._running.wait()

    def signal(self, how: signal.Signals) -> None:
        """Sends it a signal while it runs."""
        if self._running is not None and self._running.poll() is None:
            self._running.send_signal(how)

    def said(self) -> str:
        """What it has written since it was started."""
        return self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""


class Proxy(Process):
    """HAProxy with our deploy/haproxy.cfg at `port`, or at a free one, before `nodes`: the port of each by its name."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        super().__init__("proxy", folder, ["haproxy", "-db", "-f", str(CONFIG)])
        # Sockets of ours that it inherits: nobody else can have taken the port meanwhile.
        self._front, self._behind = _listening(port), _listening(0, "127.0.0.1")
        self.port: int = self._front.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.url_behind = f"http://127.0.0.1:{self._behind.getsockname()[1]}"

    def start(self, nodes: Mapping[str, int]) -> None:
        """Starts it and waits until it sends people to a node."""
        front, behind = self._front.fileno(), self._behind.fileno()
        self.launch(
            (front, behind),
            SLAPJACK_PROXY_BIND=f"fd@{front}",
            SLAPJACK_PROXY_BIND_BEHIND=f"fd@{behind}",
            **{f"SLAPJACK_NODE_{name.upper()}": f"127.0.0.1:{port}" for name, port in nodes.items()},
        )
        self.wait(lambda: _answers(f"{self.url}/healthz"))

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Ends it, and its port is free."""
        super().end(how)
        for each in (self._front, self._behind):
            each.close()

    def uses(self, name: str) -> bool:
        """Whether it sends people to that node, as far as it has said."""
        states = re.findall(rf"Server nodes/{name} is (UP|DOWN)", self.said())
        return not states or states[-1] == "UP"


class Cluster:
    """The whole of it in a folder of its own, with the proxy at `port`, or at a free one.

    `module` is what a node runs, `settings` are environment variables for all nodes.
    """

    def __init__(
        self, folder: Path, settings: Mapping[str, str] = {}, *, port: int = 0, module: str = "server"
    ) -> None:
        self.proxy = Proxy(folder, port)
        self.url = self.proxy.url
        self._store = folder / "redis.sock"
        self._redis = Process(
            "redis",
            folder,
            [
                *("redis-server", "--port", "0", "--unixsocket", str(self._store), "--dir", str(folder)),
                *("--appendonly", "yes", "--appendfsync", "always", "--save", ""),
            ],
        )
        shared = {
            **settings,
            "REDIS_URL": f"unix://{self._store}",
            "SLAPJACK_TRUSTED_PROXIES": "127.0.0.1",
            "PYTHONUNBUFFERED": "1",
        }
        self.nodes = {
            name: Process(name, folder, [sys.executable, "-m", module], {**shared, "SLAPJACK_NODE": name})
            for name in NODES
        }
        self._ports = {name: lasting_port() for name in NODES}

    def url_of(self, name: str) -> str:
        """Where a node itself answers; the same after another start."""
        return f"http://127.0.0.1:{self._ports[name]}"

    def pids(self, part: str) -> list[int]:
        """The process ids of the `nodes`, of `redis` or of the `proxy`, as far as they run."""
        parts: dict[str, list[Process]] = {
            "nodes": list(self.nodes.values()),
            "redis": [self._redis],
            "proxy": [self.proxy],
        }
        return [each.pid for each in parts[part] if each.pid]

    def __enter__(self) -> Self:
        try:
            self._redis.launch()
            self._redis.wait(self._store.exists)
            for name in self.nodes:
                self._launch(name)
            for name in self.nodes:
                self._wait(name)
            self.proxy.start(self._ports)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, name: str) -> None:
        """Starts a node that has ended, and waits until the proxy sends people there."""
        self._launch(name)
        self._wait(name)
        self.proxy.wait(lambda: self.proxy.uses(name))

    def kill(self, name: str) -> None:
        """kill -9, which a node cannot prepare for."""
        self.nodes[name].end(signal.SIGKILL)

    def drain(self, name: str) -> None:
        """Asks a node to hand over its rooms and end, and waits until it has."""
        self.nodes[name].end()

    def stop(self) -> None:
        """Ends all of it: the nodes at once, then what they need."""
        for node in self.nodes.values():
            node.signal(signal.SIGTERM)
        for each in (*self.nodes.values(), self.proxy, self._redis):
            each.end()

    def _launch(self, name: str) -> None:
        self.nodes[name].launch(SLAPJACK_PORT=str(self._ports[name]))

    def _wait(self, name: str) -> None:
        node = self.nodes[name]
        node.wait(lambda: "Ctrl-C" in node.said())


def _listening(port: int, interface: str = "") -> socket.socket:
    try:
        return socket.create_server((interface, port), backlog=2048)
    except OSError as wrong:
        raise CannotStart(f"port {port}: {wrong.strerror}; choose another with SLAPJACK_PORT") from None


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _watch(cluster: Cluster) -> NoReturn:
    """Says where each node is, and starts it again when it has ended, as Docker does."""
    told: dict[str, int] = {}
    while True:
        for name, node in cluster.nodes.items():
            if not node.pid:
                print(f"  node {name}             has ended, and is started again", flush=True)
                cluster.start(name)
            if told.get(name) != node.pid:
                told[name] = node.pid
                print(f"  node {name}             {cluster.url_of(name)}, process {node.pid}", flush=True)
        time.sleep(LOOK_EVERY_S)


def main() -> int:
    """Runs a cluster until Ctrl-C."""
    from server.base.settings import BadSetting, read_settings
    from server.serve import welcome

    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    own = {name: text for name, text in os.environ.items() if name.startswith("SLAPJACK_")}
    try:
        settings = read_settings(os.environ)
        with tempfile.TemporaryDirectory(prefix="slapjack-") as folder:
            with Cluster(Path(folder), own, port=settings.port) as cluster:
                print(welcome(settings, cluster.proxy.port).replace("tables and scores are kept", "nothing is kept"))
                print(f"  what they say      {folder}/*.log", flush=True)
                _watch(cluster)
    except KeyboardInterrupt:
        return 0
    except (BadSetting, CannotStart) as wrong:
        print(f"cluster: {wrong}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
