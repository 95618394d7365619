"""docs/protocol.md against the messages themselves: whoever writes a client from the page alone must not be misled."""

import json
import re
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from engine.game import AnyEvent, End, GameView, LandedCard, Reason, SeatView
from engine.rules import Rules
from wire.codec import write
from wire.codes import CODE_SYMBOLS
from wire.messages import (
    MAX_FRAME_BYTES,
    PROTOCOL,
    ClientMessage,
    CloseCode,
    Emoji,
    Lock,
    Question,
    RankedSlap,
    RejectReason,
    ServerMessage,
    Standing,
    TableSeat,
    TableView,
    Tally,
    Verdict,
)

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^##+ (.+?)\n(.*?)(?=^##+ |\Z)", PAGE, re.M | re.S))
MESSAGES = [*get_args(ClientMessage), *get_args(ServerMessage)]
VIEWS = {"game": GameView, "table": TableView, "rules": Rules, "verdict": Verdict, "question": Question}


def tag(kind: type[msgspec.Struct]) -> str:
    return str(kind.__struct_config__.tag)


def example(section: str) -> Any:
    found = re.search(r"```json\n(.*?)```", SECTIONS[section], re.S)
    assert found is not None, f"{section} has no example"
    return json.loads(found[1])


def plain(value: msgspec.Struct) -> Any:
    return json.loads(msgspec.json.encode(value))


def named(section: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", SECTIONS[section]))


@pytest.mark.parametrize("kind", MESSAGES, ids=tag)
def test_every_message_has_an_example_with_all_its_fields(kind: type[msgspec.Struct]) -> None:
    written = example(tag(kind))
    read = msgspec.convert(written, kind)
    assert plain(read) == written


@pytest.mark.parametrize(
    ("first", "then", "kinds"),
    [
        ("What the server says", "What happened: events", get_args(ServerMessage)),
        ("What a phone says", "Why not: reasons", get_args(ClientMessage)),
    ],
)
def test_no_message_is_made_up(first: str, then: str, kinds: tuple[type[msgspec.Struct], ...]) -> None:
    """Sections of the chapters of messages, and nothing else."""
    chapters = PAGE[PAGE.index(f"\n## {first}") : PAGE.index(f"\n## {then}")]
    assert sorted(re.findall(r"^### (.+)$", chapters, re.M)) == sorted(tag(kind) for kind in kinds)


@pytest.mark.parametrize("section", ["table", "verdict", "question"])
def test_views_have_examples(section: str) -> None:
    written = example(section)
    read = plain(msgspec.convert(written, VIEWS[section]))
    if section == "table":
        read["rules"] = {}
    assert read == written


@pytest.mark.parametrize(
    ("section", "kind"),
    [
        *VIEWS.items(),
        ("game", SeatView),
        ("game", LandedCard),
        ("table", TableSeat),
        ("table", Standing),
        ("table", Tally),
        ("verdict", RankedSlap),
    ],
)
def test_every_field_of_a_view_is_named(section: str, kind: type[msgspec.Struct]) -> None:
    told = re.sub(r"```.*?```", "", SECTIONS[section], flags=re.S)
    assert set(kind.__struct_fields__) <= set(re.findall(r"\w+", told))


def test_every_event_has_an_example_with_all_its_fields() -> None:
    rows = re.findall(r"^\| `(\{.*?\})` \|", SECTIONS["What happened: events"], re.M)
    kinds = {tag(kind): kind for kind in get_args(AnyEvent)}
    written = [json.loads(row) for row in rows]
    assert [event["event"] for event in written] == list(kinds)
    for event in written:
        assert plain(msgspec.convert(event, kinds[event["event"]])) == event


def test_every_close_code_stands_with_its_name() -> None:
    """P4."""
    rows = re.findall(r"^\| (\d{4}) \| `(\w+)` \|", PAGE, re.M)
    assert [(int(code), name) for code, name in rows] == [(closing.value, closing.name) for closing in CloseCode]


def test_every_reason_is_explained() -> None:
    """P3."""
    assert named("Why not: reasons") - {"join"} == {*map(str, RejectReason), *map(str, Reason)}


@pytest.mark.parametrize("kind", [End])
def test_every_value_is_named(kind: type[StrEnum]) -> None:
    assert {str(value) for value in kind} <= named("What happened: events")


def test_the_numbers_are_right() -> None:
    assert f"{MAX_FRAME_BYTES:,} bytes" in PAGE
    assert f"carry `protocol`, now {PROTOCOL}." in PAGE
    assert f"`{CODE_SYMBOLS}`" in PAGE
    assert f"one of {' '.join(get_args(Emoji))}." in PAGE
    assert f"`{write(Lock(True)).hex(' ')}`" in PAGE


def test_the_wire_rules_are_numbered_without_a_gap() -> None:
    """In the order in which they are needed, which is not that of their numbers."""
    numbers = sorted(int(number) for number in re.findall(r"^\*\*P(\d+) ", PAGE, re.M))
    assert numbers == list(range(1, len(numbers) + 1))
