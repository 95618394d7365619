"""The proxy's configuration, in a real HAProxy before nodes that only say who they are and what they were asked."""

import http.client
import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.support.serving import wait_for
from tools.cluster import CONFIG, NODES, Proxy
from tools.ports import lasting_port


class Listener(ThreadingHTTPServer):
    """A server that does not mind when whoever asked has gone before the answer, as proxies do."""

    def handle_error(self, *_: object) -> None:
        """Says nothing."""


class Node:
    """A server that answers with its name, the headers it got, and the port at the other end of the connection.

    `ready` is what it says to the proxy; while it is `full` everything that people ask gets 503. `asked` counts that.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.ready = True
        self.full = False
        self.asked = 0
        self._port = lasting_port()
        self.start()

    @property
    def port(self) -> int:
        """Where it listens, after another start as well."""
        return self._port

    def start(self) -> None:
        """Listens."""
        node = self

        class Answers(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                well = node.ready if self.path == "/readyz" else not node.full
                node.asked += self.path != "/readyz"
                headers = {name.lower(): text for name, text in self.headers.items()}
                said = {"node": node.name, "path": self.path, "headers": headers, "from": self.client_address[1]}
                answer = json.dumps(said).encode()
                self.send_response(200 if well else 503)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = Listener(("127.0.0.1", self._port), Answers)
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        """Is gone."""
        self._server.shutdown()
        self._server.server_close()


class House:
    """Three nodes and the proxy before them."""

    def __init__(self, folder: Path) -> None:
        self.nodes = {name: Node(name) for name in NODES}
        self.proxy = Proxy(folder)
        self.proxy.start({name: node.port for name, node in self.nodes.items()})

    def ask(
        self, path: str, headers: Mapping[str, str] | None = None, *, behind: bool = False, method: str = "GET"
    ) -> dict[str, Any]:
        """What the node that was asked says."""
        url = self.proxy.url_behind if behind else self.proxy.url
        request = urllib.request.Request(url + path, headers=dict(headers or {}), method=method)
        with urllib.request.urlopen(request, timeout=5) as it:
            said: dict[str, Any] = json.load(it)
            return said

    def refusal(self, path: str) -> tuple[int, str]:
        """The status and the text that the proxy answers with by itself."""
        with pytest.raises(urllib.error.HTTPError) as refused:
            self.ask(path)
        with refused.value as answer:
            return answer.code, answer.read().decode()

    def node_of(self, path: str) -> str:
        """Which node is asked."""
        return str(self.ask(path)["node"])

    def nodes_of_page(self, phone: int) -> set[str]:
        """Which nodes are asked for the page and its parts by somebody who is not from here."""
        comes_from = {"X-Forwarded-For": f"203.0.113.{phone}"}
        parts = ("/", "/assets/index-1.js", "/K7WQ2M", "/assets/index-2.css", "/api/me")
        return {str(self.ask(path, comes_from, behind=True)["node"]) for path in parts}

    def refuse(self, *names: str) -> None:
        """Nodes say that they take nobody new, and the proxy has heard it."""
        for name in names:
            self.nodes[name].ready = False
        wait_for(lambda: not any(map(self.proxy.uses, names)), f"the proxy to leave {names} alone")

    def accept(self, *names: str) -> None:
        """They take people again."""
        for name in names:
            self.nodes[name].ready = True
        wait_for(lambda: all(map(self.proxy.uses, names)), f"the proxy to use {names}")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    house = House(tmp_path_factory.mktemp("proxy"))
    yield house
    house.proxy.end()
    for node in house.nodes.values():
        node.stop()


def test_the_configuration_is_valid() -> None:
    checked = subprocess.run(["haproxy", "-c", "-f", str(CONFIG)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_tables_are_spread_and_each_has_one_node(house: House) -> None:
    codes = [f"A{nth:05}" for nth in range(60)]
    first = {code: house.node_of(f"/ws/{code}") for code in codes}
    assert set(first.values()) == set(NODES)
    assert {code: house.node_of(f"/ws/{code.lower()}") for code in codes} == first


def test_a_page_and_its_parts_are_of_one_node_and_people_are_spread(house: House) -> None:
    """While one node after the other is upgraded, no node has the parts of another's page."""
    asked = [house.nodes_of_page(phone) for phone in range(30)]
    assert {len(nodes) for nodes in asked} == {1}
    assert set.union(*asked) == set(NODES)


def test_a_room_stays_where_it_went_when_its_first_node_is_back(house: House) -> None:
    codes = [f"B{nth:05}" for nth in range(20)]
    before = {code: house.node_of(f"/ws/{code}") for code in codes}
    house.refuse("b")
    moved = {code: house.node_of(f"/ws/{code}") for code in codes}
    assert "b" not in moved.values()
    assert all(moved[code] == node for code, node in before.items() if node != "b")
    house.accept("b")
    assert {code: house.node_of(f"/ws/{code}") for code in codes} == moved


def test_a_node_asked_for_by_name_is_remembered(house: House) -> None:
    """So that the next phone finds the room at once."""
    first = house.node_of("/ws/C00001")
    other = next(name for name in NODES if name != first)
    said = house.ask(f"/n/{other}/ws/C00001")
    assert (said["node"], said["path"]) == (other, f"/n/{other}/ws/C00001")
    assert house.node_of("/ws/C00001") == other


def test_a_node_that_is_not_there_is_another(house: House) -> None:
    house.refuse("a")
    assert house.node_of("/n/a/ws/D00001") != "a"
    house.accept("a")
    assert house.node_of("/n/nobody/ws/D00002") in NODES


def test_no_node_is_asked_twice_over_one_connection(house: House) -> None:
    """It might close it in between."""
    phone = http.client.HTTPConnection("127.0.0.1", house.proxy.port, timeout=5)
    said = []
    for _ in range(3):
        phone.request("GET", "/")
        said.append(json.load(phone.getresponse()))
    phone.close()
    assert len({each["node"] for each in said}) == 1
    assert len({each["from"] for each in said}) == 3


def test_nobody_meets_a_node_that_has_just_died(house: House) -> None:
    """Before its health check has failed."""
    codes = [f"E{nth:05}" for nth in range(200)]
    where = {code: house.node_of(f"/ws/{code}") for code in codes[:30]}
    house.nodes["c"].stop()
    assert "c" not in [house.node_of(f"/ws/{code}") for code in where]
    assert "c" not in [house.node_of(f"/ws/{code}") for code in codes[30:60]]
    wait_for(lambda: not house.proxy.uses("c"), "the proxy to see that it is gone")
    house.nodes["c"].start()
    house.accept("c")


def test_a_table_is_made_where_there_is_place_for_it(house: House) -> None:
    house.nodes["a"].full = house.nodes["b"].full = True
    assert {house.ask("/api/tables", method="POST")["node"] for _ in range(9)} == {"c"}
    # Nothing else is asked twice.
    before = sum(node.asked for node in house.nodes.values())
    status, _ = house.refusal("/n/a/ws/G00001")
    assert (status, sum(node.asked for node in house.nodes.values())) == (503, before + 1)
    house.nodes["a"].full = house.nodes["b"].full = False


def test_where_somebody_comes_from_is_what_the_proxy_sees(house: House) -> None:
    forged = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "Forwarded": "for=203.0.113.9"}
    headers = house.ask("/ws/F00001", forged)["headers"]
    assert headers["x-forwarded-for"] == "127.0.0.1"
    assert headers["x-forwarded-proto"] == "http"
    assert "forwarded" not in headers


def test_a_proxy_in_front_is_believed_about_the_last_step_alone(house: House) -> None:
    said = {"X-Forwarded-For": "203.0.113.9, 198.51.100.7", "X-Forwarded-Proto": "https"}
    headers = house.ask("/", said, behind=True)["headers"]
    assert headers["x-forwarded-for"] == "198.51.100.7"
    assert headers["x-forwarded-proto"] == "https"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a machine has one address for itself")
def test_nobody_else_reaches_the_port_that_is_believed(house: House) -> None:
    """Of a cluster on one machine: in containers nobody publishes it."""
    ports = [int(url.rpartition(":")[2]) for url in (house.proxy.url, house.proxy.url_behind)]
    socket.create_connection(("127.0.0.2", ports[0]), timeout=5).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", ports[1]), timeout=5)


@pytest.mark.parametrize("path", ["/metrics", "/readyz", "/n/a/metrics", "/%6detrics", "/n/a/read%79z", "/metrics/"])
def test_what_is_for_the_operator_is_not_for_phones(house: House, path: str) -> None:
    assert house.refusal(path)[0] == 404


def test_where_none_is_ready_all_are_asked_and_nothing_is_remembered_of_it(house: House) -> None:
    codes = [f"H{nth:05}" for nth in range(20)]
    before = {code: house.node_of(f"/ws/{code}") for code in codes}
    house.refuse(*NODES)
    assert set.union(*map(house.nodes_of_page, range(20))) == set(NODES)
    assert {house.node_of(f"/ws/I{nth:05}") for nth in range(20)} == set(NODES)
    for code in codes:
        house.node_of(f"/ws/{code}")
    house.accept(*NODES)
    assert {code: house.node_of(f"/ws/{code}") for code in codes} == before


def test_with_no_node_at_all_people_are_told_to_wait(house: House) -> None:
    for node in house.nodes.values():
        node.stop()
    status, text = house.refusal("/")
    assert status == 503
    assert "comes back by itself" in text
    for node in house.nodes.values():
        node.start()
    wait_for(lambda: all(map(house.proxy.uses, NODES)), "the proxy to use all of them")
    assert house.node_of("/") in NODES


def test_one_source_has_so_many_connections_and_silent_ones_go(house: House) -> None:
    port = int(house.proxy.url.rpartition(":")[2])
    silent = [socket.create_connection(("127.0.0.1", port), source_address=("127.0.0.9", 0)) for _ in range(220)]
    try:
        wait_for(lambda: sum(map(_has_ended, silent)) >= 20, "those that are too many to be hung up on")
        assert sum(map(_has_ended, silent)) == 20
        with socket.create_connection(("127.0.0.1", port), source_address=("127.0.0.10", 0)) as other:
            other.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert other.recv(12) == b"HTTP/1.1 200"
        wait_for(lambda: all(_has_ended(each) for each in silent[:5]), "the silent ones to be gone")
    finally:
        for each in silent:
            each.close()


def _has_ended(line: socket.socket) -> bool:
    """Whether the other side has hung up."""
    line.setblocking(False)
    try:
        while line.recv(4096):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        pass
    return True
