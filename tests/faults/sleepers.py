"""Row 21: one client network opens as many tables as the server carries, and others still get one at once."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.faults.figure import Figure, both
from tests.faults.wire import Closed, call, dial
from tests.support.serving import Served, served
from wire.messages import Join, Refused, Welcome

EVE, ANN = "127.0.0.2", "127.0.0.3"
AT_ONCE = 20
MOST_WAIT_S = 2.0
HER_TABLES = 5
"""So many are opened one after the other by whoever just wants to play."""


async def new_table(server: Served, address: str) -> str:
    """The code of a new table; raises `ConnectionError` where there is none to be had."""
    wire = await call(server.url, address=address)
    try:
        await wire.send(b"POST /api/tables HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        head, _, body = (await wire.reader.read()).partition(b"\r\n\r\n")
        if b" 201 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(body.decode())
        return body.decode().split('"')[3]
    finally:
        wire.drop()


async def new_tables(server: Served, count: int) -> list[str]:
    """The codes of so many new tables of Eve's."""
    return [await new_table(server, EVE) for _ in range(count)]


async def opens_and_goes(server: Served, code: str) -> None:
    """A socket at a table, closed again before anybody said who they are."""
    (await dial(server.url, f"/ws/{code}", address=EVE)).drop()


async def joins_and_goes(server: Served, code: str) -> None:
    """The same by somebody who sat down first."""
    wire = await dial(server.url, f"/ws/{code}", address=EVE)
    try:
        await wire.say(Join("Eve", "🦊"))
        await wire.hear()
    except (Closed, asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        wire.drop()


async def sits_down(server: Served) -> float:
    """How long somebody takes who makes a table and joins it, in seconds; raises `ConnectionError`."""
    since_s = time.monotonic()
    code = await new_table(server, ANN)
    wire = await dial(server.url, f"/ws/{code}", address=ANN)
    try:
        await wire.say(Join("Ann", "🦊"))
        said = await wire.hear()
        if not isinstance(said, Welcome):
            raise ConnectionError(said.reason if isinstance(said, Refused) else str(said))
        return time.monotonic() - since_s
    finally:
        wire.drop()


async def crowded(server: Served, codes: list[str], how: Callable[[Served, str], Awaitable[None]], what: str) -> Figure:
    """Eve keeps these tables awake, if she can, and Ann wants some of her own meanwhile."""
    for at in range(0, len(codes), AT_ONCE):
        await asyncio.gather(*(how(server, code) for code in codes[at : at + AT_ONCE]), return_exceptions=True)
    took_s: list[float] = []
    refused = ""
    for _ in range(HER_TABLES):
        try:
            took_s.append(await sits_down(server))
        except (Closed, ConnectionError) as wrong:
            refused = str(wrong)
    text = f"{len(codes)} tables {what}: {len(took_s)} of {HER_TABLES} others get theirs"
    text += f" within {max(took_s) * 1e3:.0f} ms" if took_s else f" ({refused})"
    return Figure(len(took_s) == HER_TABLES and max(took_s) < MOST_WAIT_S, text)


def row(folder: Path, full: bool) -> Figure:
    """With as many tables as a server carries by itself; in short with forty."""
    most = 1_000 if full else 40
    with served(
        folder,
        module="server",
        SLAPJACK_MAX_TABLES=str(most),
        SLAPJACK_MAX_CONNECTIONS_PER_ADDRESS="100",
        SLAPJACK_MAX_TABLES_PER_ADDRESS="100",
    ) as server:
        codes = asyncio.run(new_tables(server, most))
        return both(
            [
                asyncio.run(crowded(server, codes, opens_and_goes, "opened and left")),
                asyncio.run(crowded(server, codes, joins_and_goes, "joined and left")),
            ]
        )
