"""A room's mailbox: one writer for what happens at a table, its timer, the store first and then the phones.

Carries out what a room decides. Must not depend on what a game is.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Sequence

from server.base.logs import about
from server.base.ports import Clock
from server.hosting.cluster import Lease
from server.hosting.delayed_sender import DelayedSender
from server.hosting.fences import Fences
from server.hosting.joining import JoinQueue
from server.hosting.keeper import Keeper
from server.hosting.phone import FAILED, MOVED, SERVICE_RESTART, STOPS, STORE_AWAY, Phone
from server.store.port import Fenced, Store
from server.table.mail import (
    ConnId,
    Effect,
    Forgotten,
    Gone,
    HangUp,
    Input,
    Keep,
    Ping,
    Ponged,
    Said,
    Stalled,
    Tell,
    Woken,
)
from server.table.records import Change
from server.table.room import Room
from wire.codec import write
from wire.frames import frame_of
from wire.messages import ClientMessage, CloseCode, Join, StoreStalled, Update

log = logging.getLogger("slapjack.mailbox")

ARRIVAL_S = 1.0
"""So long at least a room stays awake for whoever had it woken, and is on the way into it."""

MOST_WAITING = 2_000
"""What may wait at a table while its store is away, before whoever says more is hung up on."""

FINISH_S = 2.0
"""So long it may take until a change that is being kept then has been kept, and its table given up."""


class Mailbox:
    """One room awake: what happens to it goes in at `_post` and is carried out in order.

    It is carried out on the spot, so that no task has to be woken for it, unless a change is being kept: then it waits
    until that has been told. All instants are microseconds of `clock`. `epoch` is that under which the store gave the
    table to this server; `closed` is called once, when the room has left memory.
    """

    def __init__(
        self,
        room: Room,
        epoch: int,
        store: Store,
        clock: Clock,
        lease: Lease,
        fences: Fences,
        closed: Callable[["Mailbox"], None],
    ) -> None:
        self.room = room
        self.code = room.code
        self._log = about(log, room.code)
        self._lease = lease
        self._fences = fences
        self._clock = clock
        self._closed = closed
        self._loop = asyncio.get_running_loop()
        self._inbox: deque[tuple[Input, int]] = deque()
        self._keeping: asyncio.Task[None] | None = None
        self._stopped = False
        self._goodbye: tuple[int, str] | None = None
        self._phones: dict[ConnId, Phone] = {}
        self._sender = DelayedSender(self.code, self._phones, clock, self._inbox.append)
        self._keeper = Keeper(self.code, epoch, store, clock, lease, self._say_stalled)
        self._joins = JoinQueue(self.code, store, self._phones, self._post, self._refuse)
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_us = 0
        self.visited = False
        """Whether anybody who was at the table since it was woken has gone."""
        self.quiet_since_us = clock.now_us()
        """When it was woken, or anybody was last here."""
        self._set_alarm()

    # --- what the net says ---

    def connect(self, conn: ConnId, phone: Phone) -> None:
        """A phone is there; its first message says who it is. It is hung up on where the room has just ended."""
        if self._stopped:
            phone.hang_up(*(self._goodbye or (SERVICE_RESTART, MOVED)))
            return
        self._phones[conn] = phone

    def hear(self, conn: ConnId, message: ClientMessage, arrived_us: int, network: str = "") -> None:
        """A message has arrived, from that client network.

        Where too much waits for the store already, its phone is hung up on.
        """
        if len(self._inbox) >= MOST_WAITING:
            if (phone := self._phones.get(conn)) is not None:
                self.disconnect(conn)
                phone.hang_up(CloseCode.STORE_DOWN, STORE_AWAY)
        elif isinstance(message, Join) and message.key:
            self._joins.add(conn, message, arrived_us, network)
        else:
            self._post(Said(conn, message, network=network), arrived_us)

    def pong(self, conn: ConnId, sent_us: int, arrived_us: int, kernel_rtt_us: int | None = None) -> None:
        """The ping sent at `sent_us` has come back; with the kernel's round trip where its peer is the phone."""
        self._post(Ponged(conn, sent_us, kernel_rtt_us), arrived_us)

    def disconnect(self, conn: ConnId) -> None:
        """A phone is gone; said twice it is the same."""
        self._sender.drop(conn)
        if self._let_go(conn) is not None:
            self._post(Gone(conn), self._clock.now_us())

    def has_joined(self, conn: ConnId) -> bool:
        """Whether somebody has come to the table on that connection."""
        return self.room.has_joined(conn)

    # --- what the host says ---

    def forget(self, person: str) -> None:
        """The person of that key hash wants to be forgotten."""
        self._post(Forgotten(person), self._clock.now_us())

    def empty(self, now_us: int) -> bool:
        """Whether nobody is here and nothing has to be kept, so that the room may go to sleep if it has to."""
        return not self._phones and self._keeping is None and now_us - self.quiet_since_us > ARRIVAL_S * 1e6

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
        await self._keeper.give_up()

    def fall_silent(self) -> None:
        """This server can no longer speak for the table: the phones come back to whoever can."""
        self._end(SERVICE_RESTART, MOVED)

    def stop(self) -> asyncio.Task[None] | None:
        """Stops the room where it stands; gives the task that still waits for the store, if any, which ends soon."""
        self._stopped = True
        if self._alarm is not None:
            self._alarm.cancel()
        if self._keeping is asyncio.current_task():
            self._keeping = None
        elif self._keeping is not None:
            self._keeping.cancel()
        self._closed(self)
        return self._keeping

    # --- in order ---

    def _refuse(self, conn: ConnId, code: CloseCode, reason: str) -> None:
        if (phone := self._let_go(conn)) is not None:
            phone.hang_up(code, reason)

    def _let_go(self, conn: ConnId) -> Phone | None:
        if (phone := self._phones.pop(conn, None)) is not None:
            self.visited = self.visited or self.has_joined(conn)
            self.quiet_since_us = self._clock.now_us()
        return phone

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

    def _set_alarm(self) -> None:
        """Has the room woken when it wants to be. An alarm that rings too early is set again then."""
        # While a change is being kept the room waits, but a card that is on its way must not.
        wake_us = self.room.wake_at() if self._keeping is None else None
        send_us = self._sender.next_us()
        if send_us is not None:
            wake_us = send_us if wake_us is None else min(wake_us, send_us)
        if wake_us is None or (self._alarm is not None and self._alarm_us <= wake_us):
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_us = wake_us
        self._alarm = self._loop.call_later(max(0, wake_us - self._clock.now_us()) / 1e6, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        if not self._silenced():
            self._sender.send_due()
        now_us = self._clock.now_us()
        if self._keeping is None and (wake_us := self.room.wake_at()) is not None and wake_us <= now_us:
            self._inbox.append((Woken(), now_us))
        self._work()

    # --- what the room decides ---

    def _carry_out(self, effects: Sequence[Effect]) -> None:
        if self._silenced():
            return
        for number, effect in enumerate(effects):
            match effect:
                case Tell():
                    self._tell(effect)
                case Ping(conns):
                    for conn in conns:
                        if (phone := self._phones.get(conn)) is not None:
                            phone.ping()
                case Keep(change):
                    self._keeping = self._loop.create_task(self._keep_first(change, effects[number + 1 :]))
                    return
                case HangUp(conn, code, reason):
                    self._sender.flush(conn)
                    self._refuse(conn, code, reason)

    def _tell(self, tell: Tell) -> None:
        frame, message = frame_of(write(tell.message)), tell.message
        show_at_us = message.show_at_us if tell.send_at_us and isinstance(message, Update) else 0
        for conn, due_us in zip(tell.conns, tell.send_at_us or (0,) * len(tell.conns), strict=True):
            self._sender.send(conn, frame, due_us, show_at_us)

    async def _keep_first(self, change: Change, effects: Sequence[Effect]) -> None:
        """Keeps a change, then carries out what follows from it and all that has come meanwhile."""
        try:
            if stalled_us := await self._keeper.keep(change):
                self._say_stalled(False)
                self._inbox.appendleft((Stalled(stalled_us), self._clock.now_us()))
            self._keeping = None
            self._carry_out(effects)
        except Fenced as fenced:
            self._end(SERVICE_RESTART, self._fences.explain(self.code, self._keeper.epoch, fenced))
            return
        except Exception:
            self._fail()
            return
        self._work()

    def _say_stalled(self, stalled: bool = True) -> None:
        """Says that the store is away; with every try, for a phone that hears nothing for long takes us for dead."""
        self.quiet_since_us = self._clock.now_us()
        if self._silenced():
            return
        frame = frame_of(write(StoreStalled(stalled)))
        for conn in list(self._phones):
            self._sender.send(conn, frame)

    # --- its end ---

    def _silenced(self) -> bool:
        """Whether the lease is over, as after a machine stood still: then nothing more is said, whatever is due."""
        late = not self._lease.holds(self._clock.now_us())
        if late and not self._stopped:
            self._log.info("falls silent: the lease is over")
            self.fall_silent()
        return late

    def _fail(self) -> None:
        """The room has come to something impossible: it is lost to what was saved of it, and no other room is."""
        self._log.exception("failed")
        self._end(CloseCode.ROOM_FAILED, FAILED)

    def _end(self, code: int, reason: str) -> None:
        if self._goodbye is not None:
            return
        self._goodbye = code, reason
        self.stop()
        for phone in list(self._phones.values()):
            phone.hang_up(code, reason)
