"""The thin shell around `Session`: one socket at a time, one clock, and the waiting.

Everything that is worth testing without a network is in `Session`; here is only what needs an event loop.
"""

import asyncio
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from secrets import SystemRandom
from typing import Protocol
from urllib.parse import quote, urlsplit, urlunsplit

import websockets
from websockets.asyncio.client import ClientConnection

from clients.sdk.clock import RoomClock
from clients.sdk.errors import NotAtTable, NotNow, ServerGone, TooMany
from clients.sdk.session import GONE, ClientEvent, Session
from engine.game import GameView, LandedCard, Seat, Side
from wire.messages import Join, Message, Question, Quit, SeatId, Start, TableView

KEPT_EVENTS = 10_000
"""A player that never reads its events forgets the oldest beyond these; `table` and `view` stay right."""

DIAL_S = 10
CLOSE_S = 1
FAREWELL_S = 2
LARGEST_FRAME_BYTES = 2**20


class Clock(Protocol):
    """A clock that only moves forward, and waiting on it."""

    def now_us(self) -> int:
        """Whole microseconds since some fixed moment."""

    async def sleep_us(self, us: int) -> None:
        """Comes back once that many have gone by."""


class Monotonic:
    """The machine's own clock."""

    def now_us(self) -> int:
        """Whole microseconds since some fixed moment."""
        return time.monotonic_ns() // 1000

    async def sleep_us(self, us: int) -> None:
        """Comes back once that many have gone by."""
        await asyncio.sleep(us / 1_000_000)


class Player:
    """A person at a table: what they see, what they may do, and what they are told.

    `async for event in player` gives updates as they are to be shown, refusals, reactions, and `Lost` and
    `Resumed` around a dropped socket. It ends after `quit`, and raises the `NotAtTable` that ended it otherwise.
    Nothing here waits for an answer: what became of a move is told by the events.
    """

    def __init__(self, url: str, code: str, session: Session, clock: Clock, draws: bool) -> None:
        self._url = url
        self._code = code
        self._session = session
        self._clock = clock
        self._draws = draws
        self._events: deque[ClientEvent] = deque(maxlen=KEPT_EVENTS)
        self._news = asyncio.Event()
        self._dirty = asyncio.Event()
        self._loop = asyncio.create_task(self._play())
        self._loop.add_done_callback(lambda _: self._wake_waiters())

    # --- what is seen ---

    @property
    def key(self) -> str:
        """The secret that is the way back to this seat. Keep it, show it to nobody."""
        return self._session.key

    @property
    def seat(self) -> SeatId | None:
        """This player's seat, None for a spectator."""
        return self._session.seat

    @property
    def table(self) -> TableView:
        """The table as last shown."""
        assert self._session.table is not None, "connect() returns once the table has been shown"
        return self._session.table

    @property
    def view(self) -> GameView | None:
        """The game as last shown, None before the first."""
        return self._session.view

    @property
    def question(self) -> Question | None:
        """What the table's judge is asked (R18), None where nothing is."""
        return self._session.question

    @property
    def place(self) -> Seat | None:
        """This player's seat in the running game, None where it was not dealt in."""
        return self._session.place

    @property
    def my_turn(self) -> bool:
        """Whether the table waits for this player to turn a card."""
        return self._session.my_turn

    @property
    def top(self) -> LandedCard | None:
        """The card that lies on top, None where there is none."""
        return self._session.top

    @property
    def online(self) -> bool:
        """Whether there is a socket. Without one nothing that is done is sent."""
        return self._session.online

    @property
    def clock(self) -> RoomClock:
        """The estimate of the room's clock."""
        return self._session.clock

    # --- what may be done ---

    def turn(self, side: Side = Side.NONE, hand_us: int | None = None) -> None:
        """Turns the next card. `hand_us` is when the hand came down on the player's clock; left out, it is now."""
        self._session.turn(self._clock.now_us() if hand_us is None else hand_us, side)
        self._dirty.set()

    def slap(self, side: Side = Side.NONE, hand_us: int | None = None) -> None:
        """Slaps the card on top; `hand_us` as for `turn`."""
        self._session.slap(self._clock.now_us() if hand_us is None else hand_us, side)
        self._dirty.set()

    def call(self, call_us: int | None = None) -> None:
        """Calls "Slapjack!" (R13)."""
        self._session.call(self._clock.now_us() if call_us is None else call_us)
        self._dirty.set()

    def carry_on(self) -> None:
        """Lets the card on top pass (R19)."""
        self._session.carry_on()
        self._dirty.set()

    def point(self, seat: Seat) -> None:
        """Answers `question`, for whoever is out or watching: that hand was first (R18)."""
        self._session.point(seat)
        self._dirty.set()

    def start(self) -> None:
        """Starts the game, or the next one now; for the host."""
        self.say(Start())

    def quit(self) -> None:
        """Leaves the table for good (R25)."""
        self.say(Quit())

    def say(self, message: Message) -> None:
        """Any other message of the protocol: `player.say(AddComputer(reaction_ms=400))`."""
        self._session.say(message)
        self._dirty.set()

    def painted(self) -> None:
        """For a client that `draws`: what has been shown so far is on the screen at this moment."""
        self._session.painted(self._clock.now_us())
        self._dirty.set()

    # --- what is told ---

    def __aiter__(self) -> AsyncIterator[ClientEvent]:
        return self

    async def __anext__(self) -> ClientEvent:
        await self._wait_for(lambda: self._events)
        if self._events:
            return self._events.popleft()
        raise StopAsyncIteration

    async def until(self, condition: Callable[["Player"], object]) -> None:
        """Comes back as soon as the condition holds of this player; raises the `NotAtTable` that makes it hopeless."""
        await self._wait_for(lambda: condition(self))
        if not condition(self):
            raise NotAtTable("the player has left the table")

    async def _wait_for(self, condition: Callable[[], object]) -> None:
        while not condition() and not self._session.left:
            if self._session.error is not None:
                raise self._session.error
            if self._loop.done():
                self._loop.result()
            await self._news.wait()

    # --- the loop ---

    async def close(self) -> None:
        """Hangs up. The seat stays taken, and `key` is the way back to it, unless `quit` has given it up."""
        if self._session.left:
            await asyncio.wait([self._loop], timeout=FAREWELL_S)
        self._loop.cancel()
        with suppress(asyncio.CancelledError):
            await self._loop

    async def _play(self) -> None:
        """Keeps the seat until the end: dials, talks, dials again."""
        session = self._session
        while session.dial_at_us is not None:
            await self._clock.sleep_us(max(0, session.dial_at_us - self._clock.now_us()))
            try:
                socket = await websockets.connect(
                    _table_url(self._url, self._code, session.node),
                    compression=None,
                    open_timeout=DIAL_S,
                    close_timeout=CLOSE_S,
                    max_size=LARGEST_FRAME_BYTES,
                    additional_headers=_credentials(session.key),
                )
            except (OSError, websockets.WebSocketException) as wrong:
                session.closed(GONE, f"{urlsplit(self._url).netloc}: {_in_words(wrong)}", self._clock.now_us())
            else:
                await self._talk(socket)
            self._publish()

    async def _talk(self, socket: ClientConnection) -> None:
        session = self._session
        session.opened(self._clock.now_us())
        listening = asyncio.create_task(self._listen(socket))
        try:
            while not (session.stale or listening.done()):
                self._dirty.clear()
                session.wake(self._clock.now_us())
                self._publish()
                for frame in session.take_frames():
                    await socket.send(frame)
                if session.left and session.online:
                    break
                await self._nap()
        except websockets.ConnectionClosed:
            pass
        finally:
            try:
                await socket.close()
            finally:
                socket.transport.abort()  # whoever is stopped in the middle of closing would leave it open
            await listening
        code = GONE if socket.close_code is None else socket.close_code
        session.closed(code, socket.close_reason or "", self._clock.now_us())

    async def _listen(self, socket: ClientConnection) -> None:
        with suppress(websockets.ConnectionClosed):
            async for frame in socket:
                self._session.received(frame if isinstance(frame, bytes) else frame.encode(), self._clock.now_us())
                self._dirty.set()
        self._dirty.set()

    async def _nap(self) -> None:
        """Until something has come, something is to be said, or the session has something to do."""
        wake_at_us = self._session.wake_at_us()
        if wake_at_us is None or self._dirty.is_set():
            return
        waits = [
            asyncio.create_task(self._dirty.wait()),
            asyncio.create_task(self._clock.sleep_us(max(0, wake_at_us - self._clock.now_us()))),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _publish(self) -> None:
        """Hands out what has happened, which for a client that does not draw is also when it was painted."""
        if not self._draws:
            self._session.painted(self._clock.now_us())
        self._events.extend(self._session.take_events())
        self._wake_waiters()

    def _wake_waiters(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


@asynccontextmanager
async def connect(
    url: str,
    code: str,
    *,
    name: str,
    face: str = "🙂",
    key: str | None = None,
    watch: bool = False,
    draws: bool = False,
    patience_s: float = 120.0,
    clock: Clock | None = None,
    entropy: Callable[[], float] | None = None,
) -> AsyncIterator[Player]:
    """Sits down at table `code` of the server at `url` (`http://…`), or comes back to the seat that `key` holds.

    The player is there once the table has been shown to it. Its socket is given up at the end of the block, its seat
    is not. Raises a `NotAtTable`: `NoSuchTable`, `JoinRefused` (its reason says why), `ServerGone`, …

    With `watch` it takes no seat. A client that `draws` is for a person and calls `player.painted()` after each frame
    it has drawn; any other is a program, says so to the table, and has seen a card as soon as it was told of it. A lost
    server is sought for `patience_s` seconds.
    """
    join = Join(name=name, face=face, key=key or "", watch=watch, program=not draws)
    session = Session(join, entropy or SystemRandom().random, round(patience_s * 1_000_000))
    player = Player(url, code, session, clock or Monotonic(), draws)
    try:
        try:
            await player._wait_for(lambda: session.table is not None)
        except asyncio.CancelledError:
            if not key:
                player.quit()  # it may have a seat by now, and nobody would ever have the key to it
            raise
        yield player
    finally:
        await player.close()


async def create_table(url: str) -> str:
    """Opens a new table on the server at `url` and gives its code; raises `ServerGone`, `NotNow` or `TooMany`."""
    return await asyncio.to_thread(_post_table, url)


def _post_table(url: str) -> str:
    request = urllib.request.Request(url.rstrip("/") + "/api/tables", method="POST", data=b"")
    try:
        with urllib.request.urlopen(request, timeout=DIAL_S) as answer:
            return str(json.load(answer)["code"])
    except urllib.error.HTTPError as refused:
        raise _no_table(url, refused) from None
    except OSError as wrong:
        raise ServerGone(f"{urlsplit(url).netloc}: {_in_words(wrong)}") from None
    except (ValueError, KeyError, TypeError):
        raise ServerGone(f"{urlsplit(url).netloc}: it answers, but not as a table does") from None


def _no_table(url: str, refused: urllib.error.HTTPError) -> NotAtTable:
    """Why there is no new table, by the answer (P14)."""
    with refused:
        try:
            why = str(json.load(refused)["text"])
        except (OSError, ValueError, KeyError, TypeError):
            return ServerGone(f"{urlsplit(url).netloc}: it answers HTTP {refused.code}")
    return TooMany(why) if refused.code == HTTPStatus.TOO_MANY_REQUESTS else NotNow(why)


def _in_words(wrong: Exception) -> str:
    """Why there is no connection, without the addresses and numbers that come with it."""
    if isinstance(wrong, websockets.InvalidStatus):
        return f"it answers HTTP {wrong.response.status_code}"
    if found := re.search(r"\[Errno (\d+)\]", str(wrong)):
        return os.strerror(int(found[1]))
    return getattr(wrong, "strerror", None) or str(wrong) or type(wrong).__name__


def _table_url(url: str, code: str, node: str) -> str:
    parts = urlsplit(url)
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    there = f"/n/{node}" if node else ""  # by way of a proxy that knows the servers by name (P16)
    path = f"{parts.path.rstrip('/')}{there}/ws/{quote(''.join(code.split()).upper())}"
    return urlunsplit((scheme, parts.netloc, path, "", ""))


def _credentials(key: str) -> dict[str, str]:
    """Who is known at a table is let in however many wrong codes come from their address."""
    return {"Authorization": f"Bearer {key}"} if key and key.isascii() and key.isprintable() else {}
