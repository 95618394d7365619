"""Row 4: the store stalls while thousands wait for it and give up. No double write, no crossed reply, no leak."""

import asyncio
import os
import random
import signal
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from server.store import pipeline
from server.store.port import StoreDown
from server.store.redis import RedisStore
from server.table.records import Change
from tests.contracts.servers import OwnServer, RedisServer
from tests.contracts.tables import a_table, owner
from tests.faults.figure import Figure, both

TABLES = 50


async def stalled(url: str, awaits: int, stall_s: float) -> Figure:
    """Half of the awaits read and half write; each is cancelled at some moment of the stall, or just before it."""
    rng = random.Random(4)
    async with Redis.from_url(url) as redis, RedisStore(url) as store:
        codes = [f"T{nth:05}" for nth in range(TABLES)]
        keepers = [await owner(store, code) for code in codes]
        pid = int((await redis.info("server"))["process_id"])
        crossed = 0

        async def read(code: str) -> None:
            nonlocal crossed
            record = await store.load_table(code)
            crossed += record != a_table(code)

        async def write(nth: int, number: int) -> None:
            entry = b"%s %d" % (codes[nth].encode(), number)
            await store.keep(codes[nth], keepers[nth].opened.epoch, number, Change(entries=(entry,)))

        async def cut_short(asking: Any, after_s: float) -> None:
            try:
                async with asyncio.timeout(after_s):
                    await asking
            except (TimeoutError, StoreDown):
                pass

        loop = asyncio.get_running_loop()
        os.kill(pid, signal.SIGSTOP)
        loop.call_later(stall_s, os.kill, pid, signal.SIGCONT)
        asked = []
        for nth in range(awaits):
            # One change of a table at a time, said again and again: what its owner does when nobody answers.
            asking = read(codes[nth % TABLES]) if nth % 2 else write(nth % TABLES, 1)
            asked.append(asyncio.create_task(cut_short(asking, rng.uniform(0, stall_s / 2))))
            if nth % 100 == 0:
                await asyncio.sleep(stall_s / 2 / (awaits / 100))
        await asyncio.gather(*asked)
        while True:
            try:
                await store.ping()
                break
            except StoreDown:
                await asyncio.sleep(0.05)

        for nth in range(TABLES):
            await write(nth, 1)
        await asyncio.gather(*(read(code) for code in codes * 4))
        journals = [await store.journal(code) for code in codes]
        doubled = sum(journal != (b"%s 1" % code.encode(),) for code, journal in zip(codes, journals, strict=True))
        # One is our own way past the store.
        open_lines = len(await redis.client_list()) - 1
    leaked = max(0, open_lines - pipeline.MAX_CONNECTIONS)
    text = (
        f"{awaits} cancelled awaits in a stall of {stall_s:g} s: {crossed} crossed, {doubled} doubled, {leaked} leaked"
    )
    return Figure(crossed == doubled == leaked == 0, text)


def row(folder: Path, full: bool) -> Figure:
    """On each kind of server."""
    figures = []
    for kind in (OwnServer, RedisServer):
        (place := folder / kind.__name__).mkdir()
        server = kind(place)
        try:
            figures.append(asyncio.run(stalled(server.url, *((10_000, 12.0) if full else (600, 1.0)))))
        finally:
            server.stop()
    return both(figures)
