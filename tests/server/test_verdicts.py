"""Verdicts told again: right ones stand, and whatever was changed afterwards is found."""

import re
from collections.abc import Callable

import msgspec
import pytest

from engine.game import Seat
from engine.rules import JudgeOf, Rules
from server.table.journal import AnyEntry, Dealt, Judged, Moved, read_entry, write_entry
from server.table.verdicts import findings
from tests.server.world import Table
from wire.messages import AddComputer, Point, RankedSlap, Verdict


def contested() -> list[bytes]:
    """The journal of a game with one contested Jack."""
    table = Table("Anna", "Ben", "Cleo")
    table.start(first="JS 4H")
    table.turn_cards(1)
    table.after(1, 300)
    assert table["Anna"].slap() is None
    table.after(1, 340)
    assert table["Ben"].slap() is None
    table.later(1_000)
    assert table.verdicts
    return table.journal


def told(journal: list[bytes]) -> list[str]:
    """All lines, none of which is about something wrong."""
    found = list(findings(journal))
    assert all(finding.good for finding in found), found
    return [finding.text for finding in found]


def test_a_contested_jack_is_told_in_words() -> None:
    head, verdict = told(contested())
    assert head == "Game 1, slapjack: Anna, Ben, Cleo"
    assert verdict.startswith("  Card 1, JS: Anna first, ")
    assert "; Ben " in verdict
    assert verdict.endswith(". OK")


def test_whole_games_of_computers_stand_verdict_by_verdict() -> None:
    table = Table("Anna")
    table.command(*(AddComputer(reaction_ms=ms, spread_ms=200, slip_percent=1) for ms in (350, 400, 450)))
    table.start()
    journal: list[bytes] = []
    while len(table.verdicts) < 8:
        table.later(1_000)
        table["Anna"].turn()  # or she would count as away, and the table stand still
        # The world keeps the journal of the last game alone.
        journal = max(journal, list(table.journal), key=len)
    stands = [line for line in told(journal)[1:] if line.endswith("OK")]
    assert stands == told(journal)[1:]
    assert len(stands) > 3


@pytest.mark.parametrize(
    "rules", [Rules(call=True), Rules(say_jack=True), Rules(judge=JudgeOf.TABLE), Rules(doubles=True, sandwiches=True)]
)
def test_every_way_to_judge_stands(rules: Rules) -> None:
    table = Table("Anna", "Ben", "Cleo", rules=rules)
    watching = table.joins("Dora", watch=True)
    table.start(first="JS 4H")
    table.turn_cards(1)
    for name, ms in (("Anna", 300), ("Ben", 303)):
        table.after(1, ms)
        table[name].slap()
        table[name].call()
    table.later(1_000)
    if rules.judge is JudgeOf.TABLE:
        assert watching.question is not None
        second = watching.question.seats[1]
        assert watching.say(Point(watching.question.id, second)) is None
    table.later(2_000)
    assert table.verdicts
    assert told(table.journal)[1].endswith("OK")


def changed(journal: list[bytes], change: Callable[[AnyEntry], AnyEntry]) -> list[bytes]:
    """The journal with a change to each of its entries, and right check sums."""
    return [write_entry(change(read_entry(kept))) for kept in journal]


def with_verdict(change: Callable[[Verdict], Verdict]) -> Callable[[AnyEntry], AnyEntry]:
    def judged(entry: AnyEntry) -> AnyEntry:
        return Judged(change(entry.verdict), entry.evidence) if isinstance(entry, Judged) else entry

    return judged


def quicker(hand: RankedSlap) -> RankedSlap:
    return msgspec.structs.replace(hand, accepted_us=hand.accepted_us - 1)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (
            with_verdict(lambda v: msgspec.structs.replace(v, hands=(quicker(v.hands[0]), *v.hands[1:]))),
            r"DIFFERS: Anna weighs \d+\.\d ms .*; the margin is another",
        ),
        (
            with_verdict(lambda v: msgspec.structs.replace(v, winner=v.hands[1].seat)),
            "it goes to another than the first",
        ),
        (
            with_verdict(lambda v: msgspec.structs.replace(v, hands=v.hands[::-1], winner=v.hands[1].seat)),
            "a later hand stands before an earlier one",
        ),
        (with_verdict(lambda v: msgspec.structs.replace(v, margin_us=1)), "the margin is another"),
        (with_verdict(lambda v: msgspec.structs.replace(v, hands=())), "no hand counts"),
        (
            lambda entry: Judged(entry.verdict, entry.evidence[:1]) if isinstance(entry, Judged) else entry,
            "is judged without evidence",
        ),
        (
            lambda entry: (
                Judged(
                    entry.verdict,
                    tuple(msgspec.structs.replace(e, claimed_us=(e.claimed_us or 0) + 900) for e in entry.evidence),
                )
                if isinstance(entry, Judged)
                else entry
            ),
            "DIFFERS: Anna weighs",
        ),
    ],
)
def test_whatever_was_changed_is_found(change: Callable[[AnyEntry], AnyEntry], wrong: str) -> None:
    found = list(findings(changed(contested(), change)))
    bad = [finding.text for finding in found if not finding.good]
    assert len(bad) == 1
    assert re.search(wrong, bad[0]), bad


def test_a_bad_entry_is_named_and_the_next_game_is_told_all_the_same() -> None:
    journal = contested()
    lines = list(findings([journal[0], journal[1][:-1] + b"?", *journal[2:], *journal]))
    assert [line.good for line in lines].count(False) == 1
    assert next(line.text for line in lines if not line.good).startswith(f"Entry 2 of {2 * len(journal)} is bad: ")
    assert lines[-1].text.endswith("OK")


def test_a_move_that_the_rules_refuse_is_named() -> None:
    journal = contested()
    moves = [nth for nth, kept in enumerate(journal) if isinstance(read_entry(kept), Moved)]
    lines = list(findings([*journal[: moves[0] + 1], journal[moves[0]], *journal[moves[0] + 1 :]]))
    assert any("a move that the rules refuse" in line.text for line in lines if not line.good)


def test_a_deal_that_cannot_be_is_named() -> None:
    def doubled(entry: AnyEntry) -> AnyEntry:
        return msgspec.structs.replace(entry, deck=entry.deck[3:] + " JS JS") if isinstance(entry, Dealt) else entry

    lines = list(findings(changed(contested(), doubled)))
    assert "game 1 cannot be dealt" in lines[0].text


def all_called(name: str) -> list[str]:
    """What is told of a journal in which everybody has that name."""

    def named(entry: AnyEntry) -> AnyEntry:
        if not isinstance(entry, Dealt):
            return entry
        return msgspec.structs.replace(
            entry, seats=tuple(msgspec.structs.replace(seat, name=name) for seat in entry.seats)
        )

    return told(changed(contested(), named))


def test_a_name_does_not_paint_on_a_terminal() -> None:
    lines = all_called("\x1b[2JEve\n")
    assert all(line.isprintable() for line in lines)
    assert "?[2JEve?" in lines[0]


def test_an_emoji_of_several_stays_one() -> None:
    assert "👨\u200d👩\u200d👧" in all_called("👨\u200d👩\u200d👧")[0]


def test_a_verdict_whose_deal_is_gone_is_still_derived_again() -> None:
    journal = contested()
    judged = [kept for kept in journal if isinstance(read_entry(kept), Judged)]
    (line,) = told(judged)
    assert line.startswith(f"  Card 1: seat {Seat(0)} first, ")


def test_no_journal_tells_nothing() -> None:
    assert told([]) == []
