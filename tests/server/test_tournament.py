"""Tournaments, standings and what a finished game hands to the leaderboard."""

from typing import Any

import pytest

from engine.rules import GameName, Rules
from server.table.mail import Forgotten, Keep, Said
from server.table.records import Renamed, Result, Score
from server.table.scores import SCORES, ScoreBook
from tests.server.world import S, Table
from wire.messages import (
    AddComputer,
    AskTournaments,
    EndGame,
    Pause,
    Quit,
    Remove,
    Rename,
    SeatId,
    SetComputer,
    SetRules,
    SetTable,
    Stage,
    Start,
    Tournaments,
)

TIE = "5H"
"""A game that the host ends after one card is lost by whoever turned it."""


def play_a_game(table: Table) -> None:
    """One card is turned and the host ends the game: whoever did not turn has more cards and wins."""
    table.start(TIE)
    table.turn_cards(1)
    table.command(EndGame())


def whole_game(table: Table) -> None:
    """Lets a deck's worth of cards be turned, or the game end by itself."""
    while table.room.state.play is not None and table.room.state.play.game.view().turned < 52:
        for phone in table.phones:
            phone.carry_on()
            phone.turn()
        table.later(1_000)


def wins(table: Table) -> dict[str, int]:
    seen = table["Ann"].seen
    assert seen is not None
    return {standing.name: standing.wins for standing in seen.standings}


def test_r28_a_win_score_belongs_to_the_person_and_stays_when_they_leave() -> None:
    table = Table("Ann", "Ben", "Cleo")
    play_a_game(table)
    before = wins(table)
    winner = next(name for name, count in before.items() if count)
    loser = next(name for name in ("Ben", "Cleo") if name != winner)
    table[loser].say(Quit())
    assert wins(table) == before
    seen = table["Ann"].seen
    assert seen is not None
    assert next(s.seat for s in seen.standings if s.name == loser) is None
    table[loser].come_back()
    assert wins(table) == before


def test_r29_first_to_n_wins_is_champion_and_the_next_start_begins_anew() -> None:
    table = Table("Ann", "Ben")
    table.command(SetTable(first_to=2))
    games = 0
    while not (seen := table["Ann"].seen) or not seen.champions:
        play_a_game(table)
        games += 1
        assert games < 5
    assert seen.stage is Stage.LOBBY, "no next deal by itself: there is a champion to cheer"
    assert max(wins(table).values()) == 2
    table.later(60_000)
    assert table.room.state.play is None
    table.command(Start())
    (ended,) = table.saved.archive
    assert ended.games == games
    assert max(score.wins for score in ended.scores.values()) == 2
    assert table.saved.scores == {}
    assert table["Ann"].seen is not None
    assert table["Ann"].seen.champions == ()


def test_r29_a_tournament_is_open_ended_by_default() -> None:
    table = Table("Ann", "Ben")
    for _ in range(6):
        play_a_game(table)
        assert table["Ann"].seen is not None
        assert table["Ann"].seen.champions == ()
    assert sum(wins(table).values()) >= 6


def test_r29_a_champion_outlives_sleep_and_restart() -> None:
    table = Table("Ann", "Ben")
    table.command(SetTable(first_to=1))
    play_a_game(table)
    table.crash()
    table["Ann"].come_back()
    table["Ben"].come_back()
    seen = table["Ann"].seen
    assert seen is not None
    assert len(seen.champions) == 1
    table.command(Start())
    assert len(table.saved.archive) == 1
    assert table.saved.scores == {}


@pytest.mark.parametrize(
    ("people", "computers", "rules", "ranked"),
    [
        (("Ann", "Ben"), 0, Rules(), True),
        (("Ann", "Ben"), 2, Rules(), True),
        (("Ann",), 1, Rules(), False),
        (("Ann", "Ben"), 0, Rules(calm=True), False),
        (("Ann", "Ben"), 0, Rules(game=GameName.WAR), True),
    ],
    ids=["people", "people and computers", "computers only", "calm", "war"],
)
def test_r30_which_games_count_on_the_leaderboard(
    people: tuple[str, ...], computers: int, rules: Rules, ranked: bool
) -> None:
    table = Table(*people)
    for _ in range(computers):
        table.command(AddComputer())
    table.command(SetRules(rules))
    table.start(TIE)
    whole_game(table)
    table.command(EndGame())
    result = table.results[0]
    assert result.ranked is ranked
    assert result.game == rules.game
    assert {person.name for person in result.people} == set(people)
    assert sum(score.games for score in table.saved.scores.values()) == len(people) + computers


def test_r30_a_game_cut_short_by_the_host_is_none_for_the_leaderboard() -> None:
    """Else a loop of start and end would be the best player of all."""
    table = Table("Ann", "Ben")
    table.start(TIE)
    table.command(EndGame())
    assert [result.ranked for result in table.results] == [False]


def test_r30_a_table_may_opt_out() -> None:
    table = Table("Ann", "Ben")
    table.command(SetTable(ranked=False))
    play_a_game(table)
    assert [result.ranked for result in table.results] == [False]
    assert sum(score.wins for score in table.saved.scores.values()) == 1, "it counts at the table all the same"


def test_r30_every_game_has_a_result_of_its_own() -> None:
    table = Table("Ann", "Ben")
    for _ in range(3):
        play_a_game(table)
    ids = [result.id for result in table.results]
    assert len(set(ids)) == 3


def test_r30_the_reactions_of_a_game_are_those_that_the_dealer_accepted() -> None:
    table = Table("Ann", "Ben")
    table.start("5H JS")
    table.turn_cards(2)
    table.after(2, 450)
    assert table["Ann"].slap() is None
    table.later(1_000)
    table.command(EndGame())
    (result,) = table.results
    by_name = {person.name: person.reactions_us for person in result.people}
    assert by_name["Ben"] == ()
    assert by_name["Ann"] == tuple(hand.accepted_us for hand in table.verdicts[0].hands)
    seen = table["Ann"].seen
    assert seen is not None
    tallies = {seat.name: seat.tally for seat in seen.seats}
    assert tallies["Ben"] is None
    assert tallies["Ann"] is not None
    assert (tallies["Ann"].slaps, tallies["Ann"].wrong) == (1, 0)
    assert tallies["Ann"].average_ms == tallies["Ann"].best_ms == by_name["Ann"][0] // 1000


@pytest.mark.parametrize("how", ["away", "paused"])
def test_a_hand_on_a_card_on_which_the_table_stood_still_wins_the_pile_and_is_no_reaction(how: str) -> None:
    """Whoever hangs up on a Jack, thinks, and comes back has no record of it (R24, R30)."""
    table = Table("Ann", "Ben")
    table.start("5H JS")
    table.turn_cards(2)
    table.after(2, 20)
    if how == "away":
        table["Ben"].go()
        table["Ann"].go()
        table.later(1_000)
        table["Ann"].come_back()
    else:
        table.command(Pause(True))
        table.later(1_000)
        table.command(Pause(False))
    table.later(100)
    assert table["Ann"].slap(reaction_ms=1_200) is None
    table.later(1_000)
    (verdict,) = table.verdicts
    assert verdict.winner == 0
    assert verdict.hands[0].reaction_us is None
    assert verdict.hands[0].accepted_us < 300_000
    table.command(EndGame())
    assert table.results[0].people[0].reactions_us == ()


def test_whoever_wants_to_be_forgotten_is() -> None:
    table = Table("Ann", "Ben", "Cleo")
    table.command(SetTable(first_to=1))
    play_a_game(table)
    table.command(Start())
    ben = table.room.state.seats.chairs[1].record
    table.happens(Forgotten(ben.key_hash))
    table.command(EndGame())
    kept = repr(table.saved)
    assert "Ben" not in kept
    assert ben.key_hash not in kept
    assert "Ann" in kept
    assert table["Ben"].closed is not None


def test_a_table_at_which_nobody_knows_who_wants_to_be_forgotten_is_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever is forgotten is so at every table that is awake, and anybody may ask for it again and again."""
    table = Table("Ann", "Ben")
    play_a_game(table)
    monkeypatch.setattr("server.table.announcer.table_view", lambda _: pytest.fail("the whole table was put together"))
    assert table.room.receive(Forgotten("nobody"), table.now_us) == []


def test_whoever_is_forgotten_is_in_no_result_though_their_leaving_ends_the_game() -> None:
    table = Table("Ann", "Ben")
    table.start(TIE)
    ben = table.room.state.seats.chairs[1].record
    table.happens(Forgotten(ben.key_hash))
    (result,) = table.results
    assert {person.name for person in result.people} == {"Ann"}
    assert ben.key_hash not in repr(result)


def test_a_host_who_was_removed_does_not_keep_the_table() -> None:
    table = Table("Ann", "Ben")
    ben = table.room.state.seats.chairs[1].id
    table.command(Remove(ben))
    assert [chair.record.name for chair in table.room.state.seats.chairs] == ["Ann"]


def test_who_comes_for_one_game_again_and_again_fills_no_table() -> None:
    scores = {f"key {nth}": Score("Eve", "🦊", 0, 1) for nth in range(SCORES)}
    book = ScoreBook({"anna": Score("Anna", "🦊", 3, 9), **scores}, 0, ())
    table = Table("Ann", "Ben")
    book.count([table.room.state.seats.chairs[0]], [table.room.state.seats.chairs[0]])
    assert len(book.scores) == SCORES
    assert "anna" in book.scores
    assert table.room.state.seats.chairs[0].score_key in book.scores
    assert "key 0" not in book.scores


def result_after(*people: str, seconds: int = 60, cards: int = 44, quits: str = "") -> Result:
    """The result of a game in which these people turn so many cards in so much time; at last one of them may leave."""
    table = Table(*people)
    table.start(TIE)
    for _ in range(cards):
        for phone in table.phones:
            phone.turn()
        table.later(seconds * 1_000 / cards)
    if quits:
        table[quits].say(Quit())
    else:
        table.command(EndGame())
    return table.results[0]


@pytest.mark.parametrize(
    ("told", "ranked"),
    [
        ({}, True),
        ({"quits": "Ben"}, False),
        ({"cards": 3, "quits": "Ben"}, False),
        ({"seconds": 15}, False),
    ],
    ids=["a game", "nobody else is left (R28)", "left at once", "faster than people are"],
)
def test_r30_a_game_counts_when_there_was_one(told: dict[str, Any], ranked: bool) -> None:
    assert result_after("Ann", "Ben", **told).ranked is ranked


def test_r30_a_game_needs_the_hands_of_two_people() -> None:
    table = Table("Ann", "Ben")
    table.start(TIE)
    table["Ben"].go()
    while table.room.state.play is not None and table.room.state.play.game.view().turned < 45:
        table["Ann"].turn()
        table.later(1_000)
    table.command(EndGame())
    table.later(15_000)
    assert [result.ranked for result in table.results] == [False]


def test_r30_a_program_says_so_and_is_seen_as_one() -> None:
    table = Table("Ann")
    table.phone("Robin").join(program=True)
    seen = table["Ann"].seen
    assert seen is not None
    assert [seat.program for seat in seen.seats] == [False, True]
    table.crash()
    assert [seat.program for seat in table.saved.seats] == [False, True]


def test_r28_a_game_whose_opponents_are_away_at_its_end_is_not_ranked() -> None:
    table = Table("Ann", "Ben", "Cid")
    table.start(TIE)
    for _ in range(44):
        for phone in table.phones:
            phone.turn()
        table.later(1_400)
    table["Cid"].go()
    table["Ben"].go()
    table.command(EndGame())
    table.later(20_000)
    assert [result.ranked for result in table.results] == [False]


def test_r28_the_next_deal_waits_for_the_host_when_everybody_else_is_gone() -> None:
    table = Table("Ann", "Ben")
    table.start(TIE)
    table.command(EndGame())
    table["Ben"].go()
    assert (table.view().stage, table.view().deserted, table.view().next_deal_us) == (Stage.BREAK, True, 0)
    table.later(60_000)
    assert table.game == 1
    table["Ben"].come_back()
    assert (table.view().deserted, table.view().next_deal_us) == (False, table.now_us + 7 * S)
    table["Ben"].go()
    table.command(Start())
    assert (table.game, table.view().stage) == (2, Stage.PLAYING)


def test_r28_whoever_plays_against_computers_alone_is_not_waited_for() -> None:
    table = Table("Ann")
    table.command(AddComputer())
    table.start(TIE)
    table.command(EndGame())
    table.later(7_000)
    assert table.game == 2


def test_r28_duel_has_a_break_of_three_seconds_and_the_host_may_skip_it() -> None:
    table = Table("Ann", "Ben", rules=Rules(game=GameName.DUEL))
    table.start()
    table.command(EndGame())
    assert table.view().next_deal_us == table.now_us + 3 * S
    table.command(Start())
    assert table.game == 2


def test_r29_fewer_wins_than_somebody_has_crown_nobody_unasked() -> None:
    table = Table("Ann", "Ben")
    for _ in range(3):
        table.start(TIE)
        assert table["Ben"].say(Quit()) is None
        table["Ben"].joined = False
        table["Ben"].come_back()
    assert table.seat("Ann").wins == 3
    table.command(SetTable(5))
    refused = table["Ann"].say(SetTable(2))
    assert refused is not None
    assert refused.reason == "would_crown"
    assert (table.view().first_to, table.view().champions) == (5, ())
    table.command(SetTable(5, ranked=False), SetTable(2, crown=True))
    assert table.view().champions == (table.seat("Ann").id,)
    table.command(SetTable(2, ranked=True))


def test_r29_ended_tournaments_can_be_looked_at() -> None:
    table = Table("Ann", "Ben")
    table.command(SetTable(1))
    for _ in range(2):
        table.start(TIE)
        assert table["Ben"].say(Quit()) is None
        table["Ben"].joined = False
        table["Ben"].come_back()
    eve = table.joins("Eve", watch=True)
    assert eve.say(AskTournaments()) is None
    ((ended,),) = [message.ended for message in eve.heard if isinstance(message, Tournaments)]
    assert (ended.first_to, ended.games) == (1, 1)
    assert [(each.name, each.wins) for each in ended.standings] == [("Ann", 1), ("Ben", 0)]


def test_r31_computers_are_retuned_between_games_where_all_seats_are_taken_too() -> None:
    table = Table("Ann", rules=Rules(game=GameName.DUEL))
    table.command(AddComputer())
    computer = table.seats()[1].id
    table.command(SetComputer(computer, 450, 60, 2))
    seat = table.seats()[1]
    assert (seat.reaction_ms, seat.spread_ms, seat.slip_percent) == (450, 60, 2)
    for wrong in (SetComputer(table.seats()[0].id), SetComputer(SeatId("nobody"))):
        refused = table["Ann"].say(wrong)
        assert refused is not None
        assert refused.reason == "no_such_seat"
    table.start()
    refused = table["Ann"].say(SetComputer(computer))
    assert refused is not None
    assert refused.reason == "already_playing"


def test_made_up_names_cover_people_while_the_rule_is_on_and_go_with_it() -> None:
    table = Table("Ann", "Ben")
    table.start(TIE)
    table.command(EndGame())
    table["Ben"].say(Quit())
    assert table["Ann"].say(SetRules(Rules(plain_names=True))) is None
    covered = table.view()
    assert "Ann" not in str(covered)
    assert "Ben" not in str(covered), "whoever has left is not named in the standings either"
    assert table["Ann"].say(Rename("Anna", "🐻")) is None
    assert table.seats()[0].name == covered.seats[0].name
    assert table["Ann"].say(SetRules(Rules())) is None
    assert table.seats()[0].name == "Anna"
    assert {standing.name for standing in table.view().standings} == {"Anna", "Ben"}
    assert table["Ann"].say(SetRules(Rules(plain_names=True))) is None
    assert table.seats()[0].name == covered.seats[0].name, "the same one as before"


def test_r30_the_leaderboard_hears_at_once_of_another_name() -> None:
    table = Table("Ann", "Ben")
    key = table.room.state.seats.chairs[0].record.key_hash
    told = []
    for said in (Rename("Anna", "🐻"), SetRules(Rules(plain_names=True)), SetRules(Rules())):
        effects = table.happens(Said(table["Ann"].conn, said))
        told.append([each for effect in effects if isinstance(effect, Keep) for each in effect.change.renamed])
    made_up = table.room.state.seats.chairs[0].record.made_up
    assert told[0] == [Renamed(key, "Anna", "🐻")]
    assert told[1][0] == Renamed(key, made_up, "🐻")
    assert told[2][0] == Renamed(key, "Anna", "🐻")
    assert table["Ann"].say(SetTable(ranked=False)) is None
    effects = table.happens(Said(table["Ann"].conn, Rename("Annie", "🐻")))
    assert not [each for effect in effects if isinstance(effect, Keep) for each in effect.change.renamed]
