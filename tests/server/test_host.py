"""The host: mailboxes and their order, the store first and then the phones, rooms that fail, sleep and wake."""

import asyncio
import functools
import logging
import selectors
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from engine.cards import Entropy
from server.base import meters
from server.hosting.awake import SLEEP_AFTER_S, UNVISITED_S, NetworkFull, ServerFull
from server.hosting.background import FAILING_S
from server.hosting.codes import RUDE_WORDS, new_code
from server.hosting.host import Host
from server.hosting.mailbox import MOST_WAITING, Mailbox
from server.hosting.phone import SERVICE_RESTART
from server.store.port import BadRecord, Fenced, StoreDown
from server.table.mail import ConnId
from server.table.records import Change, Opened, TableRecord
from tests.server.world import MS, FakeLuck, S
from wire.codec import read_server_message
from wire.codes import CODE_LENGTH, CODE_SYMBOLS
from wire.messages import (
    ClientMessage,
    CloseCode,
    DoSlap,
    DoTurn,
    EndGame,
    Join,
    Lock,
    Message,
    Quit,
    React,
    Reacted,
    Refused,
    Rename,
    Stage,
    Start,
    StoreStalled,
    Sync,
    Synced,
    Update,
    Welcome,
)


@pytest.fixture(autouse=True)
def no_table_is_one_of_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that has only a few tables is never full; these tests have no more."""
    monkeypatch.setattr("server.hosting.host.A_FEW_TABLES", 0)


# --- a world in which waiting takes no time ----------------------------------------------------------------------


class FakeClock:
    """A clock that stands while anybody has something to do."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self.worked_s = 0.0

    def now_us(self) -> int:
        return round(self.now_s * S)

    def worked_us(self) -> int:
        return round(self.worked_s * S)


class SkippingSelector(selectors.SelectSelector):
    """Instead of waiting it moves the clock on."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "everybody waits for ever"
        self._clock.now_s += max(0.0, timeout)
        return super().select(0)


class SkippingLoop(asyncio.SelectorEventLoop):
    """An event loop on the fake clock. What goes wrong in a callback or a forgotten task fails the test."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.wrong: list[dict[str, Any]] = []
        super().__init__(SkippingSelector(self.clock))
        self.set_exception_handler(lambda _, context: self.wrong.append(context))

    def time(self) -> float:
        return self.clock.now_s


class FakeStore:
    """A store in memory that can be down, slow, or hold what it should not."""

    def __init__(self) -> None:
        self.tables: dict[str, TableRecord] = {}
        self.journals: dict[str, list[bytes]] = {}
        self.epochs: dict[str, int] = {}
        self.down = False
        self.bad = False
        self.journey_s = 0.0
        self.open = asyncio.Event()
        self.open.set()
        self.tries = 0
        self.loads = 0

    async def _answer(self) -> None:
        await self.open.wait()
        if self.journey_s:
            await asyncio.sleep(self.journey_s)
        if self.down:
            raise StoreDown("it does not answer")

    async def create_table(self, record: TableRecord) -> bool:
        await self._answer()
        return self.tables.setdefault(record.code, record) is record

    async def load_table(self, code: str) -> TableRecord | None:
        self.loads += 1
        await self._answer()
        if self.bad:
            raise BadRecord(f"slapjack:{{{code}}}: not a table")
        return self.tables.get(code)

    async def open_table(self, code: str, owner: str = "") -> Opened | None:
        record = await self.load_table(code)
        if record is None:
            return None
        self.epochs[code] = self.epochs.get(code, 0) + 1
        return Opened(record, tuple(self.journals.get(code, ())), self.epochs[code])

    async def keep(self, code: str, epoch: int, number: int, change: Change) -> None:
        self.tries += 1
        await self._answer()
        assert epoch == self.epochs[code]
        if change.record is not None:
            self.tables[code] = change.record
        self.journals[code] = [*([] if change.deals else self.journals.get(code, [])), *change.entries]

    async def release_table(self, code: str, owner: str, epoch: int) -> None:
        await self._answer()

    async def person_of(self, key_hash: str) -> str:
        await self._answer()
        return key_hash

    async def close(self) -> None:
        """There is nothing to let go of."""


class BrokenLuck(FakeLuck):
    """Luck that runs out when it is told to."""

    broken = False

    def draw(self) -> Entropy:
        if self.broken:
            raise RuntimeError("there is no luck left")
        return super().draw()


class FakePhone:
    """The other end of a connection: what it was sent and when."""

    def __init__(self, world: "World", conn: ConnId, mailbox: Mailbox, rtt_ms: int) -> None:
        self.world = world
        self.conn = conn
        self.mailbox = mailbox
        self.rtt_ms = rtt_ms
        self.got: list[Message] = []
        self.got_at_us: list[int] = []
        self.closed: int | None = None
        self.reason = ""
        self.reads = True

    def write(self, frame: bytes) -> bool:
        assert self.closed is None, "written to after the end"
        start = {126: 4, 127: 10}.get(frame[1], 2)
        message = read_server_message(frame[start:])
        assert message is not None
        self.got.append(message)
        self.got_at_us.append(self.world.clock.now_us())
        return self.reads

    def ping(self) -> None:
        sent_us = self.world.clock.now_us()
        loop = asyncio.get_running_loop()
        loop.call_later(self.rtt_ms / 1000, lambda: self.mailbox.pong(self.conn, sent_us, self.world.clock.now_us()))

    def hang_up(self, code: int, reason: str) -> None:
        assert self.closed is None
        assert reason
        self.closed, self.reason = code, reason

    def say(self, message: ClientMessage) -> None:
        self.mailbox.hear(self.conn, message, self.world.clock.now_us())

    def kinds(self) -> list[type[Message]]:
        return [type(message) for message in self.got]

    def last(self, kind: type[Message]) -> Any:
        return next(message for message in reversed(self.got) if isinstance(message, kind))

    def stage(self) -> Stage | None:
        tables = [m.table for m in self.got if isinstance(m, Update) and m.table is not None]
        return tables[-1].stage if tables else None


class World:
    """A server without sockets."""

    def __init__(self, loop: SkippingLoop) -> None:
        self.clock = loop.clock
        self.store = FakeStore()
        self.rng = BrokenLuck(seed=1)
        self.conns = 0
        self.at_its_end: list[Callable[[], Awaitable[None]]] = []
        self.host = self.new_host()

    def new_host(self, max_tables: int = 100, max_tables_each: int = 100) -> Host:
        self.host = Host(self.store, self.clock, self.rng, max_tables, 200, max_tables_each=max_tables_each)
        return self.host

    async def open(self, code: str) -> Mailbox:
        mailbox = await self.host.open(code)
        assert mailbox is not None
        return mailbox

    def phone(self, mailbox: Mailbox, *, rtt_ms: int = 0) -> FakePhone:
        self.conns += 1
        phone = FakePhone(self, ConnId(self.conns), mailbox, rtt_ms)
        mailbox.connect(phone.conn, phone)
        return phone

    async def joins(self, mailbox: Mailbox, name: str, *, key: str = "", rtt_ms: int = 0) -> FakePhone:
        phone = self.phone(mailbox, rtt_ms=rtt_ms)
        phone.say(Join(name, "🦊", key))
        await settled()
        return phone

    def said_by(self, name: str) -> list[logging.LogRecord]:
        """What that logger says from now on, in this list instead of on the terminal."""

        class Listed(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                said.append(record)

        async def restore() -> None:
            log.handlers, log.propagate, log.level = before

        said: list[logging.LogRecord] = []
        log = logging.getLogger(name)
        before = log.handlers, log.propagate, log.level
        log.handlers, log.propagate = [Listed()], False
        log.setLevel(logging.INFO)
        self.at_its_end.append(restore)
        return said

    async def table(self, *names: str) -> tuple[Mailbox, list[FakePhone]]:
        """A new table with these people."""
        mailbox = await self.open(await self.host.create())
        return mailbox, [await self.joins(mailbox, name) for name in names]

    async def near_and_far(self) -> tuple[FakePhone, FakePhone]:
        """Two people whose lines differ, as the table knows by now; it is for the far one to turn the first card."""
        mailbox, _ = await self.table()
        near, far = await self.joins(mailbox, "Near"), await self.joins(mailbox, "Far", rtt_ms=200)
        await later(20)
        near.say(Start())
        await later(5)
        return near, far


async def settled() -> None:
    """Lets everybody do what can be done without time passing."""
    for _ in range(20):
        await asyncio.sleep(0)


async def later(s: float) -> None:
    """Lets time pass, which takes none here."""
    await asyncio.sleep(s)
    await settled()


Scenario = Callable[..., Coroutine[Any, Any, None]]


def in_a_world(scenario: Scenario) -> Callable[..., None]:
    """Runs the test on a loop of its own and hands it a `World`."""

    @functools.wraps(scenario)
    def test(**given: Any) -> None:
        loop = SkippingLoop()
        with asyncio.Runner(loop_factory=lambda: loop) as runner:

            async def run() -> None:
                world = World(loop)
                await scenario(world, **given)
                for ends in (*world.at_its_end, world.host.close):
                    await ends()
                await settled()
                assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []

            runner.run(run())
        assert loop.wrong == []

    del test.__wrapped__
    return test


# --- the store first, then the phones ----------------------------------------------------------------------------


@in_a_world
async def test_whoever_joins_is_told_so_and_everybody_else_as_well(world: World) -> None:
    _, (ann, ben) = await world.table("Ann", "Ben")
    assert ann.kinds() == [Welcome, Update, Update]
    assert ben.kinds() == [Welcome, Update]


@in_a_world
async def test_nothing_is_told_before_it_is_kept(world: World) -> None:
    mailbox, (ann,) = await world.table("Ann")
    world.store.open.clear()
    told = len(ann.got)
    ann.say(Lock(True))
    await later(60)
    assert len(ann.got) == told
    assert not world.store.tables[mailbox.code].locked
    world.store.open.set()
    await settled()
    assert world.store.tables[mailbox.code].locked
    assert ann.last(Update).table.locked


@in_a_world
async def test_what_comes_while_the_store_is_slow_waits_its_turn(world: World) -> None:
    _, (ann, ben) = await world.table("Ann", "Ben")
    world.store.open.clear()
    ann.say(Lock(True))
    await settled()
    told = len(ben.got)
    ben.say(Sync(sent_us=1))
    ben.say(Rename("Bob", "🐸"))
    ann.say(Lock(False))
    ben.say(Sync(sent_us=2))
    await later(60)
    assert ben.got[told:] == []
    world.store.open.set()
    await settled()
    assert ben.kinds()[told:] == [Update, Synced, Update, Update, Synced]
    assert [m.table.locked for m in ben.got[told:] if isinstance(m, Update) and m.table] == [True, True, False]


@in_a_world
async def test_a_store_that_is_down_is_asked_again_and_nothing_is_lost(world: World) -> None:
    mailbox, (ann, ben) = await world.table("Ann", "Ben")
    told, tries = len(ann.got), world.store.tries
    world.store.down = True
    ann.say(Lock(True))
    ben.say(React("👏"))
    await later(30)
    assert set(ann.kinds()[told:]) == {StoreStalled}
    assert 40 < world.store.tries - tries < 80, "neither given up nor hammered"
    assert ann.got[-1] == StoreStalled(True)
    told = len(ann.got)
    world.store.down = False
    await later(2)
    assert ann.got[told] == StoreStalled(False)
    assert ann.kinds()[told + 1 :] == [Update, Reacted]
    assert world.store.tables[mailbox.code].locked


@in_a_world
async def test_a_line_that_died_unnoticed_takes_no_seat_from_the_one_after_it(world: World) -> None:
    """However long the look-up of the first join takes, or that of one between them fails."""
    mailbox, _ = await world.table("Ann")
    delays_s = iter((3.0, 0.0, 1.0))

    async def person_of(key_hash: str) -> str:
        await asyncio.sleep(delay_s := next(delays_s))
        if not delay_s:
            raise StoreDown("once")
        return key_hash

    world.store.person_of = person_of  # type: ignore[method-assign]
    key = "the-key-of-somebody-at-this-table"
    dead, between, alive = [await world.joins(mailbox, "Ben", key=key) for _ in range(3)]
    await later(5)
    assert (dead.closed, between.closed, alive.closed) == (CloseCode.SEAT_TAKEN_OVER, CloseCode.STORE_DOWN, None)


@in_a_world
async def test_whoever_cannot_be_read_is_told_so_and_not_left_waiting(world: World) -> None:
    mailbox, (ann,) = await world.table("Ann")

    async def person_of(key_hash: str) -> str:
        raise BadRecord(f"slapjack:{{{key_hash}}}:person: not a person")

    world.store.person_of = person_of  # type: ignore[method-assign]
    ben = await world.joins(mailbox, "Ben", key="the-key-of-somebody-at-this-table")
    assert (ben.closed, ann.closed, len(mailbox._phones)) == (CloseCode.ROOM_FAILED, None, 1)


@in_a_world
async def test_while_the_store_is_down_nobody_can_fill_the_memory(world: World) -> None:
    mailbox, (ann, ben) = await world.table("Ann", "Ben")
    world.store.down = True
    ann.say(Lock(True))
    for _ in range(MOST_WAITING + 10):
        ben.say(React("👏"))
    assert ben.closed == CloseCode.STORE_DOWN
    assert ann.closed is None
    world.store.down = False
    await later(2)
    assert world.store.tables[mailbox.code].locked


@in_a_world
async def test_a_result_is_counted_though_the_store_was_down_when_the_game_ended(world: World) -> None:
    mailbox, (ann, ben) = await world.table("Ann", "Ben")
    ann.say(Start())
    await settled()
    world.store.down = True
    ann.say(EndGame())
    await later(10)
    assert ben.stage() is Stage.PLAYING
    world.store.down = False
    await later(2)
    assert sum(score.wins for score in world.store.tables[mailbox.code].scores.values()) == 2
    assert ben.stage() in (Stage.BREAK, Stage.PLAYING)


# --- time --------------------------------------------------------------------------------------------------------


@in_a_world
async def test_r28_the_room_is_woken_at_the_instant_it_asked_for(world: World) -> None:
    _, (ann, _) = await world.table("Ann", "Ben")
    ann.say(Start())
    await settled()
    ann.say(EndGame())
    ended_us = world.clock.now_us()
    await later(6.9)
    assert ann.stage() is Stage.BREAK
    await later(0.1)
    assert ann.stage() is Stage.PLAYING
    assert [at_us for at_us in ann.got_at_us if at_us > ended_us] == [ended_us + 7 * S] * 2


@in_a_world
async def test_r24_a_game_goes_on_by_itself(world: World) -> None:
    _, (ann, _) = await world.table("Ann", "Ben")
    ann.say(Start())
    await later(60)
    assert ann.last(Update).view.turned == 3


@in_a_world
async def test_r3_a_near_phone_is_sent_a_card_later_than_a_far_one(world: World) -> None:
    near, far = await world.near_and_far()
    far.say(DoTurn(1, 1))
    await later(1)
    shown = [
        (message.show_at_us - at_us) / MS
        for phone in (near, far)
        for message, at_us in zip(phone.got, phone.got_at_us, strict=True)
        if isinstance(message, Update) and message.show_at_us
    ]
    assert len(shown) == 2
    assert 0 < shown[0] < 30, "before its moment, and not by much"
    assert 100 < shown[1] <= 250


@in_a_world
async def test_r3_what_follows_a_delayed_card_follows_it(world: World) -> None:
    near, far = await world.near_and_far()
    told = len(near.got)
    far.say(DoTurn(1, 1))
    far.say(React("👏"))
    near.say(Sync(sent_us=1))
    await later(1)
    assert near.kinds()[told:] == [Update, Reacted, Synced]
    assert near.got_at_us[-1] == near.got_at_us[told] > far.got_at_us[-1]


@in_a_world
async def test_a_card_that_the_server_sent_late_is_no_hurry_of_the_hand_on_it(world: World) -> None:
    """Whoever got a card late by the server's fault is judged from the moment at which they could have seen it."""
    mailbox, (ann, ben) = await world.table("Ann", "Ben")
    await later(20)
    ann.say(Start())
    await later(5)
    play = mailbox.room.state.play
    assert play is not None
    while not play.due.contest:
        world.store.open.clear()
        turner = (ann, ben)[play.due.turners[0]]
        turner.say(DoTurn(1, play.due.nth))
        await later(0.08)
        world.store.open.set()
        await later(1)
    turned = next(m for m in reversed(ben.got) if isinstance(m, Update) and m.show_at_us)
    late_us = ben.got_at_us[ben.got.index(turned)] - turned.show_at_us
    assert 60 * MS < late_us < 90 * MS
    ben.say(DoSlap(1, play.due.contest, 300 * MS))
    evidence = play.referee.evidence[0]
    assert evidence.shown_us == pytest.approx(turned.show_at_us + late_us, abs=2 * MS)


@in_a_world
async def test_what_was_told_before_the_goodbye_is_sent_before_it(world: World) -> None:
    near, far = await world.near_and_far()
    far.say(DoTurn(1, 1))
    near.say(Sync(sent_us=1))
    near.say(Quit())
    await settled()
    assert near.closed == CloseCode.REMOVED
    assert Synced in near.kinds()
    await later(1)
    assert far.closed is None


# --- phones ------------------------------------------------------------------------------------------------------


@in_a_world
async def test_r24_a_phone_that_is_gone_is_away(world: World) -> None:
    mailbox, (ann, ben) = await world.table("Ann", "Ben")
    mailbox.disconnect(ben.conn)
    await settled()
    assert [seat.away for seat in ann.last(Update).table.seats] == [False, True]
    assert len(mailbox._phones) == 1
    told = len(ann.got)
    mailbox.disconnect(ben.conn)
    await settled()
    assert len(ann.got) == told, "twice is once"


@in_a_world
async def test_a_seat_taken_over_hangs_up_the_first_phone_alone(world: World) -> None:
    mailbox, (ann, ben) = await world.table("Ann", "Ben")
    other = await world.joins(mailbox, "Ben", key=ben.last(Welcome).key)
    assert ben.closed == CloseCode.SEAT_TAKEN_OVER
    assert ann.closed is other.closed is None
    mailbox.disconnect(ben.conn)
    await settled()
    assert not any(seat.away for seat in other.last(Update).table.seats)


@in_a_world
async def test_a_phone_that_has_stopped_reading_holds_nobody_up(world: World) -> None:
    mailbox, (ann, ben) = await world.table("Ann", "Ben")
    ben.reads = False
    ann.say(Lock(True))
    await settled()
    assert ann.last(Update).table.locked
    mailbox.disconnect(ben.conn)
    await settled()
    assert ann.last(Update).table.seats[1].away


# --- rooms that fail ---------------------------------------------------------------------------------------------


@in_a_world
async def test_a_room_that_fails_hangs_up_its_own_phones_and_starts_again_from_what_was_kept(world: World) -> None:
    logging.getLogger("slapjack.mailbox").setLevel(logging.CRITICAL)
    mailbox, (ann, ben) = await world.table("Ann", "Ben")
    _, (cid,) = await world.table("Cid")
    ann.say(Lock(True))
    await settled()
    key = ben.last(Welcome).key
    world.rng.broken = True
    ann.say(Start())
    await settled()
    world.rng.broken = False
    assert ann.closed == ben.closed == CloseCode.ROOM_FAILED
    assert cid.closed is None
    assert world.host.tables == 1
    for phone in (ann, ben):
        mailbox.hear(phone.conn, Sync(sent_us=1), world.clock.now_us())
        mailbox.disconnect(phone.conn)
    late = world.phone(mailbox)
    assert late.closed == CloseCode.ROOM_FAILED, "nobody is left with a room that is dead"

    again = await world.open(mailbox.code)
    assert again is not mailbox
    ben = await world.joins(again, "Ben", key=key)
    table = ben.last(Update).table
    assert table.locked
    assert [seat.name for seat in table.seats] == ["Ann", "Ben"]
    assert table.stage is Stage.LOBBY
    cid.say(Lock(True))
    await settled()
    assert cid.last(Update).table.locked


@in_a_world
async def test_a_store_that_refuses_for_good_is_a_room_that_fails(world: World) -> None:
    logging.getLogger("slapjack.mailbox").setLevel(logging.CRITICAL)
    _, (ann,) = await world.table("Ann")

    async def refuse(code: str, epoch: int, number: int, change: Change) -> None:
        raise BadRecord("no")

    world.store.keep = refuse  # type: ignore[method-assign]
    ann.say(Lock(True))
    await settled()
    assert ann.closed == CloseCode.ROOM_FAILED
    assert world.host.tables == 0


# --- what is counted ---------------------------------------------------------------------------------------------


@in_a_world
async def test_what_keeping_takes_is_counted_and_what_comes_of_it(world: World) -> None:
    _, (ann,) = await world.table("Ann")
    kept, took_us, not_kept, fenced = counted()

    def since() -> list[float]:
        now = counted()
        return [now[0] - kept, round((now[1] - took_us) / MS), now[2] - not_kept, now[3] - fenced]

    world.store.journey_s = 0.25
    ann.say(Lock(True))
    await later(0.3)
    assert since() == [1, 250, 0, 0]
    world.store.journey_s, world.store.down = 0.0, True
    ann.say(Lock(False))
    await later(0.05)
    world.store.down = False
    await later(1)
    assert since() == [2, 250, 1, 0], "without the waiting"
    world.store.keep = another_has_it  # type: ignore[method-assign]
    ann.say(Lock(True))
    await settled()
    assert since() == [2, 250, 1, 1]


def counted() -> tuple[float, float, float, float]:
    """Changes kept, the microseconds that took, those not acknowledged, those refused."""
    names = ("keep_seconds_count", "keep_seconds_sum", "not_kept_total", "fenced_total")
    kept, took_s, not_kept, fenced = (meters.REGISTRY.get_sample_value(f"slapjack_{name}") or 0.0 for name in names)
    return kept, took_s * 1e6, not_kept, fenced


async def another_has_it(code: str, epoch: int, number: int, change: Change) -> None:
    raise Fenced(code)


# --- codes, sleep and waking -------------------------------------------------------------------------------------


@in_a_world
async def test_a_code_that_is_taken_is_not_given_twice(world: World) -> None:
    same, other = Entropy(bytes(31) + b"\x01"), Entropy(bytes(31) + b"\x02")
    world.rng.lay(same, same, same, other)
    first, second = await world.host.create(), await world.host.create()
    assert first != second
    assert list(world.store.tables) == [first, second]


def test_a_code_has_no_look_alikes_and_any_symbol_anywhere() -> None:
    rng = FakeLuck(seed=1)
    codes = [new_code(rng) for _ in range(500)]
    assert len(set(codes)) == 500
    assert {len(code) for code in codes} == {CODE_LENGTH}
    assert all({code[place] for code in codes} == set(CODE_SYMBOLS) for place in range(CODE_LENGTH))


def drawn_for(code: str) -> Entropy:
    number = 0
    for symbol in reversed(code):
        number = number * len(CODE_SYMBOLS) + CODE_SYMBOLS.index(symbol)
    return Entropy(number.to_bytes(32))


@pytest.mark.parametrize("rude", ["FUCKAB", "2A552B", "K5EX7Y", "ARSCH9"])
def test_a_code_that_nobody_wants_to_say_aloud_is_drawn_again(rude: str) -> None:
    rng = FakeLuck(seed=1)
    rng.lay(drawn_for("K7WQ2M"))
    assert new_code(rng) == "K7WQ2M"
    rng.lay(drawn_for(rude), drawn_for("K7WQ2M"))
    assert new_code(rng) == "K7WQ2M"
    assert all(set(word) <= set(CODE_SYMBOLS) for word in RUDE_WORDS)


@in_a_world
async def test_an_unknown_code_leads_nowhere(world: World) -> None:
    assert await world.host.open("NOSUCH") is None
    assert await world.host.peek("NOSUCH") is None
    assert world.host.tables == 0


@in_a_world
async def test_a_table_is_looked_at_without_being_woken(world: World) -> None:
    code = await world.host.create()
    assert await world.host.peek(code) == world.store.tables[code]
    assert world.host.tables == 0
    mailbox = await world.open(code)
    await world.joins(mailbox, "Ann")
    loads = world.store.loads
    kept = await world.host.peek(code)
    assert kept is not None
    assert [seat.name for seat in kept.seats] == ["Ann"]
    assert world.store.loads == loads


@in_a_world
async def test_whoever_comes_at_once_comes_into_one_room(world: World) -> None:
    code = await world.host.create()
    world.store.open.clear()
    coming = [asyncio.ensure_future(world.host.open(code)) for _ in range(5)]
    await settled()
    coming[0].cancel()
    world.store.open.set()
    rooms = await asyncio.gather(*coming[1:])
    assert rooms[0] is not None
    assert all(room is rooms[0] for room in rooms)
    assert len(world.store.epochs) == 1
    assert world.store.epochs[code] == 1, "taken over once"
    assert world.host.tables == 1


@in_a_world
async def test_a_table_that_cannot_be_read_is_said_and_may_be_tried_again(world: World) -> None:
    code = await world.host.create()
    world.store.down = True
    with pytest.raises(StoreDown):
        await world.host.open(code)
    with pytest.raises(StoreDown):
        await world.host.create()
    world.store.down, world.store.bad = False, True
    with pytest.raises(BadRecord):
        await world.host.open(code)
    world.store.bad = False
    assert await world.host.open(code) is not None


@in_a_world
async def test_a_server_carries_so_many_tables(world: World) -> None:
    codes = [await world.host.create() for _ in range(3)]
    host = world.new_host(max_tables=2)
    mailboxes = [await world.open(code) for code in codes[:2]]
    with pytest.raises(ServerFull):
        await host.open(codes[2])
    with pytest.raises(ServerFull):
        await host.create()
    assert await host.open(codes[0]) is mailboxes[0]
    assert host.tables == 2


async def carries_on_full(world: World, *, worked_s: float, late_s: float) -> None:
    mailbox, (ann,) = await world.table("Ann")
    sleeping = await world.host.create()
    for _ in range(12):
        world.clock.worked_s += worked_s
        await later(0.09)
        world.clock.now_s += late_s  # a step that takes so long
    with pytest.raises(ServerFull):
        await world.host.create()
    assert await world.host.open(mailbox.code) is mailbox
    assert await world.host.open(sleeping) is not None
    ann.say(Sync(1))
    await settled()
    assert ann.last(Synced) == Synced(1, world.clock.now_us())
    await later(2)
    await world.host.create()


@in_a_world
async def test_a_server_that_has_its_hands_full_takes_no_new_table_and_goes_on_with_those_it_has(world: World) -> None:
    await carries_on_full(world, worked_s=0.1, late_s=0.0)


@in_a_world
async def test_a_server_whose_processor_others_take_is_full_as_well(world: World) -> None:
    await carries_on_full(world, worked_s=0.01, late_s=0.03)


@in_a_world
async def test_a_server_carries_no_more_when_all_come_at_once(world: World) -> None:
    codes = [await world.host.create() for _ in range(4)]
    host = world.new_host(max_tables=2)
    world.store.open.clear()
    coming = [asyncio.ensure_future(host.open(code)) for code in codes]
    await settled()
    world.store.open.set()
    came = await asyncio.gather(*coming, return_exceptions=True)
    assert sum(isinstance(room, Mailbox) for room in came) == 2
    assert sum(isinstance(room, ServerFull) for room in came) == 2
    assert host.tables == 2


@in_a_world
async def test_a_server_carries_no_more_when_all_come_while_the_store_answers_others(world: World) -> None:
    codes = [await world.host.create() for _ in range(40)]
    host = world.new_host(max_tables=5)
    world.store.journey_s = 0.001
    came = await asyncio.gather(*map(host.open, codes), return_exceptions=True)
    assert sum(isinstance(room, Mailbox) for room in came) == 5
    assert sum(isinstance(room, ServerFull) for room in came) == 35
    assert host.tables == 5


@in_a_world
async def test_a_table_that_nobody_is_at_makes_place_at_once(world: World) -> None:
    codes = [await world.host.create() for _ in range(2)]
    host = world.new_host(max_tables=1)
    mailbox = await world.open(codes[0])
    ann = await world.joins(mailbox, "Ann")
    await later(SLEEP_AFTER_S + 1)
    with pytest.raises(ServerFull):
        await host.open(codes[1])
    mailbox.disconnect(ann.conn)
    await later(0.5)
    with pytest.raises(ServerFull):
        await host.open(codes[1])  # she may be back in a moment
    await later(1)
    assert await host.open(codes[1]) is not None
    assert host.tables == 1
    late = world.phone(mailbox)
    assert late.closed == SERVICE_RESTART


@in_a_world
async def test_a_table_to_which_nobody_has_come_sleeps_within_seconds(world: World) -> None:
    mailbox = await world.open(await world.host.create())
    eve = world.phone(mailbox)
    await later(60)
    assert world.host.tables == 1, "she may still say who she is"
    mailbox.disconnect(eve.conn)
    await later(UNVISITED_S + 2)
    assert world.host.tables == 0
    assert world.phone(mailbox).closed == SERVICE_RESTART


@in_a_world
async def test_a_table_that_everybody_has_left_sleeps_after_a_while(world: World) -> None:
    mailbox, (ann,) = await world.table("Ann")
    mailbox.disconnect(ann.conn)
    await later(SLEEP_AFTER_S - 1)
    assert world.host.tables == 1
    await later(3)
    assert world.host.tables == 0


@in_a_world
async def test_the_emptiest_table_goes_first(world: World) -> None:
    """One that nobody has joined before one that people have left, and that before one which they left later."""
    host = world.new_host(max_tables=3)
    codes = [await host.create() for _ in range(3)]
    left, left_later, _ = mailboxes = [await world.open(code) for code in codes]
    phones = [(mailbox, await world.joins(mailbox, "Ann")) for mailbox in (left_later, left)]
    for mailbox, phone in reversed(phones):
        await later(1)
        mailbox.disconnect(phone.conn)
    await later(2)
    gone: list[int] = []
    for _ in range(3):
        world.phone(await world.open(await host.create()))
        gone += [nth for nth, mailbox in enumerate(mailboxes) if mailbox._stopped and nth not in gone]
    assert gone == [2, 0, 1]


@in_a_world
async def test_one_network_does_not_fill_the_server(world: World) -> None:
    host = world.new_host(max_tables=10, max_tables_each=3)
    codes = [await host.create("a") for _ in range(5)]
    for code in codes[:3]:
        mailbox = await host.open(code, "a")
        assert mailbox is not None
        world.phone(mailbox)
    for wants in (host.open(codes[3], "a"), host.create("a")):
        with pytest.raises(NetworkFull):
            await wants
    assert await host.open(codes[4], "b") is not None
    assert await host.open(codes[0], "a") is not None, "it is awake"
    assert host.tables == 4


@in_a_world
async def test_one_network_has_no_more_than_half_however_few_there_are(world: World) -> None:
    host = world.new_host(max_tables=4)
    codes = [await host.create() for _ in range(3)]
    for code in codes[:2]:
        assert await host.open(code, "a") is not None
    with pytest.raises(NetworkFull):
        await host.open(codes[2], "a")


@in_a_world
async def test_a_network_that_has_its_share_gives_up_an_empty_table_of_its_own(world: World) -> None:
    host = world.new_host(max_tables=10, max_tables_each=1)
    codes = [await host.create() for _ in range(3)]
    theirs, ours = await host.open(codes[0], "b"), await host.open(codes[1], "a")
    await later(2)
    assert await host.open(codes[2], "a") is not None
    assert (await host.open(codes[0], "b"), host.tables) == (theirs, 2)
    assert ours is not None
    assert world.phone(ours).closed == SERVICE_RESTART


@in_a_world
async def test_whoever_comes_with_somebody_who_may_not_wake_the_table_wakes_it_themselves(world: World) -> None:
    host = world.new_host(max_tables=10, max_tables_each=1)
    codes = [await host.create() for _ in range(2)]
    assert await host.open(codes[0], "a") is not None
    world.store.journey_s = 0.1
    came = await asyncio.gather(host.open(codes[1], "a"), host.open(codes[1], "b"), return_exceptions=True)
    assert [type(each) for each in came] == [NetworkFull, Mailbox]


@in_a_world
async def test_a_room_that_slept_wakes_with_its_people_and_scores(world: World) -> None:
    codes = [await world.host.create() for _ in range(2)]
    host = world.new_host(max_tables=1)
    mailbox = await world.open(codes[0])
    ann, ben = await world.joins(mailbox, "Ann"), await world.joins(mailbox, "Ben")
    ann.say(Start())
    ann.say(EndGame())
    await settled()
    for phone in (ann, ben):
        mailbox.disconnect(phone.conn)
    await later(SLEEP_AFTER_S + 1)
    await world.open(codes[1])
    await later(SLEEP_AFTER_S + 1)
    again = await world.open(codes[0])
    assert host.tables == 1
    ann = await world.joins(again, "Ann", key=ann.last(Welcome).key)
    assert [(seat.name, seat.wins) for seat in ann.last(Update).table.seats] == [("Ann", 1), ("Ben", 1)]


@in_a_world
async def test_a_room_with_something_unkept_does_not_go_to_sleep(world: World) -> None:
    codes = [await world.host.create() for _ in range(2)]
    host = world.new_host(max_tables=1)
    mailbox = await world.open(codes[0])
    ann, ben = await world.joins(mailbox, "Ann"), await world.joins(mailbox, "Ben")
    ann.say(Start())
    await settled()
    world.store.down = True
    ann.say(EndGame())
    for phone in (ann, ben):
        mailbox.disconnect(phone.conn)
    await later(SLEEP_AFTER_S + 60)
    with pytest.raises(ServerFull):
        await host.create()
    world.store.down = False
    await later(3)
    assert sum(score.wins for score in world.store.tables[codes[0]].scores.values()) == 2
    await later(SLEEP_AFTER_S + 1)
    assert await host.open(codes[1]) is not None


@in_a_world
async def test_closing_stops_every_room_where_it_stands(world: World) -> None:
    _, (ann, _) = await world.table("Ann", "Ben")
    await world.table("Cid")
    ann.say(Start())
    await settled()
    await world.host.close()
    told = len(ann.got)
    await later(60)
    assert len(ann.got) == told
    assert world.host.tables == 0


@in_a_world
async def test_a_refusal_goes_to_its_sender_alone(world: World) -> None:
    _, (ann, ben) = await world.table("Ann", "Ben")
    told = len(ann.got)
    ben.say(Start())
    await settled()
    assert ben.got[-1] == Refused("start", "not_host")
    assert len(ann.got) == told


@in_a_world
async def test_a_room_that_another_server_took_over_falls_silent(world: World) -> None:
    """Nothing is told that was not kept, and the phones come back to wherever the table is now."""
    logging.getLogger("slapjack.mailbox").setLevel(logging.CRITICAL)
    mailbox, (ann, ben) = await world.table("Ann", "Ben")
    world.store.keep = another_has_it  # type: ignore[method-assign]
    told = len(ann.got)
    ann.say(Lock(True))
    await settled()
    assert len(ann.got) == told
    assert (ann.closed, ben.closed) == (1012, 1012)
    assert world.host.tables == 0
    assert len(mailbox._phones) == 2


# --- in the background -------------------------------------------------------------------------------------------


@in_a_world
async def test_what_fails_in_the_background_is_said_and_started_again(world: World) -> None:
    background, runs = world.host.background, 0
    said = world.said_by("slapjack.background")

    async def stumble() -> None:
        nonlocal runs
        runs += 1
        if runs < 4:
            raise RuntimeError("it stumbled")
        await asyncio.Event().wait()

    background.keep_running("walking", stumble)
    await later(0.5)
    assert background.failing() == ["walking"]
    assert said[0].getMessage() == "walking has failed"
    assert said[0].exc_info is not None, "with its traceback"
    await later(FAILING_S)
    assert (runs, background.failing()) == (4, ["walking"]), "it has not gone well for long enough"
    await later(4)
    assert background.failing() == []


@in_a_world
async def test_what_should_never_end_and_does_is_started_again(world: World) -> None:
    runs = 0

    async def end() -> None:
        nonlocal runs
        runs += 1

    logging.getLogger("slapjack.background").setLevel(logging.CRITICAL)
    world.host.background.keep_running("walking", end)
    await later(3.5)
    assert runs == 4
    assert world.host.background.failing() == ["walking"]


@in_a_world
async def test_whoever_cannot_be_looked_up_for_a_mistake_of_ours_is_told_so(world: World) -> None:
    mailbox, (ann,) = await world.table("Ann")

    async def person_of(key_hash: str) -> str:
        raise RuntimeError("a mistake")

    logging.getLogger("slapjack.mailbox").setLevel(logging.CRITICAL)
    world.store.person_of = person_of  # type: ignore[method-assign]
    ben = await world.joins(mailbox, "Ben", key="the-key-of-somebody-at-this-table")
    assert (ben.closed, ann.closed) == (CloseCode.ROOM_FAILED, None)
