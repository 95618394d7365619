"""The room: who is at the table, who may do what, and what each of them is told."""

from typing import Any

import msgspec
import pytest

from engine.game import CardTurned, End, GameOver, Seat
from engine.rules import PRESETS, GameName, Rules
from server.base.keys import hash_of
from server.judge.path import Path
from server.table.mail import Forgotten, Keep, Said, Stalled, Tell, Woken
from server.table.names import clean
from server.table.records import Computer, Score, SeatRecord, TableRecord
from tests.server.world import CODE, MS, Phone, S, Table, a_deck, entropy_of
from wire.messages import (
    MAX_SEATS,
    AddComputer,
    Claim,
    ClientMessage,
    CloseCode,
    DoCall,
    DoCarryOn,
    DoSlap,
    DoTurn,
    EndGame,
    GiveSeat,
    HoldDeal,
    Join,
    Kind,
    LetBack,
    Lock,
    Message,
    Pause,
    Point,
    Quit,
    React,
    Reacted,
    Refused,
    RejectReason,
    Remove,
    Removed,
    Rename,
    SeatClaimed,
    Seated,
    SeatId,
    SetComputer,
    SetHandicap,
    SetRules,
    Shown,
    Sit,
    Stage,
    Start,
    Sync,
    Synced,
    TableSeat,
    Update,
    Welcome,
)

HOSTS_ONLY: list[ClientMessage] = [
    Start(),
    HoldDeal(True),
    SetComputer(SeatId("x")),
    LetBack(SeatId("x")),
    Pause(True),
    EndGame(),
    SetRules(Rules()),
    AddComputer(),
    Remove(SeatId("x")),
    SetHandicap(SeatId("x"), 100),
    GiveSeat(SeatId("x"), True),
    Lock(True),
]
MOVES: list[ClientMessage] = [DoTurn(0, 1), DoSlap(0, 1), DoCall(0, 1), DoCarryOn(0, 1)]


def tag(message: Message) -> str:
    return str(message.__struct_config__.tag)


def refused(answer: Refused | None) -> str | None:
    return None if answer is None else answer.reason


def names(table: Table) -> list[str]:
    return [seat.name for seat in table.seats()]


def finish(table: Table, winner: str, loser: str) -> None:
    """Ends the game of two when the loser has paid a card for a wrong slap."""
    table.turn_cards(2)
    assert table[loser].slap() is None
    table.command(EndGame())
    assert table.view().winners == (table.seat(winner).id,)


def next_game(table: Table) -> None:
    """Lets the break pass, and the deck begin with cards that nobody may slap."""
    table.rng.lay(entropy_of(a_deck()))
    table.later(7_000)
    assert table.view().stage is Stage.PLAYING


# --- coming in ---------------------------------------------------------------------------------------------------


def test_a_newcomer_gets_a_key_and_a_seat_and_the_whole_table() -> None:
    table = Table("Ann")
    welcome, first = table["Ann"].heard
    assert isinstance(welcome, Welcome)
    assert welcome.code == CODE
    assert welcome.room_us == table.now_us
    assert len(welcome.key) >= 22, "128 bits at least"
    assert isinstance(first, Update)
    assert first.table == table.view()
    assert first.show_at_us == 0
    (seat,) = table.seats()
    assert seat.id == welcome.seat
    assert (seat.name, seat.face, seat.kind, seat.host, seat.away, seat.wins) == (
        "Ann",
        "🦊",
        Kind.PERSON,
        True,
        False,
        0,
    )


def test_keys_and_seats_differ_and_only_the_hash_of_a_key_is_kept() -> None:
    table = Table("Ann", "Ben", "Cid")
    keys = [phone.key for phone in table.phones]
    assert len({*keys, *(str(phone.seat) for phone in table.phones)}) == 6
    kept = msgspec.msgpack.encode(table.saved)
    assert not any(key.encode() in kept for key in keys)


def test_a_key_is_told_to_its_owner_alone() -> None:
    table = Table("Ann", "Ben")
    told = [repr(message) for message in table["Ann"].heard]
    assert not any(table["Ben"].key in text for text in told)


def test_a_key_leads_back_to_the_same_seat() -> None:
    table = Table("Ann", "Ben")
    ben = table["Ben"]
    seat = ben.seat
    ben.go()
    assert table.seat("Ben").away
    ben.come_back()
    assert ben.seat == seat
    assert not table.seat("Ben").away
    assert names(table) == ["Ann", "Ben"]


def test_a_key_keeps_the_name_of_its_seat() -> None:
    table = Table("Ann", "Ben")
    other = table.phone("Somebody else")
    assert other.join(key=table["Ben"].key) is None
    assert names(table) == ["Ann", "Ben"]


def test_a_second_device_takes_the_seat_over_and_the_first_is_told_so() -> None:
    table = Table("Ann", "Ben")
    first, second = table["Ben"], table.phone("Ben on another phone")
    assert second.join(key=first.key) is None
    assert first.closed is not None
    assert first.closed.code == CloseCode.SEAT_TAKEN_OVER
    assert second.seat == first.seat
    first.go()
    assert not table.seat("Ben").away, "the old connection is nothing any more"


def test_a_seat_that_is_taken_over_in_a_game_plays_on() -> None:
    table = Table("Ann", "Ben")
    table.start("5H")
    second = table.phone("Ben on another phone")
    assert second.join(key=table["Ben"].key) is None
    assert second.turn() is None
    table.later(7_000)
    assert table.news() == ["Ben turns 5H"]


def test_a_wrong_key_is_a_newcomers() -> None:
    table = Table("Ann", "Ben")
    eve = table.phone("Eve")
    assert eve.join(key="A" * 32) is None
    assert names(table) == ["Ann", "Ben", "Eve"]


def test_a_key_too_short_to_be_a_secret_is_not_taken_over() -> None:
    table = Table("Ann")
    eve = table.phone("Eve")
    assert eve.join(key="secret") is None
    assert eve.key != "secret"
    assert len(eve.key) >= 22


def test_joining_twice_changes_nothing() -> None:
    table = Table("Ann", "Ben")
    assert refused(table["Ben"].join()) == "already_joined"
    assert names(table) == ["Ann", "Ben"]


@pytest.mark.parametrize(
    "message",
    [*HOSTS_ONLY, *MOVES, Point(1, Seat(0)), Shown(1, 1, 0), React("👋"), Rename("X", "🐸"), Sit("X", "🐸"), Quit()],
    ids=tag,
)
def test_whoever_has_not_joined_can_do_nothing(message: ClientMessage) -> None:
    table = Table("Ann", "Ben")
    before = table.saved
    stranger = table.phone("Eve")
    assert stranger.say(message) == Refused(tag(message), "join_first")
    assert table.saved == before
    assert stranger.closed is None


def test_the_clock_is_told_to_whoever_asks() -> None:
    table = Table("Ann")
    table.later(123)
    for phone in (table["Ann"], table.phone("Eve")):
        assert phone.say(Sync(sent_us=77)) is None
        assert phone.heard[-1] == Synced(77, table.now_us)


def test_another_protocol_is_turned_away() -> None:
    table = Table("Ann")
    old = table.phone("Old")
    old.join(protocol=999)
    assert old.closed is not None
    assert old.closed.code == CloseCode.WRONG_VERSION
    assert names(table) == ["Ann"]


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("  Zoë   Lee ", "Zoë Lee"),
        ("Bob\u202egnp", "Bobgnp"),
        ("A\u0301\u0301\u0301\u0301\u0301nn", "Á\u0301\u0301nn"),
        ("Bo\u200bb", "Bob"),
    ],
)
def test_a_name_is_cleaned(name: str, seen: str) -> None:
    table = Table("Cem")
    table.joins(name)
    assert names(table) == ["Cem", seen]


@pytest.mark.parametrize("name", ["   ", "\u200b\u200b", "<script>", "a" * 21, "\u202e", "\u0301"])
def test_a_bad_name_is_refused_in_words_and_may_be_tried_again(name: str) -> None:
    table = Table("Ann")
    eve = table.phone(name)
    answer = eve.join()
    assert answer is not None
    assert (answer.of, answer.reason) == ("join", "bad_name")
    assert answer.detail
    assert names(table) == ["Ann"]
    eve.name = "Eve"
    assert eve.join() is None
    assert names(table) == ["Ann", "Eve"]


def test_a_face_that_is_none_becomes_a_plain_one() -> None:
    table = Table("Ann")
    assert table.phone("Ben").join(face="LOOK AT ME") is None
    assert table.seat("Ben").face == "🙂"


def test_a_full_table_takes_nobody_but_those_who_watch() -> None:
    table = Table(*(f"P{number}" for number in range(MAX_SEATS)))
    assert refused(table.phone("Late").join()) == "table_full"
    wes = table.joins("Wes", watch=True)
    assert refused(wes.say(Sit("Wes", "🐸"))) == "table_full"
    assert refused(table["P0"].say(AddComputer())) == "table_full"
    assert len(table.seats()) == MAX_SEATS


@pytest.mark.parametrize("game", [GameName.DUEL, GameName.WAR])
def test_r20_r21_r28_passers_by_watch_and_the_tournament_of_two_goes_on(game: GameName) -> None:
    table = Table("Ann", "Ben", rules=Rules(game=game))
    passer_by = table.phone("Late")
    assert refused(passer_by.join()) == "table_full"
    assert passer_by.join(watch=True) is None
    assert refused(passer_by.say(Sit("Late", "🐸"))) == "table_full"
    assert refused(table["Ann"].say(AddComputer())) == "table_full"
    table.start()
    table.command(EndGame())
    assert table.view().stage is Stage.BREAK
    table.command(SetRules(Rules()))
    assert passer_by.say(Sit("Late", "🐸")) is None


def test_r12_a_game_that_is_too_long_to_be_kept_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal has a bound in bytes, also for a game that goes on after a restart."""
    monkeypatch.setattr("server.table.room.MOST_GAME_BYTES", 4_000)
    table = Table("Ann", "Ben")
    table.start(last="JS")
    table.turn_cards(3)
    table.crash()
    for phone in table.phones:
        phone.come_back()
    while table.view().stage is Stage.PLAYING:
        table.turn_cards(1)
        assert sum(map(len, table.journal)) < 6_000
    assert sum(map(len, table.journal)) > 4_000
    told = [m for m in table["Ann"].heard if isinstance(m, Update)]
    over = [event for update in told for event in update.events if isinstance(event, GameOver)]
    assert [e.end for e in over] == [End.TOO_LONG]
    assert table.view().stage is Stage.BREAK


def test_too_many_watch() -> None:
    table = Table("Ann", max_spectators=2)
    table.joins("Wes", watch=True)
    table.joins("Xia", watch=True)
    assert refused(table.phone("Yan").join(watch=True)) == "table_full"
    table["Wes"].go()
    assert refused(table.phone("Yan").join(watch=True)) is None


def test_a_locked_table_takes_no_newcomers_but_those_who_belong_to_it() -> None:
    table = Table("Ann", "Ben")
    wes = table.joins("Wes", watch=True)
    table.command(Lock(True))
    assert table.view().locked
    assert refused(table.phone("Cid").join()) == "table_locked"
    assert refused(table.phone("Dan").join(watch=True)) == "table_locked"
    assert refused(wes.say(Sit("Wes", "🐸"))) == "table_locked"
    table["Ben"].go()
    table["Ben"].come_back()
    wes.go()
    assert refused(table.phone("Wes").join(key=wes.key, watch=True)) is None
    assert refused(table.phone("Wes again").join(key=wes.key)) == "table_locked", "watching is no seat"
    table.command(Lock(False))
    assert refused(table.phone("Cid").join()) is None


def test_a_locked_table_forgets_who_watched_long_ago() -> None:
    table = Table("Ann", max_spectators=1)
    for name in ("Wes", "Xia"):
        table.joins(name, watch=True)
        table[name].go()
    table.command(Lock(True))
    assert refused(table.phone("Wes").join(key=table["Wes"].key, watch=True)) == "table_locked"
    assert refused(table.phone("Xia").join(key=table["Xia"].key, watch=True)) is None


# --- watching ----------------------------------------------------------------------------------------------------


def test_whoever_watches_has_no_seat_and_is_counted() -> None:
    table = Table("Ann")
    wes = table.joins("Wes", watch=True)
    assert wes.seat is None
    assert names(table) == ["Ann"]
    assert table.view().watching == 1
    wes.go()
    assert table.view().watching == 0


@pytest.mark.parametrize("message", [*HOSTS_ONLY, *MOVES, Rename("X", "🐸")], ids=tag)
def test_whoever_watches_plays_nothing_and_commands_nothing(message: ClientMessage) -> None:
    table = Table("Ann", "Ben")
    wes = table.joins("Wes", watch=True)
    assert wes.say(message) == Refused(tag(message), "not_seated")


def test_whoever_watches_sees_every_card_when_the_others_do() -> None:
    table = Table("Ann", "Ben")
    wes = table.joins("Wes", watch=True)
    table.start("5H 6H")
    table.turn_cards(2)
    assert wes.shown_us == table["Ann"].shown_us != {}


def test_r27_a_spectator_takes_a_seat_and_can_come_back_to_it() -> None:
    table = Table("Ann")
    wes = table.joins("Wes", watch=True)
    assert wes.say(Sit("Wes", "🐸")) is None
    assert isinstance(next(m for m in wes.heard if isinstance(m, Seated)), Seated)
    assert names(table) == ["Ann", "Wes"]
    assert table.view().watching == 0
    assert refused(wes.say(Sit("Wes", "🐸"))) == "already_seated"
    wes.go()
    wes.come_back()
    assert wes.seat == table.seat("Wes").id


def test_a_person_who_watches_on_two_devices_sits_on_one_chair() -> None:
    table = Table("Ann")
    phone, tablet = table.joins("Wes", watch=True), table.phone("Wes's tablet")
    assert tablet.join(key=phone.key, watch=True) is None
    assert phone.say(Sit("Wes", "🐸")) is None
    assert tablet.say(Sit("Wes again", "🐸")) is None
    assert names(table) == ["Ann", "Wes"]
    assert tablet.seat == phone.seat
    assert phone.closed is not None
    assert phone.closed.code == CloseCode.SEAT_TAKEN_OVER


# --- a lost key --------------------------------------------------------------------------------------------------


def lost(table: Table, name: str, *, watch: bool = True) -> Phone:
    """The phone of that name is gone, and its owner comes again without a key."""
    table[name].go()
    return table.joins(f"{name} again", watch=watch)


@pytest.mark.parametrize("watch", [True, False])
def test_r28_the_host_gives_somebody_who_lost_their_key_their_seat_and_score(watch: bool) -> None:
    table = Table("Ann", "Ben", "Cid")
    table.start("5H")
    table.turn_cards(1)
    cards, before, old_key = table.cards(), table.seat("Ben"), table["Ben"].key
    again = lost(table, "Ben", watch=watch)
    assert again.say(Claim(before.id)) is None
    assert table.seat("Ben").claimed
    table.command(GiveSeat(before.id, True))
    assert again.seat == before.id
    assert (table.cards(), names(table)) == (cards, ["Ann", "Ben", "Cid"])
    assert (table.seat("Ben").claimed, table.seat("Ben").away) == (False, False)
    table.command(EndGame())
    wins = {seat.name: seat.wins for seat in table.seats()}
    again.go()
    again.come_back()
    assert again.seat == before.id
    assert {seat.name: seat.wins for seat in table.seats()} == wins
    old = table.phone("Ben's old phone")
    assert old.join(key=old_key, watch=True) is None
    assert old.seat is None


def test_r28_the_wins_of_before_and_since_are_one_score() -> None:
    table = Table("Ann", "Ben")
    table.start("5H 6H")
    finish(table, "Ben", "Ann")
    seat = table.seat("Ben").id
    table.command(HoldDeal(True))
    again = lost(table, "Ben", watch=False)
    assert again.say(Claim(seat)) is None
    table.command(GiveSeat(seat, True))
    assert (names(table), table.seat("Ben").wins) == (["Ann", "Ben"], 1)
    assert [(standing.name, standing.wins, standing.seat) for standing in table.view().standings] == [
        ("Ben", 1, seat),
        ("Ann", 0, table.seat("Ann").id),
    ]


def test_a_claim_is_turned_away_by_the_host_or_when_the_person_is_back() -> None:
    table = Table("Ann", "Ben")
    seat = table.seat("Ben").id
    again = lost(table, "Ben")
    assert again.say(Claim(seat)) is None
    table.command(GiveSeat(seat, False))
    assert not table.seat("Ben").claimed
    assert refused(again.say(Claim(seat))) == "already_claimed", "the host has said no"
    other = table.joins("Ben once more", watch=True)
    assert other.say(Claim(seat)) is None
    table["Ben"].come_back()
    assert not table.seat("Ben").claimed
    assert refused(table["Ann"].say(GiveSeat(seat, True))) == "no_such_seat"
    table["Ben"].go()
    assert not table.seat("Ben").claimed, "nobody waits for a seat to be lost again"
    assert other.say(Claim(seat)) is None
    other.go()
    assert not table.seat("Ben").claimed
    assert again.seat is None


def test_the_host_is_told_who_says_that_a_seat_is_theirs() -> None:
    table = Table("Ann")
    ben = table.phone("Ben")
    table.happens(Said(ben.conn, Join("Ben", "🦊"), network="192.0.2.7"))
    seat = table.seat("Ben").id
    ben.go()
    table.later(90_000)
    came_us = table.now_us
    for name, network in (("Ben again", "192.0.2.7"), ("Eve", "198.51.100.1")):
        phone = table.phone(name)
        table.happens(Said(phone.conn, Join(name, "🐻", watch=True), network=network))
    told_before = len(table["Ann"].heard)
    assert table["Ben again"].say(Claim(seat)) is None
    until_us = table.now_us + 120 * S
    asked = [m for m in table["Ann"].heard[told_before:] if isinstance(m, SeatClaimed)]
    assert asked == [SeatClaimed(seat, "Ben again", "🐻", came_us, until_us, True)]
    assert not any(isinstance(m, SeatClaimed) for phone in table.phones[1:] for m in phone.heard)
    assert refused(table["Eve"].say(Claim(seat))) == "already_claimed", "one asks at a time"
    table["Ann"].go()
    table["Ann"].come_back()
    assert [m for m in table["Ann"].heard if isinstance(m, SeatClaimed)] == asked * 2
    table.later(120_000)
    assert not table.seat("Ben").claimed, "the host has not answered"
    assert table["Eve"].say(Claim(seat)) is None
    assert [m.same_network for m in table["Ann"].heard if isinstance(m, SeatClaimed)][2:] == [False]


def test_nobody_lurks_for_a_seat_to_be_lost() -> None:
    table = Table("Ann", "Ben")
    seat = table.seat("Ben").id
    eve = table.joins("Eve", watch=True)
    table.later(31_000)
    table["Ben"].go()
    assert refused(eve.say(Claim(seat))) == "came_before"
    eve.go()
    back = table.phone("Eve")
    assert back.join(key=eve.key, watch=True) is None
    assert refused(back.say(Claim(seat))) == "came_before", "coming again makes nobody newer"
    assert table.joins("Ben again", watch=True).say(Claim(seat)) is None


def test_a_seat_that_was_given_is_nobody_elses_who_claimed_it_before() -> None:
    table = Table("Ann", "Ben")
    seat = table.seat("Ben").id
    again, eve = lost(table, "Ben"), table.joins("Eve", watch=True)
    assert (again.say(Claim(seat)), refused(eve.say(Claim(seat)))) == (None, "already_claimed")
    table.command(GiveSeat(seat, True))
    assert again.seat == seat
    again.go()
    assert not table.seat("Ben").claimed
    assert refused(table["Ann"].say(GiveSeat(seat, True))) == "no_such_seat"


def test_whoever_has_become_host_gives_no_seat_to_themselves() -> None:
    table = Table("Ann", "Ben", "Cid")
    cid = table.seat("Cid").id
    table["Cid"].go()
    ben, eve = table["Ben"], table.joins("Eve", watch=True)
    assert ben.say(Claim(cid)) is None
    table["Ann"].say(Quit())
    assert (table.host().name, table.seat("Cid").claimed) == ("Ben", False)
    assert refused(ben.say(GiveSeat(cid, True))) == "no_such_seat"
    assert eve.say(Claim(cid)) is None
    assert ben.say(GiveSeat(cid, True)) is None
    assert (ben.seat, eve.seat) == (table.seat("Ben").id, cid)


def test_whose_seat_cannot_be_claimed_and_who_cannot_claim() -> None:
    table = Table("Ann", "Ben", "Cid")
    table.command(AddComputer())
    computer = table.seats()[-1].id
    wes = table.joins("Wes", watch=True)
    for seat in (table.seat("Cid").id, computer, SeatId("x")):
        assert refused(wes.say(Claim(seat))) == "no_such_seat"
    table["Cid"].go()
    tablet = table.phone("Cid's tablet")
    assert tablet.join(key=table["Cid"].key, watch=True) is None
    assert refused(tablet.say(Claim(table.seat("Cid").id))) == "already_seated", "it is theirs: they may sit down"
    assert refused(table["Ann"].say(Claim(table.seat("Cid").id))) == "already_seated"
    table.start()
    assert refused(table["Ben"].say(Claim(table.seat("Cid").id))) == "already_seated"
    assert refused(table["Ann"].say(GiveSeat(table.seat("Cid").id, True))) == "no_such_seat"


@pytest.mark.parametrize("name", ["<b>", "   "])
def test_a_bad_name_is_no_name_to_sit_down_with(name: str) -> None:
    table = Table("Ann")
    wes = table.joins("Wes", watch=True)
    assert refused(wes.say(Sit(name, "🐸"))) == "bad_name"
    assert refused(table["Ann"].say(Rename(name, "🐸"))) == "bad_name"
    assert names(table) == ["Ann"]


# --- names, faces, emoji -----------------------------------------------------------------------------------------


def test_rename() -> None:
    table = Table("Ann")
    assert table["Ann"].say(Rename("  Anna ", "🐸")) is None
    assert (table.seats()[0].name, table.seats()[0].face) == ("Anna", "🐸")
    assert table.saved.seats[0].name == "Anna"


def test_where_children_play_names_are_made_up_and_faces_are_ones_own() -> None:
    table = Table("Ann", "Ben", rules=PRESETS["little_kids"].rules)
    made_up = names(table)
    assert not {"Ann", "Ben"} & set(made_up)
    assert len(set(made_up)) == 2
    assert table["Ben"].say(Rename("Rude", "🐸")) is None
    assert names(table) == made_up
    assert table.seats()[1].face == "🐸"


def test_names_are_made_up_once() -> None:
    table = Table("Ann", "Ben")
    assert table["Ann"].say(SetRules(Rules(plain_names=True))) is None
    made_up = names(table)
    assert not {"Ann", "Ben"} & set(made_up)
    assert table["Ann"].say(SetRules(Rules(plain_names=True, min_show_ms=1_500))) is None
    assert names(table) == made_up


def test_an_emoji_is_shown_to_everybody_and_once_a_second() -> None:
    table = Table("Ann", "Ben")
    wes = table.joins("Wes", watch=True)
    assert table["Ben"].say(React("🎉")) is None
    assert all(phone.heard[-1] == Reacted(table["Ben"].seat, "🎉") for phone in table.phones)
    assert refused(table["Ben"].say(React("🎉"))) == "too_soon"
    assert wes.say(React("👏")) is None
    assert table["Ann"].heard[-1] == Reacted(None, "👏")
    table.later(999)
    assert refused(table["Ben"].say(React("🎉"))) == "too_soon"
    table.later(1)
    assert table["Ben"].say(React("🎉")) is None


def test_no_emoji_where_they_are_off() -> None:
    table = Table("Ann", rules=Rules(reactions=False))
    assert refused(table["Ann"].say(React("🎉"))) == "reactions_off"


# --- the host's commands -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("message", HOSTS_ONLY, ids=tag)
def test_r26_only_the_host_commands(message: ClientMessage) -> None:
    table = Table("Ann", "Ben")
    before = table.saved
    assert table["Ben"].say(message) == Refused(tag(message), "not_host")
    assert table.saved == before
    assert table.view().stage is Stage.LOBBY


@pytest.mark.parametrize(
    ("people", "rules", "reason", "rule"),
    [
        (1, Rules(), "too_few", "R1"),
        (1, Rules(game=GameName.WAR), "too_few", "R21"),
        (3, Rules(game=GameName.DUEL), "too_many", "R20"),
        (3, Rules(game=GameName.WAR), "too_many", "R21"),
    ],
)
def test_r1_r20_r21_a_game_needs_its_number_of_seats(people: int, rules: Rules, reason: str, rule: str) -> None:
    table = Table(*("Ann", "Ben", "Cid")[:people])
    table.command(SetRules(rules))
    answer = table["Ann"].say(Start())
    assert answer is not None
    assert answer.reason == reason
    assert answer.rule == rule
    assert answer.detail.startswith(f"{rule}: ")
    assert table.view().stage is Stage.LOBBY


def test_a_second_start_changes_nothing() -> None:
    table = Table("Ann", "Ben")
    table.start("5H")
    assert refused(table["Ann"].say(Start())) == "already_playing"
    assert table.game == 1
    table.turn_cards(1)
    assert table.news() == ["Ben turns 5H"]


@pytest.mark.parametrize(
    ("rules", "rule"),
    [
        (Rules(wrong_call=True), "R14"),
        (Rules(call=True, say_jack=True), "R13a"),
        (Rules(calm=True, time_limit_min=5), "R19"),
        (Rules(game=GameName.WAR, queens=True), "R21"),
    ],
)
def test_rules_that_exclude_each_other_cannot_be_chosen_and_say_why(rules: Rules, rule: str) -> None:
    table = Table("Ann", "Ben")
    answer = table["Ann"].say(SetRules(rules))
    assert answer is not None
    assert answer.reason == "bad_rules"
    assert answer.rule == rule
    assert answer.detail.startswith(f"{rule}: ")
    assert table.view().rules == Rules()


def test_rules_are_changed_between_games_only() -> None:
    table = Table("Ann", "Ben")
    table.command(SetRules(Rules(queens=True)))
    assert table.view().rules == table.saved.rules == Rules(queens=True)
    table.start()
    assert refused(table["Ann"].say(SetRules(Rules()))) == "already_playing"
    assert refused(table["Ann"].say(SetHandicap(table.seat("Ben").id, 100))) == "already_playing"
    table.command(EndGame(), SetRules(Rules()))
    assert table.view().rules == Rules()


@pytest.mark.parametrize("message", [Pause(True), EndGame()], ids=tag)
def test_without_a_game_there_is_nothing_to_pause_or_end(message: ClientMessage) -> None:
    table = Table("Ann", "Ben")
    assert refused(table["Ann"].say(message)) == "not_playing"


@pytest.mark.parametrize("message", [*MOVES, Point(1, Seat(0))], ids=tag)
def test_without_a_game_there_is_nothing_to_move(message: ClientMessage) -> None:
    table = Table("Ann", "Ben")
    assert refused(table["Ben"].say(message)) == "not_playing"


@pytest.mark.parametrize("message", MOVES, ids=tag)
def test_a_move_for_another_game_is_stale_and_costs_nothing(message: ClientMessage) -> None:
    table = Table("Ann", "Ben")
    table.start()
    assert refused(table["Ben"].say(message)) == "other_game"
    assert table.cards() == {"Ann": 26, "Ben": 26}


def test_r31_computers_are_seated_up_to_ten_with_names_of_their_own() -> None:
    table = Table("Ann", "Ada")
    table.command(*(AddComputer(reaction_ms=700) for _ in range(8)))
    assert len(set(names(table))) == 10
    computers = [seat for seat in table.seats() if seat.kind is Kind.COMPUTER]
    assert [(seat.reaction_ms, seat.face, seat.away) for seat in computers] == [(700, "🤖", False)] * 8
    assert refused(table["Ann"].say(AddComputer())) == "table_full"


def test_r31_a_computer_sits_down_during_a_game_and_is_dealt_in_next() -> None:
    table = Table("Ann", "Ben")
    table.start()
    table.command(AddComputer())
    assert table.seat("Ada").place is None
    table.command(EndGame())
    table.later(7_000)
    assert table.seat("Ada").place == 2


def test_r25_remove_in_the_lobby() -> None:
    table = Table("Ann", "Ben", "Cid")
    table.command(AddComputer(), Remove(table.seat("Ben").id))
    assert names(table) == ["Ann", "Cid", "Ada"]
    assert table["Ben"].closed is not None
    assert table["Ben"].closed.code == CloseCode.REMOVED
    table.command(Remove(table.seat("Ada").id))
    assert names(table) == ["Ann", "Cid"]
    assert refused(table["Ann"].say(Remove(SeatId("x")))) == "no_such_seat"
    assert refused(table["Ann"].say(SetHandicap(SeatId("x"), 100))) == "no_such_seat"


def test_r25_whoever_was_removed_stays_out_until_the_host_lets_them_back() -> None:
    table = Table("Ann", "Ben")
    ben = table["Ben"]
    screen = table.phone("Ben's television")
    assert screen.join(key=ben.key, watch=True) is None
    seat = table.seat("Ben").id
    table.command(Remove(seat))
    assert screen.closed is not None, "from all their screens"
    assert table.view().removed == (Removed(seat, "Ben", "🦊"),)
    table.crash()
    table["Ann"].come_back()
    for watch in (False, True):
        again = table.phone("Ben again")
        assert refused(again.join(key=ben.key, watch=watch)) == "removed"
    assert refused(table["Ann"].say(LetBack(SeatId("nobody")))) == "no_such_seat"
    table.command(LetBack(seat))
    assert table.view().removed == ()
    assert again.join(key=ben.key) is None
    assert again.seat != seat
    assert names(table) == ["Ann", "Ben again"]


def test_r25_a_seat_is_cleared_only_while_its_person_is_away() -> None:
    table = Table("Ann", "Ben")
    seat = table.seat("Ben").id
    assert refused(table["Ann"].say(Remove(seat, if_away=True))) == "not_away"
    table["Ben"].go()
    table.command(Remove(seat, if_away=True))
    assert names(table) == ["Ann"]
    table["Ben"].come_back()
    assert names(table) == ["Ann", "Ben"], "nobody has sent them away"


def test_a_removed_person_who_is_forgotten_is_not_on_the_list_either() -> None:
    table = Table("Ann", "Ben")
    person = table.room.state.seats.chairs[1].record.key_hash
    table.command(Remove(table.seat("Ben").id))
    table.happens(Forgotten(person))
    assert table.view().removed == ()
    assert person not in str(table.room.record())


def test_r25_whoever_has_left_a_running_game_comes_back_to_the_next() -> None:
    table = Table("Ann", "Ben", "Cid")
    table.start()
    assert table["Cid"].say(Quit()) is None
    table["Cid"].joined = False
    table["Cid"].come_back()
    assert [seat.place for seat in table.seats() if seat.name == "Cid"] == [2, None]
    assert refused(table["Cid"].turn()) == "not_playing"
    table.command(EndGame())
    assert names(table) == ["Ann", "Ben", "Cid"]
    table.later(7_000)
    assert table.seat("Cid").place == 2


def test_r25_a_seat_that_has_left_cannot_be_removed_again() -> None:
    table = Table("Ann", "Ben", "Cid")
    table.start()
    seat = table.seat("Cid").id
    table.command(Remove(seat))
    assert refused(table["Ann"].say(Remove(seat))) == "no_such_seat"


def test_r25_quitting_says_goodbye() -> None:
    table = Table("Ann", "Ben")
    wes = table.joins("Wes", watch=True)
    for phone in (table["Ben"], wes):
        assert phone.say(Quit()) is None
        assert phone.closed is not None
        assert phone.closed.code == CloseCode.REMOVED
    assert names(table) == ["Ann"]
    assert [seat.name for seat in table.saved.seats] == ["Ann"]


def test_r32_a_handicap_is_kept() -> None:
    table = Table("Ann", "Ben")
    table.command(SetHandicap(table.seat("Ben").id, 250))
    assert table.seat("Ben").handicap_ms == 250
    assert table.saved.seats[1].handicap_ms == 250


# --- the host's role ---------------------------------------------------------------------------------------------


def test_r26_the_first_seat_is_host() -> None:
    table = Table("Ann", "Ben")
    assert table.host().name == "Ann"
    assert table.saved.host == table.seat("Ann").id


def test_r26_the_role_passes_after_thirty_seconds_to_the_longest_seated_person_present() -> None:
    table = Table("Ann", "Ben", "Cid", "Dan")
    table.command(AddComputer())
    table["Ben"].go()
    table["Ann"].go()
    table.later(29_999)
    assert table.host().name == "Ann"
    table.later(1)
    assert table.host().name == "Cid"
    assert refused(table["Dan"].say(Lock(True))) == "not_host"
    table.command(Lock(True))
    assert table.saved.host == table.seat("Ann").id, "after a restart the role is the first host's"


def test_r26_a_computer_player_is_no_host() -> None:
    table = Table("Ann")
    table.command(AddComputer())
    table.joins("Ben")
    table["Ann"].go()
    table.later(30_000)
    assert table.host().name == "Ben"
    table["Ann"].come_back()
    assert table["Ann"].say(Quit()) is None
    assert table.host().name == "Ben"


def test_r26_the_role_is_given_back_on_return() -> None:
    table = Table("Ann", "Ben")
    table["Ann"].go()
    table.later(30_000)
    assert table.host().name == "Ben"
    table["Ann"].come_back()
    assert table.host().name == "Ann"


def test_r26_a_new_host_who_started_a_game_keeps_the_role() -> None:
    table = Table("Ann", "Ben", "Cid")
    table["Ann"].go()
    table.later(30_000)
    table.start()
    table["Ann"].come_back()
    assert table.host().name == "Ben"
    assert table.saved.host == table.seat("Ben").id


def test_r26_a_host_who_is_back_in_time_keeps_the_role() -> None:
    table = Table("Ann", "Ben")
    table["Ann"].go()
    table.later(29_000)
    table["Ann"].come_back()
    table.later(29_000)
    table["Ann"].go()
    table.later(29_000)
    assert table.host().name == "Ann"


def test_r26_the_role_passes_on_and_goes_back_to_the_first() -> None:
    table = Table("Ann", "Ben", "Cid")
    table["Ann"].go()
    table.later(30_000)
    table["Ben"].go()
    table.later(30_000)
    assert table.host().name == "Cid"
    table["Ben"].come_back()
    assert table.host().name == "Cid"
    table["Ann"].come_back()
    assert table.host().name == "Ann"


def test_r26_nobody_is_there_and_the_first_to_come_is_host() -> None:
    table = Table("Ann", "Ben")
    table["Ben"].go()
    table["Ann"].go()
    table.later(3_600_000)
    assert table.room.wake_at() is None
    table["Ben"].come_back()
    assert table.host().name == "Ben"


def test_r26_the_host_leaves_for_good() -> None:
    table = Table("Ann", "Ben", "Cid")
    table["Ben"].go()
    assert table["Ann"].say(Quit()) is None
    assert table.host().name == "Cid", "somebody who is there"
    assert table.saved.host == table.seat("Cid").id


def test_r26_the_deputy_leaves_for_good_and_the_role_is_the_absent_hosts() -> None:
    table = Table("Ann", "Ben", "Cid")
    table["Ann"].go()
    table.later(30_000)
    assert table["Ben"].say(Quit()) is None
    table.later(30_000)
    assert table.host().name == "Cid"
    table["Ann"].come_back()
    assert table.host().name == "Ann"


def test_r26_the_absent_host_is_removed_by_the_deputy() -> None:
    table = Table("Ann", "Ben")
    table["Ann"].go()
    table.later(30_000)
    table.command(Remove(table.seat("Ann").id))
    assert table.host().name == "Ben"
    assert table.saved.host == table.seat("Ben").id


def test_r26_everybody_leaves_and_a_newcomer_is_host() -> None:
    table = Table("Ann")
    table.command(AddComputer())
    assert table["Ann"].say(Quit()) is None
    assert table.saved.host is None
    table.joins("Ben")
    assert table.host().name == "Ben"


def test_r26_r24_a_silent_host_counts_as_away() -> None:
    table = Table("Ann", "Ben")
    table.start("", "JS JH JD JC")
    while not table.seat("Ann").away:
        if table.turner() == "Ben":
            table.turn_cards(1)
        table.later(1_000)
    for _ in range(40):
        if table.turner() == "Ben":
            table.turn_cards(1)
        table.later(1_000)
    assert table.host().name == "Ben"
    assert table["Ann"].say(Pause(True)) is None, "back with the first thing she does"
    assert table.host().name == "Ann"
    assert table.view().paused


# --- games after games -------------------------------------------------------------------------------------------


def test_r28_games_follow_one_another_after_three_seconds() -> None:
    table = Table("Ann", "Ben")
    table.start()
    table.command(EndGame())
    assert table.view().stage is Stage.BREAK
    assert table.view().next_deal_us == table.now_us + 7_000_000
    table.later(6_999)
    assert table.view().stage is Stage.BREAK
    table.later(1)
    assert table.view().stage is Stage.PLAYING
    assert table.game == 2
    assert table.view().next_deal_us == 0


def test_r2_r28_the_deal_passes_left() -> None:
    table = Table("Ann", "Ben", "Cid")
    table.start()
    dealers = []
    for _ in range(4):
        dealers.append(next(seat.name for seat in table.seats() if seat.id == table.view().dealer))
        turner = table.turner()
        order = names(table)
        assert turner == order[(order.index(dealers[-1]) + 1) % 3]
        table.command(EndGame())
        table.later(7_000)
    assert dealers == ["Ann", "Ben", "Cid", "Ann"]


def test_r2_r28_the_deal_passes_left_though_the_dealer_has_left() -> None:
    table = Table("Ann", "Ben", "Cid", "Dan")
    table.start()
    table.command(EndGame())
    table.later(7_000)
    assert table.view().dealer == table.seat("Ben").id
    assert table["Ben"].say(Quit()) is None
    table.command(EndGame())
    table.later(7_000)
    assert table.view().dealer == table.seat("Cid").id


def test_r28_the_host_holds_the_next_deal_and_lets_it_go_on() -> None:
    table = Table("Ann", "Ben")
    table.start()
    table.command(EndGame(), HoldDeal(True))
    assert table.view().held
    assert table.view().next_deal_us == 0
    table.later(60_000)
    assert table.view().stage is Stage.BREAK
    table.command(SetRules(Rules(queens=True)), HoldDeal(False))
    table.later(7_000)
    assert table.view().stage is Stage.PLAYING
    assert not table.view().held


def test_r28_the_host_may_hold_during_the_game_and_starts_the_next_by_hand() -> None:
    table = Table("Ann", "Ben")
    table.start()
    table.command(HoldDeal(True), EndGame())
    table.later(60_000)
    assert table.view().stage is Stage.BREAK
    table.command(Start(), EndGame())
    table.later(7_000)
    assert table.game == 3, "a hold is for one break"


def test_r28_the_host_starts_the_next_game_at_once() -> None:
    table = Table("Ann", "Ben")
    table.start()
    table.command(EndGame(), Start())
    assert table.game == 2
    table.later(7_000)
    assert table.game == 2


def test_r28_no_next_game_without_a_person() -> None:
    table = Table("Ann")
    table.command(AddComputer())
    table.start()
    table.command(EndGame())
    table["Ann"].go()
    table.later(60_000)
    assert table.room.wake_at() is None
    table["Ann"].come_back()
    assert table.view().stage is Stage.LOBBY
    assert table.game == 1


def test_r28_no_next_game_without_two_seats() -> None:
    table = Table("Ann", "Ben")
    table.start()
    table.command(EndGame(), Remove(table.seat("Ben").id))
    assert table.view().stage is Stage.LOBBY
    table.later(60_000)
    assert table.game == 1


def test_r28_rules_for_another_number_of_seats_end_the_break() -> None:
    table = Table("Ann", "Ben", "Cid")
    table.start()
    table.command(EndGame(), SetRules(Rules(game=GameName.WAR)))
    assert table.view().stage is Stage.LOBBY


def test_r28_every_win_counts_for_its_winner() -> None:
    table = Table("Ann", "Ben")
    table.start()
    finish(table, "Ann", "Ben")
    next_game(table)
    finish(table, "Ann", "Ben")
    next_game(table)
    finish(table, "Ben", "Ann")
    assert [seat.wins for seat in table.seats()] == [2, 1]
    assert sum(score.wins for score in table.saved.scores.values()) == 3


def test_r28_a_shared_win_counts_for_each() -> None:
    table = Table("Ann", "Ben")
    table.start()
    table.command(EndGame())
    assert [seat.wins for seat in table.seats()] == [1, 1]
    assert set(table.view().winners) == {seat.id for seat in table.seats()}


def test_r28_win_scores_survive_everybody_leaving_and_the_server_restarting() -> None:
    table = Table("Ann", "Ben")
    table.command(AddComputer())
    table.start()
    table.command(EndGame())
    wins = {seat.name: seat.wins for seat in table.seats()}
    assert table["Ben"].say(Quit()) is None
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(table.saved), type=TableRecord)
    later = Table(record=kept, seed=2)
    for name in ("Ann", "Ben"):
        assert later.phone(name).join(key=table[name].key) is None
    assert {seat.name: seat.wins for seat in later.seats()} == wins
    assert later.game == 1
    assert later.host().name == "Ann"
    assert later.seat("Ada").kind is Kind.COMPUTER
    assert later.view().dealer == table.view().dealer


def test_r17_a_restart_is_no_first_game() -> None:
    record = TableRecord(CODE, Rules(show_jacks=True), games=3)
    table = Table("Ann", "Ben", record=record)
    table.start("5H")
    assert table[table.turner()].turn() is None
    table.later(8_000)
    assert table.shown(1) == 1_500


def test_r27_whoever_joins_late_watches_and_is_dealt_in_next() -> None:
    table = Table("Ann", "Ben")
    table.start("5H")
    table.turn_cards(1)
    cid = table.joins("Cid")
    assert table.seat("Cid").place is None
    assert cid.view == table["Ann"].view
    assert refused(cid.slap()) == "not_playing"
    assert refused(cid.turn()) == "not_playing"
    table.command(EndGame())
    table.later(7_000)
    assert [seat.place for seat in table.seats()] == [0, 1, 2]
    assert table.cards() == {"Ann": 17, "Ben": 17, "Cid": 18}


def test_r24_r27_a_game_goes_on_for_one_who_joined_late() -> None:
    table = Table("Ann", "Ben")
    table.start("5H 6H")
    table.turn_cards(1)
    table.joins("Cid")
    table["Ann"].go()
    table["Ben"].go()
    assert not table.view().asleep
    table.later(20_000)
    assert table.top() > 1


def test_r24_a_paused_game_is_there_when_everybody_comes_back() -> None:
    table = Table("Ann", "Ben")
    table.start("5H 6H")
    table.turn_cards(1)
    table.command(Pause(True))
    table["Ann"].go()
    table["Ben"].go()
    table.later(3_600_000)
    table["Ann"].come_back()
    assert table.view().paused
    table.command(Pause(False))
    assert not table.view().paused
    assert table["Ann"].turn() is None


# --- what people are told ----------------------------------------------------------------------------------------


def test_a_newcomer_sees_what_the_others_see_and_holds_it_as_long() -> None:
    table = Table("Ann", "Ben", rtt_ms={"Ann": 200, "Ben": 200})
    table.start("5H 6H")
    table.later(7_000)
    assert table["Ben"].turn() is None
    wes = table.joins("Wes", watch=True)
    assert wes.view == table["Ann"].view
    assert wes.view is not None
    assert wes.view.turned == 1
    last = next(m for m in reversed(table["Ann"].heard) if isinstance(m, Update) and m.events)
    snapshot = wes.heard[-1]
    assert isinstance(snapshot, Update)
    assert snapshot.show_at_us == last.show_at_us > table.now_us


@pytest.mark.parametrize(
    ("rules", "asked"),
    [
        (Rules(), [False, False, True]),
        (Rules(doubles=True), [False, True]),
        (Rules(game=GameName.WAR), [False]),
    ],
)
def test_phones_say_when_they_painted_a_card_only_where_hands_on_it_are_judged(rules: Rules, asked: list[bool]) -> None:
    table = Table("Ann", "Ben", rules=rules)
    table.start(first="4H 4D JS")
    table.turn_cards(len(asked))
    turned = [
        message.say_shown
        for message in table["Ann"].heard
        if isinstance(message, Update) and any(isinstance(event, CardTurned) for event in message.events)
    ]
    assert turned == asked


@pytest.mark.parametrize("show_jacks", [True, False])
def test_a_newcomer_sees_a_fresh_deal_at_once(show_jacks: bool) -> None:
    table = Table("Ann", "Ben", rules=Rules(show_jacks=show_jacks))
    table.start("5H")
    table.later(100)
    wes = table.joins("Wes", watch=True)
    snapshot = wes.heard[-1]
    assert isinstance(snapshot, Update)
    assert snapshot.show_at_us == 0, "no card is there to be held back"


def test_a_phone_that_comes_back_misses_nothing() -> None:
    table = Table("Ann", "Ben")
    table.start("5H 6H 7H")
    table.turn_cards(1)
    table["Ben"].go()
    assert table["Ann"].turn() is None
    table.later(1_000)
    table["Ben"].come_back()
    assert table["Ben"].view == table["Ann"].view
    assert table["Ben"].n == table["Ann"].n
    table.later(1_000)
    assert table["Ben"].turn() is None
    assert table["Ben"].n == table["Ann"].n


def test_what_has_not_changed_is_not_told() -> None:
    table = Table("Ann", "Ben")
    heard = len(table["Ann"].heard)
    table.command(Lock(False))
    assert table["Ben"].say(Sync(sent_us=1)) is None
    assert len(table["Ann"].heard) == heard


def test_a_result_is_kept_before_it_is_told() -> None:
    """`Table` checks the order; here is that it has something to check."""
    table = Table("Ann", "Ben")
    table.start()
    table.command(EndGame())
    (result,) = table.results
    assert [person.won for person in result.people] == [True, True]
    assert sum(score.wins for score in table.saved.scores.values()) == 2


@pytest.mark.parametrize("joining", [True, False])
def test_a_seat_is_kept_before_it_is_told(joining: bool) -> None:
    table = Table("Ann")
    phone = table.phone("Ben") if joining else table.joins("Ben", watch=True)
    message: Any = Join("Ben", "🐸") if joining else Sit("Ben", "🐸")
    effects = table.happens(Said(phone.conn, message))
    kinds = [type(effect) for effect in effects]
    assert kinds.index(Keep) < kinds.index(Tell)


def test_no_card_that_lies_face_down_is_told_to_anybody() -> None:
    table = Table("Ann", "Ben")
    wes = table.joins("Wes", watch=True)
    table.start("5H 6H", "KC")
    table.turn_cards(2)
    for phone in (table["Ann"], table["Ben"], wes):
        text = repr(phone.heard)
        assert "'5H'" in text
        assert "'KC'" not in text


def test_the_round_trip_is_told_when_it_is_clearly_another() -> None:
    table = Table("Ann", "Ben", rtt_ms={"Ben": 80})
    table.later(1_000)
    assert table.seat("Ben").rtt_ms == 80
    heard = len(table["Ann"].heard)
    table["Ben"].rtt_ms = 84
    table.later(60_000)
    assert len(table["Ann"].heard) == heard, "nobody is told of every millisecond"


def test_nothing_is_known_of_the_path_to_another_phone() -> None:
    table = Table("Ann", "Ben", rtt_ms={"Ben": 80})
    table.later(1_000)
    assert table.room.state.seats.chairs[1].path != Path()
    table["Ben"].go()
    table["Ben"].come_back()
    assert table.room.state.seats.chairs[1].path == Path()
    table.later(100)
    assert table.room.state.seats.chairs[1].path != Path()


def test_a_room_wakes_from_its_record() -> None:
    seats = (
        SeatRecord(SeatId("a"), "Ann", "🦊", Kind.PERSON, "0" * 64, handicap_ms=50),
        SeatRecord(SeatId("c"), "Ada", "🤖", Kind.COMPUTER, computer=Computer(700, 100, 5)),
    )
    record = TableRecord(
        CODE,
        Rules(queens=True),
        seats,
        {"0" * 64: Score("Ann", "🦊", 3, 5), "c": Score("Ada", "🤖", 2, 5)},
        7,
        SeatId("a"),
        SeatId("c"),
        locked=True,
    )
    table = Table(record=record)
    assert table.room.record() == record
    assert table.room.wake_at() is None


def seat(table: Table, name: str) -> TableSeat:
    seen = table["Ann"].seen
    assert seen is not None
    return next(each for each in seen.seats if each.name == name)


def test_r24_a_phone_that_answers_no_ping_is_gone_though_its_socket_is_open() -> None:
    table = Table("Ann", "Ben", rules=Rules(min_show_ms=300))
    table.start()
    table.later(5_000)
    table["Ben"].answers = False
    table.later(5_000)
    assert not seat(table, "Ben").away
    table.later(6_000)
    assert seat(table, "Ben").away
    assert table["Ben"].closed is not None
    assert table["Ben"].closed.code == CloseCode.TOO_SLOW
    table["Ben"].answers = True
    table["Ben"].come_back()
    assert not seat(table, "Ben").away


def test_nothing_that_was_due_while_the_store_was_away_has_happened() -> None:
    """The table stood still: no card is turned, no deal made, no phone cut for the silence; the card comes afresh."""
    table = Table("Ann", "Ben", rules=Rules(min_show_ms=300))
    table.start("5H JS")
    table.turn_cards(2)
    play = table.room.state.play
    assert play is not None
    before = play.game
    since_us = table.now_us
    table.now_us += 40 * S
    slap = DoSlap(table.game, 2, 400 * MS)
    table.happens(Stalled(since_us))
    assert play.game == before
    assert play.witness.shown_us >= table.now_us
    assert table["Ben"].closed is None
    stale = table.room.receive(Said(table["Ben"].conn, slap), since_us + S)
    assert [e.message.reason for e in stale if isinstance(e, Tell) and isinstance(e.message, Refused)] == [
        RejectReason.PAUSED
    ]
    table.later(600)
    assert table["Ann"].slap(reaction_ms=450) is None
    table.later(1_000)
    assert [verdict.winner for verdict in table.verdicts] == [0]


def test_a_clock_that_leaps_silences_nobody() -> None:
    """A server that was stopped for a minute has heard nothing for a minute, and it is not the phones' fault."""
    table = Table("Ann", "Ben")
    table.start()
    table.later(2_500)
    table.now_us += 60 * S
    table.happens(Woken())
    table.later(5_000)
    assert table["Ann"].closed is None
    assert table["Ben"].closed is None


def test_a_break_is_as_much_longer_as_a_server_has_slept() -> None:
    table = Table("Ann", "Ben")
    table.start()
    table.turn_cards(1)
    table.command(EndGame())
    deal_us = table.view().next_deal_us
    table.now_us += 60 * S
    table.happens(Woken())
    assert 0 <= deal_us + 60 * S - table.view().next_deal_us < 3 * S


def test_a_server_that_has_slept_for_an_hour_goes_on_where_it_stood() -> None:
    """Reliability 19: computers have not played on meanwhile, and nobody's turn has passed."""
    table = Table("Ann", "Ben")
    table.command(AddComputer(), AddComputer())
    table.start()
    table.turn_cards(1)
    turned, turner = table.top(), table.turner()
    table.now_us += 3_600 * S
    table["Ann"].say(Sync(1))
    table.later(100)
    assert table.top() - turned <= 1
    assert table.turner() == turner or table.top() > turned
    table.later(4_000)
    assert table.top() < turned + 8


@pytest.mark.parametrize("key", ["ann", "x" * 21, "short key with spaces in it!"])
def test_a_key_that_is_none_of_ours_binds_no_seat(key: str) -> None:
    """Whoever guesses it would have the seat."""
    table = Table()
    ann, guesser = table.phone("Ann"), table.phone("Guesser")
    for phone in (ann, guesser):
        table.happens(Said(phone.conn, Join(phone.name, "🦊", key), person=hash_of(key)))
    assert ann.seat != guesser.seat
    assert ann.key not in ("", key, guesser.key)
    hashes = [chair.record.key_hash for chair in table.room.state.seats.chairs]
    assert hashes == [hash_of(ann.key), hash_of(guesser.key)]


@pytest.mark.parametrize("name", ["Ann", "Ann\u200d", "ANN", "Аnn"])
def test_nobody_comes_in_under_the_name_of_somebody_who_sits_there(name: str) -> None:
    table = Table("Ann", "Ben")
    other = table.phone("Other")
    assert other.say(Join(name, "🦊")) is None
    assert table.seats()[2].name == clean(name) + " 2"
    assert table["Ben"].say(Rename(name, "🦊")) is None
    assert table.seats()[1].name == clean(name) + " 3"
    assert table["Ann"].say(Rename("Ann", "🐻")) is None
    assert table.seats()[0].name == "Ann"
