"""Rows 22 to 24: an attacker at every stage of a connection, beside people who play; descriptors that run out; a party.

Judged is what those people notice, and what is left of the attack ten seconds later.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager, suppress
from multiprocessing import get_context
from pathlib import Path

from clients.sdk import NotAtTable, Player, connect, create_table, is_slap_card
from engine.rules import Rules
from tests.faults.attacker import STAGES, attacks, kinds
from tests.faults.figure import Figure, p99
from tests.faults.silent import joins_ms
from tests.faults.wire import call, dial
from tests.support.serving import Served, served
from wire.messages import Join, SetRules, Stage, Update, Welcome

TABLES = 4
VERDICT_MS, JOIN_MS = 200.0, 250.0
"""What nobody takes for a pause."""
BACK_S = 10.0
TRIES = 3
MORE_MIB, MORE_THREADS = 40.0, 2
RULES = Rules(queens=True, doubles=True, sandwiches=True, min_show_ms=300)
USUAL = {
    "SLAPJACK_REQUESTS_PER_S": "100",
    "SLAPJACK_REQUEST_BURST": "1000",
    "SLAPJACK_MAX_CONNECTIONS_PER_ADDRESS": "100",
    "SLAPJACK_MISSES_PER_MINUTE": "10",
    "SLAPJACK_MISSES_PER_S": "10",
}
"""As a server has them by itself."""


class Look:
    """What a process holds."""

    def __init__(self, pid: int) -> None:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        self.files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        self.threads = int(status["Threads"])
        self.mib = int(status["VmRSS"].split()[0]) / 1024


class Beside:
    """People who play meanwhile: how long a verdict takes from the slap on, and how long a newcomer's join."""

    def __init__(self) -> None:
        self.verdicts_ms: list[float] = []
        self.lost = 0
        self.begun = asyncio.Event()

    async def plays(self, url: str, code: str, name: str) -> None:
        """One of them, until this is cancelled."""
        async with connect(url, code, name=name) as player:
            host = asyncio.create_task(self._starts(player))
            sent: dict[tuple[int, int], float] = {}
            try:
                while True:
                    await self._moves(player, sent)
            finally:
                host.cancel()

    async def _moves(self, player: Player, sent: dict[tuple[int, int], float]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(0.3):
                event = await anext(player)
                verdict = event.verdict if isinstance(event, Update) else None
                began_s = sent.pop((verdict.game, verdict.nth), None) if verdict is not None else None
                if began_s is not None:
                    self.verdicts_ms.append((time.monotonic() - began_s) * 1000)
                    if len(self.verdicts_ms) >= 2 * TABLES:
                        self.begun.set()
        self.lost += not player.online
        view, top, card = player.view, player.top, (player.table.game, player.top.nth if player.top else 0)
        if view is None or player.table.stage is not Stage.PLAYING:
            return
        if top is not None and is_slap_card(view, player.table.rules) and card not in sent:
            await asyncio.sleep(0.25)
            if player.top == top:
                sent[card] = time.monotonic()
                player.slap()
        elif player.my_turn:
            player.turn()

    async def _starts(self, player: Player) -> None:
        with suppress(NotAtTable):
            await player.until(lambda p: len(p.table.seats) == 2)
            while True:
                await player.until(lambda p: p.table.stage is not Stage.PLAYING)
                if player.table.stage is Stage.LOBBY:
                    player.say(SetRules(RULES))
                player.start()
                await player.until(lambda p: p.table.stage is Stage.PLAYING)


@asynccontextmanager
async def people(url: str) -> AsyncIterator[Beside]:
    """Some tables at which people play."""
    beside = Beside()
    tasks = []
    for nth in range(TABLES):
        code = await create_table(url)
        tasks += [asyncio.create_task(beside.plays(url, code, f"{name} {nth}")) for name in ("Ann", "Ben")]
    try:
        async with asyncio.timeout(20):
            await beside.begun.wait()
        yield beside
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def settles_s(server: Served, before: Look, within_s: float) -> float:
    """How long until it holds no more files and threads than before; infinite where it does not."""
    began_s = time.monotonic()
    while time.monotonic() - began_s < within_s:
        now = Look(server.pid)
        if now.files <= before.files and now.threads <= before.threads + MORE_THREADS:
            return time.monotonic() - began_s
        await asyncio.sleep(0.1)
    return float("inf")


class Noticed:
    """What people noticed of one attack: verdicts, joins, and how often somebody was without a socket."""

    def __init__(self, verdicts_ms: list[float], joins_ms: list[float], lost: int) -> None:
        self.verdicts_ms, self.joins_ms, self.lost = verdicts_ms, joins_ms, lost

    def nothing(self, lenient: float) -> bool:
        """Whether it was nothing to speak of."""
        quick = not self.verdicts_ms or p99(self.verdicts_ms) <= VERDICT_MS * lenient
        return quick and p99(self.joins_ms) <= JOIN_MS * lenient and not self.lost

    def __str__(self) -> str:
        return f"{max(self.verdicts_ms, default=0):.0f} ms, join {p99(self.joins_ms):.0f} ms, {self.lost} lost"


async def noticed(
    server: Served, beside: Beside, code: str, attacker: "asyncio.Future[int]", files: list[int]
) -> Noticed:
    """Waits until the attack is over, and notes how many files the server has open meanwhile."""
    beside.verdicts_ms = []
    beside.lost = 0
    joining = asyncio.create_task(joins_ms(server.url, code))
    while not attacker.done():
        files.append(Look(server.pid).files)
        await asyncio.sleep(0.05)
    await attacker
    joining.cancel()
    return Noticed(beside.verdicts_ms, await joining, beside.lost)


async def besieged(server: Served, stages: list[str], seconds: float, lenient: float) -> Figure:
    """At each stage whatever can be sent there, one after the other; Eve has a table to go to.

    Up to three times each, for whatever else the machine does is none of hers.
    """
    url, wrong = server.url, []
    all_noticed: list[Noticed] = []
    files: list[int] = []
    settled: list[float] = []
    code = await create_table(url)
    tried = [(stage, what) for stage in stages for what in kinds(stage)]
    async with people(url) as beside:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            await asyncio.wrap_future(pool.submit(attacks, url, code, "new call", "nothing", 0.1))
            before, usual_ms = Look(server.pid), p99(beside.verdicts_ms)
            for stage, what in tried:
                for _ in range(TRIES):
                    attacker = asyncio.wrap_future(pool.submit(attacks, url, code, stage, what, seconds))
                    found = await noticed(server, beside, code, attacker, files)
                    if found.nothing(lenient):
                        break
                else:
                    wrong.append(f"{stage}, {what}: {found}")
                all_noticed.append(found)
                settled.append(await settles_s(server, before, BACK_S))
    after = Look(server.pid)
    verdicts = [each for found in all_noticed for each in found.verdicts_ms]
    text = (
        f"{len(all_noticed)} attacks: a verdict takes {p99(verdicts):.0f} ms at p99 of {len(verdicts)} ({usual_ms:.0f} "
        f"before), a join {p99([each for found in all_noticed for each in found.joins_ms]):.0f} ms; at most "
        f"{max(files) - before.files} files more, all closed after {max(settled):.1f} s; "
        f"{after.mib - before.mib:.0f} MiB and {after.threads - before.threads} threads more"
    )
    kept = max(settled) <= BACK_S and after.mib - before.mib < MORE_MIB and not wrong
    return Figure(kept, "; ".join([text, *wrong]))


def stages_row(folder: Path, full: bool) -> Figure:
    """Every stage; the short form has a second at two of them, and is not held to milliseconds."""
    settings = USUAL if full else {**USUAL, "SLAPJACK_JOIN_TIMEOUT_S": "2"}
    stages = list(STAGES) if full else ["upgrade refused", "before the table is found"]
    with served(folder, module="server", **settings) as server:
        return asyncio.run(besieged(server, stages, 3.0 if full else 0.7, 1.0 if full else 10.0))


async def runs_out(server: Served, addresses: int, each: int) -> Figure:
    """More connections than there are descriptors, from many addresses, which say nothing."""
    code = await create_table(server.url)
    seat = await dial(server.url, f"/ws/{code}", address="127.0.0.3")
    await seat.say(Join("Ann", "🦊"))
    before = Look(server.pid)
    wires = []
    for nth in range(addresses):
        for _ in range(each):
            with suppress(OSError):
                wires.append(await call(server.url, address=f"127.0.1.{nth + 1}"))
    most = Look(server.pid).files
    kept = isinstance(await seat.hear(), Welcome) and "Too many open files" not in server.said()
    for wire in wires:
        wire.drop()
    began_s = time.monotonic()
    async with asyncio.timeout(3 * BACK_S):
        opened = await create_table(server.url)
    took_s = time.monotonic() - began_s
    settled_s = await settles_s(server, before, BACK_S)
    seat.drop()
    text = (
        f"{len(wires)} connections at a server that may have 300 files: {most} were open at most, a table is opened "
        f"{took_s:.1f} s after they go, and {settled_s:.1f} s later nothing is left of them"
    )
    return Figure(kept and bool(opened) and settled_s <= BACK_S, text)


def files_row(folder: Path, full: bool) -> Figure:
    """A server that may open 300 files only."""
    with served(folder, module="tests.support.few_files", **USUAL) as server:
        return asyncio.run(runs_out(server, 10 if full else 5, 90))


async def party(server: Served, guests: int) -> Figure:
    """All guests of a party name the right code in one moment; from one address, and from one each."""
    came = {}
    for whence in ("one address", "as many"):
        code = await create_table(server.url)
        addresses = ["127.0.2.1" if whence == "one address" else f"127.0.3.{nth + 1}" for nth in range(guests)]
        wires = await asyncio.gather(*(dial(server.url, f"/ws/{code}", address=address) for address in addresses))
        await asyncio.gather(*(wire.say(Join("Wim", "🦉", watch=True)) for wire in wires))
        heard = await asyncio.gather(*(wire.hear() for wire in wires), return_exceptions=True)
        came[whence] = sum(isinstance(each, Welcome) for each in heard)
        for wire in wires:
            wire.drop()
    text = f"{guests} guests at one moment: " + ", ".join(f"{came[each]} get in from {each}" for each in came)
    return Figure(set(came.values()) == {guests}, text)


def party_row(folder: Path, full: bool) -> Figure:
    """Fifty, where ten wrong codes a minute may be named."""
    with served(folder, module="server", **USUAL) as server:
        return asyncio.run(party(server, 50))
