"""A game in time, played through the room: pace, hands, calls, judges, silence and computer players."""

from collections.abc import Callable, Mapping
from statistics import NormalDist

import pytest

from engine.cards import deck_text
from engine.game import Seat, Side
from engine.rules import GameName, JudgeOf, Penalty, Rules, WhichHand
from server.table.mail import Said, Tell
from tests.server.world import MS, Phone, Table, a_deck
from wire.messages import (
    AddComputer,
    AllSaid,
    AnyHand,
    EndGame,
    Join,
    Pause,
    Point,
    Question,
    Quit,
    React,
    Refused,
    Remove,
    Rename,
    SetHandicap,
    Shown,
    Stage,
    Update,
)

CALM = Rules(calm=True)
CALL = Rules(call=True)
SHOUT = Rules(call=True, wrong_call=True, hand=WhichHand.OTHER)
TABLE_JUDGE = Rules(judge=JudgeOf.TABLE)
DUEL = Rules(game=GameName.DUEL)
WAR = Rules(game=GameName.WAR)

SETTLED_MS = 600
"""Longer than any verdict takes that waits for no call and no judge."""


def deal(first: str, *names: str, rules: Rules | None = None, last: str = "") -> Table:
    """A game just dealt. The first of the names has dealt, so the second turns the first card."""
    table = Table(*(names or ("Ann", "Ben")), rules=rules)
    table.start(first, last)
    table.news()
    return table


def on_top(
    first: str,
    *names: str,
    then: str = "",
    rules: Rules | None = None,
    watched: bool = False,
    rtt_ms: Mapping[str, int] | None = None,
) -> Table:
    """A game in which these cards have been turned, the last of them at this very moment."""
    table = Table(*(names or ("Ann", "Ben")), rules=rules, rtt_ms=rtt_ms)
    if watched:
        table.joins("Wes", watch=True)
    table.start(f"{first} {then}")
    table.turn_cards(len(first.split()))
    table.news()
    return table


DO: Mapping[str, Callable[[Phone], Refused | None]] = {"slaps": Phone.slap, "turns": Phone.turn, "calls": Phone.call}


def hands(table: Table, nth: int, *told: str) -> None:
    """What phones do so many ms after card `nth` was shown, as in "300 Ann slaps"; nothing of it is refused."""
    for each in told:
        ms, name, does = each.split()
        table.after(nth, int(ms))
        assert DO[does](table[name]) is None


def refused(answer: Refused | None) -> tuple[str, str] | None:
    """Why not, and by which rule."""
    return None if answer is None else (answer.reason, answer.rule)


# --- pace --------------------------------------------------------------------------------------------------------


def test_r3_the_dealers_left_turns_first_and_then_clockwise() -> None:
    table = deal("5H 6H 7H 8H", "Ann", "Ben", "Cid")
    table.turn_cards(4)
    assert table.news() == ["Ben turns 5H", "Cid turns 6H", "Ann turns 7H", "Ben turns 8H"]


def test_r3_a_turn_out_of_turn_is_refused_and_costs_nothing() -> None:
    table = deal("5H 6H")
    assert refused(table["Ann"].turn()) == ("not_your_turn", "R3")
    assert table.cards() == {"Ann": 26, "Ben": 26}
    table.turn_cards(1)
    assert table.news() == ["Ben turns 5H"]
    assert refused(table["Ben"].turn()) == ("not_your_turn", "R3")


@pytest.mark.parametrize("min_show_ms", [800, 1500])
def test_r3a_a_card_stays_on_top_and_an_early_turn_takes_effect_then(min_show_ms: int) -> None:
    table = deal("5H 6H 7H", rules=Rules(min_show_ms=min_show_ms))
    ann, ben = table["Ann"], table["Ben"]
    table.turn_cards(1)
    assert ann.turn() is None
    assert table.news() == ["Ben turns 5H"]
    assert refused(ann.turn()) == ("other_turn", "R3")
    assert refused(ben.turn(3)) == ("other_turn", "R3a")
    table.later(min_show_ms)
    assert table.news() == ["Ann turns 6H"]
    assert table.shown(2) - table.shown(1) == min_show_ms
    table.later(5_000)
    assert ben.turn() is None
    assert table.news() == ["Ben turns 7H"], "a late turn takes effect at once"


def test_r3_nobody_is_told_a_card_long_before_it_is_shown() -> None:
    table = deal("5H 6H")
    assert table["Ben"].turn() is None
    table.at(3_000)
    assert table["Ann"].turn() is None
    table.at(10_000)
    told = {line: ms for ms, line in table.timed()}
    assert 0 <= table.shown(1) - told["Ben turns 5H"] <= 250
    assert 0 <= table.shown(2) - told["Ann turns 6H"] <= 250


def test_r2_the_first_card_waits_until_the_deal_has_been_seen() -> None:
    table = deal("5H")
    assert table["Ben"].turn() is None
    table.at(5_000)
    assert table.shown(1) == 1_500


def test_r17_the_jacks_are_laid_out_before_the_first_game_only() -> None:
    table = deal("5H", rules=Rules(show_jacks=True))
    assert table["Ben"].turn() is None
    table.at(6_000)
    assert table.shown(1) == 5_000
    table.command(EndGame())
    table.start("5H")
    assert table["Ann"].turn() is None
    table.at(6_000)
    assert table.shown(1) == 1_500


def test_r17_r31_a_computer_player_lets_the_jacks_lie_as_long() -> None:
    table = Table("Ann", rules=Rules(show_jacks=True))
    table.command(AddComputer())
    table.start("5H")
    table.at(8_000)
    assert table.view().game == 1
    assert 5_000 <= table.shown(1) < 6_000


# --- hands -------------------------------------------------------------------------------------------------------


def test_r4_r5_the_first_hand_wins_the_pile_and_its_left_turns_next() -> None:
    table = on_top("5H 6H JS", "Ann", "Ben", "Cid")
    hands(table, 3, "300 Cid slaps", "320 Ben slaps")
    table.later(SETTLED_MS)
    assert table.news() == ["Cid wins 3 on card 3"]
    assert table.cards() == {"Ann": 16, "Ben": 17, "Cid": 19}
    table.turn_cards(1)
    assert table.news()[0].startswith("Ann turns")


def test_r4_a_hand_that_was_first_wins_though_it_arrives_later() -> None:
    table = on_top("5H JS", rtt_ms={"Ann": 80})
    hands(table, 2, "300 Ben slaps")
    table.after(2, 320)
    assert table["Ann"].slap(reaction_ms=280) is None
    table.later(SETTLED_MS)
    assert table.news() == ["Ann wins 2 on card 2"]
    assert [hand.seat for hand in table.verdicts[0].hands] == [0, 1]


def test_r6_r7f_a_turn_covers_a_slap_card_only_when_no_hand_was_earlier() -> None:
    table = on_top("5H JS", then="9C")
    hands(table, 2, "900 Ben turns")
    table.later(SETTLED_MS)
    assert table.news() == ["Ben turns 9C"]
    assert refused(table["Ann"].slap(2)) == ("covered", "R7f")
    assert table.cards() == {"Ann": 25, "Ben": 24}


def test_r6_a_hand_before_the_turn_wins_though_it_arrives_after_it() -> None:
    table = on_top("5H JS", then="9C", rtt_ms={"Ann": 200})
    hands(table, 2, "850 Ben turns")
    table.after(2, 900)
    assert table["Ann"].slap(reaction_ms=800) is None
    table.later(SETTLED_MS)
    assert table.news() == ["Ann wins 2 on card 2"]


def test_r6_an_early_turn_on_a_slap_card_leaves_every_hand_its_time() -> None:
    table = on_top("5H JS", then="9C")
    hands(table, 2, "100 Ben turns", "700 Ann slaps")
    table.later(SETTLED_MS)
    assert table.news() == ["Ann wins 2 on card 2"]


def test_r6_an_early_turn_and_no_hand_shows_the_card_at_its_moment() -> None:
    table = on_top("5H JS", then="9C")
    hands(table, 2, "100 Ben turns")
    table.after(2, 5_000)
    assert table.news() == ["Ben turns 9C"]
    assert 800 <= table.shown(3) - table.shown(2) <= 1_300


def test_r7_a_wrong_slap_pays_the_turner() -> None:
    table = on_top("5H 6H 7H")
    hands(table, 3, "300 Ann slaps")
    assert table.news() == ["Ann slaps wrong, 1 to Ben"]
    assert table.cards() == {"Ann": 24, "Ben": 25}


def test_r7_under_the_pile_where_the_rules_say_so() -> None:
    table = on_top("5H", rules=Rules(penalty=Penalty.UNDER_PILE))
    hands(table, 1, "300 Ann slaps")
    assert table.news() == ["Ann slaps wrong, 1 to the pile"]


def test_r7a_a_wrong_slap_on_ones_own_card_goes_under_the_pile() -> None:
    table = on_top("5H")
    assert table["Ben"].slap() is None
    assert table.news() == ["Ben slaps wrong, 1 to the pile"]


def test_r7c_a_double_tap_pays_once() -> None:
    table = on_top("5H")
    assert table["Ann"].slap() is None
    table.later(80)
    assert refused(table["Ann"].slap()) == ("already_paid", "R7c")
    assert table.cards() == {"Ann": 25, "Ben": 26}


def test_r7d_there_is_nothing_to_slap_on_an_empty_pile() -> None:
    table = deal("5H")
    assert refused(table["Ann"].slap()) == ("nothing_to_slap", "R7d")
    assert refused(table["Ann"].slap(7)) == ("no_such_card", "R7f")
    assert table.cards() == {"Ann": 26, "Ben": 26}


def test_r7e_the_second_hand_on_a_slap_card_costs_nothing() -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid", rtt_ms={"Cid": 200})
    hands(table, 2, "300 Ann slaps")
    assert table["Ann"].slap() is None, "a double tap on a slap card is one hand"
    hands(table, 2, "330 Ben slaps")
    table.later(SETTLED_MS)
    assert table.cards() == {"Ann": 19, "Ben": 17, "Cid": 16}


def held_hand(busy_ms: int) -> tuple[Table, Refused | None]:
    """Ann's hand comes after 300 ms; Ben's came after 270, but his page comes to it only so much later."""
    table = on_top("5H JS", "Ann", "Ben", rtt_ms={"Ann": 20, "Ben": 20})
    for phone in table.phones:
        phone.say(Shown(table.game, 2, 0))
    table.after(2, 265)
    table["Ben"].busy_ms = busy_ms + 60  # it comes to no question before it comes to the hand
    table.after(2, 310)
    table["Ann"].slap(reaction_ms=300)
    table.after(2, 320 + busy_ms)
    return table, table["Ben"].slap(reaction_ms=270)


@pytest.mark.parametrize("busy_ms", [20, 60])
def test_r4_a_hand_that_a_busy_page_holds_wins_all_the_same(busy_ms: int) -> None:
    """The phone goes on answering pings, which would say that nothing earlier can come from there."""
    table, refusal = held_hand(busy_ms)
    assert refusal is None
    table.later(SETTLED_MS)
    assert [(verdict.winner, verdict.nth) for verdict in table.verdicts] == [(table.place("Ben"), 2)]


def test_r4_a_page_that_is_busy_for_ever_is_not_waited_for() -> None:
    table, refusal = held_hand(300)
    assert refusal is not None
    assert [verdict.winner for verdict in table.verdicts] == [table.place("Ann")]
    assert 100 * MS < table.verdicts[0].wait_us <= 170 * MS


def test_whoever_plays_and_has_not_slapped_is_asked_for_hands_and_nobody_else_is() -> None:
    """R4: not who has slapped, who watches, or plays here; and not once all is known."""
    table = Table("Ann", "Ben", "Cid", rtt_ms={"Ann": 20, "Ben": 20, "Cid": 90})
    table.command(AddComputer(reaction_ms=2_000))
    table.joins("Wes", watch=True)
    table.start("5H JS")
    table.turn_cards(2)
    for phone in table.phones:
        phone.say(Shown(table.game, 2, 0))

    def asked() -> list[int]:
        return [sum(isinstance(message, AnyHand) for message in phone.heard) for phone in table.phones]

    table.after(2, 140)
    assert asked() == [0, 0, 0, 0], "nobody has a hand so soon"
    hands(table, 2, "300 Ann slaps")
    ann, *others = asked()
    assert others == [ann, ann, 0]
    table.later(SETTLED_MS)
    assert asked()[0] == ann
    told = asked()
    table.later(SETTLED_MS)
    assert asked() == told
    assert table["Ben"].say(AllSaid(table.game, 2)) is None, "what it was about is over"
    assert table["Wes"].say(AllSaid(table.game, 2)) is None


@pytest.mark.parametrize("slap_ms", [0, 333])
def test_r4_nobody_hears_of_a_hand_before_the_verdict(slap_ms: int) -> None:
    """Whoever knew that a hand has come down could be quick to say that theirs was before: pings and questions come at
    the same moments whether it has or not."""

    def came(slaps: bool) -> list[tuple[int, str]]:
        table = on_top("5H JS", "Ann", "Ben", "Cid", rtt_ms={"Ann": 20, "Ben": 40, "Cid": 390})
        ben = table["Ben"]
        began = len(ben.heard)
        if slaps:
            table.after(2, slap_ms or 250)
            table["Ann"].slap(reaction_ms=(slap_ms or 250) - 10)
        table.after(2, 500)
        return [(at_us, type(m).__name__) for at_us, m in zip(ben.heard_at_us[began:], ben.heard[began:], strict=True)]

    assert came(slaps=True) == came(slaps=False)


def test_r7f_a_hand_on_a_pile_that_is_won_loses_and_costs_nothing() -> None:
    table = on_top("5H JS")
    hands(table, 2, "300 Ann slaps")
    table.later(SETTLED_MS)
    assert refused(table["Ben"].slap(2)) == ("pile_gone", "R7f")
    assert refused(table["Ben"].slap(1)) == ("pile_gone", "R7f")
    assert table.cards() == {"Ann": 27, "Ben": 25}


def test_r7f_a_slap_is_judged_by_the_card_it_was_meant_for() -> None:
    table = on_top("5H 6H")
    assert table["Ann"].slap(1) is None
    assert table.news() == ["Ann slaps wrong, 1 to Ben"]


def run_dry(table: Table, name: str) -> None:
    """Lets that seat slap wrongly until it has no card left. The card on top is one that it has not slapped."""
    while table.cards()[name]:
        table.turn_cards(1)
        if table.cards()[name]:
            assert table[name].slap() is None
    table.turn_cards(1)


def turn_a_jack(table: Table) -> None:
    """Turns cards until a Jack has been turned, at this very moment."""
    while table.face()[0] != "J":
        table.turn_cards(1)
    table.news()


def empty_handed(name: str, rules: Rules | None = None, watched: bool = False, jack: bool = False) -> Table:
    """A game of three in which that seat has run dry; with `jack` the first Jack is on top."""
    table = Table("Ann", "Ben", "Cid", rules=rules, rtt_ms={"Ann": 200})
    if watched:
        table.joins("Wes", watch=True)
    table.start("", "JS JH JD JC")
    run_dry(table, name)
    if jack:
        turn_a_jack(table)
    return table


def test_r8_a_seat_without_cards_waits_and_a_wrong_slap_puts_it_out() -> None:
    table = empty_handed("Cid")
    assert "Cid waits" in table.news()
    assert table["Cid"].slap() is None
    assert table.news() == ["Cid slaps wrong", "Cid is out"]
    assert refused(table["Cid"].slap()) == ("seat_out", "R8")


def test_r8_a_waiting_seat_has_one_chance() -> None:
    table = empty_handed("Cid", jack=True)
    table.news()
    table.later(300)
    assert table["Ben"].slap() is None
    table.later(SETTLED_MS)
    assert table.news()[-1] == "Cid is out"


def test_r8_one_that_is_out_cannot_stand_in_the_way_of_a_verdict() -> None:
    """A waiting seat slaps the Jack first, and then, before the verdict, another card wrongly: it is out."""
    table = empty_handed("Cid", jack=True)
    table.news()
    table.later(300)
    assert table["Cid"].slap() is None
    assert table["Cid"].slap(table.top() - 1) is None
    table.later(2_000)
    assert table.news() == ["Cid slaps wrong", "Cid is out"]
    assert table["Ann"].slap() is None
    table.later(2_000)
    assert table.news()[0].startswith("Ann wins"), "the card is still there for the others"


def test_r7_a_turn_is_void_when_its_card_was_paid_away_before_the_verdict() -> None:
    """A seat's last card is to cover the Jack, and is then lost by a wrong slap on the card below."""
    table = Table("Ann", "Ben", rtt_ms={"Ann": 200})
    # Ben turns every sixth card of the deck, for each of his own he pays two.
    plain = a_deck()
    table.start(f"{deck_text(plain[:17])} JS {plain[17]} QS JH QH JD QD {plain[18]} JC QC")
    for nth in range(1, 19):
        table.turn_cards(1)
        if nth < 17:
            assert table["Ben"].slap() is None
    assert table.face() == "JS"
    assert table.cards()["Ben"] == 1
    table.news()
    assert table["Ben"].turn() is None
    assert table["Ben"].slap(17) is None
    table.later(2_000)
    assert table.news() == ["Ben slaps wrong, 1 to the pile", "Ben waits"]
    assert table.turner() == "Ann"
    assert table["Ann"].slap() is None
    table.later(SETTLED_MS)
    assert table.news()[0].startswith("Ann wins")


# --- all cards turned --------------------------------------------------------------------------------------------


def test_r10_all_turned_and_nothing_to_slap_the_last_turner_takes_the_pile_back() -> None:
    table = deal("", last="JS JH JD JC 2S 3S")
    table.turn_cards(51)
    table.news()
    assert table["Ann"].turn() is None
    table.later(1_000)
    table.after(52, 799)
    assert table.news() == ["Ann turns 3S", "Ann waits"]
    table.after(52, 800)  # it has been seen for its time
    assert table.news() == ["Ann takes back 52", "Ann is back"]
    assert table.cards() == {"Ann": 52, "Ben": 0}


def test_r10_a_slap_card_as_the_last_of_all_waits_ten_seconds_for_a_hand() -> None:
    table = deal("", last="JC")
    table.turn_cards(52)
    table.news()
    assert refused(table["Ann"].turn()) == ("table_waits", "R10")
    table.after(52, 9_999)
    assert table.news() == []
    table.after(52, 10_000)
    assert table.news() == ["Ann takes back 52", "Ann is back"]


def test_r8_r9_r10_a_hand_in_the_last_second_wins_it_all() -> None:
    table = deal("", last="JC")
    table.turn_cards(52)
    table.news()
    hands(table, 52, "9900 Ben slaps")
    table.later(SETTLED_MS)
    assert table.news() == ["Ben wins 52 on card 52", "Ann is out", "Ben is back", "over, last_seat: Ben"]


# --- long games --------------------------------------------------------------------------------------------------


def test_r12_the_card_limit_ends_the_game_and_equal_counts_share_the_win() -> None:
    table = deal("5H 6H", rules=Rules(card_limit=2))
    table.turn_cards(2)
    assert table.news() == ["Ben turns 5H", "Ann turns 6H", "over, card_limit: Ann and Ben"]
    assert [seat.wins for seat in table.seats()] == [1, 1]


def test_r12_a_slap_card_at_the_limit_still_has_its_window() -> None:
    table = on_top("5H JS", rules=Rules(card_limit=2))
    assert refused(table["Ben"].turn()) == ("table_waits", "R12")
    hands(table, 2, "5000 Ben slaps")
    table.later(SETTLED_MS)
    assert table.news() == ["Ben wins 2 on card 2", "over, card_limit: Ben"]


def test_r12_nobody_slaps_at_the_limit() -> None:
    table = on_top("5H 6H JS", rules=Rules(card_limit=3))
    table.after(3, 9_999)
    assert table.news() == []
    table.after(3, 10_000)
    assert table.news() == ["over, card_limit: Ann"]


def test_r12_the_time_limit() -> None:
    table = on_top("5H", rules=Rules(time_limit_min=1))
    table.at(59_000)
    assert table.view().stage is Stage.PLAYING
    table.news()
    table.at(60_000)
    assert table.news()[-1].startswith("over, time_limit")


def test_r12_the_time_limit_waits_for_an_open_window() -> None:
    table = deal("5H 6H 7H JS", rules=Rules(time_limit_min=1))
    table.at(59_900)  # three cards have been turned for them by now
    table.turn_cards(1)
    table.news()
    table.at(60_000)
    assert table.news() == []
    assert refused(table["Ben"].turn()) == ("table_waits", "R12")
    assert table["Ben"].slap() is None
    table.later(SETTLED_MS)
    assert table.news() == ["Ben wins 4 on card 4", "over, time_limit: Ben"]


def test_r12_a_pause_does_not_count_towards_the_time_limit() -> None:
    table = on_top("5H", rules=Rules(time_limit_min=1))
    table.command(Pause(True))
    table.later(30_000)
    table.command(Pause(False))
    table.at(89_999)
    assert table.view().stage is Stage.PLAYING
    table.at(90_000)
    assert table.view().stage is not Stage.PLAYING


def test_r12_the_host_ends_the_game_and_the_cards_are_counted() -> None:
    table = on_top("5H")
    table.command(EndGame())
    assert table.news() == ["over, host: Ann"]
    assert table.seat("Ann").wins == 1
    assert table.seat("Ben").wins == 0


def test_r12_a_hand_that_is_down_when_the_host_ends_the_game_counts() -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid", rtt_ms={"Cid": 200})
    hands(table, 2, "300 Ben slaps")
    table.command(EndGame())
    assert table.news() == []
    table.later(1_000)
    assert table.news() == ["Ben wins 2 on card 2", "over, host: Ben"]


def test_r12_the_hosts_end_waits_for_the_slap_card_that_shows() -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid")
    table.command(EndGame())
    table.after(2, 5_000)
    assert table.news() == []
    assert table["Ben"].slap() is None
    table.later(1_000)
    assert table.news() == ["Ben wins 2 on card 2", "over, host: Ben"]


# --- the slap moment -----------------------------------------------------------------------------------------------


def won_at(table: Table) -> float:
    """The instant at which Ben's hand on card 2 has won, and nothing else has happened since."""
    hands(table, 2, "300 Ben slaps")
    while not (told := table.timed()):
        table.later(1)
    assert [line for _, line in told] == ["Ben wins 2 on card 2"]
    return table.ms


@pytest.mark.parametrize("moment_ms", [0, 900, 1_500])
def test_r3b_the_next_card_is_shown_after_the_slap_moment_and_no_turn_is_lost(moment_ms: int) -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid", rules=Rules(slap_moment_ms=moment_ms))
    verdict_ms = won_at(table)
    assert table["Cid"].turn() is None
    table.later(2_000)
    shown_ms = table.shown(3)
    assert shown_ms >= max(verdict_ms + moment_ms, table.shown(2) + 800)
    assert shown_ms <= max(verdict_ms + moment_ms, table.shown(2) + 800) + 60


def test_r3b_r24_the_time_for_a_turn_begins_after_the_slap_moment() -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid")
    verdict_ms = won_at(table)
    table.at(verdict_ms + 900 + 14_900)
    assert table.news() == []
    table.later(200)
    assert len(table.news()) == 1


@pytest.mark.parametrize("moment_ms", [0, 1_500])
def test_r3b_r12_the_time_limit_stands_still_in_the_slap_moment(moment_ms: int) -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid", rules=Rules(slap_moment_ms=moment_ms, time_limit_min=1))
    won_at(table)
    table.at(59_999 + moment_ms)
    assert table.view().stage is Stage.PLAYING
    table.at(60_000 + moment_ms)
    assert table.news()[-1].startswith("over, time_limit")


# --- the call ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("called_ms", [300, 1_000, 1_799])
def test_r13_a_hand_that_calls_in_time_takes_the_pile(called_ms: int) -> None:
    table = on_top("5H JS", rules=CALL)
    hands(table, 2, "300 Ben slaps")
    table.after(2, called_ms)
    assert table.news() == []
    assert table["Ben"].call() is None
    table.later(SETTLED_MS)
    assert table.news() == ["Ben wins 2 on card 2"]


@pytest.mark.parametrize(("called_ms", "counts"), [(100, False), (101, True), (600, True)])
def test_r13_a_call_counts_from_half_a_second_before_the_hand(called_ms: int, counts: bool) -> None:
    table = on_top("5H JS", rules=CALL)
    table.after(2, called_ms)
    assert table["Ben"].call() is None
    hands(table, 2, "601 Ben slaps")
    table.later(SETTLED_MS)
    assert table.news() == (["Ben wins 2 on card 2"] if counts else [])


def test_r13_a_call_that_comes_too_late_does_not_count_and_costs_nothing() -> None:
    table = on_top("5H JS", rules=CALL)
    hands(table, 2, "300 Ben slaps", "1801 Ben calls")
    table.later(200)
    assert table.news() == []
    assert table.cards() == {"Ann": 25, "Ben": 25}
    hands(table, 2, "2500 Ben slaps", "2500 Ben calls")
    table.later(SETTLED_MS)
    assert table.news() == ["Ben wins 2 on card 2"], "the card is still there"


def test_r13_a_call_that_comes_too_late_does_not_count_while_another_hand_is_pending() -> None:
    table = on_top("5H JS", rules=CALL)
    hands(table, 2, "300 Ann slaps", "1700 Ben slaps", "1900 Ann calls", "2100 Ben calls")
    table.later(SETTLED_MS)
    assert table.news() == ["Ben wins 2 on card 2"]


def test_r13_the_next_hand_that_called_takes_the_pile() -> None:
    table = on_top("5H JS", rules=CALL)
    hands(table, 2, "300 Ann slaps", "400 Ben slaps", "400 Ben calls")
    table.after(2, 1_700)
    assert table.news() == [], "the first hand may still call"
    table.after(2, 2_500)
    assert table.news() == ["Ben wins 2 on card 2"]
    assert table.cards() == {"Ann": 25, "Ben": 27}


def test_r13_the_first_hand_calls_just_in_time() -> None:
    table = on_top("5H JS", rules=CALL)
    hands(table, 2, "300 Ann slaps", "400 Ben slaps", "400 Ben calls", "1799 Ann calls")
    table.later(SETTLED_MS)
    assert table.news() == ["Ann wins 2 on card 2"]


def test_r13_a_turn_waits_for_the_call() -> None:
    table = on_top("5H JS", then="9C", rules=CALL)
    hands(table, 2, "600 Ann slaps", "900 Ben turns")
    table.after(2, 2_000)
    assert table.news() == []
    table.after(2, 3_000)
    assert table.news() == ["Ben turns 9C"]


def test_r13_a_turn_waits_in_vain_for_nobody() -> None:
    table = on_top("5H JS", then="9C", rules=CALL)
    hands(table, 2, "600 Ann slaps", "900 Ben turns", "1500 Ann calls")
    table.later(SETTLED_MS)
    assert table.news() == ["Ann wins 2 on card 2"]


def test_r13_an_uncalled_wrong_slap_pays_when_the_time_to_call_is_over() -> None:
    table = on_top("5H", rules=CALL)
    hands(table, 1, "300 Ann slaps")
    table.after(1, 1_799)
    assert table.news() == []
    table.after(1, 1_800)
    assert table.news() == ["Ann slaps wrong, 1 to Ben"]


def test_r13_without_the_wrong_call_a_called_wrong_slap_pays_as_well() -> None:
    table = on_top("5H", rules=CALL)
    assert table["Ann"].slap() is None
    assert table["Ann"].call() is None
    assert table.news() == ["Ann slaps wrong, 1 to Ben"]


@pytest.mark.parametrize("turn_ms", [100, 500, 1_000])
def test_r13_turns_wait_for_the_call_of_a_wrong_hand(turn_ms: int) -> None:
    table = on_top("5H", "Ann", "Ben", "Cid", then="6H", rules=CALL)
    order = sorted([(300, "slap"), (turn_ms, "turn")])
    for ms, what in order:
        table.after(1, ms)
        assert (table["Ann"].slap() if what == "slap" else table["Cid"].turn()) is None
    table.after(1, 1_700)
    assert table.news() == []
    table.after(1, 2_500)
    assert table.news() == ["Ann slaps wrong, 1 to Ben", "Cid turns 6H"]


def test_r13_there_is_nothing_to_call_where_calls_are_off() -> None:
    table = on_top("5H JS")
    assert refused(table["Ann"].call()) == ("nothing_to_slap", "R13")


def test_r13_a_seat_that_only_calls_is_not_silent() -> None:
    table = deal("5H", rules=CALL)
    for _ in range(2):
        table.later(60_000)
        assert not table.seat("Ben").away
        assert table["Ann"].call() is None
        assert table["Ben"].call() is None


def test_r13a_the_call_alone_is_the_hand() -> None:
    table = on_top("5H JS", rules=Rules(say_jack=True))
    table.after(2, 300)
    assert refused(table["Ann"].slap()) == ("nothing_to_slap", "R13a")
    assert table["Ben"].call() is None
    table.later(SETTLED_MS)
    assert table.news() == ["Ben wins 2 on card 2"]


def test_r13a_a_wrong_jack_pays_like_a_wrong_slap() -> None:
    table = on_top("5H", rules=Rules(say_jack=True))
    assert table["Ann"].call() is None
    assert table.news() == ["Ann slaps wrong, 1 to Ben"]


def test_r14_a_called_wrong_slap_deals_the_pile_to_the_others() -> None:
    table = on_top("5H 6H 7H", "Ann", "Ben", "Cid", rules=SHOUT)
    hands(table, 3, "300 Cid slaps", "300 Cid calls")
    assert table.news() == ["Cid calls wrong, 2 to Ann, 1 to Ben"]
    assert table.cards() == {"Ann": 18, "Ben": 18, "Cid": 16}
    table.turn_cards(1)
    assert table.news()[-1].startswith("Ann turns"), "the caller's left turns next"


def test_r14_an_uncalled_wrong_slap_pays_as_always() -> None:
    table = on_top("5H 6H 7H", "Ann", "Ben", "Cid", rules=SHOUT)
    assert table["Cid"].slap() is None
    table.later(1_500)
    assert table.news() == ["Cid slaps wrong, 1 to Ann"]


def test_r15_the_turner_slaps_with_the_other_hand() -> None:
    table = deal("5H JS", rules=Rules(hand=WhichHand.OTHER))
    ann = table["Ann"]
    table.turn_cards(1)
    assert ann.turn(side=Side.LEFT) is None
    table.later(3_000)
    assert refused(ann.slap(side=Side.LEFT)) == ("same_hand", "R15")
    assert table.cards() == {"Ann": 25, "Ben": 25}
    assert ann.slap(side=Side.RIGHT) is None
    table.later(SETTLED_MS)
    assert table.news()[-1] == "Ann wins 2 on card 2"


# --- the table's judge -------------------------------------------------------------------------------------------


def too_close(table: Table, nth: int, first: str = "Ann", second: str = "Ben") -> None:
    """Two hands, three milliseconds apart."""
    table.after(nth, 300)
    assert table[first].slap() is None
    table.after(nth, 303)
    assert table[second].slap() is None
    table.later(SETTLED_MS)


def asked(table: Table, name: str) -> Question:
    """What that person is asked."""
    question = table[name].question
    assert question is not None
    return question


def test_r18_somebody_watching_decides_what_is_too_close_to_call() -> None:
    table = on_top("5H JS", rules=TABLE_JUDGE, watched=True)
    too_close(table, 2)
    assert table.news() == []
    question = asked(table, "Wes")
    assert question.seats == (0, 1)
    assert [hand.seat for hand in question.hands] == [0, 1]
    assert asked(table, "Ann") == question, "everybody sees what is asked"
    assert refused(table["Ann"].say(Point(question.id, question.seats[0]))) == ("no_question", "")
    assert table["Wes"].say(Point(question.id, question.seats[1])) is None
    assert table.news() == ["Ben wins 2 on card 2"]
    assert table["Ann"].question is None
    assert table.verdicts[0].winner == 1
    assert [hand.seat for hand in table.verdicts[0].hands] == [1, 0], "the winner first"
    assert refused(table["Wes"].say(Point(question.id, question.seats[0]))) == ("no_question", ""), (
        "their word is final"
    )


def test_r18_r27_whoever_has_joined_late_watches_and_so_may_judge() -> None:
    table = on_top("5H JS", rules=TABLE_JUDGE)
    table.joins("Cid")
    too_close(table, 2)
    question = asked(table, "Cid")
    assert table["Cid"].say(Point(question.id, question.seats[1])) is None
    assert table.news() == ["Ben wins 2 on card 2"]


def test_r18_only_the_two_hands_are_to_choose_from() -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid", rules=TABLE_JUDGE, watched=True)
    too_close(table, 2)
    question = asked(table, "Wes")
    assert refused(table["Wes"].say(Point(question.id, table.place("Cid")))) == ("no_question", "")
    assert refused(table["Wes"].say(Point(question.id + 1, question.seats[0]))) == ("no_question", "")
    assert table["Wes"].say(Point(question.id, question.seats[0])) is None


def test_r18_without_an_answer_the_dealer_decides_after_ten_seconds() -> None:
    table = on_top("5H JS", rules=TABLE_JUDGE, watched=True)
    too_close(table, 2)
    question = asked(table, "Wes")
    asked_us = table["Wes"].heard_at_us[-1]
    assert question.until_us == asked_us + 10_000_000
    table.at((question.until_us - table.zero_us) / 1_000 - 1)
    assert table.news() == []
    table.later(1)
    assert table.news() == ["Ann wins 2 on card 2"]


def test_r18_where_nobody_can_judge_the_dealer_decides_at_once() -> None:
    table = on_top("5H JS", rules=TABLE_JUDGE)
    too_close(table, 2)
    assert table.news() == ["Ann wins 2 on card 2"]


def test_r18_nobody_is_asked_where_the_dealer_judges_or_the_gap_is_wide() -> None:
    table = on_top("5H JS", watched=True)
    too_close(table, 2)
    assert table.news() == ["Ann wins 2 on card 2"]
    table = on_top("5H JS", rules=TABLE_JUDGE, watched=True)
    hands(table, 2, "300 Ann slaps", "309 Ben slaps")
    table.later(SETTLED_MS)
    assert table.news() == ["Ann wins 2 on card 2"]


def test_r18_a_seat_that_is_out_may_judge_and_one_that_plays_may_not() -> None:
    table = empty_handed("Cid", rules=TABLE_JUDGE)
    assert table["Cid"].slap() is None
    turn_a_jack(table)
    too_close(table, table.top())
    question = asked(table, "Cid")
    assert refused(table["Ben"].say(Point(question.id, question.seats[1]))) == ("no_question", "")
    assert table["Cid"].say(Point(question.id, question.seats[1])) is None
    assert table.news()[0].startswith("Ben wins")


def test_r18_hands_and_turns_wait_for_the_judge() -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid", then="9C", rules=TABLE_JUDGE, watched=True)
    too_close(table, 2)
    assert refused(table["Cid"].slap()) == ("pile_gone", "R7f")
    assert table["Ann"].turn() is None
    table.later(5_000)
    assert table.news() == []
    question = asked(table, "Wes")
    assert table["Wes"].say(Point(question.id, question.seats[0])) is None
    assert table.news() == ["Ann wins 2 on card 2"]
    table.later(3_000)
    assert table.news() == [], "the turn was for a pile that is gone"


def test_r18_r9_the_game_is_over_and_nobody_is_asked_any_more() -> None:
    """One is out and judges, the other of the two hands is a waiting seat that slaps another card wrongly."""
    table = empty_handed("Cid", rules=TABLE_JUDGE)
    assert table["Cid"].slap() is None
    run_dry(table, "Ben")
    turn_a_jack(table)
    too_close(table, table.top())
    assert asked(table, "Cid").seats == (0, 1)
    assert table["Ben"].slap(table.top() - 1) is None
    assert table.news() == ["Ben slaps wrong", "Ann is back", "Ben is out", "over, last_seat: Ann"]
    assert table["Cid"].question is None
    assert refused(table["Cid"].say(Point(table.top(), Seat(0)))) == ("not_playing", "")


def test_r18_r25_one_of_the_two_leaves_and_the_other_has_won() -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid", rules=TABLE_JUDGE, watched=True)
    too_close(table, 2)
    assert table["Ann"].say(Quit()) is None
    assert table.news()[0] == "Ben wins 2 on card 2"
    assert table["Wes"].question is None


def test_r18_the_dealer_decides_before_the_game_stands_still() -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid", rules=TABLE_JUDGE, watched=True)
    too_close(table, 2)
    table.command(Pause(True))
    assert table.news()[0] == "Ann wins 2 on card 2"
    assert table["Wes"].question is None


def test_r18_nobody_is_asked_when_the_game_stands_still() -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid", rules=TABLE_JUDGE, watched=True, rtt_ms={"Cid": 200})
    hands(table, 2, "300 Ann slaps", "303 Ben slaps")
    table.command(Pause(True))
    assert table.news()[0] == "Ann wins 2 on card 2"
    assert table["Wes"].question is None


def test_r18_one_of_the_two_is_out_before_the_answer_and_the_other_has_won() -> None:
    """A waiting seat is one of two hands, and slaps another card wrongly before the judge has spoken."""
    table = empty_handed("Cid", rules=TABLE_JUDGE, watched=True, jack=True)
    top = table.top()
    too_close(table, top, "Cid", "Ben")
    assert table["Wes"].question is not None
    table.news()
    assert table["Cid"].slap(top - 1) is None
    told = table.news()
    assert told[:2] == ["Cid slaps wrong", "Cid is out"]
    assert told[2].startswith("Ben wins")
    assert table["Wes"].question is None


# --- calm --------------------------------------------------------------------------------------------------------


def test_r19_the_game_stops_until_everybody_has_slapped_or_carried_on() -> None:
    table = on_top("5H", then="6H", rules=CALM)
    table.after(1, 60_000)
    assert refused(table["Ann"].turn()) == ("table_waits", "R19")
    assert table["Ann"].carry_on() is None
    assert refused(table["Ann"].carry_on()) == ("nothing_to_answer", "R19")
    assert refused(table["Ann"].turn()) == ("table_waits", "R19")
    assert table["Ben"].slap() is None
    assert table.news() == ["Ann lets card 1 pass", "Ben slaps wrong"], "which costs nothing"
    assert table["Ann"].turn() is None
    assert table.news() == ["Ann turns 6H"]


def test_r19_two_people_slap_and_the_dealer_decides() -> None:
    table = calm_jack("Ann", "Ben")
    hands(table, 2, "5000 Ben slaps")
    table.later(20)
    table["Ann"].slap()
    table.later(SETTLED_MS)
    assert table.news() == ["Ben wins 2 on card 2"]


def calm_jack(*names: str, computer: AddComputer | None = None) -> Table:
    """A calm game with a Jack on top as card 2 that nobody has answered."""
    table = Table(*names, rules=CALM)
    if computer is not None:
        table.command(computer)
    table.start("5H JS 9C")
    table.turn_cards(1)
    for name in names:
        assert table[name].carry_on() is None
    if table.turner() in names:
        table.turn_cards(1)
    else:
        table.later(5_000)
    table.news()
    return table


def test_r19_away_counts_as_carry_on() -> None:
    table = on_top("5H", "Ann", "Ben", "Cid", then="6H", rules=CALM)
    table["Cid"].go()
    assert table["Ann"].carry_on() is None
    table.later(10)
    assert sorted(table.news()) == ["Ann lets card 1 pass", "Cid lets card 1 pass"]
    assert table["Ben"].carry_on() is None
    table.later(4_000)
    assert table.news() == ["Ben lets card 1 pass", "Cid turns 6H"]
    table.later(1_000)
    assert table.news() == ["Cid lets card 2 pass"]


def test_r19_a_computer_takes_only_what_every_person_let_pass() -> None:
    table = calm_jack("Ann", "Ben", computer=AddComputer(reaction_ms=300, spread_ms=0))
    assert table["Ann"].carry_on() is None
    table.later(30_000)
    assert table.news() == ["Ann lets card 2 pass"]
    assert table["Ben"].carry_on() is None
    table.later(1_000)
    assert table.news()[:2] == ["Ben lets card 2 pass", "Ada wins 2 on card 2"]


def test_r19_a_computer_does_not_take_what_a_person_slapped() -> None:
    table = calm_jack("Ann", "Ben", computer=AddComputer(reaction_ms=150, spread_ms=0))
    assert table["Ann"].carry_on() is None
    assert table["Ben"].slap() is None
    table.later(800)
    assert table.news()[:2] == ["Ann lets card 2 pass", "Ben wins 2 on card 2"]


# --- Duel and War ------------------------------------------------------------------------------------------------


def elimination(name: str) -> Table:
    """A Duel in which that seat has slapped wrongly until its stack was empty."""
    table = Table("Ann", "Ben", rules=DUEL)
    table.start("", "JS JH JD JC")
    while table.cards()[name]:
        table.turn_cards(1)
        if table.cards()[name]:
            assert table[name].slap() is None
    return table


def test_r20_a_wrong_slap_pays_the_other_player_whoever_turned_the_card() -> None:
    table = on_top("5H", rules=DUEL)
    assert table["Ben"].slap() is None
    assert table.news() == ["Ben slaps wrong, 1 to Ann"]


def test_r20_an_elimination_round_is_lost_by_the_empty_seats_wrong_slap() -> None:
    table = elimination("Ann")
    assert table.news()[-1] == "elimination: Ann has none"
    table.turn_cards(2)
    assert [line.split()[0] for line in table.news()] == ["Ben", "Ben"], "the other seat turns every card"
    assert table["Ann"].slap() is None
    assert table.news() == ["Ann slaps wrong", "Ann is out", "over, duel_slap: Ben"]
    assert table.seat("Ben").wins == 1


def test_r20_the_empty_seat_is_back_when_the_other_slaps_wrongly() -> None:
    table = elimination("Ann")
    table.turn_cards(1)
    table.news()
    assert table["Ben"].slap() is None
    assert table.news() == ["Ben slaps wrong, 1 to Ann", "Ann is back", "elimination is over"]


def test_r21_the_higher_card_takes_both() -> None:
    table = deal("KH 2S", rules=WAR)
    assert table["Ann"].turn() is None
    table.at(2_000)
    assert table.news() == ["Ann is ready"]
    assert refused(table["Ann"].turn()) is not None
    assert table["Ben"].turn() is None
    table.later(3_000)
    assert table.news() == ["Ben turns KH", "Ann turns 2S", "Ben takes 2"]
    assert table.cards() == {"Ann": 25, "Ben": 27}


def test_r21_a_seat_turns_by_itself_after_five_seconds() -> None:
    table = deal("KH 2S", rules=WAR)
    assert table["Ann"].turn() is None
    table.at(5_500)
    assert table.news() == ["Ann is ready"]
    table.at(5_700)
    assert table.news() == ["Ben turns KH", "Ann turns 2S", "Ben takes 2"]


def test_r21_there_is_nothing_to_slap() -> None:
    table = deal("KH 2S", rules=WAR)
    assert refused(table["Ann"].slap()) == ("no_slaps", "R21")


def test_r22_equal_cards_are_war() -> None:
    table = deal("5H 5S 9H 9S 2C KD", rules=WAR)
    for _ in range(2):
        assert table["Ann"].turn() is None
        assert table["Ben"].turn() is None
        table.later(3_000)
    told = [line for line in table.news() if not line.endswith("ready")]
    assert told == ["Ben turns 5H", "Ann turns 5S", "war 1", "Ben turns 2C", "Ann turns KD", "Ann takes 6"]


def test_r23_a_war_against_a_computer_goes_to_its_end() -> None:
    table = Table("Ann", rules=Rules(game=GameName.WAR, card_limit=400, min_show_ms=300))
    table.command(AddComputer())
    table.start()
    while table.view().stage is Stage.PLAYING and table.ms < 3_600_000:
        table["Ann"].turn()
        table.later(200)
    assert table.news()[-1].startswith("over, ")
    assert sum(seat.wins for seat in table.seats()) >= 1


# --- silence -----------------------------------------------------------------------------------------------------


def test_r24_a_present_seat_has_fifteen_seconds() -> None:
    table = on_top("5H", then="6H")
    table.after(1, 14_999)
    assert table.news() == []
    table.after(1, 15_000)
    assert table.news() == ["Ann turns 6H"]


def test_r24_a_seat_that_is_away_has_four() -> None:
    table = on_top("5H", then="6H")
    table.after(1, 1_000)
    table["Ann"].go()
    table.after(1, 4_999)
    assert table.news() == []
    table.after(1, 5_000)
    assert table.news() == ["Ann turns 6H"]


def test_r24_a_seat_that_was_away_already_has_four_from_the_card_before() -> None:
    table = deal("5H 6H")
    table["Ann"].go()
    table.turn_cards(1)
    table.after(1, 3_999)
    table.news()
    table.after(1, 4_000)
    assert table.news() == ["Ann turns 6H"]


def test_r24_a_seat_that_is_back_has_its_time_again() -> None:
    table = on_top("5H", then="6H")
    table["Ann"].go()
    table.after(1, 3_000)
    table["Ann"].come_back()
    table.after(1, 17_999)
    assert table.news() == []
    table.after(1, 18_000)
    assert table.news() == ["Ann turns 6H"]


def silent(table: Table, name: str, *active: str) -> None:
    """Lets that seat be silent for three of its turns, while the others turn at once."""
    while not table.seat(name).away:
        assert table.ms < 1_000_000
        if table.turner() in active:
            table.turn_cards(1)
        else:
            table.later(1_000)


def test_r24_three_silent_turns_and_a_seat_counts_as_away() -> None:
    table = deal("", last="JS JH JD JC")
    silent(table, "Ben", "Ann")
    turned = [line for line in table.news() if line.startswith("Ben")]
    assert len(turned) == 3
    table.turn_cards(1)
    top = table.top()
    table.after(top, 3_999)
    assert table.top() == top
    table.after(top, 4_000)
    assert table.top() == top + 1, "away, so four seconds are enough"


@pytest.mark.parametrize(
    "acts",
    [
        Phone.slap,
        Phone.turn,
        lambda phone: phone.say(React("👋")),
        lambda phone: phone.say(Rename("Ben", "🐸")),
    ],
)
def test_r24_whoever_does_something_is_back(acts: Callable[[Phone], object]) -> None:
    table = deal("", last="JS JH JD JC")
    silent(table, "Ben", "Ann")
    acts(table["Ben"])
    assert not table.seat("Ben").away


def test_r24_two_silent_turns_and_one_of_ones_own_are_not_silence() -> None:
    table = deal("", last="JS JH JD JC")
    for turn in range(9):
        if table.turner() == "Ben" and turn // 2 % 3 != 2:
            table.later(16_000)
        else:
            table.turn_cards(1)
    assert not table.seat("Ben").away


def test_r24_everybody_is_away_and_the_game_stands_still_and_goes_on_exactly_where_it_was() -> None:
    table = on_top("5H", "Ann", "Ben", "Cid", then="6H")
    table.after(1, 1_000)
    table["Cid"].go()  # the turner: four seconds from here
    table.after(1, 2_000)
    table["Ann"].go()
    table.after(1, 3_500)
    table["Ben"].go()
    table.later(3_600_000)
    assert table.room.wake_at() is None
    table["Ben"].come_back()
    assert not table.view().asleep
    table.later(1_499)
    assert table.news() == []
    table.later(1)
    assert table.news() == ["Cid turns 6H"]


def test_r24_a_game_against_computers_stands_still_without_a_person_to_see_it() -> None:
    table = Table("Ann")
    table.command(AddComputer(), AddComputer())
    table.start("", "JS JH JD JC")
    table.at(1_000)
    table["Ann"].go()
    table.later(3_600_000)
    assert table.room.wake_at() is None
    table["Ann"].come_back()
    assert table.top() == 0
    table.later(5_000)
    assert table.top() > 0


def test_r24_everybody_is_silent_and_the_game_stands_still() -> None:
    table = deal("", last="JS JH JD JC")
    table.later(3_600_000)
    assert len(table.news()) <= 6, "three turns each at most"
    assert table.view().asleep
    assert table["Ann"].slap() is None
    assert not table.view().asleep
    top = table.top()
    table.later(60_000)
    assert table.top() > top


def test_r24_the_host_pauses_and_everything_waits() -> None:
    table = on_top("5H", then="6H 7H")
    table.after(1, 10_000)
    table.command(Pause(True))
    assert table.view().paused
    assert not table.view().asleep
    assert refused(table["Ann"].turn()) == ("paused", "")
    assert refused(table["Ben"].slap()) == ("paused", "")
    table.later(3_600_000)
    assert table.news() == []
    table.command(Pause(False))
    assert not table.view().paused
    table.later(4_999)
    assert table.news() == []
    table.later(1)
    assert table.news() == ["Ann turns 6H"]


def test_r24_a_computer_that_was_about_to_turn_does_so_as_much_later() -> None:
    table = Table("Ann")
    table.command(AddComputer())
    table.rng.even = 0.5
    table.start("5H 6H")
    table.at(1_000)  # Ada would turn at 700 + 900
    table.command(Pause(True))
    table.later(10_000)
    table.rng.even = 0.99
    table.command(Pause(False))
    table.later(599)
    assert table.news() == []
    table.later(1)
    assert table.news() == ["Ada turns 5H"]


def test_r24_a_pause_decides_the_hands_that_are_down() -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid", rtt_ms={"Cid": 200})
    hands(table, 2, "300 Ben slaps")
    table.command(Pause(True))
    assert table.news() == ["Ben wins 2 on card 2"]


def test_r24_a_pause_leaves_a_slap_card_its_time() -> None:
    table = on_top("5H JS", then="9C")
    hands(table, 2, "100 Ben turns")
    table.after(2, 200)
    table.command(Pause(True))
    table.later(10_000)
    assert table.news() == []
    table.command(Pause(False))
    table.later(550)
    assert table["Ann"].slap(reaction_ms=750) is None
    table.later(SETTLED_MS)
    assert table.news() == ["Ann wins 2 on card 2"]


def test_r24_a_call_before_the_pause_still_counts_for_a_hand_after_it() -> None:
    table = on_top("5H JS", rules=CALL)
    hands(table, 2, "300 Ben calls")
    table.command(Pause(True))
    table.later(10_000)
    table.command(Pause(False))
    table.later(400)
    assert table["Ben"].slap(reaction_ms=700) is None
    table.later(SETTLED_MS)
    assert table.news() == ["Ben wins 2 on card 2"]


def test_r24_whoever_goes_during_a_pause_is_away_after_it() -> None:
    table = deal("5H", "Ann", "Ben", "Cid")
    table.at(5_000)
    table.command(Pause(True))
    table["Ben"].go()
    table.later(60_000)
    table.command(Pause(False))
    table.later(3_999)
    assert table.news() == []
    table.later(1)
    assert table.news() == ["Ben turns 5H"]


def test_r24_whoever_is_next_when_the_turner_leaves_a_paused_game_has_the_usual_time_after_it() -> None:
    table = on_top("5H", "Ann", "Ben", "Cid")
    table.later(5_000)
    table.command(Pause(True))
    table.later(60_000)
    assert table["Cid"].say(Quit()) is None
    table.later(60_000)
    table.command(Pause(False))
    assert table.news() == ["Cid is out"]
    table.later(14_999)
    assert table.news() == []
    table.later(1)
    assert table.news()[0].startswith("Ann turns")


def test_r24_nobody_waits_for_the_hand_of_a_phone_that_is_gone() -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid", rtt_ms={"Cid": 600})
    hands(table, 2, "300 Ann slaps")
    table.later(320)
    assert table.news() == [], "Cid may still be first"
    table["Cid"].go()
    assert table.news() == ["Ann wins 2 on card 2"]


def test_r24_a_last_hand_has_its_ten_seconds_in_spite_of_a_pause_and_one_who_leaves() -> None:
    table = Table("Ann", "Ben", "Cid")
    table.start("", "JC")
    table.turn_cards(52)
    table.news()
    table.after(52, 3_000)
    table.command(Pause(True))
    table.later(60_000)
    assert table["Cid"].say(Quit()) is None
    table.later(60_000)
    table.command(Pause(False))
    table.later(6_999)
    assert [line for line in table.news() if "takes back" in line] == []
    table.later(1)
    assert any("takes back 52" in line for line in table.news())


# --- leaving -----------------------------------------------------------------------------------------------------


def test_r25_whoever_leaves_puts_the_cards_under_the_pile() -> None:
    table = on_top("5H 6H JS", "Ann", "Ben", "Cid")
    assert table["Cid"].say(Quit()) is None
    assert table.news() == ["Cid is out"]
    assert table.cards() == {"Ann": 16, "Ben": 17, "Cid": 0}
    hands(table, 3, "300 Ben slaps")
    table.later(SETTLED_MS)
    assert table.news() == ["Ben wins 19 on card 3"]


def test_r25_the_host_removes_a_seat_and_the_next_one_turns() -> None:
    table = on_top("5H", "Ann", "Ben", "Cid", then="6H")
    table.command(Remove(table.seat("Cid").id))
    assert table["Cid"].closed is not None
    assert table.news() == ["Cid is out"]
    table.turn_cards(1)
    assert table.news()[0].startswith("Ann turns")


def test_r25_two_play_and_one_leaves_and_the_other_has_won() -> None:
    table = on_top("5H")
    assert table["Ben"].say(Quit()) is None
    assert table.news() == ["Ben is out", "over, last_seat: Ann"]
    assert table.seat("Ann").wins == 1
    assert [seat.name for seat in table.seats()] == ["Ann"]
    assert table.view().stage is Stage.LOBBY


def test_r25_a_hand_of_one_who_leaves_is_not_judged() -> None:
    table = on_top("5H JS", "Ann", "Ben", "Cid", rtt_ms={"Ann": 200})
    hands(table, 2, "300 Cid slaps")
    assert table["Cid"].say(Quit()) is None
    table.later(100)
    assert table["Ben"].slap() is None
    table.later(SETTLED_MS)
    assert table.news()[-1].startswith("Ben wins")


def test_r25_r7b_the_turner_has_left_and_the_penalty_goes_under_the_pile() -> None:
    table = on_top("5H", "Ann", "Ben", "Cid")
    assert table["Ben"].say(Quit()) is None
    assert table["Ann"].slap() is None
    assert table.news()[-1] == "Ann slaps wrong, 1 to the pile"


# --- computer players and handicaps ------------------------------------------------------------------------------


def against_ada(first: str, **plays: int) -> Table:
    """Ann has dealt, so Ada turns the first card."""
    table = Table("Ann")
    table.command(AddComputer(**plays))
    table.rng.even = 0.5
    table.start(first)
    return table


def test_r31_a_computer_turns_after_nine_tenths_of_a_second() -> None:
    table = against_ada("5H 6H 7H")
    table.at(4_000)
    assert table.news() == ["Ada turns 5H"]
    assert table["Ann"].turn() is None
    table.after(2, 899)
    assert table.news() == ["Ann turns 6H"]
    table.after(2, 900)
    assert table.news() == ["Ada turns 7H"]


def against_ada_on_a_jack(even: float, **plays: int) -> Table:
    """Ann turns a Jack for Ada, who draws such luck."""
    table = against_ada("5H JS", **plays)
    table.at(4_000)
    table.rng.even = even
    assert table["Ann"].turn() is None
    table.news()
    return table


def test_r31_a_computer_slaps_after_its_reaction_time() -> None:
    table = against_ada_on_a_jack(0.5, reaction_ms=700)
    table.after(2, 699)
    assert table.news() == []
    table.after(2, 699 + SETTLED_MS)
    assert table.news() == ["Ada wins 2 on card 2"]
    assert table.verdicts[0].hands[0].accepted_us == 700_000


def test_r31_a_quicker_person_wins() -> None:
    table = against_ada_on_a_jack(0.5, reaction_ms=700)
    hands(table, 2, "690 Ann slaps")
    table.later(SETTLED_MS)
    assert table.news()[0] == "Ann wins 2 on card 2"


def test_r31_no_computer_is_quicker_than_a_person_can_be() -> None:
    table = against_ada_on_a_jack(0.0001, reaction_ms=300, spread_ms=1_000)
    table.later(3_000)
    assert table.verdicts[0].hands[0].accepted_us == 150_000


def test_r31_the_spread_is_the_standard_deviation() -> None:
    table = against_ada_on_a_jack(NormalDist().cdf(1), reaction_ms=600, spread_ms=100)
    table.later(3_000)
    assert table.verdicts[0].hands[0].accepted_us == pytest.approx(700_000, abs=5)


@pytest.mark.parametrize(("percent", "slips"), [(0, 0), (49, 0), (51, 1), (100, 1)])
def test_r31_a_computer_slips_as_often_as_it_was_told_to(percent: int, slips: int) -> None:
    table = against_ada("5H 6H 7H", slip_percent=percent)
    table.at(2_400)
    assert table.news() == ["Ada turns 5H"] + ["Ada slaps wrong, 1 to the pile"] * slips


def test_r31_r19_nobody_slips_in_calm_mode() -> None:
    table = Table("Ann", rules=CALM)
    table.command(AddComputer(slip_percent=100))
    table.start("5H 6H")
    table.at(3_000)
    assert table["Ann"].carry_on() is None
    table.later(3_000)
    assert [line for line in table.news() if "wrong" in line] == []


def test_r31_r18_a_computer_that_is_out_is_no_judge() -> None:
    table = Table("Ann", "Ben", rules=TABLE_JUDGE)
    table.command(AddComputer())
    table.start("5H 6H JS")
    table.command(Remove(table.seat("Ada").id))
    table.turn_cards(2)
    table.news()
    too_close(table, 2)
    assert table.news()[0].startswith("Ann wins")


def test_r32_a_handicap_is_added_to_the_reaction_and_everybody_sees_it() -> None:
    table = Table("Ann", "Ben")
    table.command(SetHandicap(table.seat("Ann").id, 100))
    assert table.seat("Ann").handicap_ms == 100
    table.start("5H JS")
    table.turn_cards(2)
    table.news()
    hands(table, 2, "300 Ann slaps", "350 Ben slaps")
    table.later(SETTLED_MS)
    assert table.news() == ["Ben wins 2 on card 2"]
    ben, ann = table.verdicts[0].hands
    assert (ann.accepted_us, ann.handicap_us) == (400_000, 100_000)
    assert (ben.accepted_us, ben.handicap_us) == (350_000, 0)


def test_r32_a_handicap_counts_for_a_hand_that_is_still_to_come() -> None:
    table = Table("Ann", "Ben")
    table.command(SetHandicap(table.seat("Ann").id, 100))
    table.start("5H JS")
    table.turn_cards(2)
    table.news()
    hands(table, 2, "300 Ann slaps")
    table.after(2, 380)
    assert table.news() == [], "Ben may still be first"
    assert table["Ben"].slap() is None
    table.later(SETTLED_MS)
    assert table.news() == ["Ben wins 2 on card 2"]


def test_r32_nobody_waits_for_a_hand_that_its_handicap_keeps_from_being_first() -> None:
    table = Table("Ann", "Ben")
    table.command(SetHandicap(table.seat("Ben").id, 500))
    table.start("5H JS")
    table.turn_cards(2)
    table.news()
    hands(table, 2, "300 Ann slaps")
    assert table.news() == ["Ann wins 2 on card 2"]


def test_r18_nobody_judges_their_own_hand_from_a_second_screen() -> None:
    """A television with the same key watches, and still it is the same person."""
    table = Table("Ann", "Ben", rules=Rules(judge=JudgeOf.TABLE))
    screen = table.phone("Ann's screen")
    assert screen.join(key=table["Ann"].key, watch=True) is None
    table.start("5H JS")
    table.turn_cards(2)
    table.after(2, 450)
    assert table["Ann"].slap(reaction_ms=450) is None
    assert table["Ben"].slap(reaction_ms=452) is None
    table.later(1_000)
    assert table["Ann"].question is None, "nobody is there to ask"
    assert [verdict.winner for verdict in table.verdicts] == [0]
    assert refused(screen.say(Point(2, Seat(0)))) == ("no_question", "")


def test_r3_whoever_comes_between_a_turn_and_its_moment_gets_the_card_no_sooner() -> None:
    table = Table("Ann", "Ben", rules=Rules(min_show_ms=300), rtt_ms={"Ben": 400})
    table.start("5H JS")
    table.later(3_000)
    while table.turner() != "Ann":
        table.later(100)
    assert table["Ann"].turn() is None
    play = table.room.state.play
    assert play is not None
    assert play.witness.shown_us > table.now_us, "its moment is still to come"
    late = table.phone("Late")
    effects = table.room.receive(Said(late.conn, Join("Late", "🦊", watch=True)), table.now_us)
    whole = [e for e in effects if isinstance(e, Tell) and isinstance(e.message, Update) and e.message.view]
    assert [tell.send_at_us for tell in whole] == [(play.witness.shown_us,)]
