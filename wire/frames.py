"""The bytes of a WebSocket frame (RFC 6455 section 5.2), as a server writes them and a phone's are read."""

# First bytes of frames (RFC 6455 section 5.2): all in one piece, no extension, and what it is.
TEXT, BINARY, CLOSE, PING, PONG = 0x81, 0x82, 0x88, 0x89, 0x8A
MASKED = 0x80
LONG, LONGER = 126, 127
"""Lengths that say that the length follows in two bytes, or in eight."""
MASK_BYTES = 4
SHORT_HEAD = 2 + MASK_BYTES
"""How many bytes come before what a short frame from a phone says."""


def frame_of(payload: bytes, *, text: bool = False) -> bytes:
    """The WebSocket frame that carries a message, built once for all who get it (RFC 6455 section 5.2)."""
    first, length = TEXT if text else BINARY, len(payload)
    if length < LONG:
        return bytes((first, length)) + payload
    if length < 2**16:
        return bytes((first, LONG)) + length.to_bytes(2) + payload
    return bytes((first, LONGER)) + length.to_bytes(8) + payload


def payload_of(frame: bytes) -> bytes:
    """What `frame_of` was given."""
    return frame[{LONG: 4, LONGER: 10}.get(frame[1], 2) :]
