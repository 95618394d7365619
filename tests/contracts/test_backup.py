"""Exporting all that a store holds and putting it into another, while people play."""

import asyncio
import io
import random
import stat
import zlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from engine.rules import GameName
from server.store import backup
from server.store.backup import FIRST_LINE, CannotExport, End, Part, export, new_file
from server.store.board import DUE
from server.store.port import Fenced, StoreDown
from server.store.redis import RedisStore, table_keys
from server.store.restore import CannotImport, restore
from tests.contracts.calendar import Calendar
from tests.contracts.servers import OwnServer, RedisServer, Server
from tests.contracts.tables import ANNA, BEN, ZOE, a_result, a_table, owner, played
from tests.support.serving import TIMEOUT_S
from wire.figures import By, Span


@pytest.fixture(scope="session")
def others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    """Servers to move to, one of each kind."""
    running: list[Server] = [OwnServer(tmp_path_factory.mktemp("other")), RedisServer(tmp_path_factory.mktemp("other"))]
    yield running
    for each in running:
        each.stop()


@pytest.fixture(params=[0, 1], ids=["own", "redis"])
async def other(request: pytest.FixtureRequest, others: list[Server], calendar: Calendar) -> AsyncIterator[RedisStore]:
    """An empty store on another server."""
    url = others[request.param].url
    async with Redis.from_url(url) as redis:
        await redis.flushall()
    opened = RedisStore(url, now_s=calendar)
    yield opened
    await opened.close()


async def exported(store: RedisStore) -> bytes:
    """A store's export."""
    out = io.BytesIO()
    await export(store.pipeline, store.board, out)
    return out.getvalue()


async def put(store: RedisStore, kept: bytes, *, replace: bool = False) -> backup.Copied:
    """Imports it."""
    return await restore(store.pipeline, store.board, io.BytesIO(kept), replace=replace)


async def listed(store: RedisStore) -> dict[Any, tuple[Any, int]]:
    """All that a store holds, as words, with the time at which each key expires."""
    redis = store.pipeline.redis
    snapshot = store.pipeline.script("snapshot")
    found = {}
    keys: Any = await redis.keys("*")
    for key in keys:
        ((kind, until_ms, words),) = await snapshot([key], ())
        if kind == b"zset":
            words = await redis.zrange(key, 0, -1, withscores=True)
        elif kind == b"set":
            words = sorted(words)
        elif kind == b"hash":
            words = dict(zip(words[::2], words[1::2], strict=True))
        found[key] = words, until_ms
    return found


async def lived_in(store: RedisStore) -> None:
    """Puts a bit of everything into a store."""
    for nth in range(5):
        keeper = await owner(store, f"T{nth:05}")
        for game in range(3):
            await keeper.keeps(b"deal \0\xff", deals=True)
            await keeper.keeps(b"move", b"", record=a_table(f"T{nth:05}", games=game))
            people = [played(ANNA, True, 300, 320), played(BEN, False, 410.5), played(ZOE)]
            result = a_result(game, *people, code=f"T{nth:05}", game=["slapjack", "war", "duel"][game])
            await keeper.keeps(b"last", result=result)
    await store.people.meet(ANNA, "Anna 🃏", "🦊")
    await store.people.link(BEN, ANNA)
    await store.people.set_recovery(ANNA, "c0" * 32)
    await store.people.offer_link(ANNA, "70" * 32)


async def test_what_is_exported_comes_back_as_it_was_on_any_server(store: RedisStore, other: RedisStore) -> None:
    await lived_in(store)
    kept = await exported(store)
    copied = await put(other, kept)
    assert copied.tables == 5
    before, after = await listed(store), await listed(other)
    due = before.pop(DUE.encode())
    assert due
    after.pop(DUE.encode(), None)
    assert after == before
    # And all of it is of use.
    keeper = await owner(other, "T00003")
    assert keeper.opened.journal == (b"deal \0\xff", b"move", b"", b"last")
    await keeper.keeps(b"goes on", result=a_result(99, played(ANNA, True), code="T00003"))
    page = await other.board.page(GameName.SLAPJACK, Span.ALL, By.GAMES, 1, ANNA)
    assert page.you is not None
    assert (page.you.games, page.you.best_us) == (6, 300_000)
    assert await other.person_of(BEN) == ANNA
    assert await other.people.recover("c0" * 32) == ANNA


async def test_results_that_wait_are_counted_after_the_import_and_once(store: RedisStore, other: RedisStore) -> None:
    keeper = await owner(store)
    await keeper.keeps(b"move", result=a_result(1, played(ANNA, True)))
    await store.board.pause_counting()
    await keeper.keeps(b"move", result=a_result(2, played(ANNA, True)))
    kept = await exported(store)
    await put(other, kept)
    await other.board.sweep()
    page = await other.board.page(GameName.SLAPJACK, Span.ALL, By.GAMES, 1, ANNA)
    assert page.you is not None
    assert page.you.games == 2


@pytest.mark.parametrize("other", [1], indirect=True, ids=["redis"])
async def test_an_export_while_people_play_is_a_store_as_it_could_have_been(
    store: RedisStore, other: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the moment, every table is whole, and each of its games is counted once or still waits to be."""
    monkeypatch.setattr(backup, "AT_ONCE", 5)
    stop = asyncio.Event()
    codes = [f"T{nth:05}" for nth in range(4)]

    async def play(code: str) -> None:
        await store.create_table(a_table(code, games=0))
        keeper = await owner(store, code)
        games = 0
        while not stop.is_set():
            games += 1
            await keeper.keeps(b"%d" % games, deals=True)
            somebody = f"{code}{games:04}".encode().hex().ljust(64, "0")
            result = a_result(games, played(ANNA, True, 300), played(somebody), code=code)
            await keeper.keeps(b"over", record=a_table(code, games=games), result=result)
            await asyncio.sleep(0.005)

    playing = [asyncio.create_task(play(code)) for code in codes]
    most = 0
    for _ in range(3):
        await put(other, await exported(store), replace=True)
        await other.board.sweep()
        games = 0
        for code in codes:
            if (record := await other.load_table(code)) is not None:
                games += record.games
                journal = [b"0", b"over", *await other.journal(code)]
                in_a_game = journal[-1] == b"%d" % (record.games + 1)
                assert in_a_game or journal[-2:] == [b"%d" % record.games, b"over"]
        you = (await other.board.page(GameName.SLAPJACK, Span.ALL, By.GAMES, 1, ANNA)).you
        assert (you.games if you else 0) == games
        most = max(most, games)
    stop.set()
    await asyncio.gather(*playing)
    assert most > 0


async def test_an_export_that_was_overtaken_by_counting_says_so(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await lived_in(store)
    monkeypatch.setattr(backup, "AT_ONCE", 5)

    class Slow(io.BytesIO):
        """Somewhere to write to that takes so long that counting goes on by itself."""

        def write(self, _: Any) -> int:
            asyncio.get_running_loop().create_task(store.board.count_again())
            return 0

    with pytest.raises(CannotExport, match="results were counted meanwhile"):
        await export(store.pipeline, store.board, Slow())
    assert not await store.board.paused()


async def test_what_is_of_no_kind_of_ours_is_left_and_said(
    store: RedisStore, redis: "Redis", other: RedisStore
) -> None:
    await lived_in(store)
    await redis.rpush("slapjack:things", "a", "b")
    await redis.set("other:things", "not ours at all")
    out = io.BytesIO()
    copied = await export(store.pipeline, store.board, out)
    assert copied.left == ("slapjack:things, a list",)
    assert b"other:things" not in out.getvalue()
    await put(other, out.getvalue())


async def test_what_has_expired_meanwhile_does_not_come_back(
    store: RedisStore, redis: "Redis", other: RedisStore
) -> None:
    await lived_in(store)
    journal = table_keys("T00001")[2]
    await redis.pexpire(journal, 1000)
    kept = await exported(store)
    async with asyncio.timeout(TIMEOUT_S):
        while await redis.exists(journal):  # noqa: ASYNC110 - it is the server that says when
            await asyncio.sleep(0.01)
    await put(other, kept)
    assert await other.load_table("T00001") is not None
    assert await other.journal("T00001") == ()
    assert await other.journal("T00002") != ()


async def test_what_is_there_is_replaced_only_when_that_is_wanted(store: RedisStore, other: RedisStore) -> None:
    await lived_in(store)
    kept = await exported(store)
    await owner(other, "MINE22")
    before = await listed(other)
    with pytest.raises(CannotImport, match="there are tables and scores already: nothing was changed"):
        await put(other, kept)
    assert await listed(other) == before
    await put(other, kept, replace=True)
    assert await other.load_table("MINE22") is None
    assert await other.load_table("T00003") is not None


async def test_whoever_has_a_replaced_table_awake_is_fenced_off(store: RedisStore) -> None:
    keeper = await owner(store)
    await keeper.keeps(b"deal", deals=True)
    kept = await exported(store)
    await keeper.keeps(b"move")
    await put(store, kept, replace=True)
    with pytest.raises(Fenced):
        await keeper.keeps(b"another")
    assert (await owner(store)).opened.journal == (b"deal",)


async def small_export(store: RedisStore) -> bytes:
    keeper = await owner(store)
    await keeper.keeps(b"deal", deals=True, result=a_result(1, played(ANNA, True, 300)))
    return await exported(store)


async def test_a_file_that_is_cut_short_anywhere_is_refused(store: RedisStore) -> None:
    kept = await small_export(store)
    before = await listed(store)
    for length in range(0, len(kept), 29):
        with pytest.raises(CannotImport, match="nothing was changed"):
            await put(store, kept[:length], replace=True)
    assert await listed(store) == before


async def test_a_file_with_a_flipped_bit_is_refused(store: RedisStore) -> None:
    kept = await small_export(store)
    before = await listed(store)
    rng = random.Random(5)
    for _ in range(100):
        at = rng.randrange(len(kept))
        flipped = kept[:at] + bytes((kept[at] ^ 1 << rng.randrange(8),)) + kept[at + 1 :]
        with pytest.raises(CannotImport, match="nothing was changed"):
            await put(store, flipped, replace=True)
    assert await listed(store) == before


def a_file(*parts: Any, end: int | None = None) -> bytes:
    """A file with a right check sum for whatever is in it."""
    bodies = [part if isinstance(part, bytes) else msgspec.msgpack.encode(part) for part in parts]
    bodies.append(msgspec.msgpack.encode(End(len(parts) if end is None else end)))
    return FIRST_LINE + b"".join(len(b).to_bytes(4) + zlib.crc32(b).to_bytes(4) + b for b in bodies)


A_SET = Part(b"slapjack:{A}:devices", "set", 0, ((b"x",),))
STREAM = Part(b"slapjack:{A}:journal", "stream", 0, ((b"1-1", b"e", b"x"),))
GOOD = Part(b"slapjack:{A}:table", "string", 0, ((b"x",),))


@pytest.mark.parametrize(
    ("kept", "wrong"),
    [
        (b"", "no export of ours"),
        (b"PK\3\4 something else entirely", "no export of ours"),
        (b"slapjack export 2\n", "version 2 of the form, and this is 1"),
        (FIRST_LINE, "it ends in part 1, before its end"),
        (a_file(GOOD) + b"x", "there is more after its end"),
        (a_file(GOOD, end=2), "its end speaks of 2 parts, and there are 1"),
        (FIRST_LINE + b"\xff" * 40, "part 1 cannot be so long"),
        (a_file(b"\xc1"), "part 1: "),
        (a_file({"type": "other"}), "part 1: Invalid value"),
        (a_file(GOOD, Part(b"other:key", "string", 0, ((b"x",),))), "part 2: 'other:key' is no key of ours"),
        (a_file(Part(DUE.encode(), "zset", 0, ((b"x", b"1"),))), "is no key of ours"),
        (a_file(Part(b"slapjack:{war}:paused", "string", 0, ((b"x",),))), "is no key of ours"),
        (a_file(Part(b"slapjack:a", "string", 0, ())), "cannot be a string"),
        (a_file(Part(b"slapjack:a", "string", 0, ((b"x",), (b"y",)))), "cannot be a string"),
        (a_file(Part(b"slapjack:a", "string", 0, ((b"x", b"y"),))), "cannot be a string"),
        (a_file(Part(b"slapjack:a", "hash", 0, ((b"x",),))), "cannot be a hash"),
        (a_file(Part(b"slapjack:a", "set", 0, ((),))), "cannot be a set"),
        (a_file(Part(b"slapjack:a", "zset", 0, ((b"x", b"many"),))), "cannot be a zset"),
        (a_file(Part(b"slapjack:a", "zset", 0, ((b"x", b"nan"),))), "cannot be a zset"),
        (a_file(Part(b"slapjack:a", "stream", 0, ((b"1-1", b"e"),))), "cannot be a stream"),
        (a_file(Part(b"slapjack:a", "stream", 0, ((b"1", b"e", b"x"),))), "cannot be a stream"),
        (a_file(Part(b"slapjack:a", "stream", 0, ((b"0-0", b"e", b"x"),))), "cannot be a stream"),
        (a_file(Part(b"slapjack:a", "stream", 0, ((b"1-" + b"9" * 20, b"e", b"x"),))), "cannot be a stream"),
        (a_file(Part(b"slapjack:a", "stream", 0, ((b"1-2", b"e", b"x"), (b"1-1", b"e", b"x")))), "cannot be a stream"),
        (a_file(GOOD, GOOD), "part 2: 'slapjack:{A}:table' is there twice"),
        (a_file(A_SET, GOOD, A_SET), "part 3: 'slapjack:{A}:devices' is there twice"),
        (a_file(STREAM, STREAM), "part 2: 'slapjack:{A}:journal' is there twice"),
        (a_file(Part(b"slapjack:a", "string", 2**63, ((b"x",),))), f"cannot last until {2**63} ms after 1970"),
        (a_file(Part(b"slapjack:a", "string", -1, ((b"x",),))), "cannot last until -1 ms after 1970"),
        (a_file(Part(b"slapjack:{a}:person", "string", 0, ((b"x",),))), "is a hash, and no string"),
        (a_file(Part(b"slapjack:{war}:all:row:a", "set", 0, ((b"x",),))), "is a hash, and no set"),
        (a_file(Part(b"slapjack:device:a", "set", 0, ((b"x",),))), "is a string, and no set"),
    ],
)
async def test_a_file_that_is_not_ours_is_refused_in_words(store: RedisStore, kept: bytes, wrong: str) -> None:
    await lived_in(store)
    before = await listed(store)
    with pytest.raises(CannotImport) as told:
        await put(store, kept, replace=True)
    assert wrong in str(told.value)
    assert "nothing was changed" in str(told.value)
    assert await listed(store) == before


def test_a_file_is_there_when_all_of_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "backup.slapjack"

    def write(what: bytes, wrong: Exception | None = None) -> None:
        with new_file(file) as out:
            out.write(what)
            assert not file.exists()
            if wrong is not None:
                raise wrong

    with pytest.raises(StoreDown):
        write(b"half", StoreDown())
    assert list(tmp_path.iterdir()) == []
    write(b"whole")
    assert file.read_bytes() == b"whole"
    with pytest.raises(CannotExport, match="is there already"):
        write(b"other")
    assert file.read_bytes() == b"whole"
    with pytest.raises(CannotExport, match="cannot write"), new_file(tmp_path / "no" / "folder"):
        pass
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_is_for_its_owner_alone_and_follows_no_link(tmp_path: Path) -> None:
    file, precious = tmp_path / "backup.slapjack", tmp_path / "precious"
    precious.write_bytes(b"precious")
    (tmp_path / "backup.slapjack.unfinished").symlink_to(precious)
    with new_file(file) as out:
        out.write(b"whole")
    assert (file.read_bytes(), precious.read_bytes()) == (b"whole", b"precious")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.unlink()
    file.symlink_to(tmp_path / "nowhere")
    with pytest.raises(CannotExport, match="is there already"), new_file(file):
        pass
    assert not (tmp_path / "nowhere").exists()
