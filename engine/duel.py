"""Duel: what is its own in a game of Slapjack for two, the elimination round (R20)."""

from engine.events import AnyEvent, EliminationBegan, EliminationEnded, PileTakenBack
from engine.moves import Seat
from engine.seats import Stacks, next_with_cards


def empty_seat(stacks: Stacks, after: Seat) -> Seat | None:
    """The seat without cards, None where both have some; were both without, not the one that turned last (R20)."""
    if all(stacks):
        return None
    turner = next_with_cards(after, stacks)
    return Seat(1 - (after if turner is None else turner))


def round_changes(
    was_empty: Seat | None, empty: Seat | None, told: tuple[AnyEvent, ...], *, over: bool
) -> tuple[AnyEvent, ...]:
    """What a move has made of the elimination round, from the empty seat before it and after it (R20).

    A pile taken back begins another round with the same empty seat (R20e).
    """
    if empty is not None:
        again = any(isinstance(event, PileTakenBack) for event in told)
        return (EliminationBegan(empty=empty),) if again or empty != was_empty else ()
    return (EliminationEnded(),) if was_empty is not None and not over else ()
