"""Views: what anybody may know of a game, built up from public facts.

Numbers in brackets are rules (RULES.md).
"""

from enum import StrEnum

from engine.cards import Card
from engine.events import End
from engine.moves import Seat
from engine.value import Value


class Status(StrEnum):
    """Where a seat stands (R8)."""

    IN_PLAY = "in_play"
    WAITING = "waiting"
    OUT = "out"


class Wait(StrEnum):
    """What the table is waiting for."""

    TURN = "turn"
    LAST_HAND = "last_hand"
    LAST_CARD = "last_card"
    ANSWERS = "answers"
    OVER = "over"


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
