"""Finds out whose key a join brings before the table sees it: a person may have several devices.

Must not depend on who may sit where; that is the room's.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping

from server.base.keys import hash_of
from server.base.logs import about
from server.hosting.phone import FAILED, STORE_AWAY, UNREADABLE, Phone
from server.store.port import BadRecord, Store, StoreDown
from server.table.mail import ConnId, Said
from wire.messages import CloseCode, Join

log = logging.getLogger("slapjack.mailbox")


class JoinQueue:
    """Joins whose person is being looked up. They are let in in the order in which they came, however long each
    look-up takes: a connection that has died unnoticed must not take the seat from the one that came after it.

    `phones` are those connected now. `admit` takes what was said, with the person, and the instant at which it arrived
    in microseconds; `refuse` takes the connection and what to hang up with.
    """

    def __init__(
        self,
        table: str,
        store: Store,
        phones: Mapping[ConnId, Phone],
        admit: Callable[[Said, int], None],
        refuse: Callable[[ConnId, CloseCode, str], None],
    ) -> None:
        self._log = about(log, table)
        self._store = store
        self._phones = phones
        self._admit = admit
        self._refuse = refuse
        self._pending: set[asyncio.Task[None]] = set()
        self._last: asyncio.Task[None] | None = None

    def add(self, conn: ConnId, join: Join, arrived_us: int, network: str) -> None:
        """Looks up whose `join.key` is, then lets the join in after those before it."""
        self._last = asyncio.ensure_future(self._look_up(conn, join, arrived_us, network, self._last))
        self._pending.add(self._last)
        self._last.add_done_callback(self._pending.discard)

    async def _look_up(
        self, conn: ConnId, join: Join, arrived_us: int, network: str, before: "asyncio.Task[None] | None"
    ) -> None:
        said: Said | None = None
        try:
            said = Said(conn, join, await self._store.person_of(hash_of(join.key)), network)
        except StoreDown as down:
            self._log.warning("a person cannot be looked up: %s", down)
            self._refuse(conn, CloseCode.STORE_DOWN, STORE_AWAY)
        except BadRecord as bad:
            self._log.error("a person cannot be read: %s", bad)
            self._refuse(conn, CloseCode.ROOM_FAILED, UNREADABLE)
        except Exception:  # nobody is left waiting for what will not come
            self._log.exception("a person cannot be looked up")
            self._refuse(conn, CloseCode.ROOM_FAILED, FAILED)
        if before is not None:  # also where this one is refused, for those that wait for it wait for that one as well
            await asyncio.wait((before,))
        if said is not None and conn in self._phones:  # or the seat of a socket that has gone would stay with a ghost
            self._admit(said, arrived_us)
