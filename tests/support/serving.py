"""Servers as processes: started, asked, killed with -9, started again where they were."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.ports import lasting_port

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 30.0

PLAIN = {name: text for name, text in os.environ.items() if not name.startswith(("SLAPJACK_", "REDIS_"))}
"""The environment without settings: those of a test are its own."""

ROOMY = {
    "SLAPJACK_RANK_PROGRAMS": "yes",
    "SLAPJACK_TABLES_PER_MINUTE": "100000",
    "SLAPJACK_TABLES_PER_S": "100000",
    "SLAPJACK_MISSES_PER_MINUTE": "100000",
    "SLAPJACK_MISSES_PER_S": "10000",
    "SLAPJACK_REQUESTS_PER_S": "100000",
    "SLAPJACK_REQUEST_BURST": "100000",
    "SLAPJACK_MAX_CONNECTIONS_PER_ADDRESS": "10000",
    "SLAPJACK_MAX_TABLES_PER_ADDRESS": "10000",
}
"""All tests come from one address, and most who play in them are programs."""


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Comes back as soon as the condition holds; fails after half a minute."""
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.01)


class Served:
    """The server under test; as a rule the one whose clock may jump and whose deck has the Jacks last."""

    def __init__(
        self, folder: Path, redis_url: str = "", *, module: str = "tests.support.serve", **settings: str
    ) -> None:
        self._module = module
        self.data = folder / "data"
        """Where it keeps its own store."""
        self._log = folder / "server.log"
        self._port = lasting_port()
        self._environ = {
            **PLAIN,
            **ROOMY,
            "SLAPJACK_DATA": str(self.data),
            "REDIS_URL": redis_url,
            "PYTHONUNBUFFERED": "1",
            **settings,
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it serves; the same after another start."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Starts it and waits until it serves."""
        assert self._process is None
        # A file, not a pipe: what the server starts in turn may outlive it, and would keep a pipe open.
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module],
                cwd=ROOT,
                env={**self._environ, "SLAPJACK_PORT": str(self._port)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        wait_for(self._says_where, f"the server to start: {self._log}")
        wait_for(self._serves, "the server to answer")

    def kill(self) -> None:
        """kill -9, which it cannot prepare for."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Asks it to stop, and waits until it has."""
        self._end(signal.SIGTERM)

    def jump_a_minute(self) -> None:
        """Moves its clock forward by a minute."""
        assert self._process is not None
        self._process.send_signal(signal.SIGUSR1)

    def said(self) -> str:
        """What it has written on its terminal since the last start."""
        return self._log.read_text(encoding="utf-8")

    def _says_where(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, f"the server ended by itself:\n{self.said()}"
        return f"http://localhost:{self._port}" in self.said()

    def _serves(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=1) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(TIMEOUT_S)
            self._process = None


@contextmanager
def served(
    folder: Path, redis_url: str = "", *, module: str = "tests.support.serve", **settings: str
) -> Iterator[Served]:
    """A running server that is stopped in the end."""
    server = Served(folder, redis_url, module=module, **settings)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def redis(folder: Path, *options: str) -> Iterator[str]:
    """A real redis-server that keeps what it is told as the embedded one does, and its address."""
    address = folder / "redis.sock"
    with (folder / "redis.log").open("wb") as log:
        process = subprocess.Popen(
            [
                *("redis-server", "--port", "0", "--unixsocket", str(address), "--dir", str(folder)),
                *("--appendonly", "yes", "--save", ""),
                *options,
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        wait_for(lambda: _takes_calls(address), "redis-server to start")
        yield f"unix://{address}"
    finally:
        process.terminate()
        process.wait(TIMEOUT_S)


def _takes_calls(address: Path) -> bool:
    with suppress(OSError), socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(address))
        return True
    return False
