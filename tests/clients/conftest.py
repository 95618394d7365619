"""Servers that the clients are tried on, one for all tests of a page."""

from collections.abc import Iterator

import pytest

from tests.support.serving import Served, served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One whose deck has the Jacks last, and whose clock may jump."""
    with served(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def jacks_soon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One that has cards to slap among its first."""
    with served(tmp_path_factory.mktemp("jacks_soon"), module="tests.clients.jacks_soon") as running:
        yield running
