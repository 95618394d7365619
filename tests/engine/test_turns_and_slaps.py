"""Turning, slapping and paying in the standard game (R3 to R8)."""

import pytest

from engine.cards import shuffled
from engine.game import (
    CardTurned,
    CarryOn,
    End,
    GameOver,
    LetPass,
    PileWon,
    Reason,
    Seat,
    SeatBack,
    SeatOut,
    SeatWaiting,
    Slap,
    SlapKind,
    Status,
    TimeUp,
    Turn,
    Wait,
    WrongSlap,
)
from engine.rules import Penalty, Rules, WonPile
from tests.engine.cardtable import ZERO, CardTable, cards, position, seats

UNDER_PILE = Rules(penalty=Penalty.UNDER_PILE)


def test_r3_turning_goes_clockwise_from_the_dealers_left() -> None:
    table = CardTable(position("2S 3S", "4S 5S", "6S 7S", after=Seat(1)))
    assert table.is_due(Wait.TURN, [2])
    assert table.turn() == (CardTurned(seat=Seat(2), nth=1, face=cards("6S")[0]),)
    assert table.is_due(Wait.TURN, [0])
    table.turns(2)
    assert table.is_due(Wait.TURN, [2])
    assert table.due.nth == 4


def test_r3_seats_without_cards_are_skipped() -> None:
    table = CardTable(position("2S 3S", "", "-", "6S 7S", after=Seat(0)))
    assert table.is_due(Wait.TURN, [3])
    table.turn()
    assert table.is_due(Wait.TURN, [0])


def test_r3_r3a_a_turn_out_of_turn_is_refused_and_costs_nothing() -> None:
    table = CardTable(position("2S 3S", "4S 5S", "-", pile="6S0"))
    before = table.game
    assert table.refuses(Turn(seat=Seat(0), nth=2)) == (Reason.NOT_YOUR_TURN, "R3")
    assert table.refuses(Turn(seat=Seat(1), nth=1)) == (Reason.OTHER_TURN, "R3a")
    assert table.refuses(Turn(seat=Seat(1), nth=3)) == (Reason.OTHER_TURN, "R3a")
    assert table.refuses(Turn(seat=Seat(2), nth=2)) == (Reason.SEAT_OUT, "R8")
    assert table.refuses(Turn(seat=Seat(3), nth=2)) == (Reason.NO_SUCH_SEAT, "R1")
    assert table.refuses(Turn(seat=Seat(-1), nth=2)) == (Reason.NO_SUCH_SEAT, "R1")
    assert table.game == before


def test_r4_r5_the_first_hand_wins_the_pile_and_the_seat_at_its_left_turns() -> None:
    table = CardTable(position("2S", "3S", "4S", pile="5S1 JS0", under="6S"))
    assert table.due.contest == 2
    assert table.due.slappers == seats(0, 1, 2)
    assert table.slap(1) == (PileWon(seat=Seat(1), nth=2, cards=3),)
    assert table.counts == [1, 4, 1, 0]
    assert table.due.contest == 0
    assert table.is_due(Wait.TURN, [2])
    assert table.due.nth == 3


@pytest.mark.parametrize(
    ("won_pile", "stack"),
    [
        (WonPile.SHUFFLE_UNDER, cards("2S 3S") + shuffled(cards("6S 5S JS"), ZERO)),
        (WonPile.UNDER, cards("2S 3S 6S 5S JS")),
        (WonPile.SHUFFLE_IN, shuffled(cards("2S 3S 6S 5S JS"), ZERO)),
    ],
)
def test_r4_how_the_pile_goes_to_its_winner(won_pile: WonPile, stack: tuple[str, ...]) -> None:
    table = CardTable(position("2S 3S", "4S", pile="5S1 JS0", under="6S", rules=Rules(won_pile=won_pile)))
    table.slap(0)
    assert table.stacks == (" ".join(stack), "4S")


def test_r5_a_winner_without_neighbours_in_play_is_followed_by_the_next_that_is() -> None:
    table = CardTable(position("2S", "-", "3S", "4S", pile="JS3"))
    table.slap(0)
    assert table.is_due(Wait.TURN, [2])


def test_r6_r7f_a_covered_slap_card_is_safe_and_costs_nothing() -> None:
    table = CardTable(position("2S 3S", "4S 5S", pile="JS1"))
    table.turn()
    assert table.due.contest == 0
    assert table.refuses(table.hand(0, 1)) == (Reason.COVERED, "R7f")
    table.turn()
    assert table.refuses(table.hand(1, 1)) == (Reason.COVERED, "R7f")


def test_r7_a_wrong_slap_pays_under_the_turners_stack() -> None:
    table = CardTable(position("2S 3S", "4S 5S", "6S 7S", pile="8S1"))
    assert table.game.weigh(table.hand(0)) is SlapKind.WRONG
    assert table.slap(0) == (WrongSlap(seat=Seat(0), nth=1, paid=1, to=Seat(1)),)
    assert table.stacks == ("3S", "4S 5S 2S", "6S 7S")
    assert table.is_due(Wait.TURN, [2])


def test_r7_under_pile_a_wrong_slap_pays_under_the_pile() -> None:
    table = CardTable(position("2S 3S", "4S 5S", pile="8S1", under="6S", rules=UNDER_PILE))
    assert table.slap(0) == (WrongSlap(seat=Seat(0), nth=1, paid=1, to=None),)
    assert table.view.under == 2
    assert table.counts == [1, 2, 3]


def test_r7_the_penalty_is_won_with_the_pile_and_never_landed() -> None:
    table = CardTable(position("2S 3S JS", "4S 5S", pile="8S1", rules=UNDER_PILE))
    table.slap(0)
    table.turns(3)
    assert [card.face for card in table.view.landed] == list(cards("8S 3S 4S JS"))
    assert table.slap(1)[0] == PileWon(seat=Seat(1), nth=4, cards=5)


def test_r7a_the_turner_of_the_card_pays_under_the_pile() -> None:
    table = CardTable(position("2S 3S", "4S 5S", pile="8S0"))
    assert table.slap(0) == (WrongSlap(seat=Seat(0), nth=1, paid=1, to=None),)
    assert table.view.under == 1


def test_r7b_a_turner_who_is_out_receives_nothing() -> None:
    table = CardTable(position("2S 3S", "-", "4S 5S", pile="8S1"))
    assert table.slap(0) == (WrongSlap(seat=Seat(0), nth=1, paid=1, to=None),)


def test_r7b_a_waiting_turner_receives_the_card_and_is_in_play_again() -> None:
    table = CardTable(position("2S 3S", "", "4S 5S", pile="8S1"))
    assert table.slap(0) == (WrongSlap(seat=Seat(0), nth=1, paid=1, to=Seat(1)), SeatBack(seat=Seat(1)))
    assert table.view.seats[1].status is Status.IN_PLAY


def test_r7c_a_seat_pays_once_for_a_card() -> None:
    table = CardTable(position("2S 3S 4S 9S", "5S 6S 7S", pile="8S1"))
    table.slap(0)
    assert table.refuses(table.hand(0)) == (Reason.ALREADY_PAID, "R7c")
    table.slap(1)
    table.turn()
    assert table.refuses(table.hand(0, 1)) == (Reason.ALREADY_PAID, "R7c")
    assert table.slap(0) == (WrongSlap(seat=Seat(0), nth=2, paid=1, to=None),)


def test_r7d_nothing_on_the_table_is_nothing_to_slap() -> None:
    table = CardTable(position("2S 3S", "4S 5S"))
    assert table.refuses(table.hand(0)) == (Reason.NOTHING_TO_SLAP, "R7d")
    assert table.refuses(table.hand(0, 1)) == (Reason.NO_SUCH_CARD, "R7f")
    assert table.refuses(table.hand(0, -1)) == (Reason.NO_SUCH_CARD, "R7f")


def test_r7e_r7f_the_second_hand_on_a_slap_card_costs_nothing() -> None:
    table = CardTable(position("2S 3S", "4S 5S", pile="JS1"))
    table.slap(0)
    assert table.refuses(table.hand(1, 1)) == (Reason.PILE_GONE, "R7f")
    table.turn()
    assert table.refuses(table.hand(1, 1)) == (Reason.PILE_GONE, "R7f")


def test_r7f_a_hand_is_judged_against_the_card_it_was_meant_for() -> None:
    table = CardTable(position("2S 3S", "4S JS", pile="8S1 9S0"))
    assert table.slap(1, 1) == (WrongSlap(seat=Seat(1), nth=1, paid=1, to=None),)
    table.turn()
    assert table.due.contest == 3
    assert table.slap(0, 2) == (WrongSlap(seat=Seat(0), nth=2, paid=1, to=None),)
    assert table.due.contest == 3


def test_r7_hands_of_seats_that_are_out_or_not_there_do_not_count() -> None:
    table = CardTable(position("2S 3S", "-", "4S", pile="JS0"))
    assert table.due.slappers == seats(0, 2)
    assert table.refuses(table.hand(1)) == (Reason.SEAT_OUT, "R8")
    assert table.refuses(table.hand(3)) == (Reason.NO_SUCH_SEAT, "R1")


def test_r8_an_empty_stack_waits_without_turns_and_may_slap() -> None:
    table = CardTable(position("2S", "3S 4S", "JS 5S", after=Seat(2)))
    assert table.turn()[1:] == (SeatWaiting(seat=Seat(0)),)
    table.turns(2)
    assert table.is_due(Wait.TURN, [1])
    assert table.due.slappers == seats(0, 1, 2)
    assert table.slap(0) == (PileWon(seat=Seat(0), nth=3, cards=3), SeatBack(seat=Seat(0)))
    assert table.counts == [3, 1, 1, 0]


def test_r8_a_waiting_seat_is_out_when_another_wins() -> None:
    table = CardTable(position("", "3S 4S", "5S 6S", pile="2S0 JS1"))
    assert table.slap(2) == (PileWon(seat=Seat(2), nth=2, cards=2), SeatOut(seat=Seat(0)))
    assert table.view.seats[0].status is Status.OUT


def test_r8_a_slap_card_that_nobody_wins_spends_no_chance() -> None:
    table = CardTable(position("", "3S 4S", "5S 6S", pile="2S0 JS1"))
    table.turn()
    assert table.view.seats[0].status is Status.WAITING


def test_r8_a_wrong_slap_puts_a_waiting_seat_out() -> None:
    table = CardTable(position("", "3S 4S", "5S 6S", pile="2S0"))
    assert table.slap(0) == (WrongSlap(seat=Seat(0), nth=1, paid=0, to=None), SeatOut(seat=Seat(0)))


def test_r8_a_wrong_slap_may_pay_the_last_card() -> None:
    table = CardTable(position("2S", "3S 4S", "5S 6S", pile="7S2"))
    assert table.is_due(Wait.TURN, [0])
    assert table.slap(0) == (WrongSlap(seat=Seat(0), nth=1, paid=1, to=Seat(2)), SeatWaiting(seat=Seat(0)))
    assert table.is_due(Wait.TURN, [1])


def test_r8a_a_slap_card_turned_as_the_last_card_is_the_chance_too() -> None:
    table = CardTable(position("JS", "3S 4S", "5S 6S"))
    table.turn()
    assert table.slap(1) == (PileWon(seat=Seat(1), nth=1, cards=1), SeatOut(seat=Seat(0)))


def test_r8a_the_turner_may_win_it() -> None:
    table = CardTable(position("JS", "3S 4S", "5S 6S"))
    table.turn()
    assert table.slap(0) == (PileWon(seat=Seat(0), nth=1, cards=1), SeatBack(seat=Seat(0)))


def test_r8_r9_the_last_rival_put_out_by_a_won_pile_ends_the_game() -> None:
    table = CardTable(position("", "3S 4S", "-", pile="2S0 JS1"))
    assert table.slap(1) == (
        PileWon(seat=Seat(1), nth=2, cards=2),
        SeatOut(seat=Seat(0)),
        GameOver(winners=seats(1), end=End.LAST_SEAT),
    )
    assert table.counts == [0, 4, 0, 0]


def test_r16_a_soft_slap_counts_as_much_as_a_hard_one() -> None:
    assert Slap.__struct_fields__ == ("seat", "nth", "called", "side"), "a hand has no force"


def test_moves_that_answer_nothing_are_refused() -> None:
    table = CardTable(position("2S 3S", "4S 5S", "-", pile="JS1"))
    assert table.refuses(CarryOn(seat=Seat(0), nth=1)) == (Reason.NOTHING_TO_ANSWER, "R19")
    assert table.refuses(CarryOn(seat=Seat(2), nth=1)) == (Reason.SEAT_OUT, "R8")
    assert table.refuses(LetPass(nth=1)) == (Reason.NOTHING_TO_PASS, "R10")
    assert table.refuses(TimeUp()) == (Reason.NO_LIMIT, "R12")
