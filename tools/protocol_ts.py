"""The TypeScript twins of what server and page tell each other: `python -m tools.protocol_ts` writes them, `--check`
fails when stale.

Knows the message classes, those of the questions over HTTP, and how TypeScript says the same. Knows nothing of the
client that reads them.
"""

import argparse
import inspect
import json
import sys
import types
from collections.abc import Iterator
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, NewType, Union, get_args, get_origin

import msgspec

from engine.game import AnyEvent, Reason
from engine.rules import OFFER_EVERY_CARDS, OFFER_FROM_CARDS, PRESETS, RANKS_TOO, SWITCHES
from engine.told import STATEMENTS
from server.web import people
from wire import codes, figures
from wire import messages as protocol

TARGET = Path(__file__).parent.parent / "clients" / "web" / "src" / "lib" / "wire.ts"

HEADING = """\
// Written by `python -m tools.protocol_ts` from wire/ and engine/. Do not edit.
"""

UNIONS: dict[str, Any] = {
    "ClientMessage": protocol.ClientMessage,
    "ServerMessage": protocol.ServerMessage,
    "AnyEvent": AnyEvent,
}
CONSTANTS: dict[str, Any] = {
    "PROTOCOL": protocol.PROTOCOL,
    "MAX_SEATS": protocol.MAX_SEATS,
    "CODE_SYMBOLS": codes.CODE_SYMBOLS,
    "CODE_LENGTH": codes.CODE_LENGTH,
    "EMOJIS": get_args(protocol.Emoji),
    "SWITCHES": SWITCHES,
    "PRESETS": PRESETS,
    "RANKS_TOO": RANKS_TOO,
    "STATEMENTS": STATEMENTS,
    "OFFER_FROM_CARDS": OFFER_FROM_CARDS,
    "OFFER_EVERY_CARDS": OFFER_EVERY_CARDS,
    "RATED_FROM_GAMES": figures.RATED_FROM_GAMES,
    "FIGURES": {
        by: {"name": figure.name, "field": figure.field, "unit": figure.unit, "slaps": figure.slaps}
        for by, figure in figures.FIGURES.items()
    },
}
OVER_HTTP = (people.MoveResult, figures.By, figures.Span, figures.Page)
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}


class Untranslatable(TypeError):
    """A field of a kind that has no twin here; the text names it."""


def _ts(kind: Any) -> str:
    if isinstance(kind, NewType):
        return str(kind.__name__)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _ts(inner[0])
    if origin in (Union, types.UnionType):
        named = [name for name, union in UNIONS.items() if union == kind]
        return named[0] if named else " | ".join(_ts(member) for member in inner)
    if origin is tuple and inner[1:] == (...,):
        return f"readonly {_ts(inner[0])}[]"
    if origin is tuple:
        return f"readonly [{', '.join(_ts(member) for member in inner)}]"
    if kind == protocol.Emoji:
        return "Emoji"
    if kind in PLAIN:
        return PLAIN[kind]
    if isinstance(kind, type) and issubclass(kind, (Enum, msgspec.Struct)):
        return kind.__name__
    raise Untranslatable(f"no TypeScript twin for {kind!r}")


def _parts(kind: Any) -> Iterator[Any]:
    """Every NewType, enum and struct that a type needs, the needed before the needing."""
    if isinstance(kind, NewType):
        yield kind
    elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for field in msgspec.structs.fields(kind):
            yield from _parts(field.type)
        yield kind
    elif isinstance(kind, type) and issubclass(kind, Enum):
        yield kind
    else:
        for inner in get_args(kind):
            yield from _parts(inner)


def _comment(thing: Any, indent: str = "") -> str:
    lines = (inspect.getdoc(thing) or "").splitlines()
    if not lines:
        return ""
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines) + f"{indent} */\n"


def _struct(kind: type[msgspec.Struct], said_by_phone: bool) -> str:
    # The server writes every field; a phone may leave out what has a default.
    config = kind.__struct_config__
    tag = [f'  {config.tag_field}: "{config.tag}";\n'] if config.tag_field and config.tag else []
    fields = [
        f"  {field.encode_name}{'?' if said_by_phone and not field.required else ''}: {_ts(field.type)};\n"
        for field in msgspec.structs.fields(kind)
    ]
    return f"{_comment(kind)}export type {kind.__name__} = {{\n{''.join(tag + fields)}}};\n"


def _enum(kind: type[Enum]) -> str:
    if issubclass(kind, StrEnum):
        values = "".join(f"  | {json.dumps(member.value)}\n" for member in kind)
        return f"{_comment(kind)}export type {kind.__name__} =\n{values.rstrip()};\n"
    members = "".join(f"  {member.name}: {member.value},\n" for member in kind)
    return f"{_comment(kind)}export const {kind.__name__} = {{\n{members}}} as const;\n"


def _newtype(kind: NewType) -> str:
    return f"export type {kind.__name__} = {_ts(kind.__supertype__)};\n"


def _constant(name: str, value: Any) -> str:
    return f"export const {name} = {json.dumps(msgspec.to_builtins(value), indent=2, ensure_ascii=False)} as const;\n"


def wire_ts() -> str:
    """The whole of wire.ts; raises `Untranslatable`."""
    phone_kinds = set(get_args(protocol.ClientMessage))
    parts = dict.fromkeys(part for union in UNIONS.values() for part in _parts(union))
    parts |= dict.fromkeys((protocol.RejectReason, Reason, protocol.CloseCode))
    parts |= dict.fromkeys(part for kind in OVER_HTTP for part in _parts(kind))
    blocks = [HEADING]
    blocks += [_constant(name, value) for name, value in CONSTANTS.items()]
    blocks.append("export type Emoji = (typeof EMOJIS)[number];\n")
    for part in parts:
        if isinstance(part, NewType):
            blocks.append(_newtype(part))
        elif issubclass(part, Enum):
            blocks.append(_enum(part))
        else:
            blocks.append(_struct(part, said_by_phone=part in phone_kinds))
    for name, union in UNIONS.items():
        members = "".join(f"  | {member.__name__}\n" for member in get_args(union))
        blocks.append(f"export type {name} =\n{members.rstrip()};\n")
    return "\n".join(blocks)


def main(arguments: list[str] | None = None) -> int:
    """Writes wire.ts, or with `--check` says whether it is fresh: 0 when it is, 1 when not."""
    parser = argparse.ArgumentParser(prog="python -m tools.protocol_ts", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when the file is stale")
    fresh = wire_ts()
    if not parser.parse_args(arguments).check:
        TARGET.write_text(fresh, encoding="utf-8")
        return 0
    if TARGET.exists() and TARGET.read_text(encoding="utf-8") == fresh:
        return 0
    print(f"{TARGET.name} is stale: run `python -m tools.protocol_ts`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
