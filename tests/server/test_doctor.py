"""`slapjack doctor`: each thing it looks at, well and unwell, and what it says to do."""

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from server.base.ports import Clock
from server.base.settings import Settings, read_settings
from server.ops import doctor
from server.ops.doctor import Finding, findings, in_words, look_at_store
from server.serve import RealClock, listen
from server.store.embedded import NoServerBinary
from tests.support import serving
from tests.support.serving import Served, served
from tools.ports import lasting_port


def settings(folder: Path, **environ: str) -> Settings:
    return read_settings({"SLAPJACK_DATA": str(folder / "data"), **environ})


def found(one: Settings, what: str, clock: Clock | None = None) -> Finding:
    return next(finding for finding in findings(one, clock or RealClock(), listen) if finding.what == what)


class Slow(Clock):
    """A clock on which every wait takes four times as long."""

    def __init__(self) -> None:
        self._now_us = 0

    def now_us(self) -> int:
        self._now_us += 20_000
        return self._now_us


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    with served(folder) as running:
        yield running


# --- the store ---------------------------------------------------------------------------------------------------


async def test_a_store_of_ones_own_is_to_be_had(tmp_path: Path) -> None:
    finding = await look_at_store(settings(tmp_path))
    assert finding.good
    assert f"in {tmp_path / 'data'}, kept by" in finding.told
    assert not (tmp_path / "data").exists(), "it only looks"


async def test_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    finding = await look_at_store(settings(tmp_path))
    assert (finding.good, finding.told) == (False, f"{tmp_path / 'data'} is no folder")
    assert "SLAPJACK_DATA" in finding.advice


async def test_a_folder_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    finding = await look_at_store(settings(tmp_path))
    assert (finding.good, finding.told) == (False, f"cannot write to {tmp_path}")
    assert "SLAPJACK_DATA" in finding.advice


async def test_no_server_to_keep_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise NoServerBinary("no store: install redis-server")

    monkeypatch.setattr(doctor, "find_binary", nowhere)
    finding = await look_at_store(settings(tmp_path))
    assert (finding.good, finding.told) == (False, "no store: install redis-server")


async def test_a_redis_that_does_not_answer(tmp_path: Path) -> None:
    finding = await look_at_store(settings(tmp_path, REDIS_URL=f"redis://:secret@127.0.0.1:{lasting_port()}/0"))
    assert finding.good is False
    assert "does not answer" in finding.told
    assert "secret" not in finding.told
    assert "REDIS_URL" in finding.advice


async def test_a_redis_that_forgets(tmp_path: Path) -> None:
    with serving.redis(tmp_path, "--appendfsync", "always") as url:
        assert (await look_at_store(settings(tmp_path, REDIS_URL=url))).good
        with closing(redis.Redis.from_url(url)) as client:
            client.config_set("appendonly", "no")
        finding = await look_at_store(settings(tmp_path, REDIS_URL=url))
        assert finding.good is None
        assert "forgets all when it ends" in finding.told


@pytest.mark.usefixtures("server")
async def test_the_store_of_a_running_server(folder: Path) -> None:
    finding = await look_at_store(settings(folder))
    assert finding.good
    assert finding.told.endswith("it is running")


# --- the port ----------------------------------------------------------------------------------------------------


def test_a_free_port(tmp_path: Path) -> None:
    port = str(lasting_port())
    assert found(settings(tmp_path, SLAPJACK_PORT=port), "port") == Finding(True, "port", f"{port} is free")
    assert found(settings(tmp_path, SLAPJACK_PORT="0"), "port").good


def test_a_port_that_something_else_has(tmp_path: Path) -> None:
    with socket.create_server(("", 0)) as taken:
        finding = found(settings(tmp_path, SLAPJACK_PORT=str(taken.getsockname()[1])), "port")
    assert finding.good is False
    assert "is taken" in finding.told
    assert "SLAPJACK_PORT" in finding.told


def test_a_port_that_a_server_has(server: Served, tmp_path: Path) -> None:
    port = server.url.rpartition(":")[2]
    finding = found(settings(tmp_path, SLAPJACK_PORT=port), "port")
    assert finding.good
    assert f"serves at {port} already, with 0 tables" in finding.told


# --- page, addresses, clock --------------------------------------------------------------------------------------


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PAGE", tmp_path)
    one = settings(tmp_path, SLAPJACK_PORT=str(lasting_port()))
    finding = found(one, "page")
    assert (finding.good, finding.advice) == (False, "`make web` builds it, or install it again")
    (tmp_path / "index.html").touch()
    assert found(one, "page").good


def test_addresses(server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "why_not_near", lambda: "")
    monkeypatch.setattr(
        doctor, "near_names", lambda port, _: [f"http://192.168.1.20:{port}", f"http://box.local:{port}"]
    )
    port = str(lasting_port())
    home = settings(tmp_path, SLAPJACK_PORT=port)
    assert found(home, "near") == Finding(
        True, "near", f"try http://192.168.1.20:{port}, or http://box.local:{port} on a phone in the same network"
    )
    assert found(home, "far").good is None
    monkeypatch.setattr(doctor, "why_not_near", lambda: "this machine is on no network: join one")
    monkeypatch.setattr(doctor, "near_names", lambda port, _: [])
    assert found(home, "near") == Finding(
        None, "near", "phones find no way to this machine", "this machine is on no network: join one"
    )
    served_at = server.url.rpartition(":")[2]
    for public, good in ((f"http://127.0.0.1:{served_at}", None), (f"http://127.0.0.1:{port}", False)):
        assert found(settings(tmp_path, SLAPJACK_PORT=served_at, SLAPJACK_PUBLIC_URL=public), "far").good is good
    untried = settings(tmp_path, SLAPJACK_PORT=port, SLAPJACK_PUBLIC_URL="https://cards.example")
    assert found(untried, "far") == Finding(True, "far", "https://cards.example can be tried once the server runs")


def test_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = settings(tmp_path, SLAPJACK_PORT=str(lasting_port()))
    assert found(one, "clock").good is not False
    monkeypatch.setattr("time.sleep", lambda _: None)
    late = found(one, "clock", Slow())
    assert late.good is None, "20 ms for a wait of 5"
    coarse: Any = type("Info", (), {"resolution": 0.016})
    monkeypatch.setattr("time.get_clock_info", lambda _: coarse)
    assert found(one, "clock", Slow()).told == "moves in steps of 16 ms"


def test_it_is_told_in_lines() -> None:
    well, look, bad = (
        Finding(True, "store", "is there", "never said"),
        Finding(None, "far", "nobody comes", "do this"),
        Finding(False, "port", "is taken", "do that"),
    )
    assert in_words([well, look]).splitlines() == [
        "  ok    store  is there",
        "  look  far    nobody comes",
        "               → do this",
        "All is well.",
    ]
    assert in_words([bad]).splitlines()[-1] == "One thing keeps people from playing."
    assert in_words([bad, bad]).splitlines()[-1] == "2 things keep people from playing."
