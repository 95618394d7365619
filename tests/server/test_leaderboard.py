"""The leaderboard over HTTP (R30): what may be asked, and who is asking."""

import asyncio
import json
import urllib.request
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.base.keys import hash_of
from server.store.board import PAGE_ROWS
from server.store.redis import RedisStore
from server.table.records import Change, Played, Result, TableRecord
from tests.server.web import Web
from tests.server.world import CODE, Table
from tests.support.serving import redis, served, wait_for


async def over(web: Web, *people: Played, game: str = "slapjack") -> None:
    """A game is over."""
    await web.store.create_table(TableRecord(CODE, Table().saved.rules))
    opened = await web.open(CODE)
    result = Result(f"{CODE}-{opened.epoch}", CODE, game, people, True)
    await web.store.keep(CODE, opened.epoch, 1, Change(result=result))


async def board(browser: httpx.AsyncClient, **asked: str) -> dict[str, Any]:
    """A page as JSON."""
    answer = await browser.get("/api/leaderboard", params=asked)
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    page: dict[str, Any] = answer.json()
    return page


async def test_a_board_that_nobody_is_on_is_empty(web: Web) -> None:
    assert await board(web.browser()) == {"people": 0, "pages": 0, "rows": [], "you": None, "at": 0, "ends_s": 0}


async def test_you_are_known_by_cookie_or_header_and_nobody_else_is_named_by_secret(web: Web) -> None:
    anna = web.browser()
    key = (await anna.post("/api/me", json={"name": "Anna", "face": "🦊"})).json()["key"]
    await over(web, Played(hash_of(key), "Anna", "🦊", True, (321_000,)), Played("b" * 64, "Ben", "🐻", False))
    row = {"rank": 1, "name": "Anna", "face": "🦊", "games": 1, "wins": 1, "streak": 1, "best_us": 321_000}
    page = await board(anna)
    assert page["you"].items() >= {**row, "you": True}.items()
    assert page["rows"][0] == page["you"]
    assert [line["you"] for line in page["rows"]] == [True, False]
    stranger = await board(web.browser())
    assert stranger["you"] is None
    assert stranger["rows"][0] == {**page["you"], "you": False}
    by_header = await web.browser().get("/api/leaderboard", headers={"authorization": f"Bearer {key}"})
    assert by_header.json() == page
    for secret in (key, hash_of(key), "b" * 64, hash_of(key)[:32], "b" * 32):
        assert secret not in by_header.text


async def test_every_game_span_and_order_can_be_asked_for(web: Web) -> None:
    people = [Played(f"{nth:02x}" * 32, f"P{nth}", "🦊", nth == 0, (300_000 + nth,)) for nth in range(PAGE_ROWS + 1)]
    await over(web, *people, game="duel")
    browser = web.browser()
    for span in ("all", "month", "week"):
        for by in ("wins", "games", "best", "median"):
            page = await board(browser, game="duel", span=span, by=by)
            assert (page["people"], page["pages"], len(page["rows"])) == (PAGE_ROWS + 1, 2, PAGE_ROWS)
    assert [row["name"] for row in (await board(browser, game="duel", by="best", page="2"))["rows"]] == [
        f"P{PAGE_ROWS}"
    ]
    assert len((await board(browser, game="duel", by="streak"))["rows"]) == 1
    assert (await board(browser, game="duel", by="rate"))["rows"] == []
    assert (await board(browser, game="slapjack"))["rows"] == []


@pytest.mark.parametrize(
    "asked",
    [
        *({"game": game} for game in ("whist", "", "SLAPJACK")),
        *({"span": span} for span in ("year", "2026-11")),
        *({"by": by} for by in ("luck", "row:1")),
        *({"page": page} for page in ("0", "-1", "1.5", "x", "", "²", "1000001", "9" * 30)),
    ],
)
async def test_what_nobody_can_answer_is_refused_in_words(web: Web, asked: dict[str, str]) -> None:
    answer = await web.browser().get("/api/leaderboard", params=asked)
    assert answer.status_code == 400
    assert answer.json()["error"] == "malformed"
    assert len(answer.text) < 300


async def test_a_store_that_does_not_answer_is_said_to(web: Web) -> None:
    await web.redis.config_set("maxmemory", "1")
    try:
        answer = await web.browser().post("/api/me", json={"name": "Anna", "face": "🦊"})
    finally:
        await web.redis.config_set("maxmemory", "0")
    assert (answer.status_code, answer.json()["error"]) == (503, "store_down")


async def test_a_foreign_key_in_the_store_is_an_error_of_ours_and_is_left_alone(web: Web) -> None:
    await web.redis.set("slapjack:{slapjack}:all:wins", "somebody else's")
    answer = await web.browser().get("/api/leaderboard")
    assert (answer.status_code, answer.json()["error"]) == (500, "bad_record")
    assert await web.redis.get("slapjack:{slapjack}:all:wins") == b"somebody else's"


def test_what_a_crash_left_uncounted_is_counted_at_the_next_start(tmp_path: Path) -> None:
    person = "a1" * 32

    async def leave(url: str) -> None:
        async with RedisStore(url) as store:
            await store.create_table(TableRecord(CODE, Table().saved.rules))
            opened = await store.open_table(CODE)
            assert opened is not None
            await store.board.pause_counting()
            result = Result(
                "r1",
                CODE,
                "slapjack",
                (Played(person, "Anna", "🦊", True), Played("b2" * 32, "Ben", "🦊", False)),
                True,
            )
            await store.keep(CODE, opened.epoch, 1, Change(result=result))
            await store.board.count_again()

    with redis(tmp_path) as url:
        asyncio.run(leave(url))
        with served(tmp_path, url, module="server") as server:

            def counted() -> bool:
                with urllib.request.urlopen(f"{server.url}/api/leaderboard", timeout=5) as answer:
                    return bool(json.load(answer)["people"] == 2)

            wait_for(counted, "the result to be counted")
