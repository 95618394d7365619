"""What every store must do (server/store/port.py), on each server it may run on, whatever may happen to it."""

import asyncio
import os
import signal
import socket
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from engine.rules import GameName
from server.store import pipeline
from server.store.people import MOST_DEVICES, NEW_S, TooManyDevices
from server.store.pipeline import CLOCK_IS_SET_S
from server.store.port import BadRecord, Fenced, StoreDown
from server.store.redis import DAY_S, GAMES_KEPT, SLICE, RedisStore, table_key, table_keys
from server.table.records import Change, Score, Tournament
from tests.contracts.servers import RedisServer, Server
from tests.contracts.tables import BEN, CODE, ZOE, Owner, a_result, a_table, owner, played
from tests.support.serving import TIMEOUT_S
from wire.figures import By, Span

TABLE, MARKS, JOURNAL, RESULTS, SCORES, REWRITTEN = table_keys(CODE)


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


async def everything(redis: "Redis") -> dict[Any, bytes | None]:
    """All that the server holds, as it would write it to disk."""
    return {key: await redis.dump(key) for key in sorted(await redis.keys("*"))}


# --- tables ------------------------------------------------------------------------------------------------------


async def test_a_table_comes_back_as_it_was_kept(store: RedisStore) -> None:
    assert await store.create_table(a_table())
    assert await store.load_table(CODE) == a_table()


async def test_a_code_that_nobody_has_is_no_table(store: RedisStore, redis: "Redis") -> None:
    assert await store.load_table(CODE) is None
    assert await store.open_table(CODE) is None
    assert await everything(redis) == {}


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


async def test_more_tables_at_once_than_connections(store: RedisStore) -> None:
    codes = [f"T{nth:05}" for nth in range(20 * pipeline.MAX_CONNECTIONS)]
    assert all(await asyncio.gather(*(store.create_table(a_table(code)) for code in codes)))
    assert await asyncio.gather(*(store.load_table(code) for code in codes)) == [a_table(code) for code in codes]


async def test_many_tables_at_once_all_get_their_turn(store: RedisStore) -> None:
    """Where every write waits for the disk, a connection for each would leave some waiting until they give up."""
    keepers = await asyncio.gather(*(owner(store, f"T{nth:05}") for nth in range(200)))

    async def play(keeper: Owner) -> None:
        for nth in range(20):
            await keeper.keeps(b"%d" % nth)

    await asyncio.gather(*map(play, keepers))
    for nth in range(200):
        assert await store.journal(f"T{nth:05}") == tuple(b"%d" % move for move in range(20))


async def test_what_goes_out_together_is_answered_each_for_itself(store: RedisStore, redis: "Redis") -> None:
    await redis.rpush(table_key("BAD222"), "somebody", "else's")
    keeper = await owner(store)
    await store.open_table(CODE)
    good, bad, none, fenced = await asyncio.gather(
        store.load_table(CODE),
        store.load_table("BAD222"),
        store.load_table("NONE22"),
        keeper.keeps(b"move"),
        return_exceptions=True,
    )
    assert good == a_table()
    assert isinstance(bad, BadRecord)
    assert none is None
    assert isinstance(fenced, Fenced)


async def test_a_store_that_is_closed_lets_nobody_wait(server: Server, redis: "Redis") -> None:
    store = RedisStore(server.url)
    pid = await server_pid(redis)
    await store.ping()
    os.kill(pid, signal.SIGSTOP)
    try:
        waiting = asyncio.create_task(store.ping())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await store.close()
        with pytest.raises(StoreDown):
            await waiting
    finally:
        os.kill(pid, signal.SIGCONT)


# --- changes -----------------------------------------------------------------------------------------------------


async def test_a_table_is_taken_over_as_it_was_left(store: RedisStore) -> None:
    first = await owner(store)
    assert first.opened.record == a_table()
    assert first.opened.journal == ()
    await first.keeps(b"deal", b"move \0\xff", deals=True)
    await first.keeps(record=a_table(games=5))
    await first.keeps(b"move", record=a_table(games=6))
    second = await owner(store)
    assert second.opened.record == a_table(games=6)
    assert second.opened.journal == (b"deal", b"move \0\xff", b"move")
    assert second.opened.epoch > first.opened.epoch


async def test_restoring_starts_with_the_last_deal(store: RedisStore) -> None:
    first = await owner(store)
    for game in range(3):
        await first.keeps(b"deal %d" % game, deals=True)
        await first.keeps(b"move of game %d" % game)
    second = await owner(store)
    assert second.opened.journal == (b"deal 2", b"move of game 2")
    await second.keeps(b"one more")
    assert (await owner(store)).opened.journal == (b"deal 2", b"move of game 2", b"one more")


async def test_the_journal_has_the_last_games_and_does_not_grow(store: RedisStore, redis: "Redis") -> None:
    keeper = await owner(store)
    for game in range(GAMES_KEPT + 3):
        await keeper.keeps(b"deal %d" % game, deals=True)
        await keeper.keeps(b"move")
    games = range(3, GAMES_KEPT + 3)
    assert await store.journal(CODE) == tuple(kept for game in games for kept in (b"deal %d" % game, b"move"))
    length = await redis.xlen(JOURNAL)
    for _ in range(100):
        await keeper.keeps(record=a_table())
        keeper = await owner(store)
    assert await redis.xlen(JOURNAL) <= length + 1
    assert (await owner(store)).opened.journal == (b"deal %d" % (GAMES_KEPT + 2), b"move")


async def test_a_change_can_take_the_games_before_it_away(store: RedisStore, redis: "Redis") -> None:
    keeper = await owner(store)
    await keeper.keeps(b"deal 1", deals=True)
    await keeper.keeps(b"move")
    await keeper.keeps(b"deal 2", b"moves so far", deals=True, clears=True)
    await keeper.keeps(b"move")
    assert await store.journal(CODE) == (b"deal 2", b"moves so far", b"move")
    assert (await owner(store)).opened.journal == (b"deal 2", b"moves so far", b"move")
    keeper = await owner(store)
    await keeper.keeps(record=a_table(games=8), clears=True)
    assert await store.journal(CODE) == ()
    await keeper.keeps(b"deal 3", deals=True)
    assert (await owner(store)).opened.journal == (b"deal 3",)


async def test_a_change_that_is_sent_again_is_kept_once(store: RedisStore, redis: "Redis") -> None:
    keeper = await owner(store)
    await keeper.keeps(b"deal", deals=True)
    await keeper.keeps(b"move", record=a_table(games=7), result=a_result(1, played(BEN, True)))
    before = await everything(redis)
    for _ in range(3):
        await keeper.keeps(b"move", again=True, record=a_table(games=7), result=a_result(1, played(BEN, True)))
    assert await everything(redis) == before
    await store.keep(CODE, keeper.opened.epoch, 1, Change(entries=(b"deal",), deals=True))
    assert await everything(redis) == before
    await keeper.keeps(b"next")
    assert (await owner(store)).opened.journal == (b"deal", b"move", b"next")


async def test_an_owner_who_was_overtaken_changes_nothing(store: RedisStore, redis: "Redis") -> None:
    first = await owner(store)
    await first.keeps(b"deal", deals=True)
    second = await owner(store)
    before = await everything(redis)
    with pytest.raises(Fenced, match=r"slapjack:\{K7WQ2M\}:table: the journal stands at 2-0"):
        await first.keeps(b"move", record=a_table(games=99), result=a_result(1, played(BEN)))
    await second.keeps(b"its move")
    with pytest.raises(Fenced, match="stands at 2-1"):
        await first.keeps(b"move", again=True)
    assert (await owner(store)).opened.journal == (b"deal", b"its move")
    assert RESULTS.encode() not in before
    assert await redis.exists(RESULTS) == 0


async def test_of_two_who_take_a_table_over_at_once_one_keeps_it(store: RedisStore) -> None:
    await store.create_table(a_table())
    owners = await asyncio.gather(*(owner(store) for _ in range(20)))
    epochs = [one.opened.epoch for one in owners]
    assert sorted(epochs) == list(range(1, 21))
    kept = await asyncio.gather(*(one.keeps(b"mine") for one in owners), return_exceptions=True)
    assert [nth for nth, outcome in enumerate(kept) if outcome is None] == [epochs.index(20)]
    assert sum(isinstance(outcome, Fenced) for outcome in kept) == 19


async def test_a_change_after_one_that_is_missing_is_refused(store: RedisStore, redis: "Redis") -> None:
    """A server that has lost what it acknowledged would otherwise make a journal with a hole in it."""
    keeper = await owner(store)
    await keeper.keeps(b"deal", deals=True)
    keeper.number += 1
    with pytest.raises(Fenced, match="stands at 1-1"):
        await keeper.keeps(b"third")
    await redis.delete(JOURNAL)
    with pytest.raises(Fenced, match="stands at nothing"):
        await keeper.keeps(b"third", again=True)


async def test_an_epoch_is_never_given_again_even_when_the_journal_has_expired(
    store: RedisStore, redis: "Redis"
) -> None:
    first = await owner(store)
    await redis.delete(JOURNAL)
    second = await owner(store)
    await redis.delete(MARKS)
    third = await owner(store)
    assert first.opened.epoch < second.opened.epoch < third.opened.epoch


async def test_what_is_kept_lasts_as_long_as_it_is_set_to(server: Server, redis: "Redis") -> None:
    await redis.flushall()
    async with RedisStore(server.url, keep_days=100, keep_journal_days=7) as store:
        keeper = await owner(store)
        await keeper.keeps(b"deal", deals=True)
        lasts = {key: days * DAY_S for key, days in ((TABLE, 100), (MARKS, 100), (JOURNAL, 7))}
        for key, seconds in lasts.items():
            assert 0 <= seconds - await redis.ttl(key) < 60
            await redis.expire(key, 1000)
        await keeper.keeps(b"move", record=a_table())
        for key, seconds in lasts.items():
            assert 0 <= seconds - await redis.ttl(key) < 60


async def test_a_table_that_nobody_sits_at_is_soon_gone(store: RedisStore, redis: "Redis") -> None:
    """Nor is it kept because somebody has looked at it."""
    await store.create_table(a_table(seats=(), scores={}, games=0))
    assert 0 <= 2 * DAY_S - await redis.ttl(TABLE) < 60
    opened = await store.open_table(CODE)
    assert opened is not None
    for key in (TABLE, MARKS, JOURNAL):
        assert 0 <= 2 * DAY_S - await redis.ttl(key) < 60
    await store.keep(CODE, opened.epoch, 1, Change(a_table(scores={}, games=0)))
    assert 0 <= NEW_S - await redis.ttl(TABLE) < 60
    await store.keep(CODE, opened.epoch, 2, Change(a_table(scores={}, games=1)))
    assert await redis.ttl(TABLE) > 300 * DAY_S


@pytest.mark.parametrize(("used", "seconds"), [({"scores": {}, "games": 0}, NEW_S), ({"seats": ()}, 365 * DAY_S)])
async def test_a_table_is_kept_anew_when_it_is_opened_for_long_once_it_was_played_at(
    store: RedisStore, redis: "Redis", used: dict[str, Any], seconds: int
) -> None:
    await store.create_table(a_table(**used))
    await store.open_table(CODE)
    assert 0 <= seconds - await redis.ttl(TABLE) < 60


async def test_somebody_who_has_finished_no_game_is_kept_for_days_and_whoever_leaves_not_at_all(
    store: RedisStore, redis: "Redis"
) -> None:
    keeper = await owner(store, table=a_table(scores={}, games=0))
    await store.people.meet(ZOE, "Zoë", "🦊")
    await store.people.set_recovery(ZOE, "c0" * 32)
    keys = [f"slapjack:{{{ZOE}}}:{what}" for what in ("person", "tables")] + [f"slapjack:recovery:{'c0' * 32}"]
    for key in keys:
        assert 0 <= NEW_S - await redis.ttl(key) < 60
    await keeper.keeps(b"over", result=a_result(1, played(ZOE, True), played(BEN)))
    for key in keys[:2]:
        assert await redis.ttl(key) > 300 * DAY_S
    await keeper.keeps(record=a_table(seats=()), left=(ZOE,))
    assert await store.people.tables(ZOE) == []


async def test_a_device_that_came_by_a_link_owns_nobody_and_is_sent_away(store: RedisStore) -> None:
    phones = [f"{nth:02x}" * 32 for nth in range(MOST_DEVICES + 1)]
    await store.people.link(phones[0], ZOE)
    await store.people.link(phones[1], ZOE, owner=True)
    assert [await store.people.owns(phone, ZOE) for phone in (ZOE, *phones[:2])] == [True, False, True]
    (first, _) = await store.people.devices(ZOE)
    assert (first.id, first.since_s) == (phones[0][:16], await store.pipeline.now_s())
    assert not await store.people.evict(ZOE, "f" * 16)
    assert not await store.people.evict(ZOE, "")
    assert await store.people.evict(ZOE, first.id)
    assert await store.people.person_of(phones[0]) == phones[0]
    assert len(await store.people.devices(ZOE)) == 1
    for phone in phones[2:]:
        await store.people.link(phone, ZOE)
    with pytest.raises(TooManyDevices):
        await store.people.link(phones[0], ZOE)


# --- what is not ours, or broken ---------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [TABLE, MARKS, JOURNAL, RESULTS])
async def test_a_key_of_another_type_is_named_and_left_alone(store: RedisStore, redis: "Redis", key: str) -> None:
    keeper = await owner(store)
    await redis.delete(key)
    await redis.rpush(key, "somebody", "else's")
    before = await everything(redis)
    with pytest.raises(BadRecord) as told:
        await keeper.keeps(b"deal", deals=True, record=a_table(), result=a_result(1, played(BEN)))
    assert str(told.value).startswith(f"{key}: not ours: ")
    with pytest.raises(BadRecord) as told:
        await store.open_table(CODE)
    assert str(told.value).startswith(f"{key}: not ours: ")
    assert not await store.create_table(a_table()) or key == TABLE
    after = await everything(redis)
    assert {name: kept for name, kept in after.items() if name in before and name != b"slapjack:due"} == {
        name: kept for name, kept in before.items() if name != b"slapjack:due"
    }
    if key == TABLE:
        with pytest.raises(BadRecord):
            await store.load_table(CODE)


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
        (record_with(version=3), "version 3, but this server reads version 2"),
        (record_with(version="1"), "Expected `int`"),
        (record_with(version=None), "missing required field `version`"),
        (record_with(rules=None), "missing required field `rules`"),
        (record_with(games="many"), r"Expected `int`.*games"),
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
    for look in (store.load_table, store.open_table):
        with pytest.raises(BadRecord, match=rf"^slapjack:\{{K7WQ2M\}}:table: .*{wrong}"):
            await look(CODE)
    assert not await store.create_table(a_table())
    assert await redis.get(table_key(CODE)) == kept
    assert await redis.keys("*") == [TABLE.encode()]


async def test_an_entry_that_is_not_ours_at_the_end_fences_the_owner_off_until_the_next(
    store: RedisStore, redis: "Redis"
) -> None:
    first = await owner(store)
    await first.keeps(b"deal", deals=True)
    await redis.xadd(JOURNAL, {"what": "ever"})
    with pytest.raises(Fenced):
        await first.keeps(b"move")
    second = await owner(store)
    await second.keeps(b"move")
    assert (await owner(store)).opened.journal == (b"deal", b"move")


@pytest.mark.parametrize("last", ["9007199254740993-0", "18446744073709551615-18446744073709551615"])
async def test_a_journal_whose_ids_leave_no_room_is_named_and_left_alone(
    store: RedisStore, redis: "Redis", last: str
) -> None:
    await owner(store)
    await redis.xadd(JOURNAL, {"what": "ever"}, id=last)
    before = await everything(redis)
    with pytest.raises(BadRecord, match=r"^slapjack:\{K7WQ2M\}:journal: no epoch of ours"):
        await store.open_table(CODE)
    assert await everything(redis) == before


# --- the server goes away ----------------------------------------------------------------------------------------


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


async def test_changes_that_are_cancelled_are_kept_whole_or_not_at_all(store: RedisStore) -> None:
    """Scripts and pipelines take several replies, each of which a cancelled await could leave behind."""
    codes = [f"T{nth:05}" for nth in range(20)]
    epochs = [(await owner(store, code)).opened.epoch for code in codes]
    for times in range(12):

        def keep(nth: int, times: int = times) -> Coroutine[Any, Any, None]:
            result = a_result(times, played(BEN), played(f"{nth:02}{times:02}".ljust(64, "0")), code=codes[nth])
            return store.keep(
                codes[nth], epochs[nth], times + 1, Change(a_table(codes[nth]), (b"move",), result=result)
            )

        changes = [asyncio.create_task(keep(nth)) for nth in range(len(codes))]
        for nth, change in enumerate(changes):
            if nth % 2:
                for _ in range((nth + times) % 11):
                    await asyncio.sleep(0)
                change.cancel()
        await asyncio.gather(*changes, return_exceptions=True)
        # Whether it was kept or not, saying it again makes it so, once.
        for nth in range(len(codes)):
            await keep(nth)
    for code in codes:
        assert await store.journal(code) == (b"move",) * 12
        await store.board.drain(code)
    page = await store.board.page(GameName.SLAPJACK, Span.ALL, By.GAMES, 1, BEN)
    assert page.rows[0].games == 12 * len(codes)


async def test_nothing_acknowledged_is_lost_to_a_kill(server: Server, store: RedisStore, redis: "Redis") -> None:
    keeper = await owner(store)
    await keeper.keeps(b"deal", deals=True)
    enough = asyncio.Event()

    async def play_on() -> None:
        while True:
            if keeper.number == 100:
                enough.set()
            await keeper.keeps(b"%d" % (keeper.number + 1), record=a_table(games=keeper.number + 1))

    pid = await server_pid(redis)
    playing = asyncio.create_task(play_on())
    await enough.wait()
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(StoreDown):
        await playing
    server.recover()
    await answering(store)
    # The one that was under way may have been written or not, but not in part; now it is.
    await keeper.keeps(b"%d" % keeper.number, again=True, record=a_table(games=keeper.number))
    opened = await store.open_table(CODE)
    assert opened is not None
    assert opened.record.games == keeper.number
    assert opened.journal == (b"deal", *(b"%d" % nth for nth in range(2, keeper.number + 1)))


async def test_the_first_question_to_a_server_that_is_back_is_answered(
    server: Server, store: RedisStore, redis: "Redis"
) -> None:
    await asyncio.gather(*(store.create_table(a_table(f"T{nth:05}")) for nth in range(pipeline.MAX_CONNECTIONS)))
    os.kill(await server_pid(redis), signal.SIGKILL)
    server.recover()
    async with RedisStore(server.url) as other:
        await answering(other)
    # All connections of this one are to the server that is gone.
    await asyncio.gather(*(store.load_table(f"T{nth:05}") for nth in range(pipeline.MAX_CONNECTIONS)))


async def test_a_server_that_stands_still_is_down_and_gets_no_write_twice(
    server: Server, store: RedisStore, redis: "Redis", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "ANSWER_TIMEOUT_S", 1.0)
    pid = await server_pid(redis)
    keeper = await owner(store)
    async with RedisStore(server.url) as impatient:
        await impatient.ping()
        before = await scripts_run(redis)
        os.kill(pid, signal.SIGSTOP)
        # It moves again while somebody who tries again would be trying again.
        asyncio.get_running_loop().call_later(1.4, os.kill, pid, signal.SIGCONT)
        with pytest.raises(StoreDown, match="does not answer"):
            await impatient.keep(CODE, keeper.opened.epoch, 1, Change(entries=(b"move",)))
        await answering(impatient)
        # What nobody waits for any more may still arrive, once.
        assert await scripts_run(redis) - before in (0, 1)
        await impatient.keep(CODE, keeper.opened.epoch, 1, Change(entries=(b"move",)))
    assert await store.journal(CODE) == (b"move",)


async def scripts_run(redis: "Redis") -> int:
    """How many times the server has been told to run a script."""
    return int((await redis.info("commandstats")).get("cmdstat_evalsha", {}).get("calls", 0))


async def test_a_server_that_refuses_to_write_is_down_and_keeps_nothing(store: RedisStore, redis: "Redis") -> None:
    keeper = await owner(store)
    await keeper.keeps(b"deal", deals=True)
    before = await everything(redis)
    await redis.config_set("maxmemory", "1")
    try:
        with pytest.raises(StoreDown, match="refuses: "):
            await keeper.keeps(b"move", record=a_table(games=9))
        with pytest.raises(StoreDown, match="refuses: "):
            await store.open_table(CODE)
        assert await store.load_table(CODE) == a_table()
        assert await everything(redis) == before
    finally:
        await redis.config_set("maxmemory", "0")
    await keeper.keeps(b"move", again=True, record=a_table(games=9))
    assert (await owner(store)).opened.journal == (b"deal", b"move")


async def test_a_server_that_has_forgotten_the_scripts_is_told_them_again(store: RedisStore, redis: "Redis") -> None:
    keeper = await owner(store)
    await redis.script_flush()
    await keeper.keeps(b"deal", deals=True)
    await redis.script_flush()
    assert (await owner(store)).opened.journal == (b"deal",)


async def test_nobody_there_is_down_and_no_password_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with RedisStore(f"redis://:secret@127.0.0.1:{port}/0") as store:
        for ask in (
            *(store.ping(), store.load_table(CODE), store.create_table(a_table()), store.open_table(CODE)),
            *(store.keep(CODE, 1, 1, Change()), store.person_of(BEN), store.board.sweep(), store.people.look(BEN)),
        ):
            with pytest.raises(StoreDown, match=f"redis://127.0.0.1:{port}/0 does not answer") as told:
                await ask
            assert "secret" not in str(told.value)


@pytest.mark.parametrize("server", [RedisServer], indirect=True)
async def test_a_wrong_password_is_down(server: Server) -> None:
    async with RedisStore(server.url.replace("secret", "guess")) as store:
        with pytest.raises(StoreDown) as told:
            await store.ping()
        assert "guess" not in str(told.value)


# --- scores apart, and long games --------------------------------------------------------------------------------


async def test_what_leaves_the_scores_alone_writes_none(store: RedisStore, redis: "Redis") -> None:
    many = {f"{nth:064x}": Score("Somebody", "🦊", 1, 2) for nth in range(200)}
    keeper = await owner(store)
    await keeper.keeps(b"move", record=a_table(scores=many))
    scores = await redis.dump(SCORES)
    assert await redis.strlen(TABLE) < 1_500
    await keeper.keeps(b"move", record=a_table(scores=many, locked=False), scored=False)
    assert await redis.dump(SCORES) == scores
    assert await store.load_table(CODE) == a_table(scores=many, locked=False)


async def test_a_record_of_version_1_is_read_and_kept_anew(store: RedisStore, redis: "Redis") -> None:
    ended = (Tournament(4, {BEN: Score("Ben", "🦊", 4, 4)}),)
    await redis.set(TABLE, msgspec.msgpack.encode(msgspec.structs.replace(a_table(archive=ended), version=1)))
    assert await store.load_table(CODE) == a_table(archive=ended)
    keeper = await owner(store)
    assert keeper.opened.record == a_table(archive=ended)
    await keeper.keeps(b"move", record=a_table(archive=ended, locked=False), scored=False)
    assert (await owner(store)).opened.record == a_table(archive=ended, locked=False)


@pytest.mark.parametrize("entries", [SLICE, SLICE + 1, 3 * SLICE, 27 * SLICE + 7])
async def test_a_journal_of_any_length_is_rewritten_all_of_it_or_nothing(
    store: RedisStore, redis: "Redis", entries: int
) -> None:
    """A game of more than some 4,000 entries was once more than a script could unpack."""
    keeper = await owner(store)
    await keeper.keeps(b"old deal", deals=True)
    anew = await owner(store)
    journal = tuple(b"%d" % nth for nth in range(entries))
    await anew.keeps(*journal, deals=True, clears=True)
    assert await store.journal(CODE) == journal
    await anew.keeps(*journal, deals=True, clears=True, again=True)
    assert (await owner(store)).opened.journal == journal
    assert not await redis.exists(REWRITTEN)
    with pytest.raises(Fenced):
        await anew.keeps(b"too late", deals=True, clears=True)


async def test_a_clock_that_is_set_from_1970_to_today_takes_nothing_with_it(server: Server, redis: "Redis") -> None:
    await redis.flushall()
    now_s = 1_000
    async with RedisStore(server.url, now_s=lambda: now_s) as store:
        assert not await store.pipeline.mind_the_clock()
        await store.create_table(a_table())
        created_s = await redis.ttl("slapjack:{K7WQ2M}:table")
        keeper = await owner(store)
        await keeper.keeps(b"deal", record=a_table(games=1), deals=True)
        keys = [key async for key in redis.scan_iter("slapjack:*")]
        leap_s = CLOCK_IS_SET_S - now_s
        assert created_s > leap_s
        assert len(keys) > 3
        for key in keys:
            assert not 0 <= await redis.ttl(key) <= leap_s, key
        now_s = CLOCK_IS_SET_S
        assert await store.pipeline.mind_the_clock()
        await owner(store)
        assert 0 < await redis.ttl("slapjack:{K7WQ2M}:table") <= 365 * 86_400
