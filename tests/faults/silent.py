"""Row 16: thousands who open a connection and say nothing, or not who they are. Nobody waits for them; they go."""

import asyncio
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

from clients.sdk import create_table
from tests.faults.figure import Figure, p99
from tests.faults.wire import Wire, call, dial
from tests.support.serving import Served, served
from wire.messages import Join, Welcome

JOINS_MS = 200.0
GONE_S = 10.0
BEGUN = (b"", b"GET / HT", b"POST /api/tables HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
AT_ONCE = 50
TRIES = 3


async def lasted_s(wire: Wire) -> float:
    """How long the server keeps somebody who says nothing."""
    began_s = time.monotonic()
    try:
        while await wire.reader.read(65536):
            pass
    except ConnectionError:
        pass
    wire.drop()
    return time.monotonic() - began_s


async def crowd(url: str, code: str, silent: int, nameless: int) -> list[float]:
    """So many of each come, and say nothing; how long each of them lasts."""

    async def comes(nth: int) -> float:
        async with gate:
            if nth < nameless:
                wire = await dial(url, f"/ws/{code}")
            else:
                wire = await call(url)
                await wire.send(BEGUN[nth % len(BEGUN)])
        return await lasted_s(wire)

    gate = asyncio.Semaphore(AT_ONCE)
    return list(await asyncio.gather(*(comes(nth) for nth in range(silent + nameless))))


def comes_in_a_crowd(url: str, code: str, silent: int, nameless: int) -> float:
    """How long the last of a crowd is kept."""
    return max(asyncio.run(crowd(url, code, silent, nameless)))


async def joins_ms(url: str, code: str) -> list[float]:
    """How long it takes to come in and be told so, again and again until this is cancelled."""
    took_ms: list[float] = []
    with suppress(asyncio.CancelledError):
        while True:
            began_s = time.monotonic()
            wire = await dial(url, f"/ws/{code}")
            try:
                await wire.say(Join("Wim", "🦉", watch=True))
                assert isinstance(await wire.hear(), Welcome)
            finally:
                wire.drop()
            took_ms.append((time.monotonic() - began_s) * 1000)
            await asyncio.sleep(0.02)
    return took_ms


async def besieged(server: Served, silent: int, nameless: int, within_ms: float) -> Figure:
    """The crowd comes, and meanwhile others join."""
    code = await create_table(server.url)
    joining = asyncio.create_task(joins_ms(server.url, code))
    # In a process of their own, so that what they cost themselves delays nobody.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        longest_s = await asyncio.wrap_future(pool.submit(comes_in_a_crowd, server.url, code, silent, nameless))
    joining.cancel()
    took_ms = await joining
    text = (
        f"{silent} silent and {nameless} nameless: a join among them takes {p99(took_ms):.0f} ms at p99 of "
        f"{len(took_ms)}, and the last is gone after {longest_s:.1f} s"
    )
    return Figure(p99(took_ms) < within_ms and longest_s <= GONE_S and len(took_ms) > 20, text)


def row(folder: Path, full: bool) -> Figure:
    """All from one address; up to three times, for whatever else the machine does is none of their doing.

    The short form is not held to milliseconds, and has a server with less patience.
    """
    settings = {} if full else {"SLAPJACK_JOIN_TIMEOUT_S": "2"}
    with served(folder, module="server", **settings) as server:
        for _ in range(TRIES):
            figure = asyncio.run(besieged(server, *((2_000, 1_000, JOINS_MS) if full else (100, 50, 10 * JOINS_MS))))
            if figure.kept:
                break
    return figure
