"""A position of Slapjack: the cards, the seats, and all that follows from how they lie.

Knows what the table waits for, who may still slap and who has to answer. Moves nothing. Numbers in brackets are rules
(RULES.md).
"""

from typing import TypeVar

from msgspec.structs import replace

from engine.cards import Card
from engine.duel import empty_seat
from engine.events import End
from engine.moves import Seat, Side
from engine.rules import GameName, Rules, WhichHand
from engine.seats import Outs, Stack, Stacks, clockwise
from engine.value import Value
from engine.views import Wait


class Landed(Value):
    """A face-up card of the pile. `slap` says whether it was a slap card when it was turned (R11).

    `side` is the hand that turned it (R15), `wrong` are the seats that have slapped it wrongly (R7c).
    """

    face: Card
    seat: Seat
    slap: bool
    side: Side = Side.NONE
    wrong: tuple[Seat, ...] = ()


class Position(Value):
    """A game in progress, or over. `rules` are the rules in force, `persons` says which seats are people (R19).

    The pile is `under`, face down, and `landed` upon it, both with the bottom card first. The circle goes on at the
    left of `after`, so whose turn it is follows from who has cards (R3, R5). `answered` are the people who have
    slapped the top card or let it pass (R19). `ending` is why the game ends as soon as the slap window is over (R12).
    """

    rules: Rules
    persons: tuple[bool, ...]
    stacks: Stacks
    out: Outs
    after: Seat
    turned: int = 0
    landed: tuple[Landed, ...] = ()
    under: tuple[Card, ...] = ()
    answered: tuple[Seat, ...] = ()
    ending: End | None = None
    winners: tuple[Seat, ...] = ()
    end: End | None = None

    def pile(self) -> Stack:
        """The pile turned over: the card that lay lowest is on top (R4, R14)."""
        return self.under + tuple(card.face for card in self.landed)

    def open(self) -> bool:
        """Whether somebody may still be about to slap the top card."""
        return self.slap_card_on_top() and len(self.slappers()) > 0

    def slap_card_on_top(self) -> bool:
        """Whether the card on top is a slap card that has not been let pass (R11)."""
        return bool(self.landed) and self.landed[-1].slap

    def slappers(self) -> tuple[Seat, ...]:
        """The seats whose hand on the slap card on top may still come; computer players wait for people (R15, R19)."""
        people_first = bool(self.answers())
        barred = self.landed[-1].seat if self.landed and self.rules.hand is WhichHand.NOT_TURNER else None
        return tuple(
            Seat(seat)
            for seat, out in enumerate(self.out)
            if not out and seat != barred and seat not in self.answered and (self.persons[seat] or not people_first)
        )

    def answers(self) -> tuple[Seat, ...]:
        """The people who have neither slapped the top card nor let it pass (R19)."""
        if not self.rules.calm or not self.landed:
            return ()
        return tuple(
            Seat(seat)
            for seat, person in enumerate(self.persons)
            if person and not self.out[seat] and seat not in self.answered
        )

    def limit(self) -> End | None:
        """The limit that has been reached, if any (R12)."""
        return self.ending or (End.CARD_LIMIT if self.turned >= self.rules.last_card() else None)

    def wait(self) -> Wait:
        """What the table is waiting for."""
        if self.end is not None:
            return Wait.OVER
        if self.ending is not None:
            return Wait.LAST_HAND
        if self.answers():
            return Wait.ANSWERS
        if self.open() and (self.limit() or not any(self.stacks)):
            return Wait.LAST_HAND
        return Wait.TURN if any(self.stacks) else Wait.LAST_CARD

    def taker(self) -> Seat:
        """R10: the turner of the last card, or where that seat is out the next one in turn that is not."""
        if not self.out[self.after]:
            return self.after
        return next(seat for seat in clockwise(self.after, len(self.out)) if not self.out[seat])

    def empty(self) -> Seat | None:
        """The seat without cards in an elimination round of Duel (R20)."""
        duel = self.rules.game is GameName.DUEL and self.end is None
        return empty_seat(self.stacks, self.after) if duel else None


P = TypeVar("P", bound=Position)


def passed(position: P) -> P:
    """The card on top is no slap card any more: nobody has slapped it (R10)."""
    return replace(position, landed=(*position.landed[:-1], replace(position.landed[-1], slap=False)))


def without_pile(position: P) -> P:
    """Nothing lies in the middle."""
    return replace(position, landed=(), under=(), answered=())


def put_out(out: Outs, seat: Seat) -> Outs:
    """The seats that are out, and this one with them (R8, R25)."""
    return (*out[:seat], True, *out[seat + 1 :])
