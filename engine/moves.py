"""Moves: all that can happen to a game, each naming the seat and the card that it is about.

Numbers in brackets are rules (RULES.md).
"""

from enum import StrEnum
from typing import NewType

from engine.value import Value

Seat = NewType("Seat", int)
"""A dealt-in place, 0 to n - 1, clockwise."""


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
    """The table has waited long enough for a hand on card `nth`, or has seen it for its time (R10, R12, R20)."""

    nth: int


class TimeUp(Move, tag="time_up"):
    """The time limit has been reached (R12)."""


class EndNow(Move, tag="end_now"):
    """The cards are counted once an open slap card is settled (R12).

    The host wants it; or the game is `too_long`, so that nothing more could be kept of it.
    """

    too_long: bool = False


class Leave(Move, tag="leave"):
    """A seat leaves for good (R25)."""

    seat: Seat


AnyMove = Turn | Slap | CarryOn | LetPass | TimeUp | EndNow | Leave
