"""What follows from something that happened in a game. Values, and what they are put together in."""

from engine.game import AnyEvent, GameView, Refusal, Seat
from engine.value import Value
from server.judge.judge import Evidence
from server.table.journal import AnyEntry
from wire.messages import Question, RejectReason, Verdict


class GameUpdate(Value):
    """Something to tell the table: what happened, to be shown at `show_at_us` (0: at once), and the game after it.

    `judged` says whether hands on the card on top are a contest.
    """

    show_at_us: int
    events: tuple[AnyEvent, ...]
    view: GameView
    verdict: Verdict | None = None
    question: Question | None = None
    evidence: tuple[Evidence, ...] = ()
    judged: bool = False


class Outcome(Value):
    """What follows, for the room to carry out.

    `refusal` says why a move does not stand. `updates` are to be told to the table, in order, and `entries` journaled
    before. `pings` are the seats whose phones are to be pinged, `asks` those whose pages are to be asked for hands on
    the card on top, and `silent` those for which a turn was made, because they made none.
    """

    refusal: Refusal | RejectReason | None = None
    updates: tuple[GameUpdate, ...] = ()
    entries: tuple[AnyEntry, ...] = ()
    pings: tuple[Seat, ...] = ()
    asks: tuple[Seat, ...] = ()
    silent: tuple[Seat, ...] = ()


class Draft:
    """An outcome that is being written."""

    def __init__(self) -> None:
        self.updates: list[GameUpdate] = []
        self.entries: list[AnyEntry] = []
        self.pings: list[Seat] = []
        self.asks: list[Seat] = []
        self.silent: list[Seat] = []

    def take(self, refusal: Refusal | RejectReason | None = None) -> Outcome:
        """The outcome, and a new draft is begun."""
        outcome = Outcome(
            refusal,
            tuple(self.updates),
            tuple(self.entries),
            tuple(self.pings),
            tuple(self.asks),
            tuple(self.silent),
        )
        self.__init__()  # type: ignore[misc]
        return outcome
