"""The terminal client, its keys and its screens, at tables whose answers a test writes and at real ones."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Button, Input

from clients.bots import Mind, Policy, play
from clients.sdk import (
    JoinRefused,
    NoSuchTable,
    NotAtTable,
    NotNow,
    Player,
    Removed,
    TakenOver,
    WrongVersion,
    connect,
    create_table,
)
from clients.terminal import kept
from clients.terminal.app import REPEAT_S, Home, Leaderboard, Menu, Place, Slapjack, Table
from clients.words import why_not
from engine.game import Seat, Wait
from engine.rules import GameName, Rules, WhichHand
from tests.clients import scripted
from tests.clients.jacks_soon import EARLY
from tests.clients.scripted import at
from tests.support.company import company
from tests.support.serving import Served
from tests.support.tables import a_game, a_table, turned
from wire.messages import (
    MAX_SEATS,
    AddComputer,
    CloseCode,
    DoCall,
    DoCarryOn,
    DoSlap,
    DoTurn,
    Join,
    Lock,
    Point,
    Question,
    Quit,
    React,
    Reacted,
    Refused,
    RejectReason,
    Remove,
    SeatId,
    SetRules,
    Shown,
    Stage,
    Start,
    StoreStalled,
    SuspectFlagged,
    Welcome,
)

SIZE = (80, 24)
PATIENCE_S = 20


async def until(pilot: Pilot[None], condition: Callable[[], object], what: str = "") -> None:
    """Lets the client run until the condition holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}\n{screen(pilot.app)}"
        await pilot.pause(0.005)


def screen(app: Any) -> str:
    """What stands on the screen, as text."""
    return "\n".join("".join(part.text for part in strip) for strip in app.screen._compositor.render_strips())


async def reads(pilot: Pilot[None], text: str) -> None:
    """Waits until that stands on the screen."""
    await until(pilot, lambda: text in screen(pilot.app), text)


@asynccontextmanager
async def sitting(
    script: Callable[[scripted.Table], Any], size: tuple[int, int] = SIZE, **options: Any
) -> AsyncIterator[tuple[Slapjack, Pilot[None], scripted.Table]]:
    """The client at a table that follows a script, once it has been welcomed."""
    table = scripted.Table(script)
    async with at(table) as url:
        app = Slapjack(url, "K7WQ2M", "Robin", **options)
        async with app.run_test(size=size) as pilot:
            yield app, pilot, table


def rung(app: Slapjack) -> list[float]:
    """Instants at which the bell rings from now on."""
    rings: list[float] = []
    app.bell = lambda: rings.append(time.monotonic())  # type: ignore[method-assign]
    return rings


# --- hands -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "rules", "kind", "fields"),
    [
        ("space", Rules(), DoSlap, {"nth": 1, "side": ""}),
        ("f", Rules(hand=WhichHand.OTHER), DoSlap, {"nth": 1, "side": "left"}),
        ("J", Rules(hand=WhichHand.OTHER), DoSlap, {"nth": 1, "side": "right"}),
        ("c", Rules(call=True), DoCall, {"nth": 1}),
        ("space", Rules(say_jack=True), DoCall, {"nth": 1}),
        ("enter", Rules(), DoTurn, {"nth": 2, "side": ""}),
        ("space", Rules(game=GameName.WAR), DoTurn, {"nth": 2}),
        ("s", Rules(), Start, {}),
        ("1", Rules(), React, {"emoji": "👏"}),
    ],
)
async def test_a_key_is_a_hand(key: str, rules: Rules, kind: type, fields: dict[str, Any]) -> None:
    """R13, R13a, R15, R21."""
    told: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.tell(table=a_table(rules=rules), events=(turned(1, "JS"),), view=a_game(["JS"], turners=(Seat(0),)))
        told.set_result(await table.hear(kind))

    async with sitting(script) as (_, pilot, _):
        await reads(pilot, "JACK")
        await pilot.press(key)
        message = await asyncio.wait_for(told, PATIENCE_S)
        assert {name: getattr(message, name) for name in fields} == fields


async def test_enter_lets_a_card_pass_where_the_table_waits_for_that() -> None:
    """R19."""
    told: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    waits: dict[str, Any] = {"wait": Wait.ANSWERS, "turners": (), "answers": (Seat(0),)}

    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.tell(table=a_table(rules=Rules(calm=True)), view=a_game(["4S"], **waits))
        told.set_result(await table.hear(DoCarryOn))

    async with sitting(script) as (_, pilot, _):
        await reads(pilot, "Enter carries on")
        await pilot.press("enter")
        assert (await asyncio.wait_for(told, PATIENCE_S)).nth == 1


async def test_a_reaction_runs_from_the_painted_card_to_the_key_itself() -> None:
    """P9, P10: two keys a tenth of a second apart are so in what is claimed, whenever they are looked at."""
    claims: asyncio.Queue[Any] = asyncio.Queue()

    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.tell(events=(turned(1, "JS"),), view=a_game(["JS"]))
        await table.hear(Shown)
        while True:
            claims.put_nowait(await table.hear(DoSlap))

    async with sitting(script) as (app, pilot, table):
        await until(pilot, lambda: any(isinstance(message, Shown) for message in table.heard))
        first = events.Key("space", " ")
        first.time -= 0.25
        second = events.Key("f", "f")
        second.time = first.time + 0.1
        app.screen.post_message(first)
        app.screen.post_message(second)
        one, two = [await asyncio.wait_for(claims.get(), PATIENCE_S) for _ in range(2)]
        assert two.reaction_us - one.reaction_us == pytest.approx(100_000, abs=1)


async def test_a_key_that_says_it_is_from_long_ago_counts_as_now() -> None:
    """Where a key's clock is not ours it says nothing of when the hand came down."""
    claims: asyncio.Queue[Any] = asyncio.Queue()

    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.tell(events=(turned(1, "JS"),), view=a_game(["JS"]))
        claims.put_nowait(await table.hear(DoSlap))

    async with sitting(script) as (app, pilot, table):
        await until(pilot, lambda: any(isinstance(message, Shown) for message in table.heard))
        key = events.Key("space", " ")
        key.time = 0.0
        app.screen.post_message(key)
        assert (await asyncio.wait_for(claims.get(), PATIENCE_S)).reaction_us >= 0


async def test_a_card_is_painted_only_once_it_has_gone_to_the_terminal() -> None:
    """P9: the screen with the card on it is written first, and what is said of it comes after."""
    done: list[str] = []

    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.hear(Lock)
        await table.tell(events=(turned(1, "JS"),), view=a_game(["JS"]))
        await table.hear(Shown)
        done.append("said")
        await table.hear_out()

    async with sitting(script) as (app, pilot, _):
        await reads(pilot, "YOUR TURN")
        display = app._display

        def shown(to: Any, renderable: Any) -> None:
            display(to, renderable)
            if "JACK" in screen(app):
                done.append("written")

        app._display = shown  # type: ignore[assignment,method-assign]
        table = app.screen
        assert isinstance(table, Table) and table.player is not None
        table.player.say(Lock(True))
        await until(pilot, lambda: "said" in done)
        assert done[0] == "written"


async def test_a_key_that_is_held_down_is_one_hand() -> None:
    told: asyncio.Queue[Any] = asyncio.Queue()

    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.tell(events=(turned(1, "JS"),), view=a_game(["JS"]))
        while True:
            told.put_nowait(await table.hear(DoSlap | React))

    async with sitting(script) as (app, pilot, _):
        await reads(pilot, "JACK")
        for nth in range(10):
            key = events.Key("space", " ")
            key.time += nth * REPEAT_S / 2
            app.screen.post_message(key)
        app.screen.post_message(events.Key("1", "1"))
        kinds = [type(await asyncio.wait_for(told.get(), PATIENCE_S)) for _ in range(2)]
        assert kinds == [DoSlap, React]


async def test_ones_own_hand_is_seen_at_once_and_gone_with_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clients.terminal.app.FLASH_S", 1_000.0)

    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.tell(events=(turned(1, "JS"),), view=a_game(["JS"]))
        await table.hear(DoSlap)
        await table.hear(Lock)
        await table.say(Refused(of="slap", reason=RejectReason.TOO_LATE))
        await table.hear_out()

    async with sitting(script) as (app, pilot, _):
        await reads(pilot, "JACK")
        await pilot.press("space")
        await reads(pilot, "SLAP!")
        assert app.screen.query(".flash")
        table = app.screen
        assert isinstance(table, Table) and table.player is not None
        table.player.say(Lock(True))
        await reads(pilot, "The dealer had decided already. No harm done.")
        assert "SLAP!" not in screen(app)


async def test_p9_a_hand_on_a_card_that_is_shown_afresh_is_gone_and_may_come_again() -> None:
    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.tell(events=(turned(1, "JS"),), view=a_game(["JS"]))
        await table.hear(DoSlap)
        await table.tell(show_at_us=1, view=a_game(["JS"]))
        await table.hear(DoSlap)
        await table.say(Reacted(seat=None, emoji="🎉"))
        await table.hear_out()

    async with sitting(script) as (app, pilot, table):
        await reads(pilot, "JACK")
        await pilot.press("space")
        await until(pilot, lambda: any(isinstance(message, DoSlap) for message in table.heard), "a hand")
        await until(pilot, lambda: "SLAP!" not in screen(app), "the hand to go")
        await pilot.press("j")
        await reads(pilot, "SLAP!")
        await reads(pilot, "Somebody watching shows 🎉")


async def test_a_flash_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    flashed: list[str] = []

    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.hear_out()

    async with sitting(script) as (app, pilot, _):
        await reads(pilot, "YOUR TURN")
        add = Place.add_class

        def note(self: Place, *names: str) -> Place:
            flashed.extend(names)
            return add(self, *names)

        monkeypatch.setattr(Place, "add_class", note)
        await pilot.press("space")
        assert "flash" in flashed
        await until(pilot, lambda: not app.screen.query(".flash"), "the flash to end")


# --- what is told ------------------------------------------------------------------------------------------------


async def test_the_bell_rings_on_ones_turn_unless_it_is_off() -> None:
    async def script(table: scripted.Table) -> None:
        await table.welcome()
        for nth in range(1, 5):
            await table.hear(React)
            await table.tell(view=a_game(["4S"] * nth), events=(turned(nth, "4S"),))
        await table.hear_out()

    async with sitting(script) as (app, pilot, _):
        await reads(pilot, "YOUR TURN")
        rings = rung(app)
        await pilot.press("1")
        await until(pilot, lambda: "YOUR TURN" not in screen(app))
        assert not rings
        await pilot.press("2")
        await reads(pilot, "YOUR TURN")
        assert len(rings) == 1
        await pilot.press("b")
        await reads(pilot, "bell off")
        await pilot.press("3")
        await until(pilot, lambda: "YOUR TURN" not in screen(app))
        await pilot.press("4")
        await reads(pilot, "YOUR TURN")
        assert len(rings) == 1


async def test_a_lost_connection_is_told_and_found_again() -> None:
    told = asyncio.Event()

    async def break_off(table: scripted.Table) -> None:
        await table.welcome()
        await table.hear(React)
        table.break_off()

    async def again(table: scripted.Table) -> None:
        join = await table.hear(Join)
        assert join.key == "secret"
        await told.wait()
        await table.say(Welcome(code="K7WQ2M", key="secret", seat=SeatId("s0"), room_us=1))
        await table.tell(table=a_table(), view=a_game(["QH"]))
        await table.hear_out()

    table = scripted.Table(break_off, again)
    async with at(table) as url:
        app = Slapjack(url, "K7WQ2M", "Robin")
        async with app.run_test(size=SIZE) as pilot:
            await reads(pilot, "YOUR TURN")
            await pilot.press("1")
            await reads(pilot, "Connection lost. Getting you back to the table")
            told.set()
            await reads(pilot, "Back at the table.")
            await reads(pilot, "QUEEN")


async def test_what_others_do_beside_the_cards_is_told() -> None:
    async def script(table: scripted.Table) -> None:
        await table.welcome()
        for message in (
            Reacted(seat=SeatId("s1"), emoji="🎉"),
            Reacted(seat=None, emoji="👋"),
            SuspectFlagged(seat=SeatId("s1"), one_in=1_000_000),
            StoreStalled(True),
            StoreStalled(False),
        ):
            await table.hear(React)
            await table.say(message)
        await table.hear_out()

    async with sitting(script) as (app, pilot, _):
        await reads(pilot, "YOUR TURN")
        for key, line in enumerate(
            (
                "Player 1 shows 🎉",
                "Somebody watching shows 👋",
                "Player 1: hands unlike people's; honest ones look so once in 1000000.",
                "The score book does not answer. Nothing is lost; play goes on by itself.",
            ),
            1,
        ):
            await pilot.press(str(key))
            await reads(pilot, line)
        await pilot.press("5")
        await until(pilot, lambda: "score book" not in screen(app))


async def test_the_tables_judge_points_with_a_number() -> None:
    """R18."""
    told: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    question = Question(id=9, game=1, nth=1, seats=(Seat(1), Seat(2)), hands=(), until_us=10**12)

    async def script(table: scripted.Table) -> None:
        await table.hear(Join)
        await table.say(Welcome(code="K7WQ2M", key="k", seat=None, room_us=1))
        await table.tell(table=a_table(3), view=a_game(["JS"], seats=3), question=question)
        told.set_result(await table.hear(Point))

    async with sitting(script, watch=True) as (_, pilot, _):
        await reads(pilot, "Who was first?  1 Player 1   2 Player 2")
        await pilot.press("2")
        assert await asyncio.wait_for(told, PATIENCE_S) == Point(question=9, seat=Seat(2))


# --- a terminal of any size --------------------------------------------------------------------------------------


async def test_a_terminal_that_is_too_small_says_so_and_has_painted_nothing() -> None:
    slaps: list[Any] = []

    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.tell(events=(turned(1, "JS"),), view=a_game(["JS"]))
        slaps.append(await table.hear(DoSlap))
        await table.hear_out()

    async with sitting(script, size=(79, 24)) as (app, pilot, table):
        await reads(pilot, "This terminal has 79×24 characters, and a table needs 80×24")
        await until(pilot, lambda: isinstance(app.screen, Table) and app.screen.seen.said)
        await pilot.press("space")
        await until(pilot, lambda: slaps)
        assert slaps[0].reaction_us is None
        assert not any(isinstance(message, Shown) for message in table.heard)
        await pilot.resize_terminal(*SIZE)
        await reads(pilot, "JACK")
        await pilot.resize_terminal(40, 10)
        await reads(pilot, "This terminal has 40×10")


# --- ends --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (CloseCode.REMOVED, Removed),
        (CloseCode.SEAT_TAKEN_OVER, TakenOver),
        (CloseCode.WRONG_VERSION, WrongVersion),
        (CloseCode.NO_SUCH_TABLE, NoSuchTable),
        (CloseCode.SERVER_FULL, NotNow),
    ],
)
async def test_what_ends_it_is_handed_to_whoever_started_it(code: CloseCode, error: type[NotAtTable]) -> None:
    async def script(table: scripted.Table) -> None:
        await table.hear(Join)
        await table.close(code, "in words")

    async with sitting(script) as (app, pilot, _):
        await until(pilot, lambda: app.ended_by is not None)
        assert type(app.ended_by) is error


async def test_a_server_of_another_version_is_told() -> None:
    async def script(table: scripted.Table) -> None:
        await table.hear(Join)
        await table.say(Welcome(code="K7WQ2M", key="k", seat=None, room_us=1, protocol=99))
        await table.hear_out()

    async with sitting(script) as (app, pilot, _):
        await until(pilot, lambda: app.ended_by is not None)
        assert app.ended_by is not None
        assert "different versions" in why_not(app.ended_by)


async def test_to_quit_keeps_the_seat_and_to_leave_gives_it_up(tmp_path: Path) -> None:
    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.hear_out()

    async with sitting(script, file=tmp_path / "kept") as (app, pilot, table):
        await reads(pilot, "quit, seat kept")
        await pilot.press("q")
        await asyncio.wait_for(table.hung_up.wait(), PATIENCE_S)
        assert not any(isinstance(message, Quit) for message in table.heard)
        assert app.ended_by is None
    async with sitting(script) as (app, pilot, table):
        await reads(pilot, "YOUR TURN")
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, Menu))
        await pilot.press("end", "enter")
        await asyncio.wait_for(table.hung_up.wait(), PATIENCE_S)
        assert any(isinstance(message, Quit) for message in table.heard)
        assert app.ended_by is None


async def test_who_has_no_way_back_leaves_no_seat_behind() -> None:
    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.hear_out()

    async with sitting(script) as (app, pilot, table):
        await reads(pilot, "Q  leave")
        await pilot.press("q")
        await asyncio.wait_for(table.hung_up.wait(), PATIENCE_S)
        assert any(isinstance(message, Quit) for message in table.heard)
        assert app.ended_by is None


# --- the start, and a real table ---------------------------------------------------------------------------------


async def test_from_the_first_screen_to_a_won_pile(jacks_soon: Served, tmp_path: Path) -> None:
    """Creates a table, seats a computer player by the menu, starts, turns and slaps; then comes back to the seat."""
    file = tmp_path / "terminal.json"
    app = Slapjack(jacks_soon.url, file=file)
    async with app.run_test(size=SIZE) as pilot:
        await reads(pilot, "Your name")
        await pilot.click("#new")
        await reads(pilot, "First a name")
        await pilot.press(*"Robin")
        await pilot.click("#new")
        await reads(pilot, "One more seat is needed")
        table = app.screen
        assert isinstance(table, Table) and table.player is not None
        code = table.player.table.code
        assert " ".join(code) in screen(app)
        assert f"/t/{code}" in screen(app)
        await pilot.press("m")
        await reads(pilot, "Add a sleepy computer player")
        await pilot.press("down", "enter")
        await reads(pilot, "S starts the game")
        table.player.say(Remove(table.player.table.seats[1].id))
        table.player.say(AddComputer(reaction_ms=5_000, spread_ms=0))
        table.player.say(SetRules(Rules(min_show_ms=300)))
        await until(pilot, lambda: any(seat.reaction_ms == 5_000 for seat in table.seen.seats))
        await pilot.press("s")
        await until(pilot, lambda: table.seen.playing)
        player = table.player
        while not (player.top is not None and player.top.face.startswith("J")):
            if table.seen.my_turn:
                await pilot.press("enter")
            await pilot.pause(0.02)
        await reads(pilot, "JACK")
        await pilot.press("space")
        await until(pilot, lambda: table.seen.finish is not None)
        await reads(pilot, "Photo finish")
        assert any(hand.seat == table.seen.place for hand in table.seen.finish.hands)  # type: ignore[union-attr]
        seat = player.seat
    assert kept.read(file).name == "Robin"
    back = Slapjack(jacks_soon.url, code, file=file)
    async with back.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(back.screen, Table) and back.screen.player is not None)
        assert isinstance(back.screen, Table) and back.screen.player is not None
        assert back.screen.player.seat == seat


async def test_join_and_watch_from_the_first_screen(jacks_soon: Served) -> None:
    async with company(jacks_soon.url, "Ann") as (ann,):
        app = Slapjack(jacks_soon.url, name="Robin")
        async with app.run_test(size=SIZE) as pilot:
            await reads(pilot, "Your name")
            await pilot.press("enter")
            await reads(pilot, "Which table?")
            assert str(app.screen.query_one("#watch", Button).label) == "Watch"
            app.screen.query_one("#code", Input).value = f"{jacks_soon.url}/t/{ann.table.code.lower()}"
            await pilot.press("enter")
            await ann.until(lambda p: len(p.table.seats) == 2)
            await reads(pilot, "Ann starts the game.")
            ann.say(Remove(ann.table.seats[1].id))
            await reads(pilot, "The host has removed you from this table.")
            assert isinstance(app.screen, Home)
            await pilot.click("#watch")
            await ann.until(lambda p: p.table.watching == 1)
            await reads(pilot, "One more seat is needed")
            assert len(ann.table.seats) == 1


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("222222", "There is no table with this code: check it, or ask for it again."),
        ("http://127.0.0.1:9/t/K7WQ2M", "No Slapjack server answers"),
        ("ftp://x/t/K7WQ2M", "is no address of a server"),
    ],
)
async def test_a_table_that_is_not_there_leads_back_to_the_start(jacks_soon: Served, code: str, line: str) -> None:
    app = Slapjack(jacks_soon.url, name="Robin")
    async with app.run_test(size=SIZE) as pilot:
        await reads(pilot, "Your name")
        app.screen.query_one("#code", Input).value = code
        await pilot.press("enter")
        await reads(pilot, line)
        assert isinstance(app.screen, Home)


async def test_a_locked_and_a_full_table_say_so(jacks_soon: Served) -> None:
    async with company(jacks_soon.url, "Ann") as (ann,):
        ann.say(Lock(True))
        await ann.until(lambda p: p.table.locked)
        app = Slapjack(jacks_soon.url, ann.table.code, "Robin")
        async with app.run_test(size=SIZE) as pilot:
            await until(pilot, lambda: app.ended_by is not None)
        assert isinstance(app.ended_by, JoinRefused)
        assert why_not(app.ended_by) == "the host has locked this table to newcomers: ask them to open it"
        ann.say(Lock(False))
        for _ in range(MAX_SEATS - 1):
            ann.say(AddComputer())
        await ann.until(lambda p: len(p.table.seats) == MAX_SEATS)
        app = Slapjack(jacks_soon.url, ann.table.code, "Robin")
        async with app.run_test(size=SIZE) as pilot:
            await until(pilot, lambda: app.ended_by is not None)
        assert app.ended_by is not None
        assert why_not(app.ended_by).startswith("the table is full: watch it with --watch")


async def test_who_comes_with_a_code_and_no_name_is_asked_for_it(jacks_soon: Served) -> None:
    code = await create_table(jacks_soon.url)
    app = Slapjack(jacks_soon.url, code)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Home) and app.screen.query_one("#code", Input).value == code)


async def test_a_card_that_was_hidden_is_painted_when_it_is_seen() -> None:
    """P9: while the leaderboard hides the table nothing is painted."""
    turning = asyncio.Event()

    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await turning.wait()
        await table.tell(events=(turned(1, "JS"),), view=a_game(["JS"]))
        await table.hear_out()

    async with sitting(script) as (app, pilot, table):
        await reads(pilot, "YOUR TURN")
        here = app.screen
        assert isinstance(here, Table)
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, Leaderboard))
        turning.set()
        await until(pilot, lambda: here.seen.said)
        await reads(pilot, "The server shows no leaderboard just now")
        assert not any(isinstance(message, Shown) for message in table.heard)
        await pilot.press("escape")
        await reads(pilot, "JACK")
        await until(pilot, lambda: any(isinstance(message, Shown) for message in table.heard))


async def test_who_watches_may_sit_down_and_keeps_the_way_back(jacks_soon: Served, tmp_path: Path) -> None:
    """R27."""
    file = tmp_path / "terminal.json"
    async with company(jacks_soon.url, "Ann") as (ann,):
        app = Slapjack(jacks_soon.url, ann.table.code, "Robin", watch=True, file=file)
        async with app.run_test(size=SIZE) as pilot:
            await until(pilot, lambda: isinstance(app.screen, Table) and app.screen.seen.table)
            assert kept.read(file).keys == {}
            await pilot.press("m")
            await reads(pilot, "Take a seat")
            await pilot.press("enter")
            await reads(pilot, "Robin (you)")
            await until(pilot, lambda: kept.read(file).keys)
        assert [seat.name for seat in ann.table.seats] == ["Ann", "Robin"]


async def test_the_leaderboard(jacks_soon: Served) -> None:
    app = Slapjack(jacks_soon.url, name="Robin")
    async with app.run_test(size=SIZE) as pilot:
        await reads(pilot, "Your name")
        await pilot.click("#leaderboard")
        await until(pilot, lambda: isinstance(app.screen, Leaderboard))
        await reads(pilot, "Nobody yet")
        await pilot.press("right", "escape")
        await until(pilot, lambda: isinstance(app.screen, Home))


async def test_a_game_to_its_end_and_the_next(jacks_soon: Served) -> None:
    """Two in terminals and a bot: the win score stands on the screen between games (R28)."""
    quick = Policy("for tests", 200, 10, turn_ms=180)

    def plays(player: Player) -> asyncio.Task[None]:
        return asyncio.create_task(play(player, Mind(quick, Random(1))))

    async with company(jacks_soon.url, "Ann") as (ann,):
        ann.say(SetRules(Rules(min_show_ms=300, card_limit=EARLY + 1)))
        app = Slapjack(jacks_soon.url, ann.table.code, "Robin")
        async with (
            app.run_test(size=SIZE) as pilot,
            connect(jacks_soon.url, ann.table.code, name="Tv", watch=True) as tv,
        ):
            await ann.until(lambda p: len(p.table.seats) == 2)
            playing = plays(ann)
            ann.start()
            table = app.screen
            assert isinstance(table, Table)
            await until(pilot, lambda: table.seen.playing)
            while tv.table.stage is not Stage.BREAK:
                if table.seen.my_turn:
                    await pilot.press("enter")
                await pilot.pause(0.02)
            await reads(pilot, "Next deal in")
            await reads(pilot, "Most cards at the card limit.")
            assert "1 win" in screen(app)
            ann.quit()
            await playing


async def test_nothing_but_the_menu_hears_keys_while_it_is_open() -> None:
    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.tell(events=(turned(1, "JS"),), view=a_game(["JS"]))
        await table.hear_out()

    async with sitting(script) as (app, pilot, table):
        await reads(pilot, "JACK")
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, Menu))
        await pilot.press("space", "c", "escape")
        await until(pilot, lambda: isinstance(app.screen, Table))
        await pilot.press("q")
        await asyncio.wait_for(table.hung_up.wait(), PATIENCE_S)
        assert not any(isinstance(message, DoSlap | DoCall) for message in table.heard)
