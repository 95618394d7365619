"""Phones as the dealer cannot see them: a screen with frames, a thread that janks, a clock that is off, a hand.

A phone runs the real client session; the truth of its hand is known only here. Honest phones send what their clocks
read, liars what suits them.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from clients.sdk.session import Session
from engine.game import CardTurned, PileWon
from engine.rules import Rules
from tests.simulation.links import Blocks, Network, ways
from wire.codec import read_client_message, read_server_message, write
from wire.messages import AllSaid, AnyHand, DoSlap, Join, Message, Shown, Stage, Sync, Update

TOUCHES_US = 8_000
"""So long after its next frame the page waits for touches, before it says that it has no more of them."""


@dataclass(frozen=True, slots=True)
class Human:
    """How somebody reacts, in ms; nobody is quicker than `quickest_ms`."""

    mean_ms: float = 600
    spread_ms: float = 120
    quickest_ms: float = 150


@dataclass(frozen=True, slots=True)
class Device:
    """What a phone is like. Its page is busy for the share `busy` of the time, `busy_ms` at a stretch.

    A hand is stamped at the next scan of the touch panel (0: at once) and sent `lag_ms` after its stamp. `nearest` says
    that the page takes the frame nearest to a card's moment, and not the first one at or after it. `ppm` is by how much
    its clock runs fast or slow at most.
    """

    busy: float = 0.0
    busy_ms: tuple[float, float] = (20, 80)
    hz: float = 60
    touch_hz: float = 0
    lag_ms: float = 0
    nearest: bool = False
    ppm: float = 50


@dataclass(frozen=True, slots=True)
class Liar:
    """What a phone does to win. An honest one does none of it. All in ms.

    `lie_ms` is taken off every claimed reaction, or `claim_ms` claimed whatever it was, or nothing claimed at all;
    `paint_ms` is claimed as delay of the painting and taken off the reaction. Pongs are held back always or, by
    `card_pong_delay_ms`, while a slap card is out, and one that is silent answers none from then until its hand is
    sent. Clock questions are held back; one that is mute never says that it has no hand. `early` reacts to a card when
    it comes, before it is shown; `waits` takes a first `any_hand` that comes late on a card for a rival's hand, and
    slaps at once; `absent` never slaps.
    """

    lie_ms: float = 0
    claim_ms: float = 0
    no_claim: bool = False
    paint_ms: float = 0
    pong_delay_ms: float = 0
    card_pong_delay_ms: float = 0
    sync_delay_ms: float = 0
    silent: bool = False
    mute: bool = False
    early: bool = False
    waits: bool = False
    absent: bool = False


HONEST = Liar()


@dataclass(slots=True)
class Truth:
    """What really happened on one slap card at one phone, in true microseconds.

    `reaction_us` is by the phone's stamps, `body_us` by the finger. `came_us` is when the card came to the phone.
    """

    painted_us: int
    reaction_us: int
    usual_up_us: float
    revealed_us: int
    came_us: int = 0
    body_us: int = 0
    hand_us: int | None = None
    arrived_us: int | None = None
    stamp_us: int | None = None


@dataclass
class Phone:
    """One phone, its person and its network. `at` schedules on true time; `deliver` gives a frame to the server."""

    name: str
    network: Network
    rng: random.Random
    at: Callable[[float, Callable[[], None]], None]
    now: Callable[[], int]
    deliver: Callable[["Phone", bytes], None]
    deliver_pong: Callable[["Phone", object], None]
    human: Human = Human()
    liar: Liar = HONEST
    device: Device = Device()
    watch: bool = False
    tell: Callable[[tuple[int, int], int], None] | None = None
    session: Session = field(init=False)
    truths: dict[tuple[int, int], Truth] = field(default_factory=dict)
    shown: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.session = Session(Join(self.name, "🙂", watch=self.watch), self.rng.random)
        self.down, self.up = ways(self.network, self.rng)
        device = self.device
        self.blocks = Blocks(random.Random(self.rng.random()), device.busy, *device.busy_ms)
        self.offset_us = self.rng.randrange(10**6, 10**10)
        self.drift = self.rng.uniform(-device.ppm, device.ppm) * 1e-6
        self.frame_length_us = 1e6 / device.hz
        self.phase_us = self.rng.uniform(0, self.frame_length_us)
        self.scan_us = self.rng.random()
        self.came_us: dict[tuple[int, int], int] = {}
        self._facing: tuple[int, int] | None = None
        self._asked: tuple[int, int] | None = None
        self._alarm_us: float | None = None
        self._game = 0

    # --- clocks and screen ---

    def own_us(self, true_us: float) -> int:
        """What this phone's clock reads."""
        return round(self.offset_us + true_us * (1 + self.drift))

    def true_us(self, own_us: float) -> float:
        """When this phone's clock reads that."""
        return (own_us - self.offset_us) / (1 + self.drift)

    def frame_us(self, true_us: float) -> float:
        """The first frame of the screen after that, when the page's thread is free to draw it."""
        free_us = self.blocks.out_of(true_us)
        frames = -(-(free_us - self.phase_us) // self.frame_length_us)
        return self.phase_us + frames * self.frame_length_us

    def stamp_of_us(self, true_us: float) -> float:
        """When the touch panel sees a finger that comes down then."""
        if not self.device.touch_hz:
            return true_us
        scan_us = 1e6 / self.device.touch_hz
        phase_us = self.scan_us * scan_us
        return -(-(true_us - phase_us) // scan_us) * scan_us + phase_us

    # --- the network ---

    def connect(self) -> None:
        """Dials and joins."""
        self.session.opened(self.own_us(self.now()))
        self._flush()

    def send_down(self, frame: bytes) -> None:
        """The server has sent a frame."""
        arrived_us = self.down.arrival_us(self.now())
        self.at(arrived_us, lambda: self.at(self.blocks.out_of(arrived_us), lambda: self._received(frame)))

    def ping_down(self, token: object) -> None:
        """The server has sent a ping: the network process answers, whatever the page is doing."""
        self.at(self.down.arrival_us(self.now()), lambda: self._pinged(token))

    def _pinged(self, token: object) -> None:
        if self._facing is not None and self.liar.silent:
            return
        held_ms = self.liar.card_pong_delay_ms if self._facing is not None else 0
        self.at(self.now() + (self.liar.pong_delay_ms + held_ms) * 1000, lambda: self._pong(token))

    def _pong(self, token: object) -> None:
        self.at(self.up.arrival_us(self.now()), lambda: self.deliver_pong(self, token))

    def _flush(self) -> None:
        for frame in self.session.take_frames():
            self._send_up(frame)

    def _send_up(self, frame: bytes) -> None:
        self.at(self.up.arrival_us(self.now()), lambda: self.deliver(self, frame))

    def say(self, message: Message) -> None:
        """Sends a message as the page does."""
        self.session.say(message)
        self._flush()

    # --- the page ---

    def _received(self, frame: bytes) -> None:
        message = read_server_message(frame)
        assert message is not None
        self._read(message)
        self.session.received(frame, self.own_us(self.now()))
        self._run()

    def _read(self, message: Message) -> None:
        """What a program may know of a message before the page acts on it."""
        table = self.session.table
        if isinstance(message, Update) and table is not None and message.view is not None:
            card = (table.game, message.view.turned)
            if any(isinstance(event, CardTurned) for event in message.events):
                self.came_us[card] = self.now()
                faces = [landed.face for landed in message.view.landed]
                self._facing = card if is_slap_card(table.rules, faces) else None
                if self.tell is not None:
                    self.tell(card, self.now())
            if message.verdict is not None:
                self._facing = None
        elif isinstance(message, AnyHand) and self.liar.waits:
            card = (message.game, message.nth)
            first, self._asked = self._asked != card, card
            truth = self.truths.get(card)
            if first and truth is not None and self.now() > truth.painted_us + 300_000:
                self._hand(card, truth)

    def _run(self) -> None:
        now_us = self.now()
        self.session.wake(self.own_us(now_us))
        for event in self.session.take_events():
            if isinstance(event, Update):
                self._look(event)
        for frame in self.session.take_frames():
            message = read_client_message(frame)
            if self.liar.sync_delay_ms and isinstance(message, Sync):
                self.at(now_us + self.liar.sync_delay_ms * 1000, lambda f=frame: self._send_up(f))  # type: ignore[misc]
            elif isinstance(message, AllSaid):
                if not self.liar.mute:
                    self.at(self.frame_us(now_us) + TOUCHES_US, lambda f=frame: self._all_said(f))  # type: ignore[misc]
            else:
                self._send_up(frame)
        wake_us = self.session.wake_at_us()
        if wake_us is not None:
            due_us = max(self.true_us(wake_us), now_us) + 1
            if self._alarm_us is None or due_us < self._alarm_us:
                self._alarm_us = due_us
                self.at(due_us, lambda: self._rang(due_us))

    def _all_said(self, frame: bytes) -> None:
        self.at(self.blocks.out_of(self.now()), lambda: self._send_up(frame))

    def _rang(self, due_us: float) -> None:
        if self._alarm_us == due_us:
            self._alarm_us = None
            self._run()

    def _look(self, update: Update) -> None:
        """What the person sees: a turned card is on the screen with the next frame."""
        table, view = self.session.table, self.session.view
        if table is None or view is None:
            return
        turned = [event for event in update.events if isinstance(event, CardTurned)]
        if turned:
            revealed_us = self.now()
            early_us = self.frame_length_us / 2 if self.device.nearest else 0
            self.at(
                max(revealed_us, self.frame_us(revealed_us - early_us)), lambda: self._painted(self.now(), revealed_us)
            )
        elif any(isinstance(event, PileWon) for event in update.events) or (update.view and view.turned == 0):
            self._plan_turn(self.now())

    def _painted(self, painted_us: int, revealed_us: int) -> None:
        session = self.session
        assert session.table is not None and session.view is not None
        top = session.top
        if session.table.stage is not Stage.PLAYING or top is None:
            return
        card = (session.table.game, top.nth)
        self.shown[card] = painted_us
        session.painted(self.own_us(painted_us))
        if self.liar.paint_ms:
            session.take_frames()
            late_us = round(self.liar.paint_ms * 1000)
            session.say(Shown(*card, late_us + 8_000))
        self._flush()
        if is_slap_card(session.table.rules, [card.face for card in session.view.landed]):
            if session.place in range(len(session.view.seats)):
                self._react(card, painted_us, revealed_us)
        else:
            self._plan_turn(painted_us)

    def _plan_turn(self, from_us: int) -> None:
        view, place = self.session.view, self.session.place
        if view is not None and place in view.turners:
            turned = view.turned
            self.at(from_us + self.rng.uniform(150_000, 350_000), lambda: self._turn(turned))

    def _turn(self, turned: int) -> None:
        view = self.session.view
        if view is not None and view.turned == turned and self.session.my_turn:
            self.session.turn(self.own_us(self.now()))
            self._flush()

    def _react(self, card: tuple[int, int], painted_us: int, revealed_us: int) -> None:
        ms = max(self.human.quickest_ms, self.rng.gauss(self.human.mean_ms, self.human.spread_ms))
        came_us = self.came_us.get(card, revealed_us)
        self.truths[card] = truth = Truth(
            painted_us, round(ms * 1000), self.up.base_us + self.up.jitter_us, revealed_us, came_us
        )
        if not self.liar.absent:
            seen_us = min(painted_us, came_us) if self.liar.early else painted_us
            self.at(seen_us + truth.reaction_us, lambda: self._hand(card, truth))

    def _hand(self, card: tuple[int, int], truth: Truth) -> None:
        session = self.session
        if session.table is None or session.top is None or (session.table.game, session.top.nth) != card:
            return  # the dealer has spoken, and this person has seen it
        if truth.hand_us is not None:
            return
        truth.body_us = self.now() - truth.painted_us
        hand_us = round(self.stamp_of_us(self.now()))
        truth.hand_us = hand_us
        truth.reaction_us = hand_us - truth.painted_us
        truth.stamp_us = session.clock.room_us(self.own_us(hand_us))
        dispatched_us = hand_us + self.device.lag_ms * 1000 + self.rng.uniform(500, 2_000)
        self.at(dispatched_us, lambda: self.at(self.blocks.out_of(dispatched_us), lambda: self._slap(card, truth)))

    def _slap(self, card: tuple[int, int], truth: Truth) -> None:
        claimed_us = self.own_us(truth.painted_us + truth.reaction_us) - self.own_us(truth.painted_us)
        lie_us = (self.liar.lie_ms + self.liar.paint_ms) * 1000
        claimed_us = round(self.liar.claim_ms * 1000) or max(round(claimed_us - lie_us), 101_000)
        if claimed_us > truth.reaction_us:
            claimed_us = truth.reaction_us
        message = DoSlap(*card, None if self.liar.no_claim else claimed_us)
        arrived_us = self.up.arrival_us(self.now())
        truth.arrived_us = arrived_us
        self._facing = None
        self.at(arrived_us, lambda: self.deliver(self, write(message)))


def is_slap_card(rules: Rules, faces: Sequence[str]) -> bool:
    """Whether the last of these landed cards may be slapped (R11)."""
    ranks = [face[0] for face in faces]
    return (
        ranks[-1] in rules.slap_ranks()
        or (rules.doubles and ranks[-2:-1] == ranks[-1:])
        or (rules.sandwiches and len(ranks) > 2 and ranks[-3] == ranks[-1])
    )
