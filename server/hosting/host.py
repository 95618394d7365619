"""The host of all rooms: wakes tables and lets them sleep, keeps the lease, hands over, and says when it is full.

Knows mailboxes, and nothing of what is in them.
"""

import asyncio
import logging
from collections.abc import Generator, Sequence
from itertools import count
from typing import TypeVar

from engine.game import Wait
from engine.rules import Rules
from server.base.logs import about
from server.base.ports import Clock, RandomSource
from server.hosting.awake import Awake, NetworkFull, ServerFull
from server.hosting.background import Background
from server.hosting.cluster import RENEW_EVERY_US, Lease, Node
from server.hosting.codes import new_code
from server.hosting.fences import Fences
from server.hosting.keeper import give_up
from server.hosting.mailbox import Mailbox
from server.store.port import Elsewhere, Store
from server.table.journal import BadEntry, Replayed, replaying
from server.table.records import Opened, TableRecord
from server.table.room import Room
from server.table.strain import Strain

log = logging.getLogger("slapjack.host")

Result = TypeVar("Result")

STEPS_A_SLICE = 50
"""So many entries of a long game are played again before everything else has its turn: a millisecond."""

LOOK_US = 100_000
"""How often the loop is looked at."""

UNUSED_EVERY = 10
"""With every so many looks, once a second, tables that nobody uses are put to sleep."""

A_FEW_TABLES = 50
"""So few tables are never too many: whatever keeps this machine busy then, it is not they."""

NOTICED_S = 1.0
"""A proxy notices within this that a server takes nobody new (deploy/haproxy.cfg)."""

HAND_OVER_S = 2.5
"""Within this the tables of a server that stops are handed over, one after the other; with what each may take, and
phones and a store that do not answer, it ends within the ten seconds that it promises."""

NEXT_S = 0.05
"""So long at most after one comes the next: few tables do not wait for one another longer than they have to."""

HEARD_S = RENEW_EVERY_US / 1e6 + 0.25
"""Within this every server has heard what was said to all."""

HEALTHY_MS = 2_000
"""A server that renews its lease has more of it left than this; one that has less is about to lose its tables."""


class ServerStops(Exception):
    """This server takes no table: it is about to stop, or has lost its lease."""


class Host:
    """The tables of this server, by code.

    At most `max_tables` are awake at once, `max_tables_each` of them for one client network, and at most
    `max_spectators` people watch each. A network is a text, the same for all who share it (`limits.client_network`).
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        random_source: RandomSource,
        max_tables: int,
        max_spectators: int,
        node: Node | None = None,
        max_tables_each: int | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._random_source = random_source
        self._max_spectators = max_spectators
        self.node = node
        """This server among others; None where it is alone."""
        self.lease = node.lease if node is not None else Lease()
        self.draining = False
        """This server is about to stop, and takes no table that it has not awake."""
        self.moved = 0
        """How often a phone was sent to the server that has its table."""
        self.woken = 0
        """Tables that this server has woken."""
        self.handed_over = 0
        """Tables that were given up because this server was about to stop."""
        self.fences = Fences(clock)
        self._strain = Strain()
        self._look: asyncio.TimerHandle | None = None
        self._looks = 0
        self._awake = Awake(clock, max_tables, max_tables_each or max_tables)
        self._opening: dict[str, asyncio.Task[Mailbox | None]] = {}
        self.background = Background(clock)

    async def create(self, network: str = "") -> str:
        """Keeps a new table under a free code and gives the code; nobody is at it yet, and it sleeps.

        Raises `ServerFull`, `NetworkFull` and `StoreDown`.
        """
        if self._strain.full and len(self._awake) >= A_FEW_TABLES:
            raise ServerFull("those who play here need all of this server")
        self._make_room(network)
        while True:
            code = new_code(self._random_source)
            if await self._store.create_table(TableRecord(code, Rules(), born=self._random_source.draw()[:8].hex())):
                return code

    async def open(self, code: str, network: str = "") -> Mailbox | None:
        """The mailbox of that table, woken for that network where it slept; None where there is no such table.

        Raises `Elsewhere` where a living server has it, `ServerStops`, `ServerFull`, `NetworkFull`, `StoreDown` and
        `BadRecord`.
        """
        while True:
            if (mailbox := self._awake.get(code)) is not None:
                return mailbox
            self._must_serve()
            others = self._opening.get(code)
            try:
                return await asyncio.shield(others or self._start_waking(code, network))
            except NetworkFull:
                if others is None:
                    raise  # else it was another network's, and is tried again for this one

    def _start_waking(self, code: str, network: str) -> "asyncio.Task[Mailbox | None]":
        opening = self._opening[code] = asyncio.create_task(self._wake(code, network))
        opening.add_done_callback(lambda _: self._opening.pop(code, None))
        return opening

    async def peek(self, code: str) -> TableRecord | None:
        """What is kept of a table, without waking it; raises `StoreDown` and `BadRecord`."""
        mailbox = self._awake.get(code)
        return mailbox.room.record() if mailbox is not None else await self._store.load_table(code)

    def forget(self, person: str) -> None:
        """Has every table that is awake forget a person."""
        for mailbox in self._awake:
            mailbox.forget(person)

    async def forget_everywhere(self, person: str) -> None:
        """Has the tables of every server forget a person, each by itself; one that hears nothing is fenced off."""
        self.forget(person)
        if self.node is not None:
            await self.node.tell_forgotten(person)
            await asyncio.sleep(HEARD_S)

    @property
    def tables(self) -> int:
        """How many tables are awake."""
        return len(self._awake)

    def fall_silent(self) -> None:
        """This server can no longer speak for its tables: they are anybody's."""
        for mailbox in self._awake:
            mailbox.fall_silent()

    async def drain(self) -> None:
        """Hands every table over, so that nobody at one has to wait for more than a moment."""
        self.draining = True
        alone = self.node is None
        if not alone:
            await asyncio.sleep(NOTICED_S)
        mailboxes = list(self._awake)
        handing: list[asyncio.Task[None]] = []
        for mailbox in mailboxes:
            handing.append(asyncio.create_task(mailbox.hand_over()))
            if not alone:
                await asyncio.sleep(min(NEXT_S, HAND_OVER_S / len(mailboxes)))
        for failure in await asyncio.gather(*handing, return_exceptions=True):
            if failure is not None:
                log.error("a table could not be handed over", exc_info=failure)
        self.handed_over += len(mailboxes)

    async def close(self) -> None:
        """Stops every table."""
        if self._look is not None:
            self._look.cancel()
        keeping = [task for mailbox in self._awake if (task := mailbox.stop()) is not None]
        await asyncio.gather(*keeping, return_exceptions=True)
        await self.background.finish()

    async def _wake(self, code: str, network: str) -> Mailbox | None:
        self._make_room(network)
        owner = self.lease.owner
        opened = await self._open_table(code, owner)
        if opened is None:
            return None
        replayed = await resumed_game(code, opened.journal)
        try:  # much may have happened meanwhile
            self._make_room(network)
            self._must_serve()
            if owner != self.lease.owner:
                raise ServerStops("the lease under which the table was taken is over")
        except (ServerFull, NetworkFull, ServerStops):
            await give_up(self._store, code, owner, opened.epoch)
            raise
        self.woken += 1
        room = Room(
            opened.record, self._random_source, self._max_spectators, replayed, self._clock.now_us(), self._strain
        )
        mailbox = Mailbox(room, opened.epoch, self._store, self._clock, self.lease, self.fences, self._awake.remove)
        self._awake.add(mailbox, network)
        if self._look is None:
            self._look_later()
        return mailbox

    async def _open_table(self, code: str, owner: str) -> Opened | None:
        """Takes the table; waits for the end of a lease that should have been renewed by now."""
        try:
            return await self._store.open_table(code, owner)
        except Elsewhere as there:
            if there.left_ms >= HEALTHY_MS:
                raise
            await asyncio.sleep(there.left_ms / 1e3)
        return await self._store.open_table(code, owner)

    def _must_serve(self) -> None:
        if self.draining or not self.lease.holds(self._clock.now_us()):
            raise ServerStops("this server takes no table now")

    def _look_later(self) -> None:
        now_us, worked_us = self._clock.now_us(), self._clock.worked_us()
        self._look = asyncio.get_running_loop().call_later(LOOK_US / 1e6, self._look_now, now_us, worked_us)

    def _look_now(self, since_us: int, worked_us: int) -> None:
        """Sees how hard the server works and how late it is, and who is gone, for as long as a table is awake."""
        took_us = self._clock.now_us() - since_us
        self._look = None
        self._looks += 1
        try:
            self._strain.observe((self._clock.worked_us() - worked_us) / max(1, took_us), took_us - LOOK_US)
            if self._looks % UNUSED_EVERY == 0:
                self._release(self._awake.stop_unused())
        finally:
            if self._awake:
                self._look_later()

    def _make_room(self, network: str) -> None:
        """Puts a table to sleep at which nobody is, where there is no place for one more of that network."""
        self._release(self._awake.make_room(network))

    def _release(self, stopped: Sequence[Mailbox]) -> None:
        """Lets stopped tables be anybody's, which nobody has to wait for."""
        for mailbox in stopped:
            self.background.run(f"giving up table {mailbox.code}", mailbox.release())


async def resumed_game(code: str, journal: Sequence[bytes]) -> Replayed | None:
    """The game that was going on, if any; says in the log which entry is bad, and goes on from the last good one."""
    try:
        replayed = await in_slices(replaying(journal))
    except BadEntry as bad:
        about(log, code).error("its last deal cannot be read, so its game is lost: %s", bad)
        return None
    if replayed is not None and replayed.bad:
        about(log, code).error("%s; the game goes on from before it", replayed.bad)
    return replayed if replayed is not None and replayed.game.due().wait is not Wait.OVER else None


async def in_slices(steps: Generator[None, None, Result]) -> Result:
    """What these steps come to; every few of them everything else has its turn."""
    for nth in count(1):
        try:
            next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result
        if nth % STEPS_A_SLICE == 0:
            await asyncio.sleep(0)
    raise AssertionError
