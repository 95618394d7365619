"""The servers that a store may run on. Each may be killed, and comes back with what it had."""

import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from server.base.settings import Fsync
from server.store.embedded import EmbeddedStore
from tests.support.serving import TIMEOUT_S, wait_for
from tools.ports import lasting_port


class Server(Protocol):
    """A store's server."""

    name: str
    url: str

    def recover(self) -> None:
        """Sees to it that a killed server is started again."""

    def stop(self) -> None:
        """Ends it."""


class OwnServer:
    """The server that comes with the game, which is started again by itself."""

    def __init__(self, folder: Path, fsync: Fsync = "everysec") -> None:
        self._store = EmbeddedStore(folder, fsync=fsync)
        self.name = f"own server, {fsync}"
        self.url = self._store.url

    def recover(self) -> None:
        """Nothing to do."""

    def stop(self) -> None:
        """Ends it."""
        self._store.stop()


class RedisServer:
    """Debian's redis-server on a TCP port, with an append-only file.

    `everysec`, its default, may acknowledge what it has not written when the disk is slow, and a kill loses that.
    """

    def __init__(self, folder: Path, fsync: Fsync = "always") -> None:
        self._folder = folder
        self._fsync = fsync
        self._port = lasting_port()
        self.name = f"redis-server, {fsync}"
        self.url = f"redis://:secret@127.0.0.1:{self._port}/0"
        self._start()

    def recover(self) -> None:
        """Starts it again, in the same folder and on the same port."""
        self._process.wait(TIMEOUT_S)
        self._start()

    def stop(self) -> None:
        """Ends it."""
        self._process.terminate()
        self._process.wait(TIMEOUT_S)

    def _start(self) -> None:
        with (self._folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *("redis-server", "--bind", "127.0.0.1", "--port", str(self._port), "--dir", str(self._folder)),
                    *("--requirepass", "secret", "--appendonly", "yes", "--appendfsync", self._fsync, "--save", ""),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        wait_for(self._listens, "redis-server to listen")

    def _listens(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=1):
            return True
        return False
