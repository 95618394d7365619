"""A player in another language, written from docs/protocol.md alone, plays at a real table, in msgpack and in JSON."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from time import monotonic_ns
from typing import Any

import pytest

from clients.bots import Mind, Policy, play
from clients.bots.mind import QUICKEST_MS
from clients.sdk import Player, connect, create_table
from engine.rules import Rules
from tests.clients import scripted
from tests.clients.jacks_soon import EARLY
from tests.support.company import company
from tests.support.serving import ROOT, Served, served
from tests.support.tables import a_game, turned
from wire.messages import CloseCode, DoSlap, Join, Lock, Remove, SetRules, Stage

PROGRAM = ROOT / "tests" / "clients" / "node_player" / "player.mjs"
MSGPACK = ROOT / "clients" / "web" / "node_modules" / "@msgpack" / "msgpack"
SLEEPY = Policy("never slaps in time", 60_000, 0, turn_ms=QUICKEST_MS)
PATIENCE_S = 30

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Served]:
    """A server that may be killed."""
    with served(tmp_path, module="tests.clients.jacks_soon") as running:
        yield running


class Program:
    """The running player, and what it tells of itself."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.told: list[dict[str, Any]] = []

    async def tells(self, *, has: str) -> dict[str, Any]:
        """The next that it tells with that in it."""
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            while line := await self._process.stdout.readline():
                self.told.append(json.loads(line))
                if has in self.told[-1]:
                    return self.told[-1]
        raise AssertionError(f"it has ended without {has}: {self.told}")

    async def ends(self) -> int:
        """Its exit code."""
        return await asyncio.wait_for(self._process.wait(), PATIENCE_S)


@asynccontextmanager
async def seated(url: str, code: str, wire: str) -> AsyncIterator[Program]:
    if wire == "msgpack" and not MSGPACK.is_dir():
        pytest.skip("needs the page's packages: make web")
    process = await asyncio.create_subprocess_exec(
        *("node", "--experimental-websocket", "--no-warnings", str(PROGRAM), url, code, "Nod", wire),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Program(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def sleeping(player: Player) -> "asyncio.Task[None]":
    """Turns this player's cards and slaps nothing."""
    return asyncio.create_task(play(player, Mind(SLEEPY, Random(1))))


async def test_it_plays_on_either_wire(jacks_soon: Served) -> None:
    """At two tables at the same time, since most of it is waiting."""
    await asyncio.gather(plays(jacks_soon, "json"), plays(jacks_soon, "msgpack"))


async def plays(jacks_soon: Served, wire: str) -> None:
    """Joins, turns, wins every Jack with a believed reaction, and is told when the host removes it."""
    async with company(jacks_soon.url, "Ann") as (ann,), seated(jacks_soon.url, ann.table.code, wire) as program:
        ann.say(SetRules(Rules(min_show_ms=300, card_limit=EARLY + 4)))
        await ann.until(lambda p: len(p.table.seats) == 2)
        ann.start()
        turning = sleeping(ann)
        await ann.until(lambda p: p.table.stage is Stage.BREAK)
        nod = ann.table.seats[1]
        assert (nod.name, nod.wins) == ("Nod", 1)
        assert nod.tally is not None
        assert nod.tally.slaps == 3
        assert nod.tally.wrong == 0
        assert 250 <= nod.tally.average_ms <= 600
        ann.say(Remove(nod.id))
        assert (await program.tells(has="closed"))["closed"] == CloseCode.REMOVED
        assert await program.ends() == 0
        assert [event["winners"] for event in program.told if event.get("event") == "game_over"] == [[1]]
        assert not [told for told in program.told if "refused" in told]
        ann.quit()
        await turning


async def test_it_comes_back_to_its_seat(mortal: Served) -> None:
    """P7: the server is killed in the middle of a game and started again."""
    async with company(mortal.url, "Ann") as (ann,), seated(mortal.url, ann.table.code, "json") as program:
        ann.say(SetRules(Rules(min_show_ms=300, card_limit=EARLY + 4)))
        await ann.until(lambda p: len(p.table.seats) == 2)
        assert not (await program.tells(has="welcome"))["back"]
        ann.start()
        turning = sleeping(ann)
        await program.tells(has="face")
        await asyncio.to_thread(mortal.kill)
        await ann.until(lambda p: not p.online)
        await asyncio.to_thread(mortal.start)
        assert (await program.tells(has="welcome"))["back"]
        await ann.until(lambda p: p.table.stage is Stage.BREAK)
        assert [seat.wins for seat in ann.table.seats] == [0, 1]
        ann.quit()
        await turning


async def test_it_follows_its_table_to_another_server() -> None:
    """P16."""

    async def elsewhere(table: scripted.Table) -> None:
        await table.hear(Join)
        await table.close(CloseCode.MOVED, "node-2")

    async def here(table: scripted.Table) -> None:
        await table.welcome()
        await table.close(1012)

    async def again(table: scripted.Table) -> None:
        await table.welcome()
        await table.close(CloseCode.REMOVED)

    table = scripted.Table(elsewhere, here, again)
    async with scripted.at(table) as url, seated(url, "K7WQ2M", "msgpack") as program:
        assert await program.ends() == 0
    assert table.paths == ["/ws/K7WQ2M", "/n/node-2/ws/K7WQ2M", "/ws/K7WQ2M"]
    assert [message.key for message in table.heard if isinstance(message, Join)] == ["", "", "secret"]


async def test_it_times_a_hand_from_the_painting_that_counts() -> None:
    """P9: the first one, over a new socket as well, until the card is shown afresh."""
    reactions_us: list[int] = []
    instants_us: list[int] = []

    async def slaps(table: scripted.Table) -> None:
        reactions_us.append((await table.hear(DoSlap)).reaction_us)
        instants_us.append(monotonic_ns() // 1_000)

    async def first(table: scripted.Table) -> None:
        await table.welcome()
        await table.tell(events=(turned(1, "JS"),), view=a_game(["JS"]))
        await slaps(table)
        await table.close(1012)

    async def again(table: scripted.Table) -> None:
        await table.welcome()
        instants_us.append(monotonic_ns() // 1_000)
        await table.tell(view=a_game(["JS"]))
        await slaps(table)
        instants_us.append(monotonic_ns() // 1_000)
        await table.tell(show_at_us=1, view=a_game(["JS"]))
        await slaps(table)
        await table.close(CloseCode.REMOVED)

    async with scripted.at(scripted.Table(first, again)) as url, seated(url, "K7WQ2M", "msgpack") as program:
        assert await program.ends() == 0
    slapped_us, back_us, _, afresh_us, end_us = instants_us
    assert reactions_us[1] >= reactions_us[0] + back_us - slapped_us
    assert reactions_us[2] <= end_us - afresh_us


async def test_it_is_told_why_not(jacks_soon: Served) -> None:
    """P4, P5."""
    async with seated(jacks_soon.url, "222222", "json") as program:
        assert (await program.tells(has="closed"))["closed"] == CloseCode.NO_SUCH_TABLE
        assert await program.ends() == 1
    code = await create_table(jacks_soon.url)
    async with connect(jacks_soon.url, code, name="Ann") as ann:
        ann.say(Lock(True))
        await ann.until(lambda p: p.table.locked)
        async with seated(jacks_soon.url, code, "json") as program:
            assert await program.tells(has="refused") == {"refused": "join", "reason": "table_locked"}
            assert await program.ends() == 1
