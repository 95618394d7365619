"""What whoever runs a server can see of it: whether it is ready, what it has counted, what it writes down."""

import asyncio
import json
import logging
import re
import sys
import urllib.request
from pathlib import Path

import httpx
import pytest

from engine.rules import Rules
from server.base import meters
from server.base.logs import JsonLines, about
from server.base.settings import Settings
from server.hosting.cluster import Node
from server.store.redis import RedisStore
from server.web.app import build_app
from tests.server.web import Web
from tests.server.world import Table
from tests.support.company import company, raw
from tests.support.serving import Served, served, wait_for
from wire.messages import RejectReason, SetHandicap, SetRules, Shown, Stage

FAMILY = re.compile(
    r"# HELP (slapjack_[a-z_]+) [^\n]+\n# TYPE \1 (counter|gauge|histogram)\n(?:\1[a-z_]*(?:\{[^}\n]*\})? [-+.e\d]+\n)+"
)
"""What Prometheus reads (its text-based format, version 0.0.4)."""


def read(text: str) -> dict[str, float]:
    """Every sample by its name and labels."""
    return {name: float(value) for name, value in re.findall(r"^(slapjack_\S+) (\S+)$", text, re.MULTILINE)}


def counted(server: Served) -> dict[str, float]:
    """What a server has counted."""
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=5) as answer:
        return read(answer.read().decode())


# --- ready or not ------------------------------------------------------------------------------------------------


async def ask(web: Web, path: str, *, node: Node | None = None, draining: bool = False) -> httpx.Response:
    """The answer of a server in that state."""
    app = build_app(web.store, web, web.rng, Settings(data=web.data), node)
    app.state.host.draining = draining
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://table.local") as client:
        return await client.get(path)


async def test_a_server_that_serves_is_ready(web: Web) -> None:
    answer = await ask(web, "/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


async def test_a_server_that_hands_its_tables_over_is_not_ready_but_healthy(web: Web) -> None:
    answer = await ask(web, "/readyz", draining=True)
    assert (answer.status_code, answer.json()["error"]) == (503, "not_now")
    assert (await ask(web, "/healthz", draining=True)).status_code == 200


async def test_a_server_is_ready_while_it_has_its_lease(web: Web) -> None:
    node = Node("a", web.store.nodes, web, web.rng)
    assert (await ask(web, "/readyz", node=node)).status_code == 503
    await node.take()
    assert (await ask(web, "/readyz", node=node)).status_code == 200
    web.time_us += 3_000_000
    assert (await ask(web, "/readyz", node=node)).status_code == 503


async def test_a_server_without_its_store_is_not_ready_but_healthy(web: Web, tmp_path: Path) -> None:
    async with RedisStore(f"unix://{tmp_path}/nowhere.sock") as web.store:
        answer = await ask(web, "/readyz")
        assert (answer.status_code, answer.json()["error"]) == (503, "store_down")
        assert (await ask(web, "/healthz")).status_code == 200


async def test_a_server_whose_background_fails_is_not_ready(web: Web) -> None:
    app = build_app(web.store, web, web.rng, Settings(data=web.data))

    async def stumble() -> None:
        raise RuntimeError("it stumbled")

    logging.getLogger("slapjack.background").setLevel(logging.CRITICAL)
    background = app.state.host.background
    background.keep_running("walking", stumble)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://table.local") as client:
        answer = await client.get("/readyz")
    await background.finish()
    assert (answer.status_code, answer.json()["error"]) == (503, "failing")
    assert "walking" in answer.json()["text"]


# --- counted -----------------------------------------------------------------------------------------------------


def in_all(name: str) -> float:
    """What this process has counted."""
    return meters.REGISTRY.get_sample_value(f"slapjack_{name}") or 0.0


async def test_what_is_counted_can_be_read_by_prometheus(web: Web) -> None:
    node = Node("a", web.store.nodes, web, web.rng)
    await node.take()
    answer = await ask(web, "/metrics", node=node)
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert FAMILY.sub("", answer.text) == ""
    samples = read(answer.text)
    assert len(samples) == len(re.findall(r"^slapjack_", answer.text, re.MULTILINE))
    assert samples["slapjack_lease_held"] == samples["slapjack_leases_taken_total"] == 1
    for name in ("verdict_wait", "keep"):
        buckets = [value for key, value in samples.items() if key.startswith(f"slapjack_{name}_seconds_bucket")]
        assert buckets == sorted(buckets)
        assert buckets[-1] == samples[f'slapjack_{name}_seconds_bucket{{le="+Inf"}}']
        assert buckets[-1] == samples[f"slapjack_{name}_seconds_count"]


def test_hands_that_are_corrected_or_come_too_late_are_counted() -> None:
    """Both claim more than their lines bear out; Ann has a handicap, and Ben's page holds his hand back."""
    table = Table("Ann", "Ben", rtt_ms={"Ann": 2, "Ben": 2})
    assert table["Ann"].seat is not None
    table["Ann"].say(SetHandicap(table["Ann"].seat, 100))
    table.start("JS 5H")
    waits, corrected, late_winners = map(
        in_all, ("verdict_wait_seconds_count", "corrected_hands_total", "late_winners_total")
    )
    table.turn_cards(1)
    table.after(1, 20)
    for phone in table.phones:
        phone.say(Shown(table.game, 1, 0))
    table.after(1, 300)
    table["Ann"].slap(reaction_ms=100)
    table.later(80)
    assert in_all("verdict_wait_seconds_count") == waits + 1
    assert in_all("corrected_hands_total") == corrected + 1
    refused = table["Ben"].slap(1, reaction_ms=10)
    assert refused is not None
    assert refused.reason == RejectReason.TOO_LATE
    assert in_all("late_winners_total") == late_winners + 1


# --- a server at work --------------------------------------------------------------------------------------------


async def test_a_game_is_counted_and_written_down_without_a_secret(tmp_path: Path) -> None:
    """A Jack is the fourth card there, and both slap it."""
    with served(tmp_path, module="tests.clients.jacks_soon", SLAPJACK_LOG="json") as server:
        before = counted(server)
        assert before["slapjack_tables"] == before["slapjack_connections"] == 0
        async with company(server.url, "Ann", "Ben") as (ann, ben):
            code, keys = ann.table.code, {ann.key, ben.key}
            async with raw(server.url, code) as stranger:
                await stranger.say(b"nonsense")
                await stranger.hear_out()
            ann.say(SetRules(Rules(min_show_ms=300)))
            ann.start()
            for player in (ann, ben):
                await player.until(lambda p: p.table.stage is Stage.PLAYING and p.view is not None)
            while ann.top is None or not ann.top.face.startswith("J"):
                player = ann if ann.my_turn else ben
                await player.until(lambda p: p.my_turn)
                turned = ann.view.turned if ann.view else 0
                player.turn()
                while ann.view is None or ann.view.turned == turned:
                    await anext(ann)
            ann.slap()
            await ann.until(lambda p: p.top is None)
            during = counted(server)
            assert during["slapjack_tables"] == during["slapjack_tables_woken_total"] == 1
            assert during["slapjack_connections"] == 2
            assert during["slapjack_verdict_wait_seconds_count"] == 1
            assert 0 < during["slapjack_verdict_wait_seconds_sum"] < 1
            assert during["slapjack_keep_seconds_count"] >= 5  # a deal, four cards, and more
            assert during["slapjack_cpu_seconds_total"] > before["slapjack_cpu_seconds_total"]
            assert during["slapjack_memory_bytes"] > 10_000_000 or sys.platform != "linux"
        wait_for(lambda: counted(server)["slapjack_connections"] == 0, "both to be gone")
        said = server.said()
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    closed = [line for line in lines if line["text"].endswith("closed")]
    assert {(line["room"], line["connection"]) for line in closed} == {(code, nth) for nth in (1, 2, 3)}
    assert {line["level"] for line in lines} == {"info"}
    assert all(key not in said for key in keys)


# --- written down ------------------------------------------------------------------------------------------------


def test_a_line_for_machines_says_what_it_is_about(caplog: pytest.LogCaptureFixture) -> None:
    """Whatever its words are: a table's code is a field of the record, and not looked for in the text."""
    about(logging.getLogger("slapjack.tried"), "K7WQ2M", 12).warning("cut as %s was,\nin table 222222", "another")
    (record,) = caplog.records
    record.created = 1_764_493_200.25
    assert json.loads(JsonLines("a").format(record)) == {
        "at": "2025-11-30T09:00:00.250+00:00",
        "level": "warning",
        "logger": "slapjack.tried",
        "node": "a",
        "room": "K7WQ2M",
        "connection": 12,
        "text": "table K7WQ2M, connection 12: cut as another was,\nin table 222222",
    }


def test_a_line_for_machines_is_one_line_whatever_has_happened() -> None:
    try:
        raise ValueError("two\nlines")
    except ValueError:
        record = logging.LogRecord("slapjack", logging.ERROR, "", 0, "tables of the room", (), sys.exc_info())
    line = JsonLines().format(record)
    assert "\n" not in line
    said = json.loads(line)
    assert "two\nlines" in said["trace"]
    assert said.keys() == {"at", "level", "logger", "text", "trace"}
