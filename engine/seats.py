"""The circle of seats and the stacks before them: who comes next, who gets what, who has most.

A stack is a tuple of cards with its top first: the top is turned, the bottom receives. Knows no game.
"""

from collections.abc import Sequence

from engine.cards import Card
from engine.game import Reason, Refusal, Seat, SeatView, Status

Stack = tuple[Card, ...]
Stacks = tuple[Stack, ...]
Outs = tuple[bool, ...]
"""For every seat whether it is out."""


def clockwise(after: Seat, seats: int) -> tuple[Seat, ...]:
    """All seats in turn, the one at the left of `after` first and `after` itself last (R3)."""
    return tuple(Seat((after + step) % seats) for step in range(1, seats + 1))


def next_with_cards(after: Seat, stacks: Stacks) -> Seat | None:
    """The first seat in turn that has a card to turn (R3, R5)."""
    seats = len(stacks)
    seat = after
    for _ in stacks:
        seat = Seat((seat + 1) % seats)
        if stacks[seat]:
            return seat
    return None


def dealt(cards: Sequence[Card], to: Sequence[Seat], seats: int) -> Stacks:
    """What every seat is dealt, one card at a time, the first card to the first of `to` (R2, R14)."""
    shares: list[Stack] = [()] * seats
    for place, seat in enumerate(to):
        shares[seat] = tuple(cards[place :: len(to)])
    return tuple(shares)


def changed(stacks: Stacks, seat: Seat, stack: Stack) -> Stacks:
    """The stacks with one of them exchanged."""
    return (*stacks[:seat], stack, *stacks[seat + 1 :])


def most_cards(stacks: Stacks, out: Outs) -> tuple[Seat, ...]:
    """The seats with the most cards among those that are not out (R12)."""
    most = max(len(stack) for stack, gone in zip(stacks, out, strict=True) if not gone)
    return tuple(Seat(seat) for seat, stack in enumerate(stacks) if not out[seat] and len(stack) == most)


def statuses(stacks: Stacks, out: Outs) -> list[Status]:
    """Where every seat stands (R8)."""
    return [
        Status.IN_PLAY if stack else Status.OUT if gone else Status.WAITING
        for stack, gone in zip(stacks, out, strict=True)
    ]


def seat_views(stacks: Stacks, out: Outs) -> tuple[SeatView, ...]:
    """What anybody may know of every seat."""
    return tuple([SeatView(len(stack), status) for stack, status in zip(stacks, statuses(stacks, out), strict=True)])


def absent(seat: Seat, out: Outs) -> Refusal | None:
    """Why a seat can do nothing at all, if so. `True` is no seat, though Python counts it as 1."""
    if type(seat) is not int or not 0 <= seat < len(out):
        return Refusal(Reason.NO_SUCH_SEAT, "R1")
    return Refusal(Reason.SEAT_OUT, "R8") if out[seat] else None
