"""What a table is at this instant: its people, rules, scores and running game. Data that the parts of a room share."""

from dataclasses import dataclass, field
from typing import Self

from engine.rules import Rules
from server.base.ports import RandomSource
from server.table.chair import Guest
from server.table.mail import ConnId
from server.table.play import Play
from server.table.records import RemovedSeat, TableRecord
from server.table.scores import ScoreBook
from server.table.seats import Seats
from wire.messages import SeatId, Stage


@dataclass(frozen=True, slots=True)
class SeatClaim:
    """Somebody asks the host, until `until_us`, for a lost seat that they say is theirs."""

    conn: ConnId
    until_us: int


@dataclass(slots=True)
class TableState:
    """A table. `now_us` is the instant of what is being taken in.

    `frozen_since_us` is since when the game has stood still (R24), None while it goes on. `next_deal_us` is the moment
    of the next deal in a break, 0 where there is none. `played` is how many people the last deal was for, and
    `deserted` says that all but one of them are gone now (R28).
    """

    code: str
    born: str
    rules: Rules
    scores: ScoreBook
    seats: Seats
    games: int
    dealer: SeatId | None
    locked: bool
    ranked: bool
    guests: dict[ConnId, Guest] = field(default_factory=dict)
    claims: dict[SeatId, SeatClaim] = field(default_factory=dict)
    removed: tuple[RemovedSeat, ...] = ()
    played: int = 0
    stage: Stage = Stage.LOBBY
    play: Play | None = None
    paused: bool = False
    held: bool = False
    frozen_since_us: int | None = None
    winners: tuple[SeatId, ...] = ()
    deserted: bool = False
    next_deal_us: int = 0
    now_us: int = 0

    @classmethod
    def of(cls, record: TableRecord, random_source: RandomSource) -> Self:
        """The table as it was kept."""
        return cls(
            code=record.code,
            born=record.born,
            rules=record.rules,
            scores=ScoreBook.of(record),
            seats=Seats(record.seats, record.host, random_source),
            games=record.games,
            dealer=record.dealer,
            locked=record.locked,
            ranked=record.ranked,
            removed=record.removed,
        )

    def record(self) -> TableRecord:
        """What is to be kept of the table."""
        return TableRecord(
            code=self.code,
            rules=self.rules,
            seats=tuple(chair.record for chair in self.seats.chairs if not chair.gone),
            scores=self.scores.scores,
            games=self.games,
            host=self.seats.rightful_host or self.seats.host,
            dealer=self.dealer,
            locked=self.locked,
            first_to=self.scores.first_to,
            ranked=self.ranked,
            archive=self.scores.archive,
            born=self.born,
            removed=self.removed,
        )

    def ingredients(self) -> tuple[object, ...]:
        """All that the record and the table's view are made of, beside the game: quick to make and to compare.

        Every one is a value, or is replaced and never changed in place, so that equal ingredients mean an equal table.
        """
        seats, scores, chairs = self.seats, self.scores, []
        for c in self.seats.chairs:  # no comprehension: this is done for every input, and a call less counts
            chairs.append((c.record, c.conn, c.place, c.gone, c.silent_turns, c.told_rtt_ms))
        return (
            chairs,
            (seats.host, seats.rightful_host, len(self.guests), tuple(self.claims.items()), self.removed),
            (scores.scores, scores.first_to, scores.archive, self.winners),
            (self.rules, self.stage, self.games, self.dealer, self.locked, self.ranked, self.paused, self.held),
            (self.frozen_since_us, self.next_deal_us, self.deserted),
        )

    def claimant(self, seat: SeatId) -> tuple[ConnId, Guest] | None:
        """Who asks for this lost seat, while it may be given to them."""
        claim = self.claims.get(seat)
        guest = self.guests.get(claim.conn) if claim is not None else None
        if claim is None or guest is None or not self.seats.may_claim(guest, seat):
            return None
        return claim.conn, guest

    def claim_due_us(self) -> int | None:
        """When the first of the claims is over, None where there is none."""
        return min((claim.until_us for claim in self.claims.values()), default=None)

    def drop_old_claims(self) -> None:
        """The host has not answered in time."""
        self.claims = {seat: claim for seat, claim in self.claims.items() if claim.until_us > self.now_us}

    def drop_guest(self, conn: ConnId) -> Guest | None:
        """Somebody's connection is none of this table's any more."""
        if any(claim.conn == conn for claim in self.claims.values()):
            self.claims = {seat: claim for seat, claim in self.claims.items() if claim.conn != conn}
        return self.guests.pop(conn, None)

    def spectators(self) -> int:
        """How many screens have no seat of their own."""
        return sum(guest.chair is None for guest in self.guests.values())
