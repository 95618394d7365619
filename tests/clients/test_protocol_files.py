"""What docs/ holds for machines: fresh, true of the messages, and kept by server and Python client alike.

The web client's tests hold it to the same vectors (clients/web/src/lib/vectors.test.ts)."""

import json
from typing import Any, get_args

import msgspec
import pytest
from jsonschema import Draft202012Validator

from clients.sdk import Exchange, RoomClock
from tools.protocol_docs import PAGE, QUESTIONS, SCHEMA, VECTORS, main, with_bytes, with_figures
from wire.codec import Malformed, as_json, from_json, read_client_message, read_server_message, write
from wire.codes import read_code
from wire.messages import ClientMessage

VALUES = json.loads(VECTORS.read_text(encoding="utf-8"))
MESSAGES = [pytest.param(vector, id=vector["json"]["t"]) for vector in VALUES["messages"]]
VALIDATOR = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_they_are_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err


def test_a_stale_page_is_mended_by_writing_it_again() -> None:
    page = PAGE.read_text(encoding="utf-8")
    stale = page.replace("\njoin\n86 ", "\njoin\n87 ").replace("\nquit\n81 a1 74 a4", "\n")
    assert stale != page
    assert with_bytes(stale) == page
    assert with_bytes(page) == page
    questions = QUESTIONS.read_text(encoding="utf-8")
    assert with_figures(questions.replace("| `wins` | `wins` |", "| `luck` | `luck` |")) == questions


@pytest.mark.parametrize("vector", MESSAGES)
def test_a_message_is_the_same_in_all_its_forms(vector: dict[str, Any]) -> None:
    """P1, P15."""
    frame = bytes.fromhex(vector["msgpack"])
    read = read_client_message if vector["from"] == "phone" else read_server_message
    message = read(frame)
    assert message is not None
    assert write(message) == frame
    assert json.loads(as_json(frame)) == vector["json"]
    assert read(from_json(json.dumps(vector["json"]).encode())) == message


@pytest.mark.parametrize("vector", MESSAGES)
def test_the_schema_takes_every_example(vector: dict[str, Any]) -> None:
    VALIDATOR.validate(vector["json"])
    direction = {"phone": "ClientMessage", "server": "ServerMessage"}[vector["from"]]
    VALIDATOR.evolve(schema={**VALIDATOR.schema, "anyOf": [{"$ref": f"#/$defs/{direction}"}]}).validate(vector["json"])


@pytest.mark.parametrize(("game", "face"), [("chess", "JS"), ("slapjack", "11S"), ("slapjack", "SJ")])
def test_the_schema_knows_the_games_and_the_cards(game: str, face: str) -> None:
    update = next(vector["json"] for vector in VALUES["messages"] if vector["json"]["t"] == "update")
    landed = [{"nth": 17, "face": face, "seat": 1}]
    assert VALIDATOR.is_valid(update)
    assert not VALIDATOR.is_valid({**update, "view": {**update["view"], "game": game, "landed": landed}})


@pytest.mark.parametrize("vector", VALUES["malformed"], ids=lambda vector: vector["what"])
def test_what_is_malformed_is_so_for_all(vector: dict[str, Any]) -> None:
    """P2: the server refuses it, and so does the schema wherever the frame holds a value at all."""
    frame = bytes.fromhex(vector["msgpack"])
    with pytest.raises(Malformed):
        read_client_message(frame)
    try:
        value = msgspec.msgpack.decode(frame)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return
    if vector["what"] in ("a number that is not whole", "bytes for a text", "a key that is a number"):
        return  # JSON has no such thing
    if vector["what"] == "a kind that only the server says":
        assert VALIDATOR.is_valid(value)
    else:
        assert not VALIDATOR.is_valid(value)


@pytest.mark.parametrize("vector", VALUES["codes"], ids=lambda vector: repr(vector["typed"]))
def test_a_code_as_somebody_types_it(vector: dict[str, Any]) -> None:
    """P14."""
    assert read_code(vector["typed"]) == vector["code"]


@pytest.mark.parametrize("vector", VALUES["clocks"], ids=lambda vector: vector["what"])
def test_the_rooms_clock_is_known_as_well_as_it_can_be(vector: dict[str, Any]) -> None:
    """P8."""
    clock = RoomClock()
    for exchange in vector["exchanges"]:
        clock = clock.learned(msgspec.convert(exchange, Exchange))
    assert abs(clock.room_us(vector["now_us"]) - vector["room_us"]) <= vector["within_us"]


def test_the_vectors_have_every_message() -> None:
    told = [vector["json"]["t"] for vector in VALUES["messages"] if vector["from"] == "phone"]
    assert told == [kind.__struct_config__.tag for kind in get_args(ClientMessage)]
