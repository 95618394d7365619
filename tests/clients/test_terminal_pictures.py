"""What the terminal says and draws, without one: sentences, pictures, the menu, and what is kept."""

import stat
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

from clients.address import BadAddress, server_at, table_at
from clients.sdk import JoinRefused, NotAtTable, NotNow, ServerGone
from clients.sdk.errors import FINAL
from clients.terminal import draw, kept
from clients.terminal.board import in_columns
from clients.terminal.menu import choices
from clients.terminal.seen import Seen
from clients.terminal.words import LEFT_TO_RIGHT, card_name, dealer_line, inert, slap_cards
from clients.words import REFUSALS, refusal, why_not
from engine.cards import Card, full_deck
from engine.game import (
    AnyEvent,
    BattleWon,
    CardTurned,
    CarriedOn,
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
    SeatReady,
    SeatView,
    SeatWaiting,
    Status,
    Wait,
    WarDeclared,
    WrongSlap,
)
from engine.rules import PRESETS, GameName, Rules, WhichHand
from tests.support.tables import a_game, a_seat, a_table, turned
from wire.figures import Page, Row
from wire.messages import (
    Claim,
    GiveSeat,
    HoldDeal,
    Kind,
    Lock,
    Pause,
    Question,
    Quit,
    RankedSlap,
    RejectReason,
    Remove,
    SeatId,
    SetRules,
    Sit,
    Stage,
    Standing,
    Start,
    Tally,
    Update,
    Verdict,
)

HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202eevil\u2066[red]x[/]\n\r\t\u200b\u0301\u0301\u0301"
"""Clears a screen, names a window, turns the reading direction, speaks markup, breaks lines, paints over others."""


def seen(me: str | None = "s0", view: Any = None, seats: int = 2, **table: Any) -> Seen:
    """A table with a game in view, as seen from the seat `me`."""
    first = Seen(me=SeatId(me) if me is not None else None)
    return first.after(Update(1, 0, table=a_table(seats, **table), view=view if view is not None else a_game()))


def told(event: AnyEvent, me: str | None = None, **fields: Any) -> str:
    view = fields.pop("view", None) or a_game(["4H", "9S"])
    return dealer_line(seen(me).after(Update(2, 0, events=(event,), view=view, **fields)))


def hand(seat: int, accepted_us: int, **fields: Any) -> RankedSlap:
    return RankedSlap(seat=Seat(seat), reaction_us=accepted_us, accepted_us=accepted_us, **fields)


def verdict(*hands: RankedSlap, winner: int | None = 0) -> Verdict:
    place = None if winner is None else Seat(winner)
    return Verdict(game=1, nth=2, winner=place, hands=hands, margin_us=None, wait_us=0)


ZERO, ONE = Seat(0), Seat(1)

# --- sentences ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "theirs", "mine"),
    [
        (turned(2, "JS"), "Player 0: the Jack of Spades.", "You: the Jack of Spades."),
        (PileWon(ZERO, 2, 5), "Player 0 slaps and takes 5 cards.", "Your hand: you take 5 cards."),
        (
            WrongSlap(ZERO, 2, 1, ONE),
            "Player 0 slapped the Nine of Spades: one card to Player 1.",
            "You slapped the Nine of Spades: one card to Player 1.",
        ),
        (
            WrongSlap(ONE, 1, 1, ZERO),
            "Player 1 slapped the Four of Hearts: one card to Player 0.",
            "Player 1 slapped the Four of Hearts: one card to you.",
        ),
        (
            WrongSlap(ZERO, 9, 1, None),
            "Player 0 slapped a card: one card under the pile.",
            "You slapped a card: one card under the pile.",
        ),
        (WrongSlap(ZERO, 2, 0, None), "Player 0 slapped the Nine of Spades.", "You slapped the Nine of Spades."),
        (
            PileShared(ZERO, 2, (0, 2)),
            "Player 0 called wrongly. The pile goes to the others.",
            "You called wrongly. The pile goes to the others.",
        ),
        (
            PileTakenBack(ZERO, 52),
            "Every card is turned: Player 0 takes the pile back.",
            "Every card is turned: you take the pile back.",
        ),
        (
            SeatWaiting(ZERO),
            "Player 0 is out of cards and has one last chance.",
            "You are out of cards. One last chance: slap a Jack!",
        ),
        (SeatBack(ZERO), "Player 0 is back in.", "You are back in."),
        (SeatOut(ZERO), "Player 0 is out.", "You are out."),
        (
            EliminationBegan(ZERO),
            "Elimination round: only Jacks count, and Player 0 has no cards.",
            "Elimination round: only Jacks count, and you have no cards.",
        ),
        (EliminationEnded(), "The elimination round is over.", "The elimination round is over."),
        (SeatReady(ZERO), "Player 0 is ready.", "You are ready."),
        (WarDeclared(1), "War! One card face down, one face up.", "War! One card face down, one face up."),
        (WarDeclared(2), "War number 2!", "War number 2!"),
        (BattleWon(ZERO, 2), "Player 0 wins the battle and takes 2 cards.", "You win the battle and take 2 cards."),
        (
            GameOver((ZERO,), End.LAST_SEAT),
            "Player 0 wins the game! Everybody else is out.",
            "You win the game! Everybody else is out.",
        ),
        (
            GameOver((ZERO, ONE), End.CARD_LIMIT),
            "Player 0, Player 1 share the win. Most cards at the card limit.",
            "You, Player 1 share the win. Most cards at the card limit.",
        ),
    ],
)
def test_the_dealer_tells_everything_that_happens(event: AnyEvent, theirs: str, mine: str) -> None:
    assert told(event) == theirs
    assert told(event, me="s0") == mine


def test_every_event_is_among_these_or_is_not_told() -> None:
    assert len(get_args(AnyEvent)) == 15
    assert told(CarriedOn(ZERO, 2)) == "The game is on."


@pytest.mark.parametrize("end", End)
def test_every_end_has_its_words(end: End) -> None:
    assert told(GameOver((ZERO,), end)).startswith("Player 0 wins the game! ")


@pytest.mark.parametrize(
    ("judged", "theirs", "mine"),
    [
        (
            verdict(hand(0, 400_000), hand(1, 418_800)),
            "Player 0 was first by 19 ms and takes 5 cards.",
            "You were first by 19 ms and take 5 cards.",
        ),
        (
            verdict(hand(0, 400_000), hand(1, 400_300)),
            "Player 0 was first by 0.3 ms and takes 5 cards.",
            "You were first by 0.3 ms and take 5 cards.",
        ),
        (
            verdict(hand(0, 400_000), hand(1, 400_000)),
            "A dead heat! The lot falls on Player 0, who takes 5 cards.",
            "A dead heat! The lot falls on you: you take 5 cards.",
        ),
        (
            verdict(hand(0, 403_000), hand(1, 400_000)),
            "The table's word: Player 0 was first and takes 5 cards.",
            "The table's word: you were first and take 5 cards.",
        ),
        (
            verdict(hand(0, 400_000), hand(1, 420_000, cover=True)),
            "Player 0 slaps and takes 5 cards.",
            "Your hand: you take 5 cards.",
        ),
    ],
)
def test_a_margin_is_told_where_there_was_one(judged: Verdict, theirs: str, mine: str) -> None:
    assert told(PileWon(ZERO, 2, 5), verdict=judged) == theirs
    assert told(PileWon(ZERO, 2, 5), me="s0", verdict=judged) == mine


def test_a_turn_that_came_first_is_told() -> None:
    """R6."""
    judged = verdict(hand(1, 400_000, cover=True), hand(0, 500_000), winner=None)
    line = told(turned(3, "2C", 1), verdict=judged)
    assert line == "The turn came before every hand. Play goes on. Player 1: the Two of Clubs."


def test_every_refusal_has_its_words() -> None:
    for reason in (*RejectReason, *Reason):
        assert refusal(reason) == REFUSALS[reason]
        assert refusal(reason).endswith(".")
    assert refusal("brand_new\x1b[2J") == "That cannot be done: brand_new[2J."


def test_every_end_of_a_client_has_its_words() -> None:
    errors = [kind("x") for kind in FINAL.values()]
    errors += [
        ServerGone("x"),
        NotNow("x"),
        NotAtTable("x"),
        BadAddress("x"),
        *(JoinRefused(why) for why in RejectReason),
    ]
    for error in errors:
        line = why_not(error)
        assert line
        assert "\n" not in line
    assert len({why_not(error) for error in errors}) >= len(FINAL) + 10


# --- names are text ----------------------------------------------------------------------------------------------


def test_a_hostile_name_is_only_text() -> None:
    assert inert(HOSTILE, 40) == "[2J]0;ownedevil[red]x[/]\u0301"


@given(st.text(max_size=60), st.integers(2, 30))
def test_no_text_gets_out_of_its_cells(text: str, cells: int) -> None:
    shown = inert(text, cells)
    assert cell_len(shown) <= cells
    from_the_right = any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in shown)
    assert shown.endswith(LEFT_TO_RIGHT) == from_the_right
    shown = shown.removesuffix(LEFT_TO_RIGHT)
    assert not any(unicodedata.category(sign)[0] == "C" or unicodedata.category(sign) in ("Zl", "Zp") for sign in shown)
    marks = [unicodedata.category(sign) in ("Mn", "Me", "Mc") for sign in shown]
    assert not any(one and two for one, two in pairwise(marks))


def test_numbers_stay_behind_a_name_that_runs_from_right_to_left() -> None:
    assert inert("דנה", 20) == "דנה" + LEFT_TO_RIGHT
    assert inert("דנה דנה דנה", 6) == "דנה ד…" + LEFT_TO_RIGHT
    assert inert("Dana", 20) == "Dana"


def test_a_line_without_room_for_all_of_a_seat_says_the_important_things() -> None:
    tally = Tally(slaps=9, average_ms=233, best_ms=179, wrong=2)
    chairs = (a_seat(0, wins=1, tally=tally), a_seat(1, wins=12, away=True, handicap_ms=150, tally=tally))
    now = seen(stage=Stage.BREAK)
    assert now.table is not None
    first, second = draw.players(replace(now, table=replace(now.table, seats=chairs))).plain.split("\n")
    assert first.endswith(" 1 win host · 233 ms")
    assert second.endswith(" 12 wins +150 ms away")


def test_hostile_names_stay_inert_in_every_picture() -> None:
    seats = tuple(a_seat(place, name=HOSTILE) for place in range(2))
    standings = (Standing(name=HOSTILE, face="x", wins=1, games=1, seat=None),)
    views = [seen(seats=2, view=a_game(["4H", "JS"])), seen(stage=Stage.BREAK, champions=(SeatId("s0"),))]
    for each in views:
        assert each.table is not None
        table = replace(each.table, seats=seats, standings=standings, code=HOSTILE)
        event = GameOver((ONE,), End.HOST)
        now = replace(
            each, table=table, players={ZERO: seats[0], ONE: seats[1]}, said=(event,), finish=verdict(hand(1, 1))
        )
        row = Row(rank=1, name=HOSTILE, face=HOSTILE, you=False)
        pictures = [*parts(now), in_columns(Page(1, 1, (row,), None)).plain]
        pictures += [what for what, _ in choices(now, "x", "x")]
        for picture in pictures:
            assert not set(picture) & set("\x1b\x07\r\t\u202e\u2066\u200b"), picture


# --- pictures ----------------------------------------------------------------------------------------------------


def parts(now: Seen, left_s: int = 3) -> list[str]:
    """Everything that is drawn, part by part."""
    pictures = (
        draw.header(now, "24 ms"),
        draw.players(now),
        draw.pile(now, hand_down=False),
        draw.pile(now, hand_down=True),
        draw.invitation(now),
        draw.dealer(now, "http://192.168.1.20:8000/t/K7WQ2M"),
        draw.finish(now),
        draw.call(now, left_s),
        draw.keys(now),
    )
    return [picture.plain for picture in pictures]


ROOM = {"header": (80, 1), "players": (50, 11), "pile": (30, 11), "finish": (78, 5), "call": (79, 1), "keys": (80, 1)}


@pytest.mark.parametrize("seats", [2, 10])
@pytest.mark.parametrize("stage", Stage)
def test_a_table_of_any_size_fits_eighty_by_twenty_four(seats: int, stage: Stage) -> None:
    longest = "W" * 20
    chairs = tuple(
        a_seat(
            place,
            name=longest,
            wins=100,
            handicap_ms=500,
            away=True,
            tally=Tally(slaps=99, average_ms=1_000, best_ms=1_000, wrong=99) if stage is not Stage.PLAYING else None,
        )
        for place in range(seats)
    )
    view = a_game(
        ["TH", "TS", "TD", "TC"],
        seats=seats,
        pile=52,
        under=40,
        turners=(ZERO,),
        answers=tuple(map(Seat, range(seats))),
    )
    now = seen(view=view, seats=seats, stage=stage, watching=200, locked=True, first_to=100, game=1_000)
    assert now.table is not None
    finish = verdict(*(hand(seat, 10_000_000 + seat, added_us=400_000, handicap_us=500_000) for seat in range(seats)))
    now = replace(now, table=replace(now.table, seats=chairs), players=dict(enumerate(chairs)), finish=finish)
    pictures = {
        "header": draw.header(now, "no connection"),
        "players": draw.players(now),
        "pile": draw.pile(now, hand_down=True),
        "finish": draw.finish(now),
        "call": draw.call(now, 10),
        "keys": draw.keys(now),
    }
    for name, picture in pictures.items():
        lines = picture.plain.split("\n")
        assert len(lines) <= ROOM[name][1], name
        assert max(map(cell_len, lines)) <= ROOM[name][0], picture.plain


@pytest.mark.parametrize("face", full_deck())
def test_every_card_has_its_sign_and_a_jack_is_reversed(face: Card) -> None:
    lines = draw.card_art(face)
    assert {line.cell_len for line in lines} == {11}
    assert len(lines) == draw.CARD_LINES
    text = "\n".join(line.plain for line in lines)
    rank = "10" if face[0] == "T" else face[0]
    assert text.count(rank) >= 2
    assert text.count(draw.SIGNS[face[1]]) >= 2
    assert ("JACK" in text) == (face[0] == "J")
    assert all(("reverse" in str(line.style)) == (face[0] == "J") for line in lines)


def test_ones_own_hand_is_seen_at_once_and_says_nothing_else() -> None:
    now = seen(view=a_game(["4H", "JS"]))
    without, with_hand = (draw.pile(now, hand_down=down).plain for down in (False, True))
    assert "SLAP!" not in without
    assert with_hand.replace("SLAP!", "     ") == without


def test_a_stack_is_a_number_a_bar_and_a_word() -> None:
    stacks = (SeatView(40, Status.IN_PLAY), SeatView(0, Status.WAITING), SeatView(0, Status.OUT))
    lines = draw.players(seen(seats=3, view=replace(a_game(seats=3), seats=stacks))).plain.split("\n")
    assert [line.split() for line in lines] == [
        ["▶", "Player", "0", "(you)", "40", "▮▮▮▮▮▮▮▮▮▮"],
        ["Player", "1", "last", "chance"],
        ["Player", "2", "out"],
    ]


def test_war_shows_both_cards() -> None:
    """R21."""
    war = seen(view=a_game(["KS", "2H"], game="war"), rules=Rules(game=GameName.WAR))
    text = draw.pile(war, hand_down=False).plain
    assert "KING" in text
    assert "2 ♥" in text


def test_the_photo_finish_has_a_lane_for_each_hand() -> None:
    judged = verdict(
        hand(0, 400_000),
        hand(1, 800_000, added_us=41_000, handicap_us=150_000),
        hand(1, 900_000, cover=True, added_us=9_000),
    )
    lines = draw.finish(replace(seen(), finish=judged)).plain.split("\n")
    assert lines[1].split() == ["You", "400", "ms", "─" * 10 + "●", "first"]
    assert "● " in lines[2]
    assert lines[2].rstrip().endswith("+400 ms, 41 added, 150 handicap")
    assert lines[3].rstrip().endswith("turned")
    many = verdict(*(hand(0, 400_000 + nth) for nth in range(6)))
    assert "(2 more came later)" in draw.finish(replace(seen(), finish=many)).plain
    assert draw.finish(seen()).plain == ""


CALLS = {
    "paused": (seen(paused=True), "Paused by the host."),
    "asleep": (seen(asleep=True), "Everybody is away. The game waits."),
    "my turn": (seen(), "YOUR TURN: Enter turns a card"),
    "their turn": (seen(me="s1"), ""),
    "watching": (seen(me=None), "You are watching."),
    "late": (seen(me="s9"), "You are watching."),
    "last hand": (seen(view=a_game(["JS"], wait=Wait.LAST_HAND, turners=())), "The last card lies. Any hand?"),
    "R10: last card": (
        seen(view=a_game(["4S"], wait=Wait.LAST_CARD, turners=())),
        "Every card is turned.",
    ),
    "R12: offered": (
        seen(view=replace(a_game(["4S"], turners=(ONE,)), turned=412)),
        "400 cards have been turned: M ends the game and counts",
    ),
    "R12: only the host is offered it": (seen(me="s1", view=replace(a_game(["4S"], turners=(ZERO,)), turned=412)), ""),
    "answers": (
        seen(view=a_game(["4S"], wait=Wait.ANSWERS, turners=(), answers=(ZERO,))),
        "Slap it, or let it pass: Enter carries on",
    ),
    "alone": (
        seen(seats=1, stage=Stage.LOBBY),
        "One more seat is needed: invite somebody, or M adds a computer player",
    ),
    "host": (seen(stage=Stage.LOBBY), "S starts the game"),
    "guest": (seen(me="s1", stage=Stage.LOBBY), "Player 0 starts the game."),
    "break": (seen(me="s1", stage=Stage.BREAK), "Next deal in 3 s"),
    "my break": (seen(stage=Stage.BREAK), "Next deal in 3 s   S deals now"),
    "held": (seen(stage=Stage.BREAK, held=True), "S starts the game"),
    "nowhere": (Seen(), "Finding your chair …"),
}


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (Rules(), "a Jack"),
        (Rules(queens=True), "a Jack or a Queen"),
        (Rules(queens=True, doubles=True, sandwiches=True), "a Jack, a Queen, a double or a sandwich"),
        (Rules(game=GameName.DUEL), "a Jack, a double or a sandwich"),
        (Rules(game=GameName.WAR), ""),
    ],
)
def test_r11_what_may_be_slapped_is_named_as_it_counts_now(rules: Rules, words: str) -> None:
    now = seen(rules=rules)
    assert slap_cards(now) == words
    assert now.view is not None
    if rules.game is GameName.DUEL:
        assert slap_cards(replace(now, view=replace(now.view, empty=ZERO))) == "a Jack"


@pytest.mark.parametrize(("now", "line"), CALLS.values(), ids=list(CALLS))
def test_what_the_table_wants_of_one_is_said(now: Seen, line: str) -> None:
    assert draw.call(now, 3).plain.strip() == line


@pytest.mark.parametrize(
    ("status", "line"), [(Status.WAITING, "Out of cards: slap a Jack"), (Status.OUT, "You are out.")]
)
def test_who_has_no_cards_is_told(status: Status, line: str) -> None:
    stacks = (SeatView(0, status), SeatView(52, Status.IN_PLAY))
    now = seen(view=replace(a_game(turners=(ONE,)), seats=stacks))
    assert draw.call(now, 0).plain.strip().startswith(line)
    assert ("slap" in draw.keys(now).plain) == (status is Status.WAITING)


def test_the_tables_judge_is_asked_and_the_players_are_told_to_wait() -> None:
    """R18."""
    question = Question(id=7, game=1, nth=2, seats=(ZERO, ONE), hands=(hand(0, 1), hand(1, 2)), until_us=1)
    asked = replace(seen(me=None), question=question)
    assert draw.call(asked, 9).plain.strip() == "Too close to call. Who was first?  1 Player 0   2 Player 1   (9 s)"
    assert draw.call(replace(seen(), question=question), 9).plain.strip() == "Too close to call. The table judges …"


@pytest.mark.parametrize(
    ("rules", "keys"),
    [
        (Rules(), "Space  slap    Enter  turn"),
        (Rules(call=True), "Space  slap    Enter  turn    C  call"),
        (Rules(say_jack=True), "Enter  turn    C  call"),
        (Rules(hand=WhichHand.OTHER), "F J  slap left, right    Enter  turn"),
        (Rules(game=GameName.WAR), "Enter  turn"),
    ],
)
def test_the_keys_that_do_something_are_shown(rules: Rules, keys: str) -> None:
    assert draw.keys(seen(rules=rules)).plain.strip().startswith(keys)


def test_a_small_terminal_is_told_so() -> None:
    assert draw.too_small(60, 20) == "This terminal has 60×20 characters, and a table needs 80×24: make it larger."


# --- what is seen ------------------------------------------------------------------------------------------------


def test_a_new_game_clears_the_table_and_the_end_of_a_game_keeps_its_players() -> None:
    now = seen().after(Update(2, 0, events=(turned(1, "JS"),), view=a_game(["JS"]), verdict=verdict(hand(0, 1))))
    assert now.finish is not None
    between = a_table(stage=Stage.BREAK, game=1)
    unplaced = replace(between, seats=tuple(replace(seat, place=None) for seat in between.seats))
    after = now.after(Update(3, 0, table=unplaced))
    assert after.place == 0
    assert after.said == now.said
    assert not after.playing
    fresh = after.after(Update(4, 0, table=a_table(game=2)))
    assert (fresh.view, fresh.said, fresh.finish) == (None, (), None)


def test_a_table_alone_changes_nothing_that_was_said() -> None:
    now = seen().after(Update(2, 0, events=(turned(1, "4S"),), view=a_game(["4S"])))
    assert now.after(Update(3, 0, table=a_table(watching=3))).said == now.said


# --- the menu ----------------------------------------------------------------------------------------------------


def kinds(now: Seen) -> list[type]:
    return [type(message) for _, message in choices(now, "Robin", "🦊")]


def test_the_menu_offers_what_the_table_would_do() -> None:
    lobby = seen(stage=Stage.LOBBY)
    assert kinds(lobby).count(SetRules) == len(PRESETS) - 1
    assert {Start, Lock, Remove, Quit} <= set(kinds(lobby))
    assert not {Pause, HoldDeal} & set(kinds(lobby))
    assert {Pause, Lock, Quit} <= set(kinds(seen()))
    assert not {Start, SetRules} & set(kinds(seen()))
    assert HoldDeal in kinds(seen(stage=Stage.BREAK))
    assert kinds(seen(me="s1")) == [Quit]
    assert kinds(seen(me=None)) == [Sit]
    assert kinds(Seen()) == []
    assert [what for what, _ in choices(seen(paused=True, locked=True), "", "")][:3] == [
        "Go on with the game",
        "End the game now and count the cards",
        "Open the table to newcomers",
    ]


def test_whoever_has_lost_their_key_may_say_so_and_the_host_answers() -> None:
    """R28."""
    lobby = seen(stage=Stage.LOBBY, seats=3)
    assert lobby.table is not None
    seats = (a_seat(0), replace(a_seat(1), place=None), a_seat(2, name="Ben", away=True))
    away = replace(lobby, table=replace(lobby.table, seats=seats))
    for claimer in (None, SeatId("s1")):
        assert ("I have lost my key: Ben is my seat", Claim(SeatId("s2"))) in choices(replace(away, me=claimer), "", "")
    assert Claim not in kinds(away)
    claimed = replace(lobby, table=replace(lobby.table, seats=(*seats[:2], replace(seats[2], claimed=True))))
    assert choices(claimed, "", "")[:2] == [
        ("Let the one who says so have Ben's seat", GiveSeat(SeatId("s2"), True)),
        ("Keep Ben's seat", GiveSeat(SeatId("s2"), False)),
    ]
    assert draw.players(claimed).plain.endswith("claimed")


def test_nobody_is_asked_to_remove_themselves() -> None:
    removable = [message.seat for _, message in choices(seen(seats=3), "", "") if isinstance(message, Remove)]
    assert removable == ["s1", "s2"]
    computer = seen(stage=Stage.LOBBY)
    assert computer.table is not None
    seats = (a_seat(0), a_seat(1, kind=Kind.COMPUTER, name="Ada"))
    offered = choices(replace(computer, table=replace(computer.table, seats=seats)), "", "")
    assert "Remove the computer Ada" in [what for what, _ in offered]


# --- the leaderboard ---------------------------------------------------------------------------------------------


def test_ones_own_row_is_always_shown() -> None:
    def row(rank: int | None, name: str, you: bool = False) -> Row:
        return Row(rank, name, "🦊", you, 20, 7, rate=0.35, streak=2, best_us=231_400)

    mine = row(None, "Robin", you=True)
    lines = in_columns(Page(2, 1, (row(1, "Ann"),), mine)).plain.split("\n")
    assert lines[1].split()[:9] == ["1.", "Ann", "7", "35%", "231", "ms", "–", "2", "20"]
    assert max(map(len, lines)) <= draw.WIDTH
    assert lines[-1].split()[:2] == ["–", "Robin"]
    assert in_columns(Page(1, 1, (mine,), mine)).plain.count("Robin") == 1
    assert "Nobody yet" in in_columns(Page(0, 0, (), None)).plain


# --- addresses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "server", "code"),
    [
        ("K7WQ2M", "http://localhost:8000", "K7WQ2M"),
        (" k7w q2m ", "http://localhost:8000", "k7w q2m"),
        ("http://192.168.1.20:8000/t/K7WQ2M", "http://192.168.1.20:8000", "K7WQ2M"),
        ("https://cards.example/tv/k7wq2m/?x#y", "https://cards.example", "k7wq2m"),
        ("cards.example/t/K7WQ2M", "http://cards.example", "K7WQ2M"),
        ("http://[::1]:8000/t/K7WQ2M", "http://[::1]:8000", "K7WQ2M"),
    ],
)
def test_a_code_or_a_link_leads_to_a_table(typed: str, server: str, code: str) -> None:
    assert table_at(typed, "http://localhost:8000") == (server, code)


@pytest.mark.parametrize(
    "typed", ["http://", "ftp://host/t/K7WQ2M", "http://host:99999/t/K7WQ2M", "//t/K7WQ2M", "a/b/c"]
)
def test_what_leads_nowhere_is_said(typed: str) -> None:
    with pytest.raises(BadAddress, match=r"is neither a code nor a link|is no address of a server"):
        table_at(typed, "http://localhost:8000")


def test_the_address_of_a_server_may_lack_its_scheme() -> None:
    assert server_at("localhost:8000") == "http://localhost:8000"
    assert server_at("https://cards.example/") == "https://cards.example"


# --- what is kept ------------------------------------------------------------------------------------------------


def test_a_name_and_keys_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    file = kept.file_for({"XDG_STATE_HOME": str(tmp_path)})
    assert kept.read(file) == kept.Kept()
    me = kept.Kept(name="Robin", keys={"http://localhost:8000": "secret"})
    kept.write(file, me)
    assert kept.read(file) == me
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_what_cannot_be_kept_or_read_is_no_trouble(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    assert kept.read(broken) == kept.Kept()
    (tmp_path / "a file").touch()
    kept.write(tmp_path / "a file" / "x.json", kept.Kept(name="Robin"))
    kept.write(None, kept.Kept(name="Robin"))
    assert kept.read(None) == kept.Kept()
    assert kept.file_for({"HOME": "/home/robin"}) == Path("/home/robin/.local/state/slapjack/terminal.json")


def test_a_card_in_words() -> None:
    assert card_name(Card("TD")) == "the Ten of Diamonds"
    assert isinstance(turned(1, "JS"), CardTurned)
