"""What somebody may ask of the table just now, beside playing. Pure."""

from clients.terminal.seen import Seen
from clients.terminal.words import inert
from engine.rules import PRESETS
from wire.messages import (
    AddComputer,
    Claim,
    EndGame,
    GiveSeat,
    HoldDeal,
    Kind,
    Lock,
    Message,
    Pause,
    Quit,
    Remove,
    SetRules,
    SetTable,
    Sit,
    Stage,
    Start,
)

COMPUTERS = {"a sleepy": 900, "a steady": 600, "a quick": 400}
FIRST_TO = {0: "Play without an end", 3: "First to 3 wins is champion", 5: "First to 5 wins is champion"}


def choices(seen: Seen, name: str, face: str) -> list[tuple[str, Message]]:
    """Each thing in words, and the message that asks for it; `name` and `face` are for taking a seat."""
    table, seat = seen.table, seen.seat
    if table is None:
        return []
    told: list[tuple[str, Message]] = []
    if seat is None:
        told.append(("Take a seat", Sit(name=name, face=face)))
    if seat is not None and seat.host:
        told += _hosts(seen)
    elif seat is None or seat.place is None:
        told += [
            (f"I have lost my key: {inert(each.name, 20)} is my seat", Claim(each.id))
            for each in seen.seats
            if each.away and each.kind is Kind.PERSON and each.id != seen.me
        ]
    if seat is not None:
        told.append(("Leave the table for good: your cards go under the pile, your wins stay", Quit()))
    return told


def _hosts(seen: Seen) -> list[tuple[str, Message]]:
    table = seen.table
    assert table is not None
    told: list[tuple[str, Message]] = []
    for each in seen.seats:
        if each.claimed:
            told.append((f"Let the one who says so have {inert(each.name, 20)}'s seat", GiveSeat(each.id, True)))
            told.append((f"Keep {inert(each.name, 20)}'s seat", GiveSeat(each.id, False)))
    if table.stage is Stage.PLAYING:
        told.append(("Go on with the game", Pause(False)) if table.paused else ("Pause the game", Pause(True)))
        told.append(("End the game now and count the cards", EndGame()))
    else:
        told.append(("Start the game", Start()))
        told += [
            (f"Add {what} computer player, {reaction_ms} ms", AddComputer(reaction_ms=reaction_ms))
            for what, reaction_ms in COMPUTERS.items()
        ]
        told += [
            (f"Play {preset.name}: {preset.sentence}", SetRules(preset.rules))
            for preset in PRESETS.values()
            if preset.rules != table.rules
        ]
        told += [
            (what, SetTable(first_to=wins, ranked=table.ranked))
            for wins, what in FIRST_TO.items()
            if wins != table.first_to
        ]
    if table.stage is Stage.BREAK:
        told.append(
            ("Let the next deal come", HoldDeal(False)) if table.held else ("Hold the next deal", HoldDeal(True))
        )
    told.append(("Open the table to newcomers", Lock(False)) if table.locked else ("Lock the table", Lock(True)))
    told += [
        (
            f"Remove {'the computer ' if each.kind is Kind.COMPUTER else ''}{inert(each.name, 20)}",
            Remove(each.id, if_away=each.away),
        )
        for each in seen.seats
        if each.id != seen.me
    ]
    return told
