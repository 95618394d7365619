"""The journal: a game is played again from it byte by byte, and what is wrong with one is said."""

import msgspec
import pytest

from engine.cards import Entropy, deck_text, full_deck
from engine.game import Seat, Turn
from engine.rules import GameName, Rules, WhichHand
from engine.table import deal
from server.table.journal import BadEntry, Dealt, Moved, read_entry, replay, write_entry
from server.table.records import Computer, SeatRecord, with_hand
from tests.server.world import Table
from wire.messages import EndGame, Kind, SeatId, Stage

S = 1_000_000


def seats(count: int) -> tuple[SeatRecord, ...]:
    return tuple(SeatRecord(SeatId(f"s{n}"), f"N{n}", "🙂", Kind.PERSON, f"k{n}") for n in range(count))


def short_journal(turns: int = 5) -> list[bytes]:
    """Two seats that turn in order."""
    journal = [write_entry(Dealt(1, deck_text(full_deck()), Rules(), Seat(0), seats(2)))]
    for number in range(1, turns + 1):
        journal.append(write_entry(Moved(1, number, Turn(Seat(number % 2), number), Entropy(bytes(32)), number * S)))
    return journal


def game_bytes(table: Table) -> bytes:
    assert table.room.state.play is not None
    return msgspec.msgpack.encode(table.room.state.play.game)


@pytest.mark.parametrize(
    "rules",
    [
        Rules(),
        Rules(queens=True, doubles=True, sandwiches=True, card_limit=60),
        Rules(call=True, wrong_call=True, hand=WhichHand.OTHER),
        Rules(game=GameName.DUEL),
        Rules(game=GameName.WAR),
    ],
    ids=["standard", "party", "shout", "duel", "war"],
)
def test_a_game_is_replayed_byte_by_byte_after_every_move(rules: Rules) -> None:
    table = Table("Ann", "Ben", rules=rules)
    table.start()
    compared = 0
    for _ in range(120):
        table.later(1_700)
        if table.room.state.play is None:
            break
        replayed = replay(table.journal)
        assert replayed is not None
        assert not replayed.bad
        assert msgspec.msgpack.encode(replayed.game) == game_bytes(table)
        compared += 1
    assert compared > 20


def test_a_room_goes_on_where_it_was_after_a_crash() -> None:
    """Cards, scores and computer players; it stands still until somebody is back, and shows the top card afresh."""
    table = Table("Ann", "Ben", rules=Rules(min_show_ms=300))
    table.start()
    table.turn_cards(6)
    before = game_bytes(table)
    table.crash()
    assert game_bytes(table) == before
    assert table.room.state.stage is Stage.PLAYING
    table.later(60_000)
    assert game_bytes(table) == before, "nobody is there to see a card turned"
    table["Ann"].come_back()
    assert table["Ann"].view is not None
    assert table["Ann"].view.turned == 6
    table.later(30_000)
    assert game_bytes(table) != before, "the game goes on"


def test_a_game_that_was_over_is_not_taken_up() -> None:
    table = Table("Ann", "Ben")
    table.start()
    table.command(EndGame())
    replayed = replay(table.journal)
    assert replayed is not None
    assert replayed.game.view().winners


def test_the_time_limit_goes_on_where_it_was() -> None:
    """R12: what has been played counts, not what was slept."""
    table = Table("Ann", "Ben", rules=Rules(time_limit_min=1))
    table.start()
    table.later(40_000)
    replayed = replay(table.journal)
    assert replayed is not None
    assert 20 * S < replayed.played_us <= 40 * S
    table.crash()
    table.later(3_600_000)
    table["Ann"].come_back()
    assert table.room.state.play is not None
    table.later(31_000)
    assert table.room.state.play is None, "a minute has been played"


def test_a_window_that_was_open_is_void_and_the_card_is_shown_afresh() -> None:
    table = Table("Ann", "Ben")
    table.start("5H JS")
    table.turn_cards(2)
    assert table["Ben"].slap(reaction_ms=400) is None
    table.crash()
    table["Ann"].come_back()
    assert table.room.state.play is not None
    assert table.room.state.play.referee.contest is not None
    assert not table.room.state.play.referee.contest.heard
    assert table.room.state.play.witness.shown_us >= table.now_us
    table["Ben"].come_back()
    table.later(500)
    assert table["Ann"].slap(reaction_ms=400) is None
    table.later(1_000)
    assert [verdict.winner for verdict in table.verdicts] == [0]


def test_a_flipped_bit_is_found_and_what_stood_before_it_stands() -> None:
    journal = short_journal()
    good = replay(journal[:3])
    for position in range(len(journal[3])):
        broken = bytearray(journal[3])
        broken[position] ^= 1
        replayed = replay([*journal[:3], bytes(broken), *journal[4:]])
        assert replayed is not None
        assert good is not None
        assert replayed.game == good.game
        assert replayed.bad.startswith("entry 4 of 6:")


def test_a_journal_cut_in_the_middle_goes_on_from_the_last_entry_that_fits() -> None:
    journal = short_journal()
    replayed = replay([*journal[:2], *journal[3:]])
    assert replayed is not None
    assert replayed.moves == 1
    assert "move 3 of game 1, where move 2" in replayed.bad


def test_an_entry_of_a_newer_version_is_refused_by_its_version() -> None:
    kept = bytearray(short_journal()[0])
    kept[0] = 9
    with pytest.raises(BadEntry, match="version 9, but this server reads version 1"):
        read_entry(bytes(kept))
    with pytest.raises(BadEntry, match="version none"):
        read_entry(b"")


def test_a_deal_that_cannot_be_is_refused() -> None:
    bad = Dealt(1, "JS JS", Rules(), Seat(0), seats(2))
    with pytest.raises(BadEntry, match="cannot be dealt: R1"):
        replay([write_entry(bad)])


def test_a_move_that_the_rules_refuse_ends_the_replay_there() -> None:
    journal = short_journal(2)
    wrong = Moved(1, 3, Turn(Seat(0), 3), Entropy(bytes(32)), 3 * S)
    replayed = replay([*journal, write_entry(wrong)])
    assert replayed is not None
    assert "R3" in replayed.bad
    assert replayed.moves == 2


def test_an_empty_journal_has_no_game() -> None:
    assert replay([]) is None
    assert replay([b"rubbish"]) is None


def test_a_computer_player_is_dealt_in_as_one() -> None:
    """R19 needs to know who is a person."""
    record = SeatRecord(SeatId("c"), "Ada", "🤖", Kind.COMPUTER, computer=Computer())
    replayed = replay([write_entry(Dealt(1, deck_text(full_deck()), Rules(), Seat(0), (*seats(1), record)))])
    assert replayed is not None
    assert replayed.game == deal(Rules(), full_deck(), 2, Seat(0), (True, False))
    assert replayed.game != deal(Rules(), full_deck(), 2, Seat(0), (True, True))


@pytest.mark.parametrize(("kept", "hand"), [(True, "other"), (False, "any")])
def test_r15_a_table_kept_with_the_switch_for_the_other_hand_has_it_still(kept: bool, hand: str) -> None:
    old = msgspec.msgpack.encode({"code": "K7WQ2M", "rules": {"other_hand": kept, "call": True}})
    assert msgspec.msgpack.decode(with_hand(old)) == {"code": "K7WQ2M", "rules": {"hand": hand, "call": True}}


def test_r15_other_bytes_are_left_as_they_are() -> None:
    for kept in (b"", msgspec.msgpack.encode({"name": "other_hand"}), msgspec.msgpack.encode(["other_hand"])):
        assert with_hand(kept) == kept
