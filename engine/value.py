"""The immutable base of everything that is passed around."""

from typing import dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True)
class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """An immutable value that compares and encodes by its fields.

    Nothing that cannot change can come to hold itself, so the garbage collector need not look at it.
    """
