"""The limit on wrong codes where many are named at once (reliability 17)."""

import asyncio
from collections import Counter

import httpx

from server.base.settings import Settings
from server.web.app import build_app
from tests.server.web import Web

MISSES = 5
"""Of those in all a second, what strangers have."""


async def test_of_many_that_arrive_together_no_more_are_answered_than_may_be_wrong(web: Web) -> None:
    """Those of tables that are awake are answered at once, the others when the store has been asked."""
    app = build_app(web.store, web, web.rng, Settings(data=web.data))
    code = await app.state.host.create()
    assert await app.state.host.open(code) is not None
    transport = httpx.ASGITransport(app, client=("203.0.113.7", 50_000))
    async with httpx.AsyncClient(transport=transport, base_url="http://table.local") as browser:
        wrong = [f"/api/tables/22222{symbol}" for symbol in "23456789ABCDEFGH"]
        answers = await asyncio.gather(*(browser.get(path) for path in [*wrong, *[f"/api/tables/{code}"] * 16]))
        assert Counter(answer.status_code for answer in answers) == {404: MISSES, 429: 32 - MISSES}
        web.time_us += 60_000_000
        answers = await asyncio.gather(*(browser.get(f"/api/tables/{code}") for _ in range(32)))
        assert {answer.status_code for answer in answers} == {200}
    await app.state.host.close()


async def test_of_many_recovery_codes_that_arrive_together_as_well(web: Web) -> None:
    async with web.browser() as browser:
        await browser.post("/api/me", json={"name": "Anna", "face": "🦊"})
        asked = (browser.post("/api/me/move", json={"code": "222222222222"}) for _ in range(32))
        answers = await asyncio.gather(*asked)
        assert Counter(answer.status_code for answer in answers) == {404: MISSES, 429: 32 - MISSES}
