"""The store kept in a Redis or Valkey server. The one adapter: a server of our own is reached in the same way.

Knows keys, encodings and time-outs. Knows no rule of a table, and starts no server.
"""

from collections.abc import Awaitable
from typing import Self, cast
from urllib.parse import urlsplit

import msgspec
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError
from redis.maint_notifications import MaintNotificationsConfig

from server.store.port import RECORD_VERSION, BadRecord, Store, StoreDown, TableRecord

MAX_CONNECTIONS = 16
ANSWER_TIMEOUT_S = 2.0
CONNECT_TIMEOUT_S = 2.0
FREE_CONNECTION_TIMEOUT_S = 2.0


class _Version(msgspec.Struct):
    version: int


def table_key(code: str) -> str:
    """Where a table is kept; the braces keep all keys of a table on one node of a cluster."""
    return f"slapjack:{{{code}}}:table"


class RedisStore(Store):
    """Tables in the server at `url` (`redis://`, `rediss://` or `unix://`). Connects when first used."""

    def __init__(self, url: str) -> None:
        self.where = _without_password(url)
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
        self._redis = Redis.from_pool(pool)

    async def create_table(self, record: TableRecord) -> bool:
        """Keeps a new table; False, and nothing changed, when the code is taken."""
        made = await self._answer(self._redis.set(table_key(record.code), msgspec.msgpack.encode(record), nx=True))
        return made is not None

    async def load_table(self, code: str) -> TableRecord | None:
        """The table of that code; raises `BadRecord`."""
        key = table_key(code)
        try:
            kept = await self._answer(self._redis.get(key))
        except ResponseError as wrong:
            raise BadRecord(f"{key}: not a table of ours: {wrong}") from None
        if kept is None:
            return None
        return _read(key, code, cast(bytes, kept))

    async def save_table(self, record: TableRecord) -> None:
        """Replaces what was kept of the table; raises `BadRecord` when something that is no table has its key."""
        key = table_key(record.code)
        try:
            # With GET the server refuses to replace a value of another type.
            await self._answer(self._redis.set(key, msgspec.msgpack.encode(record), get=True))
        except ResponseError as wrong:
            raise BadRecord(f"{key}: not a table of ours: {wrong}") from None

    async def ping(self) -> None:
        """Returns when the store answers."""
        await self._answer(self._redis.ping())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Lets go of the connections."""
        await self._redis.aclose()

    async def _answer(self, answer: Awaitable[object]) -> object:
        """What the store answers; raises `StoreDown`, or `ResponseError` for a key of another type."""
        try:
            return await answer
        except ResponseError as wrong:
            if str(wrong).startswith("WRONGTYPE"):
                raise
            raise StoreDown(f"the store at {self.where} refuses: {wrong}") from wrong
        except (RedisError, OSError) as wrong:
            raise StoreDown(
                f"the store at {self.where} does not answer: {str(wrong) or type(wrong).__name__}"
            ) from wrong


def _read(key: str, code: str, kept: bytes) -> TableRecord:
    try:
        version = msgspec.msgpack.decode(kept, type=_Version).version
        if version != RECORD_VERSION:
            raise BadRecord(f"{key}: version {version}, but this server reads version {RECORD_VERSION}")
        record = msgspec.msgpack.decode(kept, type=TableRecord)
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        raise BadRecord(f"{key}: {wrong}") from None
    if record.code != code:
        raise BadRecord(f"{key}: holds the table {record.code!r}")
    return record


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
