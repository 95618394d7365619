"""One person's dealings with one table, without a socket: frames and instants in, frames and events out.

Knows the wire, when to dial, when to show, what to stamp. It keeps no time, owns no socket and draws its luck from the
caller, so that a whole world of phones can run on a made-up clock. The order of things:

    dial_at_us → (caller dials) → opened → take_frames → received … wake … → closed → dial_at_us → …

Every instant is in whole microseconds on the caller's own clock, which only moves forward.
"""

import re
from collections import deque
from collections.abc import Callable
from typing import assert_never

import msgspec

from clients.sdk.clock import Exchange, RoomClock
from clients.sdk.errors import FINAL, BadFrame, JoinRefused, NotAtTable, NotNow, ServerGone, WrongVersion
from clients.sdk.sight import shows_afresh
from engine.game import CardTurned, GameView, LandedCard, Seat, Side
from engine.value import Value
from wire.codec import Malformed, read_server_message, write
from wire.messages import (
    PROTOCOL,
    AllSaid,
    AnyHand,
    CloseCode,
    DoCall,
    DoCarryOn,
    DoSlap,
    DoTurn,
    Join,
    Message,
    Point,
    Question,
    Quit,
    Reacted,
    Refused,
    SeatClaimed,
    Seated,
    SeatId,
    Shown,
    StoreStalled,
    SuspectFlagged,
    Sync,
    Synced,
    TableView,
    Tournaments,
    Update,
    Welcome,
)

BURST = 5
BURST_EVERY_US = 200_000
SYNC_EVERY_US = 2_500_000
SILENCE_US = 10_000_000
"""A socket over which nothing has come for so long, syncs included, is dead."""

LONGEST_HOLD_US = 1_000_000
"""Nothing is held longer than this, whatever the clock estimate says: a wrong clock must not stop the table."""

LATEST_US = 60_000_000
"""A painting so far from its moment tells of a wrong clock, not of a slow screen."""

FIRST_RETRY_US = 250_000
LONGEST_RETRY_US = 5_000_000
STAMPS = 8
"""Cards whose painting is remembered; hands come on the top one or the one before."""

SOON_US = 200_000
"""A server that stops is replaced already: the whole of a table knocks at another within this."""
MOST_HOPS = 3
NODE = re.compile(r"[a-z0-9-]{1,32}")

RESTARTS = 1012
"""The close code of a server that stops (IANA's WebSocket Close Code Number Registry)."""

GONE = 1006
"""The close code for a socket that broke or was never there (RFC 6455, section 7.4.1)."""

OURS = 4000
"""Close codes from here on are said by the table itself (P4)."""


class Lost(Value):
    """The socket is gone; the client is on its way back to its seat."""

    code: int
    reason: str


class Resumed(Value):
    """The client is back at its table; the whole of it follows in the next `Update`."""


Move = DoTurn | DoSlap | DoCall | DoCarryOn

ClientEvent = Update | Refused | Reacted | SuspectFlagged | SeatClaimed | Tournaments | StoreStalled | Lost | Resumed
"""What a player is told: updates at the moment at which they are to be shown, the rest as it comes."""


class Session:
    """A seat (or a place to watch from) that outlives its sockets.

    `chance` gives a float in [0, 1) and spreads the dialling; `patience_us` is how long a lost server is sought.
    What may be read at any time: `key`, `seat`, `clock`, `online`, `error`, and `table`, `view` and `question` as last
    *shown*.
    """

    def __init__(self, join: Join, entropy: Callable[[], float], patience_us: int = 120_000_000) -> None:
        self._join = join
        self._entropy = entropy
        self._patience_us = patience_us
        self._frames: deque[bytes] = deque()
        self._events: deque[ClientEvent] = deque()

        self.key = join.key
        self.seat: SeatId | None = None
        self.table: TableView | None = None
        self.view: GameView | None = None
        self.question: Question | None = None
        self.clock = RoomClock()
        self.error: NotAtTable | None = None
        self.left = False
        self.online = False
        self.stale = False
        """The caller should hang up: what comes over this socket is no longer of use."""
        self.dial_at_us: int | None = 0
        """When to open a socket; None while there is one, or when it is all over."""

        self.node = ""
        """The server to dial, by its name; empty for whichever there is (P16)."""

        self._welcomes = 0
        self._hops = 0
        self._tries = 0
        self._sought_since_us: int | None = None
        self._opened_us = 0
        self._heard_us = 0
        self._sync_at_us = 0
        self._syncs = 0
        self._last_n: int | None = None
        self._whole = False
        self._last_moves: dict[str, Move] = {}
        self._vain_moves: set[Move] = set()
        self._held: deque[tuple[Update, int]] = deque()
        # When each card is due on the screen, None where nobody needs to hear of it.
        self._to_paint: dict[int, int | None] = {}
        self._painted: dict[int, int] = {}
        self._painted_game = 0

    # --- the socket ---

    def opened(self, now_us: int) -> None:
        """A socket is open: says who we are (P5)."""
        self.dial_at_us = None
        self._opened_us = self._heard_us = now_us
        self._frames.append(write(msgspec.structs.replace(self._join, key=self.key)))

    def received(self, frame: bytes, now_us: int) -> None:
        """A binary frame has come."""
        if self.stale:
            return
        self._heard_us = now_us
        try:
            message = read_server_message(frame)
        except Malformed as wrong:
            self._end(BadFrame(f"the server sent what cannot be read: {wrong}"))
            return
        match message:
            case Welcome():
                self._welcomed(message, now_us)
            case Update():
                self._told(message, now_us)
            case Seated():
                self.seat = message.seat
            case Synced():
                self.clock = self.clock.learned(Exchange(message.sent_us, message.room_us, now_us))
            case Refused(of="join") if not self.online:
                self._end(JoinRefused(message.reason, message.detail))
            case Refused():
                if (last := self._last_moves.get(message.of)) is not None:
                    self._vain_moves.add(last)
                self._events.append(message)
            case AnyHand(game, nth):
                self.say(AllSaid(game, nth))
            case Reacted() | SuspectFlagged() | SeatClaimed() | Tournaments() | StoreStalled():
                self._events.append(message)
            case None:
                pass  # Of a newer server, which goes on without it (P13).
            case _:
                assert_never(message)

    def closed(self, code: int, reason: str, now_us: int) -> None:
        """The socket is closed, or could not be opened: `GONE` where there was no close frame."""
        self._show_due(now_us)
        was_online = self.online
        self.online = self.stale = False
        self._frames.clear()
        self._held.clear()
        self.dial_at_us = None
        if self.error is not None or (self.left and (was_online or not self.key)):
            return
        if code in FINAL:
            self.error = FINAL[code](reason or FINAL[code].__doc__)
            return
        if was_online:
            self._sought_since_us = now_us
            if code == RESTARTS or now_us - self._opened_us > LONGEST_RETRY_US:
                self._tries = 0
            self._events.append(Lost(code, reason))
        elif self._sought_since_us is None and code in (RESTARTS, CloseCode.MOVED):
            self._sought_since_us = now_us
        if self._sought_since_us is None or now_us - self._sought_since_us >= self._patience_us:
            kind = ServerGone if code < OURS else NotNow
            self.error = kind(reason or "the server cannot be reached")
            return
        if code == CloseCode.MOVED and self._hops < MOST_HOPS and NODE.fullmatch(reason):
            self._hops += 1
            self.node, self.dial_at_us = reason, now_us
            return
        self.node, self._hops = "", 0
        if code == RESTARTS and not self._tries:
            wait_us = round(SOON_US * self._entropy())
        else:
            wait_us = min(LONGEST_RETRY_US, FIRST_RETRY_US << min(self._tries, 10))
            wait_us = round(wait_us * (0.5 + self._entropy() / 2))
        self._tries += 1
        self.dial_at_us = now_us + wait_us

    def wake(self, now_us: int) -> None:
        """Does what is due: shows held updates, asks for the time, gives up a dead socket."""
        if not self.online:
            self.stale = self.stale or (self.dial_at_us is None and now_us - self._opened_us >= SILENCE_US)
            return
        self._show_due(now_us)
        if now_us >= self._sync_at_us:
            self._syncs += 1
            self._sync_at_us = now_us + (BURST_EVERY_US if self._syncs < BURST else SYNC_EVERY_US)
            self.say(Sync(sent_us=now_us))
        if now_us - self._heard_us >= SILENCE_US:
            self.stale = True

    def wake_at_us(self) -> int | None:
        """When `wake` has something to do next; None when there is no socket, or it should be hung up."""
        if self.stale or self.dial_at_us is not None or self.error is not None:
            return None
        if not self.online:
            return self._opened_us + SILENCE_US
        dues = [self._sync_at_us, self._heard_us + SILENCE_US]
        if self._held:
            dues.append(self._show_us(*self._held[0]))
        return min(dues)

    def take_frames(self) -> list[bytes]:
        """What is to be sent, in order. Each frame is given out once."""
        frames = list(self._frames)
        self._frames.clear()
        return frames

    def take_events(self) -> list[ClientEvent]:
        """What the player is to be told, in order. Each is given out once."""
        events = list(self._events)
        self._events.clear()
        return events

    # --- the table ---

    @property
    def place(self) -> Seat | None:
        """Our seat in the running game, None where we are not dealt in."""
        seats = self.table.seats if self.table is not None else ()
        return next((seat.place for seat in seats if seat.id == self.seat), None)

    @property
    def my_turn(self) -> bool:
        """Whether the table waits for us to turn a card (R3)."""
        return self.view is not None and self.place is not None and self.place in self.view.turners

    @property
    def top(self) -> LandedCard | None:
        """The card that lies on top as shown."""
        return self.view.landed[-1] if self.view is not None and self.view.landed else None

    def painted(self, now_us: int) -> None:
        """Everything shown so far is on the screen now: the start of every reaction (P9)."""
        for nth, due_us in self._to_paint.items():
            self._painted[nth] = now_us
            if due_us is not None:
                late_us = max(-LATEST_US, min(LATEST_US, now_us - due_us))
                self.say(Shown(game=self._painted_game, nth=nth, late_us=late_us))
        self._to_paint.clear()
        while len(self._painted) > STAMPS:
            del self._painted[min(self._painted)]

    # A move that was refused is not said again before something new is shown.

    def turn(self, hand_us: int, side: Side = Side.NONE) -> None:
        """Our next card, turned by a hand that came down at `hand_us`."""
        nth = self.view.turned + 1 if self.view is not None else 0
        self._move(DoTurn(self._game, nth, self._reaction_us(hand_us), side))

    def slap(self, hand_us: int, side: Side = Side.NONE) -> None:
        """A hand on the card that is on top as shown."""
        self._move(DoSlap(self._game, self._top_nth, self._reaction_us(hand_us), side))

    def call(self, call_us: int) -> None:
        """The call "Slapjack!", for the card that is on top as shown (R13)."""
        self._move(DoCall(self._game, self._top_nth, self._reaction_us(call_us)))

    def carry_on(self) -> None:
        """Lets the card pass that is on top as shown (R19)."""
        self._move(DoCarryOn(self._game, self._top_nth))

    def point(self, seat: Seat) -> None:
        """As the table's judge: that hand was first (R18). Nothing where nothing is asked."""
        if self.question is not None:
            self.say(Point(self.question.id, seat))

    def say(self, message: Message) -> None:
        """Any message. While there is no socket nothing is said: `Resumed`, and the update after it, tell where the
        table stands by then. Only `Quit` waits for the way back, since a seat is not given up by silence."""
        if isinstance(message, Quit):
            self.left = True
        if self.online:
            self._frames.append(write(message))

    # --- inside ---

    def _move(self, move: Move) -> None:
        # What was refused would be refused again until something else happens: a program that tries once more at
        # everything it is told would try thousands of times a second.
        tried = move if isinstance(move, DoCarryOn) else msgspec.structs.replace(move, reaction_us=None)
        # And what the table looks like is seen first on every socket.
        if not self._whole and tried not in self._vain_moves:
            self._last_moves[str(move.__struct_config__.tag)] = tried
            self.say(move)

    def _welcomed(self, welcome: Welcome, now_us: int) -> None:
        if welcome.protocol != PROTOCOL:
            self._end(WrongVersion(f"the server speaks version {welcome.protocol}, this client {PROTOCOL}"))
            return
        self.key, self.seat = welcome.key, welcome.seat
        self.online = True
        # Another server may have another clock, so the estimate starts afresh; the join is its first exchange.
        self.clock = RoomClock().learned(Exchange(self._opened_us, welcome.room_us, now_us))
        self._last_n = None
        self._held.clear()
        self._whole = True
        self._syncs = 0
        self._sync_at_us = now_us
        self._welcomes += 1
        self._hops = 0
        if self.left:
            self.say(Quit())
        if self._welcomes > 1:
            self._events.append(Resumed())

    def _told(self, update: Update, now_us: int) -> None:
        if self._last_n is not None and update.n != self._last_n + 1:
            self.stale = True
            return
        self._last_n = update.n
        self._held.append((update, now_us))

    def _show_due(self, now_us: int) -> None:
        while self._held and self._show_us(*self._held[0]) <= now_us:
            self._show(*self._held.popleft())

    def _show_us(self, update: Update, came_us: int) -> int:
        """When to show it, on our own clock (P9)."""
        if update.show_at_us == 0:
            return came_us
        return max(came_us, min(self.clock.own_us(update.show_at_us), came_us + LONGEST_HOLD_US))

    def _show(self, update: Update, came_us: int) -> None:
        self._vain_moves.clear()
        # A card that came late is late: the dealer must know how long its painting may hold up a hand.
        due_us = self.clock.own_us(update.show_at_us) if update.show_at_us else came_us
        if update.table is not None:
            self.table = update.table
        if update.view is not None or self._whole:
            self.view, self.question = update.view, update.question
        self._whole = False
        if self._painted_game != self._game:
            self._painted_game = self._game
            self._painted.clear()
            self._to_paint.clear()
        painted_us = due_us if update.say_shown else None
        for event in update.events:
            if isinstance(event, CardTurned):
                self._to_paint[event.nth] = painted_us
        if self.top is not None and shows_afresh(update):
            # What counts is the painting to come (P9), and a refusal of a hand before speaks of none to come.
            self._painted.pop(self.top.nth, None)
            self._to_paint[self.top.nth] = painted_us
            self._last_moves.clear()
        if self.top is not None and self.top.nth not in self._painted:
            self._to_paint.setdefault(self.top.nth, painted_us)
        self._events.append(update)

    def _end(self, error: NotAtTable) -> None:
        self.error = error
        self.stale = True

    @property
    def _game(self) -> int:
        return self.table.game if self.table is not None else 0

    @property
    def _top_nth(self) -> int:
        if self.top is not None:
            return self.top.nth
        return self.view.turned if self.view is not None else 0

    def _reaction_us(self, hand_us: int) -> int | None:
        painted_us = self._painted.get(self._top_nth)
        return None if self.top is None or painted_us is None else hand_us - painted_us
