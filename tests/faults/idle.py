"""Row 9: thousands of phones that only listen: what each costs, and that none misses a pong."""

import asyncio
import resource
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from clients.sdk import create_table
from tests.faults.figure import Figure
from tests.faults.readers import memory_bytes
from tests.faults.wire import BINARY, FIN, PING, PONG, framed, upgrade
from tests.support.serving import TIMEOUT_S, Served, served
from wire.codec import write
from wire.messages import Join

MOST_BYTES = 32 * 1024
AT_A_TABLE = 100
AT_ONCE = 50
SPARE_FILES = 500
PING_EVERY_S = 3.0
"""How often a table asks phones when nothing is played."""


class Listener(asyncio.Protocol):
    """A socket that answers pings and otherwise only listens."""

    def __init__(self, url: str, code: str) -> None:
        self._request = upgrade(url, f"/ws/{code}")
        self._head = True
        self._data = b""
        self.pings = 0
        self.lost = False
        self.joined: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        """Asks for a socket."""
        self.transport: asyncio.Transport = transport
        transport.write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        """The server does not want us any more."""
        self.lost = True
        if not self.joined.done():
            self.joined.set_exception(ConnectionError("hung up on"))

    def data_received(self, data: bytes) -> None:
        """Answers pings, and lets all else go."""
        self._data += data
        if self._head:
            _, end, self._data = self._data.partition(b"\r\n\r\n")
            self._head = not end
            if end:
                self.transport.write(framed(BINARY, write(Join("Wim", "🦉", watch=True))))
        while len(self._data) >= 2:
            length, start = self._data[1], 2
            if length == 126:
                length, start = int.from_bytes(self._data[2:4]), 4
            if len(self._data) < start + length:
                return
            payload, opcode = self._data[start : start + length], self._data[0] & ~FIN
            self._data = self._data[start + length :]
            if opcode == PING:
                self.pings += 1
                self.transport.write(framed(PONG, payload))
            elif opcode == BINARY and not self.joined.done():
                self.joined.set_result(None)


async def listening(server: Served, sockets: int, for_s: float, most_bytes: int) -> Figure:
    """So many sockets, and the server's memory before and after."""
    loop, parts = asyncio.get_running_loop(), urlsplit(server.url)
    tables = [await create_table(server.url) for _ in range(-(-sockets // AT_A_TABLE))]
    listeners: list[Listener] = []

    async def comes(code: str) -> None:
        _, listener = await loop.create_connection(
            lambda: Listener(server.url, code), parts.hostname or "", parts.port or 0
        )
        listeners.append(listener)
        await listener.joined

    # The tables themselves are awake before the first look.
    await asyncio.gather(*(comes(code) for code in tables))
    before = memory_bytes(server.pid)
    more = [code for code in tables for _ in range(AT_A_TABLE - 1)][: sockets - len(tables)]
    for at in range(0, len(more), AT_ONCE):
        async with asyncio.timeout(TIMEOUT_S):
            await asyncio.gather(*(comes(code) for code in more[at : at + AT_ONCE]))
    await asyncio.sleep(PING_EVERY_S)
    for listener in listeners:
        listener.pings = 0
    await asyncio.sleep(for_s)
    each = (memory_bytes(server.pid) - before) / len(more)
    lost = sum(listener.lost for listener in listeners)
    pings = [listener.pings for listener in listeners]
    due = max(1, int(for_s / PING_EVERY_S) - 1)
    unasked = sum(asked < due for asked in pings)
    for listener in listeners:
        listener.transport.abort()
    text = (
        f"{len(listeners)} idle sockets at {len(tables)} tables: {each / 1024:.1f} KiB each, {sum(pings)} pongs "
        f"in {for_s:.0f} s, {unasked} asked too seldom, {lost} lost"
    )
    return Figure(each <= most_bytes and not lost and not unasked, text)


def row(folder: Path, full: bool) -> Figure:
    """As many as this process may open files for, up to 5,000. A few weigh more, for what all share is counted in."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    sockets = min(5_000, (hard if hard != resource.RLIM_INFINITY else 10**6) - SPARE_FILES) if full else 200
    with served(folder, module="server", SLAPJACK_MAX_CONNECTIONS="6000") as server:
        return asyncio.run(listening(server, sockets, *((40.0, MOST_BYTES) if full else (4.0, 2 * MOST_BYTES))))
