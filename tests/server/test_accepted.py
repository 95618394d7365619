"""A connection from accept to hang-up: who counts it, who times it, and how much of it is read. No waiting."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from server.base.settings import Settings, read_settings
from server.net import accepted, listener
from server.net.accepted import PIECE_BYTES, AcceptedSocket, Sockets
from server.net.limits import Count
from server.net.link import DRAINED_BYTES, SCOPE_KEY, LinkProtocol, link_protocol
from server.net.listener import Listener
from server.net.requests import ANSWER_TIMEOUT_S, MOST_PIPELINED, MOST_REQUEST_BYTES, RequestProtocol
from tests.server.test_link import FakeClock, FakeTransport, settled
from tests.server.world import FakeLuck
from wire.messages import MAX_FRAME_BYTES

HERE = "203.0.113.5"
UPGRADE = (
    b"GET /ws/ABCDEF HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
)
PING = b"\x89\x80\0\0\0\0"


class Server:
    """What a connection meets, without a network; its application finds nobody's table until a test says so."""

    def __init__(self, **settings: Any) -> None:
        self.clock = FakeClock()
        self.settings = Settings(data=Path(), **settings)
        self.sockets = Sockets(self.settings, self.clock)
        self.scopes: list[Any] = []
        self.config = Config(
            self._app,
            ws=link_protocol(self.clock, FakeLuck(1), 10_000),
            ws_max_size=MAX_FRAME_BYTES,
            log_config=None,
            interface="asgi3",
        )
        self.config.load()
        self.state = ServerState()

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body"})
            return
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            pass

    def comes(self, address: str = HERE) -> tuple[AcceptedSocket, FakeTransport]:
        """A connection from there, which is let in."""
        owner, transport = self.sockets.accept(address), FakeTransport()
        assert owner is not None
        owner.start(RequestProtocol(self.config, self.state, {}))
        owner.connection_made(transport)
        return owner, transport

    def link(self) -> LinkProtocol:
        """The socket that was opened last, as the application has it."""
        return self.scopes[-1]["extensions"][SCOPE_KEY]  # type: ignore[no-any-return]


def due_s(owner: AcceptedSocket) -> float:
    """In how many seconds it is cut."""
    assert owner._late is not None
    return owner._late.when() - asyncio.get_running_loop().time()


def paused(transport: FakeTransport) -> bool:
    """Whether nothing is read."""
    return transport.paused


# --- counted and timed -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        UPGRADE + b"".join(b"X-%d: y\r\n" % nth for nth in range(150)),
        UPGRADE + b"X-Long: " + b"y" * 9_000 + b"\r\n",
        UPGRADE.replace(b"/ABCDEF", b"/ABCDEF?" + b"y" * 9_000),
        UPGRADE + b"Content-Length: 5\r\n",
        UPGRADE + b"Transfer-Encoding: chunked\r\n",
        UPGRADE.replace(b"Version: 13", b"Version: 12"),
        UPGRADE.replace(b"AAAAA==", b""),
    ],
)
async def test_an_upgrade_that_one_parser_takes_and_the_other_refuses_is_answered_and_closed(wrong: bytes) -> None:
    server = Server()
    owner, transport = server.comes()
    owner.data_received(wrong + b"\r\n")
    await settled()
    assert transport.written.startswith(b"HTTP/1.1 4")
    assert transport.closed
    assert server.sockets.open == 1 and due_s(owner) <= server.settings.join_timeout_s, "until it is really gone"
    owner.connection_lost(None)
    assert server.sockets.open == 0 and not server.sockets.waiting


async def test_an_upgrade_right_behind_a_question_is_refused_and_nothing_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server()
    owner, transport = server.comes()
    owner.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + UPGRADE + b"\r\n")
    await settled()
    assert b"HTTP/1.1 400 " in transport.written and b" 101 " not in transport.written
    assert transport.closed
    assert not caplog.records


async def test_every_stage_of_a_connection_has_its_time() -> None:
    server = Server()
    owner, transport = server.comes()
    assert due_s(owner) <= server.settings.join_timeout_s, "for a request"
    owner.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert server.settings.join_timeout_s < due_s(owner) <= ANSWER_TIMEOUT_S, "for the answer, and to take it"
    await settled()
    owner.data_received(UPGRADE + b"\r\n")
    await settled()
    assert due_s(owner) <= server.settings.join_timeout_s, "for the table to be found"
    server.link().attach(lambda *_: None, lambda *_: None, lambda _: True)
    assert owner._late is None, "those at a table are pinged"
    owner.data_received(b"\x88\x80\0\0\0\0")
    assert due_s(owner) <= 2.0, "to take what was written"
    owner.cut()
    assert transport.aborted


async def test_a_socket_is_counted_in_one_place_until_it_is_gone() -> None:
    server = Server(max_connections_per_address=2)
    sitting = Count(10, 10)
    owner, _ = server.comes()
    server.comes()
    assert server.sockets.accept(HERE) is None
    owner.count_in(sitting, HERE)
    server.comes()
    assert server.sockets.open == 3
    owner.connection_lost(None)
    assert not sitting._all and server.sockets.open == 2


async def test_whoever_waits_longest_with_their_request_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accepted, "MOST_WAITING", 2)
    server = Server()
    first, second, third = (server.comes()[1] for _ in range(3))
    assert (first.aborted, second.aborted, third.aborted) == (True, False, False)


async def test_where_nothing_is_answered_any_more_nobody_is_let_in() -> None:
    server = Server(requests_per_s=1, request_burst=2)
    owner, transport = server.comes()
    for _ in range(2):
        assert server.sockets.requests.take(HERE, server.clock.now_us())  # as the application does
    assert server.sockets.accept(HERE) is None
    assert server.sockets.accept("203.0.113.6") is not None
    owner.data_received(b"GET / HTTP/1.1\r\n")
    assert transport.written.startswith(b"HTTP/1.1 429 ") and transport.closed
    server.clock.us += 1_000_000
    assert server.sockets.accept(HERE) is not None


async def test_a_proxy_brings_many() -> None:
    proxies = read_settings({"SLAPJACK_TRUSTED_PROXIES": "203.0.113.0/24"}).trusted_proxies
    server = Server(max_connections_per_address=2, max_connections=5, trusted_proxies=proxies)
    assert all(server.sockets.accept(HERE) for _ in range(5))
    assert server.sockets.accept(HERE) is None, "but not more than there may be in all"


# --- how much is read --------------------------------------------------------------------------------------------


class Reads:
    """A parser that notes how much it gets at once."""

    owner: AcceptedSocket

    def __init__(self) -> None:
        self.got: list[int] = []

    def connection_made(self, transport: Any) -> None: ...
    def eof_received(self) -> Any: ...
    def connection_lost(self, exc: Exception | None) -> None: ...
    def pause_writing(self) -> None: ...
    def resume_writing(self) -> None: ...

    def data_received(self, data: bytes) -> None:
        self.got.append(len(data))


async def test_no_socket_has_more_than_a_piece_parsed_in_one_turn() -> None:
    server, parser, transport = Server(), Reads(), FakeTransport()
    owner = server.sockets.accept(HERE)
    assert owner is not None
    owner.start(parser)
    owner.connection_made(transport)
    owner.data_received(bytes(5 * PIECE_BYTES + 1))
    assert parser.got == [PIECE_BYTES] and paused(transport)
    await asyncio.sleep(0)
    assert parser.got == [PIECE_BYTES] * 2
    owner.pause_reading()
    await settled()
    assert parser.got == [PIECE_BYTES] * 2, "the parser takes no more"
    owner.resume_reading()
    assert paused(transport)
    await settled()
    assert parser.got == [PIECE_BYTES] * 5 + [1] and not paused(transport)


async def test_between_the_handshake_and_the_table_nothing_is_read() -> None:
    server = Server()
    owner, transport = server.comes()
    owner.data_received(UPGRADE + b"\r\n")
    await settled()
    assert transport.written.startswith(b"HTTP/1.1 101 ") and paused(transport)
    heard: list[bytes] = []
    server.link().attach(lambda frame, *_: heard.append(frame), lambda *_: None, lambda _: True)
    assert not paused(transport)
    owner.data_received(b"\x82\x84\0\0\0\0slap")
    assert heard == [b"slap"]


async def test_after_hanging_up_next_to_nothing_is_read() -> None:
    server = Server()
    owner, transport = server.comes()
    owner.data_received(UPGRADE + b"\r\n")
    await settled()
    server.link().hang_up(4404, "no such table")
    assert not paused(transport), "the answer to the close may come"
    owner.data_received(PING * (10 * DRAINED_BYTES // len(PING)))
    await settled()
    assert paused(transport)
    assert server.link()._drained <= DRAINED_BYTES + len(PING)
    assert bytes(transport.written).endswith(b"no such table"), "and none of it is answered"


async def test_few_requests_wait_for_the_answers_before_theirs() -> None:
    server = Server()
    owner, transport = server.comes()
    owner.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * (MOST_PIPELINED + 100))
    assert transport.written.startswith(b"HTTP/1.1 400 ") and transport.closed
    await settled()
    assert len(server.scopes) <= MOST_PIPELINED + 1


async def test_a_request_is_not_read_for_ever() -> None:
    server = Server()
    owner, transport = server.comes()
    owner.data_received(b"GET / HTTP/1.1\r\n")
    for nth in range(100):
        owner.data_received(b"X-%d: %b\r\n" % (nth, b"y" * (MOST_REQUEST_BYTES // 50)))
    assert transport.aborted


# --- accepting ---------------------------------------------------------------------------------------------------


class Calls:
    """A listening socket and who calls there; the loop is real, the pause none."""

    def __init__(self, most_open: int) -> None:
        self.server = Server()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.listener = Listener([self.listening], self.server.sockets, most_open, self._parser)
        self.writers: list[asyncio.StreamWriter] = []

    def _parser(self) -> RequestProtocol:
        return RequestProtocol(self.server.config, self.server.state, {})

    async def quiet(self) -> None:
        """Until nobody is there any more."""
        for _ in range(10_000):
            if not self.server.sockets.open:
                return
            await asyncio.sleep(0)
        pytest.fail("somebody is still there")

    async def asks(self) -> asyncio.StreamReader:
        """Somebody connects and asks."""
        reader, writer = await asyncio.open_connection(*self.listening.getsockname())
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        self.writers.append(writer)
        return reader


@asynccontextmanager
async def calls(most_open: int) -> AsyncIterator[Calls]:
    """Somebody listens; in the end all have hung up."""
    made = Calls(most_open)
    try:
        yield made
    finally:
        for writer in made.writers:
            writer.close()
            await writer.wait_closed()
        await made.quiet()
        made.listener.close()
        made.listening.close()


async def test_beyond_the_descriptors_that_are_kept_back_people_wait_and_then_get_in(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(listener, "PAUSE_S", 0.0)
    async with calls(most_open=2) as there:
        one, two, three = [await there.asks() for _ in range(3)]
        assert (await one.readline()).startswith(b"HTTP/1.1 204") and (await two.readline()).startswith(b"HTTP/1.1 204")
        for _ in range(20):
            await asyncio.sleep(0)
        assert there.server.sockets.open == 2
        assert len(caplog.records) == 1
        there.writers[0].close()
        assert (await three.readline()).startswith(b"HTTP/1.1 204")


async def test_a_connection_that_cannot_be_opened_is_counted_no_more(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(*_: Any) -> None:
        raise RuntimeError("used already")

    async with calls(most_open=10) as there:
        monkeypatch.setattr(asyncio.get_running_loop(), "connect_accepted_socket", fails)
        with suppress(ConnectionError):
            assert await (await there.asks()).readline() == b""
        await there.quiet()
    assert "used already" in caplog.text


async def test_where_the_system_has_no_descriptors_it_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = [OSError(24, "Too many open files"), OSError(24, "Too many open files")]
    accept = socket.socket.accept

    def fails_first(listening: socket.socket) -> Any:
        if wrong:
            raise wrong.pop()
        return accept(listening)

    monkeypatch.setattr(listener, "PAUSE_S", 0.0)
    monkeypatch.setattr(socket.socket, "accept", fails_first)
    async with calls(most_open=10) as there:
        assert (await (await there.asks()).readline()).startswith(b"HTTP/1.1 204")
    assert not wrong
