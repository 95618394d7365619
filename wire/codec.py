"""How messages are written: one msgpack map a frame, or the same as JSON (P15).

A frame is decoded once, strictly, into one of a closed set of types.
"""

from typing import Any, get_args

import msgpack
import msgspec

from wire.messages import ClientMessage, Message, ServerMessage


class Malformed(ValueError):
    """A frame that is no message of ours; the text says what was wrong with it."""


def _read(frame: bytes, kinds: dict[str, Any], limits: dict[str, int]) -> Any:
    try:
        fields = msgpack.unpackb(frame, strict_map_key=True, **limits)
    except (ValueError, TypeError, RecursionError, msgpack.exceptions.UnpackException) as wrong:
        raise Malformed(f"not msgpack: {wrong or type(wrong).__name__}") from None
    tag = fields.get("t") if isinstance(fields, dict) else None
    kind = kinds.get(tag) if isinstance(tag, str) else None
    if kind is None:
        # What is no text may be nested so deep that it cannot be shown.
        raise Malformed(f"no such kind of message: {tag[:40]!r}" if isinstance(tag, str) else "no kind of message")
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as wrong:
        raise Malformed(f"{tag}: {wrong}") from None


def _by_tag(union: Any) -> dict[str, Any]:
    # One struct converts in half a microsecond, a union in fourteen: msgspec caches only the former.
    return {kind.__struct_config__.tag: kind for kind in get_args(union)}


_CLIENT_KINDS = _by_tag(ClientMessage)
_SERVER_KINDS = _by_tag(ServerMessage)

PHONE_LIMITS = {
    "max_str_len": 256,
    "max_bin_len": 0,
    "max_array_len": 16,
    "max_map_len": 32,
    "max_ext_len": 0,
}
"""A hostile 4 KiB of nested arrays costs 11 MiB without these, 1 KiB with them."""

SERVER_LIMITS = {"max_str_len": 4096, "max_bin_len": 0, "max_array_len": 1024, "max_map_len": 64, "max_ext_len": 0}


def read_client_message(frame: bytes) -> ClientMessage:
    """The message in a phone's frame; raises `Malformed`."""
    message: ClientMessage = _read(frame, _CLIENT_KINDS, PHONE_LIMITS)
    return message


def read_server_message(frame: bytes) -> ServerMessage:
    """The message in a server's frame; raises `Malformed`."""
    message: ServerMessage = _read(frame, _SERVER_KINDS, SERVER_LIMITS)
    return message


_encode = msgspec.msgpack.Encoder().encode


def write(message: Message) -> bytes:
    """The frame of a message."""
    return _encode(message)


def as_json(frame: bytes) -> bytes:
    """The message in a frame as JSON, field for field (P15)."""
    return msgspec.json.encode(msgspec.msgpack.decode(frame))


def from_json(text: bytes) -> bytes:
    """The frame of a message in JSON, which the same reader then holds to the same limits; raises `Malformed`."""
    try:
        return msgspec.msgpack.encode(msgspec.json.decode(text))
    except (ValueError, RecursionError, OverflowError) as wrong:
        raise Malformed(f"not JSON: {wrong}") from None
