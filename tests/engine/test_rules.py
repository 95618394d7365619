"""What may be chosen together, the presets and the sentences of the lobby."""

import msgspec
import pytest

from engine.rules import (
    PRESETS,
    STANDARD,
    SWITCHES,
    Conflict,
    GameName,
    JudgeOf,
    Penalty,
    Rules,
    RulesError,
    WonPile,
)


@pytest.mark.parametrize(
    ("rules", "rule", "says"),
    [
        (Rules(wrong_call=True), "R14", "needs the call"),
        (Rules(say_jack=True, call=True), "R13a", "off: call."),
        (Rules(say_jack=True, call=True, wrong_call=True), "R13a", "off: call, wrong call."),
        (Rules(say_jack=True, other_hand=True), "R13a", "off: other hand."),
        (Rules(calm=True, call=True), "R19", "off: call."),
        (Rules(calm=True, call=True, wrong_call=True), "R19", "off: call, wrong call."),
        (Rules(calm=True, time_limit_min=5), "R19", "off: time limit."),
        (Rules(game=GameName.DUEL, queens=True), "R20", "as it is: queens."),
        (Rules(game=GameName.DUEL, won_pile=WonPile.UNDER), "R20", "as it is: won pile."),
        (Rules(game=GameName.DUEL, penalty=Penalty.UNDER_PILE), "R20", "as it is: penalty."),
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
        Rules(calm=True, card_limit=100, other_hand=True),
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
        "calm": msgspec.structs.replace(little_kids, calm=True),
        "house_party": Rules(queens=True, doubles=True, sandwiches=True, card_limit=300, judge=JudgeOf.TABLE),
        "shout": Rules(call=True, wrong_call=True, other_hand=True),
        "duel": Rules(game=GameName.DUEL, doubles=True, sandwiches=True, won_pile=WonPile.SHUFFLE_IN),
        "war": Rules(game=GameName.WAR),
    }
    assert all(preset.rules.conflicts() == () for preset in PRESETS.values())
    assert PRESETS["standard"].ask_at_cards == 300
    assert PRESETS["little_kids"].reaction_ms == PRESETS["calm"].reaction_ms == 900


def test_r1_how_many_seats_each_game_has() -> None:
    assert STANDARD.seats() == range(2, 11)
    assert Rules(game=GameName.DUEL).seats() == Rules(game=GameName.WAR).seats() == range(2, 3)
    assert all(STANDARD.seat_conflicts(seats) == () for seats in range(2, 11))


def test_an_error_says_every_reason() -> None:
    error = RulesError((Conflict("R1", "Too few."), Conflict("R14", "No call.")))
    assert str(error) == "R1: Too few. R14: No call."


@pytest.mark.parametrize("wrong", [{"card_limit": -1}, {"min_show_ms": 299}, {"time_limit_min": 241}, {"jokers": True}])
def test_impossible_numbers_do_not_decode(wrong: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, Rules)
