"""What `slapjack export` wrote, put into a store: all of it is checked before anything is changed.

Knows the form of the file, and which kind of value each key of ours has. Must not depend on what the values mean.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import isnan
from typing import BinaryIO

import msgspec

from server.store.backup import (
    AT_ONCE,
    FIRST_LINE,
    NOT_COPIED,
    OURS,
    TABLE,
    WORDS,
    Copied,
    End,
    Kind,
    Part,
    scan,
)
from server.store.board import DUE, Board
from server.store.pipeline import Pipeline

MOST_PART_BYTES = 256 * 2**20
END_OF_TIME_MS = 253_402_300_800_000
"""The end of the year 9999: no key of ours lasts longer, and a server takes only what is below 2^63."""

_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"\{[^}]*\}:(table|scores)|(device|link|recovery):.*", "string"),
    (r"\{[^}]*\}:(marks|results|person|pairs:.*)|\{[^}]*\}:[^:]*:row:.*", "hash"),
    (r"\{[^}]*\}:(devices|tables)", "set"),
    (r"\{[^}]*\}:(counted|seen)", "zset"),
    (r"\{[^}]*\}:journal", "stream"),
)
"""What a key of ours holds, by its name; a name that is not here may be a newer version's, and is taken as it is."""


class CannotImport(Exception):
    """Nothing was changed; the text says why in one line."""


class NotEmpty(CannotImport):
    """Something is there, and was not to be replaced."""


async def restore(pipeline: Pipeline, board: Board, kept: BinaryIO, *, replace: bool) -> Copied:
    """Puts all that a file has into the store; with `replace` instead of what is there.

    Raises `CannotImport`, with nothing changed, when the file is not whole, or when something is there and is not to
    be replaced. Raises `StoreDown` when the store goes away; then it must be done again, with `replace`. A server that
    runs meanwhile takes its tables up again as they are then.
    """
    now_s = await pipeline.now_s()
    tables, parts = 0, 0
    for part in _read(kept):  # all of it, before anything is changed
        parts += 1
        tables += part.key.endswith(b":table")
    async for some in scan(pipeline):
        if any(not NOT_COPIED.fullmatch(key) for key in some) and not replace:
            raise NotEmpty("there are tables and scores already: nothing was changed")
    await board.pause_counting()
    try:
        async for some in scan(pipeline):
            if gone := [key for key in some if not NOT_COPIED.fullmatch(key)]:
                await pipeline.answer(pipeline.redis.unlink(*gone), gone[0])
        batch: list[Part] = []
        for part in _read(kept):
            batch.append(part)
            if sum(len(one.members) for one in batch) >= AT_ONCE:
                await board.pause_counting()
                await _put(pipeline, batch, now_s)
                batch.clear()
        await _put(pipeline, batch, now_s)
    finally:
        await board.count_again()
    return Copied(tables, parts)


async def _put(pipeline: Pipeline, parts: Sequence[Part], now_s: int) -> None:
    async with pipeline.redis.pipeline(transaction=False) as pipe:
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
            if (table := TABLE.fullmatch(part.key)) and table[2] == b"results":
                pipe.zadd(DUE, {table[1]: now_s})
        if len(pipe):
            await pipeline.answer(pipe.execute(), OURS)


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
    parts, last = 0, b""
    seen: set[bytes] = set()
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
        if part.key in seen and not (part.key == last and part.kind == "zset"):
            raise _Broken(f"{where}: {_shown(part.key)} is there twice")
        seen.add(part.key)
        last = part.key
        parts += 1
        yield part


def _check(part: Part, where: str) -> None:
    """Lets pass what no server will refuse half-way."""
    what = f"{where}: {_shown(part.key)}"
    if not part.key.startswith(b"slapjack:") or NOT_COPIED.fullmatch(part.key):
        raise _Broken(f"{what} is no key of ours")
    if not 0 <= part.until_ms <= END_OF_TIME_MS:
        raise _Broken(f"{what} cannot last until {part.until_ms} ms after 1970")
    name = part.key.removeprefix(b"slapjack:").decode(errors="replace")
    for form, kind in _KINDS:
        if kind != part.kind and re.fullmatch(form, name, re.DOTALL):
            raise _Broken(f"{what} is a {kind}, and no {part.kind}")
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


def _shown(key: bytes) -> str:
    return repr(key[:80].decode(errors="replace"))
