"""Plays many games of equal computer players against the rules alone and prints how long they were (R31).

    python -m tests.bench.playouts 600 --seed 1

plays a third of them with 2, 3 and 4 seats each, by the standard rules: reactions of 600 ± 120 ms, turns after
900 ± 200 ms, no slips. The last line is `median=… p90=…` in cards turned.
"""

import argparse
import random
from collections.abc import Sequence
from statistics import median, quantiles

from engine.cards import ENTROPY_BYTES, Entropy, full_deck, shuffled
from engine.game import AnyMove, Due, Game, LetPass, Seat, Slap, Step, Turn, Wait
from engine.rules import STANDARD, Rules
from engine.table import deal

REACTION_MS = (600, 120)
TURN_MS = (900, 200)
QUICKEST_MS = 150
SEATS = (2, 3, 4)


def next_move(due: Due, rules: Rules, rng: random.Random) -> AnyMove:
    """Whatever comes first: a hand on the slap card that shows, or the turn that covers it (R6)."""
    hands_ms = {seat: max(QUICKEST_MS, rng.gauss(*REACTION_MS)) for seat in due.slappers}
    first = min(hands_ms, key=lambda seat: hands_ms[seat], default=None)
    if due.wait is Wait.LAST_HAND:
        return LetPass(nth=due.contest) if first is None else Slap(seat=first, nth=due.contest)
    if due.wait is Wait.LAST_CARD:
        return LetPass(nth=due.nth - 1)
    turn_ms = max(rules.min_show_ms, rng.gauss(*TURN_MS))
    if first is not None and hands_ms[first] < turn_ms:
        return Slap(seat=first, nth=due.contest)
    return Turn(seat=due.turners[0], nth=due.nth)


def cards_turned(rules: Rules, seats: int, rng: random.Random) -> int:
    """How many cards are turned in one game."""
    entropy = Entropy(rng.randbytes(ENTROPY_BYTES))
    game: Game = deal(rules, shuffled(full_deck(), entropy), seats, Seat(rng.randrange(seats)))
    while (due := game.due()).wait is not Wait.OVER:
        step = game.step(next_move(due, rules, rng), Entropy(rng.randbytes(ENTROPY_BYTES)))
        assert isinstance(step, Step), step
        game = step.game
    return due.nth - 1


def spread(games: Sequence[int]) -> str:
    """The figures of one line."""
    tenths = quantiles(games, n=10)
    return f"median={median(games):.0f} p90={tenths[-1]:.0f}"


def main() -> None:
    """Plays and prints."""
    options = argparse.ArgumentParser(prog="playouts", description="Play standard games and print their spread.")
    options.add_argument("games", nargs="?", type=int, default=600, help="how many games, a multiple of 3 from 6 on")
    options.add_argument("--seed", type=int, default=1, help="the luck of all games")
    chosen = options.parse_args()
    if chosen.games < 6 or chosen.games % len(SEATS):
        options.error("the number of games must be a multiple of 3, and 6 at least")
    everything: list[int] = []
    for seats in SEATS:
        rng = random.Random(f"{chosen.seed} {seats}")
        games = [cards_turned(STANDARD, seats, rng) for _ in range(chosen.games // len(SEATS))]
        everything += games
        print(f"{seats} seats: {len(games)} games, {min(games)} to {max(games)} cards turned, {spread(games)}")
    print(f"seed {chosen.seed}, {len(everything)} games, {min(everything)} to {max(everything)} cards turned")
    print(spread(everything))


if __name__ == "__main__":
    main()
