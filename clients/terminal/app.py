"""The terminal client: screens, keys, and the moment at which a card has really been painted.

Knows Textual and the Python client. What is seen is `seen.py`'s, what it looks like `draw.py`'s.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar, assert_never, get_args

from msgspec.structs import replace
from rich.text import Text
from textual import events, on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen, Screen
from textual.widgets import Button, Input, OptionList, Static

from clients.address import BadAddress, invite_origin, table_at
from clients.sdk import Lost, NotAtTable, Player, Resumed, connect, create_table, shows_afresh
from clients.sdk.session import ClientEvent
from clients.terminal import board, draw, kept
from clients.terminal.menu import choices
from clients.terminal.seen import Seen
from clients.terminal.words import inert
from clients.words import refusal, why_not
from engine.game import PileWon, Side, WrongSlap
from engine.rules import GameName
from wire.messages import (
    Emoji,
    Message,
    Point,
    React,
    Reacted,
    Refused,
    SeatClaimed,
    SeatId,
    Start,
    StoreStalled,
    SuspectFlagged,
    Tournaments,
    Update,
)

EMOJIS: tuple[Emoji, ...] = get_args(Emoji)

REPEAT_S = 0.08
"""A key that comes again so soon is held down."""

STALE_US = 1_000_000
FLASH_S = 0.15
NOTE_S = 4.0
CLAIM_S = 30.0
TICK_S = 0.25


class Place(Static):
    """A part of the screen that a picture is put into."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name, markup=False)


class Sized(Screen[NotAtTable | None]):
    """A screen that says so when the terminal is too small for it."""

    def __init__(self) -> None:
        super().__init__()
        self.too_small = Place("too-small")

    @property
    def fits(self) -> bool:
        """Whether everything can be seen."""
        return self.app.size.width >= draw.WIDTH and self.app.size.height >= draw.HEIGHT

    def on_resize(self) -> None:
        """Says what is needed, or goes on."""
        self.set_class(not self.fits, "too-small")
        self.too_small.update(draw.too_small(*self.app.size))


class Home(Sized):
    """The start: a name, a code, and what one came for."""

    def __init__(self, me: kept.Kept, url: str, code: str) -> None:
        super().__init__()
        self._me = me
        self._url = url
        self._code = code
        self._note = Place("note")

    def compose(self) -> ComposeResult:
        """Lays it out."""
        yield self.too_small
        yield Static(Text(f" Slapjack  ·  {inert(self._url, 60)}"), id="header", markup=False)
        yield Static("Your name", classes="label")
        yield Input(self._me.name, placeholder="up to 20 letters", max_length=20, id="name")
        yield Static("The code of a table, or the link that invites you", classes="label")
        yield Input(self._code, placeholder="K7WQ2M", max_length=200, id="code")
        with Horizontal(id="buttons"):
            yield Button("Join", id="join", variant="primary")
            yield Button("Watch", id="watch")
            yield Button("New table", id="new")
            yield Button("Leaderboard", id="leaderboard")
            yield Button("Quit", id="quit")
        yield self._note
        yield Static("Tab goes on, Enter does it, Ctrl-C quits", id="hint", markup=False)

    def on_mount(self) -> None:
        """Begins where something is missing."""
        self.query_one("#code" if self._me.name else "#name").focus()

    def say(self, text: str) -> None:
        """Tells what is wrong, or nothing."""
        self._note.update(text)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.query_one("#join", Button).press()

    @on(Button.Pressed)
    async def _pressed(self, pressed: Button.Pressed) -> None:
        app = self.app
        assert isinstance(app, Slapjack)
        self.say("")
        name = self.query_one("#name", Input).value.strip()
        what = pressed.button.id
        if what == "quit":
            app.exit()
        elif what == "leaderboard":
            app.push_screen(Leaderboard(self._url, self._me.keys.get(self._url, "")))
        elif what != "watch" and not name:
            self.say("First a name, so that the others know you.")
            self.query_one("#name").focus()
        elif what == "new":
            self._open_table(name)
        elif code := self.query_one("#code", Input).value.strip():
            app.sit_down(code, name, watch=what == "watch")
        else:
            self.say("Which table? It has a code of six letters and digits.")
            self.query_one("#code").focus()

    @work(exclusive=True)
    async def _open_table(self, name: str) -> None:
        try:
            code = await create_table(self._url)
        except NotAtTable as error:
            self.say(_sentence(error))
        else:
            app = self.app
            assert isinstance(app, Slapjack)
            app.sit_down(code, name)


class Table(Sized):
    """A table: the lobby, the game and what is between two games."""

    def __init__(
        self, me: kept.Kept, url: str, code: str, name: str, watch: bool, keep: Callable[[], None] | None
    ) -> None:
        super().__init__()
        self._me = me
        self._url = url
        self._code = code
        self._my_name = name
        self._watch = watch
        self._keep = keep
        self._origin = url
        names = ("header", "players", "side", "dealer", "finish", "call", "note", "keys")
        self._places = {name: Place(name) for name in names}
        self.player: Player | None = None
        self.seen = Seen()
        self._hand_down = False
        self._note = ""
        self._note_until_s = 0.0
        self._pressed_s: dict[str, float] = {}

    def compose(self) -> ComposeResult:
        """Lays it out."""
        yield self.too_small
        yield self._places["header"]
        with Horizontal(id="middle"):
            yield self._places["players"]
            yield self._places["side"]
        for name in ("dealer", "finish", "call", "note", "keys"):
            yield self._places[name]

    def on_mount(self) -> None:
        """Finds the chair."""
        self.set_interval(TICK_S, self._tick)
        self._draw()
        self._play()
        self._ask_origin()

    @work
    async def _ask_origin(self) -> None:
        """`localhost` is another machine for everybody else."""
        self._origin = await invite_origin(self._url)
        self._draw()

    def on_screen_resume(self) -> None:
        """What nobody could see is drawn, and painted, now."""
        self._draw()

    # --- what happens at the table ---

    @work(exclusive=True)
    async def _play(self) -> None:
        key = "" if self._watch else self._me.keys.get(self._url, "")
        try:
            async with connect(
                self._url,
                self._code,
                name=self._my_name or "Watcher",
                face=self._me.face,
                key=key,
                watch=self._watch,
                draws=True,
            ) as player:
                self.player = player
                self._keep_key(player)
                self.seen = Seen(me=player.seat)
                try:
                    async for event in player:
                        self._told(event)
                finally:
                    if self._keep is None:
                        player.quit()  # the key goes with this program, and a seat is not left to nobody
        except NotAtTable as error:
            self.dismiss(error)
        else:
            self.dismiss(None)

    def _keep_key(self, player: Player) -> None:
        """The way back to a seat is kept; not that of a place to watch from, and never for another one's."""
        if player.seat is not None and (not self._watch or self._url not in self._me.keys):
            self._me.keys[self._url] = player.key
            if self._keep is not None:
                self._keep()

    def _told(self, event: ClientEvent) -> None:
        match event:
            case Update():
                self._shown(event)
            case Refused():
                self._hand_down = False
                self._say(refusal(event.reason))
            case Reacted():
                self._say(f"{self._name_of(event.seat) or 'Somebody watching'} shows {event.emoji}")
            case SuspectFlagged():
                name = self._name_of(event.seat) or "Somebody"
                self._say(f"{name}: hands unlike people's; honest ones look so once in {event.one_in}.")
            case SeatClaimed():
                self._say(f"{event.name} says that the seat of {self._name_of(event.seat) or 'somebody'} is theirs: M.")
            case Tournaments():
                pass
            case StoreStalled():
                self._say(
                    "The score book does not answer. Nothing is lost; play goes on by itself." if event.on else ""
                )
            case Lost():
                self._say("Connection lost. Getting you back to the table …", for_s=3_600)
            case Resumed():
                self.seen = Seen(me=self.player.seat if self.player is not None else None)
                self._say("Back at the table.")
            case _:
                assert_never(event)
        self._draw()

    def _shown(self, update: Update) -> None:
        before, self.seen = self.seen, self.seen.after(update)
        if self.player is not None and self.player.seat != self.seen.me:
            self.seen = replace(self.seen, me=self.player.seat)  # somebody watching has sat down
            self._keep_key(self.player)
        top, top_before = self._top(self.seen), self._top(before)
        if top != top_before or update.verdict is not None or shows_afresh(update):
            self._hand_down = False
        if self.seen.seat is not None and self.seen.seat.host:
            known = {seat.id for seat in before.seats if seat.claimed}
            for seat in self.seen.seats:
                if seat.claimed and seat.id not in known:
                    self._say(f"Somebody says that {inert(seat.name, 20)}'s seat is theirs: M to answer", for_s=CLAIM_S)
        mine = any(isinstance(e, PileWon | WrongSlap) and e.seat == self.seen.place for e in update.events)
        began = self.seen.playing and not before.playing
        if mine or began or (self.seen.my_turn and not before.my_turn) or (update.question and not before.question):
            self._ring()

    def _name_of(self, seat_id: SeatId | None) -> str:
        return next((inert(seat.name, 20) for seat in self.seen.seats if seat.id == seat_id), "")

    @staticmethod
    def _top(seen: Seen) -> tuple[int, int]:
        landed = seen.view.landed if seen.view is not None else ()
        return (seen.table.game if seen.table is not None else 0, landed[-1].nth if landed else 0)

    # --- what is drawn ---

    def _draw(self) -> None:
        seen = self.seen
        side = draw.pile(seen, self._hand_down)
        if not seen.playing and not (seen.view is not None and seen.view.landed):
            side = draw.invitation(seen)
        for name, picture in (
            ("header", draw.header(seen, self._line())),
            ("players", draw.players(seen)),
            ("side", side),
            ("dealer", draw.dealer(seen, f"{self._origin}/t/{seen.table.code}" if seen.table is not None else "")),
            ("finish", draw.finish(seen)),
            ("call", draw.call(seen, self._left_s())),
            ("note", Text(self._note)),
            ("keys", draw.keys(seen, keeps=self._keep is not None)),
        ):
            self._places[name].update(picture)
        self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        """Called once what was drawn has gone to the terminal: the start of every reaction (P9)."""
        # What has come since is told by its own drawing; the menu lies on the table, other screens hide it.
        visible = self.fits and isinstance(self.app.screen, Table | Menu)
        if self.player is not None and visible and self.player.view is self.seen.view:
            self.player.painted()

    def _line(self) -> str:
        if self.player is None:
            return ""
        if not self.player.online:
            return "no connection"
        return f"{self.player.clock.rtt_us / 1000:.0f} ms" + ("" if self._rings else "  bell off")

    def _left_s(self) -> int:
        table, question = self.seen.table, self.seen.question
        until_us = question.until_us if question is not None else table.next_deal_us if table is not None else 0
        if self.player is None or not until_us:
            return 0
        return max(0, -(-(until_us - self.player.clock.room_us(_now_us())) // 1_000_000))

    def _tick(self) -> None:
        if self._note and time.monotonic() > self._note_until_s:
            self._note = ""
            self._places["note"].update("")
        if self._left_s():
            self._places["call"].update(draw.call(self.seen, self._left_s()))

    def _say(self, text: str, for_s: float = NOTE_S) -> None:
        self._note = text
        self._note_until_s = time.monotonic() + for_s

    @property
    def _rings(self) -> bool:
        app = self.app
        assert isinstance(app, Slapjack)
        return app.rings

    def _ring(self) -> None:
        if self._rings:
            self.app.bell()
        self._flash("call")

    def _flash(self, part: str) -> None:
        place = self._places[part]
        place.add_class("flash")
        self.set_timer(FLASH_S, lambda: place.remove_class("flash"))

    # --- hands ---

    def on_key(self, event: events.Key) -> None:
        """A hand on the keyboard; it came down when its key did, not when it is its turn to be looked at."""
        acts: dict[str, Callable[[int], object]] = {
            "space": lambda hand_us: self._hand(Side.NONE, hand_us),
            "f": lambda hand_us: self._hand(Side.LEFT, hand_us),
            "j": lambda hand_us: self._hand(Side.RIGHT, hand_us),
            "enter": self._turn,
            "c": self._call,
            "s": lambda _: self._ask(Start()),
            "m": lambda _: self._menu(),
            "b": lambda _: self._toggle_bell(),
            "l": lambda _: self.app.push_screen(Leaderboard(self._url, self._me.keys.get(self._url, ""))),
            "q": lambda _: self.app.exit(),
            **{str(nth): partial(self._number, nth) for nth in range(1, 1 + len(EMOJIS))},
        }
        if (act := acts.get(event.key.lower())) is None or self.player is None:
            return
        event.stop()
        held = event.time - self._pressed_s.get(event.key, -1.0) < REPEAT_S
        self._pressed_s[event.key] = event.time
        if not held:
            hand_us, now_us = round(event.time * 1_000_000), _now_us()
            act(hand_us if 0 <= now_us - hand_us < STALE_US else now_us)

    def _hand(self, side: Side, hand_us: int) -> None:
        assert self.player is not None
        rules = self.seen.table.rules if self.seen.table is not None else None
        if rules is not None and rules.game is GameName.WAR:
            self.player.turn(side, hand_us)
        elif rules is not None and rules.say_jack:
            self._call(hand_us)
        else:
            self.player.slap(side, hand_us)
            self._lay_hand()

    def _turn(self, hand_us: int) -> None:
        assert self.player is not None
        if self.seen.may_answer:
            self.player.carry_on()
        else:
            self.player.turn(hand_us=hand_us)

    def _call(self, hand_us: int) -> None:
        assert self.player is not None
        self.player.call(hand_us)
        self._lay_hand()

    def _lay_hand(self) -> None:
        """One's own hand is seen at once, and says nothing about who was first."""
        if self.seen.playing and self.seen.place is not None:
            self._hand_down = True
            self._draw()
            self._flash("side")

    def _number(self, nth: int, _: int) -> None:
        question = self.seen.question
        if question is not None and nth <= len(question.seats):
            self._ask(Point(question=question.id, seat=question.seats[nth - 1]))
        else:
            self._ask(React(emoji=EMOJIS[nth - 1]))

    def _ask(self, message: Message) -> None:
        if self.player is not None:
            self.player.say(message)

    def _toggle_bell(self) -> None:
        app = self.app
        assert isinstance(app, Slapjack)
        app.rings = not app.rings
        self._draw()

    def _menu(self) -> None:
        offered = choices(self.seen, self._my_name or "Watcher", self._me.face)
        self.app.push_screen(Menu(offered), lambda message: self._ask(message) if message is not None else None)


class Menu(ModalScreen[Message | None]):
    """What may be asked of the table, to choose from."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,m,q", "dismiss(None)", "Close")]

    def __init__(self, offered: list[tuple[str, Message]]) -> None:
        super().__init__()
        self._offered = offered

    def compose(self) -> ComposeResult:
        """Lays it out."""
        with Vertical():
            yield OptionList(*(Text(what) for what, _ in self._offered))
            yield Static(" Up and down choose, Enter does it, Esc closes", markup=False)

    @on(OptionList.OptionSelected)
    def _chosen(self, chosen: OptionList.OptionSelected) -> None:
        self.dismiss(self._offered[chosen.option_index][1])


class Leaderboard(Sized):
    """Who wins most on this server."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Back"),
        Binding("left", "turn_page(-1)", "Better"),
        Binding("right", "turn_page(1)", "Next"),
    ]

    def __init__(self, url: str, key: str) -> None:
        super().__init__()
        self._url = url
        self._key = key
        self._page = 1
        self._pages = 1
        self._at = 0
        self._board = Place("board")

    def compose(self) -> ComposeResult:
        """Lays it out."""
        yield self.too_small
        yield Static(Text(f" Leaderboard  ·  {inert(self._url, 60)}"), id="header", markup=False)
        yield self._board
        yield Static("Left and right turn the pages, Esc goes back", classes="label", markup=False)

    def on_mount(self) -> None:
        """Asks for the first page."""
        self._show()

    def action_turn_page(self, by: int) -> None:
        """Another page, where there is one."""
        if 1 <= self._page + by <= self._pages:
            self._page += by
            self._show()

    @work(exclusive=True)
    async def _show(self) -> None:
        try:
            page = await board.ask(self._url, self._key, page=str(self._page), at=str(self._at))
        except board.NoBoard as error:
            self._board.update(str(error))
        else:
            self._pages, self._at = page.pages, page.at
            self._board.update(board.in_columns(page))


class Slapjack(App[None]):
    """The whole client. With a `code` it goes straight to that table, and ends with it; else it starts at home.

    `ended_by` is what ended it, if anything did. `file` is where name and keys are kept, None to keep nothing; then to
    quit gives the seat up as well.
    """

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c,ctrl+q", "quit", "Quit", priority=True)]
    CSS = """
    Screen { layout: vertical; overflow: hidden; }
    #header { background: $primary; color: $text; height: 1; text-style: bold; }
    #middle { height: 11; margin: 1 0; }
    #players { width: 50; }
    #side { width: 1fr; }
    #dealer { height: 2; padding: 0 1; }
    #finish { height: 5; padding: 0 1; }
    #call { height: 1; padding: 0 1; }
    #note { height: 1; padding: 0 2; }
    #keys { height: 1; dock: bottom; }
    #too-small { display: none; height: 1fr; padding: 1; }
    .too-small > * { display: none; }
    .too-small > #too-small { display: block; }
    .flash { background: $foreground; color: $background; }
    .label { padding: 0 2; margin-top: 1; }
    #buttons { height: 3; margin: 1 1; }
    #buttons Button { margin: 0 1; min-width: 12; }
    #hint { dock: bottom; padding: 0 2; }
    #board { height: 1fr; padding: 1; }
    Menu { align: center middle; }
    Menu Vertical { width: 76; height: auto; background: $surface; }
    Menu OptionList { height: auto; max-height: 20; }
    """

    def __init__(self, url: str, code: str = "", name: str = "", watch: bool = False, file: Path | None = None) -> None:
        super().__init__()
        self.url = url
        self.rings = True
        self.ended_by: NotAtTable | None = None
        self._code = code
        self._watch = watch
        self._file = file
        self._me = kept.read(file)
        self._me.name = name or self._me.name

    def on_mount(self) -> None:
        """Goes where one wants to be."""
        if self._code and (self._me.name or self._watch):
            self.sit_down(self._code, self._me.name, watch=self._watch)
        else:
            self.push_screen(Home(self._me, self.url, self._code))

    def sit_down(self, code: str, name: str, *, watch: bool = False) -> None:
        """Goes to a table; when it is over, back home or, where one came straight to the table, out."""
        self._me.name = name or self._me.name
        self._keep()
        try:
            url, code = table_at(code, self.url)
        except BadAddress as error:
            self._left_table(error)
        else:
            keep = self._keep if self._file is not None else None
            self.push_screen(Table(self._me, url, code, name, watch, keep), self._left_table)

    def _left_table(self, error: NotAtTable | None) -> None:
        if isinstance(self.screen, Home):
            self.screen.say(_sentence(error) if error is not None else "You have left the table.")
        else:
            self.ended_by = error
            self.exit()

    def _keep(self) -> None:
        kept.write(self._file, self._me)


def _now_us() -> int:
    return time.monotonic_ns() // 1000


def _sentence(error: NotAtTable) -> str:
    text = why_not(error)
    return f"{text[0].upper()}{text[1:]}."
