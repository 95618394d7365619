"""Sends each frame to a phone when it is due and never before an earlier one: what is delayed delays what follows.

A card goes out so that it arrives just before everybody is to see it. Must not depend on what a frame says.
"""

import logging
from collections import deque
from collections.abc import Callable, Mapping

from server.base.logs import about
from server.base.ports import Clock
from server.hosting.phone import Phone
from server.table.mail import ConnId, Input, SentLate

log = logging.getLogger("slapjack.mailbox")

GRAIN_US = 1_000
"""Timers are no finer than this, so what is due sooner is sent at once."""

LATE_US = 2_000
"""A card that leaves later than this is reported to the room, for its owner reacts to it so much later."""


class DelayedSender:
    """The frames that still wait for their moment, by connection, in the order in which they are to go out.

    `phones` are those connected now, kept up to date by the caller. `report` takes a `SentLate` and the instant at
    which the frame left, in microseconds of `clock`.
    """

    def __init__(
        self,
        table: str,
        phones: Mapping[ConnId, Phone],
        clock: Clock,
        report: Callable[[tuple[Input, int]], None],
    ) -> None:
        self._table = table
        self._phones = phones
        self._clock = clock
        self._report = report
        self._delayed: dict[ConnId, deque[tuple[int, int, bytes]]] = {}

    def send(self, conn: ConnId, frame: bytes, due_us: int = 0, show_at_us: int = 0) -> None:
        """Writes a frame at `due_us` (0: at once), but never before the frames that were sent before it.

        `show_at_us` is when the card in it is to be shown, 0 without one. Does nothing for a phone that is gone.
        """
        delayed = self._delayed.get(conn)
        if delayed is not None:
            delayed.append((due_us, show_at_us, frame))
            return
        if due_us:
            late_us = self._clock.now_us() - due_us
            if late_us < -GRAIN_US:
                self._delayed[conn] = deque([(due_us, show_at_us, frame)])
                return
            if late_us > LATE_US and show_at_us:
                self._report((SentLate(conn, show_at_us, late_us), due_us + late_us))
        if (phone := self._phones.get(conn)) is not None and not phone.write(frame):
            about(log, self._table, conn).info("cut, it had stopped reading")

    def next_us(self) -> int | None:
        """When the next frame is due; None where none is delayed."""
        return min(delayed[0][0] for delayed in self._delayed.values()) if self._delayed else None

    def send_due(self) -> None:
        """Writes what is due by now."""
        now_us = self._clock.now_us()
        for conn, delayed in [(conn, delayed) for conn, delayed in self._delayed.items() if delayed[0][0] <= now_us]:
            del self._delayed[conn]
            for due_us, show_at_us, frame in delayed:
                self.send(conn, frame, due_us, show_at_us)

    def flush(self, conn: ConnId) -> None:
        """Writes all that waits for a phone that is about to be hung up on."""
        for _, _, frame in self._delayed.pop(conn, ()):
            self.send(conn, frame)

    def drop(self, conn: ConnId) -> None:
        """Lets go of what waits for a phone that is gone."""
        self._delayed.pop(conn, None)
