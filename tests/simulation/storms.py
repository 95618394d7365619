"""A table in bad weather: lines that lag, blip and stutter, servers that die or are overtaken, a store that falters.

The real host and mailboxes, the real client session, and between them everything that can go wrong, on a made-up clock.
A seed gives the same storm again.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from clients.sdk import NotNow, ServerGone
from clients.sdk.session import GONE, Resumed, Session
from engine.cards import Entropy, read_deck
from engine.game import CardTurned, Game, Step, Wait
from engine.rules import Rules
from engine.table import deal
from server.hosting.host import Host
from server.hosting.mailbox import Mailbox
from server.store.port import Fenced, StoreDown
from server.table.journal import Dealt, Moved, read_entry
from server.table.mail import ConnId
from server.table.records import Change, Opened, TableRecord
from tests.server.test_host import SkippingLoop
from tests.server.world import FakeLuck, S
from tests.simulation.phones import is_slap_card
from wire.codec import read_client_message, read_server_message
from wire.frames import payload_of
from wire.messages import AddComputer, Join, Message, Pause, React, Rename, SetRules, Stage, Start, Update

CODE = "K7WQ2M"
STORM_S = (6.0, 16.0)
"""How long the weather is bad."""
SETTLES_S = 60.0
"""So long after it all must see the same, dialling again and the store's delays included."""
WATCHER = 3
"""Who of them only watches."""
HOUR_US = 3_600 * S
LOOKS_AGAIN_S = 0.5
"""How soon somebody taps again when nothing has come of it."""


class Ground:
    """What the store really has: one history of the table, whoever wrote it."""

    def __init__(self) -> None:
        self.record = TableRecord(CODE, Rules(), born="storm")
        self.journal: list[bytes] = []
        self.epoch = 0
        self.number = 0
        self.writers: dict[int, int] = {}
        self.results: Counter[str] = Counter()
        self.cards: dict[tuple[int, int], str] = {}
        self._game: Game | None = None

    def write(self, writer: int, epoch: int, number: int, change: Change) -> None:
        """Takes a change, or says that it is not this writer's to make."""
        if epoch != self.epoch:
            raise Fenced("another has this table")
        assert self.writers.setdefault(epoch, writer) == writer, "two write under one epoch"
        if number == self.number:
            return  # said again
        if number != self.number + 1:
            raise Fenced("a change is missing")
        self.number = number
        self.record = change.record or self.record
        self.journal = [*([] if change.deals else self.journal), *change.entries]
        if change.result is not None:
            self.results[change.result.id] += 1
        for entry in change.entries:
            self._play(entry)

    def _play(self, kept: bytes) -> None:
        match read_entry(kept):
            case Dealt() as dealt:
                people = tuple(seat.computer is None for seat in dealt.seats)
                self._game = deal(dealt.rules, read_deck(dealt.deck), len(dealt.seats), dealt.dealer, people)
            case Moved() as moved:
                assert self._game is not None
                step = self._game.step(moved.move, Entropy(moved.entropy))
                assert isinstance(step, Step), f"a move was kept that the game refuses: {step}"
                self._game = step.game
                for event in step.events:
                    if isinstance(event, CardTurned):
                        assert (moved.game, event.nth) not in self.cards, "a card was turned twice"
                        self.cards[moved.game, event.nth] = event.face


class Way:
    """One server's way to the store, which lags and breaks: before a change is there, or before the answer is back."""

    def __init__(self, storm: "Storm", ground: Ground, writer: int) -> None:
        self._storm = storm
        self._ground = ground
        self._writer = writer

    async def _passes(self) -> None:
        rng, rough = self._storm.rng, self._storm.rough
        await asyncio.sleep(rng.expovariate(1 / 0.002) if not rough or rng.random() < 0.97 else rng.uniform(0.1, 2))
        if rough and rng.random() < self._storm.breaks:
            raise StoreDown("the way is broken")

    async def create_table(self, record: TableRecord) -> bool:
        """There is one table."""
        raise NotImplementedError

    async def load_table(self, code: str) -> TableRecord | None:
        """The table."""
        await self._passes()
        return self._ground.record

    async def open_table(self, code: str, owner: str = "") -> Opened | None:
        """Takes it over."""
        await self._passes()
        self._ground.epoch += 1
        self._ground.number = 0
        opened = Opened(self._ground.record, tuple(self._ground.journal), self._ground.epoch)
        await self._passes()
        return opened

    async def keep(self, code: str, epoch: int, number: int, change: Change) -> None:
        """Keeps a change."""
        await self._passes()
        self._ground.write(self._writer, epoch, number, change)
        await self._passes()

    async def release_table(self, code: str, owner: str, epoch: int) -> None:
        """Gives it up."""

    async def person_of(self, key_hash: str) -> str:
        """Nobody has a second device."""
        await self._passes()
        return key_hash

    async def close(self) -> None:
        """There is nothing to close."""


class ServerClock:
    """A server's clock, which may leap."""

    def __init__(self, loop: SkippingLoop, ahead_us: int) -> None:
        self._loop = loop
        self.ahead_us = ahead_us

    def now_us(self) -> int:
        """Whole microseconds."""
        return self._loop.clock.now_us() + self.ahead_us

    def worked_us(self) -> int:
        """Nobody counts."""
        return 0


class Line:
    """A socket between a person and a server; each way is first in, first out."""

    def __init__(self, storm: "Storm", person: "Person", clock: ServerClock, mailbox: Mailbox) -> None:
        self._storm, self._person, self._clock, self._mailbox = storm, person, clock, mailbox
        self._down_s = self._up_s = 0.0
        self._last: bytes = b""
        self.conn = storm.new_conn()
        self.up = True
        self.held_s = 0.0
        """Until when nothing gets through, either way."""
        mailbox.connect(self.conn, self)

    def _later(self, at_s: float, call: Callable[[], None]) -> float:
        storm = self._storm
        at_s = max(at_s, self.held_s, storm.loop.time() + storm.rng.expovariate(1 / self._person.way_s))
        storm.loop.call_at(at_s, lambda: call() if self.up else None)
        return at_s + 1e-6

    def say(self, frame: bytes) -> None:
        """The person's phone sends a frame."""

        def arrives() -> None:
            self._mailbox.hear(self.conn, read_client_message(frame), self._clock.now_us())

        self._up_s = self._later(self._up_s, arrives)
        if self._storm.rough and self._storm.rng.random() < 0.02:
            self._up_s = self._later(self._up_s, arrives)

    # What a mailbox asks of a phone.

    def write(self, frame: bytes) -> bool:
        """The server sends a frame."""
        self._storm.look(frame, self._mailbox)
        payload = payload_of(frame)
        self._down_s = self._later(self._down_s, lambda: self._person.hear(payload))
        if self._storm.rough and self._storm.rng.random() < 0.01:
            self._down_s = self._later(self._down_s, lambda: self._person.hear(payload))
        return True

    def ping(self) -> None:
        """The network process answers."""
        sent_us = self._clock.now_us()

        def pong() -> None:
            self._mailbox.pong(self.conn, sent_us, self._clock.now_us())

        self._down_s = self._later(self._down_s, lambda: setattr(self, "_up_s", self._later(self._up_s, pong)))

    def hang_up(self, code: int, reason: str) -> None:
        """The server closes."""
        self._down_s = self._later(self._down_s, lambda: self._end(code, reason))

    def cut(self, *, silently: bool) -> None:
        """It breaks: the phone hears of it, and the server soon, or only by the pings that nobody answers."""
        self._end(GONE, "cut")
        if not silently:
            self._storm.loop.call_later(self._storm.rng.uniform(0, 1), self._mailbox.disconnect, self.conn)

    def _end(self, code: int, reason: str) -> None:
        if self.up:
            self.up = False
            self._person.closed(code, reason)
            if code != GONE:
                self._mailbox.disconnect(self.conn)


@dataclass
class Person:
    """Somebody with a phone who means to play, whatever happens."""

    storm: "Storm"
    nth: int
    way_s: float
    ahead_us: int
    line: Line | None = None
    acted: object = None
    rules_set: bool = False
    session: Session = field(init=False)

    def __post_init__(self) -> None:
        self.begin()
        self._woken_s = 0.0

    def begin(self) -> None:
        """Opens the page, which has a key of its own (as `POST /api/me` gives)."""
        join = Join(f"P{self.nth}", "🦊", f"the-key-of-the-person-{self.nth}", watch=self.nth == WATCHER)
        self.session = Session(join, self.storm.rng.random, 10**12)

    def now_us(self) -> int:
        """What the phone's clock reads."""
        return self.storm.loop.clock.now_us() + self.ahead_us

    async def live(self) -> None:
        """Dials whenever there is no line, and looks at the table again and again."""
        while True:
            dial_us = self.session.dial_at_us
            if dial_us is not None and dial_us <= self.now_us() and self.line is None:
                await self._dial()
            elif self.session.stale and self.line is not None:
                self.line.cut(silently=False)
            self._run()
            self._act()
            await asyncio.sleep(self.storm.rng.uniform(0.5, 1) * LOOKS_AGAIN_S if self.line else 0.1)

    async def _dial(self) -> None:
        clock, host = self.storm.clock, self.storm.host
        self.session.dial_at_us = None
        try:
            mailbox = await host.open(CODE)
        except StoreDown:
            mailbox = None
        if mailbox is None or host is not self.storm.host:
            self.session.closed(GONE, "nobody answers", self.now_us())
            return
        self.line = Line(self.storm, self, clock, mailbox)
        self.session.opened(self.now_us())

    def hear(self, payload: bytes) -> None:
        """A frame has come."""
        self.session.received(payload, self.now_us())
        self._run()

    def closed(self, code: int, reason: str) -> None:
        """The line is gone."""
        self.line = None
        self.session.closed(code, reason, self.now_us())
        self._run()

    def _run(self) -> None:
        self.session.wake(self.now_us())
        for event in self.session.take_events():
            if isinstance(event, Resumed):
                self.acted = None
            if isinstance(event, Update):
                self.session.painted(self.now_us())
                self._act()
        if self.session.error is not None:
            assert isinstance(self.session.error, ServerGone | NotNow), self.session.error
            assert self.session.table is None, "who was at the table seeks it for as long as it takes"
            self.begin()
        self._flush()
        wake_us = self.session.wake_at_us()
        if wake_us is not None and self.line is not None:
            at_s = self.storm.loop.time() + max(1_000, wake_us - self.now_us()) / 1e6
            if not self.storm.loop.time() < self._woken_s <= at_s:
                self._woken_s = at_s
                self.storm.loop.call_at(at_s, self._run)

    def _flush(self) -> None:
        for frame in self.session.take_frames():
            if self.line is not None:
                self.line.say(frame)

    def _act(self) -> None:
        session, rng = self.session, self.storm.rng
        table, view = session.table, session.view
        if table is None or not session.online:
            return
        mine = next((seat for seat in table.seats if seat.id == session.seat), None)
        if mine is None:
            return
        if mine.host:
            self._command(table.stage is Stage.LOBBY, table.paused)
        if view is None or table.stage is not Stage.PLAYING or table.paused:
            return
        top = session.top
        if top is not None and is_slap_card(table.rules, [card.face for card in view.landed]):
            if self.acted != (table.game, top.nth):
                self.acted = (table.game, top.nth)
                self.storm.loop.call_later(rng.uniform(0.12, 0.3), self._does, session.slap)
        elif session.my_turn:
            self.storm.loop.call_later(rng.uniform(0.02, 0.1), self._does, session.turn)
        if self.storm.rough and rng.random() < 0.02:
            self.say(rng.choice((React("🎉"), Rename(f"P{self.nth}{rng.choice('abc')}", "🐸"), Start())))

    def _does(self, act: Callable[[int], None]) -> None:
        if act != self.session.turn or self.session.my_turn:
            act(self.now_us())
            self._flush()

    def _command(self, lobby: bool, paused: bool) -> None:
        if not self.storm.rough:
            if not paused and not lobby:
                self.say(Pause(True))
        elif lobby:
            if not self.rules_set:
                self.rules_set = True
                self.say(SetRules(self.storm.rules))
                if self.storm.rng.random() < 0.5:
                    self.say(AddComputer(reaction_ms=400))
            self.say(Start())
        elif paused or self.storm.rng.random() < 0.01:
            self.say(Pause(not paused))

    def say(self, message: Message) -> None:
        """Says something."""
        self.session.say(message)
        self._flush()


class Storm:
    """One table of people, and its weather."""

    def __init__(self, loop: SkippingLoop, seed: int) -> None:
        self.loop = loop
        self.rng = random.Random(seed)
        self.rough = True
        self.rules = Rules(
            queens=True,
            doubles=self.rng.random() < 0.5,
            min_show_ms=300,
            card_limit=self.rng.randint(12, 60),
        )
        self.breaks = self.rng.choice((0, 0.03, 0.2))
        self.ground = Ground()
        self.told = 0
        self.faults: Counter[str] = Counter()
        self._conns = 0
        self._servers = 0
        self._games: dict[Mailbox, int] = {}
        self._seen = b""
        self.hosts: list[Host] = []
        self.serve()
        self.people = [
            Person(self, nth, self.rng.choice((0.001, 0.01, 0.05, 0.15)), self.rng.randrange(10**12))
            for nth in range(self.rng.randint(2, 4))
        ]

    def serve(self) -> None:
        """Another server is there, and people are led to it."""
        self._servers += 1
        self.clock = ServerClock(self.loop, self.rng.randrange(10**10))
        way = Way(self, self.ground, self._servers)
        self.host = Host(way, self.clock, FakeLuck(self.rng.randrange(2**32)), 10, 10)
        self.hosts.append(self.host)

    def new_conn(self) -> ConnId:
        """A number for a connection."""
        self._conns += 1
        return ConnId(self._conns)

    def look(self, frame: bytes, mailbox: Mailbox) -> None:
        """Looks at what a table is told: it must have been kept."""
        if frame is self._seen:
            return
        self._seen = frame
        message = read_server_message(payload_of(frame))
        if not isinstance(message, Update):
            return
        if message.table is not None:
            self._games[mailbox] = message.table.game
        for event in message.events:
            if isinstance(event, CardTurned):
                self.told += 1
                kept = self.ground.cards.get((self._games[mailbox], event.nth))
                assert kept == event.face, f"card {event.nth} was told as {event.face} and kept as {kept}"
        if message.view is not None:
            assert message.view.pile + sum(seat.cards for seat in message.view.seats) == 52

    # --- the weather ---

    async def rage(self) -> None:
        """One fault after the other."""
        over_s = self.loop.time() + self.rng.uniform(*STORM_S)
        while self.loop.time() < over_s:
            await asyncio.sleep(self.rng.expovariate(1 / 1.5))
            fault = self.rng.choices(
                (self.cut, self.stall, self.crash, self.overtaken, self.clock_leaps), (10, 6, 2, 2, 1)
            )[0]
            self.faults[fault.__name__] += 1
            fault()
        self.rough = False

    def lines(self) -> list[Line]:
        """Those that are up."""
        return [person.line for person in self.people if person.line is not None]

    def cut(self) -> None:
        """A line breaks."""
        if lines := self.lines():
            self.rng.choice(lines).cut(silently=self.rng.random() < 0.3)

    def stall(self) -> None:
        """A line stands still."""
        if lines := self.lines():
            self.rng.choice(lines).held_s = self.loop.time() + self.rng.choice((0.2, 1.0, 4.0, 9.0))

    def crash(self) -> None:
        """kill -9: whatever the server was doing, and another is started."""
        dying = self.host
        self.serve()
        self._tasks.append(self.loop.create_task(dying.close()))
        for line in self.lines():
            line.cut(silently=True)

    def overtaken(self) -> None:
        """Another server takes the table, and the one that had it does not know: some still talk to it."""
        alone = self.host
        self.serve()
        lines = self.lines()
        for line in self.rng.sample(lines, self.rng.randint(min(1, len(lines)), len(lines))):
            line.cut(silently=True)

        def ends() -> None:
            self._tasks.append(self.loop.create_task(alone.close()))

        self.loop.call_later(self.rng.uniform(1, 20), ends)

    def clock_leaps(self) -> None:
        """The server's clock is an hour ahead, or somebody's phone's is."""
        if self.rng.random() < 0.5:
            self.clock.ahead_us += HOUR_US
        else:
            self.rng.choice(self.people).ahead_us += HOUR_US

    # --- from the first to the last ---

    async def run(self) -> None:
        """Lives through it, and sees that everybody sees the same in the end."""
        self._tasks: list[asyncio.Task[Any]] = [self.loop.create_task(person.live()) for person in self.people]
        try:
            await self.rage()
            deadline_s = self.loop.time() + SETTLES_S
            while not self._settled():
                assert self.loop.time() < deadline_s, f"they do not come to see the same: {self._views()}"
                await asyncio.sleep(0.2)
                for task in self._tasks:
                    if task.done():
                        task.result()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.gather(*(host.close() for host in self.hosts))
        twice = [each for each, times in self.ground.results.items() if times > 1]
        assert not twice, f"counted twice: {twice}"

    def _settled(self) -> bool:
        for person in self.people:
            table = person.session.table
            if not person.session.online or table is None or not (table.paused or table.stage is Stage.LOBBY):
                return False
        views = self._views()
        return all(view == views[0] for view in views)

    def _views(self) -> list[object]:
        # Whoever has come after the last game knows nothing of it; those who were there still see how it ended.
        return [
            (
                None if view is None or view.wait is Wait.OVER else view,
                person.session.table
                and msgspec.structs.replace(
                    person.session.table,
                    seats=tuple(msgspec.structs.replace(seat, rtt_ms=0) for seat in person.session.table.seats),
                ),
            )
            for person in self.people
            for view in [person.session.view]
        ]


class Failures(logging.Handler):
    """What made a room fail: the host survives that, and so it would be missed."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Remembers what was wrong."""
        self.heard.append(f"{record.getMessage()}: {record.exc_info and record.exc_info[1]!r}")


def weather(seed: int) -> Storm:
    """Lives through the storm of that seed; raises `AssertionError` where a promise is broken."""
    loop, failures = SkippingLoop(), Failures()
    log = logging.getLogger("slapjack.mailbox")
    log.addHandler(failures)
    log.propagate = False
    try:
        storm = Storm(loop, seed)
        loop.run_until_complete(storm.run())
        assert not failures.heard, failures.heard[0]
        assert not loop.wrong, f"{loop.wrong[0]}"
        return storm
    finally:
        log.removeHandler(failures)
        log.propagate = True
        loop.close()
