"""The second way of writing the same messages: JSON in text frames, for whoever wants to read along (P15)."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import websockets
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import ClientConnection
from websockets.typing import Subprotocol

from clients.sdk import connect, create_table
from tests.support.company import caught_up
from tests.support.serving import Served
from wire.codec import Malformed, as_json, from_json, read_client_message
from wire.frames import frame_of, payload_of
from wire.messages import JSON_SUBPROTOCOL, MAX_FRAME_BYTES, CloseCode

TOO_BIG = 1009
"""A message too big (RFC 6455, section 7.4.1)."""

JOIN = '{"t": "join", "name": "Jay", "face": "🦉"}'


@asynccontextmanager
async def spoken(url: str, code: str, *subprotocols: str) -> AsyncIterator[ClientConnection]:
    address = f"{url.replace('http', 'ws', 1)}/ws/{code}"
    offered = [Subprotocol(name) for name in subprotocols]
    async with websockets.connect(address, compression=None, subprotocols=offered, close_timeout=1) as socket:
        yield socket


async def hear(socket: ClientConnection, kind: str) -> Any:
    """The next message of that kind."""
    while True:
        text = await socket.recv()
        assert isinstance(text, str)
        if (message := json.loads(text))["t"] == kind:
            return message


async def closed(socket: ClientConnection) -> tuple[int | None, str | None]:
    await socket.wait_closed()
    return socket.close_code, socket.close_reason


async def test_two_people_see_the_same_whichever_way_they_are_told(server: Served) -> None:
    """P15: a game between msgpack and JSON, until the JSON side has turned a card."""
    code = await create_table(server.url)
    async with (
        connect(server.url, code, name="Ann") as ann,
        spoken(server.url, code, "other", JSON_SUBPROTOCOL) as jay,
    ):
        assert jay.subprotocol == JSON_SUBPROTOCOL
        await jay.send(JOIN)
        assert (await hear(jay, "welcome"))["code"] == code
        await ann.until(lambda p: len(p.table.seats) == 2)
        ann.start()
        while (view := (await hear(jay, "update"))["view"]) is None:
            pass
        assert view["turned"] == 0
        assert view["turners"] == [1], "the first deal is the host's, so the seat at their left turns"
        await jay.send('{"t": "turn", "game": 1, "nth": 1}')
        while not (told := await hear(jay, "update"))["events"]:
            pass  # the table alone may have changed: somebody's round trip, say
        await ann.until(lambda p: p.top)
        await caught_up(ann)
        assert told["events"][0]["event"] == "card_turned"
        assert ann.top is not None
        assert told["view"]["landed"] == [{"nth": 1, "face": ann.top.face, "seat": 1}]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"\x80", "a binary frame: on this socket messages are JSON in text frames"),
        ("", "not JSON: Input data was truncated"),
        ("[" * MAX_FRAME_BYTES, "not JSON: "),
        (f"{'[' * 2_000}{']' * 2_000}", "not "),
        ('{"t": "sync", "sent_us": 1e3}', "sync: Expected `int`, got `float`"),
        (f'{{"t": "sync", "sent_us": {2**70}}}', "not JSON: can't serialize ints"),
        ('{"t": "sing"}', "no such kind of message: 'sing'"),
        (f'{{"t": "join", "name": "Jay", "face": "{"🦉" * 300}"}}', "not msgpack: "),
    ],
)
async def test_json_is_taken_as_strictly(server: Served, said: str | bytes, why: str) -> None:
    """P2."""
    async with spoken(server.url, await create_table(server.url), JSON_SUBPROTOCOL) as jay:
        await jay.send(said)
        code, reason = await closed(jay)
        assert code == CloseCode.MALFORMED
        assert (reason or "").startswith(why)


async def test_the_limit_of_a_frame_is_the_same(server: Served) -> None:
    """P1."""
    async with spoken(server.url, await create_table(server.url), JSON_SUBPROTOCOL) as jay:
        await jay.send(" " * (MAX_FRAME_BYTES + 1))
        assert (await closed(jay))[0] == TOO_BIG


async def test_who_does_not_ask_for_json_does_not_get_it(server: Served) -> None:
    """P15: unknown names are passed over, and text is then no message (P2)."""
    async with spoken(server.url, await create_table(server.url), "slapjack.xml") as jay:
        assert jay.subprotocol is None
        await jay.send(JOIN)
        assert await closed(jay) == (CloseCode.MALFORMED, "a text frame: messages are msgpack in binary frames")


JSONS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSONS)
def test_nothing_is_lost_between_the_two(value: Any) -> None:
    assert json.loads(as_json(from_json(json.dumps(value).encode()))) == json.loads(json.dumps(value))


@given(
    st.binary(max_size=64) | st.text(max_size=64).map(str.encode) | JSONS.map(lambda value: json.dumps(value).encode())
)
def test_anything_else_is_malformed(text: bytes) -> None:
    """P2: no other error ever leaves the reader."""
    with pytest.raises(Malformed):
        read_client_message(from_json(text))


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
def test_a_frame_gives_its_payload_back(size: int) -> None:
    payload = bytes(size)
    assert payload_of(frame_of(payload)) == payload
    assert payload_of(frame_of(payload, text=True)) == payload
