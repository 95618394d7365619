"""Thousands of honest phones in one process, sat down four to a table: the load of every speed bench.

The workload "table": every 400 ms somebody turns a card and everybody at the table is told; on a Jack all of them slap
150 to 450 ms after it is shown, one verdict goes to everybody, and 850 ms after the Jack the next card is turned.
Phones answer pings at once. A frame that all phones of a table get is decoded for the first of them and compared for
the others, and frames are written as bytes to the transport: the load must never be what is measured.

Knows sockets, a table's rhythm, and how a server under test words it (`Table` and its kinds). Judges no server.
"""

import asyncio
import random
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from engine.rules import Rules
from wire.codec import write
from wire.messages import AllSaid, DoSlap, DoTurn, Join, Message, SetRules, Shown, Start, Sync

CARD_S = 0.4
AFTER_JACK_S = 0.85
QUICKEST_S = 0.15
SECOND_S = 0.2
SLOWEST_S = 0.45
STALLED_S = 3.0
RECENT = 4
"""So many messages may be on their way to the phones of a table."""
TRIES, TRY_AGAIN_S = 8, 0.5
"""How often in a row a full server is asked again for a table, and after how long."""
OPENS_S = 30.0
"""Thousands of tables are open by then, or a server has its hands full with those it has."""
SYNC_S = 2.75
"""How often a phone asks for the clock: the page every 3 s, the Python client every 2.5 s."""

BINARY, TEXT, CLOSE, PING, PONG = 2, 1, 8, 9, 10
SECRET = b"\0\0\0\0"
"""A mask that leaves the payload as it is (RFC 6455, section 5.3); the server has to apply it all the same."""


class Refused(Exception):
    """The server did not let a table or a phone in; the text is its answer."""


def framed(payload: bytes, opcode: int = BINARY) -> bytes:
    """A frame from a phone."""
    size = len(payload)
    head = (0x80 | size,) if size < 126 else (0x80 | 126, size >> 8, size & 255)
    return bytes((0x80 | opcode, *head)) + SECRET + payload


class Tally:
    """What was seen since the last time somebody looked. Times in seconds."""

    def __init__(self) -> None:
        self.began_s = time.monotonic()
        self.delivered = 0
        self.pings = 0
        self.cards = array("d")
        self.verdicts = array("d")
        self.waits = array("d")
        self.errors: Counter[str] = Counter()


class Phone(asyncio.Protocol):
    """One socket: opens a WebSocket, cuts the stream into messages for its table, answers pings."""

    __slots__ = ("_rest", "got", "opened", "request", "table", "transport")

    def __init__(self, table: "Table", request: bytes) -> None:
        self.table = table
        self.request = request
        self.opened: asyncio.Future[None] | None = asyncio.get_running_loop().create_future()
        self.got = 0
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asks for the upgrade."""
        # No asyncio.Transport where the loop is uvloop's.
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self.request)

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts as an error, unless the table has been left."""
        if self.opened is not None and not self.opened.done():
            self.opened.set_exception(Refused("the socket was closed before it was open"))
        self.table.lost(self)

    def data_received(self, data: bytes) -> None:
        """Takes whatever whole frames there are (RFC 6455, section 5.2; no server here sends fragments)."""
        arrived_s = self.table.now_s()
        if self._rest:
            data = self._rest + data
            self._rest = b""
        at, end = 0, len(data)
        if self.opened is not None:
            at = self._open(data)
            if not at:
                return
        while end - at >= 2:
            length, start = data[at + 1], at + 2
            if length == 126:
                length, start = int.from_bytes(data[at + 2 : at + 4]), at + 4
            elif length == 127:
                length, start = int.from_bytes(data[at + 2 : at + 10]), at + 10
            if start + length > end:
                break
            opcode, payload = data[at] & 15, data[start : start + length]
            at = start + length
            if opcode == PING:
                self.table.tally.pings += 1
                self.transport.write(framed(payload, PONG))
            elif opcode == CLOSE:
                self.table.refused(self, payload[2:].decode(errors="replace") or "closed")
            elif opcode != PONG:
                self.table.heard(self, payload, arrived_s)
        if at < end:
            self._rest = data[at:]

    def _open(self, data: bytes) -> int:
        at = data.find(b"\r\n\r\n") + 4
        if at < 4:
            self._rest = data
            return 0
        assert self.opened is not None
        if data.startswith(b"HTTP/1.1 101"):
            self.opened.set_result(None)
        else:
            self.opened.set_exception(Refused(data[: data.find(b"\r\n")].decode()))
        self.opened = None
        return at


def upgrade(path: str) -> bytes:
    """The request that opens a WebSocket."""
    return (
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    ).encode()


async def posted(port: int, path: str) -> Any:
    """What a server answers to an empty POST, from JSON; raises `Refused`."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
    writer.write(f"{request}Connection: close\r\n\r\n{{}}".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    status = head.split(b"\r\n", 1)[0].decode()
    if " 20" not in status:
        raise Refused(f"{status.removeprefix('HTTP/1.1 ')} {body.decode()}")
    return msgspec.json.decode(body)


class Table:
    """One table of phones and its rhythm. Its kinds know how a server is asked and what it answers.

    `told` counts the messages for everybody; each phone must get each of them, and may get a few of them late. Of each
    it is known which it was, from when to measure until it comes to a phone, and into what.
    """

    seats = 4
    now_s: Callable[[], float] = staticmethod(time.monotonic)

    def __init__(self, port: int, number: int, tally: Tally, rng: random.Random) -> None:
        self.port = port
        self.number = number
        self.tally = tally
        self.rng = rng
        self.phones: list[Phone] = []
        self.told = 0
        self.at_s = self.now_s()
        self.leaving = False
        self._loop = asyncio.get_running_loop()
        self._recent: dict[bytes, tuple[int, array[float] | None, float]] = {}
        self._nth = 0
        self._sent_s = 0.0
        self._due_s = 0.0
        self._slapped_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def sit(self) -> None:
        """Opens the table and its sockets and begins to play; raises `Refused`."""
        raise NotImplementedError

    def leave(self) -> None:
        """Closes all its sockets."""
        self.leaving = True
        if self._timer is not None:
            self._timer.cancel()
        for phone in self.phones:
            phone.transport.abort()

    def lost(self, phone: Phone) -> None:
        """A socket has closed, and with it ends the table."""
        if not self.leaving:
            self.tally.errors["lost"] += 1
            self.leave()

    def refused(self, phone: Phone, reason: str) -> None:
        """The server has hung up and said why."""
        if not self.leaving:
            self.tally.errors[reason] += 1

    def heard(self, phone: Phone, payload: bytes, arrived_s: float) -> None:
        """A message has come to one of the phones."""
        told = self._recent.get(payload)
        if told is None:
            self._understand(phone, payload, arrived_s)
            return
        number, into, since_s = told
        phone.got += 1
        if phone.got != number:
            self.tally.errors["gap"] += 1
            phone.got = number
        self.tally.delivered += 1
        if into is not None:
            into.append(arrived_s - since_s)

    def _understand(self, phone: Phone, payload: bytes, arrived_s: float) -> None:
        raise NotImplementedError

    def _tell(
        self, phone: Phone, payload: bytes, arrived_s: float, into: "array[float] | None", since_s: float
    ) -> None:
        """The first phone has a message for everybody: from now on it is compared, and measured from `since_s`."""
        self.told += 1
        self._recent[payload] = self.told, into, since_s
        if len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]
        self.at_s = arrived_s
        self.heard(phone, payload, arrived_s)

    async def _dial(self, path: str) -> Phone:
        phone = Phone(self, upgrade(path))
        opened = phone.opened
        assert opened is not None
        await self._loop.create_connection(lambda: phone, "127.0.0.1", self.port)
        self.phones.append(phone)
        await opened
        return phone

    # --- the rhythm ---

    def _later(self, after_s: float) -> None:
        """The next card is turned so long after the last one was due."""
        now_s = self.now_s()
        self._due_s = max(self._due_s + after_s, now_s)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(self._due_s - now_s, self._turn_now)

    def _turn_now(self) -> None:
        self._timer = None
        self._nth += 1
        self._sent_s = self.now_s()
        self._turn(self._nth)

    def _jack(self, nth: int, seats: Iterable[tuple[int, float]]) -> None:
        """All of these seats slap card `nth` so many seconds from now."""
        self._slapped_s = 0.0
        for seat, after_s in seats:
            self._loop.call_later(after_s, self._slap_now, seat, nth, after_s)

    def _slap_now(self, seat: int, nth: int, reaction_s: float) -> None:
        if not self._slapped_s:
            self._slapped_s = self.now_s()
        if not self.leaving:
            self._slap(seat, nth, reaction_s)

    def _turn(self, nth: int) -> None:
        raise NotImplementedError

    def _slap(self, seat: int, nth: int, reaction_s: float) -> None:
        raise NotImplementedError


# --- tables of the rivals ----------------------------------------------------------------------------------------


class Plain(msgspec.Struct, gc=False):
    """What a rival says: `card` with its number and face, `verdict` with the winner."""

    t: str
    nth: int
    face: str = ""


class PlainTable(Table):
    """A table of a rival: JSON text, four sockets to a path, the Jacks as its deck has them."""

    _decode = msgspec.json.Decoder(Plain).decode

    async def sit(self) -> None:
        """Opens the sockets one after the other."""
        for seat in range(self.seats):
            await self._dial(f"/ws/{self.number}/{seat}")
        self._due_s = self.now_s()
        self._later(self.rng.uniform(0, CARD_S))

    def _understand(self, phone: Phone, payload: bytes, arrived_s: float) -> None:
        self._answer(self._decode(payload), phone, payload, arrived_s)

    def _answer(self, told: Plain, phone: Phone, payload: bytes, arrived_s: float) -> None:
        if told.nth < self._nth:
            self.tally.errors["late"] += 1
        elif told.t == "card":
            self._tell(phone, payload, arrived_s, self.tally.cards, self._sent_s)
            if told.face[0] == "J":
                self._jack(told.nth, [(seat, self.rng.uniform(QUICKEST_S, SLOWEST_S)) for seat in range(self.seats)])
            else:
                self._later(CARD_S)
        else:
            self._tell(phone, payload, arrived_s, self.tally.verdicts, self._slapped_s)
            self._later(AFTER_JACK_S)

    def _turn(self, nth: int) -> None:
        self.phones[nth % self.seats].transport.write(framed(b'{"t":"turn","nth":%d}' % nth, TEXT))

    def _slap(self, seat: int, nth: int, reaction_s: float) -> None:
        self.phones[seat].transport.write(framed(b'{"t":"slap","nth":%d}' % nth, TEXT))


class AskedTable(PlainTable):
    """The same, whose phones say as much as ours: they ask for the clock, and say that a Jack is painted."""

    async def sit(self) -> None:
        """Opens the sockets and begins to ask."""
        await super().sit()
        self._loop.call_later(self.rng.uniform(0, SYNC_S), self._sync, 0)

    def _sync(self, number: int) -> None:
        if not self.leaving:
            self.phones[number % self.seats].transport.write(framed(b'{"t":"sync","nth":%d}' % self._nth, TEXT))
            self._loop.call_later(SYNC_S / self.seats, self._sync, number + 1)

    def _answer(self, told: Plain, phone: Phone, payload: bytes, arrived_s: float) -> None:
        if told.t == "synced":
            return
        super()._answer(told, phone, payload, arrived_s)
        if told.face[:1] == "J":
            for other in self.phones:
                other.transport.write(framed(b'{"t":"shown","nth":%d}' % told.nth, TEXT))


class ColyseusTable(PlainTable):
    """A table of Colyseus: a seat is reserved over HTTP first, and messages are a byte, a type and msgpack."""

    _unpack = msgspec.msgpack.Decoder(Plain).decode

    async def sit(self) -> None:
        """Reserves the seats and takes them."""
        room = ""
        for _ in range(self.seats):
            path = f"joinById/{room}" if room else "create/table"
            seat = await posted(self.port, f"/matchmake/{path}")
            room = seat["roomId"]
            await self._dial(f"/{seat['processId']}/{room}?sessionId={seat['sessionId']}")
        self._due_s = self.now_s()
        self._later(self.rng.uniform(0, CARD_S) + 0.2)

    def _understand(self, phone: Phone, payload: bytes, arrived_s: float) -> None:
        if payload[0] == 13:
            self._answer(self._unpack(payload[2 + (payload[1] & 31) :]), phone, payload, arrived_s)
        elif payload[0] == 10:
            phone.transport.write(framed(b"\x0a"))

    def _turn(self, nth: int) -> None:
        self.phones[nth % self.seats].transport.write(framed(b"\x0d\xa4turn" + msgspec.msgpack.encode(nth)))

    def _slap(self, seat: int, nth: int, reaction_s: float) -> None:
        self.phones[seat].transport.write(framed(b"\x0d\xa4slap" + msgspec.msgpack.encode(nth)))


# --- our own -----------------------------------------------------------------------------------------------------


class HeardEvent(msgspec.Struct, gc=False):
    """What the rhythm needs of an event."""

    event: str
    nth: int = 0
    face: str = ""


class HeardSeat(msgspec.Struct, gc=False):
    """What the rhythm needs of a place in the game."""

    cards: int
    status: str


class HeardView(msgspec.Struct, gc=False):
    """What the rhythm needs of a game."""

    turned: int
    seats: tuple[HeardSeat, ...]
    wait: str
    turners: tuple[int, ...]


class HeardVerdict(msgspec.Struct, gc=False):
    """What the rhythm needs of a verdict."""

    wait_us: int


class HeardPerson(msgspec.Struct, gc=False):
    """What the rhythm needs of a seat at the table."""

    id: str
    place: int | None


class HeardTable(msgspec.Struct, gc=False):
    """What the rhythm needs of a table."""

    stage: str
    game: int
    seats: tuple[HeardPerson, ...]


class Heard(msgspec.Struct, gc=False):
    """Any message of ours, as far as the rhythm needs it."""

    t: str
    n: int = 0
    game: int = 0
    nth: int = 0
    show_at_us: int = 0
    events: tuple[HeardEvent, ...] = ()
    view: HeardView | None = None
    verdict: HeardVerdict | None = None
    table: HeardTable | None = None
    say_shown: bool = True
    seat: str | None = None
    key: str = ""
    reason: str = ""


FINE = ("pile_gone", "too_late", "seat_out")
"""Answers to a hand that came after the verdict."""


class OwnTable(Table):
    """A table of ours, at the real game: join, start, and hands that keep everybody in it.

    Whoever has the fewest cards is the quickest, so that games are long. The room's clock is the machine's monotonic
    one, which is ours as well. `watching` more phones look on.
    """

    watching = 0
    _decode = msgspec.msgpack.Decoder(Heard).decode

    def __init__(self, port: int, number: int, tally: Tally, rng: random.Random) -> None:
        super().__init__(port, number, tally, rng)
        self._n = 0
        self._game = 0
        self._stage = ""
        self._view: HeardView | None = None
        self._jacks: int | None = None
        self.code = ""
        self.keys: list[str] = []
        self._welcomes: dict[Phone, asyncio.Future[Heard]] = {}
        self._seated: dict[int, str] = {}
        self._ids: dict[str, Phone] = {}
        self._painting: tuple[int, int] = (0, 0)

    async def sit(self) -> None:
        """Opens a table, sits everybody down and starts."""
        await self.come()
        self._say(self.phones[0], SetRules(Rules(min_show_ms=300)))
        for times in range(5):
            self._loop.call_later(0.2 * times, self._sync_all)
        self._loop.call_later(self.rng.uniform(1, 1 + SYNC_S), self._sync, 0)
        self._loop.call_later(self.rng.uniform(0.2, 0.2 + CARD_S), self._say, self.phones[0], Start())

    async def come(self) -> None:
        """Opens a table and sits everybody down."""
        self.code = await self._new_code()
        for number in range(self.seats + self.watching):
            await self._join(Join(f"Phone {number}", "🙂", watch=number >= self.seats))

    async def come_back(self, code: str, keys: Sequence[str]) -> None:
        """Takes everybody back to their table, whose game then goes on."""
        self.code = code
        for number, key in enumerate(keys):
            await self._join(Join(f"Phone {number}", "🙂", key))
        if self._view is not None and self._view.wait == "turn":
            self._nth = self._view.turned
            self._later(CARD_S)

    async def _join(self, join: Join) -> None:
        phone = await self._dial(f"/ws/{self.code}")
        self._welcomes[phone] = welcome = self._loop.create_future()
        self._say(phone, join)
        told = await welcome
        self.keys.append(told.key)
        if told.seat is not None:
            self._ids[told.seat] = phone

    async def _new_code(self) -> str:
        return str((await posted(self.port, "/api/tables"))["code"])

    def refused(self, phone: Phone, reason: str) -> None:
        """Also while joining."""
        if (welcome := self._welcomes.pop(phone, None)) is not None:
            welcome.set_exception(Refused(reason))
            self.leaving = True
        super().refused(phone, reason)

    def _say(self, phone: Phone, message: Message) -> None:
        if not self.leaving:
            phone.transport.write(framed(write(message)))

    def _sync_all(self) -> None:
        for phone in self.phones:
            self._say(phone, Sync(round(self.now_s() * 1e6)))

    def _sync(self, number: int) -> None:
        if not self.leaving:
            self._say(self.phones[number % len(self.phones)], Sync(round(self.now_s() * 1e6)))
            self._loop.call_later(SYNC_S / len(self.phones), self._sync, number + 1)

    def _understand(self, phone: Phone, payload: bytes, arrived_s: float) -> None:
        told = self._decode(payload)
        if told.t == "update":
            self._update(told, phone, payload, arrived_s)
        elif told.t == "any_hand":
            self._say(phone, AllSaid(told.game, told.nth))
        elif told.t == "welcome":
            self._welcomes.pop(phone).set_result(told)
        elif told.t == "refused" and told.reason not in FINE:
            self.tally.errors[told.reason] += 1

    def _update(self, told: Heard, phone: Phone, payload: bytes, arrived_s: float) -> None:
        if told.table is not None:
            self._stage, self._game = told.table.stage, told.table.game
            self._seated = {person.place: person.id for person in told.table.seats if person.place is not None}
        if told.n <= self._n:
            # The whole table, for somebody who has just come; or a card that the next one has overtaken.
            if told.events:
                self.tally.errors["late"] += 1
            return
        self._n = told.n
        if self._stage != "playing" and told.view is None:
            return
        card = next((event for event in told.events if event.event == "card_turned"), None)
        if told.verdict is not None:
            self.tally.waits.append(told.verdict.wait_us / 1e6)
            self._tell(phone, payload, arrived_s, self.tally.verdicts, self._slapped_s + told.verdict.wait_us / 1e6)
        elif card is not None and card.nth == self._nth and card.nth > 1:
            self._tell(phone, payload, arrived_s, self.tally.cards, self._sent_s)
        else:
            self._tell(phone, payload, arrived_s, None, 0.0)
        if told.view is None:
            return
        self._view = view = told.view
        if card is not None:
            self._show(card, view, told)
        elif view.turned == 0 and view.wait == "turn":
            self._nth, self._due_s = 0, arrived_s
            self._later(CARD_S)
        elif told.verdict is not None and view.wait == "turn":
            self._nth = view.turned
            self._later(AFTER_JACK_S)
        if view.wait == "over":
            self._loop.call_later(0.1, self._say, self.phones[0], Start())

    def _show(self, card: HeardEvent, view: HeardView, told: Heard) -> None:
        """Holds the card until its moment, paints it, and goes on from there."""
        show_at_us = told.show_at_us
        self._nth = card.nth
        if card.nth == 1:
            self._due_s = show_at_us / 1e6
        hold_s = max(0.0, show_at_us / 1e6 - self.now_s())
        if told.say_shown:
            self._loop.call_later(hold_s, self._paint, card.nth, show_at_us)
        if card.face[0] != "J":
            if view.wait == "turn":
                self._later(CARD_S)
            return
        poorest = min(range(len(view.seats)), key=lambda s: (view.seats[s].status == "out", view.seats[s].cards))
        hands = []
        for seat, stack in enumerate(view.seats):
            if stack.status != "out":
                low_s, high_s = (QUICKEST_S, SECOND_S) if seat == poorest else (SECOND_S, SLOWEST_S)
                hands.append((seat, hold_s + self.rng.uniform(low_s, high_s)))
        self._painting = (card.nth, show_at_us)
        self._jack(card.nth, hands)

    def _paint(self, nth: int, show_at_us: int) -> None:
        late_us = round(self.now_s() * 1e6) - show_at_us
        if self.leaving:
            return
        frame = framed(write(Shown(self._game, nth, late_us)))
        for phone in self.phones:
            phone.transport.write(frame)

    def _turn(self, nth: int) -> None:
        view = self._view
        if view is not None and view.turners:
            self._move(view.turners[0], DoTurn(self._game, nth, 400_000))

    def _slap(self, seat: int, nth: int, reaction_s: float) -> None:
        reaction_us = round(self.now_s() * 1e6) - self._painting[1]
        self._move(seat, DoSlap(self._game, nth, reaction_us))

    def _move(self, place: int, move: Message) -> None:
        """Unless that phone is not back yet, or the game is over."""
        if (phone := self._ids.get(self._seated.get(place, ""))) is not None:
            self._say(phone, move)


# --- all of them -------------------------------------------------------------------------------------------------


@dataclass
class Load:
    """All tables at one server."""

    port: int
    kind: type[Table]
    seed: int = 1
    tables: list[Table] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    at_once: int = 12
    refused: int = 0

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)
        self._number = 0

    async def bring_to(self, tables: int) -> None:
        """Opens or closes tables until there are so many, or the server refuses new ones or is too busy for them."""
        while len(self.tables) > tables:
            self.tables.pop().leave()
        tries, ends_s = 0, time.monotonic() + OPENS_S
        while len(self.tables) < tables and tries < TRIES and time.monotonic() < ends_s:
            fresh = [self.fresh() for _ in range(min(self.at_once, tables - len(self.tables)))]
            answers = await asyncio.gather(*(table.sit() for table in fresh), return_exceptions=True)
            for table, answer in zip(fresh, answers, strict=True):
                if answer is None:
                    self.tables.append(table)
                else:
                    table.leave()
            wrong = [answer for answer in answers if answer is not None]
            tries = tries if len(wrong) == len(fresh) else 0
            if not all(isinstance(answer, Refused) for answer in wrong):
                raise wrong[0]
            if wrong:
                self.refused += len(wrong)
                tries += 1
                await asyncio.sleep(TRY_AGAIN_S)

    def fresh(self) -> Table:
        """A table that nobody has come to yet, with luck of its own."""
        self._number += 1
        return self.kind(self.port, self._number, self.tally, random.Random(self._rng.random()))

    def look(self) -> Tally:
        """What was seen since the last look, and which tables have stalled; begins anew."""
        seen, self.tally = self.tally, Tally()
        for table in self.tables:
            table.tally = self.tally
            if self.tally.began_s - table.at_s > STALLED_S:
                seen.errors["stalled"] += 1
        return seen


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share of them lies; 0 where there are none."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))] if ranked else 0.0
