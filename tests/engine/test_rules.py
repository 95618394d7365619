"""What may be chosen together, the presets and the sentences of the lobby."""

from typing import Any

import msgspec
import pytest

from engine.cards import full_deck
from engine.game import Seat
from engine.rules import (
    PRESETS,
    RULE_OF,
    STANDARD,
    SWITCHES,
    Conflict,
    GameName,
    JudgeOf,
    Penalty,
    Rules,
    RulesError,
    WhichHand,
    WonPile,
)
from engine.table import deal


@pytest.mark.parametrize(
    ("rules", "rule", "says"),
    [
        (Rules(wrong_call=True), "R14", "needs the call"),
        (Rules(say_jack=True, call=True), "R13a", "off: call."),
        (Rules(say_jack=True, call=True, wrong_call=True), "R13a", "off: call, wrong call."),
        (Rules(say_jack=True, hand=WhichHand.OTHER), "R13a", "off: hand."),
        (Rules(calm=True, call=True), "R19", "off: call."),
        (Rules(calm=True, call=True, wrong_call=True), "R19", "off: call, wrong call."),
        (Rules(calm=True, time_limit_min=5), "R19", "off: time limit."),
        (Rules(game=GameName.DUEL, queens=True), "R20", "as it is: queens."),
        (Rules(game=GameName.DUEL, won_pile=WonPile.UNDER), "R20", "as it is: won pile."),
        (Rules(game=GameName.DUEL, penalty=Penalty.UNDER_PILE), "R20", "as it is: penalty."),
        (Rules(game=GameName.DUEL, hand=WhichHand.NOT_TURNER), "R20", "free to slap"),
        (Rules(game=GameName.WAR, doubles=True, call=True), "R21", "off: doubles, call."),
        (Rules(game=GameName.WAR, judge=JudgeOf.TABLE), "R21", "off: judge."),
        (Rules(game=GameName.WAR, calm=True), "R21", "off: calm."),
    ],
)
def test_what_excludes_what_names_its_rule(rules: Rules, rule: str, says: str) -> None:
    (conflict,) = rules.conflicts()
    assert conflict.rule == rule
    assert says in conflict.sentence


def test_every_conflict_is_named_at_once() -> None:
    rules = Rules(say_jack=True, wrong_call=True, calm=True, time_limit_min=5)
    assert [conflict.rule for conflict in rules.conflicts()] == ["R14", "R13a", "R19"]


@pytest.mark.parametrize(
    "rules",
    [
        STANDARD,
        Rules(queens=True, doubles=True, sandwiches=True),
        Rules(say_jack=True, time_limit_min=5),
        Rules(calm=True, card_limit=100, hand=WhichHand.OTHER),
        Rules(game=GameName.DUEL),
        Rules(game=GameName.DUEL).in_force(),
        Rules(game=GameName.DUEL, call=True, wrong_call=True),
        Rules(game=GameName.WAR, card_limit=100, time_limit_min=5, min_show_ms=1500, plain_names=True),
    ],
)
def test_what_goes_together(rules: Rules) -> None:
    assert rules.conflicts() == ()


def test_r20_duel_puts_its_own_rules_in_force() -> None:
    rules = Rules(game=GameName.DUEL, card_limit=70).in_force()
    assert (rules.queens, rules.doubles, rules.sandwiches) == (False, True, True)
    assert (rules.won_pile, rules.penalty) == (WonPile.SHUFFLE_IN, Penalty.TO_TURNER)
    assert rules.card_limit == 70
    assert STANDARD.in_force() == STANDARD


def test_every_switch_has_one_sentence() -> None:
    assert list(SWITCHES) == [field.name for field in msgspec.structs.fields(Rules)]
    assert all(sentence.endswith(".") for sentence in SWITCHES.values())


def test_the_presets_are_those_of_the_rule_book() -> None:
    little_kids = Rules(
        queens=True,
        min_show_ms=1500,
        penalty=Penalty.UNDER_PILE,
        show_jacks=True,
        plain_names=True,
        reactions=False,
    )
    assert {name: preset.rules for name, preset in PRESETS.items()} == {
        "standard": Rules(),
        "little_kids": little_kids,
        "calm": msgspec.structs.replace(little_kids, calm=True, slap_moment_ms=0),
        "house_party": Rules(queens=True, doubles=True, sandwiches=True, card_limit=300, judge=JudgeOf.TABLE),
        "shout": Rules(call=True, wrong_call=True, hand=WhichHand.OTHER),
        "duel": Rules(game=GameName.DUEL, doubles=True, sandwiches=True, won_pile=WonPile.SHUFFLE_IN),
        "war": Rules(game=GameName.WAR, slap_moment_ms=0),
    }
    assert all(preset.rules.conflicts() == () for preset in PRESETS.values())
    assert PRESETS["little_kids"].reaction_ms == PRESETS["calm"].reaction_ms == 900


def test_r1_how_many_seats_each_game_has() -> None:
    assert STANDARD.seats() == range(2, 11)
    assert Rules(game=GameName.DUEL).seats() == Rules(game=GameName.WAR).seats() == range(2, 3)
    assert all(STANDARD.seat_conflicts(seats) == () for seats in range(2, 11))


def test_an_error_says_every_reason() -> None:
    error = RulesError((Conflict("R1", "Too few."), Conflict("R14", "No call.")))
    assert str(error) == "R1: Too few. R14: No call."


OUT_OF_RANGE: list[tuple[dict[str, Any], str]] = [
    ({"card_limit": -1}, "R12"),
    ({"min_show_ms": 299}, "R3a"),
    ({"slap_moment_ms": 1501}, "R3b"),
    ({"time_limit_min": 241}, "R12"),
    ({"time_limit_min": True}, "R12"),
    ({"queens": 1}, "R11"),
    ({"war_cards": 3}, "R22"),
    ({"game": "poker"}, "R1"),
]


@pytest.mark.parametrize(("wrong", "rule"), [*OUT_OF_RANGE, ({"jokers": True}, "")])
def test_impossible_choices_do_not_decode(wrong: dict[str, Any], rule: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, Rules)


@pytest.mark.parametrize(("wrong", "rule"), OUT_OF_RANGE)
def test_the_engine_itself_refuses_impossible_choices(wrong: dict[str, Any], rule: str) -> None:
    with pytest.raises(RulesError) as error:
        deal(Rules(**wrong), full_deck(), 2, Seat(0))
    assert [conflict.rule for conflict in error.value.conflicts] == [rule]


def test_every_switch_is_a_choice_of_some_rule() -> None:
    assert list(RULE_OF) == list(SWITCHES)


def test_r12_the_end_by_count_is_offered_at_300_cards_and_at_each_100_after_in_every_game_without_a_limit() -> None:
    offers = [STANDARD.offered_at(turned) for turned in (0, 299, 300, 301, 399, 400, 1234)]
    assert offers == [0, 0, 300, 300, 300, 400, 1200]
    assert {preset.rules.offered_at(400) for preset in PRESETS.values() if not preset.rules.card_limit} == {400}
    assert Rules(queens=True, min_show_ms=1000, judge=JudgeOf.TABLE).offered_at(300) == 300
    assert Rules(card_limit=500).offered_at(400) == Rules(time_limit_min=20).offered_at(400) == 0


def test_r3b_there_is_no_slap_moment_where_nobody_hurries_or_slaps() -> None:
    assert STANDARD.in_force().slap_moment_ms == 900
    assert Rules(game=GameName.DUEL).in_force().slap_moment_ms == 900
    assert Rules(calm=True).in_force().slap_moment_ms == 0
    assert Rules(game=GameName.WAR).in_force().slap_moment_ms == 0
