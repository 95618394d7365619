"""Row 25: the store fails over to its replica under running games. No difference, and play goes on within five seconds.

The address stays and leads to the new master, as with a hosted Redis; whoever is connected stays with the old one.
"""

import asyncio
import time
from contextlib import suppress
from pathlib import Path

from redis.asyncio import Redis

from server.store.redis import RedisStore
from tests.contracts.servers import RedisServer
from tests.faults.figure import Figure, p99
from tests.faults.playing import differences, playing
from tests.support.serving import Served
from tools.ports import lasting_port

GOES_ON_S = 5.0


class Relay:
    """An address that leads to `to`. Connections stay where they were made."""

    def __init__(self, port: int, to: int) -> None:
        self.port, self.to = port, to

    async def carry(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        """One connection, until either end is closed."""
        far, there = await asyncio.open_connection("127.0.0.1", self.to)
        await asyncio.gather(self._pass_on(near, there), self._pass_on(far, back))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while some := await reader.read(65_536):
                writer.write(some)
                await writer.drain()
        writer.close()


async def failed_over(server: Served, relay: Relay, urls: dict[int, str], tables: int, times: int) -> Figure:
    """Fails over again and again, forth and back."""
    took_s: list[float] = []
    accepting = await asyncio.start_server(relay.carry, "127.0.0.1", relay.port)
    await asyncio.to_thread(server.start)
    try:
        async with playing(server.url, tables) as party:
            for _ in range(times):
                await party.move_on(time.monotonic())
                began_s = time.monotonic()
                new = next(port for port in urls if port != relay.to)
                await fail_over(urls[relay.to], urls[new], new)
                relay.to = new
                took_s += await party.move_on(began_s)
        async with RedisStore(urls[relay.to]) as store:
            wrong = await differences(store, party)
    finally:
        await asyncio.to_thread(server.stop)
        accepting.close()
    slowest_s = p99(took_s)
    text = f"{times} fail-overs under {tables} games: {len(wrong)} differences, on after {slowest_s:.2f} s at p99"
    return Figure(not wrong and slowest_s <= GOES_ON_S, "; ".join([text, *wrong[:3]]))


async def fail_over(master: str, replica: str, port: int) -> None:
    """Hands the mastership over once the replica has everything, and waits until it has it."""
    async with Redis.from_url(master) as old, Redis.from_url(replica) as new:
        await old.config_set("masterauth", "secret")
        await new.config_set("masterauth", "secret")
        if (await new.info("replication"))["role"] == "master":
            await new.replicaof("127.0.0.1", str(master.rpartition(":")[2].partition("/")[0]))
        while (await old.info("replication")).get("slave0", {}).get("state") != "online":  # noqa: ASYNC110 - it says when
            await asyncio.sleep(0.05)
        await old.execute_command("FAILOVER", "TO", "127.0.0.1", port)  # type: ignore[no-untyped-call]
        while (await new.info("replication"))["role"] != "master":  # noqa: ASYNC110 - it says when
            await asyncio.sleep(0.01)


def row(folder: Path, full: bool) -> Figure:
    """Two servers of Redis, one the other's replica."""
    stores = []
    for name in ("one", "other"):
        (place := folder / name).mkdir()
        stores.append(RedisServer(place, "always"))
    urls = {int(store.url.rpartition(":")[2].partition("/")[0]): store.url for store in stores}
    relay = Relay(lasting_port(), next(iter(urls)))
    try:
        server = Served(folder, f"redis://:secret@127.0.0.1:{relay.port}/0", module="server")
        return asyncio.run(failed_over(server, relay, urls, *((20, 10) if full else (2, 2))))
    finally:
        for store in stores:
            store.stop()
