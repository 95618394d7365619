"""What a server must do to be a store, asked once at the start, by `/readyz` and by `slapjack doctor`."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
import redis as client

from server.base.settings import read_settings
from server.ops.doctor import look_at_store
from server.store.probe import Unfit, how_it_keeps, judged, probe
from server.store.redis import RedisStore
from tests.support import serving


async def test_every_server_we_stand_for_will_do(store: RedisStore) -> None:
    await probe(store.pipeline)
    assert (await how_it_keeps(store.pipeline)).unknown == ()


@pytest.mark.parametrize(
    ("allowed", "lacks"),
    [
        ("+@all -evalsha", "does not let this user run `EVALSHA`"),
        ("+@all -script", "does not let this user run `SCRIPT LOAD`"),
        ("+@all -xadd", "does not do `XADD` in a script"),
        ("+@all -xrange", "does not let this user run `XRANGE`"),
        ("+@all resetkeys ~other:*", "does not let this user have the keys slapjack:*"),
    ],
)
async def test_a_user_who_may_not_do_all_of_it_is_told_what(tmp_path: Path, allowed: str, lacks: str) -> None:
    with serving.redis(tmp_path) as url:
        with closing(client.Redis.from_url(url)) as direct:
            direct.execute_command("ACL", "SETUSER", "game", "on", ">hush", "~*", "&*", *allowed.split())  # type: ignore[no-untyped-call]
        asked = url.replace("unix://", "unix://game:hush@")
        async with RedisStore(asked) as store:
            with pytest.raises(Unfit) as unfit:
                await probe(store.pipeline)
        finding = await look_at_store(read_settings({"REDIS_URL": asked}))
    assert lacks in str(unfit.value)
    assert (finding.good, finding.told) == (False, str(unfit.value))
    assert "hush" not in finding.told


@pytest.mark.parametrize("how", ["replica", "full"])
async def test_a_server_that_takes_no_write_says_why(tmp_path: Path, how: str) -> None:
    lacks = {"replica": "is a read-only replica", "full": "is full"}
    options = {"replica": ("--replicaof", "127.0.0.1", "1"), "full": ("--maxmemory", "1")}
    with serving.redis(tmp_path, *options[how]) as url:
        async with RedisStore(url) as store:
            with pytest.raises(Unfit, match=lacks[how]):
                await probe(store.pipeline)


async def test_a_server_that_keeps_its_configuration_to_itself_will_do(tmp_path: Path) -> None:
    with serving.redis(tmp_path, "--rename-command", "CONFIG", "") as url:
        finding = await look_at_store(read_settings({"REDIS_URL": url}))
    assert finding.good is None, "which ends the doctor with 0"
    assert "cannot tell its appendfsync" in finding.told


def test_each_setting_that_loses_games_is_named() -> None:
    good = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
    assert judged(good).troubles == ()
    for name, value in (("appendonly", "no"), ("appendfsync", "everysec"), ("maxmemory-policy", "volatile-lru")):
        (trouble,) = judged({**good, name: value}).troubles
        assert name in trouble or "forgets all" in trouble


@asynccontextmanager
async def greeting(version: str, mode: str) -> AsyncIterator[str]:
    """Something that greets as such a server does, and does nothing else."""
    gone = asyncio.Event()
    said = [b"version", version.encode(), b"mode", mode.encode()]
    hello = b"*4\r\n" + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in said)

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while asked := await reader.read(4096):
            for command in re.findall(rb"\*\d+\r\n\$\d+\r\n(\w+)", asked):
                writer.write(hello if command == b"HELLO" else b"+OK\r\n")
            await writer.drain()
        writer.close()
        await writer.wait_closed()
        gone.set()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0?protocol=2"
        await gone.wait()


@pytest.mark.parametrize(
    ("version", "mode", "lacks"),
    [
        ("6.2.14", "standalone", "is version 6.2.14: Slapjack needs Redis 7"),
        ("7.2.4", "cluster", "runs in cluster mode"),
    ],
)
async def test_a_server_of_the_wrong_kind_is_told_so(version: str, mode: str, lacks: str) -> None:
    async with greeting(version, mode) as url, RedisStore(url) as store:
        with pytest.raises(Unfit, match=lacks):
            await probe(store.pipeline)
