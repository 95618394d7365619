"""Every screen of the page as a scene: its address, and what the server says there, in the server's own messages.

A scene is set the same way every time, so that it can be looked at, measured and compared. How people get from one
screen to another with a real server is for the other tests.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace
from playwright.sync_api import BrowserContext, Page, Route, WebSocketRoute

from engine.cards import Card
from engine.game import (
    CardTurned,
    End,
    GameView,
    LandedCard,
    PileWon,
    Seat,
    SeatView,
    Status,
    Wait,
    WarDeclared,
    WrongSlap,
)
from engine.rules import PRESETS
from wire import figures
from wire.codec import read_client_message, write
from wire.messages import (
    CloseCode,
    Kind,
    Message,
    Question,
    RankedSlap,
    Reacted,
    Refused,
    SeatId,
    Stage,
    Standing,
    StoreStalled,
    SuspectFlagged,
    Sync,
    Synced,
    TableSeat,
    TableView,
    Tally,
    Update,
    Verdict,
    Welcome,
)

CODE = "7KQWWM"
"""The widest symbols there are among others."""
ROOM_US = 1_000_000_000
"""What the room's clock says whenever it is asked: time stands still on a stage."""
PEOPLE = (
    ("Anna", "🦊"),
    ("Ben", "🐸"),
    ("Großmutter Wilhelmine", "👵"),
    ("Ada", "🤖"),
    ("Zoë", "🐙"),
    ("Maximilian", "🦁"),
    ("Li", "🐼"),
    ("Opa Heinz", "👴"),
    ("Quentin", "🚀"),
    ("Yasmin", "🦄"),
)
STANDS = "() => document.querySelector('main h1, main h2') !== null"
SETTLED = """() => Promise.all(document.getAnimations().map(animation => {
    if (/(print|shout)$/.test(animation.animationName)) {
        animation.pause();
        animation.currentTime = 400;
    } else if (animation.effect.getComputedTiming().iterations === Infinity) animation.cancel();
    else animation.finish();
})).then(() => document.fonts.ready).then(() => new Promise(done => requestAnimationFrame(() => done())))"""
"""Whatever moves has arrived, so that a picture is the same every time."""


@dataclass(frozen=True)
class Scene:
    """One screen. `said` is what the server says once the phone has joined, `closed` how it ends the connection.

    `act` is what the person does then; `kept` is what their phone remembers.
    """

    name: str
    path: str
    said: tuple[Message, ...] = ()
    closed: CloseCode | None = None
    act: Callable[[Page], None] = lambda _: None
    kept: dict[str, str] = field(default_factory=dict)
    board: str = '{"people":0,"pages":0,"rows":[],"you":null}'
    mute: bool = False
    """The server does not answer at all."""

    def set(self, context: BrowserContext, language: str = "en") -> Page:
        """Opens the page, and comes back when the scene stands."""
        page = context.new_page()
        kept = {"me": '{"name":"Anna","face":"🦊"}', "choices": f'{{"language":"{language}"}}', **self.kept}
        lines = "".join(f"localStorage.setItem({f'slapjack:{name}'!r}, {value!r});" for name, value in kept.items())
        page.add_init_script(f"try {{ {lines} }} catch {{}}")
        page.route_web_socket("**/ws/*", lambda socket: self._serve(socket))
        page.route("**/api/me", lambda route: route.fulfill(status=200, content_type="application/json", body="{}"))
        page.route("**/api/leaderboard*", lambda route: self._answer(route))
        page.goto(self.path)
        if not self.mute:
            page.wait_for_function(STANDS)
        self.act(page)
        page.evaluate(SETTLED)
        return page

    def _serve(self, socket: WebSocketRoute) -> None:
        """The other end of the page's socket."""

        def hear(frame: str | bytes) -> None:
            assert isinstance(frame, bytes)
            message = read_client_message(frame)
            if isinstance(message, Sync):
                socket.send(write(Synced(message.sent_us, ROOM_US)))
            elif message.__struct_config__.tag == "join":
                if self.closed is not None:
                    socket.close(code=self.closed.value, reason="")
                    return
                for each in self.said:
                    socket.send(write(each))

        if not self.mute:
            socket.on_message(hear)

    def _answer(self, route: Route) -> None:
        route.fulfill(status=200, content_type="application/json", body=self.board)


def _seats(count: int, *, played: bool = True) -> tuple[TableSeat, ...]:
    return tuple(
        TableSeat(
            id=SeatId(name),
            name=name,
            face=face,
            kind=Kind.COMPUTER if face == "🤖" else Kind.PERSON,
            place=Seat(place) if played else None,
            host=place == 0,
            away=place == 4,
            wins=(place * 5) % 7,
            rtt_ms=0 if face == "🤖" else 12 + 47 * place,
            reaction_ms=600 if face == "🤖" else 0,
            handicap_ms=150 if place == 1 else 0,
        )
        for place, (name, face) in enumerate(PEOPLE[:count])
    )


def _table(count: int, stage: Stage, preset: str = "standard", **change: Any) -> TableView:
    fields: dict[str, Any] = {
        "code": CODE,
        "stage": stage,
        "game": 3,
        "rules": PRESETS[preset].rules,
        "seats": _seats(count, played=stage is not Stage.LOBBY),
        "watching": 2,
        "locked": False,
        "paused": False,
        "held": False,
        "dealer": SeatId(PEOPLE[count - 1][0]),
        "winners": (),
        "next_deal_us": 0,
        "asleep": False,
        **change,
    }
    return TableView(**fields)


def view(stacks: tuple[int, ...], landed: str = "", **change: Any) -> GameView:
    cards = landed.split()
    pile = 52 - sum(stacks)
    fields: dict[str, Any] = {
        "game": "slapjack",
        "turned": 40 + len(cards),
        "seats": tuple(SeatView(cards, Status.IN_PLAY if cards else Status.OUT) for cards in stacks),
        "pile": pile,
        "under": 1 if pile > len(cards) else 0,
        "landed": tuple(LandedCard(41 + nth, Card(face), Seat(nth % len(stacks))) for nth, face in enumerate(cards)),
        "wait": Wait.TURN,
        "turners": (Seat(0),),
        "answers": (),
        **change,
    }
    return GameView(**fields)


def _game(
    table: TableView, view: GameView, *events: Any, me: str | None = "Anna", **change: Any
) -> tuple[Message, ...]:
    update = Update(1, 0, table=table, view=view, events=events, **change)
    return (Welcome(CODE, "a-key", SeatId(me) if me else None, ROOM_US), update)


HANDS = (
    RankedSlap(Seat(0), 402_000, 402_000, path_us=20_000),
    RankedSlap(Seat(2), 391_000, 418_000, path_us=310_000, added_us=27_000, credit_us=60_000),
    RankedSlap(Seat(1), 331_000, 481_000, path_us=12_000, handicap_us=150_000),
    RankedSlap(Seat(3), 622_000, 622_000),
)
VERDICT = Verdict(3, 43, Seat(0), HANDS, 16_000, 92_000)
TALLIES = (Tally(5, 412, 331, 1), Tally(3, 498, 380, 0), Tally(1, 690, 690, 2), Tally(2, 640, 511, 0))
KNOWN = {
    "tables": json.dumps(
        [
            {
                "code": CODE,
                "seats": [{"name": name, "face": face, "wins": 4 - n} for n, (name, face) in enumerate(PEOPLE[:2])],
            }
        ]
    )
}


def lobby_view(count: int, **change: Any) -> TableView:
    """The table before a game."""
    standing = (Standing("Tante Frieda", "🦉", 6, 11, None),)
    return _table(count, Stage.LOBBY, **{"standings": standing, **change})


def _lobby(me: str | None, count: int, **change: Any) -> tuple[Message, ...]:
    table = lobby_view(count, **change)
    return (Welcome(CODE, "a-key", SeatId(me) if me else None, ROOM_US), Update(1, 0, table=table))


def _break(me: str, champion: bool = False, **change: Any) -> tuple[Message, ...]:
    seats = tuple(
        TableSeat(**{**{f: getattr(seat, f) for f in seat.__struct_fields__}, "tally": tally})
        for seat, tally in zip(_seats(4), TALLIES, strict=True)
    )
    standings = (
        Standing("Anna", "🦊", 5, 9, SeatId("Anna")),
        Standing("Tante Frieda", "🦉", 4, 11, None),
        Standing("Ben", "🐸", 2, 9, SeatId("Ben")),
        Standing("Großmutter Wilhelmine", "👵", 1, 9, SeatId("Großmutter Wilhelmine")),
        Standing("Ada", "🤖", 1, 9, SeatId("Ada")),
    )
    # Nothing is dealt after a tournament until the host starts another.
    over: dict[str, Any] = (
        {"champions": (SeatId("Anna"),), "first_to": 5} if champion else {"next_deal_us": ROOM_US + 3_000_000}
    )
    stage = Stage.LOBBY if champion else Stage.BREAK
    table = _table(4, stage, seats=seats, standings=standings, winners=(SeatId("Anna"),), **over, **change)
    return _game(
        table, view((52, 0, 0, 0), wait=Wait.OVER, end=End.LAST_SEAT, winners=(Seat(0),)), me=me, verdict=VERDICT
    )


def playing(count: int, preset: str = "standard", **change: Any) -> TableView:
    return _table(count, Stage.PLAYING, preset, **change)


def _slap(page: Page) -> None:
    box = page.locator(".target").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.58, box["y"] + box["height"] * 0.35)


def _claimed(table: TableView, nth: int) -> TableView:
    """The table with somebody who says that a seat is theirs."""
    seats = tuple(replace(seat, away=True, claimed=True) if i == nth else seat for i, seat in enumerate(table.seats))
    return replace(table, seats=seats)


def _draw(page: Page) -> None:
    page.locator("main > button").first.click()
    page.locator("img[width]").scroll_into_view_if_needed()


LONG = "W" * 20
"""The widest name there is."""


def _namesakes(seats: tuple[TableSeat, ...]) -> tuple[TableSeat, ...]:
    return tuple(replace(seat, name=LONG, face="🦊") for seat in seats)


TABLE, TV = f"/t/{CODE}", f"/tv/{CODE}"
FOUR = (11, 14, 9, 12)
CROWD = (5, 4, 7, 3, 6, 4, 5, 6, 2, 4)
BOARD = (
    figures.Row(1, "Zoë", "🐙", False, 41, 29, 29 / 41, 7, 287_000, 401_000),
    figures.Row(2, "Maximilian der Große", "🦁", False, 60, 27, 27 / 60, 4, 301_000, 422_000),
    figures.Row(3, "Li", "🐼", False, 9, 6, None, 6, 344_000, 460_000),
    figures.Row(4, "Anna", "🦊", True, 12, 5, 5 / 12, 2, 318_000, 431_000),
)


def _at(name: str, said: tuple[Message, ...], path: str = TABLE, **change: Any) -> Scene:
    return Scene(name, path, said, kept=KNOWN, **change)


THREE_HANDS = view((13, 15, 10, 14), turners=(Seat(1),))
OUT = view((0, 20, 12, 16), "5S 9D JH", turners=(Seat(1),))
SCENES = (
    Scene("home", "/", kept=KNOWN),
    Scene("home-first", "/"),
    Scene("join", TABLE),
    _at("lobby-host", (*_lobby("Anna", 5), SuspectFlagged(SeatId("Ben"), 1_000_000))),
    _at("lobby-alone", _lobby("Anna", 1)),
    _at("lobby-guest", _lobby("Ben", 5, first_to=5, ranked=False)),
    _at("lobby-switches", _lobby("Anna", 2), act=lambda page: page.locator("summary").click()),
    _at(
        "lobby-conflict",
        (*_lobby("Anna", 2), Refused("set_rules", "bad_rules", "R14")),
    ),
    _at(
        "lobby-returning",
        (
            Welcome(CODE, "a-key", None, ROOM_US),
            Update(1, 0, table=lobby_view(5, standings=(Standing("Zoë", "🐙", 4, 9, SeatId("Zoë")),))),
        ),
    ),
    _at("lobby-claimed", (_lobby("Anna", 5)[0], Update(1, 0, table=_claimed(lobby_view(5), 4)))),
    _at("your-turn", _game(playing(4), view(FOUR, "4C KD 9S"))),
    _at("jack", _game(playing(4), view(FOUR, "4C KD JH", turners=(Seat(3),)), CardTurned(Seat(2), 43, Card("JH")))),
    _at("hand", _game(playing(4), view(FOUR, "4C KD JH", turners=(Seat(3),))), act=_slap),
    _at("photo-finish", _game(playing(4), THREE_HANDS, PileWon(Seat(0), 43, 8), verdict=VERDICT)),
    _at(
        "photo-finish-detail",
        _game(playing(4), THREE_HANDS, PileWon(Seat(0), 43, 8), verdict=VERDICT),
        act=lambda page: page.locator("button.finish").click(),
    ),
    _at("wrong-slap", _game(playing(4), view(FOUR, "4C KD 9S"), WrongSlap(Seat(0), 43, 1, Seat(2)))),
    _at(
        "last-chance",
        _game(
            playing(4),
            view(
                (0, 20, 15, 13),
                "5S 9D",
                turners=(Seat(1),),
                seats=(
                    SeatView(0, Status.WAITING),
                    *(SeatView(cards, Status.IN_PLAY) for cards in (20, 15, 13)),
                ),
            ),
        ),
    ),
    _at("out", _game(playing(4), OUT)),
    _at(
        "judge",
        _game(
            playing(4, "house_party"),
            OUT,
            question=Question(43, 3, 43, (Seat(2), Seat(1)), HANDS[1:3], ROOM_US + 10_000_000),
        ),
    ),
    _at("watching", _game(playing(4), view(FOUR, "4C KD 9S", turners=(Seat(1),)), me=None)),
    _at("watching-returning", _game(_claimed(playing(4), 1), view(FOUR, "4C KD 9S", turners=(Seat(1),)), me=None)),
    _at("claimed", _game(_claimed(playing(4), 1), view(FOUR, "4C KD 9S", turners=(Seat(2),)))),
    _at(
        "namesakes",
        _game(
            playing(4, seats=_namesakes(_seats(4))),
            THREE_HANDS,
            WrongSlap(Seat(3), 43, 1, Seat(2)),
            PileWon(Seat(2), 43, 8),
            verdict=VERDICT,
        ),
    ),
    _at(
        "namesakes-detail",
        _game(playing(4, seats=_namesakes(_seats(4))), THREE_HANDS, PileWon(Seat(2), 43, 8), verdict=VERDICT),
        act=lambda page: page.locator("button.finish").click(),
    ),
    _at("crowd", _game(playing(10), view(CROWD, "4C KD TS", turners=(Seat(2),)))),
    _at("shout", _game(playing(4, "shout"), view(FOUR, "4C KD JS"))),
    _at(
        "calm",
        _game(
            playing(3, "calm"),
            view((15, 17, 14), "4C KD QS", wait=Wait.ANSWERS, turners=(), answers=(Seat(0), Seat(1))),
        ),
    ),
    _at("shown-first", _game(playing(3, "calm", game=1), view((18, 17, 17), turned=0))),
    _at(
        "war",
        _game(
            playing(2, "war"),
            view((22, 22), "9H 9C", game="war", turners=(Seat(0), Seat(1))),
            CardTurned(Seat(0), 41, Card("9H")),
            CardTurned(Seat(1), 42, Card("9C")),
            WarDeclared(1),
        ),
    ),
    _at(
        "duel",
        _game(
            playing(2, "duel"),
            view(
                (0, 40),
                "4C 4D JS",
                turners=(Seat(1),),
                empty=Seat(0),
                seats=(SeatView(0, Status.WAITING), SeatView(40, Status.IN_PLAY)),
            ),
        ),
    ),
    _at("long-game", _game(playing(4), view(FOUR, "4C KD 9S", turned=300))),
    _at("paused", _game(playing(4, paused=True), view(FOUR, "4C KD 9S"))),
    _at("menu", _game(playing(4), view(FOUR, "4C KD 9S")), act=lambda page: page.locator("header .icon").click()),
    _at("hold-on", (*_game(playing(4), view(FOUR, "4C KD 9S")), StoreStalled(True))),
    _at("too-late", (*_game(playing(4), view(FOUR, "4C KD 9S")), Refused("slap", "too_late"))),
    _at("emoji", (*_game(playing(4), view(FOUR, "4C KD 9S")), Reacted(SeatId("Ben"), "👏"))),
    _at("break", _break("Anna")),
    _at("break-guest", _break("Ben", first_to=7)),
    _at(
        "share-card",
        _break("Anna", champion=True),
        act=_draw,
    ),
    _at("champion", _break("Anna", champion=True)),
    _at("no-table", (), closed=CloseCode.NO_SUCH_TABLE),
    _at("taken-over", (), closed=CloseCode.SEAT_TAKEN_OVER),
    _at("removed", (), closed=CloseCode.REMOVED),
    _at("old-page", (), closed=CloseCode.WRONG_VERSION),
    _at("foreign", (), closed=CloseCode.FOREIGN_ORIGIN),
    _at("malformed", (), closed=CloseCode.MALFORMED),
    _at("server-full", (), closed=CloseCode.SERVER_FULL),
    _at("store-down", (), closed=CloseCode.STORE_DOWN),
    _at("too-many", (), closed=CloseCode.TOO_MANY),
    _at("full", (Refused("join", "table_full"),)),
    _at("locked", (Refused("join", "table_locked"),)),
    _at("unreachable", (), mute=True, act=lambda page: page.get_by_role("alert").wait_for()),
    Scene("nowhere", "/somewhere/else"),
    Scene("leaderboard", "/leaderboard", board=msgspec.json.encode(figures.Page(24, 2, BOARD, BOARD[3])).decode()),
    Scene("leaderboard-empty", "/leaderboard"),
    Scene("how", "/how"),
    Scene("settings", "/settings"),
    Scene("move", "/move"),
    Scene("move-here", "/move#a-token"),
    _at("tv-lobby", _lobby(None, 5), TV),
    _at("tv-table", _game(playing(4), view(FOUR, "4C KD JH", turners=(Seat(3),)), me=None), TV),
    _at("tv-photo-finish", _game(playing(4), THREE_HANDS, PileWon(Seat(0), 43, 8), me=None, verdict=VERDICT), TV),
    _at("tv-break", _break("nobody"), TV),
    _at("tv-champion", _break("nobody", champion=True), TV),
    _at(
        "tv-namesakes",
        _game(playing(10, seats=_namesakes(_seats(10))), view(CROWD, "4C"), me=None, verdict=VERDICT),
        TV,
    ),
)
"""In the order in which people meet them."""
