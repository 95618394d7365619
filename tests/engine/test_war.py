"""War, the second game of the table (R21 to R23)."""

from itertools import pairwise

import pytest

from engine.cards import RANKS, Card, full_deck, shuffled
from engine.game import (
    BattleWon,
    CardTurned,
    CarryOn,
    End,
    EndNow,
    GameOver,
    Leave,
    LetPass,
    Reason,
    Seat,
    SeatOut,
    SeatReady,
    TimeUp,
    Turn,
    Wait,
    WarDeclared,
)
from engine.rules import GameName, Rules, WarCards
from engine.table import deal
from engine.war import War
from tests.engine.cardtable import ZERO, CardTable, cards, seats
from tests.engine.entropy import chances

WAR = Rules(game=GameName.WAR)


def war(one: str, two: str, rules: Rules = WAR) -> CardTable:
    """A war with these stacks."""
    return CardTable(War(rules=rules, stacks=(cards(one), cards(two)), first=Seat(0)))


def test_r21_26_cards_each_and_the_dealers_left_has_the_lower_number() -> None:
    table = CardTable(deal(WAR, full_deck(), 2, Seat(0)))
    assert table.counts == [26, 26, 0]
    assert table.is_due(Wait.TURN, [1, 0])
    assert table.view.game == "war"
    table.turn(0)
    assert table.turn(1)[0] == CardTurned(seat=Seat(1), nth=1, face=cards("AS")[0])


def test_r21_both_cards_show_at_once_however_early_one_was_turned() -> None:
    table = war("9S 2S", "5S 3S")
    assert table.due.nth == 1
    assert table.turn(1) == (SeatReady(seat=Seat(1)),)
    assert table.counts == [2, 2, 0]
    assert table.view.ready == seats(1)
    assert table.is_due(Wait.TURN, [0])
    assert table.due.nth == 1
    assert table.turn(0) == (
        CardTurned(seat=Seat(0), nth=1, face=cards("9S")[0]),
        CardTurned(seat=Seat(1), nth=2, face=cards("5S")[0]),
        BattleWon(seat=Seat(0), cards=2),
    )
    assert table.view.ready == ()
    assert table.stacks == (" ".join(cards("2S") + shuffled(cards("9S 5S"), ZERO)), "3S")
    assert table.due.nth == 3


def test_r21_the_ace_may_be_high() -> None:
    rules = Rules(game=GameName.WAR, ace_high=True)
    table = war("AS 2H", "KS 3H", rules)
    table.turn(0)
    assert table.turn(1)[-1] == BattleWon(seat=Seat(0), cards=2)
    table = war("2S 2H", "AS 3H", rules)
    table.turn(0)
    assert table.turn(1)[-1] == BattleWon(seat=Seat(1), cards=2)


@pytest.mark.parametrize(
    ("one", "two", "cards_won", "under"),
    [
        ("5S 2S 3S 4S 9S 6S", "5H 2H 3H 4H 8H 6H", 10, 6),
        ("5S 2S 9S", "5H 2H 3H 4H 8H 6H", 8, 4),
        ("5S 9S 6S 7S 9H 6S", "5H 8H", 7, 3),
    ],
)
def test_r22_r23_three_cards_face_down_as_far_as_they_go(one: str, two: str, cards_won: int, under: int) -> None:
    table = war(one, two, Rules(game=GameName.WAR, war_cards=WarCards.THREE))
    table.turn(0)
    assert table.turn(1)[-1] == WarDeclared(depth=1)
    table.turn(0)
    step = table.turn(1)
    assert next(event for event in step if isinstance(event, BattleWon)).cards == cards_won
    assert cards_won - 4 == under


def test_r21_king_high_to_ace_low() -> None:
    ranks = [Card(rank + "S") for rank in RANKS]
    for low, high in pairwise(ranks):
        table = war(f"{low} 2H", f"{high} 3H")
        table.turns(2)
        assert table.counts == [1, 3, 0]


def test_r21_turns_out_of_turn_are_refused() -> None:
    table = war("9S 2S", "5S 3S")
    table.turn(0)
    assert table.refuses(Turn(seat=Seat(0), nth=1)) == (Reason.NOT_YOUR_TURN, "R21")
    assert table.refuses(Turn(seat=Seat(1), nth=2)) == (Reason.OTHER_TURN, "R21")
    assert table.refuses(Turn(seat=Seat(2), nth=1)) == (Reason.NO_SUCH_SEAT, "R1")


def test_r21_there_is_nothing_to_slap_or_to_let_pass() -> None:
    table = war("JS 2S", "5S 3S")
    assert table.refuses(table.hand(0)) == (Reason.NO_SLAPS, "R21")
    assert table.refuses(table.hand(7)) == (Reason.NO_SUCH_SEAT, "R1")
    assert table.refuses(CarryOn(seat=Seat(0), nth=1)) == (Reason.NOTHING_TO_ANSWER, "R21")
    assert table.refuses(CarryOn(seat=Seat(-1), nth=1)) == (Reason.NO_SUCH_SEAT, "R1")
    assert table.refuses(LetPass(nth=1)) == (Reason.NOTHING_TO_PASS, "R21")
    assert table.due.contest == 0


def test_r22_equal_cards_are_a_war_of_six_cards() -> None:
    table = war("9S 2S KS 4S", "9H 3S QS 5S")
    table.turn(0)
    assert table.turn(1)[2:] == (WarDeclared(depth=1),)
    assert table.counts == [3, 3, 2]
    table.turn(0)
    assert table.turn(1) == (
        CardTurned(seat=Seat(0), nth=3, face=cards("KS")[0]),
        CardTurned(seat=Seat(1), nth=4, face=cards("QS")[0]),
        BattleWon(seat=Seat(0), cards=6),
    )
    assert table.counts == [7, 1, 0]


def test_r22_equal_again_is_a_double_war_of_ten_cards() -> None:
    table = war("9S 2S KS 4S AS 7S", "9H 3S KH 5S 2H 7D")
    table.turns(3)
    assert table.turn()[2:] == (WarDeclared(depth=2),)
    assert (table.view.pile, table.view.under) == (6, 2)
    assert [card.face for card in table.view.landed] == list(cards("9S 9H KS KH"))
    table.turn()
    assert table.turn()[2:] == (BattleWon(seat=Seat(1), cards=10),)
    assert table.counts == [1, 11, 0]
    assert (table.view.pile, table.view.under) == (0, 0)


def test_r22_the_next_battle_is_an_ordinary_one_again() -> None:
    table = war("9S 2S KS 4S AS", "9H 3S QS 5S 2H")
    table.turns(4)
    table.turn()
    assert table.turn()[2:] == (BattleWon(seat=Seat(1), cards=2),)


def test_r23_all_52_cards_win() -> None:
    table = war("9S 2S", "5S")
    table.turn()
    assert table.turn()[2:] == (
        BattleWon(seat=Seat(0), cards=2),
        SeatOut(seat=Seat(1)),
        GameOver(winners=seats(0), end=End.ALL_CARDS),
    )
    assert table.is_due(Wait.OVER)
    assert table.counts == [3, 0, 0]


def test_r22_the_last_two_cards_are_one_down_and_one_up() -> None:
    table = war("9S 2S KS", "9H 3S QS 5S")
    table.turns(3)
    assert table.turn()[2:] == (BattleWon(seat=Seat(0), cards=6),)


def test_r23_the_last_card_is_played_face_up_as_the_war_card() -> None:
    table = war("9S KS", "9H 3S QS 5S")
    table.turns(3)
    assert table.turn()[0] == CardTurned(seat=Seat(0), nth=3, face=cards("KS")[0])
    assert table.counts == [5, 1, 0]


def test_r23_no_card_left_for_a_war_loses() -> None:
    table = war("9S", "9H 3S")
    table.turn()
    assert table.turn()[2:] == (
        WarDeclared(depth=1),
        SeatOut(seat=Seat(0)),
        GameOver(winners=seats(1), end=End.NO_CARDS),
    )
    assert table.counts == [0, 3, 0]


def test_r23_both_without_a_card_for_a_war_share_the_win() -> None:
    table = war("9S", "9H")
    table.turn()
    assert table.turn()[2:] == (WarDeclared(depth=1), GameOver(winners=seats(0, 1), end=End.NO_CARDS))


def test_r23_no_deal_goes_round_for_ever() -> None:
    for number in range(40):
        rng = chances(f"war {number}")
        table = CardTable(deal(WAR, shuffled(full_deck(), next(rng)), 2, Seat(0)))
        while not table.is_due(Wait.OVER):
            table.turn(entropy=next(rng))
            assert table.view.turned < 10_000


def test_r12_r23_the_card_limit_counts_stacks_and_not_what_lies_between() -> None:
    table = war("9S 2S", "9H 3S 4S", Rules(game=GameName.WAR, card_limit=1))
    table.turn()
    assert table.turn()[2:] == (WarDeclared(depth=1), GameOver(winners=seats(1), end=End.CARD_LIMIT))
    assert table.counts == [1, 2, 2]


def test_r12_r23_the_card_limit_after_a_battle() -> None:
    table = war("9S 2S", "5H 3S 4S", Rules(game=GameName.WAR, card_limit=2))
    table.turn()
    assert table.turn()[2:] == (
        BattleWon(seat=Seat(0), cards=2),
        GameOver(winners=seats(0), end=End.CARD_LIMIT),
    )


def test_r12_r23_the_time_limit_and_the_host_count_at_once() -> None:
    table = war("9S 2S", "5H 3S", Rules(game=GameName.WAR, time_limit_min=5))
    table.turn()
    host = CardTable(table.game)
    assert host.move(EndNow()) == (GameOver(winners=seats(0, 1), end=End.HOST),)
    assert table.move(TimeUp()) == (GameOver(winners=seats(0, 1), end=End.TIME_LIMIT),)
    assert table.view.ready == ()


def test_r12_without_a_time_limit_no_time_is_up() -> None:
    assert war("9S", "5H").refuses(TimeUp()) == (Reason.NO_LIMIT, "R12")


@pytest.mark.parametrize("leaver", [0, 1])
def test_r9_r25_who_leaves_loses(leaver: int) -> None:
    table = war("9S 2S", "9H 3S")
    table.turns(2)
    assert table.leave(leaver) == (
        SeatOut(seat=Seat(leaver)),
        GameOver(winners=seats(1 - leaver), end=End.LAST_SEAT),
    )
    assert table.counts[1 - leaver] == 4
    for move in (Turn(seat=Seat(0), nth=3), table.hand(0), Leave(seat=Seat(0)), EndNow()):
        assert table.refuses(move) == (Reason.GAME_OVER, "R9")
