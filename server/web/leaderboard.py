"""The leaderboard over HTTP (R30): one question, in as many pages as there are people. Counts nothing itself."""

from enum import StrEnum
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.rules import GameName
from server.base.keys import hash_of
from server.base.ports import Clock
from server.base.settings import Settings
from server.net.http import Denied, RequestGuard, key_of, reply
from server.store.redis import RedisStore
from wire.figures import By, Span

MOST_PAGES = 1_000_000

Choice = TypeVar("Choice", bound=StrEnum)


def routes(store: RedisStore, clock: Clock, settings: Settings) -> list[Route]:
    """The question for a page of a board."""
    guard = RequestGuard(clock, settings, settings.asks_per_minute)

    async def page(request: Request) -> Response:
        """`GET /api/leaderboard?game=slapjack&span=all&by=wins&page=1`: a page, and your own row. 400, 429.

        All parameters may be left out. Who you are says the cookie or the `Authorization` header, never the address.
        """
        guard.let_in(request)
        asked = request.query_params
        game, span, by = (
            _one_of(GameName, asked.get("game", GameName.SLAPJACK)),
            _one_of(Span, asked.get("span", Span.ALL)),
            _one_of(By, asked.get("by", By.WINS)),
        )
        number, at = asked.get("page", "1"), asked.get("at", "0")
        if not (at.isascii() and at.isdigit() and len(at) < 12):
            raise Denied(400, "malformed", "`at` is what the page before said")
        if not (number.isascii() and number.isdigit() and len(number) < 9 and 1 <= int(number) <= MOST_PAGES):
            raise Denied(400, "malformed", f"a page is a number from 1 to {MOST_PAGES}")
        key = key_of(request)
        person = await store.person_of(hash_of(key)) if key else ""
        return reply(await store.board.page(game, span, by, int(number), person, int(at)))

    return [Route("/api/leaderboard", page)]


def _one_of(choices: type[Choice], text: str) -> Choice:
    try:
        return choices(text)
    except ValueError:
        raise Denied(400, "malformed", f"{text[:40]!r} is none of {', '.join(choices)}") from None
