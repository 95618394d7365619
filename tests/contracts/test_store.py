"""What every store must do (server/store/port.py), on each server it may run on, whatever may happen to it."""

import asyncio
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pytest
from redis.asyncio import Redis

from engine.rules import Rules, WonPile
from server.protocol import Kind, SeatId
from server.store import redis as adapter
from server.store.embedded import EmbeddedStore
from server.store.port import BadRecord, Computer, Score, SeatRecord, StoreDown, TableRecord
from server.store.redis import RedisStore, table_key
from tests.support.serving import TIMEOUT_S, wait_for

CODE = "K7WQ2M"


class Server(Protocol):
    """A store's server that may be killed and comes back."""

    url: str

    def recover(self) -> None:
        """Sees to it that a killed server is started again."""

    def stop(self) -> None:
        """Ends it."""


class OwnServer:
    """The server that comes with the game, which is started again by itself."""

    def __init__(self, folder: Path) -> None:
        self._store = EmbeddedStore(folder, fsync="everysec")
        self.url = self._store.url

    def recover(self) -> None:
        """Nothing to do."""

    def stop(self) -> None:
        """Ends it."""
        self._store.stop()


class RedisServer:
    """Debian's redis-server on a TCP port, with an append-only file.

    `everysec`, its default, may acknowledge what it has not written when the disk is slow, and a kill loses that.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port: int = free.getsockname()[1]
        self.url = f"redis://:secret@127.0.0.1:{self._port}/0"
        self._start()

    def recover(self) -> None:
        """Starts it again, in the same folder and on the same port."""
        self._process.wait(TIMEOUT_S)
        self._start()

    def stop(self) -> None:
        """Ends it."""
        self._process.terminate()
        self._process.wait(TIMEOUT_S)

    def _start(self) -> None:
        with (self._folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *("redis-server", "--bind", "127.0.0.1", "--port", str(self._port), "--dir", str(self._folder)),
                    *("--requirepass", "secret", "--appendonly", "yes", "--appendfsync", "always", "--save", ""),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        wait_for(self._listens, "redis-server to listen")

    def _listens(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=1):
            return True
        return False


@pytest.fixture(scope="module", params=[OwnServer, RedisServer])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One running server of each kind."""
    running: Server = request.param(tmp_path_factory.mktemp("store"))
    yield running
    running.stop()


@pytest.fixture
async def store(server: Server) -> AsyncIterator[RedisStore]:
    """The store over an empty server."""
    async with Redis.from_url(server.url) as redis:
        await redis.flushall()
    opened = RedisStore(server.url)
    yield opened
    await opened.close()


@pytest.fixture
async def redis(server: Server) -> AsyncIterator["Redis"]:
    """A way past the store, to what the server holds."""
    async with Redis.from_url(server.url) as client:
        yield client


def a_table(code: str = CODE, **fields: Any) -> TableRecord:
    """A table with a person, whose name is as awkward as names are, and a computer player."""
    person = SeatRecord(SeatId("a1"), "Zoë 🃏 <b>", "🦊", Kind.PERSON, key_hash="ab" * 32, handicap_ms=120)
    computer = SeatRecord(SeatId("b2"), "Robot", "🤖", Kind.COMPUTER, computer=Computer(reaction_ms=450))
    plain: dict[str, Any] = {
        "rules": Rules(queens=True, won_pile=WonPile.UNDER, card_limit=200),
        "seats": (person, computer),
        "scores": {"ab" * 32: Score("Zoë 🃏 <b>", "🦊", 3, 4), "b2": Score("Robot", "🤖", 1, 4)},
        "games": 4,
        "host": SeatId("a1"),
        "dealer": SeatId("b2"),
        "locked": True,
    }
    return TableRecord(code, **{**plain, **fields})


async def server_pid(redis: "Redis") -> int:
    """The process that holds the data."""
    return int((await redis.info("server"))["process_id"])


async def answering(store: RedisStore) -> None:
    """Waits until the store answers again."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            with suppress(StoreDown):
                return await store.ping()
            await asyncio.sleep(0.01)


async def test_a_table_comes_back_as_it_was_kept(store: RedisStore) -> None:
    assert await store.create_table(a_table())
    assert await store.load_table(CODE) == a_table()


async def test_a_code_that_nobody_has_is_no_table(store: RedisStore) -> None:
    assert await store.load_table(CODE) is None


async def test_a_taken_code_is_not_given_again(store: RedisStore) -> None:
    await store.create_table(a_table())
    assert not await store.create_table(a_table(games=0, seats=(), scores={}))
    assert await store.load_table(CODE) == a_table()


async def test_two_who_want_the_same_code_at_once_do_not_both_get_it(store: RedisStore) -> None:
    made = await asyncio.gather(*(store.create_table(a_table(games=nth)) for nth in range(50)))
    assert sum(made) == 1
    kept = await store.load_table(CODE)
    assert kept is not None
    assert kept.games == made.index(True)


async def test_what_is_saved_last_is_what_is_kept(store: RedisStore) -> None:
    await store.create_table(a_table())
    await store.save_table(a_table(games=5))
    await store.save_table(a_table(games=6, locked=False))
    assert await store.load_table(CODE) == a_table(games=6, locked=False)


async def test_more_tables_at_once_than_connections(store: RedisStore) -> None:
    codes = [f"T{nth:05}" for nth in range(20 * adapter.MAX_CONNECTIONS)]
    await asyncio.gather(*(store.save_table(a_table(code)) for code in codes))
    assert await asyncio.gather(*(store.load_table(code) for code in codes)) == [a_table(code) for code in codes]


async def test_an_await_that_is_cancelled_does_not_cross_replies(store: RedisStore) -> None:
    codes = [f"T{nth:05}" for nth in range(40)]
    for code in codes:
        await store.create_table(a_table(code))
    loads = [asyncio.create_task(store.load_table(codes[nth % 40])) for nth in range(400)]
    for nth, load in enumerate(loads):
        if nth % 2:
            # Each is cut short at another moment of its way.
            for _ in range(nth % 7):
                await asyncio.sleep(0)
            load.cancel()
    for nth, kept in enumerate(await asyncio.gather(*loads, return_exceptions=True)):
        assert isinstance(kept, asyncio.CancelledError) or kept == a_table(codes[nth % 40])
    assert await asyncio.gather(*(store.load_table(code) for code in codes)) == [a_table(code) for code in codes]


async def test_a_key_of_another_type_is_no_table_and_is_left_alone(store: RedisStore, redis: "Redis") -> None:
    await redis.rpush(table_key(CODE), "somebody", "else's")
    with pytest.raises(BadRecord, match=r"slapjack:\{K7WQ2M\}:table: not a table of ours"):
        await store.load_table(CODE)
    with pytest.raises(BadRecord, match=r"slapjack:\{K7WQ2M\}:table: not a table of ours"):
        await store.save_table(a_table())
    assert not await store.create_table(a_table())
    assert await redis.lrange(table_key(CODE), 0, -1) == [b"somebody", b"else's"]


def record_with(**changes: Any) -> bytes:
    """A kept table with other fields; a field that is None is left out."""
    fields: dict[str, Any] = {**msgspec.to_builtins(a_table()), **changes}
    return msgspec.msgpack.encode({name: value for name, value in fields.items() if value is not None})


@pytest.mark.parametrize(
    ("kept", "wrong"),
    [
        (b"", "truncated"),
        (b"not msgpack", "Expected `object`"),
        (msgspec.msgpack.encode([1, 2]), "Expected `object`"),
        (record_with(version=2), "version 2, but this server reads version 1"),
        (record_with(version="1"), "Expected `int`"),
        (record_with(version=None), "missing required field `version`"),
        (record_with(rules=None), "missing required field `rules`"),
        (record_with(games="many"), r"Expected `int`.*games"),
        (record_with(colour="red"), "unknown field `colour`"),
        (record_with(rules={"min_show_ms": 1}), r"min_show_ms"),
        (record_with(code="222222"), "holds the table '222222'"),
        (record_with()[:-3], "truncated"),
        (record_with() + b"\0", "trailing"),
    ],
)
async def test_what_cannot_be_read_is_named_and_left_alone(
    store: RedisStore, redis: "Redis", kept: bytes, wrong: str
) -> None:
    await redis.set(table_key(CODE), kept)
    with pytest.raises(BadRecord, match=rf"^slapjack:\{{K7WQ2M\}}:table: .*{wrong}"):
        await store.load_table(CODE)
    assert not await store.create_table(a_table())
    assert await redis.get(table_key(CODE)) == kept


async def test_nothing_acknowledged_is_lost_to_a_kill(server: Server, store: RedisStore, redis: "Redis") -> None:
    await store.create_table(a_table(games=0))
    acknowledged = 0
    enough = asyncio.Event()

    async def play_on() -> None:
        nonlocal acknowledged
        while True:
            await store.save_table(a_table(games=acknowledged + 1))
            acknowledged += 1
            if acknowledged == 100:
                enough.set()

    pid = await server_pid(redis)
    playing = asyncio.create_task(play_on())
    await enough.wait()
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(StoreDown):
        await playing
    server.recover()
    await answering(store)
    kept = await store.load_table(CODE)
    assert kept is not None
    # The one that was under way may have been written or not.
    assert kept.games - acknowledged in (0, 1)


async def test_the_first_question_to_a_server_that_is_back_is_answered(
    server: Server, store: RedisStore, redis: "Redis"
) -> None:
    await asyncio.gather(*(store.save_table(a_table(f"T{nth:05}")) for nth in range(adapter.MAX_CONNECTIONS)))
    os.kill(await server_pid(redis), signal.SIGKILL)
    server.recover()
    async with RedisStore(server.url) as other:
        await answering(other)
    # All connections of this one are to the server that is gone.
    await asyncio.gather(*(store.load_table(f"T{nth:05}") for nth in range(adapter.MAX_CONNECTIONS)))


async def test_a_server_that_stands_still_is_down_and_gets_no_write_twice(
    server: Server, redis: "Redis", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "ANSWER_TIMEOUT_S", 1.0)
    pid = await server_pid(redis)
    async with RedisStore(server.url) as store:
        await store.ping()
        before = await sets(redis)
        os.kill(pid, signal.SIGSTOP)
        # It moves again while somebody who tries again would be trying again.
        asyncio.get_running_loop().call_later(1.4, os.kill, pid, signal.SIGCONT)
        with pytest.raises(StoreDown, match="does not answer"):
            await store.save_table(a_table())
        await answering(store)
        # What nobody waits for any more may still arrive, once.
        assert await sets(redis) - before in (0, 1)


async def sets(redis: "Redis") -> int:
    """How many times the server has been told to SET something."""
    return int((await redis.info("commandstats")).get("cmdstat_set", {}).get("calls", 0))


async def test_a_server_that_refuses_to_write_is_down(store: RedisStore, redis: "Redis") -> None:
    await store.create_table(a_table())
    await redis.config_set("maxmemory", "1")
    try:
        with pytest.raises(StoreDown, match="refuses: "):
            await store.save_table(a_table(games=9))
        assert await store.load_table(CODE) == a_table()
    finally:
        await redis.config_set("maxmemory", "0")


async def test_nobody_there_is_down_and_no_password_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with RedisStore(f"redis://:secret@127.0.0.1:{port}/0") as store:
        for ask in (store.ping(), store.load_table(CODE), store.save_table(a_table()), store.create_table(a_table())):
            with pytest.raises(StoreDown, match=f"redis://127.0.0.1:{port}/0 does not answer") as told:
                await ask
            assert "secret" not in str(told.value)


@pytest.mark.parametrize("server", [RedisServer], indirect=True)
async def test_a_wrong_password_is_down(server: Server) -> None:
    async with RedisStore(server.url.replace("secret", "guess")) as store:
        with pytest.raises(StoreDown) as told:
            await store.ping()
        assert "guess" not in str(told.value)
