"""Luck for whole games from a word, moves drawn by it, and how hard the property tests look."""

import os
from collections.abc import Iterator
from hashlib import sha256

from hypothesis import settings

from engine.cards import Entropy
from engine.game import AnyMove, CarryOn, Game, LetPass, Seat, Side, Slap, Turn, Wait

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "0"))


def budget(examples: int, steps: int = 50) -> settings:
    """Always the same examples; with `HYPOTHESIS_EXAMPLES` set, that many new ones."""
    return settings(
        max_examples=EXAMPLES or examples,
        stateful_step_count=steps,
        derandomize=not EXAMPLES,
        database=None,
        deadline=None,
    )


def chances(word: str) -> Iterator[Entropy]:
    """An endless row of chances that depends on the word alone."""
    number = 0
    while True:
        yield Entropy(sha256(f"{word} {number}".encode()).digest())
        number += 1


def sensible_move(game: Game, entropy: Entropy, eager: int = 7) -> AnyMove:
    """One of the moves that players make: mostly what the table waits for, now and then a wrong slap.

    `eager` of 8 times somebody slaps the slap card that shows.
    """
    due = game.due()
    top = due.nth - 1
    anybody = Seat(entropy[0] % len(game.view().seats))
    side = (Side.LEFT, Side.RIGHT, Side.NONE)[entropy[1] % 3]
    called = entropy[2] % 4 != 0
    if entropy[3] % 24 == 0:
        return Slap(seat=anybody, nth=top - entropy[4] % 3, called=called, side=side)
    if due.slappers and entropy[5] % 8 < eager:
        return Slap(seat=due.slappers[entropy[6] % len(due.slappers)], nth=due.contest, called=called, side=side)
    if due.wait is Wait.ANSWERS:
        return CarryOn(seat=due.answers[entropy[7] % len(due.answers)], nth=top)
    if due.wait in (Wait.LAST_HAND, Wait.LAST_CARD):
        return LetPass(nth=top)
    return Turn(seat=due.turners[entropy[8] % len(due.turners)], nth=due.nth, side=side)
