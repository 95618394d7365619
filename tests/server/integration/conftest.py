"""One server for all these tests over each kind of store, since starting one for each would be most of the time."""

from collections.abc import Iterator

import pytest

from tests.support.serving import Served, redis, served


@pytest.fixture(scope="session", params=["embedded", "redis"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What `REDIS_URL` is set to: nothing for the server's own store, or a real redis-server."""
    if request.param == "embedded":
        yield ""
    else:
        with redis(tmp_path_factory.mktemp("redis")) as url:
            yield url


@pytest.fixture(scope="session")
def server(store: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running server that every test may open tables on."""
    with served(tmp_path_factory.mktemp("server"), store) as running:
        yield running
