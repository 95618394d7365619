"""Duel: two seats and the elimination round (R20)."""

import pytest
from msgspec.structs import replace

from engine.cards import full_deck
from engine.game import (
    CardTurned,
    EliminationBegan,
    EliminationEnded,
    End,
    GameOver,
    PileShared,
    PileTakenBack,
    PileWon,
    Reason,
    Seat,
    SeatBack,
    SeatOut,
    SeatWaiting,
    Turn,
    Wait,
    WrongSlap,
)
from engine.rules import GameName, Rules
from engine.table import deal
from tests.engine.cardtable import CardTable, cards, position, seats

DUEL = Rules(game=GameName.DUEL)
WRONG_CALL = Rules(game=GameName.DUEL, call=True, wrong_call=True)


def duel(*stacks: str, pile: str = "", rules: Rules = DUEL, after: int | None = None) -> CardTable:
    """A duel in the middle."""
    game = position(*stacks, pile=pile, rules=rules)
    return CardTable(game if after is None else replace(game, after=Seat(after)))


def test_r20_duel_is_dealt_with_its_own_rules() -> None:
    table = CardTable(deal(DUEL, full_deck(), 2, Seat(0)))
    assert table.view.game == "duel"
    assert table.counts == [26, 26, 0]
    assert table.view.empty is None


def test_r20_a_wrong_slap_pays_the_other_player_whoever_turned_the_card() -> None:
    table = duel("2S 3S", "4S 5S", pile="6S0")
    assert table.slap(0) == (WrongSlap(seat=Seat(0), nth=1, paid=1, to=Seat(1)),)
    assert table.slap(1) == (WrongSlap(seat=Seat(1), nth=1, paid=1, to=Seat(0)),)
    assert table.stacks == ("3S 4S", "5S 2S")


def test_r20_a_stack_that_runs_empty_begins_an_elimination_round() -> None:
    table = duel("2S", "3S 4S")
    assert table.turn() == (
        CardTurned(seat=Seat(0), nth=1, face=cards("2S")[0]),
        SeatWaiting(seat=Seat(0)),
        EliminationBegan(empty=Seat(0)),
    )
    assert table.view.empty == 0
    assert table.is_due(Wait.TURN, [1])
    table.turn()
    assert table.is_due(Wait.TURN, [1])


def test_r20_a_double_made_by_the_last_card_does_not_count() -> None:
    table = duel("2S", "3S 4S", pile="2D1", after=1)
    table.turn()
    assert table.due.contest == 0
    assert table.slap(1)[0] == WrongSlap(seat=Seat(1), nth=2, paid=1, to=Seat(0))


@pytest.mark.parametrize("stack", ["2S 5S", "3S 5S"])
def test_r20_doubles_and_sandwiches_do_not_count_in_the_round(stack: str) -> None:
    table = duel("", stack, pile="3D1 2D0")
    table.turn()
    assert table.due.contest == 0


def test_r20_a_jack_as_the_last_card_counts() -> None:
    table = duel("JS", "3S 4S")
    table.turn()
    assert table.due.contest == 1
    assert table.slap(0) == (PileWon(seat=Seat(0), nth=1, cards=1), SeatBack(seat=Seat(0)), EliminationEnded())
    assert table.is_due(Wait.TURN, [0])


def test_r7f_r20_a_double_stays_a_slap_card_when_a_late_penalty_empties_a_stack() -> None:
    table = duel("2S", "3S 4S", pile="9S0 5S1 5D0!")
    assert table.slap(0, 1)[1:] == (SeatWaiting(seat=Seat(0)), EliminationBegan(empty=Seat(0)))
    assert table.due.contest == 3
    assert table.slap(0)[0] == PileWon(seat=Seat(0), nth=3, cards=3)


def test_r20a_the_empty_seat_loses_by_a_wrong_slap() -> None:
    table = duel("", "3S 4S", pile="5S0")
    assert table.slap(0) == (
        WrongSlap(seat=Seat(0), nth=1, paid=0, to=None),
        SeatOut(seat=Seat(0)),
        GameOver(winners=seats(1), end=End.DUEL_SLAP),
    )
    assert table.counts == [0, 3, 0]
    assert table.view.empty is None


def test_r20b_r20d_a_wrong_slap_of_the_other_seat_brings_the_normal_game_back() -> None:
    table = duel("", "3S 5D 4S", pile="5S0")
    table.turn()
    assert table.slap(1) == (
        WrongSlap(seat=Seat(1), nth=2, paid=1, to=Seat(0)),
        SeatBack(seat=Seat(0)),
        EliminationEnded(),
    )
    assert table.stacks == ("5D", "4S")
    assert table.is_due(Wait.TURN, [0])
    assert table.turn()[1:] == (SeatWaiting(seat=Seat(0)), EliminationBegan(empty=Seat(0)))


def test_r20d_landed_cards_count_again_from_the_next_turn() -> None:
    table = duel("", "3S 5D 6S 4S", pile="5S0")
    table.turn()
    table.slap(1, 1)
    table.slap(1, 2)
    assert table.stacks == ("5D 6S", "4S")
    table.turn()
    assert table.due.contest == 3, "5S 3S 5D is a sandwich"


def test_r20b_its_only_card_swaps_the_two() -> None:
    table = duel("", "3S", pile="5S0")
    assert table.slap(1) == (
        WrongSlap(seat=Seat(1), nth=1, paid=1, to=Seat(0)),
        SeatBack(seat=Seat(0)),
        SeatWaiting(seat=Seat(1)),
        EliminationBegan(empty=Seat(1)),
    )
    assert table.is_due(Wait.TURN, [0])


def test_r20_a_penalty_may_begin_the_round() -> None:
    table = duel("2S", "3S", pile="5S1")
    assert table.slap(0)[1:] == (SeatWaiting(seat=Seat(0)), EliminationBegan(empty=Seat(0)))
    assert table.is_due(Wait.TURN, [1])


def test_r20c_the_seat_with_the_cards_wins_by_a_jack() -> None:
    table = duel("", "JS 4S", pile="5S0")
    table.turn()
    assert table.slap(1) == (
        PileWon(seat=Seat(1), nth=2, cards=2),
        SeatOut(seat=Seat(0)),
        GameOver(winners=seats(1), end=End.DUEL_SLAP),
    )


def test_r20c_the_empty_seat_takes_the_pile_by_a_jack_and_turns_next() -> None:
    table = duel("", "JS 4S", pile="5S0")
    table.turn()
    assert table.slap(0) == (PileWon(seat=Seat(0), nth=2, cards=2), SeatBack(seat=Seat(0)), EliminationEnded())
    assert table.is_due(Wait.TURN, [0])
    table.turn()
    assert table.is_due(Wait.TURN, [1])


def test_r20e_all_cards_turned_without_a_hand_make_another_round() -> None:
    table = duel("", "4S", pile="5S0")
    assert table.turn()[1:] == (SeatWaiting(seat=Seat(1)),)
    assert table.is_due(Wait.LAST_CARD)
    assert table.let_pass() == (
        PileTakenBack(seat=Seat(1), cards=2),
        SeatBack(seat=Seat(1)),
        EliminationBegan(empty=Seat(0)),
    )
    assert table.counts == [0, 2, 0]
    assert table.is_due(Wait.TURN, [1])


def test_r20e_a_jack_as_the_very_last_card_is_waited_for() -> None:
    table = duel("", "JS", pile="5S0")
    assert table.turn()[1:] == (SeatWaiting(seat=Seat(1)),)
    assert table.is_due(Wait.LAST_HAND)
    assert table.view.empty == 0
    assert table.refuses(Turn(seat=Seat(1), nth=3)) == (Reason.TABLE_WAITS, "R10")
    assert table.let_pass() == (
        PileTakenBack(seat=Seat(1), cards=2),
        SeatBack(seat=Seat(1)),
        EliminationBegan(empty=Seat(0)),
    )


@pytest.mark.parametrize("loser", [0, 1])
def test_r10_r20a_a_wrong_slap_on_the_last_card_loses_as_elsewhere(loser: int) -> None:
    table = duel("", "4S", pile="5S0")
    table.turn()
    assert table.slap(loser)[-1] == GameOver(winners=seats(1 - loser), end=End.DUEL_SLAP)


@pytest.mark.parametrize("winner", [0, 1])
def test_r20f_whoever_slaps_the_very_last_jack_wins(winner: int) -> None:
    table = duel("", "JS", pile="5S0")
    table.turn()
    assert table.slap(winner)[-1] == GameOver(winners=seats(winner), end=End.DUEL_SLAP)
    assert table.counts[winner] == 2


@pytest.mark.parametrize("loser", [0, 1])
def test_r20f_whoever_slaps_wrongly_on_the_very_last_jack_loses(loser: int) -> None:
    table = duel("", "JS", pile="5S0")
    table.turn()
    assert table.slap(loser, 1)[-1] == GameOver(winners=seats(1 - loser), end=End.DUEL_SLAP)


def test_r9_r20_who_leaves_loses_the_duel() -> None:
    table = duel("", "3S 4S", pile="5S0")
    assert table.leave(1)[-1] == GameOver(winners=seats(0), end=End.LAST_SEAT)


def test_r14_r20_a_wrong_call_deals_the_pile_to_the_other_seat() -> None:
    table = duel("", "3S 4S", pile="5S0", rules=WRONG_CALL)
    assert table.slap(1, called=True) == (
        PileShared(seat=Seat(1), nth=1, shares=(1, 0)),
        SeatBack(seat=Seat(0)),
        EliminationEnded(),
    )
    assert table.is_due(Wait.TURN, [0])


def test_r14_r20a_a_wrong_call_by_the_empty_seat_loses() -> None:
    table = duel("", "3S 4S", pile="5S0", rules=WRONG_CALL)
    assert table.slap(0, called=True)[-1] == GameOver(winners=seats(1), end=End.DUEL_SLAP)


def test_r12_r20_a_duel_may_be_counted_in_the_middle_of_a_round() -> None:
    table = duel("", "3S 4S", pile="5S0", rules=Rules(game=GameName.DUEL, card_limit=2))
    assert table.turn()[1:] == (GameOver(winners=seats(1), end=End.CARD_LIMIT),)


def test_r19_r20_calm_makes_a_wrong_slap_free_in_the_round_as_well() -> None:
    table = duel("", "3S 4S", pile="5S0", rules=Rules(game=GameName.DUEL, calm=True))
    assert table.slap(0) == (WrongSlap(seat=Seat(0), nth=1, paid=0, to=None),)
    assert table.view.empty == 0
