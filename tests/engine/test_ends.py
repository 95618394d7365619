"""How a game ends or goes on when nobody can turn (R9, R10, R12, R25)."""

from engine.game import (
    CardTurned,
    CarriedOn,
    End,
    EndNow,
    GameOver,
    Leave,
    LetPass,
    PileTakenBack,
    PileWon,
    Reason,
    Seat,
    SeatBack,
    SeatOut,
    SeatWaiting,
    TimeUp,
    Turn,
    Wait,
    WrongSlap,
)
from engine.rules import MOST_CARDS, Rules
from tests.engine.cardtable import CardTable, cards, position, seats

LIMIT_2 = Rules(card_limit=2)
TIMED = Rules(time_limit_min=10)


def test_r9_every_move_after_the_end_is_refused() -> None:
    table = CardTable(position("2S", "3S"))
    table.move(EndNow())
    assert table.is_due(Wait.OVER)
    for move in (Turn(seat=Seat(0), nth=1), table.hand(0), LetPass(nth=0), TimeUp(), EndNow(), Leave(seat=Seat(0))):
        assert table.refuses(move) == (Reason.GAME_OVER, "R9")


def test_r9_a_wrong_slap_that_leaves_one_seat_ends_the_game_and_all_cards_are_its_own() -> None:
    table = CardTable(position("", "3S 4S", pile="2S0", under="5S"))
    assert table.slap(0)[1:] == (SeatOut(seat=Seat(0)), GameOver(winners=seats(1), end=End.LAST_SEAT))
    assert table.counts == [0, 4, 0]


def test_r10_with_all_cards_turned_the_last_turner_takes_the_pile_back_and_turns() -> None:
    table = CardTable(position("", "", "3S", pile="2S0 4S1"))
    assert table.turn() == (
        CardTurned(seat=Seat(2), nth=3, face=cards("3S")[0]),
        SeatWaiting(seat=Seat(2)),
    )
    assert table.is_due(Wait.LAST_CARD)
    assert table.refuses(Turn(seat=Seat(2), nth=4)) == (Reason.TABLE_WAITS, "R10")
    wrong = CardTable(table.game)
    assert wrong.slap(0) == (WrongSlap(seat=Seat(0), nth=3, paid=0, to=None), SeatOut(seat=Seat(0)))
    assert wrong.is_due(Wait.LAST_CARD)
    assert table.let_pass() == (PileTakenBack(seat=Seat(2), cards=3), SeatBack(seat=Seat(2)))
    assert table.counts == [0, 0, 3, 0]
    assert table.is_due(Wait.TURN, [2])
    table.turn()
    assert table.is_due(Wait.TURN, [2])


def test_r10_the_waiting_seats_keep_their_chance() -> None:
    table = CardTable(position("", "JS", pile="2S0"))
    table.turn()
    table.let_pass()
    assert table.stacks == ("", "JS 2S")
    table.turn()
    assert table.slap(0) == (PileWon(seat=Seat(0), nth=3, cards=1), SeatBack(seat=Seat(0)))


def test_r10_a_slap_card_that_shows_is_waited_for() -> None:
    table = CardTable(position("", "JS", pile="2S0"))
    assert table.turn()[1:] == (SeatWaiting(seat=Seat(1)),)
    assert table.is_due(Wait.LAST_HAND)
    assert table.due.slappers == seats(0, 1)
    assert table.refuses(Turn(seat=Seat(1), nth=3)) == (Reason.TABLE_WAITS, "R10")
    assert table.refuses(LetPass(nth=1)) == (Reason.NOTHING_TO_PASS, "R10")
    assert table.let_pass() == (PileTakenBack(seat=Seat(1), cards=2), SeatBack(seat=Seat(1)))
    assert table.is_due(Wait.TURN, [1])


def test_r8a_r10_the_card_that_is_waited_for_may_be_won() -> None:
    table = CardTable(position("", "", "JS", pile="2S0 3S1"))
    table.turn()
    assert table.slap(1) == (
        PileWon(seat=Seat(1), nth=3, cards=3),
        SeatOut(seat=Seat(0)),
        SeatBack(seat=Seat(1)),
        SeatOut(seat=Seat(2)),
        GameOver(winners=seats(1), end=End.LAST_SEAT),
    )


def test_r10_a_card_paid_while_the_table_waits_lets_the_game_go_on() -> None:
    """A late hand on a covered card gives its waiting turner a card, so somebody can turn again."""
    table = CardTable(position("", "", "JS 9S", pile="2S0 3S1"))
    table.turn()
    table.slap(2, 1)
    assert table.is_due(Wait.TURN, [0])
    assert table.due.contest == 3


def test_r10_the_last_card_paid_under_the_pile_makes_it_be_taken_back() -> None:
    table = CardTable(position("", "2S", pile="3S0 4S1"))
    assert table.slap(1) == (
        WrongSlap(seat=Seat(1), nth=2, paid=1, to=None),
        SeatWaiting(seat=Seat(1)),
    )
    assert table.is_due(Wait.LAST_CARD)
    assert table.let_pass() == (PileTakenBack(seat=Seat(1), cards=3), SeatBack(seat=Seat(1)))


def test_r10_r25_a_turner_who_has_left_is_followed_by_the_next_seat() -> None:
    table = CardTable(position("", "", "JS", "", pile="2S0"))
    table.turn()
    table.leave(2)
    assert table.is_due(Wait.LAST_HAND)
    assert table.let_pass() == (PileTakenBack(seat=Seat(3), cards=2), SeatBack(seat=Seat(3)))
    assert table.is_due(Wait.TURN, [3])


def test_r10_r25_when_the_only_seat_with_cards_leaves_the_next_takes_the_pile() -> None:
    table = CardTable(position("", "", "2S 3S", after=Seat(2)))
    assert table.leave(2) == (
        PileTakenBack(seat=Seat(0), cards=2),
        SeatBack(seat=Seat(0)),
        SeatOut(seat=Seat(2)),
    )


def test_r12_most_cards_win_at_the_card_limit() -> None:
    table = CardTable(position("2S 3S", "4S 5S 6S", "-", rules=LIMIT_2))
    table.turn()
    assert table.turn()[1:] == (GameOver(winners=seats(1), end=End.CARD_LIMIT),)
    assert table.counts == [1, 2, 0, 2]
    assert table.view.winners == seats(1)
    assert table.view.end is End.CARD_LIMIT


def test_r12_without_a_limit_the_ten_thousandth_card_is_the_last() -> None:
    table = CardTable(position("2S 3S", "4S 5S 6S", turned=MOST_CARDS - 2))
    assert table.turn()[1:] == ()
    assert table.turn()[1:] == (GameOver(winners=seats(1), end=End.CARD_LIMIT),)


def test_r12_equal_counts_share_the_win() -> None:
    table = CardTable(position("2S 3S", "4S 5S", rules=LIMIT_2))
    table.turn()
    assert table.turn()[1:] == (GameOver(winners=seats(0, 1), end=End.CARD_LIMIT),)


def test_r12_the_slap_window_of_the_last_card_counts() -> None:
    table = CardTable(position("2S 3S", "JS 5S 6S", rules=LIMIT_2))
    table.turns(2)
    assert table.is_due(Wait.LAST_HAND)
    assert table.refuses(Turn(seat=Seat(0), nth=3)) == (Reason.TABLE_WAITS, "R12")
    assert table.slap(0) == (PileWon(seat=Seat(0), nth=2, cards=2), GameOver(winners=seats(0), end=End.CARD_LIMIT))


def test_r12_a_last_card_that_is_let_pass_counts_for_nobody() -> None:
    table = CardTable(position("2S 3S", "JS 5S 6S", rules=LIMIT_2))
    table.turns(2)
    assert table.let_pass() == (GameOver(winners=seats(1), end=End.CARD_LIMIT),)
    assert table.counts == [1, 2, 2]


def test_r9_r12_a_last_card_may_leave_one_seat() -> None:
    table = CardTable(position("2S", "JS 5S", rules=LIMIT_2))
    table.turns(2)
    assert table.slap(1)[1:] == (SeatOut(seat=Seat(0)), GameOver(winners=seats(1), end=End.LAST_SEAT))


def test_r10_r12_the_count_comes_before_the_pile_is_taken_back() -> None:
    table = CardTable(position("2S", "3S", "-", rules=LIMIT_2))
    table.turn()
    assert table.turn()[1:] == (SeatWaiting(seat=Seat(1)), GameOver(winners=seats(0, 1), end=End.CARD_LIMIT))


def test_r12_the_time_limit_ends_the_game_at_once_where_no_slap_card_shows() -> None:
    table = CardTable(position("2S 3S", "4S", pile="5S1", rules=TIMED))
    assert table.move(TimeUp()) == (GameOver(winners=seats(0), end=End.TIME_LIMIT),)


def test_r12_the_time_limit_waits_for_the_slap_card_that_shows() -> None:
    table = CardTable(position("2S 3S", "4S", pile="JS1", rules=TIMED))
    assert table.move(TimeUp()) == ()
    assert table.is_due(Wait.LAST_HAND)
    assert table.refuses(TimeUp()) == (Reason.NO_LIMIT, "R12")
    assert table.refuses(Turn(seat=Seat(0), nth=2)) == (Reason.TABLE_WAITS, "R12")
    won = CardTable(table.game)
    assert won.slap(1)[1:] == (GameOver(winners=seats(0, 1), end=End.TIME_LIMIT),)
    assert table.let_pass() == (GameOver(winners=seats(0), end=End.TIME_LIMIT),)


def test_r12_the_host_ends_and_counts_at_any_moment() -> None:
    table = CardTable(position("2S", "3S 4S", pile="7S0"))
    assert table.move(EndNow()) == (GameOver(winners=seats(1), end=End.HOST),)


def test_r12_the_hosts_end_waits_for_the_slap_card_that_shows() -> None:
    table = CardTable(position("2S 3S", "4S", pile="JS1"))
    assert table.move(EndNow()) == ()
    assert table.is_due(Wait.LAST_HAND)
    assert table.refuses(EndNow()) == table.refuses(Turn(seat=Seat(0), nth=2)) == (Reason.TABLE_WAITS, "R12")
    won = CardTable(table.game)
    assert won.slap(1)[1:] == (GameOver(winners=seats(0, 1), end=End.HOST),)
    assert table.let_pass() == (GameOver(winners=seats(0), end=End.HOST),)


def test_r12_r19_the_hosts_end_waits_for_no_answers() -> None:
    calm = Rules(calm=True)
    table = CardTable(position("2S", "3S 4S", pile="7S0", rules=calm))
    assert table.move(EndNow()) == (GameOver(winners=seats(1), end=End.HOST),)
    table = CardTable(position("2S", "3S 4S", pile="JS0", rules=calm))
    assert table.move(EndNow()) == ()
    assert table.carry_on(0) == (CarriedOn(seat=Seat(0), nth=1),)
    assert table.is_due(Wait.LAST_HAND)
    assert table.let_pass() == (GameOver(winners=seats(1), end=End.HOST),)


def test_r25_who_leaves_is_out_and_the_cards_go_under_the_pile() -> None:
    table = CardTable(position("2S", "3S 4S", "5S", pile="6S0", under="7S"))
    assert table.leave(1) == (SeatOut(seat=Seat(1)),)
    assert table.counts == [1, 0, 1, 4]
    assert table.view.under == 3
    assert table.is_due(Wait.TURN, [2])
    assert table.refuses(Leave(seat=Seat(1))) == (Reason.SEAT_OUT, "R8")
    assert table.refuses(Leave(seat=Seat(5))) == (Reason.NO_SUCH_SEAT, "R1")


def test_r9_r25_the_last_to_stay_wins() -> None:
    table = CardTable(position("2S", "3S 4S", pile="JS0"))
    assert table.leave(0) == (SeatOut(seat=Seat(0)), GameOver(winners=seats(1), end=End.LAST_SEAT))
    assert table.counts == [0, 4, 0]


def test_r25_a_waiting_seat_may_leave_while_the_table_waits() -> None:
    table = CardTable(position("", "", "JS", pile="2S0 3S1"))
    table.turn()
    table.leave(0)
    assert table.is_due(Wait.LAST_HAND)
    assert table.due.slappers == seats(1, 2)
