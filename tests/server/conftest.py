"""What the tests of the server share."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from server.store.embedded import EmbeddedStore
from server.store.redis import RedisStore
from tests.server.web import Web


@pytest.fixture(scope="session")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A store server of our own."""
    running = EmbeddedStore(tmp_path_factory.mktemp("store"), fsync="everysec")
    yield running.url
    running.stop()


@pytest.fixture
async def web(store_url: str, tmp_path: Path) -> AsyncIterator[Web]:
    """The application over an empty store."""
    async with Redis.from_url(store_url) as redis, RedisStore(store_url) as store:
        await redis.flushall()
        yield Web(store, redis, tmp_path)
