"""A table in a world of its own: the room, the phones around it, the clock and the luck.

A test says who does what and when, and reads what the table is told as short lines. Whatever a test is about, `Table`
holds the room to what must be true after everything that happens to it.
"""

import heapq
import random
from collections import deque
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from engine.cards import Card, Entropy, full_deck
from engine.game import (
    AnyEvent,
    BattleWon,
    CardTurned,
    CarriedOn,
    EliminationBegan,
    EliminationEnded,
    GameOver,
    GameView,
    PileShared,
    PileTakenBack,
    PileWon,
    Seat,
    SeatBack,
    SeatOut,
    SeatReady,
    SeatWaiting,
    Side,
    WarDeclared,
    WrongSlap,
)
from engine.rules import Rules
from server.hosting.host import resumed_game
from server.table.announcer import table_view
from server.table.mail import ConnId, Effect, Gone, HangUp, Input, Keep, Ping, Ponged, Said, Tell, Woken
from server.table.records import Change, Result, TableRecord
from server.table.room import Room
from server.table.strain import AT_EASE, Strain
from wire.codec import read_server_message, write
from wire.messages import (
    AllSaid,
    AnyHand,
    ClientMessage,
    DoCall,
    DoCarryOn,
    DoSlap,
    DoTurn,
    Join,
    Message,
    Question,
    Refused,
    Seated,
    SeatId,
    Start,
    Synced,
    TableSeat,
    TableView,
    Update,
    Verdict,
    Welcome,
)

Answer = TypeVar("Answer")

MS = 1_000
S = 1_000_000
CODE = "K7WQ2M"


# --- luck --------------------------------------------------------------------------------------------------------


class FakeLuck:
    """Luck from a seed, save for what has been laid on top of it.

    While `even` is set, every number drawn for a computer player is that quantile of its distribution.
    """

    def __init__(self, seed: int) -> None:
        self.even: float | None = None
        self._random = random.Random(seed)
        self._laid: deque[Entropy] = deque()

    def draw(self) -> Entropy:
        if self._laid:
            return self._laid.popleft()
        drawn = self._random.randbytes(32)
        return Entropy(drawn if self.even is None else int(self.even * 2**48).to_bytes(6) + drawn[6:])

    def lay(self, *chances: Entropy) -> None:
        """These are drawn next."""
        self._laid.extend(chances)


def a_deck(first: str = "", last: str = "") -> tuple[Card, ...]:
    """A whole deck with these cards at its ends; between them Jacks and Queens come last and no rank comes twice."""
    begins, ends = ([Card(word) for word in cards.split()] for cards in (first, last))
    others = (card for card in full_deck() if card not in begins + ends)
    return (*begins, *sorted(others, key=lambda card: card[0] in "JQ"), *ends)


def entropy_of(deck: Iterable[Card]) -> Entropy:
    """The chance from which `shuffled(full_deck(), chance)` makes this deck."""
    wanted, order = list(deck), list(full_deck())
    rng, weight = 0, 1
    for last in range(len(order) - 1, 0, -1):
        pick = order.index(wanted[last])
        order[last], order[pick] = order[pick], order[last]
        rng += weight * pick
        weight *= last + 1
    return Entropy(rng.to_bytes(32))


# --- phones ------------------------------------------------------------------------------------------------------


@dataclass
class Phone:
    """One connection, as the person at its other end sees it."""

    table: "Table"
    conn: ConnId
    name: str
    key: str = ""
    seat: SeatId | None = None
    n: int | None = None
    joined: bool = False
    closed: HangUp | None = None
    heard: list[Message] = field(default_factory=list)
    heard_at_us: list[int] = field(default_factory=list)
    view: GameView | None = None
    seen: TableView | None = None
    question: Question | None = None
    shown_us: dict[int, int] = field(default_factory=dict)
    rtt_ms: int = 0
    pong_every_ms: int = 0
    busy_ms: int = 0
    """How long the page takes to come to what it is asked, while pings are answered beside it."""
    answers: bool = True
    ponged_us: int = 0

    def say(self, message: ClientMessage) -> Refused | None:
        """Says it now; the refusal, where it was refused."""
        before = len(self.heard)
        self.table.happens(Said(self.conn, message))
        return next((m for m in self.heard[before:] if isinstance(m, Refused)), None)

    def join(self, *, key: str = "", watch: bool = False, face: str = "🦊", **fields: Any) -> Refused | None:
        return self.say(Join(self.name, face, key, watch, **fields))

    def go(self) -> None:
        """The phone is gone."""
        self.joined = False
        self.table.happens(Gone(self.conn))

    def come_back(self) -> None:
        """The same phone on a new connection."""
        self.conn = self.table.new_conn(self)
        self.joined, self.closed, self.n = False, None, None
        assert self.join(key=self.key) is None

    def turn(self, nth: int | None = None, side: Side = Side.NONE) -> Refused | None:
        turned = self._turned()
        return self.say(DoTurn(self.table.game, turned + 1 if nth is None else nth, self.reaction_us(turned), side))

    def slap(self, nth: int | None = None, side: Side = Side.NONE, reaction_ms: int | None = None) -> Refused | None:
        nth = self._turned() if nth is None else nth
        reaction_us = self.reaction_us(nth) if reaction_ms is None else reaction_ms * MS
        return self.say(DoSlap(self.table.game, nth, reaction_us, side))

    def call(self, nth: int | None = None) -> Refused | None:
        nth = self._turned() if nth is None else nth
        return self.say(DoCall(self.table.game, nth, self.reaction_us(nth)))

    def carry_on(self, nth: int | None = None) -> Refused | None:
        return self.say(DoCarryOn(self.table.game, self._turned() if nth is None else nth))

    def reaction_us(self, nth: int) -> int | None:
        """The time since card `nth` was painted here."""
        shown_us = self.shown_us.get(nth)
        return None if shown_us is None else self.table.now_us - shown_us

    def _turned(self) -> int:
        return self.view.turned if self.view is not None else 0

    def hear(self, message: Message) -> None:
        """Takes a message, and holds the room to what every phone relies on."""
        assert self.closed is None, f"{self.name} was told {message} after the end"
        assert read_server_message(write(message)) == message
        self.heard.append(message)
        self.heard_at_us.append(self.table.now_us)
        match message:
            case Welcome(_, key, seat):
                assert not self.joined
                self.joined, self.key, self.seat = True, key, seat
                self.n = None
            case Seated(seat):
                self.seat = seat
            case Update(n):
                assert self.joined, f"{self.name} has not joined"
                if self.n is None:
                    assert message.table is not None, "the first update is the whole table"
                    self.view = self.question = None
                    self.shown_us.clear()
                else:
                    assert n == self.n + 1, f"{self.name} missed an update"
                self._see(message)
            case Refused() | Synced():
                pass
            case _:
                assert self.joined, f"{self.name} has not joined and was told {message}"

    def _see(self, update: Update) -> None:
        self.n = update.n
        self.seen = update.table or self.seen
        if update.view is not None:
            self.view, self.question = update.view, update.question
        shows_us = update.show_at_us or self.table.now_us
        self.shown_us |= {event.nth: shows_us for event in update.events if isinstance(event, CardTurned)}


# --- the table ---------------------------------------------------------------------------------------------------


class Table:
    """A room with people at it. `rules` are in force from the start, and `names` have joined in this order.

    `rtt_ms` is the round trip of those that have one: a ping comes back after it, and what a phone says comes half of
    it after it was said, so a test lets time pass and then lets it arrive.

    Instants that a test gives and reads are milliseconds since the last deal, or since the start before there was one.
    """

    def __init__(
        self,
        *names: str,
        rules: Rules | None = None,
        record: TableRecord | None = None,
        seed: int = 1,
        max_spectators: int = 200,
        rtt_ms: Mapping[str, int] | None = None,
        strain: Strain = AT_EASE,
    ) -> None:
        self.rng = FakeLuck(seed)
        self.now_us = 1_000 * S
        self.zero_us = self.now_us
        self.saved = record or TableRecord(CODE, rules or Rules())
        self.room = Room(self.saved, self.rng, max_spectators, strain=strain)
        self.pings = 0
        self.journal: list[bytes] = []
        self.results: list[Result] = []
        self.phones: list[Phone] = []
        self.verdicts: list[Verdict] = []
        self._by_conn: dict[ConnId, Phone] = {}
        # What phones answer by themselves, by the instant at which it is here.
        self._answers: list[tuple[int, int, Ponged | Said]] = []
        self._asked = 0
        self._news: list[tuple[float, str]] = []
        self._shown_us: dict[int, int] = {}
        self._seen: TableView | None = None
        self._n = 0
        for name in names:
            self.joins(name, rtt_ms=(rtt_ms or {}).get(name, 0))

    # --- who is there and what time it is ---

    def new_conn(self, phone: Phone) -> ConnId:
        conn = ConnId(len(self._by_conn) + 1)
        self._by_conn[conn] = phone
        return conn

    def phone(self, name: str) -> Phone:
        """A new connection that has said nothing yet."""
        phone = Phone(self, ConnId(0), name)
        phone.conn = self.new_conn(phone)
        self.phones.append(phone)
        return phone

    def joins(self, name: str, *, watch: bool = False, rtt_ms: int = 0) -> Phone:
        """Somebody new, who is let in."""
        phone = self.phone(name)
        phone.rtt_ms = rtt_ms
        assert phone.join(watch=watch) is None
        return phone

    def __getitem__(self, name: str) -> Phone:
        return next(phone for phone in self.phones if phone.name == name)

    def at(self, ms: float) -> None:
        """Lets time pass until that instant, and wakes the room as it asks to be woken."""
        until_us = self.zero_us + round(ms * MS)
        assert until_us >= self.now_us, "time goes forward"
        while True:
            wake_us = self.room.wake_at()
            if self._answers and (wake_us is None or self._answers[0][0] <= wake_us):
                if self._answers[0][0] > until_us:
                    break
                self.now_us = self._answers[0][0]
                self._hear_answer()
            elif wake_us is not None and wake_us <= until_us:
                self.now_us = wake_us
                self.happens(Woken())
            else:
                break
        self.now_us = until_us

    def later(self, ms: float) -> None:
        """Lets so much time pass."""
        self.at((self.now_us - self.zero_us) / MS + ms)

    def after(self, nth: int, ms: float) -> None:
        """Lets time pass until so long after card `nth` was shown."""
        self.at(self.shown(nth) + ms)

    def shown(self, nth: int) -> float:
        """When card `nth` of this game, which has been turned, is or was to be shown."""
        return (self._shown_us[nth] - self.zero_us) / MS

    @property
    def ms(self) -> float:
        """What time it is."""
        return (self.now_us - self.zero_us) / MS

    # --- what happens ---

    def crash(self) -> None:
        """The server is killed and started again: all that is left is what was kept, and every phone has lost it."""
        self.room = Room(self.saved, self.rng, replayed=at_once(resumed_game(CODE, self.journal)), at_us=self.now_us)
        self._answers.clear()
        self._seen = None
        self._n = 0
        for phone in self.phones:
            phone.joined = False

    def start(self, first: str = "", last: str = "") -> None:
        """The host starts a game with a deck that has these cards at its ends."""
        self.rng.lay(entropy_of(a_deck(first, last)))
        self.command(Start())

    def command(self, *messages: ClientMessage) -> None:
        """The host says this, and it is done."""
        for message in messages:
            assert self[self.host().name].say(message) is None

    def turn_cards(self, count: int) -> None:
        """Everybody turns when it is their turn, and has seen the last of so many cards."""
        for _ in range(count):
            nth = self.top() + 1
            assert self[self.turner()].turn() is None
            while nth not in self._shown_us:
                self.later(1)
            self.after(nth, 0)

    def happens(self, happened: Input) -> list[Effect]:
        """Lets it happen now and passes on what follows."""
        effects = self.room.receive(happened, self.now_us)
        told: set[int] = set()
        for effect in effects:
            match effect:
                case Keep(change):
                    assert all(isinstance(e, Keep) for e in effects[: effects.index(effect)]), "told before it was kept"
                    self._keep(change)
                case Tell(conns, message):
                    if isinstance(message, Update) and message.n not in told and message.n > self._n:
                        told.add(message.n)
                        self._note(message)
                    for phone in (self._by_conn[conn] for conn in conns):
                        phone.hear(message)
                        if isinstance(message, AnyHand):
                            said = Said(phone.conn, AllSaid(message.game, message.nth))
                            self._answer(phone.rtt_ms + phone.busy_ms, said)
                case Ping(conns):
                    self.pings += len(conns)
                    for phone in (self._by_conn[conn] for conn in conns):
                        if phone.answers and phone.ponged_us + phone.pong_every_ms * MS <= self.now_us:
                            phone.ponged_us = self.now_us
                            self._answer(phone.rtt_ms, Ponged(phone.conn, self.now_us))
                case HangUp(conn):
                    assert self._by_conn[conn].closed is None
                    self._by_conn[conn].closed = effect
        wake_us = self.room.wake_at()
        assert wake_us is None or wake_us > self.now_us, "what was due has not been done"
        self._check()
        while self._answers and self._answers[0][0] <= self.now_us:
            self._hear_answer()
        return effects

    def _answer(self, after_ms: int, answer: Ponged | Said) -> None:
        self._asked += 1
        heapq.heappush(self._answers, (self.now_us + after_ms * MS, self._asked, answer))

    def _hear_answer(self) -> None:
        _, _, answer = heapq.heappop(self._answers)
        if self._by_conn[answer.conn].closed is None:
            self.happens(answer)

    def _check(self) -> None:
        """What is true whenever the room is at rest."""
        assert self.saved == self.room.record(), "something is not kept"
        here = [phone for phone in self.phones if phone.joined and phone.closed is None]
        assert len({phone.n for phone in here}) <= 1, "somebody knows less than another"
        for phone in here:
            assert phone.seen == table_view(self.room.state)
            assert phone.question == here[0].question
            assert phone.seen is not None
            if phone.seen.stage == "playing":
                assert phone.view == here[0].view

    # --- what the table is told ---

    def _keep(self, change: Change) -> None:
        """Keeps what a store would, and sees that it is all that the room needs to go on after a crash."""
        if change.record is not None:
            packed = msgspec.msgpack.encode(change.record)
            assert msgspec.msgpack.decode(packed, type=TableRecord) == change.record
            self.saved = change.record
        if change.deals:
            self.journal.clear()
        self.journal.extend(change.entries)
        if change.result is not None:
            self.results.append(change.result)

    def _note(self, update: Update) -> None:
        self._n = update.n
        if update.table is not None:
            if self._seen is not None and update.table.game > self._seen.game:
                self.zero_us = self.now_us
                self._shown_us.clear()
            self._seen = update.table
        if update.verdict is not None:
            self.verdicts.append(update.verdict)
        for event in update.events:
            if isinstance(event, GameOver):
                assert self.saved.scores == self.room.state.scores.scores, "a result was told before it was kept"
            if isinstance(event, CardTurned):
                self._shown_us[event.nth] = update.show_at_us
            self._news.append((self.ms, self._line(event)))

    def news(self) -> list[str]:
        """What has happened in the game since this was last asked."""
        return [line for _, line in self.timed()]

    def timed(self) -> list[tuple[float, str]]:
        """The same with the instant at which each was told."""
        news, self._news = self._news, []
        return news

    def seats(self) -> tuple[TableSeat, ...]:
        """The seats as everybody sees them."""
        assert self._seen is not None
        return self._seen.seats

    def seat(self, name: str) -> TableSeat:
        """That person's seat as everybody sees it."""
        return next(seat for seat in self.seats() if seat.name == name)

    def host(self) -> TableSeat:
        return next(seat for seat in self.seats() if seat.host)

    def view(self) -> TableView:
        """The table as everybody sees it."""
        assert self._seen is not None
        return self._seen

    @property
    def game(self) -> int:
        return self.view().game

    def place(self, name: str) -> Seat:
        place = self.seat(name).place
        assert place is not None
        return place

    def top(self) -> int:
        """The number of the card on top."""
        return self._game().turned

    def face(self) -> Card:
        """The card on top."""
        return self._game().landed[-1].face

    def turner(self) -> str:
        """Whose turn it is; nobody's while the table waits."""
        return next((self._name(seat) for seat in self._game().turners), "")

    def _game(self) -> GameView:
        view = next(p.view for p in self.phones if p.joined and p.closed is None)
        assert view is not None
        return view

    def cards(self) -> dict[str, int]:
        """How many cards each has."""
        return {self._name(Seat(seat)): one.cards for seat, one in enumerate(self._game().seats)}

    def _name(self, seat: Seat) -> str:
        return next(one.name for one in self.seats() if one.place == seat)

    def _line(self, event: AnyEvent) -> str:
        name = self._name
        match event:
            case CardTurned(seat, _, face):
                return f"{name(seat)} turns {face}"
            case SeatReady(seat):
                return f"{name(seat)} is ready"
            case PileWon(seat, nth, cards):
                return f"{name(seat)} wins {cards} on card {nth}"
            case WrongSlap(seat, _, 0, _):
                return f"{name(seat)} slaps wrong"
            case WrongSlap(seat, _, paid, to):
                return f"{name(seat)} slaps wrong, {paid} to {'the pile' if to is None else name(to)}"
            case PileShared(seat, _, shares):
                shared = ", ".join(f"{share} to {name(Seat(to))}" for to, share in enumerate(shares) if share)
                return f"{name(seat)} calls wrong, {shared}"
            case PileTakenBack(seat, cards):
                return f"{name(seat)} takes back {cards}"
            case SeatWaiting(seat):
                return f"{name(seat)} waits"
            case SeatBack(seat):
                return f"{name(seat)} is back"
            case SeatOut(seat):
                return f"{name(seat)} is out"
            case EliminationBegan(empty):
                return f"elimination: {name(empty)} has none"
            case EliminationEnded():
                return "elimination is over"
            case WarDeclared(depth):
                return f"war {depth}"
            case BattleWon(seat, cards):
                return f"{name(seat)} takes {cards}"
            case CarriedOn(seat, nth):
                return f"{name(seat)} lets card {nth} pass"
            case GameOver(winners, end):
                return f"over, {end}: {' and '.join(name(winner) for winner in winners)}"


def at_once(slices: Coroutine[object, None, Answer]) -> Answer:
    """What this comes to that only lets others have their turn."""
    while True:
        try:
            slices.send(None)
        except StopIteration as done:
            answer: Answer = done.value
            return answer
