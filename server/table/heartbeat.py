"""The heartbeat of a table: when phones are pinged, what their answers prove, and who has fallen silent."""

from server.table.mail import ConnId
from server.table.outbox import Outbox
from server.table.state import TableState
from server.table.strain import Strain

PLAYING_US = 400_000
IDLE_US = 3_000_000
NEWCOMER_US = 200_000
NEWCOMER_PINGS = 5


class Heartbeat:
    """Keeps every phone's path known; the game asks more often while it matters.

    `due_us` is when it beats next, None while nobody is here.
    """

    def __init__(self, state: TableState, strain: Strain, outbox: Outbox) -> None:
        self.due_us: int | None = None
        self._state = state
        self._strain = strain
        self._outbox = outbox
        self._newcomer_pings = 0

    def greet(self) -> None:
        """Somebody has come, of whose path nothing is known: the next beats come quickly."""
        self._newcomer_pings = NEWCOMER_PINGS
        self.due_us = self._state.now_us

    def silent(self) -> list[ConnId]:
        """Whose phones have stopped answering."""
        return [conn for conn, guest in self._state.guests.items() if guest.is_silent(self._state.now_us)]

    def beat(self) -> None:
        """Pings everybody, save those who have just answered the game, and says when to do so again."""
        state, now_us = self._state, self._state.now_us
        self._newcomer_pings = max(0, self._newcomer_pings - 1)
        playing = state.play is not None and state.frozen_since_us is None
        pace_us = min(IDLE_US, round(PLAYING_US * self._strain.ping_backoff)) if playing else IDLE_US
        pace_us = NEWCOMER_US if self._newcomer_pings else pace_us
        self.due_us = now_us + pace_us
        for conn, guest in state.guests.items():
            if self._newcomer_pings or now_us - guest.heard_us >= pace_us // 2:
                guest.unanswered += 1
                self._outbox.to_ping[conn] = None

    def stalled(self) -> None:
        """Nobody could answer while the server stood still."""
        for guest in self._state.guests.values():
            guest.heard_us, guest.unanswered = self._state.now_us, 0
