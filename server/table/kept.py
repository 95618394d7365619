"""Reading what is kept, be it from a server of this version or of the next: what the next one added is passed over.

What phones send is read strictly (`wire/codec.py`); what is kept was written by one of us.
"""

from typing import TypeVar

import msgspec

from engine.rules import Rules
from wire.tolerant import Left, known

Kind = TypeVar("Kind")


def read_kept(packed: bytes, kind: type[Kind]) -> Kind:
    """The value of that kind in these msgpack bytes; raises `msgspec.DecodeError`.

    A field that this version does not know is left out. A rule of play that it does not know must be off.
    """
    try:
        return msgspec.msgpack.decode(packed, type=kind)
    except msgspec.ValidationError as strict:
        read = known(msgspec.msgpack.decode(packed), kind, _rules_are_off)
        try:
            return msgspec.convert(read, kind)
        except msgspec.ValidationError:
            raise strict from None


def _rules_are_off(kind: type, left: Left) -> None:
    if kind is Rules and any(left.values()):
        raise msgspec.ValidationError("a rule of play that this server does not know")
