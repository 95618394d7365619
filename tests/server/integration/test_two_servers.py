"""Two servers over one Redis, without a proxy: what whoever comes to the wrong one is told (P16), and what both do."""

import asyncio
import json
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import websockets
from redis.asyncio import Redis

from clients.sdk import Removed, connect, create_table
from server.hosting.phone import LOST, SERVICE_RESTART
from tests.support import serving
from tests.support.company import raw
from tests.support.serving import TIMEOUT_S, Served, served, wait_for
from wire.messages import CloseCode, Lock

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


async def test_two_without_a_name_say_so_and_so_does_one_whose_store_was_emptied(tmp_path: Path) -> None:
    with ExitStack() as stack:
        url = stack.enter_context(serving.redis(tmp_path))
        places = [tmp_path / name for name in ("first", "second")]
        for place in places:
            place.mkdir()
        first, second = (stack.enter_context(served(place, url, module="server")) for place in places)
        wait_for(lambda: "another server uses the same Redis" in second.said(), "the second to notice the first")
        assert "SLAPJACK_NODE" not in first.said()
        code = await create_table(first.url)
        async with raw(first.url, code, join="Ann") as ann, Redis.from_url(url) as redis:
            await redis.flushall()
            await ann.say(Lock(True))
            assert await ann.hear_out() == (SERVICE_RESTART, LOST)
        assert "the store has lost what it had acknowledged" in first.said()
