"""The store kept in a Redis (7 or newer) or Valkey server. The one adapter: our own server is reached in the same way.

Knows keys, encodings and time-outs. Knows no rule of a table, and starts no server. What must happen together is a
script beside this page (`*.lua`), so that it happens or does not, for everybody who looks.

All keys of a table share `{CODE}`, and so one node of a cluster:

- `slapjack:{CODE}:table`, a string: the record.
- `slapjack:{CODE}:journal`, a stream: an entry for each change, its id being `<epoch>-<number>`, so that the server
  itself refuses whoever has been overtaken. Its fields called `e` are the entries of the room.
- `slapjack:{CODE}:marks`, a hash: the last `epoch`, and the ids of the last `deals`.
- `slapjack:{CODE}:results`, a hash by result id: results that have not been counted yet.
"""

from collections.abc import Awaitable
from importlib.resources import files
from typing import Any, Self, cast
from urllib.parse import urlsplit

import msgspec
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.commands.core import AsyncScript
from redis.exceptions import RedisError, ResponseError
from redis.maint_notifications import MaintNotificationsConfig

from server.store.port import RECORD_VERSION, BadRecord, Change, Fenced, Opened, Store, StoreDown, TableRecord

MAX_CONNECTIONS = 16
ANSWER_TIMEOUT_S = 2.0
CONNECT_TIMEOUT_S = 2.0
FREE_CONNECTION_TIMEOUT_S = 2.0
DAY_S = 86_400
GAMES_KEPT = 5
"""So many games of a table stay in its journal, the running one among them."""


class _Version(msgspec.Struct):
    version: int


def table_key(code: str) -> str:
    """Where a table is kept; the braces keep all keys of a table on one node of a cluster."""
    return f"slapjack:{{{code}}}:table"


def table_keys(code: str) -> list[str]:
    """All keys of a table, in the order in which the scripts take them."""
    return [f"slapjack:{{{code}}}:{name}" for name in ("table", "marks", "journal", "results")]


class RedisStore(Store):
    """Tables in the server at `url` (`redis://`, `rediss://` or `unix://`). Connects when first used.

    A table nobody has played at for `keep_days` is forgotten, and its journal after `keep_journal_days`.
    """

    def __init__(self, url: str, *, keep_days: int = 365, keep_journal_days: int = 30) -> None:
        self.where = _without_password(url)
        self._keep_s = keep_days * DAY_S
        self._keep_journal_s = keep_journal_days * DAY_S
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
        self._open_script = _script(self._redis, "open_table")
        self._keep_script = _script(self._redis, "keep")

    async def create_table(self, record: TableRecord) -> bool:
        """Keeps a new table; False, and nothing changed, when the code is taken."""
        packed = msgspec.msgpack.encode(record)
        made = await self._answer(self._redis.set(table_key(record.code), packed, nx=True, ex=self._keep_s))
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

    async def open_table(self, code: str) -> Opened | None:
        """Takes the table over under a new epoch: from now on nobody else's `keep` succeeds. Raises `BadRecord`."""
        # A record that this server cannot read may be another's, which is not to be fenced off for it.
        if await self.load_table(code) is None:
            return None
        opened = await self._run(self._open_script, code, self._keep_s, self._keep_journal_s)
        if opened is None:
            return None
        record, epoch, changes = opened
        pairs = (pair for _, fields in changes for pair in zip(fields[::2], fields[1::2], strict=True))
        journal = tuple(entry for field, entry in pairs if field == b"e")
        return Opened(_read(table_key(code), code, record), journal, int(epoch))

    async def keep(self, code: str, epoch: int, number: int, change: Change) -> None:
        """Keeps change `number` (counted from 1) of that epoch, all of it or nothing.

        Asked again with the same number after a `StoreDown` it is not kept twice. Raises `Fenced`, and `BadRecord`
        when something that is not ours has one of the table's keys.
        """
        result = change.result
        await self._run(
            self._keep_script,
            code,
            *(epoch, number, self._keep_s, self._keep_journal_s, GAMES_KEPT if change.deals else 0),
            b"" if change.record is None else msgspec.msgpack.encode(change.record),
            *((b"", b"") if result is None else (result.id, msgspec.msgpack.encode(result))),
            *change.entries,
        )

    async def person_of(self, key_hash: str) -> str:
        """The person that a device's secret belongs to: the hash itself, until the device was linked to another."""
        person = cast(bytes | None, await self._answer(self._redis.get(f"slapjack:device:{key_hash}")))
        return key_hash if person is None else person.decode()

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

    async def _run(self, script: AsyncScript, code: str, *arguments: bytes | str | int) -> Any:
        """What a table's script gives; raises `Fenced` and `BadRecord` where it says so."""
        answer = await self._answer(script(keys=table_keys(code), args=arguments))
        match answer:
            case [b"FENCED", bytes() as stands]:
                raise Fenced(f"table {code}: its journal stands at {stands.decode()}")
            case [b"FOREIGN", bytes() as key, bytes() as wrong]:
                raise BadRecord(f"{key.decode()}: {wrong.decode()}")
            case _:
                return answer

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


def _script(redis: "Redis", name: str) -> AsyncScript:
    return redis.register_script((files("server.store") / f"{name}.lua").read_bytes())


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
