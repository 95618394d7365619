"""What is said: no shape changes without anybody thinking of the version, and N and N+1 understand each other (P13)."""

import hashlib
import json
from typing import Any

import msgspec
import pytest

from engine.game import CarriedOn, Seat
from tests.contracts.test_shapes import newer, raw, silent
from tests.support.tables import a_game, a_table
from tools.protocol_docs import VECTORS
from wire.codec import Malformed, read_client_message, read_server_message, write
from wire.messages import PROTOCOL, AnyHand, ClientMessage, Join, ServerMessage, SetRules, Update

SHAPES: dict[str, tuple[Any, str]] = {
    "client": (ClientMessage, "9a5daf517f29bc19"),
    "server": (ServerMessage, "c89ec394eb54c5db"),
}
"""What each side says, and the hash of that and of `PROTOCOL`.

Whoever changes a shape reads P13 (docs/protocol.md), which says when the version grows, and puts the new hash here.
"""

VALUES = json.loads(VECTORS.read_text(encoding="utf-8"))["messages"]
UPDATE = Update(n=7, show_at_us=5, events=(CarriedOn(Seat(1), 1),), view=a_game(), table=a_table())
WAVED = {"event": "waved", "seat": 1}


def vectors(side: str) -> list[Any]:
    return [pytest.param(vector, id=vector["json"]["t"]) for vector in VALUES if vector["from"] == side]


def packed(value: Any) -> bytes:
    return msgspec.msgpack.encode(value)


@pytest.mark.parametrize("side", SHAPES)
def test_no_message_changes_without_anybody_thinking_of_the_version(side: str) -> None:
    shape, known = SHAPES[side]
    schema = msgspec.json.encode([PROTOCOL, silent(msgspec.json.schema(shape))], order="deterministic")
    assert hashlib.sha256(schema).hexdigest()[:16] == known


# --- this client and a newer server ------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", vectors("server"))
def test_fields_of_a_newer_server_are_passed_over(vector: dict[str, Any]) -> None:
    frame = bytes.fromhex(vector["msgpack"])
    more = packed(newer(vector["json"]))
    assert more != frame
    assert read_server_message(more) == read_server_message(frame)


def test_a_rule_of_a_newer_server_is_passed_over() -> None:
    told = raw(UPDATE)
    told["table"]["rules"]["fives_too"] = True
    assert read_server_message(packed(told)) == UPDATE


def test_events_of_a_newer_server_are_left_out() -> None:
    told = raw(UPDATE)
    told["events"] = [WAVED, *told["events"], WAVED]
    assert read_server_message(packed(told)) == UPDATE


def test_an_update_of_nothing_but_new_events_does_not_show_the_card_afresh() -> None:
    """P9: a moment and no events would void every hand on the card."""
    told = {**raw(UPDATE), "events": [WAVED]}
    assert read_server_message(packed(told)) == msgspec.structs.replace(UPDATE, events=(), show_at_us=0)


def test_a_kind_of_message_of_a_newer_server_is_none() -> None:
    assert read_server_message(packed({"t": "waved", "seat": 1})) is None


@pytest.mark.parametrize(
    "frame",
    [
        packed({"t": "any_hand", "game": 1}),
        packed({"t": "any_hand", "game": "1", "nth": 1, "more": 1}),
        packed({"t": "update", "n": 1, "show_at_us": 0, "events": [{"event": ["waved"]}, 3]}),
        packed({"t": "update", "n": 1, "show_at_us": 0, "events": {"event": "waved"}}),
        packed({"game": 1}),
        packed([]),
        b"\xc1",
    ],
)
def test_what_is_no_message_of_any_version_is_malformed(frame: bytes) -> None:
    with pytest.raises(Malformed):
        read_server_message(frame)


# --- this client and an older server, an older client and this server ---------------------------------------------


class NewerAnyHand(AnyHand, tag="any_hand"):
    """A message of the server's with a field that an older one does not send."""

    within_us: int = 0


class NewerJoin(Join, tag="join"):
    """A message of the client's with a field that an older one does not send."""

    mood: str = ""


def test_what_an_older_version_says_is_read_where_a_new_field_has_a_default() -> None:
    assert msgspec.convert(raw(AnyHand(1, 2)), NewerAnyHand) == NewerAnyHand(1, 2)
    assert msgspec.convert(raw(Join("Ann", "🦊")), NewerJoin) == NewerJoin("Ann", "🦊")


# --- a newer client and this server ------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", vectors("phone"))
def test_a_field_that_the_server_does_not_know_is_malformed(vector: dict[str, Any]) -> None:
    """P2."""
    with pytest.raises(Malformed, match="what_is_new"):
        read_client_message(packed(newer(vector["json"])))


def test_a_rule_that_the_server_does_not_know_is_malformed() -> None:
    told = raw(SetRules(a_table().rules))
    assert write(read_client_message(packed(told))) == packed(told)
    told["rules"]["fives_too"] = False
    with pytest.raises(Malformed, match="fives_too"):
        read_client_message(packed(told))


def test_a_kind_that_the_server_does_not_know_is_malformed() -> None:
    with pytest.raises(Malformed, match="wave"):
        read_client_message(packed({"t": "wave"}))
