"""What a screen really shows, and when: a table of one phone, fingers on its glass, and the compositor's own stamps.

The phone, its page and its socket are real; the dealer is here, and turns a card whenever it is asked to. All instants
are microseconds of the machine's monotonic clock, which Chromium's trace and `performance.now` read too.
"""

import asyncio
import json
import mimetypes
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from msgspec.structs import replace
from playwright.async_api import CDPSession, Page, async_playwright
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from engine.cards import Card
from engine.game import CardTurned, GameView, LandedCard, Seat
from tests.browser import scenes
from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.support.serving import ROOT
from wire.codec import read_client_message, write
from wire.messages import DoSlap, DoTurn, Join, SeatId, Sync, Synced, Update, Welcome

PAGE = ROOT / "clients" / "web" / "dist"
LEAD_US = 10_000
"""So far ahead of its moment a card is sent, as to a phone beside the server."""
FACES = ("4C", "KD", "9S", "7H", "3D", "8C", "TC", "5S", "2H", "AD")
SEES = """
localStorage.setItem("slapjack:me", '{"name":"Anna","face":"F"}');
for (const down of ["pointerdown", "keydown"])
    addEventListener(down, event => performance.mark("down", { detail: event.timeStamp }), { capture: true });
new MutationObserver(changes => {
    for (const { target } of changes) performance.mark(`card ${target.dataset.nth}`);
}).observe(document, { subtree: true, attributeFilter: ["data-nth"] });
"""
TRACED = ("disabled-by-default-devtools.timeline.frame", "blink.user_timing")
Point = tuple[float, float]


def now_us() -> int:
    """The machine's monotonic clock."""
    return time.monotonic_ns() // 1000


@dataclass(frozen=True)
class Seen:
    """One card: by how much the compositor showed it after its moment, and how wrong the claim of the hand on it was.

    `claim_error_ms` is the claim less what it should have been, from the showing to the touch; None without a slap.
    """

    late_ms: float
    claim_error_ms: float | None


@dataclass
class Dealer:
    """The server's end: the page itself, and a table where a card is turned as soon as somebody says so."""

    turned: int = 0
    moments_us: dict[int, int] = field(default_factory=dict)
    slaps: dict[int, DoSlap] = field(default_factory=dict)
    _updates: int = 1
    _socket: ServerConnection | None = None

    def page(self, connection: ServerConnection, request: Request) -> Response | None:
        """A file of the built page; None for the table's socket."""
        path = request.path.partition("?")[0].lstrip("/")
        if path.startswith("ws/"):
            return None
        if path.startswith("api/"):
            return connection.respond(HTTPStatus.OK, "{}")
        file = PAGE / path if (PAGE / path).is_file() else PAGE / "index.html"
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        body = file.read_bytes()
        headers = {"Content-Type": kind, "Content-Length": str(len(body)), "Connection": "close"}
        return Response(200, "OK", Headers(headers), body)

    async def hear(self, socket: ServerConnection) -> None:
        """Answers one phone for as long as it is there."""
        self._socket = socket
        async for frame in socket:
            assert isinstance(frame, bytes)
            match read_client_message(frame):
                case Sync(sent_us):
                    await socket.send(write(Synced(sent_us, now_us())))
                case Join():
                    self._updates = 1
                    table = scenes.playing(2)
                    await socket.send(write(Welcome(scenes.CODE, "a-key", SeatId("Anna"), now_us())))
                    await socket.send(write(Update(1, 0, table=table, view=self._view())))
                case DoTurn():
                    await self.turn()
                case DoSlap() as slap:
                    self.slaps[slap.nth] = slap
                    await self._tell(Update(0, 0, view=self._view(), verdict=replace(scenes.VERDICT, nth=slap.nth)))

    async def turn(self) -> None:
        """The next card."""
        self.turned += 1
        self.moments_us[self.turned] = now_us() + LEAD_US
        event = CardTurned(Seat(0), self.turned, self._face(self.turned))
        await self._tell(Update(0, self.moments_us[self.turned], view=self._view(), events=(event,)))

    async def _tell(self, update: Update) -> None:
        assert self._socket is not None
        self._updates += 1
        await self._socket.send(write(replace(update, n=self._updates)))

    def _face(self, nth: int) -> Card:
        return Card(FACES[nth % len(FACES)])

    def _view(self) -> GameView:
        last = range(max(1, self.turned - 2), self.turned + 1)
        landed = tuple(LandedCard(nth, self._face(nth), Seat(0)) for nth in last)
        return replace(scenes.view((20, 20), turned=self.turned, pile=self.turned), landed=landed)


class Glass:
    """One phone's screen, which fingers touch as Chromium's own input."""

    def __init__(self, page: Page, debugger: CDPSession, dealer: Dealer) -> None:
        self.page = page
        self.dealer = dealer
        self._debugger = debugger
        self._down: dict[int, Point] = {}

    async def middle(self, selector: str) -> Point:
        """The middle of an element."""
        box = await self.page.locator(selector).bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    async def slow_down(self, times: float) -> None:
        """The page's processor, so many times slower."""
        await self._debugger.send("Emulation.setCPUThrottlingRate", {"rate": times})

    async def hold(self, finger: int, at: Point, for_ms: float) -> None:
        """A finger comes down, stays and lifts."""
        self._down[finger] = at
        await self._touch("touchStart")
        await asyncio.sleep(for_ms / 1000)
        del self._down[finger]
        await self._touch("touchEnd")

    async def press(self, key: str) -> None:
        """A key goes down and up."""
        await self.page.keyboard.press(key, delay=30)

    async def _touch(self, kind: str) -> None:
        points = [{"x": x, "y": y, "id": finger} for finger, (x, y) in self._down.items()]
        await self._debugger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


@asynccontextmanager
async def glass() -> AsyncIterator[tuple[Glass, Callable[[], Coroutine[Any, Any, dict[int, Seen]]]]]:
    """A phone at a table that is played, and what gives all cards seen so far, once."""
    dealer = Dealer()
    async with serve(dealer.hear, "127.0.0.1", 0, process_request=dealer.page, compression=None) as server:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            context = await browser.new_context(
                viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True, service_workers="block"
            )
            page = await context.new_page()
            await page.add_init_script(SEES)
            await page.goto(f"http://127.0.0.1:{_port(server)}{scenes.TABLE}")
            await page.get_by_role("button", name="Take a seat").click()
            await page.locator("button.own.mine").wait_for()
            tracer = await browser.new_browser_cdp_session()
            events: list[dict[str, Any]] = []
            ended = asyncio.Event()
            tracer.on("Tracing.dataCollected", lambda told: events.extend(told["value"]))
            tracer.on("Tracing.tracingComplete", lambda _: ended.set())
            config = {"includedCategories": TRACED, "excludedCategories": ["*"]}
            await tracer.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": config})

            async def seen() -> dict[int, Seen]:
                await tracer.send("Tracing.end")
                await ended.wait()
                return _seen(events, dealer)

            yield Glass(page, await context.new_cdp_session(page), dealer), seen
            await browser.close()


def _port(server: Server) -> int:
    port: int = next(iter(server.sockets)).getsockname()[1]
    return port


def _seen(events: list[dict[str, Any]], dealer: Dealer) -> dict[int, Seen]:
    """Each card, from the frame into which the page put it."""
    events.sort(key=lambda event: event["ts"])
    marks = [event for event in events if event["cat"] == "blink.user_timing" and event["name"][:4] in ("card", "down")]
    origin_us = marks[0]["ts"] - marks[0]["args"]["data"]["startTime"] * 1000
    downs_us = [
        origin_us + float(json.loads(mark["args"]["data"]["detail"])) * 1000 for mark in marks if mark["name"] == "down"
    ]
    shown_us = {int(mark["name"][5:]): _presented_us(events, mark) for mark in marks if mark["name"] != "down"}
    seen = {}
    for nth, at_us in shown_us.items():
        slap = dealer.slaps.get(nth)
        if at_us is None or nth not in dealer.moments_us:
            continue
        error_ms = None
        if slap is not None and slap.reaction_us is not None:
            # The touch whose claim points nearest to the showing: the finger of this slap, and no other.
            error_ms = min((slap.reaction_us - (down - at_us) for down in downs_us), key=abs) / 1000
        seen[nth] = Seen((at_us - dealer.moments_us[nth]) / 1000, error_ms)
    return seen


def _presented_us(events: list[dict[str, Any]], mark: dict[str, Any]) -> int | None:
    """When the frame was on the screen into whose making the mark falls; None where none has come."""
    made: set[str] = set()
    for event in events:
        frame, phase = str(event.get("id2")), (event["name"], event["ph"])
        past = event["ts"] < mark["ts"]
        if phase == ("SendBeginMainFrameToCommit", "b") and past:
            made.add(frame)
        elif phase == ("SendBeginMainFrameToCommit", "e") and past:
            made.discard(frame)
        elif phase == ("SubmitCompositorFrameToPresentationCompositorFrame", "e") and not past and frame in made:
            at_us: int = event["ts"]
            return at_us
    return None
