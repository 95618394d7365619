"""All that a store holds as one file, and back again, whichever server holds it and while it is in use.

Knows every kind of key and the form of the file, and of what the keys mean only which belong together.

A file is a line of text, then parts: four bytes of length, four of CRC-32, and msgpack. The last one says how many came
before it, so that a file which was cut short is known as such.
"""

import os
import re
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from math import isnan
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
MOST_PART_BYTES = 256 * 2**20

_TABLE = re.compile(rb"slapjack:\{([^}]*)\}:(table|marks|journal|results)")
_NOT_COPIED = re.compile(rb"slapjack:\{[^}]*\}:paused|slapjack:node:.*|" + FORGOTTEN.encode() + b"|" + DUE.encode())
"""What only means something to the servers that run at this moment; what is due is clear from the results that wait."""

Kind = Literal["string", "hash", "set", "zset", "stream"]
WORDS = {"string": 1, "hash": 2, "set": 1}
"""How many words of a snapshot make one member."""


class CannotExport(Exception):
    """Nothing was written; the text says why in one line."""


class CannotImport(Exception):
    """Nothing was changed; the text says why in one line."""


class NotEmpty(CannotImport):
    """Something is there, and was not to be replaced."""


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


# --- out ---------------------------------------------------------------------------------------------------------


@contextmanager
def new_file(file: Path) -> Iterator[BinaryIO]:
    """A file to export to, which is there only once all of it is on the disk; raises `CannotExport`."""
    if file.exists():
        raise CannotExport(f"{file} is there already: name another file")
    unfinished = file.with_name(file.name + ".unfinished")
    try:
        with unfinished.open("wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        unfinished.rename(file)
    except OSError as wrong:
        raise CannotExport(f"cannot write {file}: {wrong.strerror}") from None
    finally:
        unfinished.unlink(missing_ok=True)


async def export(line: Pipeline, board: Board, out: BinaryIO) -> Copied:
    """Writes down all that the store holds; raises `CannotExport` and `StoreDown`.

    Games go on meanwhile. Results of games that end wait to be counted until it is done, so the leaderboards stand
    still while they are read; and each table is read in one moment, together with its results that wait.
    """
    try:
        return await _write(line, board, out)
    finally:
        await board.count_again()


async def _write(line: Pipeline, board: Board, out: BinaryIO) -> Copied:
    await board.pause_counting()
    out.write(FIRST_LINE)
    tables, parts = 0, 0
    left: list[str] = []
    async for part in _everything(line, left):
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


async def _everything(line: Pipeline, left: list[str]) -> AsyncIterator[Part]:
    """All parts, the tables after all that their results may have been counted in."""
    codes: set[bytes] = set()
    async for some in _scan(line):
        codes |= {found[1] for found in map(_TABLE.fullmatch, some) if found}
        others = [key for key in some if not _TABLE.fullmatch(key) and not _NOT_COPIED.fullmatch(key)]
        async for part in _parts(line, others, left):
            yield part
    for code in codes:
        keys = [b"slapjack:{%s}:%s" % (code, name) for name in (b"table", b"marks", b"journal", b"results")]
        async for part in _parts(line, keys, left):
            yield part


async def _parts(line: Pipeline, keys: Sequence[bytes], left: list[str]) -> AsyncIterator[Part]:
    """These keys as they are at one moment, save for sorted sets, which nobody changes while counting is paused."""
    snapshot = await line.script("snapshot")(keys, ()) if keys else []
    for key, (packed_kind, expires_ms, words) in zip(keys, snapshot, strict=True):
        kind, until_ms = packed_kind.decode(), max(0, expires_ms)
        if kind == "zset":
            async for ranked in _ranked(line, key):
                yield Part(key, "zset", until_ms, ranked)
        elif kind == "stream":
            yield Part(key, "stream", until_ms, tuple((entry_id, *fields) for entry_id, fields in words))
        elif kind in WORDS:
            width = WORDS[kind]
            members = tuple(tuple(words[at : at + width]) for at in range(0, len(words), width))
            yield Part(key, cast(Kind, kind), until_ms, members)
        elif kind != "none":
            left.append(f"{key.decode(errors='replace')}, a {kind}")


async def _ranked(line: Pipeline, key: bytes) -> AsyncIterator[tuple[tuple[bytes, ...], ...]]:
    start = 0
    while True:
        found = line.redis.zrange(key, start, start + 10 * AT_ONCE - 1, withscores=True)
        members = await line.answer(found, key)
        if not members:
            return
        yield tuple((member, repr(score).encode()) for member, score in members)
        start += len(members)


async def _scan(line: Pipeline) -> AsyncIterator[list[bytes]]:
    cursor = 0
    while True:
        cursor, some = await line.answer(line.redis.scan(cursor, match=OURS, count=AT_ONCE), OURS)
        yield some
        if int(cursor) == 0:
            return


def _framed(part: Part | End) -> bytes:
    body = msgspec.msgpack.encode(part)
    return len(body).to_bytes(4) + zlib.crc32(body).to_bytes(4) + body


# --- in ----------------------------------------------------------------------------------------------------------


async def restore(line: Pipeline, board: Board, kept: BinaryIO, *, replace: bool) -> Copied:
    """Puts all that a file has into the store; with `replace` instead of what is there.

    Raises `CannotImport`, with nothing changed, when the file is not whole, or when something is there and is not to
    be replaced. Raises `StoreDown` when the store goes away; then it must be done again, with `replace`. A server that
    runs meanwhile takes its tables up again as they are then.
    """
    now_s = await line.now_s()
    tables, parts = 0, 0
    for part in _read(kept):  # all of it, before anything is changed
        parts += 1
        tables += part.key.endswith(b":table")
    async for some in _scan(line):
        if any(not _NOT_COPIED.fullmatch(key) for key in some) and not replace:
            raise NotEmpty("there are tables and scores already: nothing was changed")
    await board.pause_counting()
    try:
        async for some in _scan(line):
            if gone := [key for key in some if not _NOT_COPIED.fullmatch(key)]:
                await line.answer(line.redis.unlink(*gone), gone[0])
        batch: list[Part] = []
        for part in _read(kept):
            batch.append(part)
            if sum(len(one.members) for one in batch) >= AT_ONCE:
                await board.pause_counting()
                await _put(line, batch, now_s)
                batch.clear()
        await _put(line, batch, now_s)
    finally:
        await board.count_again()
    return Copied(tables, parts)


async def _put(line: Pipeline, parts: Sequence[Part], now_s: int) -> None:
    async with line.redis.pipeline(transaction=False) as pipe:
        for part in parts:
            flat = [word for member in part.members for word in member]
            match part.kind:
                case "string":
                    pipe.set(part.key, flat[0])
                case "hash":
                    pipe.execute_command("HSET", part.key, *flat)
                case "set":
                    pipe.sadd(part.key, *flat)
                case "zset":
                    pipe.zadd(part.key, {name: float(score) for name, score in part.members})
                case "stream":
                    for entry_id, *fields in part.members:
                        pipe.execute_command("XADD", part.key, entry_id, *fields)
            if part.until_ms:
                pipe.pexpireat(part.key, part.until_ms)
            if (table := _TABLE.fullmatch(part.key)) and table[2] == b"results":
                pipe.zadd(DUE, {table[1]: now_s})
        if len(pipe):
            await line.answer(pipe.execute(), OURS)


def _read(kept: BinaryIO) -> Iterator[Part]:
    """The parts of a file, from its beginning; raises `CannotImport` where it is not as it was written."""
    kept.seek(0)
    try:
        yield from _parts_of(kept)
    except OSError as wrong:
        raise CannotImport(f"cannot be read: {wrong.strerror}") from None
    except _Broken as broken:
        raise CannotImport(f"{broken}: nothing was changed") from None


class _Broken(Exception):
    """The file is not as it was written."""


def _parts_of(kept: BinaryIO) -> Iterator[Part]:
    first = kept.read(len(FIRST_LINE))
    if first != FIRST_LINE:
        newer = re.fullmatch(rb"slapjack export (\d+)\n?", first)
        raise _Broken(f"version {newer[1].decode()} of the form, and this is 1" if newer else "no export of ours")
    decode = msgspec.msgpack.Decoder(Part | End).decode
    parts = 0
    while True:
        where = f"part {parts + 1}"
        head = kept.read(8)
        length = int.from_bytes(head[:4])
        if len(head) == 8 and length > MOST_PART_BYTES:
            raise _Broken(f"{where} cannot be so long")
        body = kept.read(length)
        if len(head) < 8 or len(body) < length:
            raise _Broken(f"it ends in {where}, before its end")
        if zlib.crc32(body) != int.from_bytes(head[4:]):
            raise _Broken(f"the check sum of {where} does not fit")
        try:
            part = decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
            raise _Broken(f"{where}: {wrong}") from None
        if isinstance(part, End):
            if part.parts != parts:
                raise _Broken(f"its end speaks of {part.parts} parts, and there are {parts}")
            if kept.read(1):
                raise _Broken("there is more after its end")
            return
        _check(part, where)
        parts += 1
        yield part


def _check(part: Part, where: str) -> None:
    """Lets pass what no server will refuse half-way."""
    what = f"{where}: {part.key[:80].decode(errors='replace')!r}"
    if not part.key.startswith(b"slapjack:") or _NOT_COPIED.fullmatch(part.key):
        raise _Broken(f"{what} is no key of ours")
    match part.kind:
        case "zset":
            fits = all(len(member) == 2 and _is_score(member[1]) for member in part.members)
        case "stream":
            ids = [_entry_id(member[0]) for member in part.members if len(member) >= 3 and len(member) % 2 == 1]
            fits = len(ids) == len(part.members) and all(one < after for one, after in pairwise([(0, 0), *ids]))
        case kind:
            fits = all(len(member) == WORDS[kind] for member in part.members)
    if not fits or not part.members or (part.kind == "string" and len(part.members) > 1):
        raise _Broken(f"{what} cannot be a {part.kind}")


def _entry_id(text: bytes) -> tuple[int, int]:
    """The two numbers of an id of a stream; what is none comes before all others."""
    found = re.fullmatch(rb"(\d{1,20})-(\d{1,20})", text)
    numbers = (int(found[1]), int(found[2])) if found else (0, 0)
    return numbers if max(numbers) < 2**64 else (0, 0)


def _is_score(text: bytes) -> bool:
    try:
        return not isnan(float(text))
    except ValueError:
        return False
