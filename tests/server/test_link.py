"""One socket below ASGI, byte by byte: arrivals, pings, the outbox and the end. No network, no waiting."""

import asyncio
import functools
import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
from uvicorn import Config
from uvicorn.server import ServerState
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

from server.base import meters
from server.base.settings import Settings
from server.net.accepted import Sockets
from server.net.link import CLOSE_GRACE_S, MOST_PINGS, SCOPE_KEY, LinkProtocol, link_protocol
from server.net.requests import RequestProtocol
from tests.server.world import FakeLuck
from wire.frames import frame_of, payload_of
from wire.messages import MAX_FRAME_BYTES

OUTBOX_BYTES = 10_000


class FakeClock:
    """A clock that a test moves."""

    us = 1_000

    def now_us(self) -> int:
        return self.us

    def worked_us(self) -> int:
        return 0


class FakeTransport(asyncio.Transport):
    """Takes what is written; as full as a test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.waiting = 0
        self.paused = self.closed = self.aborted = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": ("203.0.113.5", 5000), "sockname": ("192.0.2.1", 80)}.get(name, default)

    def write(self, data: Any) -> None:
        self.written += data

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def is_closing(self) -> bool:
        return self.closed or self.aborted

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.aborted = True

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


class Wire:
    """A link with its client's side in a test's hands."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.transport = FakeTransport()
        self.got: list[tuple[bytes, int, bool]] = []
        self.pongs: list[tuple[int, int]] = []
        self.scope: dict[str, Any] = {}
        self.ended = asyncio.Event()
        self.tokens = 1_000
        config = Config(
            self._app,
            ws=link_protocol(self.clock, FakeLuck(1), OUTBOX_BYTES),
            ws_max_size=MAX_FRAME_BYTES,
            ws_per_message_deflate=False,
            log_config=None,
            interface="asgi3",
        )
        config.load()
        sockets = Sockets(Settings(data=Path()), self.clock)
        owner = sockets.accept("203.0.113.5")
        assert owner is not None
        self.owner = owner
        self.owner.start(RequestProtocol(config, ServerState(), {}))
        self.owner.connection_made(self.transport)

    def _afford(self, _now_us: int) -> bool:
        self.tokens -= 1
        if self.tokens < 0:
            self.link.hang_up(4429, "too many messages")
        return self.tokens >= 0

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope = scope
        await receive()
        await send({"type": "websocket.accept"})
        scope["extensions"][SCOPE_KEY].attach(
            lambda data, at_us, text: self.got.append((data, at_us, text)),
            lambda sent_us, at_us: self.pongs.append((sent_us, at_us)),
            self._afford,
        )
        while (await receive())["type"] != "websocket.disconnect":
            pass
        self.ended.set()

    async def open(self) -> None:
        client = ClientProtocol(parse_uri("ws://192.0.2.1/ws/ABCDEF"))
        client.send_request(client.connect())
        self.owner.data_received(b"".join(client.data_to_send()))
        await settled()
        self.link: LinkProtocol = self.scope["extensions"][SCOPE_KEY]
        assert self.transport.written.startswith(b"HTTP/1.1 101")
        self.transport.written.clear()

    def say(self, opcode: Opcode, data: bytes, *, fin: bool = True) -> None:
        self.link.data_received(Frame(opcode, data, fin=fin).serialize(mask=True))

    def pinged(self) -> list[bytes]:
        """The payloads of the pings written so far, in order."""
        payloads, rest = [], bytes(self.transport.written)
        while rest:
            assert rest[0] == 0x89
            payloads.append(rest[2 : 2 + rest[1]])
            rest = rest[2 + rest[1] :]
        return payloads


async def settled() -> None:
    """Lets everything run that can."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture
async def wire() -> Wire:
    made = Wire()
    await made.open()
    return made


# --- messages ----------------------------------------------------------------------------------------------------


async def test_a_message_comes_with_the_instant_of_its_arrival(wire: Wire) -> None:
    wire.clock.us = 7_777
    wire.say(Opcode.BINARY, b"slap")
    assert wire.got == [(b"slap", 7_777, False)]
    assert not wire.transport.paused, "reading never stops: the next pong may close a window"


async def test_text_is_told_apart(wire: Wire) -> None:
    wire.say(Opcode.TEXT, b"{}")
    assert wire.got == [(b"{}", 1_000, True)]


async def test_a_message_in_pieces_arrives_with_its_last_piece(wire: Wire) -> None:
    """RFC 6455 section 5.4; a ping may come between the pieces."""
    wire.say(Opcode.BINARY, b"sl", fin=False)
    wire.say(Opcode.PING, b"?")
    wire.say(Opcode.CONT, b"a", fin=False)
    wire.clock.us = 9_000
    assert wire.got == []
    wire.say(Opcode.CONT, b"p")
    assert wire.got == [(b"slap", 9_000, False)]


async def test_bytes_may_come_one_by_one_or_many_messages_at_once(wire: Wire) -> None:
    frames = b"".join(Frame(Opcode.BINARY, data).serialize(mask=True) for data in (b"one", b"two", b"three"))
    for byte in frames:
        wire.link.data_received(bytes((byte,)))
    wire.link.data_received(frames)
    assert [data for data, _, _ in wire.got] == [b"one", b"two", b"three"] * 2


async def test_a_message_that_is_too_long_closes_with_1009(wire: Wire) -> None:
    wire.say(Opcode.BINARY, bytes(MAX_FRAME_BYTES + 1))
    await settled()
    assert wire.got == []
    assert b"\x03\xf1" in bytes(wire.transport.written)
    assert wire.ended.is_set()


@pytest.mark.parametrize("length", [MAX_FRAME_BYTES + 1, 2**40])
async def test_a_length_that_is_too_long_is_not_waited_for(wire: Wire, length: int) -> None:
    """Nor kept: the end comes with the announcement, though that comes byte by byte."""
    head = bytes((0x82, 0x80 | 126)) + length.to_bytes(2) if length < 2**16 else b"\x82\xff" + length.to_bytes(8)
    for byte in head + bytes(4) + b"x":
        wire.link.data_received(bytes((byte,)))
    wire.say(Opcode.BINARY, b"slap")
    await settled()
    assert wire.got == []
    assert b"\x03\xf1" in bytes(wire.transport.written)


async def test_pieces_out_of_their_order_close_with_1002(wire: Wire) -> None:
    """RFC 6455 section 5.4: a whole message may not come between the pieces of another."""
    wire.say(Opcode.BINARY, b"sl", fin=False)
    wire.say(Opcode.BINARY, b"slap")
    await settled()
    assert wire.got == []
    assert b"\x03\xea" in bytes(wire.transport.written)


async def test_an_unmasked_frame_closes_with_1002(wire: Wire) -> None:
    """RFC 6455 section 5.1"""
    wire.link.data_received(Frame(Opcode.BINARY, b"slap").serialize(mask=False))
    await settled()
    assert wire.got == []
    assert b"\x03\xea" in bytes(wire.transport.written)


# --- pings -------------------------------------------------------------------------------------------------------


async def test_a_pong_is_looked_up_by_its_bytes(wire: Wire) -> None:
    wire.link.ping()
    wire.clock.us = 51_000
    wire.say(Opcode.PONG, wire.pinged()[0])
    assert wire.pongs == [(1_000, 51_000)]


async def test_pongs_unasked_doubled_or_made_up_are_nothing(wire: Wire) -> None:
    wire.say(Opcode.PONG, b"")
    wire.say(Opcode.PONG, b"12345678")
    wire.link.ping()
    payload = wire.pinged()[0]
    wire.say(Opcode.PONG, payload[:-1])
    wire.say(Opcode.PONG, payload + b"x")
    wire.clock.us = 2_000
    wire.say(Opcode.PONG, payload)
    wire.say(Opcode.PONG, payload)
    assert wire.pongs == [(1_000, 2_000)]
    assert wire.got == []


async def test_pongs_out_of_order_prove_only_the_latest(wire: Wire) -> None:
    """RFC 6455 section 5.5.3: a peer may answer only the latest ping. An older one that comes after it is ignored."""
    for us in (1_000, 2_000, 3_000):
        wire.clock.us = us
        wire.link.ping()
    first, second, third = wire.pinged()
    wire.clock.us = 10_000
    wire.say(Opcode.PONG, second)
    wire.say(Opcode.PONG, first)
    wire.say(Opcode.PONG, third)
    assert wire.pongs == [(2_000, 10_000), (3_000, 10_000)]


async def test_no_two_pings_are_alike_and_nobody_is_asked_for_ever(wire: Wire) -> None:
    for _ in range(MOST_PINGS + 50):
        wire.link.ping()
    assert len(set(wire.pinged())) == len(wire.pinged()) == MOST_PINGS


async def test_the_kernels_round_trip_is_none_where_there_is_no_socket(wire: Wire) -> None:
    assert wire.link.kernel_rtt_us() is None


async def test_a_link_knows_its_peer_whatever_the_request_says(wire: Wire) -> None:
    assert wire.link.peer == "203.0.113.5"


# --- the outbox and the end --------------------------------------------------------------------------------------


async def test_a_frame_is_written_at_once_and_as_it_is(wire: Wire) -> None:
    for payload in (b"", b"x" * 125, b"x" * 126, b"x" * 70_000):
        wire.transport.written.clear()
        assert wire.link.write(frame_of(payload))
        assert bytes(wire.transport.written) == frame_of(payload)
        assert payload_of(frame_of(payload)) == payload


async def test_a_peer_that_stops_reading_is_cut(wire: Wire) -> None:
    cut = meters.REGISTRY.get_sample_value("slapjack_cut_total") or 0.0
    wire.transport.waiting = OUTBOX_BYTES
    assert wire.link.write(frame_of(b"x"))
    wire.transport.waiting = OUTBOX_BYTES + 1
    assert not wire.link.write(frame_of(b"x"))
    assert wire.transport.aborted
    assert meters.REGISTRY.get_sample_value("slapjack_cut_total") == cut + 1
    before = len(wire.transport.written)
    assert wire.link.write(frame_of(b"x")), "there is nobody left to cut"
    wire.link.ping()
    wire.link.hang_up(4400, "too late")
    assert len(wire.transport.written) == before


async def test_hanging_up_says_why_once_and_hears_nothing_more(wire: Wire) -> None:
    wire.link.hang_up(4404, "there is no table with this code")
    said = bytes(wire.transport.written)
    assert said[0] == 0x88
    assert said[2:4] == (4404).to_bytes(2)
    assert said[4:] == b"there is no table with this code"
    wire.link.hang_up(4400, "again")
    wire.link.write(frame_of(b"x"))
    wire.say(Opcode.BINARY, b"slap")
    assert bytes(wire.transport.written) == said
    assert wire.got == []
    await settled()
    assert wire.ended.is_set(), "the application is told"
    wire.say(Opcode.CLOSE, (4404).to_bytes(2))
    assert wire.transport.closed


async def test_a_peer_that_does_not_answer_the_close_is_cut(wire: Wire) -> None:
    wire.link.hang_up(4410, "you have been removed")
    timer = wire.link.close_timer
    assert timer is not None
    assert timer.when() - asyncio.get_running_loop().time() <= CLOSE_GRACE_S
    timer._run()
    assert wire.transport.aborted
    timer.cancel()


async def test_a_connection_lost_while_we_hang_up_is_the_end(wire: Wire) -> None:
    wire.link.hang_up(4410, "you have been removed")
    wire.link.connection_lost(ConnectionResetError())
    await settled()
    assert wire.ended.is_set()
    assert wire.link.closing
    assert wire.link.close_timer is None


async def test_a_lost_connection_leaves_nothing_for_the_garbage_collector(wire: Wire) -> None:
    """A full collection stops every table, so nobody's coming and going may ask for one."""
    holds_on = functools.partial(lambda link, *_: bool(link), wire.link)  # as a connection does
    wire.link.attach(holds_on, holds_on, holds_on)  # type: ignore[arg-type]
    wire.say(Opcode.PING, b"?")
    wire.owner.connection_lost(None)
    await settled()
    link, parser = weakref.ref(wire.link), weakref.ref(wire.link.conn)
    gc.disable()
    try:
        del wire.link, holds_on
        assert link() is None
        assert parser() is None
    finally:
        gc.enable()


async def test_a_close_by_the_peer_ends_the_application(wire: Wire) -> None:
    wire.say(Opcode.CLOSE, (1001).to_bytes(2))
    await settled()
    assert wire.ended.is_set()
    wire.say(Opcode.BINARY, b"slap")
    assert wire.link.write(frame_of(b"x"))


@pytest.mark.parametrize(
    ("opcode", "fin"), [(Opcode.PING, True), (Opcode.CONT, False), (Opcode.PONG, True), (Opcode.BINARY, True)]
)
async def test_pieces_pings_and_strange_pongs_cost_as_much_as_messages(wire: Wire, opcode: Opcode, fin: bool) -> None:
    """Else a phone that says nothing could keep the parser, and every table with it, busy."""
    wire.say(Opcode.BINARY, b"begun", fin=False) if opcode is Opcode.CONT else None
    wire.tokens = 5
    flood = Frame(opcode, b"", fin=fin).serialize(mask=True) * 10_000
    wire.link.data_received(flood)
    assert wire.tokens == -1, "the rest is not even looked at"
    assert wire.transport.paused, "and nothing more is read"
    assert (4429).to_bytes(2) in bytes(wire.transport.written)


async def test_pongs_that_were_asked_for_are_free(wire: Wire) -> None:
    wire.link.ping()
    wire.tokens = 0
    wire.say(Opcode.PONG, wire.pinged()[0])
    assert len(wire.pongs) == 1
    assert not wire.link.closing


async def test_whoever_asks_to_be_answered_and_does_not_read_is_cut(wire: Wire) -> None:
    wire.transport.waiting = OUTBOX_BYTES + 1
    wire.say(Opcode.PING, b"?" * 125)
    assert wire.transport.aborted
