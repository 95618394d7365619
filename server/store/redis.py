"""The store kept in a Redis or Valkey server. The one adapter: a server of our own is reached in the same way.

Knows how tables are kept. Knows no rule of a table, and starts no server. What must happen together is a script beside
this page (`*.lua`), so that it happens or does not, for everybody who looks.

All keys of a table share `{CODE}`, and so one node of a cluster:

- `slapjack:{CODE}:table`, a string: the record.
- `slapjack:{CODE}:journal`, a stream: an entry for each change, its id being `<epoch>-<number>`, so that the server
  itself refuses whoever has been overtaken. Its fields called `e` are the entries of the room.
- `slapjack:{CODE}:marks`, a hash: the last `epoch`, the ids of the last `deals`, and the `owner`: `<name>/<boot>` of
  the server whose table it is while its lease lasts (`server/store/nodes.py`), none where it is anybody's.
- `slapjack:{CODE}:results`, a hash by result id: the outbox of results that have not been counted yet.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Self

import msgspec

from server.store.board import Board, Finished, outbox_key
from server.store.nodes import Nodes
from server.store.people import PERSON_LENGTH, People
from server.store.pipeline import Pipeline
from server.store.port import BadRecord, Elsewhere, Store, StoreDown
from server.table.records import RECORD_VERSION, Change, Opened, TableRecord
from wire.messages import Kind

log = logging.getLogger("slapjack.store")

DAY_S = 86_400
UNUSED_S = 2 * DAY_S
"""How long a new table waits for somebody to come to it, so that nobody can fill the store with codes."""
GAMES_KEPT = 5
"""So many games of a table stay in its journal, the running one among them."""


class _Version(msgspec.Struct):
    version: int


def table_key(code: str) -> str:
    """Where a table is kept; the braces keep all keys of a table on one node of a cluster."""
    return f"slapjack:{{{code}}}:table"


def table_keys(code: str) -> list[str]:
    """All keys of a table, in the order in which the scripts take them."""
    return [table_key(code), *(f"slapjack:{{{code}}}:{name}" for name in ("marks", "journal")), outbox_key(code)]


class RedisStore(Store):
    """Tables in the server at `url` (`redis://`, `rediss://` or `unix://`). Connects when first used.

    A table that nobody has played at for `keep_days` is forgotten, and its journal after `keep_journal_days`. `now_s`
    is the wall clock in seconds since 1970, without one it is the server's.
    """

    def __init__(
        self, url: str, *, keep_days: int = 365, keep_journal_days: int = 30, now_s: Callable[[], int] | None = None
    ) -> None:
        self.pipeline = Pipeline(url, now_s)
        self._keep_s = keep_days * DAY_S
        self._keep_journal_s = keep_journal_days * DAY_S
        self._open_script = self.pipeline.script("open_table")
        self._keep_script = self.pipeline.script("keep")
        self._release_script = self.pipeline.script("release_table")
        self.nodes = Nodes(self.pipeline)
        self.board = Board(self.pipeline, self._keep_s)
        self.people = People(self.pipeline, self._keep_s)

    async def create_table(self, record: TableRecord) -> bool:
        """Keeps a new table; False, and nothing changed, when the code is taken. One that nobody sits at soon goes."""
        key = table_key(record.code)
        packed = msgspec.msgpack.encode(record)
        return await self.pipeline.ask(lambda pipe: pipe.set(key, packed, nx=True, ex=UNUSED_S), key) is not None

    async def load_table(self, code: str) -> TableRecord | None:
        """The table of that code; raises `BadRecord`."""
        key = table_key(code)
        kept = await self.pipeline.ask(lambda pipe: pipe.get(key), key)
        return None if kept is None else _read(key, code, kept)

    async def open_table(self, code: str, owner: str = "") -> Opened | None:
        """Takes the table over under a new epoch: from now on nobody else's `keep` succeeds. Raises `BadRecord`.

        An `owner` takes only what is free: the table is then its own for as long as its lease lasts, and it meets
        `Elsewhere` where another's does. Without one it takes what it wants, and the table is free.
        """
        # A record that this server cannot read may be another's, which is not to be fenced off for it.
        record = await self.load_table(code)
        if record is None:
            return None
        await self.people.sat_down(code, _seated(record) | _scored(record))
        instead_of = await self._dead_owner(code, owner) if owner else b"*"
        # A socket is enough to have a table opened, but not to have it kept for a year.
        used = record.seats or record.games
        keep_s, keep_journal_s = (self._keep_s, self._keep_journal_s) if used else (UNUSED_S, UNUSED_S)
        opened = await self._open_script(table_keys(code), (keep_s, keep_journal_s, owner, instead_of))
        if opened == b"OWNED":
            return await self.open_table(code, owner)  # somebody was quicker, who is alive
        if opened is None:
            return None
        packed, epoch, changes = opened
        return Opened(_read(table_key(code), code, packed), _entries(changes), int(epoch))

    async def _dead_owner(self, code: str, owner: str) -> bytes:
        """Whose mark the table bears: nobody's, this owner's, or one's who has no lease; raises `Elsewhere`."""
        marks = table_keys(code)[1]
        mark: bytes = await self.pipeline.ask(lambda pipe: pipe.hget(marks, "owner"), marks) or b""
        node, _, boot = mark.decode(errors="replace").rpartition("/")
        if mark not in (b"", owner.encode()) and (left_ms := await self.nodes.left_ms(node, boot)):
            raise Elsewhere(node, left_ms)
        return mark

    async def release_table(self, code: str, owner: str, epoch: int) -> None:
        """Lets the table be anybody's, unless somebody has opened it since that epoch."""
        await self._release_script([table_keys(code)[1]], (owner, epoch))

    async def journal(self, code: str) -> tuple[bytes, ...]:
        """All entries that are kept of a table: those of its last games."""
        key = table_keys(code)[2]
        # Not by the client's own method, which makes a mapping of an entry's fields, of which many have the same name.
        return _entries(
            await self.pipeline.answer(
                self.pipeline.redis.eval("return redis.call('XRANGE', KEYS[1], '-', '+')", 1, key), key
            )
        )

    async def keep(self, code: str, epoch: int, number: int, change: Change) -> None:
        """Keeps change `number` (counted from 1) of that epoch, all of it or nothing, and counts its result.

        Asked again with the same number after a `StoreDown` it is not kept twice. Raises `Fenced`, also where the
        change before this one is not there; and `BadRecord` when what is not ours has one of the table's keys.
        """
        result = change.result if change.result is not None and change.result.ranked else None
        # Whoever looks for a person's tables or for uncounted results must find this one, whatever happens in between.
        if change.record is not None:
            await self.people.sat_down(code, _seated(change.record))
        finished = Finished(await self.board.announce(code), result) if result is not None else None
        await self._keep_script(
            table_keys(code),
            (
                *(epoch, number, self._keep_s, self._keep_journal_s),
                *(int(change.deals), 0 if change.clears else GAMES_KEPT),
                b"" if change.record is None else msgspec.msgpack.encode(change.record),
                *((b"", b"") if finished is None else (finished.result.id, msgspec.msgpack.encode(finished))),
                *change.entries,
            ),
        )
        if finished is not None:
            try:
                await self.board.drain(code)
            except (StoreDown, BadRecord) as wrong:
                log.warning("a result of table %s is counted later: %s", code, wrong)

    async def person_of(self, key_hash: str) -> str:
        """The person that a device's secret belongs to: the hash itself, until the device was linked to another."""
        return await self.people.person_of(key_hash)

    async def ping(self) -> None:
        """Returns when the store answers."""
        await self.pipeline.ping()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Lets go of the connections."""
        await self.pipeline.close()


def _entries(changes: Sequence[tuple[bytes, Sequence[bytes]]]) -> tuple[bytes, ...]:
    pairs = (pair for _, fields in changes for pair in zip(fields[::2], fields[1::2], strict=True))
    return tuple(entry for field, entry in pairs if field == b"e")


def _seated(record: TableRecord) -> set[str]:
    return {seat.key_hash for seat in record.seats if seat.kind is Kind.PERSON and seat.key_hash}


def _scored(record: TableRecord) -> set[str]:
    kept = (record.scores, *(tournament.scores for tournament in record.archive))
    # Computer players are in there as well, by the names of their seats.
    return {who for scores in kept for who in scores if len(who) == PERSON_LENGTH}


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
