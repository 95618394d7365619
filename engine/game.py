"""What every game on the table is: moves in, events or a refusal out, and a view of what people may know.

The room plays through this page alone and never asks which game it runs. Numbers in brackets are rules (RULES.md).
"""

from enum import StrEnum
from typing import NewType, Protocol

from engine.cards import Card, Entropy
from engine.value import Value

Seat = NewType("Seat", int)
"""A dealt-in place, 0 to n - 1, clockwise."""


class Status(StrEnum):
    """Where a seat stands (R8)."""

    IN_PLAY = "in_play"
    WAITING = "waiting"
    OUT = "out"


class Side(StrEnum):
    """Which hand acted (R15); computers and clients that do not say have none."""

    LEFT = "left"
    RIGHT = "right"
    NONE = ""


class Move(Value, tag_field="move"):
    """Something that is to happen to a game."""


class Turn(Move, tag="turn"):
    """Turn the top card of a stack; `nth` is the number that the card will have (R3)."""

    seat: Seat
    nth: int
    side: Side = Side.NONE


class Slap(Move, tag="slap"):
    """A hand on card `nth`. On a slap card this is the hand that the judge found to be first (R4, R7)."""

    seat: Seat
    nth: int
    called: bool = False
    side: Side = Side.NONE


class CarryOn(Move, tag="carry_on"):
    """A person lets card `nth` pass (R19)."""

    seat: Seat
    nth: int


class LetPass(Move, tag="let_pass"):
    """The table has waited long enough for a hand on card `nth` (R10, R12, R20)."""

    nth: int


class TimeUp(Move, tag="time_up"):
    """The time limit has been reached (R12)."""


class EndNow(Move, tag="end_now"):
    """The host ends the game and has the cards counted (R12)."""


class Leave(Move, tag="leave"):
    """A seat leaves for good (R25)."""

    seat: Seat


AnyMove = Turn | Slap | CarryOn | LetPass | TimeUp | EndNow | Leave


class Event(Value, tag_field="event"):
    """Something that has happened, as everybody at the table may know it."""


class CardTurned(Event, tag="card_turned"):
    """`face` lies on the pile as the game's `nth` card."""

    seat: Seat
    nth: int
    face: Card


class SeatReady(Event, tag="seat_ready"):
    """A seat has turned and the table waits for the other, so that both cards show at once (R21)."""

    seat: Seat


class PileWon(Event, tag="pile_won"):
    """The pile of `cards` cards, card `nth` on top, goes under a stack (R4)."""

    seat: Seat
    nth: int
    cards: int


class WrongSlap(Event, tag="wrong_slap"):
    """A hand on card `nth`, which was no slap card. The card it cost went to `to`, or under the pile (R7)."""

    seat: Seat
    nth: int
    paid: int
    to: Seat | None


class PileShared(Event, tag="pile_shared"):
    """A wrong call: the pile was dealt to the others (R14). `shares` has one number a seat."""

    seat: Seat
    nth: int
    shares: tuple[int, ...]


class PileTakenBack(Event, tag="pile_taken_back"):
    """The turner of the last card takes the pile as its stack (R10, R20)."""

    seat: Seat
    cards: int


class SeatWaiting(Event, tag="seat_waiting"):
    """A stack is empty and has a last chance (R8)."""

    seat: Seat


class SeatBack(Event, tag="seat_back"):
    """A seat that had no cards has some again (R7b, R8, R14)."""

    seat: Seat


class SeatOut(Event, tag="seat_out"):
    """A seat may only watch and judge from now on (R8, R25)."""

    seat: Seat


class EliminationBegan(Event, tag="elimination_began"):
    """Only Jacks count and the other seat turns every card (R20)."""

    empty: Seat


class EliminationEnded(Event, tag="elimination_ended"):
    """The normal game resumes (R20)."""


class WarDeclared(Event, tag="war_declared"):
    """Equal cards: `depth` 1 is a war, 2 a double war (R22)."""

    depth: int


class BattleWon(Event, tag="battle_won"):
    """The higher card takes all that lies between the two (R21, R22)."""

    seat: Seat
    cards: int


class CarriedOn(Event, tag="carried_on"):
    """A person let the card pass (R19)."""

    seat: Seat
    nth: int


class End(StrEnum):
    """Why a game is over."""

    LAST_SEAT = "last_seat"
    ALL_CARDS = "all_cards"
    CARD_LIMIT = "card_limit"
    TIME_LIMIT = "time_limit"
    HOST = "host"
    DUEL_SLAP = "duel_slap"
    NO_CARDS = "no_cards"


class GameOver(Event, tag="game_over"):
    """The game is won, by several when they share it (R9, R12, R20, R23)."""

    winners: tuple[Seat, ...]
    end: End


AnyEvent = (
    CardTurned
    | SeatReady
    | PileWon
    | WrongSlap
    | PileShared
    | PileTakenBack
    | SeatWaiting
    | SeatBack
    | SeatOut
    | EliminationBegan
    | EliminationEnded
    | WarDeclared
    | BattleWon
    | CarriedOn
    | GameOver
)


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


class Wait(StrEnum):
    """What the table is waiting for."""

    TURN = "turn"
    LAST_HAND = "last_hand"
    ANSWERS = "answers"
    OVER = "over"


class Due(Value):
    """What may happen next, for whoever keeps the time.

    `nth` is the number the next turned card will have. `contest` is the number of the slap card on top that may
    still be won, 0 where there is none. While `wait` is `LAST_HAND` only a slap or `LetPass` goes on.
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


class SeatView(Value):
    """A stack as the others see it: a number of cards and never which."""

    cards: int
    status: Status


class LandedCard(Value):
    """A card that everybody has seen turned."""

    nth: int
    face: Card
    seat: Seat


class GameView(Value):
    """What anybody may know of a game, built up from public facts: nothing hidden was ever in it.

    `pile` counts every card in the middle, `under` those of them that lie face down; `landed` has the last few
    landed cards, top last. `empty` is the seat without cards in an elimination round (R20).
    """

    game: str
    turned: int
    seats: tuple[SeatView, ...]
    pile: int
    under: int
    landed: tuple[LandedCard, ...]
    wait: Wait
    turners: tuple[Seat, ...]
    answers: tuple[Seat, ...]
    ready: tuple[Seat, ...] = ()
    empty: Seat | None = None
    winners: tuple[Seat, ...] = ()
    end: End | None = None


class Game(Protocol):
    """A game in progress: a value. Each method is pure; the same arguments give the same bytes."""

    def step(self, move: AnyMove, entropy: Entropy) -> Step | Refusal:
        """The game after the move, or why the move does not stand. Total: it never raises."""

    def due(self) -> Due:
        """What may happen next."""

    def weigh(self, slap: Slap) -> SlapKind | Refusal:
        """Whether a hand joins the contest for a slap card, is a wrong slap, or is no slap at all (R7)."""

    def view(self) -> GameView:
        """What anybody may know."""
