"""All that a store holds as one file, whichever server holds it and while it is in use; `restore.py` is the way back.

Knows every kind of key and the form of the file, and of what the keys mean only which belong together.

A file is a line of text, then parts: four bytes of length, four of CRC-32, and msgpack. The last one says how many came
before it, so that a file which was cut short is known as such.
"""

import os
import re
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, cast

import msgspec

from engine.value import Value
from server.store.board import DUE, Board
from server.store.nodes import FORGOTTEN
from server.store.pipeline import Pipeline

FIRST_LINE = b"slapjack export 1\n"
OURS = "slapjack:*"
AT_ONCE = 500

TABLE = re.compile(rb"slapjack:\{([^}]*)\}:(table|marks|journal|results|scores)")
NOT_COPIED = re.compile(
    rb"slapjack:\{[^}]*\}:(paused|rewritten|.*:at:\d+)|slapjack:(\{probe\}|node):.*|%s|%s"
    % (FORGOTTEN.encode(), DUE.encode())
)
"""What only means something to the servers that run at this moment; what is due is clear from the results that wait."""

Kind = Literal["string", "hash", "set", "zset", "stream"]
WORDS = {"string": 1, "hash": 2, "set": 1}
"""How many words of a snapshot make one member."""


class CannotExport(Exception):
    """Nothing was written; the text says why in one line."""


class Part(Value, tag="part"):
    """A key, or more of one that is large: its members, and when it expires in ms since 1970 (0: never).

    A member of a sorted set is a name and a score, one of a stream an id and all names and values of its entry.
    """

    key: bytes
    kind: Kind
    until_ms: int
    members: tuple[tuple[bytes, ...], ...]


class End(Value, tag="end"):
    """The file is whole."""

    parts: int


class Copied(Value):
    """What went from one place to the other, and the keys that stayed, since they are of no kind of ours."""

    tables: int
    parts: int
    left: tuple[str, ...] = ()


@contextmanager
def new_file(file: Path) -> Iterator[BinaryIO]:
    """A file to export to, which is there only once all of it is on the disk; raises `CannotExport`."""
    if file.exists() or file.is_symlink():
        raise CannotExport(f"{file} is there already: name another file")
    unfinished = file.with_name(file.name + ".unfinished")
    try:
        unfinished.unlink(missing_ok=True)  # of an export that was cut off, or a link that somebody has laid there
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        unfinished.rename(file)
    except OSError as wrong:
        raise CannotExport(f"cannot write {file}: {wrong.strerror}") from None
    finally:
        unfinished.unlink(missing_ok=True)


async def export(pipeline: Pipeline, board: Board, out: BinaryIO) -> Copied:
    """Writes down all that the store holds; raises `CannotExport` and `StoreDown`.

    Games go on meanwhile. Results of games that end wait to be counted until it is done, so the leaderboards stand
    still while they are read; and each table is read in one moment, together with its results that wait.
    """
    try:
        return await _write(pipeline, board, out)
    finally:
        await board.count_again()


async def _write(pipeline: Pipeline, board: Board, out: BinaryIO) -> Copied:
    await board.pause_counting()
    out.write(FIRST_LINE)
    tables, parts = 0, 0
    left: list[str] = []
    async for part in _everything(pipeline, left):
        if parts % AT_ONCE == 0:
            await _stay_paused(board)
        out.write(_framed(part))
        parts += 1
        tables += part.key.endswith(b":table")
    await _stay_paused(board)
    out.write(_framed(End(parts)))
    return Copied(tables, parts, tuple(left))


async def _stay_paused(board: Board) -> None:
    if not await board.pause_counting():
        raise CannotExport("results were counted meanwhile: another export has ended, or this one stood still")


async def _everything(pipeline: Pipeline, left: list[str]) -> AsyncIterator[Part]:
    """All parts, the tables after all that their results may have been counted in."""
    codes: set[bytes] = set()
    async for some in scan(pipeline):
        codes |= {found[1] for found in map(TABLE.fullmatch, some) if found}
        others = [key for key in some if not TABLE.fullmatch(key) and not NOT_COPIED.fullmatch(key)]
        async for part in _parts(pipeline, others, left):
            yield part
    for code in codes:
        keys = [b"slapjack:{%s}:%s" % (code, name) for name in (b"table", b"marks", b"journal", b"results", b"scores")]
        async for part in _parts(pipeline, keys, left):
            yield part


async def _parts(pipeline: Pipeline, keys: Sequence[bytes], left: list[str]) -> AsyncIterator[Part]:
    """These keys as they are at one moment, save for sorted sets, which nobody changes while counting is paused."""
    snapshot = await pipeline.script("snapshot")(keys, ()) if keys else []
    for key, (packed_kind, expires_ms, words) in zip(keys, snapshot, strict=True):
        kind, until_ms = packed_kind.decode(), max(0, expires_ms)
        if kind == "zset":
            async for ranked in _ranked(pipeline, key):
                yield Part(key, "zset", until_ms, ranked)
        elif kind == "stream":
            yield Part(key, "stream", until_ms, tuple((entry_id, *fields) for entry_id, fields in words))
        elif kind in WORDS:
            width = WORDS[kind]
            members = tuple(tuple(words[at : at + width]) for at in range(0, len(words), width))
            yield Part(key, cast(Kind, kind), until_ms, members)
        elif kind != "none":
            left.append(f"{key.decode(errors='replace')}, a {kind}")


async def _ranked(pipeline: Pipeline, key: bytes) -> AsyncIterator[tuple[tuple[bytes, ...], ...]]:
    start = 0
    while True:
        found = pipeline.redis.zrange(key, start, start + 10 * AT_ONCE - 1, withscores=True)
        members = await pipeline.answer(found, key)
        if not members:
            return
        yield tuple((member, repr(score).encode()) for member, score in members)
        start += len(members)


async def scan(pipeline: Pipeline) -> AsyncIterator[list[bytes]]:
    cursor = 0
    while True:
        cursor, some = await pipeline.answer(pipeline.redis.scan(cursor, match=OURS, count=AT_ONCE), OURS)
        yield some
        if int(cursor) == 0:
            return


def _framed(part: Part | End) -> bytes:
    body = msgspec.msgpack.encode(part)
    return len(body).to_bytes(4) + zlib.crc32(body).to_bytes(4) + body
