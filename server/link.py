"""One socket below ASGI: the instant at which each frame arrived, pings that prove it, and a bounded outbox.

A subclass of uvicorn's WebSocket protocol, because ASGI hides all three. Knows bytes and instants; knows no message.
"""

import socket
import sys
from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Request

from server.ports import Clock, Luck

SCOPE_KEY = "slapjack.link"
CLOSE_GRACE_S = 5.0
MIN_RTT_AT = 148
"""Where `struct tcp_info` of linux/tcp.h has `tcpi_min_rtt`, in microseconds; all ones where there is none yet."""
NO_RTT = 2**32 - 1

PING_BYTES = 8
MOST_PINGS = 256
"""Pings under way to one phone; a phone that answers none is not asked for ever."""


def frame_of(payload: bytes, *, text: bool = False) -> bytes:
    """The WebSocket frame that carries a message, built once for all who get it (RFC 6455 section 5.2)."""
    return Frame(Opcode.TEXT if text else Opcode.BINARY, payload).serialize(mask=False)


def payload_of(frame: bytes) -> bytes:
    """What `frame_of` was given."""
    return frame[{126: 4, 127: 10}.get(frame[1], 2) :]


class LinkProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol with the ASGI queue left out for messages, once somebody has attached to it."""

    clock: Clock
    luck: Luck
    outbox_bytes: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._receive: Callable[[bytes, int, bool], None] | None = None
        self._ponged: Callable[[int, int], None] | None = None
        self._pings: dict[bytes, int] = {}
        self._arrived_us = 0

    def attach(self, receive: Callable[[bytes, int, bool], None], ponged: Callable[[int, int], None]) -> None:
        """From now on gives messages to `receive`, and pongs to `ponged`.

        `receive` gets a message, the instant of its arrival, and whether it was text; `ponged` the instant at which the
        ping was sent, and that at which its pong arrived.
        """
        self._receive = receive
        self._ponged = ponged

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
        """Hands a message over on the spot."""
        if self._receive is None:
            super().send_receive_event_to_app()
            return
        data = self.frames[0] if len(self.frames) == 1 else b"".join(self.frames)
        self.frames = []
        if not self.close_sent:
            self._receive(bytes(data), self._arrived_us, self.curr_msg_data_type == "text")

    def ping(self) -> None:
        """Sends a ping whose pong can only be given by whoever got it (RFC 6455 sections 5.5.2 and 5.5.3)."""
        if self.closing or len(self._pings) >= MOST_PINGS:
            return
        payload = self.luck.draw()[:PING_BYTES]
        self._pings[payload] = self.clock.now_us()
        self.transport.write(Frame(Opcode.PING, payload).serialize(mask=False))

    def handle_pong(self, event: Frame) -> None:
        """Looks the pong up by its bytes; one that was never asked for, or comes again, is nothing."""
        payload = bytes(event.data)
        sent_us = self._pings.get(payload)
        if sent_us is None:
            super().handle_pong(event)
            return
        # A peer may answer only the latest of several pings, so those before it will never come.
        self._pings = {p: at_us for p, at_us in self._pings.items() if at_us > sent_us}
        if self._ponged is not None:
            self._ponged(sent_us, self._arrived_us)

    def kernel_rtt_us(self) -> int | None:
        """The lowest round trip that the kernel has seen on this connection; None where it does not say (not Linux)."""
        info = self.transport.get_extra_info("socket")
        if info is None or sys.platform != "linux":
            return None
        try:
            kept = info.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, MIN_RTT_AT + 4)
        except OSError:
            return None
        lowest_us = int.from_bytes(kept[MIN_RTT_AT : MIN_RTT_AT + 4], sys.byteorder)
        return lowest_us if len(kept) == MIN_RTT_AT + 4 and 0 < lowest_us < NO_RTT else None

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


def link_protocol(clock: Clock, luck: Luck, outbox_bytes: int) -> type[LinkProtocol]:
    """The protocol class for uvicorn's `ws` setting, with its clock, its luck and the outbox limit in it."""
    return type("LinkProtocol", (LinkProtocol,), {"clock": clock, "luck": luck, "outbox_bytes": outbox_bytes})
