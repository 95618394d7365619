"""Row 2: a node is stopped for longer than its lease lasts, and then goes on. It appends nothing and says nothing.

What it had said when it was stopped may still leave it, as it might have been under way in the network for as long. It
is told from what is said afterwards: no question that was put meanwhile is answered, and no card is new.
"""

import asyncio
import random
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import websockets
from redis.asyncio import Redis
from websockets.asyncio.client import ClientConnection

from engine.game import CardTurned
from engine.value import Value
from server.hosting.phone import SERVICE_RESTART
from server.store.nodes import lease_key
from server.store.redis import RedisStore, table_keys
from tests.faults.figure import Figure
from tests.faults.playing import cards_of, differences, playing
from tests.support.serving import ROOMY, TIMEOUT_S
from tools.cluster import Cluster
from wire.codec import read_server_message, write
from wire.messages import Join, Message, Sync, Synced, Update, Welcome


class Witness:
    """Somebody who watches a table at one node, past the proxy, and does not leave when nothing comes."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._heard: list[tuple[float, Message]] = []
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        with suppress(websockets.ConnectionClosed):
            while True:
                frame = await self._socket.recv()
                assert isinstance(frame, bytes)
                if (message := read_server_message(frame)) is not None:
                    self._heard.append((time.monotonic(), message))

    async def ask(self) -> None:
        """Asks for the time."""
        await self._socket.send(write(Sync(sent_us=1)))

    async def end(self) -> int | None:
        """Waits until the node has hung up, and gives the code."""
        async with asyncio.timeout(TIMEOUT_S):
            await asyncio.wait([self._listening])
        return self._socket.close_code

    def heard_after(self, at_s: float) -> list[Message]:
        """What has come since."""
        return [message for heard_s, message in self._heard if heard_s > at_s]

    def cards_after(self, at_s: float) -> set[tuple[int, int]]:
        """The cards that were told of since, by game and number."""
        cards, game = set(), 0
        for heard_s, message in self._heard:
            if isinstance(message, Update):
                game = message.table.game if message.table is not None else game
                turned = [event.nth for event in message.events if isinstance(event, CardTurned)]
                cards |= {(game, nth) for nth in turned if heard_s > at_s}
        return cards


@asynccontextmanager
async def witness(url: str, code: str) -> AsyncIterator[Witness]:
    """A witness who has been let in."""
    address = f"ws://{urlsplit(url).netloc}/ws/{code}"
    async with websockets.connect(address, compression=None, ping_interval=None) as socket:
        await socket.send(write(Join(name="Witness", face="👀", watch=True)))
        async with asyncio.timeout(TIMEOUT_S):
            first = await socket.recv()
        assert isinstance(first, bytes)
        assert isinstance(read_server_message(first), Welcome)
        yield Witness(socket)


class Woken(Value):
    """What came of it: tables taken over, frames that were on their way when a node was stopped, and what is wrong."""

    taken: int
    on_their_way: int
    wrong: tuple[str, ...]


async def woken(cluster: Cluster, url: str, tables: int, stops: int) -> Woken:
    """Stops the node that has all the tables, again and again."""
    wrong: list[str] = []
    taken = late = 0
    rng = random.Random(2)
    async with Redis.from_url(url) as redis, RedisStore(url) as store, playing(cluster.url, tables) as party:
        codes = [table.told.code for table in party.tables]
        has, other = "a", "b"
        await asyncio.to_thread(cluster.start, other)
        for _ in range(stops):
            async with AsyncExitStack() as there, AsyncExitStack() as here:
                # On a machine that has much to do a node may lose its lease by itself, and some tables with it.
                here_are = [code for code in codes if await owner(redis, code) == has]
                old = [await there.enter_async_context(witness(cluster.url_of(has), code)) for code in here_are]
                await asyncio.sleep(rng.uniform(0, 0.5))  # at whatever moment
                cluster.nodes[has].signal(signal.SIGSTOP)
                for each in old:
                    await each.ask()
                await gone(redis, lease_key(has))
                # Whoever asks the other node has it take the table over.
                for code in here_are:
                    await here.enter_async_context(witness(cluster.url_of(other), code))
                stands = [await entries(redis, code) for code in here_are]
                cards = [cards_of(await store.journal(code)) for code in here_are]
                taken += len(here_are)
                woken_s = time.monotonic()
                cluster.nodes[has].signal(signal.SIGCONT)
                for code, each, stood, known in zip(here_are, old, stands, cards, strict=True):
                    if (closing := await each.end()) != SERVICE_RESTART:
                        wrong.append(f"{code}: {has} hung up with {closing}")
                    heard = each.heard_after(woken_s)
                    late += len(heard)
                    if any(isinstance(message, Synced) for message in heard) or each.cards_after(woken_s) - set(known):
                        wrong.append(f"{code}: {has} spoke after it woke")
                    if new := {entry for entry in await entries(redis, code) if entry < stood[-1]} - set(stood):
                        wrong.append(f"{code}: {has} appended {new} after it woke")
                await party.move_on(woken_s)
            has, other = other, has
        wrong += await differences(store, party)
    return Woken(taken, late, tuple(wrong))


async def owner(redis: "Redis", code: str) -> str:
    """The node that the table says it belongs to."""
    mark = await redis.hget(table_keys(code)[1], "owner")
    return mark.decode().partition("/")[0] if isinstance(mark, bytes) else ""


async def gone(redis: "Redis", key: str) -> None:
    """Waits until that key is no more."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            if not await redis.exists(key):
                return
            await asyncio.sleep(0.02)


async def entries(redis: "Redis", code: str) -> list[tuple[int, int]]:
    """The ids in a table's journal: the epoch of whoever wrote it, and the number of the change."""
    kept = await redis.xrange(table_keys(code)[2])
    parts = [str(entry, "ascii").split("-") for entry, _ in kept or () if isinstance(entry, bytes)]
    return [(int(epoch), int(number)) for epoch, number in parts]


def row(folder: Path, full: bool) -> Figure:
    """Two clusters side by side, for most of the time goes by in waiting for leases to end."""
    clusters, tables, stops = (2, 10, 25) if full else (1, 2, 2)

    async def all_woken() -> list[Woken]:
        return await asyncio.gather(
            *(woken(cluster, f"unix://{place}/redis.sock", tables, stops) for cluster, place in running)
        )

    with ExitStack() as stack:
        running = []
        for nth in range(clusters):
            (place := folder / str(nth)).mkdir()
            running.append((stack.enter_context(Cluster(place, ROOMY)), place))
            for idle in ("b", "c"):
                running[-1][0].drain(idle)
        came = asyncio.run(all_woken())
    taken, late = sum(each.taken for each in came), sum(each.on_their_way for each in came)
    wrong = [what for each in came for what in each.wrong]
    text = (
        f"{clusters * stops} nodes stopped past their lease and woken, {taken} tables taken over: {len(wrong)} things "
        f"appended or said afterwards, {late} frames had been on their way"
    )
    return Figure(not wrong, "; ".join([text, *wrong[:3]]))
