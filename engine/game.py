"""What every game on the table is: moves in, events or a refusal out, and a view of what people may know.

The room plays through this module alone and never asks which game it runs: moves, events and views stand in modules of
their own and are had from here. Numbers in brackets are rules (RULES.md).
"""

from enum import StrEnum
from typing import Protocol

from engine.cards import Entropy
from engine.events import (
    AnyEvent,
    BattleWon,
    CardTurned,
    CarriedOn,
    EliminationBegan,
    EliminationEnded,
    End,
    Event,
    GameOver,
    PileShared,
    PileTakenBack,
    PileWon,
    SeatBack,
    SeatOut,
    SeatReady,
    SeatWaiting,
    WarDeclared,
    WrongSlap,
)
from engine.moves import (
    AnyMove,
    CarryOn,
    EndNow,
    Leave,
    LetPass,
    Move,
    Seat,
    Side,
    Slap,
    TimeUp,
    Turn,
)
from engine.value import Value
from engine.views import (
    GameView,
    LandedCard,
    SeatView,
    Status,
    Wait,
)

__all__ = [
    "AnyEvent",
    "AnyMove",
    "BattleWon",
    "CardTurned",
    "CarriedOn",
    "CarryOn",
    "Due",
    "EliminationBegan",
    "EliminationEnded",
    "End",
    "EndNow",
    "Event",
    "Game",
    "GameOver",
    "GameView",
    "LandedCard",
    "Leave",
    "LetPass",
    "Move",
    "PileShared",
    "PileTakenBack",
    "PileWon",
    "Reason",
    "Refusal",
    "Seat",
    "SeatBack",
    "SeatOut",
    "SeatReady",
    "SeatView",
    "SeatWaiting",
    "Side",
    "Slap",
    "SlapKind",
    "Status",
    "Step",
    "TimeUp",
    "Turn",
    "Wait",
    "WarDeclared",
    "WrongSlap",
]


class Reason(StrEnum):
    """Why a move is refused. A refused move changes nothing and costs nothing."""

    GAME_OVER = "game_over"
    NO_SUCH_SEAT = "no_such_seat"
    NOT_YOUR_TURN = "not_your_turn"
    OTHER_TURN = "other_turn"
    TABLE_WAITS = "table_waits"
    SEAT_OUT = "seat_out"
    NOTHING_TO_SLAP = "nothing_to_slap"
    NO_SUCH_CARD = "no_such_card"
    COVERED = "covered"
    PILE_GONE = "pile_gone"
    ALREADY_PAID = "already_paid"
    NOT_CALLED = "not_called"
    SAME_HAND = "same_hand"
    OTHER_HAND = "other_hand"
    TURNER = "turner"
    NO_SLAPS = "no_slaps"
    NOTHING_TO_ANSWER = "nothing_to_answer"
    NOTHING_TO_PASS = "nothing_to_pass"
    NO_LIMIT = "no_limit"


class Refusal(Value):
    """A move that does not stand, and the rule that says so."""

    reason: Reason
    rule: str


class Step(Value):
    """The game after a move and what happened, in order."""

    game: "Game"
    events: tuple[AnyEvent, ...]


class Due(Value):
    """What may happen next, for whoever keeps the time.

    `nth` is the number the next turned card will have. `contest` is the number of the slap card on top that may
    still be won, 0 where there is none. While `wait` is `LAST_HAND` only a slap or `LetPass` goes on. While it is
    `LAST_CARD` the last card of all, which is no slap card, is to be seen for its time before `LetPass` (R10).
    """

    wait: Wait
    turners: tuple[Seat, ...]
    nth: int
    contest: int
    slappers: tuple[Seat, ...]
    answers: tuple[Seat, ...]


class SlapKind(StrEnum):
    """What a hand would be, were it let stand: the room asks before it bothers the judge."""

    CONTEST = "contest"
    WRONG = "wrong"


class Game(Protocol):
    """A game in progress: a value. Each method is pure; the same arguments give the same bytes."""

    def step(self, move: AnyMove, entropy: Entropy) -> Step | Refusal:
        """The game after the move, or why the move does not stand.

        Total: it never raises for a move whose fields have the types that they are declared with, whatever numbers
        they hold, and for any bytes as entropy. What is no move at all raises `AssertionError`.
        """

    def due(self) -> Due:
        """What may happen next."""

    def weigh(self, slap: Slap) -> SlapKind | Refusal:
        """Whether a hand joins the contest for a slap card, is a wrong slap, or is no slap at all (R7)."""

    def view(self) -> GameView:
        """What anybody may know."""
