"""The store kept in a Redis or Valkey server. The one adapter: a server of our own is reached in the same way.

Knows how tables are kept. Knows no rule of a table, and starts no server. What must happen together is a script beside
this page (`*.lua`), so that it happens or does not, for everybody who looks.

All keys of a table share `{CODE}`, and so one node of a cluster:

- `slapjack:{CODE}:table`, a string: the record, without scores; of version 1, with them.
- `slapjack:{CODE}:scores`, a string: the scores, and the tournaments that have ended, which change with a game at most.
- `slapjack:{CODE}:journal`, a stream: an entry for each change, its id being `<epoch>-<number>`, so that the server
  itself refuses whoever has been overtaken. Its fields called `e` are the entries of the room.
- `slapjack:{CODE}:marks`, a hash: the last `epoch`, the ids of the last `deals`, and the `owner`: `<name>/<boot>` of
  the server whose table it is while its lease lasts (`server/store/nodes.py`), none where it is anybody's.
- `slapjack:{CODE}:rewritten`, a stream: a journal that is about to take the place of the other.
- `slapjack:{CODE}:results`, a hash by result id: the outbox of results that have not been counted yet.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Self

import msgspec

from engine.value import Value
from server.base.logs import about
from server.store.board import Board, Finished, outbox_key
from server.store.nodes import Nodes
from server.store.people import NEW_S, PERSON_LENGTH, People
from server.store.pipeline import Pipeline
from server.store.port import BadRecord, Elsewhere, Store, StoreDown
from server.table.kept import read_kept
from server.table.records import RECORD_VERSION, Change, Opened, Score, TableRecord, Tournament, with_hand
from wire.messages import Kind

log = logging.getLogger("slapjack.store")

DAY_S = 86_400
UNUSED_S = 2 * DAY_S
"""How long a new table waits for somebody to come to it, so that nobody can fill the store with codes."""
GAMES_KEPT = 5
"""So many games of a table stay in its journal, the running one among them."""


SLICE = 500
"""So many entries of a journal are read, or rewritten, in one go, so that neither side stands still for a long game."""
REWRITTEN_S = 600


class _Version(msgspec.Struct):
    version: int


class Scores(Value):
    """What is kept of a table's scores, apart from the rest of its record."""

    scores: dict[str, Score]
    archive: tuple[Tournament, ...]
    version: int = RECORD_VERSION


def table_key(code: str) -> str:
    """Where a table is kept; the braces keep all keys of a table on one node of a cluster."""
    return f"slapjack:{{{code}}}:table"


def table_keys(code: str) -> list[str]:
    """All keys of a table, in the order in which the scripts take them."""
    names = (f"slapjack:{{{code}}}:{name}" for name in ("marks", "journal"))
    return [table_key(code), *names, outbox_key(code), scores_key(code), f"slapjack:{{{code}}}:rewritten"]


def scores_key(code: str) -> str:
    """Where the scores of a table are kept."""
    return f"slapjack:{{{code}}}:scores"


class RedisStore(Store):
    """Tables in the server at `url` (`redis://`, `rediss://` or `unix://`). Connects when first used.

    A table that nobody has played at for `keep_days` is forgotten, and its journal after `keep_journal_days`. `now_s`
    is the wall clock in seconds since 1970, without one it is the server's.
    """

    def __init__(
        self,
        url: str,
        *,
        keep_days: int = 365,
        keep_journal_days: int = 30,
        rank_programs: bool = False,
        now_s: Callable[[], int] | None = None,
    ) -> None:
        self.pipeline = Pipeline(url, now_s)
        self._keep_s = keep_days * DAY_S
        self._keep_journal_s = keep_journal_days * DAY_S
        self._open_script = self.pipeline.script("open_table")
        self._keep_script = self.pipeline.script("keep")
        self._release_script = self.pipeline.script("release_table")
        self._entries_script = self.pipeline.script("entries")
        self.nodes = Nodes(self.pipeline)
        self.board = Board(self.pipeline, self._keep_s, rank_programs)
        self.people = People(self.pipeline, self._keep_s)

    async def create_table(self, record: TableRecord) -> bool:
        """Keeps a new table; False, and nothing changed, when the code is taken. One that nobody sits at soon goes."""
        key, scores = table_key(record.code), scores_key(record.code)
        head, rest = _packed(record)
        unused_s = UNUSED_S + self.pipeline.spare_s
        made = await self.pipeline.ask(lambda pipe: pipe.set(key, head, nx=True, ex=unused_s), key) is not None
        if made and (record.scores or record.archive):
            await self.pipeline.ask(lambda pipe: pipe.set(scores, rest, ex=unused_s), scores)
        return made

    async def load_table(self, code: str) -> TableRecord | None:
        """The table of that code; raises `BadRecord`."""
        keys = table_key(code), scores_key(code)
        head, rest = await self.pipeline.ask_all([lambda pipe, key=key: pipe.get(key) for key in keys], keys[0])  # type: ignore[misc]
        return None if head is None else _read(code, head, rest or b"")

    async def open_table(self, code: str, owner: str = "") -> Opened | None:
        """Takes the table over under a new epoch: from now on nobody else's `keep` succeeds. Raises `BadRecord`.

        An `owner` takes only what is free: the table is then its own for as long as its lease lasts, and it meets
        `Elsewhere` where another's does. Without one it takes what it wants, and the table is free.
        """
        # A record that this server cannot read may be another's, which is not to be fenced off for it.
        record = await self.load_table(code)
        if record is None:
            return None
        keep_s = self._table_s(record)
        await self.people.sat_down(code, _seated(record) | _scored(record), keep_s)
        instead_of = await self._dead_owner(code, owner) if owner else b"*"
        # A socket is enough to have a table opened, and a seat to have it kept for days, but not for a year.
        spare_s = self.pipeline.spare_s
        keep_journal_s = min(keep_s, self._keep_journal_s)
        opened = await self._open_script(
            table_keys(code), (keep_s + spare_s, keep_journal_s + spare_s, owner, instead_of)
        )
        if opened == b"OWNED":
            return await self.open_table(code, owner)  # somebody was quicker, who is alive
        if opened is None:
            return None
        head, rest, epoch, deal = opened
        record = _read(code, head, rest)
        if msgspec.msgpack.decode(head, type=_Version).version < RECORD_VERSION:
            # Nobody else can write now. From the next change on the record is kept without its scores.
            await self.pipeline.ask(
                lambda pipe: pipe.set(scores_key(code), _packed(record)[1], ex=keep_s), scores_key(code)
            )
        return Opened(record, await self._changes(code, deal) if deal else (), int(epoch))

    def _table_s(self, record: TableRecord) -> int:
        """For how long a table is kept when nobody comes any more: long, once a game has begun there."""
        return self._keep_s if record.games else NEW_S if record.seats else UNUSED_S

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
        return await self._changes(code, b"-")

    async def _changes(self, code: str, start: bytes) -> tuple[bytes, ...]:
        """The entries of the journal from that change on."""
        entries: list[bytes] = []
        while True:
            found = await self._entries_script([table_keys(code)[2]], (start, SLICE))
            entries += _entries(found)
            if len(found) < SLICE:
                return tuple(entries)
            start = b"(" + found[-1][0]

    async def keep(self, code: str, epoch: int, number: int, change: Change) -> None:
        """Keeps change `number` (counted from 1) of that epoch, all of it or nothing, and counts its result.

        Asked again with the same number after a `StoreDown` it is not kept twice. Raises `Fenced`, also where the
        change before this one is not there; and `BadRecord` when what is not ours has one of the table's keys.
        """
        result = change.result if change.result is not None and change.result.ranked else None
        # Whoever looks for a person's tables or for uncounted results must find this one, whatever happens in between.
        if change.record is not None:
            await self.people.sat_down(code, _seated(change.record), self._table_s(change.record))
        if change.result is not None:
            await self.people.have_played(each.person for each in change.result.people if each.person)
        # Only of a table whose games have begun is there a change without a record.
        keep_s = self._keep_s if change.record is None else self._table_s(change.record)
        finished = Finished(await self.board.announce(code), result) if result is not None else None
        rewritten = b""
        entries: Sequence[bytes] = change.entries
        if change.clears and len(entries) > SLICE:
            rewritten, entries = await self._rewrite(code, epoch, entries)
        head, rest = _packed(change.record) if change.record is not None else (b"", b"")
        spare_s = self.pipeline.spare_s
        await self._keep_script(
            table_keys(code),
            (
                *(epoch, number, keep_s + spare_s, min(keep_s, self._keep_journal_s) + spare_s),
                *(int(change.deals), 0 if change.clears else GAMES_KEPT),
                *(head, rest if change.scored else b""),
                *((b"", b"") if finished is None else (finished.result.id, msgspec.msgpack.encode(finished))),
                *(rewritten, *entries),
            ),
        )
        if rewritten:  # and it is still there, where this change had been kept already
            await self.pipeline.ask(lambda pipe: pipe.unlink(table_keys(code)[5]), code)
        for person in change.left:
            await self.people.stood_up(code, person)
        for renamed in change.renamed:
            try:
                await self.board.rename(renamed.person, renamed.name, renamed.face)
            except (StoreDown, BadRecord) as wrong:
                log.warning("somebody at table %s is called otherwise on the leaderboard later: %s", code, wrong)
        if finished is not None:
            try:
                await self.board.drain(code)
            except (StoreDown, BadRecord) as wrong:
                about(log, code).warning("a result is counted later: %s", wrong)

    async def _rewrite(self, code: str, epoch: int, entries: Sequence[bytes]) -> tuple[bytes, Sequence[bytes]]:
        """Lays most of these entries ready for the journal, slice by slice; gives the id of the first, and the rest."""
        key = table_keys(code)[5]
        await self.pipeline.ask(lambda pipe: pipe.delete(key), key)
        for nth, at in enumerate(range(0, len(entries) - SLICE, SLICE), 1):
            fields = [field for entry in entries[at : at + SLICE] for field in ("e", entry)]
            # Under the epoch before, so that the change which puts them in place comes right after them.
            command = ("XADD", key, f"{epoch - 1}-{nth}", *fields)
            await self.pipeline.ask(lambda pipe, command=command: pipe.execute_command(*command), key)  # type: ignore[misc]
        await self.pipeline.ask(lambda pipe: pipe.expire(key, REWRITTEN_S), key)
        return b"%d-1" % (epoch - 1), entries[nth * SLICE :]

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


def _packed(record: TableRecord) -> tuple[bytes, bytes]:
    """A record as it is kept: what may change at any time, and the scores."""
    head = msgspec.structs.replace(record, scores={}, archive=(), version=RECORD_VERSION)
    return msgspec.msgpack.encode(head), msgspec.msgpack.encode(Scores(record.scores, record.archive))


def _read(code: str, head: bytes, rest: bytes) -> TableRecord:
    key = table_key(code)
    try:
        version = msgspec.msgpack.decode(head, type=_Version).version
        if not 1 <= version <= RECORD_VERSION:
            raise BadRecord(f"{key}: version {version}, but this server reads version {RECORD_VERSION}")
        record = read_kept(with_hand(head), TableRecord)
        if version == RECORD_VERSION and rest:
            key = scores_key(code)
            scores = read_kept(rest, Scores)
            record = msgspec.structs.replace(record, scores=scores.scores, archive=scores.archive)
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        raise BadRecord(f"{key}: {wrong}") from None
    if record.code != code:
        raise BadRecord(f"{key}: holds the table {record.code!r}")
    return msgspec.structs.replace(record, version=RECORD_VERSION)
