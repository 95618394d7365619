"""One suite for every server a store may run on: each test here runs on all of them."""

from collections.abc import AsyncIterator, Iterator

import pytest
from redis.asyncio import Redis

from server.store.redis import RedisStore
from tests.contracts.calendar import Calendar
from tests.contracts.servers import OwnServer, RedisServer, Server


@pytest.fixture(scope="session", params=[OwnServer, RedisServer])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One running server of each kind."""
    running: Server = request.param(tmp_path_factory.mktemp("store"))
    yield running
    running.stop()


@pytest.fixture
def calendar() -> Calendar:
    """The wall clock of the store."""
    return Calendar()


@pytest.fixture
async def store(server: Server, calendar: Calendar) -> AsyncIterator[RedisStore]:
    """The store over an empty server."""
    async with Redis.from_url(server.url) as redis:
        await redis.flushall()
    opened = RedisStore(server.url, now_s=calendar)
    yield opened
    await opened.close()


@pytest.fixture
async def redis(server: Server) -> AsyncIterator["Redis"]:
    """A way past the store, to what the server holds."""
    async with Redis.from_url(server.url) as client:
        yield client
