"""Events: what a move has led to, in words that everybody at the table may hear.

Numbers in brackets are rules (RULES.md).
"""

from enum import StrEnum

from engine.cards import Card
from engine.moves import Seat
from engine.value import Value


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
    TOO_LONG = "too_long"
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
