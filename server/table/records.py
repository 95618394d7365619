"""What is kept of a table: its people and scores, a finished game, and one change of all that. Knows no store."""

import msgspec

from engine.rules import Rules, WhichHand
from engine.value import Value
from wire.messages import Kind, SeatId

RECORD_VERSION = 2


def with_hand(kept: bytes) -> bytes:
    """A record or a journal's deal in msgpack, its rules with `hand` where they were kept with `other_hand` (R15)."""
    if b"other_hand" not in kept:
        return kept
    fields = msgspec.msgpack.decode(kept)
    rules = fields.get("rules") if isinstance(fields, dict) else None
    if not isinstance(rules, dict) or "other_hand" not in rules:
        return kept
    rules["hand"] = WhichHand.OTHER if rules.pop("other_hand") else WhichHand.ANY
    return msgspec.msgpack.encode(fields)


class Computer(Value):
    """How a computer player plays (R31)."""

    reaction_ms: int = 600
    spread_ms: int = 120
    slip_percent: int = 0


class SeatRecord(Value):
    """A seat as it is kept. `key_hash` is the hex SHA-256 of its owner's secret, empty for a computer player.

    `program` is what its owner said of themselves when they sat down; a computer player is none.
    `made_up` is what covers the name while the table has generated names only; empty until it has.
    """

    id: SeatId
    name: str
    face: str
    kind: Kind
    key_hash: str = ""
    handicap_ms: int = 0
    computer: Computer | None = None
    program: bool = False
    made_up: str = ""

    def shown_name(self, plain_names: bool) -> str:
        """What the table sees."""
        return self.made_up if plain_names and self.made_up else self.name


class Score(Value):
    """What somebody has won at a table, and the name they had at their last game there."""

    name: str
    face: str
    wins: int = 0
    games: int = 0


class Tournament(Value):
    """A tournament that has ended: its scores, kept as at the table, how many games it took, and to how many wins.

    `first_to` is 0 where that was not kept (R29).
    """

    games: int
    scores: dict[str, Score]
    first_to: int = 0


class RemovedSeat(Value):
    """Somebody whom the host has removed, by the seat that they had."""

    seat: SeatId
    name: str
    face: str
    key_hash: str


class Renamed(Value):
    """Somebody is called otherwise from now on, on the leaderboard as well (R30)."""

    person: str
    name: str
    face: str


class TableRecord(Value):
    """All that outlives a server: who sits at a table, under which rules, and the win scores (R28).

    `scores` are kept by `key_hash` for people and by seat id for computer players. `first_to` wins make a champion
    (R29), 0 is open-ended; `archive` has the last tournaments that ended. `born` tells tables apart that had the same
    code one after another. `removed` may not come back. `ranked` is off where the table does not want its games on the
    leaderboard (R30).
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
    removed: tuple[RemovedSeat, ...] = ()
    version: int = RECORD_VERSION


class Played(Value):
    """One person's part in a finished game; `reactions_us` are the accepted ones of their hands, in microseconds.

    Those whose hands were flagged are in no result. `program` is what they said of themselves.
    """

    person: str
    name: str
    face: str
    won: bool
    reactions_us: tuple[int, ...] = ()
    program: bool = False

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
    is no longer needed to go on. `clears` takes the journal of all games before this change away. `scored` says that
    the record has other scores or another archive than the one before: they are kept apart from the rest of it. `left`
    are people of whom nothing is left at the table: no seat, no score, no game that they were dealt into. `renamed`
    are people whose name or face the table sees otherwise than before.
    """

    record: TableRecord | None = None
    entries: tuple[bytes, ...] = ()
    deals: bool = False
    result: Result | None = None
    clears: bool = False
    scored: bool = True
    left: tuple[str, ...] = ()
    renamed: tuple[Renamed, ...] = ()


class Opened(Value):
    """A table as it is taken over: its record, the journal from the last deal on, and the epoch to write under."""

    record: TableRecord
    journal: tuple[bytes, ...]
    epoch: int
