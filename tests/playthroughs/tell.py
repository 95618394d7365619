"""Whole games told as text: what every seat and every spectator saw, move by move.

    python -m tests.playthroughs.tell --write

writes one file for each preset beside this one; without `--write` it prints them. A test compares the files with the
games as they are played now.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import assert_never

from engine.cards import Entropy, full_deck, shuffled
from engine.game import (
    AnyEvent,
    AnyMove,
    BattleWon,
    CardTurned,
    CarriedOn,
    CarryOn,
    EliminationBegan,
    EliminationEnded,
    EndNow,
    Game,
    GameOver,
    GameView,
    Leave,
    LetPass,
    PileShared,
    PileTakenBack,
    PileWon,
    Refusal,
    Seat,
    SeatBack,
    SeatOut,
    SeatReady,
    SeatWaiting,
    Slap,
    Status,
    TimeUp,
    Turn,
    Wait,
    WarDeclared,
    WrongSlap,
)
from engine.rules import PRESETS, Preset
from engine.table import deal
from tests.engine.entropy import chances, sensible_move

FOLDER = Path(__file__).parent
TELLING = {
    "standard": 254,
    "little_kids": 208,
    "calm": 313,
    "house_party": 264,
    "shout": 382,
    "duel": 223,
    "war": 267,
}
"""Which of many games is told: one that is short and has what its rules are about."""

OPENING = 12
"""So many moves are told in full; after that only those that are more than a turn, and the turn before them."""

SEATS = {"house_party": 4, "duel": 2, "war": 2}
"""Three where nothing else is said. The last seat is a computer player, where there are more than two."""

WIDTHS = (18, 8, 18, 28, 0)
"""Of the columns."""

QUIET = (CardTurned, CarriedOn, SeatReady, BattleWon)
"""Of these alone nothing needs to be told."""


def told(name: str, preset: Preset) -> str:
    """A game of a preset from the deal to the end, without the moves in which little happened."""
    game, rng = dealt(name, preset)
    seats = len(game.view().seats)
    return "\n".join(
        [
            f"{preset.name}. {preset.sentence}",
            f"{seats} seats, seat 0 dealt.{f' Seat {seats - 1} is a computer player.' if seats > 2 else ''}",
            f"Seats 0 to {seats - 1} and everybody who watched saw this, the same for all; what is in brackets",
            "was told to one seat alone. * waits, x is out, (n) lie face down under the pile.",
            "",
            columns("stacks", "pile", "on the pile", "the table waits for", "what happened"),
            line("The cards are dealt.", game.view()),
            *shortened(list(played(game, rng))),
            "",
        ]
    )


def dealt(name: str, preset: Preset) -> tuple[Game, Iterator[Entropy]]:
    """The first state of the game that is told, and the luck for the rest of it."""
    seats = SEATS.get(name, 3)
    rng = chances(f"playthrough {name} {TELLING[name]}")
    persons = tuple(seats == 2 or seat < seats - 1 for seat in range(seats))
    return deal(preset.rules, shuffled(full_deck(), next(rng)), seats, Seat(0), persons), rng


def shortened(lines: list[tuple[str, bool]]) -> Iterator[str]:
    """The lines without those in which little happened."""
    skipped = 0
    for place, (text, quiet) in enumerate(lines):
        if place >= OPENING and quiet and lines[place + 1][1]:
            skipped += 1
            continue
        if skipped:
            yield f"   … {skipped} {'move' if skipped == 1 else 'moves'} later …"
        skipped = 0
        yield text


def played(game: Game, rng: Iterator[Entropy]) -> Iterator[tuple[str, bool]]:
    """A line for every move until the game is over, and whether little happened by it."""
    for entropy in rng:
        if game.due().wait is Wait.OVER:
            return
        move = sensible_move(game, entropy)
        step = game.step(move, entropy)
        if isinstance(step, Refusal):
            yield line(f"({intent(move)} is refused: {step.reason.value}, {step.rule})", game.view()), False
        else:
            game = step.game
            quiet = all(isinstance(event, QUIET) for event in step.events)
            yield line(" ".join(sentence(event) for event in step.events), game.view()), quiet


def line(happened: str, view: GameView) -> str:
    """What happened, after what it has led to."""
    marks = {Status.IN_PLAY: "", Status.WAITING: "*", Status.OUT: "x"}
    stacks = " ".join(f"{seat.cards}{marks[seat.status]}" for seat in view.seats)
    pile = f"{view.pile} ({view.under})" if view.under else f"{view.pile}"
    landed = " ".join(card.face for card in view.landed)
    return columns(stacks, pile, landed, awaited(view), happened)


def columns(*texts: str) -> str:
    """One line of the table."""
    return "".join(text.ljust(width) for text, width in zip(texts, WIDTHS, strict=True))


def awaited(view: GameView) -> str:
    """What the table waits for."""
    match view.wait:
        case Wait.TURN:
            return f"{listed(view.turners)} to turn"
        case Wait.ANSWERS:
            return f"{listed(view.answers)} to answer"
        case Wait.LAST_HAND:
            return "a last hand"
        case Wait.LAST_CARD:
            return "the last card to be seen"
        case Wait.OVER:
            return "nothing more"
        case _:
            assert_never(view.wait)


def listed(seats: tuple[Seat, ...]) -> str:
    """Seats in words."""
    return f"{'seat' if len(seats) == 1 else 'seats'} {', '.join(map(str, seats))}"


def counted(cards: int) -> str:
    """A number of cards in words."""
    return f"{cards} card{'' if cards == 1 else 's'}"


def intent(move: AnyMove) -> str:
    """A move in words."""
    match move:
        case Turn():
            return f"seat {move.seat} turning card {move.nth}"
        case Slap():
            return f"seat {move.seat} slapping card {move.nth}"
        case CarryOn():
            return f"seat {move.seat} letting card {move.nth} pass"
        case LetPass() | TimeUp() | EndNow():
            return "going on"
        case Leave():
            return f"seat {move.seat} leaving"
        case _:
            assert_never(move)


def sentence(event: AnyEvent) -> str:
    """An event in words."""
    match event:
        case CardTurned():
            return f"Seat {event.seat} turns {event.face}, card {event.nth}."
        case SeatReady():
            return f"Seat {event.seat} has turned."
        case PileWon():
            return f"Seat {event.seat} slaps card {event.nth} and wins {counted(event.cards)}."
        case WrongSlap():
            where = "under the pile" if event.to is None else f"to seat {event.to}"
            price = f"pays a card {where}" if event.paid else "pays nothing"
            return f"Seat {event.seat} slaps card {event.nth} wrongly and {price}."
        case PileShared():
            return f"Seat {event.seat} calls card {event.nth} wrongly, the pile goes {event.shares} to the seats."
        case PileTakenBack():
            return f"Seat {event.seat} takes back {counted(event.cards)}."
        case SeatWaiting():
            return f"Seat {event.seat} has no cards and waits."
        case SeatBack():
            return f"Seat {event.seat} is back."
        case SeatOut():
            return f"Seat {event.seat} is out."
        case EliminationBegan():
            return f"An elimination round begins for seat {event.empty}."
        case EliminationEnded():
            return "The elimination round is over."
        case WarDeclared():
            return "War!" if event.depth == 1 else f"War again, {event.depth} in a row!"
        case BattleWon():
            return f"Seat {event.seat} takes {counted(event.cards)}."
        case CarriedOn():
            return f"Seat {event.seat} lets card {event.nth} pass."
        case GameOver():
            return f"The game is over: {listed(event.winners)} won ({event.end.value})."
        case _:
            assert_never(event)


def main() -> None:
    """Writes or prints every game."""
    options = argparse.ArgumentParser(prog="tell", description="Tell a whole game of every preset.")
    options.add_argument("--write", action="store_true", help="write the files that the test compares")
    chosen = options.parse_args()
    for name, preset in PRESETS.items():
        if chosen.write:
            (FOLDER / f"{name}.txt").write_text(told(name, preset), encoding="utf-8")
        else:
            print(told(name, preset))


if __name__ == "__main__":
    main()
