"""Row 10: connections drop by the thousand. The same seat back, nothing twice, nothing lost, one view for all."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from clients.sdk import Player
from server.store.embedded import running
from server.store.redis import RedisStore
from tests.faults.figure import Figure
from tests.faults.playing import Table, Tables, differences, is_host, playing
from tests.support.serving import TIMEOUT_S, Served, served
from wire.messages import Pause


class Proxy:
    """A way to a server on which connections are cut: some at once, some in the middle of what is being sent."""

    def __init__(self, port: int, rng: random.Random) -> None:
        self._port = port
        self._rng = rng
        self._pairs: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._cut_after: dict[asyncio.StreamWriter, int] = {}
        self.dropped = 0

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carries one connection."""
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        pair = (writer, back)
        self._pairs.add(pair)
        ways = [asyncio.create_task(self._carry(reader, back)), asyncio.create_task(self._carry(there, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            self._pairs.discard(pair)
            for each in pair:
                self._cut_after.pop(each, None)
                each.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while (piece := await reader.read(65536)) and not writer.is_closing():
                left = self._cut_after.get(writer)
                if left is not None and len(piece) >= left:
                    writer.write(piece[:left])  # a frame begins and does not end
                    return
                if left is not None:
                    self._cut_after[writer] = left - len(piece)
                writer.write(piece)
                await writer.drain()

    def drop(self) -> None:
        """Cuts one of the connections, now or a few bytes from now."""
        if not self._pairs:
            return
        pair = self._rng.choice(list(self._pairs))
        if self._rng.random() < 0.5:
            self._cut_after.setdefault(self._rng.choice(pair), self._rng.randint(1, 300))
        else:
            self._pairs.discard(pair)
            for each in pair:
                each.transport.abort()
        self.dropped += 1


@asynccontextmanager
async def proxy(server: Served, rng: random.Random) -> AsyncIterator[tuple[Proxy, str]]:
    """A proxy before that server, and its address."""
    carrying = Proxy(urlsplit(server.url).port or 0, rng)
    listener = await asyncio.start_server(carrying.take, "127.0.0.1", 0)
    async with listener:
        yield carrying, f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"


async def dropped(server: Served, store_url: str, tables: int, drops: int) -> Figure:
    """Drops so many connections while people play, and then looks whether all see the same."""
    rng = random.Random(10)
    async with proxy(server, rng) as (carrying, at), playing(server.url, tables, at) as party:
        while carrying.dropped < drops:
            carrying.drop()
            # So often that everybody is gone for some of the time, and there for most of it.
            await asyncio.sleep(rng.expovariate(1.0) * 2.5 / (2 * tables))
        unlike = await unlike_views(party)
        moved = sum(p.seat != seat for t in party.tables for p, seat in zip(t.players, t.seats, strict=True))
    async with RedisStore(store_url) as store:
        wrong = await differences(store, party)
    cards = sum(len(table.told.cards) for table in party.tables)
    text = (
        f"{drops} connections dropped under {cards} cards at {tables} tables: "
        f"{moved} seats lost, {len(wrong)} differences, {unlike} views unlike"
    )
    return Figure(not moved and not wrong and not unlike, "; ".join([text, *wrong[:3]]))


async def unlike_views(party: Tables) -> int:
    """Has every table stand still, and counts the people who do not see what the first one there sees."""
    async with asyncio.timeout(2 * TIMEOUT_S):
        await asyncio.gather(*(stand_still(table) for table in party.tables))
    return sum(
        _seen(player) != _seen(first)
        for table in party.tables
        for first, *others in [table.players]
        for player in others
    )


async def stand_still(table: Table) -> None:
    """Has the host pause the game, once everybody is back."""
    while not all(player.online and player.table.paused for player in table.players):
        host = next((p for p in table.players if is_host(p)), None)
        if host is not None and not host.table.paused:
            host.say(Pause(True))
        await asyncio.sleep(0.05)


def _seen(player: Player) -> object:
    # What its line is like comes and goes, whatever else stands still.
    return player.view, [msgspec.structs.replace(seat, rtt_ms=0, away=False) for seat in player.table.seats]


def row(folder: Path, full: bool) -> Figure:
    """A real server behind a proxy that cuts."""
    with served(folder, module="server") as server:
        url = running(folder / "data")
        assert url is not None
        return asyncio.run(dropped(server, url, *((60, 10_000) if full else (3, 30))))
