"""The line to a Redis (7 or newer) or Valkey server: connections, time-outs, scripts, and what goes wrong with them.

The only page that knows the client library. Knows no key and nothing of what is kept.
"""

from collections.abc import Awaitable, Callable, Sequence
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.commands.core import AsyncScript
from redis.exceptions import RedisError, ResponseError
from redis.maint_notifications import MaintNotificationsConfig

from server.store.port import BadRecord, Fenced, StoreDown

MAX_CONNECTIONS = 16
ANSWER_TIMEOUT_S = 2.0
CONNECT_TIMEOUT_S = 2.0
FREE_CONNECTION_TIMEOUT_S = 2.0

Script = Callable[[Sequence[str] | Sequence[bytes], Sequence[bytes | str | int]], Awaitable[Any]]
"""Runs a script with these keys and arguments; raises as `Line.answer` does, and what the script itself says."""


class Line:
    """Connections to the server at `url` (`redis://`, `rediss://` or `unix://`), made when first used.

    `now_s` is the wall clock in whole seconds since 1970; without one it is the server's own.
    """

    def __init__(self, url: str, now_s: Callable[[], int] | None = None) -> None:
        parts = urlsplit(url)
        self.where = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
        self._now_s = now_s
        # redis-py would repeat a write that timed out, so that it counts twice: here an unanswered write is an error.
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=MAX_CONNECTIONS,
            timeout=FREE_CONNECTION_TIMEOUT_S,
            socket_timeout=ANSWER_TIMEOUT_S,
            socket_connect_timeout=CONNECT_TIMEOUT_S,
            retry=Retry(NoBackoff(), 0),
            retry_on_error=[],
            # While it listens for these it hands out connections that the server has closed.
            maint_notifications_config=MaintNotificationsConfig(enabled=False),
        )
        self.redis = Redis.from_pool(pool)

    def script(self, name: str) -> Script:
        """The script `name`.lua beside this page."""
        script: AsyncScript = self.redis.register_script((files("server.store") / f"{name}.lua").read_bytes())

        async def run(keys: Sequence[str] | Sequence[bytes], arguments: Sequence[bytes | str | int]) -> Any:
            answer = await self.answer(script(keys=keys, args=arguments), keys[0])
            match answer:
                case [b"FENCED", bytes() as stands]:
                    raise Fenced(f"{_shown(keys[0])}: the journal stands at {stands.decode()}")
                case [b"FOREIGN", bytes() as key, bytes() as wrong]:
                    raise BadRecord(f"{key.decode()}: {wrong.decode()}")
                case _:
                    return answer

        return run

    async def answer(self, answer: Awaitable[Any], key: str | bytes) -> Any:
        """What the server answers about `key`; raises `StoreDown`, and `BadRecord` for a value of another type."""
        try:
            return await answer
        except ResponseError as wrong:
            if "WRONGTYPE" in str(wrong):
                raise BadRecord(f"{_shown(key)}: not ours: {wrong}") from None
            raise StoreDown(f"the store at {self.where} refuses: {wrong}") from wrong
        except (RedisError, OSError) as wrong:
            told = str(wrong) or type(wrong).__name__
            raise StoreDown(f"the store at {self.where} does not answer: {told}") from wrong

    async def now_s(self) -> int:
        """The wall clock, in whole seconds since 1970."""
        if self._now_s is not None:
            return self._now_s()
        seconds, _ = await self.answer(self.redis.time(), "TIME")
        return int(seconds)

    async def ping(self) -> None:
        """Returns when the server answers."""
        await self.answer(self.redis.ping(), "PING")

    async def close(self) -> None:
        """Lets go of the connections."""
        await self.redis.aclose()


def _shown(key: str | bytes) -> str:
    return key if isinstance(key, str) else key.decode(errors="replace")
