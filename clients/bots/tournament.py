"""Which bot is the best? Pits bots against each other at many tables at once, on a server of its own, and counts.

All sit at every table, each in turn in the first seat, and each bot is a process, so that none waits for another. Knows
tables, wins and what chance makes of them. Knows nothing of how a bot plays.
"""

import asyncio
import os
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from math import sqrt
from tempfile import TemporaryDirectory

import msgspec

from clients.bots.files import bot_name, find_bot
from clients.sdk import NotAtTable, Player, ServerGone, connect, create_table
from engine.rules import Rules
from engine.value import Value
from wire.messages import Stage, Tally

Z = 1.96
"""So many standard deviations on both sides of a mean hold 95 % of what chance brings."""

START_S = 30
SEAT_S = 30
END_S = 5

ROOMY = {
    "SLAPJACK_PORT": "0",
    "SLAPJACK_TABLES_PER_MINUTE": "100000",
    "SLAPJACK_TABLES_PER_S": "100000",
    "SLAPJACK_MAX_CONNECTIONS_PER_ADDRESS": "10000",
}


class Outcome(Value):
    """One bot's part in a game that is over."""

    won: bool
    tally: Tally


class Line(Value):
    """How one bot did: games, wins, its hands with the sum of their reactions, and wrong slaps."""

    name: str
    games: int = 0
    wins: int = 0
    slaps: int = 0
    reactions_ms: int = 0
    wrong: int = 0

    def after(self, game: Outcome) -> "Line":
        """The line after one more game."""
        return Line(
            self.name,
            self.games + 1,
            self.wins + game.won,
            self.slaps + game.tally.slaps,
            self.reactions_ms + game.tally.slaps * game.tally.average_ms,
            self.wrong + game.tally.wrong,
        )


def interval(wins: int, games: int) -> tuple[float, float]:
    """Where the true share of wins lies with 95 % confidence, by Wilson's score; anywhere before the first game."""
    if not games:
        return 0.0, 1.0
    share, weight = wins / games, Z * Z / games
    middle = (share + weight / 2) / (1 + weight)
    reach = Z * sqrt(share * (1 - share) / games + weight / (4 * games)) / (1 + weight)
    # Rounding may not put the share outside of its own interval.
    return min(share, max(0.0, middle - reach)), max(share, min(1.0, middle + reach))


def in_columns(lines: Sequence[Line]) -> str:
    """The lines as a table, most wins first."""
    width = max(len("bot"), *(len(line.name) for line in lines))
    rows = [f"{'bot':{width}}  games  wins   share   95 % interval  reaction  wrong a game"]
    for line in sorted(lines, key=lambda line: -line.wins):
        least, most = interval(line.wins, line.games)
        games = max(1, line.games)
        reaction = f"{line.reactions_ms / line.slaps:.0f} ms" if line.slaps else "–"
        rows.append(
            f"{line.name:{width}}  {line.games:5}  {line.wins:4}  {line.wins / games:6.1%}"
            f"  {f'{least:.1%} – {most:.1%}':>14}  {reaction:>8}  {line.wrong / games:12.2f}"
        )
    return "\n".join(rows)


async def compete(
    bots: Sequence[str],
    rules: Rules,
    games: int,
    tables: int,
    server: str = "",
    progress: Callable[[int], None] = lambda _: None,
) -> list[Line]:
    """Has the bots play so many games, `tables` at once, and gives a line for each bot.

    Without a `server` one is started for the time. `progress` is told how many games are over. A table that a bot has
    left is given up, so there may be fewer games in the end. Raises `BadBot` and `ServerGone`.
    """
    for bot in bots:
        find_bot(bot)
    names = distinct([bot_name(bot) for bot in bots])
    lines = {name: Line(name) for name in names}
    outcomes: asyncio.Queue[dict[str, Outcome] | None] = asyncio.Queue()
    async with AsyncExitStack() as stack:
        url = server or await stack.enter_async_context(_own_server())
        written = msgspec.json.encode(rules).decode()
        entrants = [
            await stack.enter_async_context(_entrant(url, bot, name, written))
            for bot, name in zip(bots, names, strict=True)
        ]
        watching = [
            asyncio.create_task(_table(url, entrants[first % len(bots) :] + entrants[: first % len(bots)], outcomes))
            for first in range(tables)
        ]
        over, open_tables = 0, tables
        while over < games and open_tables:
            outcome = await outcomes.get()
            if outcome is None:
                open_tables -= 1
                continue
            over += 1
            progress(over)
            for name, line in lines.items():
                lines[name] = line.after(outcome[name])
        for task in watching:
            task.cancel()
        for wrong in await asyncio.gather(*watching, return_exceptions=True):
            if isinstance(wrong, NotAtTable) and not over:
                raise wrong
    return list(lines.values())


def distinct(names: Sequence[str]) -> list[str]:
    """The names, numbered where one comes again."""
    seen = Counter[str]()
    told = []
    for name in names:
        seen[name] += 1
        told.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return told


class Entrant:
    """A bot's process, which is told where to sit down."""

    def __init__(self, name: str, told: asyncio.StreamWriter) -> None:
        self.name = name
        self._told = told

    def sit(self, code: str, seats: int) -> None:
        """Sits down at a table; with `seats` as its host, who starts when there are so many."""
        self._told.write(f"{code} {seats}\n".encode())


@asynccontextmanager
async def _entrant(url: str, bot: str, name: str, rules: str) -> AsyncIterator[Entrant]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "clients.bots.entrant", url, bot, name, rules), stdin=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    try:
        yield Entrant(name, process.stdin)
    finally:
        process.stdin.close()
        await _ended(process)


def _has_seats(seats: int, player: Player) -> bool:
    return len(player.table.seats) == seats


async def _table(url: str, entrants: Sequence[Entrant], outcomes: asyncio.Queue[dict[str, Outcome] | None]) -> None:
    """Seats the bots at a new table, the first as its host, and tells of each game until one of them has left."""
    try:
        code = await create_table(url)
        async with connect(url, code, name="Scorer", watch=True) as scorer:
            for nth, entrant in enumerate(entrants, 1):
                entrant.sit(code, len(entrants) if nth == 1 else 0)
                async with asyncio.timeout(SEAT_S):
                    await scorer.until(partial(_has_seats, nth))
            while True:
                await scorer.until(lambda p: p.table.stage is Stage.PLAYING)
                await scorer.until(lambda p: p.table.stage is not Stage.PLAYING)
                seats = scorer.table.seats
                if len(seats) < len(entrants):
                    return
                outcomes.put_nowait(
                    {
                        entrant.name: Outcome(seat.id in scorer.table.winners, seat.tally or Tally(0, 0, 0, 0))
                        for entrant, seat in zip(entrants, seats, strict=True)
                    }
                )
    except TimeoutError:
        return
    finally:
        outcomes.put_nowait(None)


@asynccontextmanager
async def _own_server() -> AsyncIterator[str]:
    """A server for the time, with a free port and a folder of its own."""
    with TemporaryDirectory(prefix="slapjack-") as folder:
        environ = {name: text for name, text in os.environ.items() if name != "REDIS_URL"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "server"),
            env={**environ, **ROOMY, "SLAPJACK_DATA": folder, "PYTHONUNBUFFERED": "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            yield await _address(process)
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
            await _ended(process)


async def _address(process: asyncio.subprocess.Process) -> str:
    """Where a server that has just been started says that it is."""
    assert process.stdout is not None
    with suppress(TimeoutError):
        async with asyncio.timeout(START_S):
            async for line in process.stdout:
                if found := re.search(rb"http://localhost:(\d+)", line):
                    return f"http://127.0.0.1:{int(found[1])}"
    raise ServerGone("the server for the tournament did not start")


async def _ended(process: asyncio.subprocess.Process) -> None:
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
