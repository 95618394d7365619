"""What is kept: no shape changes without its version, and each is read by the version before and after."""

import hashlib
from typing import Any

import msgspec
import pytest

from engine.game import Seat, Turn
from engine.rules import Rules
from server.store import backup
from server.store.board import Finished
from server.store.port import BadRecord
from server.store.redis import Scores, _read
from server.table import journal
from server.table.journal import AnyEntry, BadEntry, Dealt, Moved, read_entry
from server.table.kept import read_kept
from server.table.records import RECORD_VERSION, SeatRecord, TableRecord
from tests.contracts.tables import BEN, CODE, a_result, a_table, played
from wire.messages import Kind, SeatId

SHAPES: dict[str, tuple[Any, int, str]] = {
    "record": (TableRecord, RECORD_VERSION, "a4cca4995c2b68b2"),
    "scores": (Scores, RECORD_VERSION, "654c5a54b8269ffd"),
    "entry": (AnyEntry, journal.VERSION, "2f84265666816600"),
    "result": (Finished, Finished(0, a_result(1)).version, "5299dd52e49ebdd7"),
    "export": (backup.Part | backup.End, int(backup.FIRST_LINE.split()[-1]), "353ce0352c875d25"),
}
"""Each shape, its version, and the hash of both.

Whoever changes a shape gives a field a default that is harmless where it is missing; the version grows where the
version before cannot go on without it (docs/decisions/0011-change-that-lasts.md).
"""


@pytest.mark.parametrize("name", SHAPES)
def test_no_kept_shape_changes_without_anybody_thinking_of_its_version(name: str) -> None:
    shape, version, known = SHAPES[name]
    schema = msgspec.json.encode([version, silent(msgspec.json.schema(shape))], order="deterministic")
    assert hashlib.sha256(schema).hexdigest()[:16] == known


def silent(schema: Any) -> Any:
    """A schema without what it says in prose."""
    if isinstance(schema, dict):
        return {name: silent(each) for name, each in schema.items() if name != "description"}
    return [silent(each) for each in schema] if isinstance(schema, list) else schema


def newer(value: Any) -> Any:
    """The same as the next version might keep it: everywhere a field more."""
    if isinstance(value, dict):
        return {**{name: newer(each) for name, each in value.items()}, "what_is_new": 0}
    return [newer(each) for each in value] if isinstance(value, list) else value


def raw(value: Any) -> Any:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(value))


def test_a_record_with_fields_of_the_next_version_is_read() -> None:
    table = raw(msgspec.structs.replace(a_table(), scores={}))
    told = newer(table)
    told["scores"] = {}
    scores = {"scores": {BEN: newer(raw(a_table().scores["b2"]))}, "archive": [], "version": 2, "what_is_new": 1}
    found = _read(CODE, msgspec.msgpack.encode(told), msgspec.msgpack.encode(scores))
    assert found == msgspec.structs.replace(a_table(), scores={BEN: a_table().scores["b2"]})


def test_a_rule_of_the_next_version_must_be_off() -> None:
    table = raw(msgspec.structs.replace(a_table(), scores={}))
    table["rules"]["fives_too"] = False
    assert _read(CODE, msgspec.msgpack.encode(table), b"").rules == a_table().rules
    table["rules"]["fives_too"] = True
    with pytest.raises(BadRecord):
        _read(CODE, msgspec.msgpack.encode(table), b"")


def test_a_result_with_fields_of_the_next_version_is_counted() -> None:
    finished = Finished(7, a_result(1, played(BEN, True, 300)))
    assert read_kept(msgspec.msgpack.encode(newer(raw(finished))), Finished) == finished


@pytest.mark.parametrize(
    "entry",
    [
        Dealt(1, "AS 2H", Rules(), 0, (SeatRecord(SeatId("a1"), "Ann", "🦊", Kind.PERSON, BEN),)),  # type: ignore[arg-type]
        Moved(1, 1, Turn(Seat(0), 1), b"x" * 32, 5),  # type: ignore[arg-type]
    ],
)
def test_an_entry_with_fields_of_the_next_version_is_read(entry: AnyEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_encode", lambda one: msgspec.msgpack.encode(newer(raw(one))))
    assert read_entry(journal.write_entry(entry)) == entry


def test_an_entry_of_a_kind_that_nobody_knows_is_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_encode", lambda _: msgspec.msgpack.encode({"entry": "danced", "game": 1}))
    with pytest.raises(BadEntry, match="danced"):
        read_entry(journal.write_entry(Moved(1, 1, Turn(Seat(0), 1), b"x" * 32, 5)))  # type: ignore[arg-type]
