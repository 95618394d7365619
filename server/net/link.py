"""One socket below ASGI: the instant at which each frame arrived, pings that prove it, and a bounded outbox.

A subclass of uvicorn's WebSocket protocol, because ASGI hides all three. Knows bytes and instants; knows no message.
"""

import socket
import sys
from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request

try:
    from websockets.speedups import apply_mask
except ImportError:
    from websockets.utils import apply_mask

from server.base import meters
from server.base.ports import Clock, RandomSource
from server.net.accepted import AcceptedSocket
from wire.frames import BINARY, CLOSE, LONG, MASK_BYTES, MASKED, PING, PONG, SHORT_HEAD, TEXT

SCOPE_KEY = "slapjack.link"
CLOSE_GRACE_S = 2.0
DRAINED_BYTES = 8 * 1024
"""What is still read after hanging up, for the answer to the close may be behind it."""
REFUSED = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
MIN_RTT_AT = 148
"""Where `struct tcp_info` of linux/tcp.h has `tcpi_min_rtt`, in microseconds; all ones where there is none yet."""
NO_RTT = 2**32 - 1

PING_BYTES = 8
MOST_PINGS = 256
"""Pings under way to one phone; a phone that answers none is not asked for ever."""


class LinkProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol with the ASGI queue left out for messages, once somebody has attached to it."""

    owner: AcceptedSocket
    clock: Clock
    random_source: RandomSource
    outbox_bytes: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._receive: Callable[[bytes, int, bool], None] | None = None
        self._ponged: Callable[[int, int], None] | None = None
        self._pings: dict[bytes, int] = {}
        self._entropy = b""
        self._arrived_us = 0
        self._piece = b""
        self._drained = 0
        self._afford: Callable[[int], bool] = lambda _: True

    def attach(
        self,
        receive: Callable[[bytes, int, bool], None],
        ponged: Callable[[int, int], None],
        afford: Callable[[int], bool],
    ) -> None:
        """From now on gives messages to `receive`, and pongs to `ponged`.

        `receive` gets a message, the instant of its arrival, and whether it was text; `ponged` the instant at which the
        ping was sent, and that at which its pong arrived. `afford` is asked for every frame but the pongs that were
        asked for, with the instant: pieces and pings cost as much as messages. When it says no, nothing more is heard.

        Nothing has been read since the request.
        """
        self._receive = receive
        self._ponged = ponged
        self._afford = afford
        if not self.closing:
            self.owner.expect_nothing()
            self.owner.resume_reading()

    def handle_connect(self, event: Request) -> None:
        """Lets the application find this link in its scope."""
        super().handle_connect(event)
        if not self.handshake_complete:
            cast(dict[str, Any], self.scope["extensions"])[SCOPE_KEY] = self

    def connection_lost(self, exc: Exception | None) -> None:
        """Lets go of all that holds on to it in turn: its memory is free now, and not when garbage is collected."""
        super().connection_lost(exc)
        self._receive = self._ponged = None
        self._afford = lambda _: True
        self.conn.parser.close()
        self.conn.parser_exc = None
        if hasattr(self, "scope"):
            cast(dict[str, Any], self.scope["extensions"]).pop(SCOPE_KEY, None)

    def data_received(self, data: bytes) -> None:
        """Stamps the arrival before anything is parsed, and takes what a phone usually sends without the parser.

        The parser costs ten times as much. It gets what is left: the request first, then whole frames only, so that it
        always stands between two of them; and all of it once a frame is announced that is too long to wait for.
        """
        self._arrived_us = self.clock.now_us()
        if not self.handshake_initiated:
            self._shake_hands(data)
            return
        length = len(data) - SHORT_HEAD
        if not self._piece and 0 <= length < LONG and data[1] == MASKED | length:
            self._frame(data, data[2:SHORT_HEAD], data[SHORT_HEAD:])
            return
        data, self._piece = self._piece + data, b""
        at, end = 0, len(data)
        while end - at >= 2:
            length, start = data[at + 1] & ~MASKED, at + 2
            if length >= LONG:
                start += 2 if length == LONG else 8
                if start > end:
                    break
                length = int.from_bytes(data[at + 2 : start])
            body = start + MASK_BYTES if data[at + 1] & MASKED else start
            if body + length > end:
                if length > self.config.ws_max_size:
                    super().data_received(data[at:])
                    return
                break
            if not self._frame(data[at : body + length], data[start:body], data[body : body + length]):
                return
            at = body + length
        self._piece = data[at:]

    def _shake_hands(self, request: bytes) -> None:
        """Takes the request, which is whole. The parser of websockets may find it wrong where httptools did not."""
        super().data_received(request)
        if not self.handshake_initiated:
            self.handshake_complete = self.close_sent = True
            self.transport.write(REFUSED)
            self.transport.close()

    def _frame(self, frame: bytes, mask: bytes, body: bytes) -> bool:
        """Takes one whole frame; False when nothing more is to be heard."""
        head = frame[0]
        if head == PONG and len(body) == PING_BYTES and mask and self._answered(apply_mask(body, mask)):
            return True
        if (self.close_sent or self.disconnected or self.transport.is_closing()) and head != CLOSE:
            return self._drain(len(frame))
        if not self._afford(self._arrived_us):
            self.owner.pause_reading()
            return False
        whole = head in (BINARY, TEXT) and len(body) <= self.config.ws_max_size
        if whole and mask and self._receive is not None and self.conn.current_size is None:
            self._receive(apply_mask(body, mask), self._arrived_us, head == TEXT)
            return True
        super().data_received(frame)
        if self.transport.get_write_buffer_size() > self.outbox_bytes:
            self._cut()  # it asks to be answered and does not read
            return False
        return True

    def _drain(self, length: int) -> bool:
        """Passes over a frame that came after the end; False when no more of them are read."""
        self._drained += length
        if self._drained > DRAINED_BYTES:
            self.owner.pause_reading()
        return self._drained <= DRAINED_BYTES and not self.transport.is_closing()

    def send_receive_event_to_app(self) -> None:
        """Hands a message over on the spot."""
        if self._receive is None:
            super().send_receive_event_to_app()
            return
        data = self.frames[0] if len(self.frames) == 1 else b"".join(self.frames)
        self.frames = []
        if not self.close_sent:
            self._receive(bytes(data), self._arrived_us, self.curr_msg_data_type == "text")

    def handle_close(self, event: Frame) -> None:
        """The peer hangs up, or answers; either way it has a moment to take what was written."""
        super().handle_close(event)
        self.owner.expect(CLOSE_GRACE_S)

    def handle_parser_exception(self) -> None:
        """So it has after frames that are none."""
        super().handle_parser_exception()
        self.owner.expect(CLOSE_GRACE_S)

    def ping(self) -> None:
        """Sends a ping whose pong can only be given by whoever got it (RFC 6455 sections 5.5.2 and 5.5.3)."""
        if self.closing or len(self._pings) >= MOST_PINGS:
            return
        self._entropy = self._entropy[PING_BYTES:] or self.random_source.draw()
        payload = self._entropy[:PING_BYTES]
        self._pings[payload] = self.clock.now_us()
        self.transport.write(bytes((PING, PING_BYTES)) + payload)

    def handle_pong(self, event: Frame) -> None:
        """A pong that came through the parser: to one of uvicorn's own pings, as a rule."""
        if not self._answered(bytes(event.data)):
            super().handle_pong(event)

    def _answered(self, payload: bytes) -> bool:
        """Looks a pong up by its bytes; False for one that was never asked for, or comes again."""
        sent_us = self._pings.get(payload)
        if sent_us is None:
            return False
        # A peer may answer only the latest of several pings, so those before it will never come.
        for earlier in list(self._pings):
            del self._pings[earlier]
            if earlier == payload:
                break
        if self._ponged is not None:
            self._ponged(sent_us, self._arrived_us)
        return True

    @property
    def peer(self) -> str:
        """The address at the other end of the connection, be it a proxy's; empty where there is none."""
        return self.client[0] if self.client is not None else ""

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
        self._cut()
        return False

    def _cut(self) -> None:
        # A close would wait for a flush that never comes: this peer has stopped reading.
        meters.CUT.inc()
        self.transport.abort()

    def hang_up(self, code: int, reason: str) -> None:
        """Closes with a code and a reason of at most 123 bytes, and cuts the socket when the peer does not answer."""
        if self.closing:
            return
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.close_timer = self.loop.call_later(CLOSE_GRACE_S, self.transport.abort)
        self.owner.expect_nothing()
        self.owner.resume_reading()


def link_protocol(clock: Clock, random_source: RandomSource, outbox_bytes: int) -> type[LinkProtocol]:
    """The protocol class for uvicorn's `ws` setting, with its clock, its luck and the outbox limit in it."""
    return type(
        "LinkProtocol", (LinkProtocol,), {"clock": clock, "random_source": random_source, "outbox_bytes": outbox_bytes}
    )
