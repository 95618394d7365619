"""Several servers on a made-up clock: who has a table, who falls silent and when, and how one hands over and goes."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from server.hosting.awake import SLEEP_AFTER_S, UNVISITED_S, ServerFull
from server.hosting.cluster import BELIEVED_US, LOOKS, Nameless, Node
from server.hosting.host import HAND_OVER_S, NEXT_S, NOTICED_S, Host, ServerStops
from server.hosting.mailbox import FINISH_S, Mailbox
from server.hosting.phone import LOST, MOVED, SERVICE_RESTART, STOPS
from server.serve import STOP_TIMEOUT_S
from server.store.nodes import LEASE_MS
from server.store.pipeline import ANSWER_TIMEOUT_S
from server.store.port import Elsewhere, Fenced, Leases, StoreDown
from server.table.records import Change, Opened
from tests.server.test_host import FakePhone, FakeStore, World, in_a_world, later, settled
from tests.server.world import S
from wire.codec import write
from wire.frames import frame_of
from wire.messages import CloseCode, Join, Lock, React, StoreStalled, Sync, Update

LEASE_US = LEASE_MS * 1_000


@pytest.fixture(autouse=True)
def no_warnings() -> None:
    """What is warned of here is what is tried here."""
    for name in ("slapjack.host", "slapjack.mailbox", "slapjack.cluster"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


class SharedStore(FakeStore, Leases):
    """A store that several servers share, each by a line of its own, which may be cut."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.clock = world.clock
        self.leases: dict[str, tuple[str, int]] = {}
        self.marks: dict[str, str] = {}
        self.told_forgotten: list[str] = []

    def has(self, node: str, boot: str) -> bool:
        return node in self.leases and self.leases[node][0] == boot and self.leases[node][1] > self.clock.now_us()

    async def take(self, node: str, boot: str) -> bool:
        await self._answer()
        if node in self.leases and self.leases[node][1] > self.clock.now_us():
            return False
        self.leases[node] = boot, self.clock.now_us() + LEASE_US
        return True

    async def renew(self, node: str, boot: str) -> bool:
        await self._answer()
        if not self.has(node, boot):
            return False
        self.leases[node] = boot, self.clock.now_us() + LEASE_US
        return True

    async def release(self, node: str, boot: str) -> None:
        await self._answer()
        if self.has(node, boot):
            del self.leases[node]

    async def tell_forgotten(self, person: str) -> None:
        await self._answer()
        self.told_forgotten.append(person)

    async def forgotten(self, after: str) -> tuple[list[str], str]:
        await self._answer()
        return self.told_forgotten[0 if after == "-" else int(after) :], str(len(self.told_forgotten))

    async def open_table(self, code: str, owner: str = "") -> Opened | None:
        opened = await super().open_table(code)
        mark = self.marks.get(code, "")
        node, _, boot = mark.partition("/")
        if mark not in ("", owner) and self.has(node, boot):
            self.epochs[code] -= 1
            raise Elsewhere(node, (self.leases[node][1] - self.clock.now_us()) // 1_000)
        self.marks[code] = owner
        return opened

    async def release_table(self, code: str, owner: str, epoch: int) -> None:
        await self._answer()
        if self.marks.get(code) == owner and self.epochs[code] == epoch:
            self.marks[code] = ""

    async def keep(self, code: str, epoch: int, number: int, change: Change) -> None:
        await self._answer()
        if epoch != self.epochs[code]:
            raise Fenced("another has it")
        await super().keep(code, epoch, number, change)


class Line(SharedStore):
    """One server's own line to the store: cut or slow without the others'."""

    def __init__(self, store: SharedStore) -> None:
        super().__init__(World(asyncio.get_running_loop()))  # type: ignore[arg-type]
        self.clock = store.clock
        for name in ("tables", "journals", "epochs", "leases", "marks", "told_forgotten"):
            setattr(self, name, getattr(store, name))


class Server:
    """One of them: its host, its line, and the task that renews its lease."""

    def __init__(self, world: World, store: SharedStore, name: str) -> None:
        self.line = Line(store)
        self.node = Node(name, self.line, world.clock, world.rng)
        self.host = Host(self.line, world.clock, world.rng, 100, 200, self.node)
        self._staying: asyncio.Task[None] | None = None
        world.at_its_end.append(self.ends)

    async def starts(self) -> "Server":
        assert await self.node.take()
        self.wakes()
        return self

    def wakes(self) -> None:
        self._staying = asyncio.create_task(self.node.stay(self.host.forget, self.host.fall_silent))

    async def stands_still(self) -> None:
        """As a machine that is stopped, as far as its lease goes: what else happens to it is up to the test."""
        if self._staying is not None:
            self._staying.cancel()
            await asyncio.gather(self._staying, return_exceptions=True)

    async def ends(self) -> None:
        await self.stands_still()
        self.line.open.set()
        await self.host.close()

    async def open(self, code: str) -> Mailbox:
        mailbox = await self.host.open(code)
        assert mailbox is not None
        return mailbox


async def two(world: World) -> tuple[SharedStore, Server, Server]:
    """Two servers over one store."""
    store = SharedStore(world)
    return store, await Server(world, store, "a").starts(), await Server(world, store, "b").starts()


def goodbyes(*phones: FakePhone) -> list[int]:
    """With what those who were hung up on were."""
    return [phone.closed for phone in phones if phone.closed is not None]


# --- who has a table ---------------------------------------------------------------------------------------------


@in_a_world
async def test_a_table_is_on_one_server_and_the_other_says_on_which(world: World) -> None:
    _, a, b = await two(world)
    code = await b.host.create()
    mailbox = await a.open(code)
    world.phone(mailbox)
    with pytest.raises(Elsewhere) as there:
        await b.host.open(code)
    assert there.value.node == "a"
    await later(600)
    with pytest.raises(Elsewhere):
        await b.host.open(code)
    assert await a.host.open(code) is mailbox


@in_a_world
async def test_two_who_are_asked_at_once_do_not_both_have_it(world: World) -> None:
    _, a, b = await two(world)
    for _ in range(20):
        code = await a.host.create()
        asked = await asyncio.gather(a.host.open(code), b.host.open(code), return_exceptions=True)
        assert {type(each) for each in asked} == {Mailbox, Elsewhere}


@in_a_world
async def test_a_dead_servers_table_is_taken_over_the_moment_its_lease_is_over(world: World) -> None:
    """Whoever asks while it should have been renewed already waits for that."""
    store, a, b = await two(world)
    code = await a.host.create()
    mailbox = await a.open(code)
    ann = await world.joins(mailbox, "Ann")
    ann.say(Lock(True))
    await settled()
    await a.stands_still()
    died_us = world.clock.now_us()
    with pytest.raises(Elsewhere):
        await b.host.open(code)
    await later(1.5)
    taken = await b.open(code)
    assert died_us + 2.25 * S <= world.clock.now_us() <= died_us + 3 * S + 1_000
    assert taken.room.record().locked
    assert store.marks[code] == b.host.lease.owner


@in_a_world
async def test_a_server_that_was_only_slow_keeps_its_table(world: World) -> None:
    store, a, b = await two(world)
    code = await a.host.create()
    mailbox = await a.open(code)
    await a.stands_still()
    await later(1.5)
    asking = asyncio.create_task(b.host.open(code))
    await settled()
    assert await a.node.renew() == []
    a.wakes()
    with pytest.raises(Elsewhere):
        await asking
    assert await a.host.open(code) is mailbox
    assert store.marks[code] == a.host.lease.owner


@in_a_world
async def test_a_table_that_nobody_is_at_is_anybodys(world: World) -> None:
    """So that a server which is full of others does not keep it from one that has place."""
    store, a, b = await two(world)
    codes = [await a.host.create() for _ in range(2)]
    await a.open(codes[0])
    await later(SLEEP_AFTER_S + 1)
    await a.open(codes[1])
    assert store.marks == {codes[0]: "", codes[1]: a.host.lease.owner}
    assert await b.host.open(codes[0]) is not None


# --- a lease that is over ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut_after_s", [0.0, 0.3, 0.7, 0.75, 1.0, 1.4])
def test_a_server_that_cannot_renew_falls_silent_before_anybody_else_may_speak(cut_after_s: float) -> None:
    @in_a_world
    async def scenario(world: World) -> None:
        store, a, _ = await two(world)
        code = await a.host.create()
        ann = await world.joins(await a.open(code), "Ann")
        await later(cut_after_s)
        a.line.down = True
        lease = a.host.lease
        over_us = store.leases["a"][1]
        assert lease.until_us <= over_us - (LEASE_US - BELIEVED_US)
        await later((lease.until_us - world.clock.now_us()) / S - 0.01)
        assert not goodbyes(ann)
        await later(0.02)
        assert goodbyes(ann) == [SERVICE_RESTART]
        assert world.clock.now_us() < over_us
        assert a.host.tables == 0
        with pytest.raises(ServerStops):
            await a.host.open(code)
        assert (a.node.taken, a.node.lost) == (1, 1)

    scenario()


@in_a_world
async def test_a_server_that_lost_its_lease_serves_again_under_another(world: World) -> None:
    store, a, b = await two(world)
    code = await a.host.create()
    await a.open(code)
    first = a.host.lease.owner
    a.line.down = True
    await later(5)
    assert await b.host.open(code) is not None
    a.line.down = False
    await later(1)
    assert a.host.lease.owner != first
    assert a.host.lease.node == "a"
    with pytest.raises(Elsewhere):
        await a.host.open(code)
    assert await a.host.open(await a.host.create()) is not None
    assert (a.node.taken, a.node.lost) == (2, 1)
    await later(60)
    assert store.has("a", a.host.lease.boot)


@in_a_world
async def test_whatever_goes_wrong_with_a_renewal_ends_in_silence_and_is_tried_again(world: World) -> None:
    _, a, _ = await two(world)
    ann = await world.joins(await a.open(await a.host.create()), "Ann")

    async def wrong(after: str) -> tuple[list[str], str]:
        raise KeyError(after)

    whole = a.line.forgotten
    a.line.forgotten = wrong  # type: ignore[method-assign]
    a.line.down = True
    await later(3)
    a.line.down = False
    await later(3)
    assert ann.closed == SERVICE_RESTART
    assert not a.host.lease.holds(world.clock.now_us())
    a.line.forgotten = whole  # type: ignore[method-assign]
    await later(5)
    assert a.host.lease.holds(world.clock.now_us())


@in_a_world
async def test_a_lease_that_the_store_has_lost_is_over_at_once(world: World) -> None:
    store, a, _ = await two(world)
    code = await a.host.create()
    ann = await world.joins(await a.open(code), "Ann")
    store.leases.clear()
    await later(0.8)
    assert ann.closed == SERVICE_RESTART
    await later(0.8)
    assert await a.host.open(code) is not None


@in_a_world
async def test_a_table_that_was_taken_under_a_lease_that_is_over_is_not_served(world: World) -> None:
    _, a, _ = await two(world)
    code = await a.host.create()
    a.line.open.clear()
    asking = asyncio.create_task(a.host.open(code))
    await later(5)
    a.line.open.set()
    with pytest.raises(ServerStops):
        await asking
    assert a.host.tables == 0


def a_sync(mailbox: Mailbox, phone: FakePhone) -> None:
    phone.say(Sync(sent_us=1))


def a_pong(mailbox: Mailbox, phone: FakePhone) -> None:
    mailbox.pong(phone.conn, 0, phone.world.clock.now_us())


def a_change(mailbox: Mailbox, phone: FakePhone) -> None:
    phone.say(Lock(True))


def a_reaction(mailbox: Mailbox, phone: FakePhone) -> None:
    phone.say(React("👏"))


def somebody_comes(mailbox: Mailbox, phone: FakePhone) -> None:
    phone.world.phone(mailbox).say(Join("Cid", "🦊"))


def a_card_that_was_delayed(mailbox: Mailbox, phone: FakePhone) -> None:
    mailbox._sender.send(
        phone.conn, frame_of(write(Update(n=99, show_at_us=1))), phone.world.clock.now_us() + 10_000, 1
    )
    phone.world.clock.now_s += 0.02
    mailbox._ring()


def somebody_is_forgotten(mailbox: Mailbox, phone: FakePhone) -> None:
    mailbox.forget("ann")


WAKING: list[Callable[[Mailbox, FakePhone], None]] = [
    *(a_sync, a_pong, a_change, a_reaction, somebody_comes, a_card_that_was_delayed, somebody_is_forgotten)
]


@pytest.mark.parametrize("first", WAKING, ids=lambda first: first.__name__)
def test_an_old_server_that_wakes_says_nothing_whatever_it_sees_first(first: Callable[..., None]) -> None:
    @in_a_world
    async def scenario(world: World) -> None:
        _, a, b = await two(world)
        code = await a.host.create()
        mailbox = await a.open(code)
        ann, ben = await world.joins(mailbox, "Ann"), await world.joins(mailbox, "Ben")
        await a.stands_still()
        told = len(ann.got), len(ben.got)
        await later(3.1)
        await b.open(code)
        assert not goodbyes(ann)
        first(mailbox, ann)
        await settled()
        a.wakes()
        await later(30)
        assert (len(ann.got), len(ben.got)) == told
        assert (ann.closed, ben.closed) == (SERVICE_RESTART, SERVICE_RESTART)
        assert a.host.tables == 0

    scenario()


@in_a_world
async def test_an_old_server_whose_renewal_wakes_first_takes_its_tables_into_no_new_lease(world: World) -> None:
    """A lease that is taken anew says nothing about tables that were taken under the one before."""
    _, a, _ = await two(world)
    mailbox = await a.open(await a.host.create())
    await later(1)
    world.clock.now_s += LEASE_MS / 1e3 + 1
    await later(1)
    assert a.node.taken == 2, "nothing but the renewal has happened since"
    ann = await world.joins(mailbox, "Ann")
    assert (ann.got, ann.closed, a.host.tables) == ([], SERVICE_RESTART, 0)


@in_a_world
async def test_a_change_that_was_kept_before_the_machine_stood_still_is_not_told_after(world: World) -> None:
    """The next owner has it, and tells it."""
    _, a, b = await two(world)
    code = await a.host.create()
    mailbox = await a.open(code)
    ann = await world.joins(mailbox, "Ann")
    a.line.open.clear()
    ann.say(Lock(True))
    await settled()
    await a.stands_still()
    told = len(ann.got)
    world.clock.now_s += 3.1
    a.line.open.set()
    await later(1)
    assert (len(ann.got), ann.closed) == (told, SERVICE_RESTART)
    assert (await b.open(code)).room.record().locked


@in_a_world
async def test_a_server_that_waits_for_the_store_stops_asking_when_its_lease_is_over(world: World) -> None:
    _, a, b = await two(world)
    code = await a.host.create()
    ann = await world.joins(await a.open(code), "Ann")
    a.line.down = True
    ann.say(Lock(True))
    await later(2)
    assert ann.got[-1] == StoreStalled(True)
    await later(2)
    assert ann.closed == SERVICE_RESTART
    tries = a.line.tries
    await later(30)
    assert a.line.tries == tries
    assert not (await b.open(code)).room.record().locked


@in_a_world
async def test_a_machine_that_stood_still_while_it_waited_for_the_store_says_nothing_when_it_answers(
    world: World,
) -> None:
    _, a, _ = await two(world)
    ann = await world.joins(await a.open(await a.host.create()), "Ann")
    a.line.down = True
    ann.say(Lock(True))
    await later(0.5)
    await a.stands_still()
    told = len(ann.got)
    world.clock.now_s += 3.1
    a.line.down = False
    await later(5)
    assert (len(ann.got), ann.closed) == (told, SERVICE_RESTART)


@in_a_world
async def test_a_room_that_notices_by_itself_that_the_lease_is_over_asks_no_more(world: World) -> None:
    _, a, _ = await two(world)
    ann = await world.joins(await a.open(await a.host.create()), "Ann")
    a.line.down = True
    ann.say(Lock(True))
    await a.stands_still()
    await later(5)
    assert ann.closed == SERVICE_RESTART
    tries = a.line.tries
    a.line.down = False
    await later(30)
    assert a.line.tries == tries


@in_a_world
async def test_what_was_under_way_when_the_lease_ended_is_not_kept_under_the_next(world: World) -> None:
    _, a, _ = await two(world)
    code = await a.host.create()
    ann = await world.joins(await a.open(code), "Ann")
    a.line.open.clear()
    ann.say(Lock(True))
    await later(5)
    a.line.open.set()
    await later(5)
    assert a.host.lease.holds(world.clock.now_us())
    assert not (await a.open(code)).room.record().locked


@in_a_world
async def test_a_table_that_was_taken_under_one_lease_is_not_served_under_the_next(world: World) -> None:
    store, a, _ = await two(world)
    code = await a.host.create()
    answer = asyncio.Event()
    take_over = a.line.open_table

    async def slowly(code: str, owner: str = "") -> Opened | None:
        opened = await take_over(code, owner)
        await answer.wait()
        return opened

    a.line.open_table = slowly  # type: ignore[method-assign]
    asking = asyncio.create_task(a.host.open(code))
    await settled()
    store.leases.clear()
    await later(2)
    assert (a.node.lost, a.node.taken) == (1, 2)
    answer.set()
    with pytest.raises(ServerStops):
        await asking
    assert store.marks[code] == ""


@in_a_world
async def test_a_lease_counts_from_when_it_was_asked_for(world: World) -> None:
    store = SharedStore(world)
    a = Server(world, store, "a")
    for ask in (a.node.take, a.node.renew):
        asked_us = world.clock.now_us()
        a.line.open.clear()
        asyncio.get_running_loop().call_later(0.9, a.line.open.set)
        await ask()
        assert world.clock.now_us() >= asked_us + 0.9 * S
        assert a.host.lease.until_us == asked_us + BELIEVED_US


@in_a_world
async def test_a_lease_that_was_over_in_between_does_not_come_back_to_life(world: World) -> None:
    """Tables have fallen silent meanwhile."""
    store = SharedStore(world)
    a = Server(world, store, "a")
    await a.node.take()
    await later(2)
    a.line.open.clear()
    asyncio.get_running_loop().call_later(0.6, a.line.open.set)
    await a.node.renew()
    assert store.has("a", a.host.lease.boot)
    assert not a.host.lease.holds(world.clock.now_us())


# --- a server that stops -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tables", "within_s"), [(20, 20 * NEXT_S), (90, HAND_OVER_S)])
def test_a_server_that_stops_gives_every_table_up_before_it_sends_the_phones_away(tables: int, within_s: float) -> None:
    in_a_world(all_handed_over)(tables=tables, within_s=within_s)


async def all_handed_over(world: World, tables: int, within_s: float) -> None:
    store, a, b = await two(world)
    codes = [await a.host.create() for _ in range(tables)]
    phones = [await world.joins(await a.open(code), "Ann") for code in codes]
    opened: dict[str, float] = {}

    def goes_to_the_other(code: str) -> Callable[[int, str], None]:
        def hang_up(closing: int, reason: str) -> None:
            assert (closing, reason) == (SERVICE_RESTART, STOPS)
            assert store.marks[code] == ""
            opened[code] = world.clock.now_us() / S

        return hang_up

    for code, phone in zip(codes, phones, strict=True):
        phone.hang_up = goes_to_the_other(code)  # type: ignore[method-assign, assignment]
    began_s = world.clock.now_us() / S
    draining = asyncio.create_task(a.host.drain())
    await settled()
    assert a.host.draining
    with pytest.raises(ServerStops):
        await a.host.open(await a.host.create())
    assert await a.host.open(codes[-1]) is not None, "who is early still gets in"
    await draining
    assert list(opened) == codes
    assert min(opened.values()) >= began_s + NOTICED_S
    assert max(opened.values()) <= began_s + NOTICED_S + within_s + 0.01
    assert max(opened.values()) - min(opened.values()) > 0.9 * within_s, "spread out"
    assert (a.host.tables, a.host.handed_over) == (0, tables)
    for code in codes:
        await b.open(code)


@in_a_world
async def test_a_change_that_is_being_kept_when_a_server_stops_is_kept_and_told(world: World) -> None:
    _, a, b = await two(world)
    code = await a.host.create()
    ann = await world.joins(await a.open(code), "Ann")
    draining = asyncio.create_task(a.host.drain())
    await later(0.9)
    a.line.open.clear()
    ann.say(Lock(True))
    ann.say(Lock(False))
    await later(0.6)
    assert not goodbyes(ann)
    a.line.open.set()
    await draining
    assert ann.last(Update).table.locked
    assert ann.closed == SERVICE_RESTART
    assert (await b.open(code)).room.record().locked, "and what came after it is for the next one"


@pytest.mark.parametrize("trouble", ["down", "silent"])
def test_a_store_that_does_not_answer_keeps_no_server_from_stopping(trouble: str) -> None:
    @in_a_world
    async def scenario(world: World) -> None:
        _, a, _ = await two(world)
        mailbox = await a.open(await a.host.create())
        ann = await world.joins(mailbox, "Ann")
        began_us = world.clock.now_us()
        if trouble == "down":
            a.line.down = True
        else:
            a.line.open.clear()
            asyncio.get_running_loop().call_later(4, a.line.open.set)  # a line gives up after two seconds
        ann.say(Lock(True))
        await a.host.drain()
        assert ann.closed == SERVICE_RESTART
        assert world.clock.now_us() - began_us <= (NOTICED_S + FINISH_S) * S + 1

    scenario()


def test_a_server_stops_within_ten_seconds_whoever_does_not_answer() -> None:
    """The store does not when a table is given up nor when the lease is, and phones do not when they are hung up on."""
    assert NOTICED_S + HAND_OVER_S + FINISH_S + STOP_TIMEOUT_S + ANSWER_TIMEOUT_S < 10


@in_a_world
async def test_a_server_alone_does_not_make_anybody_wait(world: World) -> None:
    _, (ann,) = await world.table("Ann")
    began_us = world.clock.now_us()
    await world.host.drain()
    assert ann.closed == SERVICE_RESTART
    assert world.clock.now_us() == began_us


@in_a_world
async def test_whoever_comes_to_a_room_that_has_just_gone_is_sent_back(world: World) -> None:
    _, a, _ = await two(world)
    mailbox = await a.open(await a.host.create())
    draining = asyncio.create_task(a.host.drain())
    await draining
    late = world.phone(mailbox)
    assert late.closed == SERVICE_RESTART


@in_a_world
async def test_a_table_that_is_being_taken_when_a_server_stops_is_anothers_at_once(world: World) -> None:
    store, a, b = await two(world)
    code = await a.host.create()
    take_over = a.line.open_table

    async def taken_just_before_the_signal(code: str, owner: str = "") -> Opened | None:
        opened = await take_over(code, owner)
        await asyncio.sleep(0.1)
        return opened

    a.line.open_table = taken_just_before_the_signal  # type: ignore[method-assign]
    asking = asyncio.create_task(a.host.open(code))
    await later(0.05)
    draining = asyncio.create_task(a.host.drain())
    with pytest.raises(ServerStops):
        await asking
    assert store.marks[code] == ""
    assert await b.host.open(code) is not None
    await draining


# --- rooms that nobody is at --------------------------------------------------------------------------------------


@in_a_world
async def test_whoever_comes_back_while_a_table_is_put_to_sleep_is_at_one_that_lasts(world: World) -> None:
    _, a, _ = await two(world)
    code = await a.host.create()
    slept = await a.open(code)
    a.line.journey_s = 0.1
    await later(UNVISITED_S + 1.05)
    assert slept._stopped, "and its release is on its way"
    back = await a.open(code)
    ann = await world.joins(back, "Ann")
    await later(1)
    assert back is not slept
    assert (ann.closed, ann.last(Update).table.seats[0].name) == (None, "Ann")
    assert await a.open(code) is back


@in_a_world
async def test_many_unused_tables_are_given_up_together(world: World) -> None:
    store, a, _ = await two(world)
    codes = [await a.host.create() for _ in range(20)]
    for code in codes:
        await a.open(code)
    a.line.journey_s = 0.1
    await later(UNVISITED_S + 1.05)
    assert a.host.tables == 0
    await later(0.1)
    assert {store.marks[code] for code in codes} == {""}


@in_a_world
async def test_a_table_for_which_there_is_no_place_after_all_is_anothers_at_once(world: World) -> None:
    store, a, b = await two(world)
    a.host = Host(a.line, world.clock, world.rng, 1, 200, a.node)
    codes = [await a.host.create() for _ in range(2)]
    a.line.journey_s = 0.1
    came = await asyncio.gather(*map(a.host.open, codes), return_exceptions=True)
    assert [type(each) for each in came] == [Mailbox, ServerFull]
    assert store.marks[codes[1]] == ""
    assert await b.host.open(codes[1]) is not None


# --- everywhere --------------------------------------------------------------------------------------------------


@in_a_world
async def test_a_person_is_forgotten_at_every_server(world: World) -> None:
    _, a, b = await two(world)
    there = await b.open(await a.host.create())
    key = "k" * 32
    ann, ben = await world.joins(there, "Ann", key=key), await world.joins(there, "Ben")
    person = there.room.state.seats.chairs[0].record.key_hash
    assert len(person) == 64
    await a.host.forget_everywhere(person)
    await settled()
    assert ann.closed == CloseCode.REMOVED
    assert ben.closed is None
    assert person not in str(there.room.record())


@in_a_world
async def test_two_servers_of_one_name_do_not_run_at_once(world: World) -> None:
    store, a, _ = await two(world)
    again = Server(world, store, "a")
    for _ in range(30):
        assert not await again.node.take()
        await later(0.2)
    await a.node.leave()
    assert await again.node.take()


@in_a_world
async def test_a_lease_is_not_taken_from_a_store_that_is_away(world: World) -> None:
    store = SharedStore(world)
    a = Server(world, store, "a")
    a.line.down = True
    with pytest.raises(StoreDown):
        await a.node.take()
    assert not a.host.lease.holds(world.clock.now_us())
    await a.node.leave()


# --- servers without a name --------------------------------------------------------------------------------------


@in_a_world
async def test_two_servers_without_a_name_are_noticed_and_it_is_said_once(world: World) -> None:
    store = SharedStore(world)
    first, second = Nameless(store, world.rng), Nameless(store, world.rng)
    said = world.said_by("slapjack.cluster")
    staying = [asyncio.create_task(first.stay())]
    await later(1)
    staying.append(asyncio.create_task(second.stay()))
    await later(30)
    assert (first.others, second.others) == (False, True)
    assert [record.getMessage() for record in said] == [
        "another server uses the same Redis: give each its own name with SLAPJACK_NODE"
    ]
    staying[0].cancel()
    await later(5)
    assert not second.others
    staying[1].cancel()


@in_a_world
async def test_a_server_without_a_name_that_is_started_again_is_not_taken_for_another(world: World) -> None:
    store = SharedStore(world)
    killed = Nameless(store, world.rng)
    await killed.look()
    said = world.said_by("slapjack.cluster")
    again = asyncio.create_task(Nameless(store, world.rng).stay())
    await later(30)
    assert said == []
    again.cancel()


async def fenced_off(world: World, stands: str, *, others: bool = False) -> tuple[list[str], list[str]]:
    """What people at two tables of a server are told, and what its log says, when both are fenced off."""

    async def keep(code: str, epoch: int, number: int, change: Change) -> None:
        raise Fenced(f"{code}: the journal stands at {stands}", stands)

    told: list[str] = []
    said = world.said_by("slapjack.fences")
    world.host.fences.nameless = nameless = Nameless(SharedStore(world), world.rng)
    if others:
        other = Nameless(nameless._leases, world.rng)
        for _ in range(LOOKS):
            await other.look()
            await nameless.look()
    for name in ("Ann", "Ben"):
        _, (phone,) = await world.table(name)
        kept, world.store.keep = world.store.keep, keep  # type: ignore[method-assign]
        phone.say(Lock(True))
        await settled()
        world.store.keep = kept  # type: ignore[method-assign]
        assert phone.closed == SERVICE_RESTART
        told.append(phone.reason)
    return told, [record.getMessage().partition(": ")[2] for record in said if record.levelno >= logging.ERROR]


@in_a_world
async def test_a_store_that_was_emptied_is_said_to_people_and_once_in_the_log(world: World) -> None:
    for stands in ("nothing", "1-0"):
        told, said = await fenced_off(world, stands)
        assert told == [LOST, LOST]
        assert ["lost what it had acknowledged" in line for line in said] == [True] * (stands == "nothing")


@in_a_world
async def test_a_table_that_another_server_without_a_name_took_says_what_to_do(world: World) -> None:
    told, said = await fenced_off(world, "2-0", others=True)
    assert told == [MOVED, MOVED]
    assert ["SLAPJACK_NODE" in line for line in said] == [True]


@in_a_world
async def test_a_table_from_which_somebody_was_forgotten_is_nothing_to_say(world: World) -> None:
    assert await fenced_off(world, "2-0") == ([MOVED, MOVED], [])
