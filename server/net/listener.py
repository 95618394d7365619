"""Accepts connections, a few in each turn of the loop, and none while the descriptors that are left are needed.

uvloop and asyncio would accept all that wait at once, and know of no reserve. Knows listening sockets; knows no parser.
"""

import asyncio
import contextlib
import logging
import socket
import struct
from collections.abc import Callable, Sequence

from server.net.accepted import AcceptedSocket, Parser, Sockets

AT_ONCE = 32
PAUSE_S = 0.1
SAY_AGAIN_S = 60.0
RESET = struct.pack("ii", 1, 0)
"""Closing then sends a reset, and leaves nothing to wait for."""

log = logging.getLogger("slapjack.listener")


class Listener:
    """Takes connections from listening sockets until it is closed; more than `most_open` are left waiting."""

    def __init__(
        self, listening: Sequence[socket.socket], sockets: Sockets, most_open: int, parser: Callable[[], Parser]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._listening = listening
        self._sockets = sockets
        self._most_open = most_open
        self._parser = parser
        self._opening: set[asyncio.Task[None]] = set()
        self._resume: asyncio.TimerHandle | None = None
        self._said_s = -SAY_AGAIN_S
        for each in listening:
            each.setblocking(False)
        self._start()

    def close(self) -> None:
        """Takes no more."""
        self._stop()
        if self._resume is not None:
            self._resume.cancel()

    def _start(self) -> None:
        self._resume = None
        for each in self._listening:
            self._loop.add_reader(each, self._accept, each)

    def _stop(self) -> None:
        for each in self._listening:
            self._loop.remove_reader(each)

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(AT_ONCE):
            if self._sockets.open >= self._most_open:
                self._pause("as many connections are open as there are descriptors for")
                return
            try:
                accepted, peer = listening.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError as error:  # no descriptors or no memory: those who are here keep theirs
                self._pause(f"no connection can be accepted: {error}")
                return
            self._take(accepted, peer[0])

    def _take(self, accepted: socket.socket, address: str) -> None:
        owner = self._sockets.accept(address)
        if owner is None:
            with contextlib.suppress(OSError):
                accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            accepted.close()
            return
        owner.start(self._parser())
        task = self._loop.create_task(self._open(owner, accepted))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _open(self, owner: AcceptedSocket, accepted: socket.socket) -> None:
        accepted.setblocking(False)
        try:
            await self._loop.connect_accepted_socket(lambda: owner, accepted)
        except OSError:  # gone before it was there
            self._give_up(owner, accepted)
        except Exception:
            log.exception("a connection could not be taken")
            self._give_up(owner, accepted)

    def _give_up(self, owner: AcceptedSocket, accepted: socket.socket) -> None:
        accepted.close()
        owner.give_up()

    def _pause(self, why: str) -> None:
        self._stop()
        self._resume = self._loop.call_later(PAUSE_S, self._start)
        now_s = self._loop.time()
        if now_s - self._said_s >= SAY_AGAIN_S:
            self._said_s = now_s
            log.warning("%s: others wait until somebody hangs up", why)
