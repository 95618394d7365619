"""Several servers over one store: leases, who owns a table, and what all of them hear (server/store/nodes.py)."""

import asyncio
import io

import pytest
from redis.asyncio import Redis

from engine.rules import GameName
from server.store.backup import export
from server.store.nodes import FORGOTTEN, LEASE_MS, lease_key
from server.store.port import BadRecord, Elsewhere, Fenced
from server.store.redis import RedisStore, table_keys
from server.store.restore import restore
from server.table.records import Change
from tests.contracts.calendar import Calendar
from tests.contracts.servers import Server
from tests.contracts.tables import BEN, CODE, a_result, a_table, played
from wire.figures import By, Span

MARKS = table_keys(CODE)[1]
A, B = "node-a/1", "node-b/1"


async def alive(store: RedisStore, *owners: str) -> None:
    """These have their leases."""
    for owner in owners:
        assert await store.nodes.take(*owner.split("/"))


async def for_long(redis: "Redis", *owners: str) -> None:
    """Their leases outlast a test that takes its time."""
    for owner in owners:
        assert await redis.pexpire(lease_key(owner.partition("/")[0]), 60_000)


async def owner_of(redis: "Redis") -> str:
    """The owner that the table says it has."""
    owner = await redis.hget(MARKS, "owner")
    return owner.decode() if isinstance(owner, bytes) else ""


# --- leases ------------------------------------------------------------------------------------------------------


async def test_a_name_is_one_servers_until_its_lease_is_over(store: RedisStore, redis: "Redis") -> None:
    assert await store.nodes.take("node-a", "1")
    assert not await store.nodes.take("node-a", "2")
    assert not await store.nodes.take("node-a", "1"), "not even for the same boot: it would not know of the gap"
    assert 0 < await redis.pttl(lease_key("node-a")) <= LEASE_MS
    await redis.delete(lease_key("node-a"))
    assert await store.nodes.take("node-a", "2")


async def test_a_lease_that_nobody_renews_is_over_by_the_stores_clock(store: RedisStore, redis: "Redis") -> None:
    await alive(store, A)
    await redis.pexpire(lease_key("node-a"), 1)
    async with asyncio.timeout(5):
        while True:
            if await store.nodes.take("node-a", "2"):
                return
            await asyncio.sleep(0.01)


async def test_only_whose_lease_it_is_renews_and_ends_it(store: RedisStore, redis: "Redis") -> None:
    await alive(store, A)
    await redis.pexpire(lease_key("node-a"), 60_000)
    assert not await store.nodes.renew("node-a", "2")
    await store.nodes.release("node-a", "2")
    assert await redis.pttl(lease_key("node-a")) > LEASE_MS
    assert await store.nodes.renew("node-a", "1")
    assert 0 < await redis.pttl(lease_key("node-a")) <= LEASE_MS
    await store.nodes.release("node-a", "1")
    assert not await store.nodes.renew("node-a", "1")
    assert await redis.keys("*") == []


async def test_how_long_a_lease_lasts(store: RedisStore) -> None:
    await alive(store, A)
    assert 0 < await store.nodes.left_ms("node-a", "1") <= LEASE_MS
    assert await store.nodes.left_ms("node-a", "2") == await store.nodes.left_ms("node-b", "1") == 0


async def test_what_is_no_lease_of_ours_is_named(store: RedisStore, redis: "Redis") -> None:
    await redis.rpush(lease_key("node-a"), "somebody", "else's")
    with pytest.raises(BadRecord, match="slapjack:node:node-a: not ours"):
        await store.nodes.left_ms("node-a", "1")
    assert not await store.nodes.take("node-a", "1")


# --- owners ------------------------------------------------------------------------------------------------------


async def test_a_table_is_its_owners_for_as_long_as_the_lease_lasts(store: RedisStore, redis: "Redis") -> None:
    await store.create_table(a_table())
    await alive(store, A, B)
    first = await store.open_table(CODE, A)
    assert first is not None
    with pytest.raises(Elsewhere) as there:
        await store.open_table(CODE, B)
    assert there.value.node == "node-a"
    assert 0 < there.value.left_ms <= LEASE_MS
    await store.keep(CODE, first.epoch, 1, Change(entries=(b"deal",), deals=True))
    await redis.delete(lease_key("node-a"))
    second = await store.open_table(CODE, B)
    assert second is not None
    assert second.journal == (b"deal",)
    assert await owner_of(redis) == B
    with pytest.raises(Fenced):
        await store.keep(CODE, first.epoch, 2, Change(entries=(b"late",)))
    assert await store.journal(CODE) == (b"deal",)


async def test_an_owner_takes_its_own_table_up_again(store: RedisStore) -> None:
    await store.create_table(a_table())
    await alive(store, A)
    first, second = await store.open_table(CODE, A), await store.open_table(CODE, A)
    assert first is not None
    assert second is not None
    assert second.epoch > first.epoch


async def test_a_server_that_was_started_anew_takes_up_what_it_had(store: RedisStore) -> None:
    """The name is the same, the lease is not."""
    await store.create_table(a_table())
    await store.open_table(CODE, "node-a/0")
    await alive(store, A, B)
    assert await store.open_table(CODE, B) is not None


async def test_of_many_who_want_a_free_table_at_once_one_gets_it(store: RedisStore, redis: "Redis") -> None:
    owners = [f"node-{nth}/1" for nth in range(5)]
    await alive(store, *owners)
    await for_long(redis, *owners)
    for nth in range(40):
        code = f"T{nth:05}"
        await store.create_table(a_table(code))
        asked = await asyncio.gather(*(store.open_table(code, owner) for owner in owners), return_exceptions=True)
        told = {each.node for each in asked if isinstance(each, Elsewhere)}
        (got,) = (owner for owner, each in zip(owners, asked, strict=True) if not isinstance(each, BaseException))
        assert told == {got.partition("/")[0]}


async def test_a_table_that_is_given_up_is_anybodys(store: RedisStore, redis: "Redis") -> None:
    await store.create_table(a_table())
    await alive(store, A, B)
    opened = await store.open_table(CODE, A)
    assert opened is not None
    await store.release_table(CODE, B, opened.epoch)
    await store.release_table(CODE, A, opened.epoch - 1)
    assert await owner_of(redis) == A, "by its owner alone, and not by what it was before"
    await store.release_table(CODE, A, opened.epoch)
    assert await owner_of(redis) == ""
    assert await store.open_table(CODE, B) is not None


async def test_giving_up_what_is_gone_or_not_ours_changes_nothing(store: RedisStore, redis: "Redis") -> None:
    await store.release_table(CODE, A, 1)
    assert await redis.keys("*") == []
    await redis.set(MARKS, "somebody else's")
    with pytest.raises(BadRecord, match="not ours"):
        await store.release_table(CODE, A, 1)


async def test_without_an_owner_a_table_is_taken_from_anybody_and_then_free(store: RedisStore, redis: "Redis") -> None:
    """As whoever forgets a person does."""
    await store.create_table(a_table())
    await alive(store, A, B)
    first = await store.open_table(CODE, A)
    assert first is not None
    await store.open_table(CODE)
    with pytest.raises(Fenced):
        await store.keep(CODE, first.epoch, 1, Change())
    assert await owner_of(redis) == ""
    assert await store.open_table(CODE, B) is not None


@pytest.mark.parametrize("mark", [b"", b"/", b"node-b", b"\xff\xfe", b"node-b/1/2", b"x" * 10_000])
async def test_an_owner_that_nobody_can_be_keeps_no_table(store: RedisStore, redis: "Redis", mark: bytes) -> None:
    await store.create_table(a_table())
    await store.open_table(CODE)
    await redis.hset(MARKS, "owner", mark)
    assert await store.open_table(CODE, A) is not None
    assert await owner_of(redis) == A


async def test_clocks_that_are_an_hour_apart_split_no_table(server: Server, store: RedisStore) -> None:
    """Leases end by the store's clock alone."""
    late = Calendar()
    late.now_s -= 3_600
    async with RedisStore(server.url, now_s=late) as other:
        await store.create_table(a_table())
        await alive(store, A)
        await alive(other, B)
        opened = await store.open_table(CODE, A)
        assert opened is not None
        with pytest.raises(Elsewhere):
            await other.open_table(CODE, B)
        assert not await other.nodes.take("node-a", "2")
        await store.nodes.release("node-a", "1")
        assert await other.open_table(CODE, B) is not None
        with pytest.raises(Fenced):
            await store.keep(CODE, opened.epoch, 1, Change(entries=(b"late",)))


# --- what all of them hear, and do -------------------------------------------------------------------------------


async def test_every_server_hears_who_is_forgotten_once(store: RedisStore, redis: "Redis") -> None:
    people, place = await store.nodes.forgotten("-")
    assert (people, place) == ([], "-")
    await store.nodes.tell_forgotten("ann")
    await store.nodes.tell_forgotten("ben")
    people, after = await store.nodes.forgotten(place)
    assert people == ["ann", "ben"]
    assert await store.nodes.forgotten(after) == ([], after)
    await store.nodes.tell_forgotten("cid")
    assert (await store.nodes.forgotten(after))[0] == ["cid"]
    assert 0 < await redis.ttl(FORGOTTEN) <= 60, "who was forgotten is soon in no list of the forgotten either"


async def test_servers_that_sweep_at_once_count_a_result_once(store: RedisStore, server: Server) -> None:
    async with RedisStore(server.url, now_s=Calendar()) as other:
        await store.create_table(a_table())
        opened = await store.open_table(CODE)
        assert opened is not None
        await store.board.pause_counting()
        for nth in range(1, 31):
            result = a_result(nth, played(BEN, True, 300))
            await store.keep(CODE, opened.epoch, nth, Change(entries=(b"won",), result=result))
        await store.board.count_again()
        await asyncio.gather(*(each.board.sweep() for each in (store, other, store, other)))
        page = await store.board.page(GameName.SLAPJACK, Span.ALL, By.GAMES, 1, BEN)
    assert [(row.games, row.wins) for row in page.rows] == [(30, 30)]


async def test_a_back_up_has_no_server_in_it_and_ends_no_lease(store: RedisStore, redis: "Redis") -> None:
    await store.create_table(a_table())
    await alive(store, A)
    await for_long(redis, A)
    await store.open_table(CODE, A)
    await store.nodes.tell_forgotten("ann")
    out = io.BytesIO()
    await export(store.pipeline, store.board, out)
    assert b"slapjack:node" not in out.getvalue()
    assert FORGOTTEN.encode() not in out.getvalue()
    await restore(store.pipeline, store.board, out, replace=True)
    assert await store.nodes.renew("node-a", "1")
    with pytest.raises(Elsewhere):
        await store.open_table(CODE, B)
