"""Reading what is kept, be it from a server of this version or of the next: what the next one added is passed over.

What phones send is read strictly (`wire/codec.py`); what is kept was written by one of us.
"""

from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from engine.rules import Rules

Kind = TypeVar("Kind")


def read_kept(packed: bytes, kind: type[Kind]) -> Kind:
    """The value of that kind in these msgpack bytes; raises `msgspec.DecodeError`.

    A field that this version does not know is left out. A rule of play that it does not know must be off.
    """
    try:
        return msgspec.msgpack.decode(packed, type=kind)
    except msgspec.ValidationError as strict:
        known = _known(msgspec.msgpack.decode(packed), inspect.type_info(kind))
        try:
            return msgspec.convert(known, kind)
        except msgspec.ValidationError:
            raise strict from None


def _known(value: Any, of: inspect.Type) -> Any:
    """The value without the fields that nobody of this version knows."""
    if isinstance(of, inspect.UnionType):
        tagged = [each for each in of.types if isinstance(each, inspect.StructType) and isinstance(value, dict)]
        fitting = [each for each in tagged if each.tag is None or value.get(each.tag_field) == each.tag]
        return _known(value, fitting[0]) if fitting else value
    if isinstance(of, inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name: field.type for field in of.fields}
        if of.cls is Rules and any(value[name] for name in value.keys() - fields.keys() - {of.tag_field}):
            raise msgspec.ValidationError("a rule of play that this server does not know")
        return {
            name: _known(each, fields[name]) if name in fields else each
            for name, each in value.items()
            if name in fields or name == of.tag_field
        }
    if isinstance(of, inspect.DictType) and isinstance(value, dict):
        return {name: _known(each, of.value_type) for name, each in value.items()}
    if isinstance(of, inspect.VarTupleType | inspect.ListType) and isinstance(value, list):
        return [_known(each, of.item_type) for each in value]
    return value
