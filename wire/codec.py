"""How messages are written: one msgpack map a frame, or the same as JSON (P15).

A frame is decoded once into one of a closed set of types: strictly what phones say, and what the server says without
what only a newer one knows (P13).
"""

from typing import Any, get_args

import msgpack
import msgspec

from engine.game import AnyEvent
from wire.messages import ClientMessage, Message, ServerMessage
from wire.tolerant import known


class Malformed(ValueError):
    """A frame that is no message of ours; the text says what was wrong with it."""


def _fields(frame: bytes, limits: dict[str, int]) -> tuple[str, dict[str, Any]]:
    """The kind of the message and its fields, `t` among them."""
    try:
        fields = msgpack.unpackb(frame, strict_map_key=True, **limits)
    except (ValueError, TypeError, RecursionError, msgpack.exceptions.UnpackException) as wrong:
        raise Malformed(f"not msgpack: {wrong or type(wrong).__name__}") from None
    tag = fields.get("t") if isinstance(fields, dict) else None
    if not isinstance(tag, str):
        # What is no text may be nested so deep that it cannot be shown.
        raise Malformed("no kind of message")
    return tag, fields


def _by_tag(union: Any) -> dict[str, Any]:
    # One struct converts in half a microsecond, a union in fourteen: msgspec caches only the former.
    return {kind.__struct_config__.tag: kind for kind in get_args(union)}


_CLIENT_KINDS = _by_tag(ClientMessage)
_SERVER_KINDS = _by_tag(ServerMessage)
_EVENTS = [kind.__struct_config__.tag for kind in get_args(AnyEvent)]

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
    tag, fields = _fields(frame, PHONE_LIMITS)
    kind = _CLIENT_KINDS.get(tag)
    if kind is None:
        raise Malformed(f"no such kind of message: {tag[:40]!r}")
    try:
        message: ClientMessage = msgspec.convert(fields, kind)
    except msgspec.ValidationError as wrong:
        raise Malformed(f"{tag}: {wrong}") from None
    return message


def read_server_message(frame: bytes) -> ServerMessage | None:
    """The message in a server's frame, without the fields and events of a newer server; raises `Malformed`.

    None for a kind of message that only a newer server knows (P13).
    """
    tag, fields = _fields(frame, SERVER_LIMITS)
    kind = _SERVER_KINDS.get(tag)
    if kind is None:
        return None
    try:
        message: ServerMessage = msgspec.convert(fields, kind)
    except msgspec.ValidationError as wrong:
        try:
            message = msgspec.convert(known(_with_known_events(fields), kind), kind)
        except msgspec.ValidationError:
            raise Malformed(f"{tag}: {wrong}") from None
    return message


def _with_known_events(fields: dict[str, Any]) -> dict[str, Any]:
    told = fields.get("events")
    if not isinstance(told, list):
        return fields
    events = [event for event in told if not isinstance(event, dict) or event.get("event") in _EVENTS]
    if told and not events:
        # A moment without events would say that the top card is shown afresh (P9).
        return {**fields, "events": events, "show_at_us": 0}
    return {**fields, "events": events}


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
