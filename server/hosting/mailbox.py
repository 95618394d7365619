"""A room's mailbox: one writer for what happens at a table, its timer, the store first and then the phones.

Carries out what a room decides; decides nothing about a game.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from server.base import meters
from server.base.keys import hash_of
from server.base.ports import Clock
from server.hosting.cluster import Lease
from server.store.port import BadRecord, Fenced, Store, StoreDown
from server.table.mail import (
    ConnId,
    Effect,
    Forgotten,
    Gone,
    Input,
    Keep,
    Ping,
    Ponged,
    Said,
    SentLate,
    Stalled,
    Tell,
    Woken,
)
from server.table.records import Change
from server.table.room import Room
from wire.codec import write
from wire.frames import frame_of
from wire.messages import ClientMessage, CloseCode, Join, Message, StoreStalled, Update

log = logging.getLogger("slapjack.mailbox")

SLEEP_AFTER_S = 600.0
"""A room without anybody leaves memory after this; its table stays in the store."""

GRAIN_US = 1_000
"""Timers are no finer than this, so what is due sooner is sent at once."""

LATE_US = 2_000
"""A card that leaves later than this is said to the room to be late, for its owner reacts to it so much later."""

FIRST_RETRY_S = 0.1
LONGEST_RETRY_S = 0.5
MOST_WAITING = 2_000
"""What may wait at a table while its store is away, before whoever says more is hung up on."""

FINISH_S = 2.0
"""So long it may take until a change that is being kept then has been kept, and its table given up."""

SERVICE_RESTART = 1012
"""Come back: the close code for it (IANA's WebSocket Close Code Number Registry)."""

MOVED = "this table has moved: coming back to it"
STOPS = "this server stops: coming back to another"
STORE_AWAY = "the score book does not answer: try again in a moment"
UNREADABLE = "what was kept of you cannot be read"
FAILED = "this table has run into an error and starts again from its last score"


class Phone(Protocol):
    """The other end of a connection."""

    def write(self, frame: bytes) -> bool:
        """Sends without waiting; False when the peer was cut for not reading."""

    def ping(self) -> None:
        """Sends a ping."""

    def hang_up(self, code: int, reason: str) -> None:
        """Closes with a reason."""


class Mailbox:
    """One room awake: what happens to it goes in at `_post` and is carried out in order.

    It is carried out on the spot, so that no task has to be woken for it, unless a change is being kept: then it waits
    until that has been told.
    """

    def __init__(
        self,
        room: Room,
        epoch: int,
        store: Store,
        clock: Clock,
        lease: Lease,
        closed: Callable[["Mailbox"], None],
    ) -> None:
        self.room = room
        self._epoch = epoch
        self._lease = lease
        self._owner = lease.owner
        self._changes = 0
        self._store = store
        self._clock = clock
        self._closed = closed
        self._loop = asyncio.get_running_loop()
        self._inbox: deque[tuple[Input, int]] = deque()
        self._keeping: asyncio.Task[None] | None = None
        self._stopped = False
        self._goodbye: tuple[int, str] | None = None
        self._asking: set[asyncio.Future[None]] = set()
        self._joining: asyncio.Future[None] | None = None
        self._phones: dict[ConnId, Phone] = {}
        self._held: dict[ConnId, deque[tuple[int, int, bytes]]] = {}
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_us = 0
        self._quiet_since_us = clock.now_us()
        self._set_alarm()

    @property
    def people(self) -> int:
        """How many phones are connected."""
        return len(self._phones)

    def connect(self, conn: ConnId, phone: Phone) -> None:
        """A phone is there; its first message says who it is."""
        if self._stopped:
            phone.hang_up(*(self._goodbye or (SERVICE_RESTART, MOVED)))
            return
        self._phones[conn] = phone

    def hear(self, conn: ConnId, message: ClientMessage, arrived_us: int) -> None:
        """A message has arrived."""
        if len(self._inbox) >= MOST_WAITING:
            if (phone := self._phones.get(conn)) is not None:
                self.disconnect(conn)
                phone.hang_up(CloseCode.STORE_DOWN, STORE_AWAY)
        elif isinstance(message, Join) and message.key:
            self._joining = asyncio.ensure_future(self._hear_join(conn, message, arrived_us, self._joining))
            self._asking.add(self._joining)
            self._joining.add_done_callback(self._asking.discard)
        else:
            self._post(Said(conn, message), arrived_us)

    async def _hear_join(
        self, conn: ConnId, join: Join, arrived_us: int, before: "asyncio.Future[None] | None"
    ) -> None:
        """Asks whose the key is before the room sees it: a person may have several devices.

        Those who join are seen in the order in which they came, however long each look-up takes: a line that has died
        unnoticed must not take the seat from the one that came after it.
        """
        person = ""
        try:
            person = await self._store.person_of(hash_of(join.key))
        except StoreDown as down:
            log.warning("room %s: a person cannot be looked up: %s", self.room.code, down)
            if (phone := self._phones.pop(conn, None)) is not None:
                phone.hang_up(CloseCode.STORE_DOWN, STORE_AWAY)
        except BadRecord as bad:
            log.error("room %s: a person cannot be read: %s", self.room.code, bad)
            if (phone := self._phones.pop(conn, None)) is not None:
                phone.hang_up(CloseCode.ROOM_FAILED, UNREADABLE)
        if before is not None:
            await asyncio.wait((before,))
        if conn in self._phones:  # and not a socket that has gone meanwhile, whose seat would stay with a ghost
            self._post(Said(conn, join, person), arrived_us)

    def forget(self, person: str) -> None:
        """A person wants to be forgotten."""
        self._post(Forgotten(person), self._clock.now_us())

    def pong(self, conn: ConnId, sent_us: int, arrived_us: int, kernel_rtt_us: int | None = None) -> None:
        """The ping sent at `sent_us` has come back; with the kernel's round trip where its peer is the phone."""
        self._post(Ponged(conn, sent_us, kernel_rtt_us), arrived_us)

    def disconnect(self, conn: ConnId) -> None:
        """A phone is gone."""
        self._held.pop(conn, None)
        if self._phones.pop(conn, None) is not None:
            self._quiet_since_us = self._clock.now_us()
            self._post(Gone(conn), self._clock.now_us())

    def has_joined(self, conn: ConnId) -> bool:
        """Whether somebody has come to the table on that connection."""
        return conn in self.room.guests

    def idle(self) -> bool:
        """Whether nobody has been here for so long that the room may go to sleep."""
        return not self._phones and self._clock.now_us() - self._quiet_since_us > SLEEP_AFTER_S * 1e6

    async def hand_over(self) -> None:
        """Finishes the change that is being kept, gives the table up, and sends the phones to whoever has it next."""
        self._stopped = True  # what comes from now on is for the next one
        with contextlib.suppress(TimeoutError):  # then the table is free when the lease is over
            async with asyncio.timeout(FINISH_S):
                while (keeping := self._keeping) is not None and not keeping.done():
                    await asyncio.wait([keeping])
                self.stop()
                await self.release()
        self._end(SERVICE_RESTART, STOPS)

    async def release(self) -> None:
        """Lets the table be anybody's; it has been stopped."""
        await give_up(self._store, self.room.code, self._owner, self._epoch)

    def fall_silent(self) -> None:
        """This server can no longer speak for the table: the phones come back to whoever can."""
        self._end(SERVICE_RESTART, MOVED)

    def stop(self) -> asyncio.Task[None] | None:
        """Stops the room where it stands; the task that still waits for the store, if any, ends soon after."""
        self._stopped = True
        if self._alarm is not None:
            self._alarm.cancel()
        if self._keeping is asyncio.current_task():
            self._keeping = None
        elif self._keeping is not None:
            self._keeping.cancel()
        self._closed(self)
        return self._keeping

    def _post(self, happened: Input, at_us: int) -> None:
        self._inbox.append((happened, at_us))
        self._work()

    def _work(self) -> None:
        """Carries out what has come, until there is no more of it or a change has to be kept."""
        try:
            while self._inbox and self._keeping is None and not self._stopped:
                if effects := self.room.receive(*self._inbox.popleft()):
                    self._carry_out(effects)
        except Exception:
            self._fail()
        if not self._stopped:
            self._set_alarm()

    def _fail(self) -> None:
        """The room has come to something impossible: it is lost to what was saved of it, and no other room is."""
        log.exception("room %s failed", self.room.code)
        self._end(CloseCode.ROOM_FAILED, FAILED)

    def _end(self, code: int, reason: str) -> None:
        if self._goodbye is not None:
            return
        self._goodbye = code, reason
        self.stop()
        for phone in list(self._phones.values()):
            phone.hang_up(code, reason)

    def _set_alarm(self) -> None:
        """Has the room woken when it wants to be. An alarm that rings too early is set again then."""
        # While a change is being kept the room waits, but a card that is on its way must not.
        wake_us = self.room.wake_at() if self._keeping is None else None
        if self._held:
            send_us = min(held[0][0] for held in self._held.values())
            wake_us = send_us if wake_us is None else min(wake_us, send_us)
        if wake_us is None or (self._alarm is not None and self._alarm_us <= wake_us):
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_us = wake_us
        self._alarm = self._loop.call_later(max(0, wake_us - self._clock.now_us()) / 1e6, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._send_held()
        now_us = self._clock.now_us()
        if self._keeping is None and (wake_us := self.room.wake_at()) is not None and wake_us <= now_us:
            self._inbox.append((Woken(), now_us))
        self._work()

    def _carry_out(self, effects: Sequence[Effect]) -> None:
        if self._silenced():
            return
        for number, effect in enumerate(effects):
            if isinstance(effect, Tell):
                frame, message = frame_of(write(effect.message)), effect.message
                show_at_us = message.show_at_us if effect.send_at_us and isinstance(message, Update) else 0
                for conn, due_us in zip(effect.conns, effect.send_at_us or (0,) * len(effect.conns), strict=True):
                    self._send(conn, frame, due_us, show_at_us)
            elif isinstance(effect, Ping):
                for conn in effect.conns:
                    if (phone := self._phones.get(conn)) is not None:
                        phone.ping()
            elif isinstance(effect, Keep):
                self._keeping = self._loop.create_task(self._keep_first(effect.change, effects[number + 1 :]))
                return
            else:
                self._send_all_held(effect.conn)
                if (phone := self._phones.pop(effect.conn, None)) is not None:
                    phone.hang_up(effect.code, effect.reason)

    async def _keep_first(self, change: Change, effects: Sequence[Effect]) -> None:
        """Keeps a change, then carries out what follows from it and all that has come meanwhile."""
        try:
            await self._keep(change)
            self._keeping = None
            self._carry_out(effects)
        except Fenced as fenced:
            # Nothing to look at: somebody was forgotten, or another server has it, whose log or ours says why.
            log.info("room %s is no longer this server's: %s", self.room.code, fenced)
            self.fall_silent()
            return
        except Exception:
            self._fail()
            return
        self._work()

    def _send(self, conn: ConnId, frame: bytes, due_us: int, show_at_us: int) -> None:
        """Writes a frame when it is due, never before those that were to go first; the room hears of a late card."""
        held = self._held.get(conn)
        if held is not None:
            held.append((due_us, show_at_us, frame))
            return
        if due_us:
            late_us = self._clock.now_us() - due_us
            if late_us < -GRAIN_US:
                self._held[conn] = deque([(due_us, show_at_us, frame)])
                return
            if late_us > LATE_US and show_at_us:
                self._inbox.append((SentLate(conn, show_at_us, late_us), due_us + late_us))
        if (phone := self._phones.get(conn)) is not None and not phone.write(frame):
            log.info("room %s: connection %d cut, it had stopped reading", self.room.code, conn)

    def _send_all_held(self, conn: ConnId) -> None:
        for _, _, frame in self._held.pop(conn, ()):
            self._send(conn, frame, 0, 0)

    def _silenced(self) -> bool:
        """Whether the lease is over, as after a machine stood still: then nothing more is said, whatever is due."""
        late = not self._lease.holds(self._clock.now_us())
        if late and not self._stopped:
            log.info("room %s falls silent: the lease is over", self.room.code)
            self.fall_silent()
        return late

    def _send_held(self) -> None:
        if self._silenced():
            return
        now_us = self._clock.now_us()
        for conn, held in [(conn, held) for conn, held in self._held.items() if held[0][0] <= now_us]:
            del self._held[conn]
            for due_us, show_at_us, frame in held:
                self._send(conn, frame, due_us, show_at_us)

    async def _keep(self, change: Change) -> None:
        """Keeps a change before anybody is told of it. While the store is away, so is the table."""
        self._changes += 1
        since_us, delay_s = 0, FIRST_RETRY_S
        while True:
            asked_us = self._clock.now_us()
            try:
                await self._store.keep(self.room.code, self._epoch, self._changes, change)
                meters.KEEP.saw(self._clock.now_us() - asked_us)
                break
            except Fenced:
                meters.FENCED.add()
                raise
            except StoreDown as down:
                meters.NOT_KEPT.add()
                if self._silenced():
                    raise Fenced("the lease is over") from down
                log.warning("room %s waits for the store: %s", self.room.code, down)
                self._quiet_since_us = self._clock.now_us()
                since_us = since_us or self._quiet_since_us
                # Said again with every try: a phone that hears nothing for long takes us for dead.
                self._tell_all(StoreStalled(True))
                await asyncio.sleep(delay_s)
                delay_s = min(LONGEST_RETRY_S, delay_s * 2)
        if since_us:
            self._tell_all(StoreStalled(False))
            self._inbox.appendleft((Stalled(since_us), self._clock.now_us()))

    def _tell_all(self, message: Message) -> None:
        if self._silenced():
            return
        frame = frame_of(write(message))
        for conn in list(self._phones):
            self._send(conn, frame, 0, 0)


async def give_up(store: Store, code: str, owner: str, epoch: int) -> None:
    """Lets a table be anybody's; where the store does not answer it is so once the owner's lease is over."""
    if owner:
        try:
            await store.release_table(code, owner, epoch)
        except (StoreDown, BadRecord) as wrong:
            log.warning("room %s cannot be given up: %s", code, wrong)
