"""Several servers over one store: that this one is alive, and for how long it may believe so.

A server with a name holds a lease, of which the store says when it ends. A table is its owner's for as long as the
owner has the lease under which it took the table: whoever finds the lease gone takes the table over. So a server that
could not renew falls silent before that, by its own monotonic clock. Wall clocks do not enter. Knows no table.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable

from server.base.ports import Clock, RandomSource
from server.store.port import BadRecord, Leases, StoreDown

log = logging.getLogger("slapjack.cluster")

RENEW_EVERY_US = 750_000
BELIEVED_US = 2_500_000
"""So long after it last asked for it a server believes in its lease: less than the store lets it last."""

FOREVER_US = 2**63


class Lease:
    """What a server knows of its lease. Without a name it needs none: it is alone, and all tables are its own."""

    def __init__(self, node: str = "") -> None:
        self.node = node
        self.boot = ""
        """Under which the lease was taken, another each time; empty without one."""
        self.until_us = 0 if node else FOREVER_US
        """The server's own instant at which it falls silent."""

    @property
    def owner(self) -> str:
        """The mark on the tables that are this server's now; empty without a name."""
        return f"{self.node}/{self.boot}" if self.node else ""

    def holds(self, now_us: int) -> bool:
        """Whether this server may speak for its tables."""
        return now_us < self.until_us


NAMELESS = ""
"""The name under which servers without one hold a lease, so that they notice each other."""
LOOKS = 5
"""So often in a row a lease is another's before that is said: one that was killed has its lease for four looks."""


class Nameless:
    """A server without a name, which takes every table for its own: no other may share its store.

    Where another without a name does, one of the two sees it here, and says so.
    """

    def __init__(self, leases: Leases, random_source: RandomSource) -> None:
        self._leases = leases
        self._boot = random_source.draw()[:8].hex()
        self._met = 0

    @property
    def others(self) -> bool:
        """Whether another server without a name shares the store."""
        return self._met >= LOOKS

    async def look(self) -> None:
        """Looks once whether this server is alone."""
        alone = await self._leases.take(NAMELESS, self._boot) or await self._leases.renew(NAMELESS, self._boot)
        self._met = 0 if alone else self._met + 1
        if self._met == LOOKS:
            log.error("another server uses the same Redis: give each its own name with SLAPJACK_NODE")

    async def stay(self) -> None:
        """Looks again and again for as long as the server runs."""
        while True:
            with contextlib.suppress(StoreDown, BadRecord):  # which is said by those who need it
                await self.look()
            await asyncio.sleep(RENEW_EVERY_US / 1e6)

    async def leave(self) -> None:
        """Lets the next one be alone at once."""
        await self._leases.release(NAMELESS, self._boot)


class Node:
    """This server among others: takes its lease, renews it, and gives it up.

    A lease counts from the moment at which it was asked for, since the store may have heard of it at once.
    """

    def __init__(self, name: str, leases: Leases, clock: Clock, random_source: RandomSource) -> None:
        self.lease = Lease(name)
        self._leases = leases
        self._clock = clock
        self._random_source = random_source
        self._forgotten = "-"
        self.taken = 0
        """Leases that were taken: one at each start, and one after each that was lost."""
        self.renewed = 0
        """How often a lease was renewed."""
        self.lost = 0
        """Leases that ended under a server that was still running."""

    async def take(self) -> bool:
        """Takes a new lease; False while another server has this name, or this one's last lease is not over."""
        lease = self.lease
        boot, asked_us = self._random_source.draw()[:8].hex(), self._clock.now_us()
        if not await self._leases.take(lease.node, boot):
            return False
        _, self._forgotten = await self._leases.forgotten(self._forgotten)
        lease.boot, lease.until_us = boot, asked_us + BELIEVED_US
        self.taken += 1
        return True

    async def renew(self) -> list[str]:
        """Renews the lease, or finds it lost; gives who has wanted to be forgotten since."""
        lease, asked_us = self.lease, self._clock.now_us()
        if not await self._leases.renew(lease.node, lease.boot):
            lease.until_us = 0
            return []
        # One that was over in between does not come back to life: tables have fallen silent.
        if lease.holds(self._clock.now_us()):
            lease.until_us = asked_us + BELIEVED_US
            self.renewed += 1
        people, self._forgotten = await self._leases.forgotten(self._forgotten)
        return people

    async def stay(self, forget: Callable[[str], None], fall_silent: Callable[[], None]) -> None:
        """Renews the lease for as long as the server runs, and tells who wants to be forgotten.

        Once it is over the tables fall silent, until there is another.
        """
        while True:
            held = self._left_us() > 0
            await asyncio.sleep((min(RENEW_EVERY_US, self._left_us()) if held else RENEW_EVERY_US) / 1e6)
            # Before another is taken, which says nothing about tables that were taken under this one.
            self._lose_if_over(fall_silent)
            try:
                if self._left_us():
                    async with asyncio.timeout(self._left_us() / 1e6):
                        for person in await self.renew():
                            forget(person)
                elif await self.take():
                    log.warning("%s has a lease again", self.lease.node)
            except (StoreDown, BadRecord, TimeoutError) as wrong:
                log.warning("%s cannot renew its lease: %s", self.lease.node, wrong)
            except Exception:  # whatever it is, who no longer renews must not be taken for alive
                log.exception("%s cannot renew its lease", self.lease.node)
            self._lose_if_over(fall_silent)

    def _lose_if_over(self, fall_silent: Callable[[], None]) -> None:
        if self.lease.boot and not self._left_us():
            log.warning("%s has lost its lease: its tables go to other servers", self.lease.node)
            self.lease.boot, self.lease.until_us = "", 0
            self.lost += 1
            fall_silent()

    def _left_us(self) -> int:
        return max(0, self.lease.until_us - self._clock.now_us())

    async def tell_forgotten(self, person: str) -> None:
        """Says to every server that a person wants to be forgotten; `renew` hears of it."""
        await self._leases.tell_forgotten(person)

    async def leave(self) -> None:
        """Gives the lease up, so that nobody has to wait for its end."""
        self.lease.until_us = 0
        if self.lease.boot:
            await self._leases.release(self.lease.node, self.lease.boot)
