"""Penalties: what a wrong slap costs, and a wrong call (R7, R14). Knows nothing of what follows from it."""

from typing import TypeVar

from msgspec.structs import replace

from engine.events import PileShared, WrongSlap
from engine.moves import Seat, Slap
from engine.position import Position, put_out, without_pile
from engine.rules import GameName, Penalty
from engine.seats import changed, clockwise, dealt

P = TypeVar("P", bound=Position)


def wrong_slap(position: P, slap: Slap) -> tuple[P, WrongSlap]:
    """A wrong slap costs the top card; a seat that has none is out (R7, R8). `slap` is on a landed card."""
    seat = slap.seat
    depth = position.turned - slap.nth
    place = len(position.landed) - 1 - depth
    card = position.landed[place]
    slapped = replace(card, wrong=(*card.wrong, seat))
    after = replace(position, landed=(*position.landed[:place], slapped, *position.landed[place + 1 :]))
    paid, to = 0, None
    if position.rules.calm:
        # A hand on the top card is an answer, on a covered one it only came late (R19).
        after = replace(after, answered=(*position.answered, seat)) if depth == 0 else after
    elif stack := position.stacks[seat]:
        paid, to = 1, payee(position, seat, card.seat)
        stacks = changed(position.stacks, seat, stack[1:])
        if to is None:
            after = replace(after, stacks=stacks, under=(stack[0], *position.under))
        else:
            after = replace(after, stacks=changed(stacks, to, (*stacks[to], stack[0])))
    else:
        after = replace(after, out=put_out(position.out, seat))
    return after, WrongSlap(seat=seat, nth=slap.nth, paid=paid, to=to)


def payee(position: Position, seat: Seat, turner: Seat) -> Seat | None:
    """Who receives the card of a wrong slap; None when it goes under the pile (R7, R7a, R7b, Duel)."""
    if position.rules.game is GameName.DUEL:
        return Seat(1 - seat)
    if position.rules.penalty is Penalty.UNDER_PILE or turner == seat or position.out[turner]:
        return None
    return turner


def wrong_call(position: P, slap: Slap) -> tuple[P, PileShared]:
    """After a wrong call the pile is dealt to the others, from the caller's left (R14)."""
    seat, seats = slap.seat, len(position.stacks)
    others = [other for other in clockwise(seat, seats) if other != seat and not position.out[other]]
    shares = dealt(position.pile(), others, seats)
    after = replace(
        without_pile(position),
        stacks=tuple(stack + share for stack, share in zip(position.stacks, shares, strict=True)),
        out=position.out if position.stacks[seat] else put_out(position.out, seat),
        after=seat,
    )
    return after, PileShared(seat=seat, nth=slap.nth, shares=tuple(len(share) for share in shares))
