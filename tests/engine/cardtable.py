"""Positions written as text, and moves made in them: `position("2S 3S", "JS", pile="4H0 JD1")`.

A card of the pile names its turner last; `!` marks one that is a slap card though it is no Jack.
"""

from collections.abc import Iterable
from typing import Any

from engine.cards import Card, Entropy
from engine.game import (
    AnyEvent,
    AnyMove,
    CarryOn,
    Due,
    Game,
    GameView,
    Leave,
    LetPass,
    Reason,
    Refusal,
    Seat,
    Side,
    Slap,
    Step,
    Turn,
    Wait,
)
from engine.position import Landed
from engine.rules import STANDARD, Rules
from engine.slapjack import Slapjack
from engine.table import AnyGame

ZERO = Entropy(bytes(32))


def cards(text: str) -> tuple[Card, ...]:
    """The cards of a line."""
    return tuple(Card(word) for word in text.split())


def seats(*places: int) -> tuple[Seat, ...]:
    """Places as seats."""
    return tuple(Seat(place) for place in places)


def position(
    *stacks: str, pile: str = "", under: str = "", rules: Rules = STANDARD, side: Side = Side.NONE, **fields: Any
) -> Slapjack:
    """A game of Slapjack in the middle; `-` is the stack of a seat that is out.

    `side` is the hand that turned the pile. Unless `after` says otherwise the turner of the top card was the last to
    turn, and with no pile the last seat.
    """
    landed = tuple(
        Landed(
            face=Card(word[:2]),
            seat=Seat(int(word[2])),
            slap=word[0] == "J" or word.endswith("!"),
            side=side,
        )
        for word in pile.split()
    )
    plain: dict[str, Any] = {
        "rules": rules.in_force(),
        "persons": (True,) * len(stacks),
        "stacks": tuple(() if stack == "-" else cards(stack) for stack in stacks),
        "out": tuple(stack == "-" for stack in stacks),
        "after": landed[-1].seat if landed else Seat(len(stacks) - 1),
        "turned": len(landed),
        "landed": landed,
        "under": cards(under),
    }
    return Slapjack(**{**plain, **fields})


class CardTable:
    """A game being played: every move that stands gives its events, and one that does not is an error."""

    def __init__(self, game: Game) -> None:
        self.game = game

    @property
    def due(self) -> Due:
        """What may happen next."""
        return self.game.due()

    @property
    def view(self) -> GameView:
        """What anybody may know."""
        return self.game.view()

    @property
    def stacks(self) -> tuple[str, ...]:
        """Every stack, top first, as a position is written."""
        assert isinstance(self.game, AnyGame)
        return tuple(" ".join(stack) for stack in self.game.stacks)

    @property
    def counts(self) -> list[int]:
        """How many cards every stack has, and the pile."""
        return [*(seat.cards for seat in self.view.seats), self.view.pile]

    def move(self, move: AnyMove, entropy: Entropy = ZERO) -> tuple[AnyEvent, ...]:
        """Makes a move that stands."""
        step = self.game.step(move, entropy)
        assert isinstance(step, Step), f"{move} was refused: {step}"
        self.game = step.game
        return step.events

    def turn(self, seat: int | None = None, side: Side = Side.NONE, entropy: Entropy = ZERO) -> tuple[AnyEvent, ...]:
        """The seat whose turn it is, or another, turns."""
        turner = self.due.turners[0] if seat is None else Seat(seat)
        return self.move(Turn(seat=turner, nth=self.due.nth, side=side), entropy)

    def turns(self, number: int) -> None:
        """So many cards are turned."""
        for _ in range(number):
            self.turn()

    def slap(
        self,
        seat: int,
        nth: int | None = None,
        *,
        called: bool = False,
        side: Side = Side.NONE,
        entropy: Entropy = ZERO,
    ) -> tuple[AnyEvent, ...]:
        """A hand on the top card, or on another."""
        return self.move(self.hand(seat, nth, called=called, side=side), entropy)

    def hand(self, seat: int, nth: int | None = None, *, called: bool = False, side: Side = Side.NONE) -> Slap:
        """The move that `slap` makes."""
        return Slap(seat=Seat(seat), nth=self.due.nth - 1 if nth is None else nth, called=called, side=side)

    def carry_on(self, seat: int, nth: int | None = None) -> tuple[AnyEvent, ...]:
        """A person lets the top card pass."""
        return self.move(CarryOn(seat=Seat(seat), nth=self.due.nth - 1 if nth is None else nth))

    def let_pass(self, entropy: Entropy = ZERO) -> tuple[AnyEvent, ...]:
        """The table has waited long enough."""
        return self.move(LetPass(nth=self.due.nth - 1), entropy)

    def leave(self, seat: int, entropy: Entropy = ZERO) -> tuple[AnyEvent, ...]:
        """A seat leaves."""
        return self.move(Leave(seat=Seat(seat)), entropy)

    def refuses(self, move: AnyMove) -> tuple[Reason, str]:
        """Why a move does not stand, and by which rule."""
        refusal = self.game.step(move, ZERO)
        assert isinstance(refusal, Refusal), f"{move} was not refused"
        if isinstance(move, Slap) and refusal.reason is not Reason.NOT_CALLED:
            assert self.game.weigh(move) == refusal
        return refusal.reason, refusal.rule

    def is_due(self, wait: Wait, turners: Iterable[int] = ()) -> bool:
        """Whether this is what the table is waiting for."""
        return self.due.wait is wait and self.due.turners == tuple(turners)
