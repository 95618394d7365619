"""A world on a made-up clock: one real room, phones with links between, and everything that happened, on record."""

import heapq
import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.cards import Entropy
from engine.rules import Rules
from server.judge.judge import Evidence
from server.judge.path import Path
from server.table import journal
from server.table.journal import read_entry
from server.table.mail import ConnId, Effect, HangUp, Input, Keep, Ping, Ponged, Said, SentLate, Tell, Woken
from server.table.records import TableRecord
from server.table.room import Room
from tests.simulation.links import Network
from tests.simulation.phones import HONEST, Device, Human, Liar, Phone, Truth
from wire.codec import read_client_message, write
from wire.messages import EndGame, SetRules, Stage, Start, Update, Verdict

CARDS_A_GAME = 24
"""The host ends a game after so many cards, before anybody runs out of them."""


class SeededLuck:
    """Chance that can be had again."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def draw(self) -> Entropy:
        """32 bytes."""
        return Entropy(self._rng.randbytes(32))


@dataclass(frozen=True, slots=True)
class Player:
    """Who sits at the table, and over which network."""

    network: Network
    human: Human = Human()
    liar: Liar = HONEST
    device: Device = Device()
    spy: Network | None = None
    """Over which a second socket of theirs watches the table, and holds its pongs back for 300 ms."""


@dataclass(slots=True)
class Judged:
    """One contested slap card: the verdict, and the truth of every phone."""

    verdict: Verdict
    truths: list[Truth]
    rtts_us: list[int]
    paths: list[Path] = field(default_factory=list)
    evidence: tuple[Evidence, ...] = ()


@dataclass
class World:
    """One table of phones in virtual time."""

    players: Sequence[Player]
    seed: int
    rules: Rules = Rules(queens=True, doubles=True, sandwiches=True, min_show_ms=300)
    direct: bool = False
    """Whether the server's kernel sees the phones themselves, and so knows their round trips."""
    slow_store: float = 0.0
    """How many of the changes take 20 to 120 ms to be kept; the whole table waits for them."""
    now_us: int = 1_000_000
    judged: list[Judged] = field(default_factory=list)
    kept: list[journal.Judged] = field(default_factory=list)
    """What the journal has of each verdict."""

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._alarm_us: int | None = None
        self.room = Room(TableRecord("SLAPPY", Rules()), SeededLuck(random.Random(self._rng.random())))
        self._outboxes: list[deque[tuple[int, int, bytes]]] = []
        self._inbox: deque[tuple[Input, int]] = deque()
        self._keeping = False
        self.phones = [
            Phone(
                f"Phone {number}",
                player.network,
                random.Random(self._rng.random()),
                self.at,
                lambda: self.now_us,
                lambda phone, frame: self._arrived(phone, frame),
                lambda phone, sent_us: self._ponged(phone, sent_us),
                player.human,
                player.liar,
                player.device,
            )
            for number, player in enumerate(self.players)
        ]
        for phone, player in zip(list(self.phones), self.players, strict=True):
            if player.spy is not None:
                self.phones.append(self._spy(phone, player.spy))
        self._answered = [0] * len(self.phones)
        self._outboxes = [deque() for _ in self.phones]
        for phone in self.phones:
            phone.connect()

    def _spy(self, phone: Phone, network: Network) -> Phone:
        """A second socket of that phone's owner, who reacts to whichever of the two has the card first."""

        def saw(card: tuple[int, int], at_us: int) -> None:
            phone.came_us[card] = min(at_us, phone.came_us.get(card, at_us))

        return Phone(
            f"{phone.name}'s other",
            network,
            random.Random(self._rng.random()),
            self.at,
            lambda: self.now_us,
            lambda other, frame: self._arrived(other, frame),
            lambda other, sent_us: self._ponged(other, sent_us),
            liar=Liar(pong_delay_ms=300),
            watch=True,
            tell=saw,
        )

    def at(self, at_us: float, call: Callable[[], None]) -> None:
        """Calls at that moment of true time."""
        self._count += 1
        heapq.heappush(self._heap, (max(at_us, self.now_us), self._count, call))

    def run(self, contests: int) -> list[Judged]:
        """Plays until so many slap cards have been judged."""
        while len(self.judged) < contests:
            at_us, _, call = heapq.heappop(self._heap)
            self.now_us = max(self.now_us, round(at_us))
            call()
            self._host()
        return self.judged

    # --- the host's part ---

    def _host(self) -> None:
        room = self.room
        host = next((chair.conn for chair in room.state.seats.chairs if chair.id == room.state.seats.host), None)
        if host is None:
            return
        if room.state.stage is Stage.LOBBY and len(room.state.guests) == len(self.phones) and room.state.games == 0:
            if room.state.rules != self.rules:
                self._receive(Said(host, SetRules(self.rules)))
            self._receive(Said(host, Start()))
        elif room.state.play is not None and room.state.play.game.due().contest == 0:
            view = room.state.play.game.view()
            if view.turned >= CARDS_A_GAME or any(seat.cards == 0 for seat in view.seats):
                self._receive(Said(host, EndGame()))

    def _arrived(self, phone: Phone, frame: bytes) -> None:
        self._receive(Said(ConnId(self.phones.index(phone)), read_client_message(frame)))

    def _ponged(self, phone: Phone, sent_us: object) -> None:
        assert isinstance(sent_us, int)
        number = self.phones.index(phone)
        if sent_us <= self._answered[number]:
            return  # a later ping was answered before it
        self._answered[number] = sent_us
        seen_ms = phone.network.rtt_ms if phone.network.kernel_ms is None else phone.network.kernel_ms
        kernel_us = round(seen_ms * 1000) if self.direct else None
        self._receive(Ponged(ConnId(number), sent_us, kernel_us))

    def _receive(self, happened: Input) -> None:
        self._inbox.append((happened, self.now_us))
        self._work()

    def _work(self) -> None:
        while self._inbox and not self._keeping:
            self._carry_out(deque(self.room.receive(*self._inbox.popleft())))
        wake_us = self.room.wake_at()
        if not self._keeping and wake_us is not None and (self._alarm_us is None or wake_us < self._alarm_us):
            self._alarm_us = wake_us
            self.at(wake_us, lambda: self._woke(wake_us))

    def _carry_out(self, effects: deque[Effect]) -> None:
        while effects:
            match effects.popleft():
                case Tell(conns, message, send_at_us):
                    frame = write(message)
                    if isinstance(message, Update) and message.verdict is not None:
                        self._record(message.verdict)
                    show_at_us = message.show_at_us if send_at_us and isinstance(message, Update) else 0
                    for conn, due_us in zip(conns, send_at_us or (0,) * len(conns), strict=True):
                        self._send(conn, frame, due_us, show_at_us)
                case Ping(conns):
                    for conn in conns:
                        self.phones[conn].ping_down(self.now_us)
                case Keep(change):
                    entries = [read_entry(kept) for kept in change.entries]
                    self.kept += [entry for entry in entries if isinstance(entry, journal.Judged)]
                    if self.slow_store and self._rng.random() < self.slow_store:
                        self._keeping = True
                        self.at(self.now_us + self._rng.uniform(20_000, 120_000), lambda: self._kept(effects))
                        return
                case HangUp():
                    pass

    def _kept(self, effects: deque[Effect]) -> None:
        self._keeping = False
        self._carry_out(effects)
        self._work()

    def _woke(self, due_us: int) -> None:
        if self._alarm_us == due_us:
            self._alarm_us = None
        self._receive(Woken())

    def _send(self, conn: ConnId, frame: bytes, due_us: int, show_at_us: int) -> None:
        outbox = self._outboxes[conn]
        if not outbox and due_us <= self.now_us:
            if show_at_us and self.now_us > due_us:
                self._inbox.append((SentLate(conn, show_at_us, self.now_us - due_us), self.now_us))
            self.phones[conn].send_down(frame)
            return
        due_us = max(due_us, outbox[-1][0]) if outbox else due_us
        outbox.append((due_us, show_at_us, frame))
        self.at(due_us, lambda: self._send_held(conn))

    def _send_held(self, conn: ConnId) -> None:
        outbox = self._outboxes[conn]
        while outbox and outbox[0][0] <= self.now_us:
            self.phones[conn].send_down(outbox.popleft()[2])

    def _record(self, verdict: Verdict) -> None:
        card = (verdict.game, verdict.nth)
        at_seats = [chair.conn for chair in self.room.state.seats.chairs]
        truths = [self.phones[conn].truths.get(card) if conn is not None else None for conn in at_seats]
        if all(truth is not None for truth in truths):
            rtts = [chair.path.rtt_us or 0 for chair in self.room.state.seats.chairs]
            paths = [chair.path for chair in self.room.state.seats.chairs]
            evidence = self.kept[-1].evidence
            self.judged.append(Judged(verdict, [t for t in truths if t is not None], rtts, paths, evidence))
