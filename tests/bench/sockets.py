"""The simulated phones at a real server: real sockets on loopback, real time, links played by delays on our side.

What arrives is held back as long as the link would take, and so is what is sent. The kernel's round trip is loopback's.
"""

import asyncio
import heapq
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from clients.sdk import create_table
from engine.rules import Rules
from tests.simulation.phones import Phone
from tests.simulation.world import CARDS_A_GAME, Judged, Player
from wire.codec import Malformed, read_server_message
from wire.messages import EndGame, SetRules, Stage, Start, Update

GOES_ON_US = 300_000


class Dialled(asyncio.Protocol):
    """A client's socket that answers no ping by itself: the phone does, when its link has brought it."""

    def __init__(self, url: str, heard: Callable[[Frame], None]) -> None:
        self._protocol = ClientProtocol(parse_uri(url), max_size=None)
        self._heard = heard
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asks for the upgrade."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._protocol.send_request(self._protocol.connect())
        transport.write(b"".join(self._protocol.data_to_send()))

    def data_received(self, data: bytes) -> None:
        """Hands on the frames; what the protocol would answer of itself is dropped."""
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._heard(event)
            elif self._protocol.state is State.OPEN:
                self.opened.set_result(None)
        self._protocol.data_to_send()

    def write(self, opcode: Opcode, payload: bytes) -> None:
        """Sends a frame now."""
        self.transport.write(Frame(opcode, payload).serialize(mask=True))


class Agenda:
    """What is to be called when, in order of time and of asking: the loop's own timers may swap neighbours."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._asked = 0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_us = 0.0

    def now(self) -> int:
        """Whole microseconds."""
        return time.monotonic_ns() // 1000

    def at(self, at_us: float, call: Callable[[], None]) -> None:
        """Calls at that moment, or as soon after as the loop gets to it."""
        self._asked += 1
        heapq.heappush(self._heap, (at_us, self._asked, call))
        if self._timer is None or at_us < self._timer_us:
            self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_us = self._heap[0][0]
        wait_s = max(0.0, self._timer_us - self.now()) / 1e6
        self._timer = asyncio.get_running_loop().call_later(wait_s, self._run)

    def _run(self) -> None:
        self._timer = None
        while self._heap and self._heap[0][0] <= self.now():
            heapq.heappop(self._heap)[2]()
        if self._heap:
            self._set_timer()


@dataclass
class Table:
    """One table of phones at a real server."""

    players: Sequence[Player]
    seed: int
    agenda: Agenda
    rules: Rules = Rules(queens=True, doubles=True, sandwiches=True, min_show_ms=300)
    judged: list[Judged] = field(default_factory=list)

    async def play(self, url: str) -> None:
        """Seats everybody and plays until it is cancelled."""
        rng = random.Random(self.seed)
        code = await create_table(url)
        address = f"{url.replace('http', 'ws', 1)}/ws/{code}"
        sockets: list[Dialled] = []
        self.phones = [
            Phone(
                f"Phone {number}",
                player.network,
                random.Random(rng.random()),
                self.agenda.at,
                self.agenda.now,
                lambda phone, frame: sockets[self.phones.index(phone)].write(Opcode.BINARY, frame),
                lambda phone, payload: sockets[self.phones.index(phone)].write(Opcode.PONG, payload),  # type: ignore[arg-type]
                player.human,
                player.liar,
                player.device,
            )
            for number, player in enumerate(self.players)
        ]
        loop = asyncio.get_running_loop()
        for number in range(len(self.players)):
            _, socket = await loop.create_connection(
                lambda number=number: Dialled(address, lambda frame: self._heard(number, frame)),  # type: ignore[misc]
                *_host_and_port(url),
            )
            sockets.append(socket)
            await socket.opened
            self.phones[number].connect()
            await self._seated(self.phones[number])
        try:
            await self._host()
        finally:
            for socket in sockets:
                socket.transport.abort()

    async def _seated(self, phone: Phone) -> None:
        while phone.session.table is None:  # noqa: ASYNC110 - real time, and the session has no event to wait for
            await asyncio.sleep(0.01)

    async def _host(self) -> None:
        host = self.phones[0]
        host.say(SetRules(self.rules))
        await asyncio.sleep(3)  # the paths become known, as in any lobby
        host.say(Start())
        while True:
            await asyncio.sleep(GOES_ON_US / 1e6)
            table, view = host.session.table, host.session.view
            if table is None or view is None or table.stage is not Stage.PLAYING:
                continue
            if view.turned >= CARDS_A_GAME or any(seat.cards == 0 for seat in view.seats):
                host.say(EndGame())

    def _heard(self, number: int, frame: Frame) -> None:
        phone = self.phones[number]
        if frame.opcode is Opcode.PING:
            phone.ping_down(bytes(frame.data))
        elif frame.opcode is Opcode.BINARY:
            if number == 0:
                self._look(bytes(frame.data))
            phone.send_down(bytes(frame.data))

    def _look(self, frame: bytes) -> None:
        """Takes a verdict as it leaves the server, with the truth of all phones."""
        try:
            message = read_server_message(frame)
        except Malformed:
            return
        if not isinstance(message, Update) or message.verdict is None:
            return
        verdict = message.verdict
        table = self.phones[0].session.table
        assert table is not None
        at_seats = sorted(self.phones, key=lambda phone: phone.session.place or 0)
        truths = [phone.truths.get((verdict.game, verdict.nth)) for phone in at_seats]
        if len(truths) == len(self.phones) and all(truth is not None for truth in truths):
            rtts = [round(phone.network.rtt_ms * 1000) for phone in at_seats]
            # A phone's word about its rivals' last moments is still on its way: the truth is complete a moment later.
            judged = Judged(verdict, [truth for truth in truths if truth is not None], rtts)
            self.agenda.at(self.agenda.now() + 2_000_000, lambda: self.judged.append(judged))


def _host_and_port(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").partition(":")
    return host, int(port)
