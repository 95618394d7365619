"""Keeps a table's changes in the store, and asks again for as long as the store is away.

Must not depend on what a change says.
"""

import asyncio
import logging
from collections.abc import Callable

from server.base import meters
from server.base.logs import about
from server.base.ports import Clock
from server.hosting.cluster import Lease
from server.store.port import BadRecord, Fenced, Store, StoreDown
from server.table.records import Change

log = logging.getLogger("slapjack.mailbox")

FIRST_RETRY_S = 0.1
LONGEST_RETRY_S = 0.5


class Keeper:
    """One table as it is kept: its owner writes each change once, numbered from 1, under the `epoch` it was opened in.

    `stalled` is called with every try that fails.
    """

    def __init__(
        self, code: str, epoch: int, store: Store, clock: Clock, lease: Lease, stalled: Callable[[], None]
    ) -> None:
        self._code = code
        self.epoch = epoch
        self._store = store
        self._clock = clock
        self._lease = lease
        self._owner = lease.owner
        self._stalled = stalled
        self._changes = 0

    async def keep(self, change: Change) -> int:
        """Returns once the change is kept; gives the instant since which the store did not answer, 0 if it did at once.

        Raises `Fenced`, also when this server's lease is over, and `BadRecord`.
        """
        self._changes += 1
        stalled_us, delay_s = 0, FIRST_RETRY_S
        while True:
            asked_us = self._clock.now_us()
            try:
                await self._store.keep(self._code, self.epoch, self._changes, change)
            except Fenced:
                meters.FENCED.inc()
                raise
            except StoreDown as down:
                meters.NOT_KEPT.inc()
                if not self._lease.holds(self._clock.now_us()):
                    raise Fenced("the lease is over") from down
                about(log, self._code).warning("waits for the store: %s", down)
                stalled_us = stalled_us or self._clock.now_us()
                self._stalled()
                await asyncio.sleep(delay_s)
                delay_s = min(LONGEST_RETRY_S, delay_s * 2)
            else:
                meters.KEEP.observe((self._clock.now_us() - asked_us) / 1e6)
                return stalled_us

    async def give_up(self) -> None:
        """Lets the table be anybody's."""
        await give_up(self._store, self._code, self._owner, self.epoch)


async def give_up(store: Store, code: str, owner: str, epoch: int) -> None:
    """Lets a table be anybody's; where the store does not answer it is so once the owner's lease is over."""
    if owner:
        try:
            await store.release_table(code, owner, epoch)
        except (StoreDown, BadRecord) as wrong:
            about(log, code).warning("cannot be given up: %s", wrong)
