"""A TCP connection from accept to hang-up: counted, timed and owned here alone, whichever parser has its bytes.

What comes in is handed on in small pieces, so that nobody keeps the loop for long; what is late is cut. Knows bytes and
time; knows no request and no message.
"""

import asyncio
from typing import Any, Protocol

from server.base.ports import Clock
from server.base.settings import Settings
from server.net.limits import AddressBuckets, Count, within

PIECE_BYTES = 4 * 1024
"""What one socket may have parsed in one turn of the loop."""
MOST_WAITING = 1_000
"""Connections that have not brought their request yet. Then the one that has waited longest goes: whoever means it
sends a request as soon as the connection is there."""


class Parser(Protocol):
    """What makes sense of a socket's bytes: first of requests, after an upgrade of frames."""

    owner: "AcceptedSocket"

    def connection_made(self, transport: Any) -> None: ...
    def data_received(self, data: bytes) -> None: ...
    def eof_received(self) -> Any: ...
    def connection_lost(self, exc: Exception | None) -> None: ...
    def pause_writing(self) -> None: ...
    def resume_writing(self) -> None: ...


class Sockets:
    """All connections there are, and who may open one more."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self.open = 0
        self.request_timeout_s = settings.join_timeout_s
        self.waiting: dict[AcceptedSocket, None] = {}
        """Who has not brought a request yet, the longest first."""
        self.requests = AddressBuckets(settings.requests_per_s, settings.request_burst)
        """What each client network may ask over HTTP; the application takes from it."""
        self._asking = Count(settings.max_connections, settings.max_connections_per_address)
        # One for each request and each socket that may be asked for: whoever comes more often wants something else.
        self._dials = AddressBuckets(2 * settings.requests_per_s, 2 * settings.request_burst)
        self._proxies = settings.trusted_proxies
        self._clock = clock

    def accept(self, address: str) -> "AcceptedSocket | None":
        """A connection that has come from there; None where it is not let in."""
        proxy = within(address, self._proxies)
        if self._asking.full() or (not proxy and not self._may_come(address)):
            return None
        self.open += 1
        return AcceptedSocket(self, self._asking, address, proxy)

    def may_ask(self, address: str) -> bool:
        """Whether one more request from there would be answered."""
        return self.requests.allows(address, self._clock.now_us())

    def _may_come(self, address: str) -> bool:
        now_us = self._clock.now_us()
        return (
            not self._asking.full_for(address)
            and self.requests.allows(address, now_us)
            and self._dials.take(address, now_us)
        )


class AcceptedSocket(asyncio.Protocol):
    """One connection; its parser changes, and this stays."""

    def __init__(self, sockets: Sockets, count: Count, address: str, proxy: bool) -> None:
        self.address = address
        self.from_proxy = proxy
        self.sockets = sockets
        self._loop = asyncio.get_running_loop()
        self._counted = (count, address)
        count.enter(address)
        self._parser: Any = None
        self._transport: Any = None
        self._late: asyncio.TimerHandle | None = None
        self._held = False
        self._rest = b""

    def start(self, parser: Parser) -> None:
        """Has the requests read by `parser`."""
        self._parser = parser
        parser.owner = self

    def connection_made(self, transport: Any) -> None:
        """The connection is there: its request is to come."""
        self._transport = transport
        self.expect_request()
        self._parser.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone; so is all that held on to it."""
        self.expect_nothing()
        self._leave()
        parser, self._parser, self._rest = self._parser, None, b""
        if self._transport is not None:
            parser.connection_lost(exc)

    def give_up(self) -> None:
        """It was accepted and could not be opened."""
        if self._transport is None:
            self.connection_lost(None)
        else:
            self.cut()

    def _leave(self) -> None:
        count, address = self._counted
        count.leave(address)
        self.sockets.open -= 1

    def data_received(self, data: bytes) -> None:
        """Hands on a piece now, and the rest in later turns of the loop."""
        if len(data) <= PIECE_BYTES and not self._rest:
            self._parser.data_received(data)
            return
        self._rest += data
        self._transport.pause_reading()
        self._hand_on()

    def eof_received(self) -> Any:
        """The other side says nothing more."""
        return self._parser.eof_received()

    def pause_writing(self) -> None:
        """The other side does not take what it is sent."""
        self._parser.pause_writing()

    def resume_writing(self) -> None:
        """It does again."""
        self._parser.resume_writing()

    def _hand_on(self) -> None:
        if self._parser is None or self._held or self._transport.is_closing():
            return
        piece, self._rest = self._rest[:PIECE_BYTES], self._rest[PIECE_BYTES:]
        self._parser.data_received(piece)
        self._read_on()

    def _read_on(self) -> None:
        if self._rest:
            self._loop.call_soon(self._hand_on)
        elif not self._held and not self._transport.is_closing():
            self._transport.resume_reading()

    def pause_reading(self) -> None:
        """The parser takes nothing for now."""
        self._held = True
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """The parser goes on."""
        if not self._held:
            return
        self._held = False
        self._read_on()

    def hand_to(self, parser: Parser) -> None:
        """The bytes are another parser's from now on. None are read until it says so, and that is to be soon."""
        self.start(parser)
        self.pause_reading()
        self.expect_request()

    def count_in(self, count: Count, address: str) -> None:
        """Is counted elsewhere from now on, until it is gone."""
        was, there = self._counted
        count.enter(address)
        was.leave(there)
        self._counted = (count, address)

    def expect_request(self) -> None:
        """A request is to come, or to be seen to, and whoever has waited for theirs longest makes room for it."""
        waiting = self.sockets.waiting
        self.expect(self.sockets.request_timeout_s)
        waiting[self] = None
        if len(waiting) > MOST_WAITING:
            longest = next(iter(waiting))
            longest.expect_nothing()
            longest.cut()

    def expect(self, within_s: float) -> None:
        """Cuts the connection after so long, unless something else is expected before."""
        self.expect_nothing()
        self._late = self._loop.call_later(within_s, self.cut)

    def expect_nothing(self) -> None:
        """There is no hurry: somebody else asks whether it is still there."""
        if self._late is not None:
            self._late.cancel()
            self._late = None
        self.sockets.waiting.pop(self, None)

    def cut(self) -> None:
        """Ends it on the spot."""
        self._transport.abort()
