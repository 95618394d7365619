"""What players are told of the rules: whatever decides a slap or a turn, and nothing that is off."""

from engine.rules import PRESETS, STANDARD, Rules, WarCards, WhichHand
from engine.told import STATEMENTS, told_under

MET = {"R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R13", "R13a", "R14", "R15", "R18", "R19"}
MET |= {"R20", "R21", "R22", "R23"}


def test_every_rule_that_a_player_meets_in_a_game_is_told() -> None:
    assert {rule for statement in STATEMENTS.values() for rule in statement.rules} >= MET


def test_every_statement_holds_under_some_rules_and_each_game_tells_its_own() -> None:
    tables = [preset.rules for preset in PRESETS.values()]
    tables += [Rules(say_jack=True), Rules(hand=WhichHand.SAME), Rules(hand=WhichHand.NOT_TURNER)]
    tables += [Rules(game=PRESETS["war"].rules.game, ace_high=True, war_cards=WarCards.THREE)]
    assert set(STATEMENTS) == {name for rules in tables for name in told_under(rules)}
    assert told_under(PRESETS["war"].rules) == ("king", "war_one", "war_end")
    assert {"doubles", "sandwiches", "duel"} <= set(told_under(PRESETS["duel"].rules))
    assert not {"queens", "doubles", "sandwiches", "pays_pile", "calm"} & set(told_under(STANDARD))
