"""Whoever wants everybody's evening spoilt: at each stage of a connection's life, whatever can be sent there.

It runs in a process of its own, so that what it costs itself delays nobody.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from urllib.parse import urlsplit

from tests.faults.wire import BINARY, PING, Wire, call, dial, framed, upgrade
from wire.codec import write
from wire.messages import Join

EVE = "127.0.0.66"
MANY = 60
FEW = 6
BLOB_BYTES = 64 * 1024
TAKEN_WITHIN_S = 1.0
LONGEST_LINE = b"X-Long: " + b"y" * 8_000 + b"\r\n"


async def new_call(url: str, code: str) -> Wire:
    """A connection that says nothing."""
    return await call(url, address=EVE)


async def half_a_request(url: str, code: str) -> Wire:
    """One whose request has begun."""
    wire = await call(url, address=EVE)
    await wire.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
    return wire


async def kept_alive(url: str, code: str) -> Wire:
    """One that has had an answer."""
    wire = await call(url, address=EVE)
    await wire.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return wire


async def upgrade_refused(url: str, code: str) -> Wire:
    """One whose upgrade one parser takes and the other does not."""
    wire = await call(url, address=EVE)
    lines = "".join(f"X-{nth}: y\r\n" for nth in range(150))
    await wire.send(upgrade(url, f"/ws/{code}").replace(b"\r\n\r\n", f"\r\n{lines}\r\n".encode()))
    return wire


async def before_the_table_is_found(url: str, code: str) -> Wire:
    """A socket that has asked and does not wait for an answer."""
    wire = await call(url, address=EVE)
    await wire.send(upgrade(url, f"/ws/{code}"))
    return wire


async def not_joined(url: str, code: str) -> Wire:
    """A socket at a table that has not said who it is."""
    return await dial(url, f"/ws/{code}", address=EVE)


async def joined(url: str, code: str) -> Wire:
    """A guest of the table."""
    wire = await not_joined(url, code)
    await wire.say(Join("Eve", "🦊", watch=True))
    await wire.hear()
    return wire


async def hung_up_on(url: str, code: str) -> Wire:
    """A socket that the server has just closed, for it was told something malformed."""
    wire = await not_joined(url, code)
    await wire.send(framed(BINARY, b"\xc1"))
    await wire.close_code()
    return wire


async def half_closed(url: str, code: str) -> Wire:
    """A guest who says that nothing more comes, and stays."""
    wire = await joined(url, code)
    wire.writer.write_eof()
    return wire


Comes = Callable[[str, str], Awaitable[Wire]]
STAGES: dict[str, Comes] = {
    each.__name__.replace("_", " "): each
    for each in (
        *(new_call, half_a_request, kept_alive, upgrade_refused, before_the_table_is_found),
        *(not_joined, joined, hung_up_on, half_closed),
    )
}
IN_HTTP = ("new call", "half a request", "kept alive")


def units(stage: str) -> dict[str, bytes]:
    """What can be sent at that stage, a piece of it."""
    if stage in IN_HTTP:
        return {
            "small": b"GET / HTTP/1.1\r\n\r\n" if stage != "half a request" else b"X: y\r\n",
            "largest": LONGEST_LINE,
            "malformed": b"\x00\xff\r\n\r\n",
            "ranges": b"GET /icon-512.png HTTP/1.1\r\nRange: bytes=%b\r\n\r\n"
            % b",".join(b"%d-" % at for at in range(100)),
        }
    return {
        "small": framed(PING),
        "largest": framed(BINARY, b"x" * 4096),
        "malformed": framed(BINARY, b"", fin=False) + framed(BINARY, b"\xc1", fin=False),
        "joins": framed(BINARY, write(Join("Eve", "🦊", watch=True))),
    }


def kinds(stage: str) -> list[str]:
    """All that is tried at that stage; whoever has closed their half can say nothing."""
    if stage == "half closed":
        return ["nothing"]
    return ["nothing", "drip", "many", *(f"flood of {unit}" for unit in units(stage))]


async def attack(url: str, code: str, stage: str, what: str, seconds: float) -> int:
    """Does that for so long; how many connections it took."""
    deadline_s = asyncio.get_running_loop().time() + seconds
    opened = count()
    crowd = FEW if what.startswith("flood") else MANY
    await asyncio.gather(*(_one(url, code, stage, what, deadline_s, opened) for _ in range(crowd)))
    return next(opened)


async def _one(url: str, code: str, stage: str, what: str, deadline_s: float, opened: "count[int]") -> None:
    now_s = asyncio.get_running_loop().time
    while now_s() < deadline_s:
        next(opened)
        wire: Wire | None = None
        with suppress(ConnectionError, TimeoutError, asyncio.IncompleteReadError):
            wire = await STAGES[stage](url, code)
            await _sends(wire, what, units(stage), deadline_s)
        if wire is not None:
            wire.drop()
        await asyncio.sleep(0.05)


async def _sends(wire: Wire, what: str, pieces: dict[str, bytes], deadline_s: float) -> None:
    now_s = asyncio.get_running_loop().time
    if what.startswith("flood"):
        unit = pieces[what.removeprefix("flood of ")]
        blob = unit * max(1, BLOB_BYTES // len(unit))
        while now_s() < deadline_s:
            async with asyncio.timeout(TAKEN_WITHIN_S):
                await wire.send(blob)
    elif what == "drip":
        for byte in pieces["largest"]:
            if now_s() > deadline_s:
                return
            await wire.send(bytes((byte,)))
            await asyncio.sleep(0.1)
    elif what == "many":
        await wire.send(pieces["small"])
    else:
        await asyncio.sleep(max(0.0, deadline_s - now_s()))


def attacks(url: str, code: str, stage: str, what: str, seconds: float) -> int:
    """The same, in a process of its own."""
    os.nice(5)  # a machine of its own would take nothing from the server's
    assert urlsplit(url).port
    return asyncio.run(attack(url, code, stage, what, seconds))
