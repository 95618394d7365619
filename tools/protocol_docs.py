"""What docs/ holds for machines, the bytes on its page, and the figures of the leaderboard: `python -m
tools.protocol_docs` writes, `--check` fails when stale.

Knows the message classes, docs/protocol.md and its examples, docs/http.md, and what a reader must refuse. Runs no
message.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from textwrap import fill
from typing import Any, get_args

import msgspec

from engine.cards import RANKS, SUITS
from engine.game import CardTurned, GameView, LandedCard
from engine.rules import GameName
from wire.codec import PHONE_LIMITS, write
from wire.figures import FIGURES
from wire.messages import JSON_SUBPROTOCOL, PROTOCOL, ClientMessage, ServerMessage

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "protocol.md"
SCHEMA = DOCS / "protocol.schema.json"
VECTORS = DOCS / "protocol.vectors.json"
QUESTIONS = DOCS / "http.md"

COLUMNS = 119
_EXAMPLE = re.compile(r"^### (\w+)\n(?:(?!#|```).*\n)*```json\n((?:(?!```).*\n)*)```\n", re.M)
_BYTES = re.compile(r"(?<=^```msgpack\n)(?:(?!```).*\n)*", re.M)
_FIGURES = re.compile(r"(?<=^\| `by` \| in a row \| what it is \|\n\| --- \| --- \| --- \|\n)(?:\|.*\n)*", re.M)

PHONE_KINDS = {str(kind.__struct_config__.tag): kind for kind in get_args(ClientMessage)}
SERVER_KINDS = {str(kind.__struct_config__.tag): kind for kind in get_args(ServerMessage)}


def _malformed() -> list[tuple[str, bytes]]:
    """Frames that close the socket (P2), and what is wrong with each."""
    pack = msgspec.msgpack.encode
    return [
        ("no bytes at all", b""),
        ("cut off in the middle", pack({"t": "start"})[:-1]),
        ("something after the map", pack({"t": "start"}) + b"\xc0"),
        ("no map", pack(["start"])),
        ("a map without t", pack({})),
        ("t is a number", pack({"t": 1})),
        ("a key that is a number", pack({"t": "start", 1: 1})),
        ("a kind that there is not", pack({"t": "sing"})),
        ("a kind that only the server says", pack({"t": "store_stalled", "on": True})),
        ("a field is missing", pack({"t": "lock"})),
        ("a field too many", pack({"t": "start", "now": True})),
        ("a number for true", pack({"t": "lock", "on": 1})),
        ("true for a number", pack({"t": "carry_on", "game": True, "nth": 1})),
        ("a number that is not whole", pack({"t": "carry_on", "game": 1.0, "nth": 1})),
        ("a number in a text", pack({"t": "carry_on", "game": "1", "nth": 1})),
        ("a number below its range", pack({"t": "carry_on", "game": -1, "nth": 1})),
        ("a number above its range", pack({"t": "carry_on", "game": 2**31 + 1, "nth": 1})),
        ("a reaction that is no number", pack({"t": "slap", "game": 1, "nth": 1, "reaction_us": float("nan")})),
        ("null where there is none", pack({"t": "remove", "seat": None})),
        ("a text that is too long", pack({"t": "join", "name": "a" * 201, "face": "🙂"})),
        ("an empty name", pack({"t": "join", "name": "", "face": "🙂"})),
        ("no such emoji", pack({"t": "react", "emoji": "🤮"})),
        ("bytes for a text", pack({"t": "remove", "seat": b"kq3xh2av"})),
        ("a text that is not UTF-8", b"\x82\xa1t\xa6remove\xa4seat\xa1\xff"),
        ("a list that is too long", pack({"t": "start", "list": [0] * (PHONE_LIMITS["max_array_len"] + 1)})),
        ("nested far too deep", b"\x91" * 1500),
    ]


CODES = {
    "K7WQ2M": "K7WQ2M",
    "k7wq2m": "K7WQ2M",
    " K7W Q2M ": "K7WQ2M",
    "k7w-q2m": "K7WQ2M",
    "K7WQ2": None,
    "": None,
}
"""What somebody types, and the code it is, if any (P14)."""


def _clocks() -> list[dict[str, Any]]:
    """Exchanges, and how far from the room's true clock an estimate made of them may be (P8)."""
    even = [(0, 20_000, 20_000), (200_000, 25_000, 25_000), (400_000, 20_000, 20_000)]
    return [
        _clock("both ways take as long", even, within_us=1_000),
        _clock("one exchange took a detour home", [*even, (600_000, 20_000, 900_000)], within_us=1_500),
        _clock("the way home is always the longer", [(at, 10_000, 30_000) for at, _, _ in even], within_us=20_000),
    ]


def _clock(what: str, exchanges: list[tuple[int, int, int]], within_us: int) -> dict[str, Any]:
    """`exchanges` are (sent, way there, way home) in microseconds; the room's clock is 5,000 s ahead."""
    ahead_us, now_us = 5_000_000_000, 1_000_000
    told = [
        {"sent_us": sent, "room_us": sent + there + ahead_us, "heard_us": sent + there + home}
        for sent, there, home in exchanges
    ]
    told.sort(key=lambda exchange: exchange["heard_us"])
    return {"what": what, "exchanges": told, "now_us": now_us, "room_us": now_us + ahead_us, "within_us": within_us}


def examples(page: str) -> dict[str, Any]:
    """The JSON examples of the messages on the page, by kind."""
    found = {name: json.loads(text) for name, text in _EXAMPLE.findall(page)}
    return {name: found[name] for name in (*PHONE_KINDS, *SERVER_KINDS)}


def _frame(name: str, example: Any) -> str:
    return write(msgspec.convert(example, (PHONE_KINDS | SERVER_KINDS)[name])).hex(" ")


def with_bytes(page: str) -> str:
    """The page with the frame of each example in its last chapter."""
    frames = {name: fill(_frame(name, example), COLUMNS) for name, example in examples(page).items()}
    return _BYTES.sub("".join(f"{name}\n{frame}\n" for name, frame in frames.items()), page)


def with_figures(page: str) -> str:
    """The page of questions with a row for each figure of the leaderboard."""
    rows = (f"| `{by}` | `{figure.field}` | {figure.sentence} |\n" for by, figure in FIGURES.items())
    return _FIGURES.sub("".join(rows), page)


def schema() -> str:
    """A JSON Schema (2020-12) of every message, both ways: `#/$defs/ClientMessage`, `#/$defs/ServerMessage`."""
    (from_phone, from_server), kinds = msgspec.json.schema_components(
        (ClientMessage, ServerMessage), ref_template="#/$defs/{name}"
    )
    # What these are is known to the engine alone; on the wire they are texts.
    for kind in (CardTurned, LandedCard):
        kinds[kind.__name__]["properties"]["face"]["pattern"] = f"^[{RANKS}][{SUITS}]$"
    kinds[GameView.__name__]["properties"]["game"] = {"$ref": f"#/$defs/{GameName.__name__}"}
    return _json(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"Slapjack's messages, version {PROTOCOL}",
            "$comment": "Two schemas to hold a message against: #/$defs/ClientMessage for what a client says, "
            f"#/$defs/ServerMessage for what it hears. As JSON under the subprotocol {JSON_SUBPROTOCOL}, as msgpack "
            "without. Whole numbers are written without a point (P2), which a JSON Schema cannot say.",
            "anyOf": [{"$ref": "#/$defs/ClientMessage"}, {"$ref": "#/$defs/ServerMessage"}],
            "$defs": {"ClientMessage": from_phone, "ServerMessage": from_server, **kinds},
        }
    )


def vectors(page: str) -> str:
    """The test vectors; frames are in hexadecimal."""
    return _json(
        {
            "protocol": PROTOCOL,
            "messages": [
                {"from": "phone" if name in PHONE_KINDS else "server", "json": told, "msgpack": _frame(name, told)}
                for name, told in examples(page).items()
            ],
            "malformed": [{"what": what, "msgpack": frame.hex(" ")} for what, frame in _malformed()],
            "codes": [{"typed": typed, "code": code} for typed, code in CODES.items()],
            "clocks": _clocks(),
        }
    )


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Writes the four files, or with `--check` says which is stale: 0 when none is, 1 when one is."""
    parser = argparse.ArgumentParser(prog="python -m tools.protocol_docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when a file is stale")
    check = parser.parse_args(arguments).check
    page = PAGE.read_text(encoding="utf-8")
    questions = with_figures(QUESTIONS.read_text(encoding="utf-8"))
    fresh = {PAGE: with_bytes(page), SCHEMA: schema(), VECTORS: vectors(page), QUESTIONS: questions}
    stale = [path for path, text in fresh.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if check:
            print(f"{path.name} is stale: run `python -m tools.protocol_docs`", file=sys.stderr)
        else:
            path.write_text(fresh[path], encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
