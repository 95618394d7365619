"""Every state that few seats can reach with a handful of cards: none is a dead end (R3, R8, R9, R10, R14, R19, R23).

Ranks are folded to what matters: a Jack, or one of a few ranks that can make doubles. Every shuffle is tried in every
order that differs in ranks. Card numbers are counted from the bottom of the pile, so that the states are finite.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import permutations
from math import factorial

import pytest
from msgspec.structs import replace

from engine.cards import ENTROPY_BYTES, Card, Entropy, shuffled
from engine.game import AnyMove, CarryOn, Leave, LetPass, Seat, Slap, SlapKind, Step, Turn, Wait
from engine.position import Landed
from engine.rules import GameName, Penalty, Rules, WonPile
from engine.seats import dealt
from engine.slapjack import Slapjack

Moves = Callable[[Slapjack, int], Iterator[AnyMove]]


@cache
def chances_for(pile: tuple[Card, ...]) -> tuple[Entropy, ...]:
    """One chance for every order of the ranks that a shuffle of these cards can give."""
    found: dict[tuple[Card, ...], Entropy] = {}
    for rng in range(factorial(len(pile))):
        entropy = Entropy(rng.to_bytes(ENTROPY_BYTES))
        found.setdefault(shuffled(pile, entropy), entropy)
    return tuple(found.values())


def outcomes(game: Slapjack, move: AnyMove) -> Iterator[Slapjack]:
    """Every game that a move can lead to."""
    pile = game.under + tuple(card.face for card in game.landed)
    if isinstance(move, Slap) and game.rules.won_pile is WonPile.SHUFFLE_IN:
        pile = game.stacks[move.seat] + pile
    if isinstance(move, Turn):
        pile += game.stacks[move.seat][:1]
    if isinstance(move, Leave):
        pile = game.stacks[move.seat] + pile
    for entropy in chances_for(pile):
        step = game.step(move, entropy)
        assert isinstance(step, Step), f"{step} to {move} in {game}"
        assert isinstance(step.game, Slapjack)
        yield step.game
        if step.game.landed or len(set(pile)) == 1:
            return  # nothing was shuffled, or nothing that makes a difference


def folded(game: Slapjack, depth: int) -> Slapjack:
    """The state without what can make no difference when no hand is meant for more than the top `depth` cards."""
    keep = len(game.landed) - max(1, depth)
    landed = tuple(
        Landed(face=card.face, seat=Seat(0), slap=False) if place < keep else card
        for place, card in enumerate(game.landed)
    )
    return replace(game, landed=landed, turned=len(landed))


def play(game: Slapjack, depth: int) -> Iterator[AnyMove]:
    """What the table waits for, every hand on a slap card, and every wrong one on the top `depth` cards."""
    due = game.due()
    for seat in due.turners:
        yield Turn(seat=seat, nth=due.nth)
    for seat in due.answers:
        yield CarryOn(seat=seat, nth=game.turned)
    if due.wait in (Wait.LAST_HAND, Wait.LAST_CARD):
        yield LetPass(nth=game.turned)
    for nth in range(game.turned - max(1, depth) + 1, game.turned + 1):
        for place in range(len(game.stacks)):
            slap = Slap(seat=Seat(place), nth=nth, called=game.rules.call)
            mark = game.weigh(slap)
            if mark is SlapKind.CONTEST or (mark is SlapKind.WRONG and depth):
                yield slap
            if mark is SlapKind.WRONG and depth and game.rules.wrong_call:
                yield replace(slap, called=False)


def play_and_leave(game: Slapjack, depth: int) -> Iterator[AnyMove]:
    """Play in which anybody may leave as well."""
    yield from play(game, depth)
    for seat, out in enumerate(game.out):
        if not out:
            yield Leave(seat=Seat(seat))


def deals(rules: Rules, ranks: str, seats: int) -> Iterator[Slapjack]:
    """Every deal of these ranks."""
    order = tuple(Seat(seat) for seat in range(seats))
    for deck in sorted(set(permutations(ranks))):
        stacks = dealt(tuple(Card(rank) for rank in deck), order, seats)
        yield Slapjack(
            rules=rules.in_force(),
            persons=(True,) + (False,) * (seats - 1),
            stacks=stacks,
            out=(False,) * seats,
            after=order[-1],
        )


def check(game: Slapjack, ranks: str) -> None:
    """One seat has the turn or the table waits for something that can come, and no card is lost."""
    due = game.due()
    places = [*(card for stack in game.stacks for card in stack), *game.under, *(card.face for card in game.landed)]
    assert sorted(places) == sorted(ranks)
    assert (due.wait is Wait.TURN) == (len(due.turners) == 1)
    assert (due.wait is Wait.ANSWERS) == (len(due.answers) > 0)
    assert due.wait is not Wait.LAST_HAND or due.contest == game.turned
    assert due.wait is not Wait.LAST_CARD or (due.contest == 0 and not any(game.stacks))
    assert (due.wait is Wait.OVER) == (game.end is not None)


def explore(rules: Rules, ranks: str, seats: int, moves: Moves, depth: int) -> None:
    """Walks through every state, then back from the ends: each state must have been reached."""
    fresh = list(deals(rules, ranks, seats))
    seen = set(fresh)
    before: dict[Slapjack, list[Slapjack]] = defaultdict(list)
    ends = []
    while fresh:
        game = fresh.pop()
        check(game, ranks)
        if game.end is not None:
            ends.append(game)
            continue
        for move in moves(game, depth):
            for after in outcomes(game, move):
                state = folded(after, depth)
                before[state].append(game)
                if state not in seen:
                    seen.add(state)
                    fresh.append(state)
    alive = set(ends)
    while ends:
        for game in before[ends.pop()]:
            if game not in alive:
                alive.add(game)
                ends.append(game)
    assert alive == seen, f"no way to an end from {next(iter(seen - alive))}"


DOUBLES = Rules(doubles=True, sandwiches=True)
DUEL = Rules(game=GameName.DUEL)


@pytest.mark.parametrize(
    ("rules", "ranks", "seats", "moves", "depth"),
    [
        *((Rules(), "J" * jacks + "2" * (size - jacks), 3, play, 1) for size in range(3, 7) for jacks in range(4)),
        (Rules(), "JJ22", 3, play, 3),
        (Rules(), "J222", 3, play, 4),
        (Rules(), "J222", 3, play_and_leave, 1),
        (Rules(penalty=Penalty.UNDER_PILE), "JJ222", 3, play, 1),
        (DOUBLES, "J223", 3, play, 1),
        (Rules(call=True, wrong_call=True), "JJ222", 3, play, 1),
        (Rules(calm=True), "JJ222", 3, play, 1),
        (DUEL, "JJ2233", 2, play, 0),
        (DUEL, "J223", 2, play, 2),
        (Rules(game=GameName.DUEL, call=True, wrong_call=True), "J223", 2, play, 1),
    ],
)
def test_no_state_is_a_dead_end(rules: Rules, ranks: str, seats: int, moves: Moves, depth: int) -> None:
    explore(rules, ranks, seats, moves, depth)
