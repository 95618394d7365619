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


class Score(Value):
    """What somebody has won at a table, and the name they had at their last game there."""

    name: str
    face: str
    wins: int = 0
    games: int = 0


class Tournament(Value):
    """A tournament that has ended: its scores, kept as at the table, and how many games it took (R29)."""

    games: int
    scores: dict[str, Score]


class TableRecord(Value):
    """All that outlives a server: who sits at a table, under which rules, and the win scores (R28).

    `scores` are kept by `key_hash` for people and by seat id for computer players. `first_to` wins make a champion
    (R29), 0 is open-ended; `archive` has the last tournaments that ended. `born` tells tables apart that had the same
    code one after another. `ranked` is off where the table does not want its games on the leaderboard (R30).
    """

    code: str
    rules: Rules
    seats: tuple[SeatRecord, ...] = ()
    scores: dict[str, Score] = msgspec.field(default_factory=dict)
    games: int = 0
    host: SeatId | None = None
    dealer: SeatId | None = None
    locked: bool = False
    first_to: int = 0
    ranked: bool = True
    archive: tuple[Tournament, ...] = ()
    born: str = ""
    version: int = RECORD_VERSION


class Played(Value):
    """One person's part in a finished game; `reactions_us` are the accepted ones of their hands, in microseconds."""

    person: str
    name: str
    face: str
    won: bool
    reactions_us: tuple[int, ...] = ()

    def sums(self) -> dict[str, float]:
        """What is added up over all of a person's games, by the names that figures are made of (`Figure.of`, `per`)."""
        return {"games": 1, "wins": int(self.won)}


class Result(Value):
    """A finished game, to be counted exactly once under its `id`.

    `ranked` is False where it counts in the table's score alone (R30); then only wins and games of the table are kept.
    """

    id: str
    code: str
    game: str
    people: tuple[Played, ...]
    ranked: bool


class Change(Value):
    """What a room wants kept in one go, or not at all: its record, entries of its journal, a result to be counted.

    `entries` are opaque here. `deals` says that the first of them begins a new game: what was kept of the one before
    is no longer needed to go on. `clears` takes the journal of all games before this change away.
    """

    record: TableRecord | None = None
    entries: tuple[bytes, ...] = ()
    deals: bool = False
    result: Result | None = None
    clears: bool = False


class Opened(Value):
    """A table as it is taken over: its record, the journal from the last deal on, and the epoch to write under."""

    record: TableRecord
    journal: tuple[bytes, ...]
    epoch: int


class StoreDown(Exception):
    """The store does not answer; nothing was acknowledged."""


class Fenced(Exception):
    """The table is not as its owner left it, because another server has taken it over or the store has lost something.

    Nothing was written, and this owner must fall silent.
    """


class Elsewhere(Exception):
    """The table is another server's: its name, and for how long its lease lasts if it is not renewed."""

    def __init__(self, node: str, left_ms: int) -> None:
        super().__init__(f"the table is at {node}")
        self.node, self.left_ms = node, left_ms


class BadRecord(Exception):
    """What the store holds cannot be read; the text names the key and what is wrong. Nothing was changed."""


class Store(Protocol):
    """Where tables are kept. An awaited write has been accepted; whether it outlives a power cut is up to its settings.

    Every method raises `StoreDown` when the store does not answer in time.
    """

    async def create_table(self, record: TableRecord) -> bool:
        """Keeps a new table; False, and nothing changed, when the code is taken."""

    async def load_table(self, code: str) -> TableRecord | None:
        """The table of that code, to look at; raises `BadRecord`."""

    async def open_table(self, code: str, owner: str = "") -> Opened | None:
        """Takes the table over under a new epoch: from now on nobody else's `keep` succeeds. Raises `BadRecord`.

        An `owner` takes only what is free: the table is then its own for as long as its lease lasts, and it meets
        `Elsewhere` where another's does. Without one it takes what it wants, and the table is free.
        """

    async def release_table(self, code: str, owner: str, epoch: int) -> None:
        """Lets the table be anybody's, unless somebody has opened it since that epoch."""

    async def keep(self, code: str, epoch: int, number: int, change: Change) -> None:
        """Keeps change `number` (counted from 1) of that epoch, all of it or nothing.

        Asked again with the same number after a `StoreDown` it is not kept twice. Raises `Fenced`.
        """

    async def person_of(self, key_hash: str) -> str:
        """The person that a device's secret belongs to: the hash itself, until the device was linked to another."""

    async def close(self) -> None:
        """Lets go of the connections."""


class Leases(Protocol):
    """The leases of servers, and what all servers are to hear. Every method raises `StoreDown`."""

    async def take(self, node: str, boot: str) -> bool:
        """Takes the lease of that name; False while another has it."""

    async def renew(self, node: str, boot: str) -> bool:
        """Lets it last as long again; False where it is no longer this boot's."""

    async def release(self, node: str, boot: str) -> None:
        """Ends the lease, where it is this boot's."""

    async def tell_forgotten(self, person: str) -> None:
        """Says to every server that a person wants to be forgotten."""

    async def forgotten(self, after: str) -> tuple[list[str], str]:
        """Who wanted to be forgotten after that place (`-` for the beginning), and the place now."""
