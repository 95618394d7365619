"""A connection's requests over HTTP: how large one may be, how many may wait, and how soon it is answered.

A subclass of uvicorn's HTTP protocol, which limits none of it. Knows bytes; knows no question.
"""

from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from server.net.accepted import AcceptedSocket

MOST_REQUEST_BYTES = 24 * 1024
"""A request with its headers and its body. Proxies and browsers stay below 16 KiB, and a body of ours has 4 KiB."""
MOST_PIPELINED = 8
"""Requests that wait for the answers before theirs. Neither browsers nor proxies send a second one so early."""
ANSWER_TIMEOUT_S = 60.0
"""How long an answer may take to be given and fetched: the page's largest part, over the slowest line."""
_SAID = b'{"error":"too_many","text":"too much is asked from here: wait a minute"}'
TOO_MUCH = (
    b"HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\ncache-control: no-store\r\n"
    b"connection: close\r\ncontent-length: %d\r\n\r\n%b"
) % (len(_SAID), _SAID)


class TooManyAtOnce(Exception):
    """Requests came faster than they are answered, on one connection."""


class RequestProtocol(HttpToolsProtocol):
    """uvicorn's protocol, on a socket that somebody else owns."""

    owner: AcceptedSocket

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._bytes = 0
        self._between = False

    def connection_made(self, transport: Any) -> None:
        """Has reading stopped and resumed where it is done."""
        super().connection_made(transport)
        self.flow = FlowControl(self.owner)  # type: ignore[arg-type]

    def connection_lost(self, exc: Exception | None) -> None:
        """Lets go of all that holds on to it in turn: its memory is free now, and not when garbage is collected."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        answering: Any = self.cycle  # None before the first request, whatever its type says
        if answering is None or answering.response_complete:
            self._let_go()

    def data_received(self, data: bytes) -> None:
        """Takes a piece of a request, as long as there are not too many of them."""
        if self._between:
            self._begin()
        elif self._bytes == 0 and not self._is_let():
            return
        self._bytes += len(data)
        if self._bytes > MOST_REQUEST_BYTES:
            self.transport.abort()
            return
        super().data_received(data)

    def _is_let(self) -> bool:
        """Whether the client network may ask at all; it is told so without its request being read."""
        if self.owner.from_proxy or self.owner.sockets.may_ask(self.owner.address):
            return True
        self.transport.write(TOO_MUCH)
        self.transport.close()
        return False

    def _begin(self) -> None:
        self._between = False
        self._bytes = 0
        self.owner.expect_request()

    def on_message_begin(self) -> None:
        """A request begins, perhaps right behind another; `TooManyAtOnce` ends it with a 400."""
        if len(self.pipeline) >= MOST_PIPELINED:
            raise TooManyAtOnce
        super().on_message_begin()
        if self._between:
            self._begin()

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._between = True
        self.owner.expect(ANSWER_TIMEOUT_S)
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        """From here on it is a socket (server/net/link.py), unless an answer before it is still to be given."""
        answering: Any = self.cycle
        if answering is not None and not answering.response_complete:
            self.send_400_response("An upgrade waits for the answers before it.")
            return
        self.connections.discard(self)
        link: Any = self.config.ws_protocol_class(  # type: ignore[call-arg, misc]
            config=self.config, server_state=self.server_state, app_state=self.app_state
        )
        self.owner.hand_to(link)
        link.connection_made(self.transport)
        lines = [b"%b %b HTTP/1.1\r\n" % (self.scope["method"].encode(), self.url)]
        lines += [b"%b: %b\r\n" % header for header in self.scope["headers"]]
        link.data_received(b"".join([*lines, b"\r\n"]))
        self._let_go()

    def _let_go(self) -> None:
        held: Any = self
        held.parser = held.flow = held.transport = held.cycle = held.scope = held.headers = held.owner = None
