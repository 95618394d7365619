"""Rows 1 and 3: kill -9 of the game server, and of the store, while people play."""

import asyncio
import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvloop
from redis.asyncio import Redis
from redis.exceptions import RedisError

from server.base.settings import Fsync
from server.store.embedded import running
from server.store.redis import RedisStore
from tests.contracts.servers import RedisServer
from tests.faults.figure import Figure, both, p99
from tests.faults.playing import differences, playing
from tests.support.serving import ROOMY, Served, served
from tools.cluster import Cluster

RESUMES_S = 5.0
GOES_ON_S = 2.0
IN_TESTS_S = 60.0
"""The short form runs beside whatever else the machine does, and asks only that play goes on."""


# --- row 1 -------------------------------------------------------------------------------------------------------


async def server_killed(cluster: Cluster, url: str, tables: int, kills: int, within_s: float) -> Figure:
    """Kills the node that has all the tables, again and again: the other one takes them over."""
    took_s: list[float] = []
    async with playing(cluster.url, tables) as party:
        has, other = "a", "b"
        for _ in range(kills):
            await asyncio.to_thread(cluster.start, other)
            await party.move_on(time.monotonic())
            killed_s = time.monotonic()
            await asyncio.to_thread(cluster.kill, has)
            took_s += await party.move_on(killed_s)
            has, other = other, has
        seats = [(table.players, table.seats) for table in party.tables]
        moved = sum(p.seat != seat for players, kept in seats for p, seat in zip(players, kept, strict=True))
        held = len([table for table in party.tables if table.told.over])
    async with RedisStore(url) as store:
        wrong = await differences(store, party)
    slowest_s = p99(took_s)
    text = (
        f"{kills} kills under {tables} games: {len(wrong)} differences, {moved} seats lost, play resumed after "
        f"{slowest_s:.2f} s at p99, games over at {held} tables"
    )
    return Figure(not wrong and not moved and slowest_s < within_s, "; ".join([text, *wrong[:3]]))


def server_row(folder: Path, full: bool) -> Figure:
    """Two nodes behind the proxy, over a real Redis, which stays."""
    with Cluster(folder, ROOMY) as cluster:
        for idle in ("b", "c"):
            cluster.drain(idle)
        size = (200, 20, RESUMES_S) if full else (3, 2, IN_TESTS_S)
        # All phones share this one loop, and none of them may wait long for the others.
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(server_killed(cluster, f"unix://{folder / 'redis.sock'}", *size))


# --- row 3 -------------------------------------------------------------------------------------------------------


async def store_killed(
    server: Served, url: str, recover: Callable[[], None], tables: int, kills: int, within_s: float
) -> tuple[Figure, int]:
    """Kills the store again and again; it comes back with what it has. Also gives how many tables were told to wait."""
    rng = random.Random(3)
    took_s: list[float] = []
    async with playing(server.url, tables) as party:
        for _ in range(kills):
            await party.move_on(time.monotonic())
            async with Redis.from_url(url) as redis:
                os.kill(int((await redis.info("server"))["process_id"]), signal.SIGKILL)
            await asyncio.sleep(rng.uniform(0.2, 2))
            await asyncio.to_thread(recover)
            took_s += await party.move_on(await _answering(url))
        held_on = sum(table.told.held_on > 0 for table in party.tables)
    async with RedisStore(url) as store:
        wrong = await differences(store, party)
    # A card lies for a while before the next, which is no waiting for the store.
    slowest_s = p99(took_s)
    text = f"{kills} kills: {len(wrong)} differences, on after {slowest_s:.2f} s at p99, {held_on} of {tables} held on"
    return Figure(not wrong and slowest_s <= within_s, "; ".join([text, *wrong[:3]])), held_on


async def _answering(url: str) -> float:
    """When the store answers again."""
    while True:
        with suppress(RedisError, OSError):
            async with Redis.from_url(url) as redis:
                await redis.ping()
                return time.monotonic()
        await asyncio.sleep(0.01)


def store_row(folder: Path, full: bool) -> Figure:
    """On each kind of server, in both ways to write."""
    size = (8, 20, GOES_ON_S) if full else (2, 1, IN_TESTS_S)
    figures = []
    ways: tuple[Fsync, ...] = ("everysec", "always")
    for fsync in ways:
        (place := folder / f"own-{fsync}").mkdir()
        with served(place, module="server", SLAPJACK_FSYNC=fsync) as server:
            url = running(place / "data")
            assert url is not None
            figure, _ = asyncio.run(store_killed(server, url, lambda: None, *size))
        figures.append(Figure(figure.kept, f"own server, {fsync}: {figure.text}"))
        if fsync == "everysec" and not full:
            continue  # this way a Redis may acknowledge what it has not written, while the disk is slow
        (place := folder / f"redis-{fsync}").mkdir()
        store = RedisServer(place, fsync)
        try:
            with served(place, store.url, module="server") as server:
                figure, held_on = asyncio.run(store_killed(server, store.url, store.recover, *size))
        finally:
            store.stop()
        # Our own comes back before some tables have noticed; this one was away for long enough.
        figures.append(Figure(figure.kept and held_on == size[0], f"redis-server, {fsync}: {figure.text}"))
    return both(figures)
