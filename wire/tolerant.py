"""What another version of us wrote, without what this version does not know (docs/decisions/0011-change-that-lasts.md).

For what servers send and what is kept. What phones send is read strictly (`wire/codec.py`).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from msgspec import inspect

Left = dict[str, Any]
"""The unknown fields of a struct."""


def known(value: Any, kind: Any, on_left: Callable[[type, Left], None] = lambda _, __: None) -> Any:
    """The decoded `value` without the fields that `kind`, a type, does not know, at any depth.

    `on_left` is told of every struct that had such fields, and of those; it may raise.
    """
    return _known(value, _shape(kind), on_left)


_shape = cache(inspect.type_info)


def _known(value: Any, of: inspect.Type, on_left: Callable[[type, Left], None]) -> Any:
    if isinstance(of, inspect.UnionType):
        fitting = [each for each in of.types if _fits(each, value)]
        return _known(value, fitting[0], on_left) if fitting else value
    if isinstance(of, inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name: field.type for field in of.fields}
        left = {name: each for name, each in value.items() if name not in fields and name != of.tag_field}
        if left:
            on_left(of.cls, left)
        return {
            name: _known(each, fields[name], on_left) if name in fields else each
            for name, each in value.items()
            if name not in left
        }
    if isinstance(of, inspect.DictType) and isinstance(value, dict):
        return {name: _known(each, of.value_type, on_left) for name, each in value.items()}
    if isinstance(of, inspect.VarTupleType | inspect.ListType) and isinstance(value, list):
        return [_known(each, of.item_type, on_left) for each in value]
    return value


def _fits(of: inspect.Type, value: Any) -> bool:
    if not isinstance(of, inspect.StructType) or not isinstance(value, dict):
        return False
    return of.tag is None or value.get(of.tag_field) == of.tag
