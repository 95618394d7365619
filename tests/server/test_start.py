"""Start-up as a person sees it: what is said, where it serves, how it ends, and the one line when it cannot start."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import redis
import websockets

from server.serve import SEND_BUFFER_BYTES, UNACKNOWLEDGED_TIMEOUT_MS, CannotStart, RealClock, RealRandomSource, listen
from server.store.embedded import EmbeddedStore
from server.web.lan import invite_origin, near_names
from tests.contracts.servers import RedisServer
from tests.support import serving
from tests.support.serving import PLAIN, ROOT, TIMEOUT_S, wait_for


def environ(folder: Path, **settings: str) -> dict[str, str]:
    """An environment for a server of its own."""
    return {**PLAIN, "SLAPJACK_PORT": "0", "SLAPJACK_DATA": str(folder / "data"), **settings}


def start_in_vain(folder: Path, *arguments: str, **settings: str) -> tuple[int, str]:
    """The exit code and the one line of a start that must fail."""
    ended = subprocess.run(
        [sys.executable, "-m", "server", *arguments],
        cwd=ROOT,
        env=environ(folder, **settings),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith("slapjack: ")
    return ended.returncode, ended.stderr.removeprefix("slapjack: ").rstrip("\n")


class Running:
    """The production server as a process."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self._said = folder / "said"
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "server"],
                cwd=ROOT,
                env=environ(folder, **settings),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
        wait_for(lambda: "Ctrl-C" in self.said() or self.process.poll() is not None, "the server to start")
        assert self.process.poll() is None, self.said()
        found = re.search(r"http://(?:localhost|[\d.]+):(\d+)", self.said())
        assert found is not None
        self.url, self.port = found[0].replace("localhost", "127.0.0.1"), int(found[1])

    def said(self) -> str:
        """All that it has written."""
        return self._said.read_text(encoding="utf-8")

    def end(self, how: signal.Signals) -> int:
        """Its exit code after this signal."""
        self.process.send_signal(how)
        return self.process.wait(TIMEOUT_S)


@contextmanager
def running(folder: Path, **settings: str) -> Iterator[Running]:
    """A server that has ended by the end."""
    server = Running(folder, **settings)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGTERM)


def ask(address: str, method: str = "GET") -> tuple[int, object]:
    """The status and the JSON at an address."""
    with urllib.request.urlopen(urllib.request.Request(address, method=method), timeout=5) as answer:
        return answer.status, json.load(answer)


def test_it_says_where_it_is_and_serves_there(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        assert ask(f"{server.url}/healthz") == (200, {"status": "ok", "tables": 0})
        for near in near_names(server.port):
            assert f" {near}\n" in server.said()
            assert ask(f"{near}/healthz")[0] == 200
        if near_names(server.port):
            assert server.said().count("█") > 100
        if socket.has_dualstack_ipv6():
            assert ask(f"http://[::1]:{server.port}/healthz")[0] == 200


def test_it_says_the_public_address(tmp_path: Path) -> None:
    with running(tmp_path, SLAPJACK_PUBLIC_URL="https://Cards.example/") as server:
        assert "everywhere         https://cards.example\n" in server.said()
        assert "phones near you" not in server.said()
        assert "█" in server.said()


def test_a_terminal_that_cannot_draw_a_code_gets_none(tmp_path: Path) -> None:
    with running(tmp_path, PYTHONIOENCODING="ascii", SLAPJACK_PUBLIC_URL="https://cards.example") as server:
        assert server.said().isascii()
        assert ask(f"{server.url}/healthz")[0] == 200


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
async def test_it_ends_in_peace_with_people_at_the_table(tmp_path: Path, how: signal.Signals) -> None:
    with running(tmp_path) as server:
        _, made = ask(f"{server.url}/api/tables", "POST")
        assert isinstance(made, dict)
        async with websockets.connect(f"ws://127.0.0.1:{server.port}/ws/{made['code']}") as phone:
            began = time.monotonic()
            server.process.send_signal(how)
            await phone.wait_closed()
        assert server.process.wait(TIMEOUT_S) == 0
        assert time.monotonic() - began < 10
        assert server.said().endswith("tables and scores are kept.\n\n")
    # The store has ended in peace as well: its folder is free, and what it was told is there.
    store = EmbeddedStore(tmp_path / "data", fsync="everysec")
    assert "ready to exit" in store.log.read_text()
    with closing(redis.Redis.from_url(store.url)) as client:
        assert client.exists(f"slapjack:{{{made['code']}}}:table")
    store.stop()


def test_a_killed_server_leaves_its_table_to_the_next(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        _, made = ask(f"{server.url}/api/tables", "POST")
        assert isinstance(made, dict)
        server.end(signal.SIGKILL)
    with running(tmp_path) as server:
        assert ask(f"{server.url}/api/tables/{made['code']}")[0] == 200


def test_a_store_that_dies_comes_back_while_people_play(tmp_path: Path) -> None:
    with running(tmp_path, **serving.ROOMY) as server:
        with closing(redis.Redis.from_url(f"unix://{tmp_path / 'data' / 'store.sock'}")) as client:
            os.kill(pid := client.info("server")["process_id"], signal.SIGKILL)
        wait_for(lambda: not Path(f"/proc/{pid}").exists(), "the store to be gone")
        answers: list[int] = []

        def makes_tables() -> bool:
            try:
                answers.append(ask(f"{server.url}/api/tables", "POST")[0])
            except urllib.error.HTTPError as answer:
                answers.append(answer.code)
            return answers[-1] == 201

        wait_for(makes_tables, "the store to be back")
        assert set(answers) <= {201, 503}
        assert "Traceback" not in server.said()


def test_tables_are_kept_in_a_given_redis(tmp_path: Path) -> None:
    with serving.redis(tmp_path) as url, running(tmp_path, REDIS_URL=url) as server:
        _, made = ask(f"{server.url}/api/tables", "POST")
        assert isinstance(made, dict)
        with closing(redis.Redis.from_url(url)) as client:
            assert client.exists(f"slapjack:{{{made['code']}}}:table")
        assert not (tmp_path / "data").exists()


def test_a_taken_port(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        code, line = start_in_vain(tmp_path / "other", SLAPJACK_PORT=str(server.port))
        assert (code, line) == (
            1,
            f"port {server.port} is taken: stop what uses it, or choose another with SLAPJACK_PORT",
        )
        assert not (tmp_path / "other").exists()


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="a machine without IPv6")
def test_a_port_that_is_taken_for_ipv6_only(tmp_path: Path) -> None:
    with socket.create_server(("::", 0), family=socket.AF_INET6) as taken:
        port = taken.getsockname()[1]
        assert start_in_vain(tmp_path, SLAPJACK_PORT=str(port))[1].startswith(f"port {port} is taken")


def test_a_second_start_on_the_same_data(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        code, line = start_in_vain(tmp_path)
        assert (code, line) == (1, f"the data folder {tmp_path / 'data'} is in use by another Slapjack server")
        assert ask(f"{server.url}/api/tables", "POST")[0] == 201


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    code, line = start_in_vain(tmp_path)
    assert (code, line) == (1, f"cannot write to the data folder {tmp_path / 'data'}: File exists")


def test_a_redis_that_does_not_answer(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code, line = start_in_vain(tmp_path, REDIS_URL=f"redis://:secret@127.0.0.1:{port}/0")
    assert code == 1
    assert line.startswith(f"the store at redis://127.0.0.1:{port}/0 does not answer: ")
    assert "secret" not in line


def test_a_setting_that_cannot_be_used(tmp_path: Path) -> None:
    code, line = start_in_vain(tmp_path, SLAPJACK_PORT="eight")
    assert (code, line) == (2, "SLAPJACK_PORT is 'eight', but must be a whole number from 0 to 65535")


def test_it_listens_for_both_kinds_of_address_and_cuts_off_who_does_not_acknowledge() -> None:
    sockets = listen(0)
    assert len({each.getsockname()[1] for each in sockets}) == 1
    assert [each.family for each in sockets] == [socket.AF_INET, socket.AF_INET6][: len(sockets)]
    for each in sockets:
        with each, socket.create_connection(each.getsockname()[:2]), each.accept()[0] as accepted:
            buffer_bytes = accepted.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
            # Linux doubles what it is asked for, for its own book-keeping.
            assert buffer_bytes in (SEND_BUFFER_BYTES, 2 * SEND_BUFFER_BYTES)
            if sys.platform == "linux":
                cut_ms = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
                assert cut_ms == UNACKNOWLEDGED_TIMEOUT_MS


def test_time_moves_on_and_luck_does_not_repeat() -> None:
    clock, rng = RealClock(), RealRandomSource()
    before_us = clock.now_us()
    draws = [rng.draw() for _ in range(100)]
    assert before_us <= clock.now_us() < before_us + 60_000_000
    assert len(set(draws)) == 100
    assert {len(draw) for draw in draws} == {32}


def test_it_listens_on_one_address_alone(tmp_path: Path) -> None:
    with running(tmp_path, SLAPJACK_HOST="127.0.0.2") as server:
        assert ask(f"http://127.0.0.2:{server.port}/healthz")[0] == 200
        with pytest.raises(OSError, match="refused"):
            ask(f"http://127.0.0.1:{server.port}/healthz")


def test_an_address_of_another_machine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=r"SLAPJACK_HOST is 198\.51\.100\.1, which is no address of this machine"):
        listen(0, "198.51.100.1")


def test_an_invitation_names_what_a_phone_can_reach() -> None:
    """`localhost` is another machine on every phone."""
    assert invite_origin("example.org:8443", "https", "") == "https://example.org:8443"
    assert invite_origin("localhost:8000", "http", "https://cards.example") == "https://cards.example"
    assert invite_origin("localhost.example:8000", "http", "") == "http://localhost.example:8000"
    for host in ("localhost:8000", "LocalHost:8000", "127.0.0.1:8000", "[::1]:8000"):
        expected = next(iter(near_names(8000)), f"http://{host}")
        assert invite_origin(host, "http", "") == expected


# --- several of them ---------------------------------------------------------------------------------------------


def test_a_name_that_another_server_has(tmp_path: Path) -> None:
    with (
        serving.redis(tmp_path, "--appendfsync", "always") as url,
        running(tmp_path, REDIS_URL=url, SLAPJACK_NODE="node-1") as server,
    ):
        code, line = start_in_vain(tmp_path / "other", REDIS_URL=url, SLAPJACK_NODE="node-1")
        assert (code, line) == (1, "another server is called node-1: give each its own name with SLAPJACK_NODE")
        assert ask(f"{server.url}/api/tables", "POST")[0] == 201


def test_a_server_that_was_killed_has_its_name_back_at_once_or_soon(tmp_path: Path) -> None:
    with serving.redis(tmp_path) as url:
        with running(tmp_path, REDIS_URL=url, SLAPJACK_NODE="node-1") as server:
            server.end(signal.SIGKILL)
        with running(tmp_path, REDIS_URL=url, SLAPJACK_NODE="node-1") as server:
            assert server.end(signal.SIGTERM) == 0
        with closing(redis.Redis.from_url(url)) as client:
            assert not client.exists("slapjack:node:node-1"), "one that ends in peace leaves no lease behind"


def test_a_server_whose_lease_cannot_be_read_ends_in_peace(tmp_path: Path) -> None:
    with serving.redis(tmp_path) as url, running(tmp_path, REDIS_URL=url, SLAPJACK_NODE="node-1") as server:
        with closing(redis.Redis.from_url(url)) as client:
            client.delete("slapjack:node:node-1")
            client.rpush("slapjack:node:node-1", "not ours")
        assert server.end(signal.SIGTERM) == 0


async def test_a_server_that_stops_hands_its_tables_over_and_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    with serving.redis(tmp_path) as url, running(tmp_path, REDIS_URL=url, SLAPJACK_NODE="node-1") as server:
        _, made = ask(f"{server.url}/api/tables", "POST")
        assert isinstance(made, dict)
        async with websockets.connect(f"ws://127.0.0.1:{server.port}/n/node-1/ws/{made['code']}") as phone:
            with closing(redis.Redis.from_url(url)) as client:
                wait_for(lambda: client.hget(f"slapjack:{{{made['code']}}}:marks", "owner"), "the table to be awake")
                server.process.send_signal(signal.SIGTERM)
                await phone.wait_closed()
                assert phone.close_code == 1012
                assert client.hget(f"slapjack:{{{made['code']}}}:marks", "owner") is None
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(TIMEOUT_S) == 0


def test_a_redis_with_another_password(tmp_path: Path) -> None:
    store = RedisServer(tmp_path)
    try:
        code, line = start_in_vain(tmp_path, REDIS_URL=store.url.replace("secret", "guess"), SLAPJACK_NODE="node-1")
    finally:
        store.stop()
    assert code == 1
    assert line.startswith(f"the store at {store.url.replace(':secret@', '')} does not let us in: ")
    assert "guess" not in line


@pytest.mark.skipif(sys.platform != "linux", reason="other systems call it otherwise")
def test_among_servers_the_clock_goes_on_while_the_machine_sleeps() -> None:
    """Their leases do as well. A server alone goes on where it was."""
    for through_sleep, clock in ((True, time.CLOCK_BOOTTIME), (False, time.CLOCK_MONOTONIC)):
        before_us = time.clock_gettime_ns(clock) // 1000
        now_us = RealClock(through_sleep=through_sleep).now_us()
        assert before_us <= now_us <= time.clock_gettime_ns(clock) // 1000
