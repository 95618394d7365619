"""The web application over a real store, asked without a socket."""

from dataclasses import dataclass, field
from pathlib import Path

import httpx
from redis.asyncio import Redis

from server.base.settings import Settings
from server.store.redis import RedisStore
from server.table.records import Opened
from server.web.app import build_app
from tests.server.world import FakeLuck, S


@dataclass
class Web:
    """The application and what is behind it. Its clock stands unless a test moves it."""

    store: RedisStore
    redis: "Redis"
    data: Path
    rng: FakeLuck = field(default_factory=lambda: FakeLuck(1))
    time_us: int = 1_000 * S

    def now_us(self) -> int:
        """The clock port."""
        return self.time_us

    def worked_us(self) -> int:
        """The clock port."""
        return 0

    def browser(
        self, url: str = "http://table.local", *, public_url: str = "", address: str = "203.0.113.7"
    ) -> httpx.AsyncClient:
        """A browser with no cookies yet, on our page."""
        app = build_app(self.store, self, self.rng, Settings(data=self.data, public_url=public_url))
        transport = httpx.ASGITransport(app, client=(address, 50_000))
        return httpx.AsyncClient(transport=transport, base_url=url, headers={"origin": url})

    async def open(self, code: str) -> Opened:
        """The table of that code, taken over."""
        opened = await self.store.open_table(code)
        assert opened is not None
        return opened
