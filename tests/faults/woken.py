"""Row 2: a node is stopped for longer than its lease lasts, and then goes on. It appends nothing and says nothing."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import websockets
from redis.asyncio import Redis
from websockets.asyncio.client import ClientConnection

from server.host import SERVICE_RESTART
from server.protocol import Join, Welcome, read_from_server, write
from server.store.nodes import lease_key
from server.store.redis import RedisStore, table_keys
from tests.faults.figure import Figure
from tests.faults.playing import differences, playing
from tests.support.serving import ROOMY, TIMEOUT_S
from tools.cluster import Cluster


class Witness:
    """Somebody who watches a table at one node, past the proxy, and does not leave when nothing comes."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.heard_s: list[float] = []
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        with suppress(websockets.ConnectionClosed):
            while True:
                await self._socket.recv()
                self.heard_s.append(time.monotonic())

    async def end(self) -> int | None:
        """Waits until the node has hung up, and gives the code."""
        async with asyncio.timeout(TIMEOUT_S):
            await asyncio.wait([self._listening])
        return self._socket.close_code


@asynccontextmanager
async def witness(url: str, code: str) -> AsyncIterator[Witness]:
    """A witness who has been let in."""
    address = f"ws://{urlsplit(url).netloc}/ws/{code}"
    async with websockets.connect(address, compression=None, ping_interval=None) as socket:
        await socket.send(write(Join(name="Witness", face="👀", watch=True)))
        async with asyncio.timeout(TIMEOUT_S):
            first = await socket.recv()
        assert isinstance(first, bytes)
        assert isinstance(read_from_server(first), Welcome)
        yield Witness(socket)


async def woken(cluster: Cluster, url: str, tables: int, stops: int) -> tuple[int, list[str]]:
    """Stops the node that has all the tables, again and again; gives how many were taken over, and what went wrong."""
    wrong: list[str] = []
    taken = 0
    async with Redis.from_url(url) as redis, RedisStore(url) as store, playing(cluster.url, tables) as party:
        codes = [table.told.code for table in party.tables]
        has, other = "a", "b"
        await asyncio.to_thread(cluster.start, other)
        for _ in range(stops):
            async with AsyncExitStack() as there, AsyncExitStack() as here:
                old = [await there.enter_async_context(witness(cluster.url_of(has), code)) for code in codes]
                cluster.nodes[has].signal(signal.SIGSTOP)
                await gone(redis, lease_key(has))
                # Whoever asks the other node has it take the table over.
                for code in codes:
                    await here.enter_async_context(witness(cluster.url_of(other), code))
                stands = [await entries(redis, code) for code in codes]
                taken += len(codes)
                woken_s = time.monotonic()
                cluster.nodes[has].signal(signal.SIGCONT)
                for code, each, stood in zip(codes, old, stands, strict=True):
                    if (closing := await each.end()) != SERVICE_RESTART:
                        wrong.append(f"{code}: {has} hung up with {closing}")
                    if said := len([at_s for at_s in each.heard_s if at_s > woken_s]):
                        wrong.append(f"{code}: {has} said {said} things after it woke")
                    if late := {entry for entry in await entries(redis, code) if entry < stood[-1]} - set(stood):
                        wrong.append(f"{code}: {has} appended {late} after it woke")
                await party.move_on(woken_s)
            has, other = other, has
        wrong += await differences(store, party)
    return taken, wrong


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

    async def all_woken() -> list[tuple[int, list[str]]]:
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
    taken, wrong = sum(each for each, _ in came), [what for _, each in came for what in each]
    text = f"{clusters * stops} nodes stopped past their lease and woken, {taken} tables taken over: {len(wrong)} wrong"
    return Figure(not wrong, "; ".join([text, *wrong[:3]]))
