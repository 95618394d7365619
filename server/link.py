"""One socket below ASGI: the instant at which each frame arrived, frames written at once, and a bounded outbox.

A subclass of uvicorn's WebSocket protocol, because ASGI hides all three. Knows bytes and instants; knows no message.
"""

from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Request

from server.ports import Clock

SCOPE_KEY = "slapjack.link"
CLOSE_GRACE_S = 5.0


def frame_of(payload: bytes) -> bytes:
    """The WebSocket frame that carries a binary message, built once for all who get it (RFC 6455 section 5.2)."""
    return Frame(Opcode.BINARY, payload).serialize(mask=False)


class LinkProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol with the ASGI queue left out for binary messages, once somebody has attached to it."""

    clock: Clock
    outbox_bytes: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._receive: Callable[[bytes, int], None] | None = None
        self._arrived_us = 0

    def attach(self, receive: Callable[[bytes, int], None]) -> None:
        """From now on gives every binary message and the instant of its arrival to `receive`."""
        self._receive = receive

    def handle_connect(self, event: Request) -> None:
        """Lets the application find this link in its scope."""
        super().handle_connect(event)
        if not self.handshake_complete:
            cast(dict[str, Any], self.scope["extensions"])[SCOPE_KEY] = self

    def data_received(self, data: bytes) -> None:
        """Stamps the arrival before anything is parsed."""
        self._arrived_us = self.clock.now_us()
        super().data_received(data)

    def send_receive_event_to_app(self) -> None:
        """Hands a binary message over on the spot; text takes the way through ASGI."""
        if self._receive is None or self.curr_msg_data_type == "text":
            super().send_receive_event_to_app()
            return
        data = self.frames[0] if len(self.frames) == 1 else b"".join(self.frames)
        self.frames = []
        if not self.close_sent:
            self._receive(bytes(data), self._arrived_us)

    @property
    def closing(self) -> bool:
        """Whether nothing more can be said."""
        return self.disconnected or self.close_sent or self.transport.is_closing()

    def write(self, frame: bytes) -> bool:
        """Sends a frame without waiting; False, and the socket cut, when the peer has let too much pile up."""
        if self.closing:
            return True
        self.transport.write(frame)
        if self.transport.get_write_buffer_size() <= self.outbox_bytes:
            return True
        # A close would wait for a flush that never comes: this peer has stopped reading.
        self.transport.abort()
        return False

    def hang_up(self, code: int, reason: str) -> None:
        """Closes with a code and a reason of at most 123 bytes, and cuts the socket when the peer does not answer."""
        if self.closing:
            return
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.close_timer = self.loop.call_later(CLOSE_GRACE_S, self.transport.abort)
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()


def link_protocol(clock: Clock, outbox_bytes: int) -> type[LinkProtocol]:
    """The protocol class for uvicorn's `ws` setting, with its clock and the outbox limit in it."""
    return type("LinkProtocol", (LinkProtocol,), {"clock": clock, "outbox_bytes": outbox_bytes})
