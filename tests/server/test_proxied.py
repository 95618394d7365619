"""Whose word is taken about where somebody comes from: the limits for each household show it."""

import socket
from collections.abc import Iterator

import httpx
import pytest

from tests.support.serving import Served, served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that gives each household one table, and trusts a proxy on this machine."""
    with served(
        tmp_path_factory.mktemp("proxied"),
        SLAPJACK_TABLES_PER_MINUTE="1",
        SLAPJACK_TRUSTED_PROXIES="10.0.0.0/8,127.0.0.1,::1",
    ) as running:
        yield running


def statuses(server: Served, proxy: str, *came_from: str) -> list[int]:
    """The answers to a wish for a table that comes from `proxy`, with each of these as `X-Forwarded-For`."""
    url = server.url.replace("127.0.0.1", "[::1]") if ":" in proxy else server.url
    with httpx.Client(transport=httpx.HTTPTransport(local_address=proxy)) as client:
        return [client.post(f"{url}/api/tables", headers={"X-Forwarded-For": each}).status_code for each in came_from]


def test_a_trusted_proxy_says_where_people_come_from(server: Served) -> None:
    """Reliability 17."""
    assert statuses(server, "127.0.0.1", "203.0.113.1", "203.0.113.1", "203.0.113.2") == [201, 429, 201]
    assert statuses(server, "127.0.0.1", "2001:db8::1", "2001:db8::ff:2", "2001:db8:0:1::1") == [201, 429, 201]
    # What a phone wrote itself stands before what the last proxy that is trusted has seen.
    assert statuses(server, "127.0.0.1", "203.0.113.3, 203.0.113.1", "203.0.113.4, 203.0.113.5, 10.1.2.3") == [429, 201]
    assert statuses(server, "127.0.0.1", "203.0.113.5") == [429]


def test_what_is_no_address_is_one_client_network(server: Served) -> None:
    assert statuses(server, "127.0.0.1", "nobody-1", "nobody-2", "[", "x" * 200) == [201, 429, 429, 429]


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="there is no IPv6 here")
def test_so_does_a_tunnel_that_takes_the_other_localhost(server: Served) -> None:
    """Where a name leads to both, programs go to `::1` first."""
    assert statuses(server, "::1", "203.0.113.11", "203.0.113.11", "203.0.113.12") == [201, 429, 201]


def test_nobody_else_is_believed(server: Served) -> None:
    """Reliability 17."""
    assert statuses(server, "127.0.0.2", "203.0.113.101", "203.0.113.102", "127.0.0.1", "10.0.0.1") == [201, *[429] * 3]


def test_a_trusted_proxy_says_whether_people_come_by_https(server: Served) -> None:
    """Only then may a browser keep their secret for HTTPS alone."""

    def cookie(proxy: str) -> str:
        with httpx.Client(transport=httpx.HTTPTransport(local_address=proxy)) as client:
            headers = {"X-Forwarded-For": "203.0.113.201", "X-Forwarded-Proto": "https"}
            return client.post(f"{server.url}/api/me", headers=headers).headers["set-cookie"].lower()

    assert "; secure" in cookie("127.0.0.1")
    assert "; secure" not in cookie("127.0.0.2")
