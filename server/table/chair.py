"""Who is at a table: a chair is a seat with whoever sits on it, a guest somebody at the other end of a connection."""

from dataclasses import dataclass, field
from statistics import fmean

from engine.game import Seat
from server.judge.cheat_detector import CheatDetector
from server.judge.path import Path
from server.judge.standing import Standing
from server.table.mail import ConnId
from server.table.records import Computer, SeatRecord
from wire.messages import SeatId, Tally

SILENT_TURNS = 3
"""After so many turns made for it a silent seat counts as away (R24)."""

REACT_EVERY_US = 1_000_000
"""How often somebody may show an emoji."""

SILENT_US = 8_000_000
SILENT_PINGS = 3
"""A phone that has answered no ping for so long is gone, though nobody has closed its socket (R24)."""


@dataclass(slots=True)
class Chair:
    """A seat at the table and whoever sits on it. `place` is its seat in the running game, in which it said `moves`.

    `lost_us` is when its phone was lost last, `network` the client network from which that came. `turned_away` are
    those to whom the host has said that this seat is not theirs.
    """

    record: SeatRecord
    conn: ConnId | None = None
    place: Seat | None = None
    gone: bool = False
    silent_turns: int = 0
    path: Path = Path()
    standing: Standing = Standing()
    reactions_us: list[int] = field(default_factory=list)
    wrong: int = 0
    moves: int = 0
    detector: CheatDetector = CheatDetector()
    told_rtt_ms: int = 0
    network: str = ""
    lost_us: int = 0
    turned_away: set[str] = field(default_factory=set)

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

    def let_pass(self) -> bool:
        """A turn was made for this seat; True where that makes it count as away (R24)."""
        was_away = self.away
        self.silent_turns += 1
        return self.away and not was_away

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


@dataclass(slots=True)
class Guest:
    """Somebody at the other end of a connection; without a chair they watch.

    `name` and `face` are as they came, `since_us` is when they, not this connection, first came to the table.
    """

    key_hash: str
    chair: Chair | None
    name: str = ""
    face: str = ""
    network: str = ""
    since_us: int = 0
    path: Path = Path()
    heard_us: int = 0
    unanswered: int = 0
    reacted_us: int = -REACT_EVERY_US

    def ponged(self, sent_us: int, at_us: int, kernel_rtt_us: int | None, *, plain: bool = True) -> bool:
        """Takes what a ping has proved of the path.

        True where the round trip is so clearly another than the table knows that it is to see it.
        """
        self.heard_us, self.unanswered = at_us, 0
        self.path = self.path.ponged(sent_us, at_us, kernel_rtt_us, plain=plain)
        chair = self.chair
        if chair is None:
            return False
        chair.path = self.path
        rtt_ms = round((self.path.rtt_us or 0) / 1000)
        if abs(rtt_ms - chair.told_rtt_ms) <= max(10, chair.told_rtt_ms // 3):
            return False
        chair.told_rtt_ms = rtt_ms
        return True

    def is_silent(self, at_us: int) -> bool:
        """Whether a phone has left several pings unanswered, and that for long: a clock that leaps silences nobody."""
        return self.unanswered >= SILENT_PINGS and at_us - self.heard_us > SILENT_US
