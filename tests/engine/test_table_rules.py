"""The switches of the table: what may be slapped, the call, the other hand, calm mode (R11, R13 to R15, R19)."""

import pytest

from engine.game import (
    CardTurned,
    CarriedOn,
    CarryOn,
    End,
    GameOver,
    LetPass,
    PileShared,
    PileTakenBack,
    PileWon,
    Reason,
    Seat,
    SeatBack,
    SeatOut,
    SeatWaiting,
    Side,
    SlapKind,
    Status,
    Turn,
    Wait,
    WrongSlap,
)
from engine.rules import Rules, WhichHand
from tests.engine.cardtable import CardTable, cards, position, seats

CALL = Rules(call=True)
WRONG_CALL = Rules(call=True, wrong_call=True)
OTHER_HAND = Rules(hand=WhichHand.OTHER)
CALM = Rules(calm=True)


@pytest.mark.parametrize(
    ("rules", "pile", "face", "slap"),
    [
        (Rules(), "", "JD", True),
        (Rules(), "", "QD", False),
        (Rules(queens=True), "", "QD", True),
        (Rules(), "5S0", "5D", False),
        (Rules(doubles=True), "5S0", "5D", True),
        (Rules(doubles=True), "5S0 6S1", "5D", False),
        (Rules(doubles=True), "", "5D", False),
        (Rules(sandwiches=True), "5S0 6S1", "5D", True),
        (Rules(sandwiches=True), "5S0", "5D", False),
        (Rules(sandwiches=True), "5S0 6S1 7S0", "5D", False),
        (Rules(doubles=True, sandwiches=True), "5S0 6S1", "6D", True),
    ],
)
def test_r11_what_may_be_slapped(rules: Rules, pile: str, face: str, slap: bool) -> None:
    table = CardTable(position(f"{face} 2S", "3S 4S", pile=pile, rules=rules, after=Seat(1)))
    table.turn()
    assert (table.due.contest != 0) is slap
    assert table.game.weigh(table.hand(1)) is (SlapKind.CONTEST if slap else SlapKind.WRONG)


def test_r11_a_card_under_the_pile_makes_no_double() -> None:
    table = CardTable(position("5D 2S", "3S 4S", under="5S", rules=Rules(doubles=True)))
    table.turn()
    assert table.due.contest == 0


def test_r13_an_uncalled_hand_on_a_slap_card_counts_for_nothing() -> None:
    table = CardTable(position("2S", "3S", pile="JS0", rules=CALL))
    assert table.game.weigh(table.hand(1)) is SlapKind.CONTEST
    assert table.refuses(table.hand(1)) == (Reason.NOT_CALLED, "R13")
    assert table.slap(1, called=True) == (PileWon(seat=Seat(1), nth=1, cards=1),)


def test_r7_r13_a_called_wrong_slap_without_the_wrong_call_pays_as_any_other() -> None:
    table = CardTable(position("2S 3S", "4S", pile="5S1", rules=CALL))
    assert table.slap(0, called=True) == (WrongSlap(seat=Seat(0), nth=1, paid=1, to=Seat(1)),)


def test_r14_an_uncalled_wrong_slap_pays_a_card() -> None:
    table = CardTable(position("2S 3S", "4S", pile="5S1", rules=WRONG_CALL))
    assert table.slap(0) == (WrongSlap(seat=Seat(0), nth=1, paid=1, to=Seat(1)),)


def test_r14_a_wrong_call_deals_the_pile_to_the_others_from_the_callers_left() -> None:
    table = CardTable(position("2S", "3S", "", "-", "4S", pile="5S0 6S1 7S0 8S4", under="9S", rules=WRONG_CALL))
    assert table.slap(1, called=True) == (
        PileShared(seat=Seat(1), nth=4, shares=(1, 0, 2, 0, 2)),
        SeatBack(seat=Seat(2)),
    )
    assert table.stacks == ("2S 6S", "3S", "9S 7S", "", "4S 5S 8S")
    assert table.is_due(Wait.TURN, [2])
    assert table.view.pile == 0


def test_r14a_a_wrong_call_on_a_covered_card_pays_one_card_and_leaves_the_pile_alone() -> None:
    table = CardTable(position("2S 6S", "3S", "4S", pile="5S1 JS2", rules=WRONG_CALL))
    assert table.slap(0, 1, called=True) == (WrongSlap(seat=Seat(0), nth=1, paid=1, to=Seat(1)),)
    assert table.counts == [1, 2, 1, 2]
    assert table.due.contest == 2
    assert table.is_due(Wait.TURN, [0])


def test_r8_r14_a_waiting_seat_that_calls_wrongly_is_out_and_the_pile_is_dealt_all_the_same() -> None:
    table = CardTable(position("", "3S", "4S", pile="5S1 6S2", rules=WRONG_CALL))
    assert table.slap(0, called=True) == (PileShared(seat=Seat(0), nth=2, shares=(0, 1, 1)), SeatOut(seat=Seat(0)))
    assert table.is_due(Wait.TURN, [1])


def test_r9_r14_a_wrong_call_may_end_the_game() -> None:
    table = CardTable(position("", "3S", pile="5S1 6S1", rules=WRONG_CALL))
    assert table.slap(0, called=True) == (
        PileShared(seat=Seat(0), nth=2, shares=(0, 2)),
        SeatOut(seat=Seat(0)),
        GameOver(winners=seats(1), end=End.LAST_SEAT),
    )


def test_r15_the_turner_slaps_with_the_other_hand() -> None:
    table = CardTable(position("JS 2S", "3S", rules=OTHER_HAND))
    table.turn(side=Side.LEFT)
    assert table.refuses(table.hand(0, side=Side.LEFT)) == (Reason.SAME_HAND, "R15")
    assert table.slap(0, side=Side.RIGHT)[0] == PileWon(seat=Seat(0), nth=1, cards=1)


def test_r15_the_same_hand_on_another_card_of_ones_own_costs_nothing() -> None:
    table = CardTable(position("2S 3S", "4S 5S", pile="6S0 7S1", side=Side.RIGHT, rules=OTHER_HAND))
    assert table.refuses(table.hand(0, 1, side=Side.RIGHT)) == (Reason.SAME_HAND, "R15")
    assert table.slap(0, side=Side.RIGHT)[0] == WrongSlap(seat=Seat(0), nth=2, paid=1, to=Seat(1))


@pytest.mark.parametrize(
    ("turned", "slapped"), [(Side.NONE, Side.NONE), (Side.LEFT, Side.NONE), (Side.NONE, Side.LEFT)]
)
def test_r15_an_unknown_hand_is_exempt(turned: Side, slapped: Side) -> None:
    table = CardTable(position("2S", "3S", pile="JS0", side=turned, rules=OTHER_HAND))
    assert table.game.weigh(table.hand(0, side=slapped)) is SlapKind.CONTEST


def test_r15_the_turner_slaps_with_the_same_hand() -> None:
    table = CardTable(position("JS 2S", "3S", rules=Rules(hand=WhichHand.SAME)))
    table.turn(side=Side.LEFT)
    assert table.refuses(table.hand(0, side=Side.RIGHT)) == (Reason.OTHER_HAND, "R15")
    assert table.game.weigh(table.hand(0)) is SlapKind.CONTEST
    assert table.slap(0, side=Side.LEFT)[0] == PileWon(seat=Seat(0), nth=1, cards=1)


def test_r15_who_turned_the_card_may_not_slap_it() -> None:
    table = CardTable(position("2S", "3S", "4S", pile="5S0 JS1", rules=Rules(hand=WhichHand.NOT_TURNER)))
    assert table.due.slappers == seats(0, 2)
    assert table.refuses(table.hand(1)) == (Reason.TURNER, "R15")
    assert table.refuses(table.hand(0, 1)) == (Reason.TURNER, "R15")
    assert table.slap(2)[0] == PileWon(seat=Seat(2), nth=2, cards=2)


def test_r15_r19_who_turned_the_card_lets_it_pass_all_the_same() -> None:
    rules = Rules(calm=True, hand=WhichHand.NOT_TURNER)
    table = CardTable(position("2S", "3S", pile="JS1", rules=rules))
    assert table.due.answers == seats(0, 1)
    assert table.due.slappers == seats(0)


def test_r15_without_the_switch_any_hand_will_do() -> None:
    table = CardTable(position("2S", "3S", pile="JS0", side=Side.LEFT))
    assert table.game.weigh(table.hand(0, side=Side.LEFT)) is SlapKind.CONTEST


def test_r19_the_game_stops_until_every_person_has_answered() -> None:
    table = CardTable(position("2S 5S", "3S", "", "-", rules=CALM, persons=(True, True, True, True)))
    table.turn()
    assert table.is_due(Wait.ANSWERS)
    assert table.due.answers == table.view.answers == seats(0, 1, 2)
    assert table.refuses(Turn(seat=Seat(1), nth=2)) == (Reason.TABLE_WAITS, "R19")
    assert table.carry_on(1) == (CarriedOn(seat=Seat(1), nth=1),)
    assert table.refuses(CarryOn(seat=Seat(1), nth=1)) == (Reason.NOTHING_TO_ANSWER, "R19")
    assert table.refuses(CarryOn(seat=Seat(0), nth=0)) == (Reason.NOTHING_TO_ANSWER, "R19")
    table.carry_on(0)
    assert table.due.answers == seats(2)
    table.carry_on(2)
    assert table.is_due(Wait.TURN, [1])


def test_r19_a_wrong_slap_is_an_answer_and_costs_nothing() -> None:
    table = CardTable(position("", "3S 4S", pile="5S1", rules=CALM))
    assert table.slap(0) == (WrongSlap(seat=Seat(0), nth=1, paid=0, to=None),)
    assert table.view.seats[0].status is Status.WAITING
    assert table.due.answers == seats(1)
    assert table.refuses(table.hand(0)) == (Reason.ALREADY_PAID, "R7c")


def test_r19_a_late_hand_on_a_covered_card_is_no_answer_to_the_top_one() -> None:
    table = CardTable(position("2S", "3S 4S", pile="5S1 6S0", rules=CALM))
    table.slap(0, 1)
    assert table.due.answers == seats(0, 1)


def test_r19_a_won_pile_leaves_nothing_to_answer() -> None:
    table = CardTable(position("2S", "3S 4S", pile="JS1", rules=CALM))
    assert table.due.slappers == seats(0, 1)
    table.slap(0)
    assert table.is_due(Wait.TURN, [1])


def test_r19_a_person_may_think_better_of_it() -> None:
    table = CardTable(position("2S", "3S 4S", pile="JS1", rules=CALM))
    table.carry_on(0)
    assert table.due.slappers == seats(1)
    assert table.slap(0)[0] == PileWon(seat=Seat(0), nth=1, cards=1)


def test_r19_a_computer_takes_only_what_every_person_let_pass() -> None:
    table = CardTable(position("2S", "3S", pile="JS1", rules=CALM, persons=(True, False)))
    assert table.due.slappers == seats(0)
    assert table.refuses(table.hand(1)) == (Reason.TABLE_WAITS, "R19")
    table.carry_on(0)
    assert table.is_due(Wait.TURN, [0])
    assert table.due.slappers == seats(1)
    assert table.slap(1)[0] == PileWon(seat=Seat(1), nth=1, cards=1)


def test_r19_the_pile_is_taken_back_only_after_the_answers() -> None:
    table = CardTable(position("", "2S", pile="5S0", rules=CALM, answered=seats(0, 1)))
    assert table.turn() == (CardTurned(seat=Seat(1), nth=2, face=cards("2S")[0]), SeatWaiting(seat=Seat(1)))
    assert table.is_due(Wait.ANSWERS)
    table.carry_on(0)
    assert table.carry_on(1) == (
        CarriedOn(seat=Seat(1), nth=2),
        PileTakenBack(seat=Seat(1), cards=2),
        SeatBack(seat=Seat(1)),
    )


def test_r19_cards_are_counted_only_after_the_answers() -> None:
    table = CardTable(position("2S", "3S 4S", pile="5S1", rules=Rules(calm=True, card_limit=1)))
    assert table.is_due(Wait.ANSWERS)
    table.slap(0)
    assert table.carry_on(1)[1:] == (GameOver(winners=seats(1), end=End.CARD_LIMIT),)


def test_r19_nobody_waits_for_a_hand_that_cannot_come() -> None:
    table = CardTable(position("", "", pile="5S0 JS1", rules=CALM))
    assert table.refuses(LetPass(nth=2)) == (Reason.NOTHING_TO_PASS, "R10")
    table.carry_on(0)
    assert table.carry_on(1)[1:] == (PileTakenBack(seat=Seat(1), cards=2), SeatBack(seat=Seat(1)))


def test_r10_r19_the_table_waits_for_a_computer_that_may_still_slap() -> None:
    table = CardTable(position("", "", pile="5S0 JS1", rules=CALM, persons=(True, False)))
    assert table.is_due(Wait.ANSWERS)
    table.carry_on(0)
    assert table.is_due(Wait.LAST_HAND)
    assert table.let_pass() == (PileTakenBack(seat=Seat(1), cards=2), SeatBack(seat=Seat(1)))


def test_r19_r25_a_person_who_leaves_need_not_answer() -> None:
    table = CardTable(position("2S", "3S", "4S", pile="5S2", rules=CALM))
    table.carry_on(1)
    table.carry_on(2)
    table.leave(0)
    assert table.is_due(Wait.TURN, [1])
