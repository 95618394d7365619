"""What is kept of a table, and what a store must do. Knows no Redis."""

from typing import Protocol

import msgspec

from engine.game import Value
from engine.rules import Rules
from server.protocol import Kind, SeatId

RECORD_VERSION = 1


class Computer(Value):
    """How a computer player plays (R31)."""

    reaction_ms: int = 600
    spread_ms: int = 120
    slip_percent: int = 0


class SeatRecord(Value):
    """A seat as it is kept. `key_hash` is the hex SHA-256 of its owner's secret, empty for a computer player."""

    id: SeatId
    name: str
    face: str
    kind: Kind
    key_hash: str = ""
    handicap_ms: int = 0
    computer: Computer | None = None


class TableRecord(Value):
    """All that outlives a server: who sits at a table, under which rules, and the win scores (R28).

    `scores` counts wins by `key_hash` for people and by seat id for computer players.
    """

    code: str
    rules: Rules
    seats: tuple[SeatRecord, ...] = ()
    scores: dict[str, int] = msgspec.field(default_factory=dict)
    games: int = 0
    host: SeatId | None = None
    dealer: SeatId | None = None
    locked: bool = False
    version: int = RECORD_VERSION


class StoreDown(Exception):
    """The store does not answer; nothing was acknowledged."""


class BadRecord(Exception):
    """What the store holds cannot be read; the text names the key and what is wrong. Nothing was changed."""


class Store(Protocol):
    """Where tables are kept. An awaited write has been accepted; whether it outlives a power cut is up to its settings.

    Every method raises `StoreDown` when the store does not answer in time.
    """

    async def create_table(self, record: TableRecord) -> bool:
        """Keeps a new table; False, and nothing changed, when the code is taken."""

    async def load_table(self, code: str) -> TableRecord | None:
        """The table of that code; raises `BadRecord`."""

    async def save_table(self, record: TableRecord) -> None:
        """Replaces what was kept of the table."""

    async def close(self) -> None:
        """Lets go of the connections."""
