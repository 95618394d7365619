"""Who is at a table: seats and whoever sits on them, and the people at the other end of connections."""

from dataclasses import dataclass, field
from statistics import fmean

from engine.game import Seat
from server.judge import CREDIT_START_US
from server.mail import ConnId
from server.path import Path
from server.play import SILENT_TURNS
from server.protocol import SeatId, Tally
from server.store.port import Computer, SeatRecord
from server.watch import Watch

REACT_EVERY_US = 1_000_000
"""How often somebody may show an emoji."""


@dataclass(slots=True)
class Chair:
    """A seat at the table and whoever sits on it. `place` is its seat in the running game."""

    record: SeatRecord
    conn: ConnId | None = None
    place: Seat | None = None
    gone: bool = False
    silent_turns: int = 0
    path: Path = Path()
    credit_us: int = CREDIT_START_US
    reactions_us: list[int] = field(default_factory=list)
    wrong: int = 0
    watch: Watch = Watch()
    told_rtt_ms: int = 0

    @property
    def id(self) -> SeatId:
        """The seat's own name."""
        return self.record.id

    @property
    def computer(self) -> Computer | None:
        """How it plays, where it is a computer player (R31)."""
        return self.record.computer

    @property
    def handicap_ms(self) -> int:
        """What is added to its reactions (R32)."""
        return self.record.handicap_ms

    @property
    def connected(self) -> bool:
        """Whether a person's phone is there."""
        return self.conn is not None

    @property
    def away(self) -> bool:
        """A person whose phone is gone, or who let three turns pass (R24)."""
        return self.computer is None and (self.conn is None or self.silent_turns >= SILENT_TURNS)

    @property
    def score_key(self) -> str:
        """What wins are counted under (R28)."""
        return self.record.key_hash or self.id

    def tally(self) -> Tally | None:
        """How the last game went; None where no hand of theirs came down."""
        if not self.reactions_us and not self.wrong:
            return None
        average_us = round(fmean(self.reactions_us)) if self.reactions_us else 0
        best_us = min(self.reactions_us, default=0)
        return Tally(len(self.reactions_us), average_us // 1000, best_us // 1000, self.wrong)

    def take_path(self, path: Path) -> bool:
        """Takes what is proved of the path; True where the round trip is so clearly another that the table sees it."""
        self.path = path
        rtt_ms = round((path.rtt_us or 0) / 1000)
        if abs(rtt_ms - self.told_rtt_ms) <= max(10, self.told_rtt_ms // 3):
            return False
        self.told_rtt_ms = rtt_ms
        return True


@dataclass(slots=True)
class Guest:
    """Somebody at the other end of a connection; without a chair they watch. `claims`: a seat said to be theirs."""

    key_hash: str
    chair: Chair | None
    path: Path = Path()
    heard_us: int = 0
    unanswered: int = 0
    reacted_us: int = -REACT_EVERY_US
    claims: SeatId | None = None
