"""Two servers over one Redis, without a proxy: what whoever comes to the wrong one is told (P16), and what both do."""

import asyncio
import json
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import websockets

from clients.sdk import Removed, connect, create_table
from tests.support import serving
from tests.support.serving import TIMEOUT_S, Served, served
from wire.messages import CloseCode

KEY = "k" * 32


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Served]]:
    """Servers called a and b."""
    with ExitStack() as stack:
        url = stack.enter_context(serving.redis(tmp_path_factory.mktemp("store")))
        places = [(name, tmp_path_factory.mktemp(name)) for name in ("a", "b")]
        a, b = (stack.enter_context(served(place, url, module="server", SLAPJACK_NODE=name)) for name, place in places)
        yield a, b


def ask(address: str, method: str = "GET", key: str = "") -> tuple[int, bytes]:
    """The status and the body of an answer."""
    asking = urllib.request.Request(address, method=method, headers={"authorization": f"Bearer {key}"} if key else {})
    with urllib.request.urlopen(asking, timeout=TIMEOUT_S) as answer:
        return answer.status, answer.read()


async def test_p16_the_wrong_server_says_which_is_the_right_one(two: tuple[Served, Served]) -> None:
    a, b = two
    code = await create_table(a.url)
    async with connect(a.url, code, name="Ann") as ann:
        address = b.url.replace("http", "ws")
        for path in (f"/ws/{code}", f"/n/b/ws/{code}", f"/n/a/ws/{code}"):
            async with websockets.connect(f"{address}{path}") as lost:
                await lost.wait_closed()
            assert (lost.close_code, lost.close_reason) == (CloseCode.MOVED, "a")
        assert ann.online
    assert ask(f"{b.url}/api/tables/{code}")[0] == 200, "to look at it, any of them will do"


def test_p16_a_servers_name_before_the_path_changes_nothing(two: tuple[Served, Served]) -> None:
    a, _ = two
    made = json.loads(ask(f"{a.url}/n/a/api/tables", "POST")[1])
    for path in (f"/n/a/api/tables/{made['code']}", "/n/a/healthz"):
        assert ask(f"{a.url}{path}") == ask(f"{a.url}{path.removeprefix('/n/a')}")


async def test_whoever_asks_one_server_to_be_forgotten_leaves_tables_of_the_other(two: tuple[Served, Served]) -> None:
    a, b = two
    code = await create_table(a.url)
    async with connect(a.url, code, name="Ben") as ben, connect(a.url, code, name="Ann", key=KEY) as ann:
        await ben.until(lambda p: len(p.table.seats) == 2)
        status, _ = await asyncio.to_thread(ask, f"{b.url}/api/me", "DELETE", KEY)
        assert status == 204
        async with asyncio.timeout(TIMEOUT_S):
            with pytest.raises(Removed):
                await ann.until(lambda p: False)
            await ben.until(lambda p: p.online and [seat.name for seat in p.table.seats] == ["Ben"])
