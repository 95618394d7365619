"""A TCP connection before it is a WebSocket: how long a request may take to come, and how many may wait for theirs.

A subclass of uvicorn's HTTP protocol, which waits for a request for ever. Knows bytes and time; knows no question.
"""

import ipaddress
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from server.base.settings import Settings
from server.net.limits import Count

MOST_REQUEST_BYTES = 24 * 1024
"""A request with its headers and its body. Proxies and browsers stay below 16 KiB, and a body of ours has 4 KiB."""
MOST_WAITING = 1_000
"""Connections that have not brought their request yet. Then the one that has waited longest goes: whoever means it
sends a request as soon as the connection is there."""


class Entrance(HttpToolsProtocol):
    """uvicorn's protocol with a limit on everything that comes before a request is whole."""

    settings: Settings
    count: Count
    waiting: dict["Entrance", None]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._late: Any = None
        self._bytes = 0
        self._address = ""
        self._counted = False

    def connection_made(self, transport: Any) -> None:
        """Lets it in, unless there are too many."""
        super().connection_made(transport)
        self._address = self.client[0] if self.client is not None else ""
        if self.count.full() or (self.count.full_for(self._address) and not self._from_proxy()):
            transport.abort()
            return
        self._counted = True
        self.count.enter(self._address)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Lets go of all that holds on to it in turn: its memory is free now, and not when garbage is collected."""
        self._leave()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        answering: Any = self.cycle  # None before the first request, whatever its type says
        if answering is None or answering.response_complete:
            self._let_go()

    def data_received(self, data: bytes) -> None:
        """Takes a piece of a request, as long as there are not too many of them."""
        if self._late is None:
            self._expect()
        self._bytes += len(data)
        if self._bytes > MOST_REQUEST_BYTES:
            self.transport.abort()
            return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """A request begins, perhaps right behind another."""
        super().on_message_begin()
        if self._late is None:
            self._expect()

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._expect_no_more()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        """From here on it is a socket (server/net/link.py)."""
        self._leave()
        super().handle_websocket_upgrade()
        self._let_go()

    def _expect(self) -> None:
        self._bytes = 0
        self._late = self.loop.call_later(self.settings.join_timeout_s, self.transport.abort)
        self.waiting[self] = None
        if len(self.waiting) > MOST_WAITING:
            longest = next(iter(self.waiting))
            longest._expect_no_more()
            longest.transport.abort()

    def _expect_no_more(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
        self.waiting.pop(self, None)

    def _leave(self) -> None:
        self._expect_no_more()
        if self._counted:
            self._counted = False
            self.count.leave(self._address)

    def _let_go(self) -> None:
        held: Any = self
        held.parser = held.flow = held.transport = held.cycle = held.scope = held.headers = None

    def _from_proxy(self) -> bool:
        address = ipaddress.ip_address(self._address)
        return any(address in network for network in self.settings.trusted_proxies)


def entrance(settings: Settings) -> type[Entrance]:
    """The protocol class for uvicorn's `http` setting."""
    count = Count(settings.max_connections, settings.max_connections_per_address)
    return type("Entrance", (Entrance,), {"settings": settings, "count": count, "waiting": {}})
