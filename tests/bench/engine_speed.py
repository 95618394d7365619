"""Times the engine: complete standard two-seat games a second on one core.

    python -m tests.bench.engine_speed

What is timed is the deal, and for every move one `due`, the making of the move and one `step`; every slap card is won
by one of those who may slap it, drawn by lot. The luck is drawn beforehand. Seconds are of
processor time, so that other work on the machine does not count.
"""

import argparse
import platform
import random
import time
from statistics import median

from engine.cards import ENTROPY_BYTES, Entropy, full_deck, shuffled
from engine.game import AnyMove, Game, Seat, Slap, Step, Turn, Wait
from engine.rules import STANDARD
from engine.table import deal

SEATS = 2
LONGEST = 4096
"""Enough luck for the moves of one game; after that it is used again."""


def play(rng: list[Entropy], first: int) -> int:
    """One whole game with the luck from number `first` on; returns the number of moves."""
    move: AnyMove
    moves = 0
    game: Game = deal(STANDARD, shuffled(full_deck(), rng[first % LONGEST]), SEATS, Seat(first % SEATS))
    while (due := game.due()).wait is not Wait.OVER:
        moves += 1
        entropy = rng[(first + moves) % LONGEST]
        if due.contest:
            move = Slap(seat=due.slappers[entropy[0] % len(due.slappers)], nth=due.contest)
        else:
            move = Turn(seat=due.turners[0], nth=due.nth)
        step = game.step(move, entropy)
        assert isinstance(step, Step), step
        game = step.game
    return moves


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(prog="engine_speed", description="Time complete games.")
    options.add_argument("--seconds", type=float, default=2.0, help="how long one run lasts")
    options.add_argument("--runs", type=int, default=5, help="how many runs there are")
    chosen = options.parse_args()
    source = random.Random(1)
    rng = [Entropy(source.randbytes(ENTROPY_BYTES)) for _ in range(LONGEST)]
    figures = []
    for run in range(chosen.runs):
        games = moves = 0
        began = time.process_time()
        while (took := time.process_time() - began) < chosen.seconds:
            moves += play(rng, games)
            games += 1
        figures.append(games / took)
        each_us = took / moves * 1e6
        print(f"run {run + 1}: {games} games of {moves / games:.0f} moves in {took:.2f} s, {each_us:.2f} µs a move")
    print(f"standard Slapjack, {SEATS} seats, one core, {platform.python_implementation()} {platform.python_version()}")
    print(f"games_per_second={median(figures):.0f} slowest={min(figures):.0f} fastest={max(figures):.0f}")


if __name__ == "__main__":
    main()
