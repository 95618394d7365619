"""Row 8: phones that stop reading. The others at their tables notice nothing, and the server soon lets go of them."""

import asyncio
import os
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tests.faults.figure import Figure, p99
from tests.faults.playing import playing
from tests.faults.wire import PING, PONG, Wire, dial, framed
from tests.support.serving import Served, served
from wire.messages import Join, Sync, Synced, Welcome

GROWS_MS = 5.0
FREED_S = 15.0
HELD_BYTES = 256 * 1024
ESTABLISHED = 1
"""`TCP_ESTABLISHED` of linux/tcp_states.h, the first byte of `struct tcp_info`."""
TRIES = 3
ASKS_EVERY_S = 0.1
LOOKS_EVERY_S = 0.5


async def seat_of(url: str, code: str) -> Wire:
    """A third phone at that table, with a seat."""
    wire = await dial(url, f"/ws/{code}")
    await wire.say(Join("Stalled", "🦥"))
    assert isinstance(await wire.hear(), Welcome)
    return wire


async def reads_on(wire: Wire) -> None:
    """Takes all that comes, as phones do."""
    while True:
        opcode, payload = await wire.frame()
        if opcode == PING:
            await wire.send(framed(PONG, payload))


@dataclass
class Asker:
    """Somebody who watches and asks the room again and again for its time: how long the answers take."""

    wire: Wire
    took_ms: list[float] = field(default_factory=list)

    async def ask(self) -> None:
        """Asks until it is cancelled."""
        while True:
            asked_us = time.monotonic_ns() // 1000
            await self.wire.say(Sync(asked_us))
            while not isinstance(told := await self.wire.hear(), Synced):
                pass
            self.took_ms.append((time.monotonic_ns() // 1000 - told.sent_us) / 1000)
            await asyncio.sleep(ASKS_EVERY_S)

    def taken(self) -> list[float]:
        """The answers since the last time."""
        took_ms, self.took_ms = self.took_ms, []
        return took_ms


def is_open(wire: Wire) -> bool:
    """Whether the server still has its end; nothing is read to find out."""
    sock: socket.socket = wire.writer.get_extra_info("socket")
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
    return info[0] == ESTABLISHED


def memory_bytes(pid: int) -> int:
    """What the process has in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def queued_bytes(port: int) -> int:
    """The most that the kernel keeps for any one socket of that port and the other end has not taken."""
    lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    rows = [line.split() for line in lines]
    return max((int(row[4].split(":")[0], 16) for row in rows if int(row[1].split(":")[1], 16) == port), default=0)


@dataclass
class Kept:
    """The most that a server has had in memory, and the kernel in any one socket's queue for it."""

    server: Served
    memory: int = 0
    queued: int = 0

    async def look(self) -> None:
        """Looks until it is cancelled."""
        port = urlsplit(self.server.url).port or 0
        while True:
            self.memory = max(self.memory, memory_bytes(self.server.pid))
            self.queued = max(self.queued, queued_bytes(port))
            await asyncio.sleep(LOOKS_EVERY_S)


async def stopped(server: Served, rooms: int, for_s: float, grows_ms: float, patience_s: float) -> Figure:
    """One phone in each room stops: the answers to the others before and after, and how long and how much is kept."""
    async with playing(server.url, rooms) as party:
        codes = [table.told.code for table in party.tables]
        stalling = [await seat_of(server.url, code) for code in codes]
        reading = [asyncio.create_task(reads_on(wire)) for wire in stalling]
        askers = []
        for code in codes:
            wire = await dial(server.url, f"/ws/{code}")
            await wire.say(Join("Asker", "🦉", watch=True))
            askers.append(Asker(wire))
        asking = [asyncio.create_task(asker.ask()) for asker in askers]
        kept = Kept(server)
        # All the time, so that looking costs the answers before as much as those after.
        looking = asyncio.create_task(kept.look())
        await asyncio.sleep(1)
        for asker in askers:
            asker.taken()
        await asyncio.sleep(for_s)
        before_ms = [ms for asker in askers for ms in asker.taken()]
        before_bytes, kept.queued = kept.memory, 0
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        for wire in stalling:
            wire.writer.transport.pause_reading()  # type: ignore[attr-defined]
        stopped_s = time.monotonic()
        while time.monotonic() < stopped_s + patience_s and any(map(is_open, stalling)):  # noqa: ASYNC110 - see is_open
            await asyncio.sleep(0.1)
        freed_s, left = time.monotonic() - stopped_s, sum(map(is_open, stalling))
        after_ms = [ms for asker in askers for ms in asker.taken()]
        for task in (*asking, looking):
            task.cancel()
        await asyncio.gather(*asking, looking, return_exceptions=True)
        for wire in [*stalling, *(asker.wire for asker in askers)]:
            wire.drop()
    held = (kept.memory - before_bytes) // rooms + kept.queued
    grew_ms = p99(after_ms) - p99(before_ms)
    text = (
        f"{rooms} phones in as many rooms stop reading: others are answered in {p99(after_ms):.1f} ms at p99, before "
        f"in {p99(before_ms):.1f} ({len(after_ms)} and {len(before_ms)} asked); {left} of them are left after "
        f"{freed_s:.1f} s, {held // 1024} KiB each"
    )
    return Figure(grew_ms < grows_ms and held <= HELD_BYTES and (not left or patience_s < FREED_S), text)


def row(folder: Path, full: bool) -> Figure:
    """Up to three times, for whatever else the machine does is none of the phones' doing.

    The short form is not held to milliseconds, and leaves the end of the silence to tests/server/test_room.py.
    """
    with served(folder, module="server") as server:
        for _ in range(TRIES):
            figure = asyncio.run(stopped(server, *((50, 12.0, GROWS_MS, FREED_S) if full else (2, 1.0, 1_000.0, 2.0))))
            if figure.kept:
                break
    return figure
