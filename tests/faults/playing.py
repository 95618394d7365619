"""Tables at which people play over real sockets, one of whom at each writes down all that the table is told.

What somebody has been told has been acknowledged: after any fault it must be in the journal, as it was told.
"""

import asyncio
import random
import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from clients.sdk import NotAtTable, Player, Resumed, ServerGone, connect, create_table, is_slap_card
from engine.cards import Entropy, read_deck
from engine.game import CardTurned, Game, GameOver, Step
from engine.rules import GameName, Rules
from engine.table import deal
from server.store.redis import RedisStore
from server.table.journal import Dealt, Moved, read_entry
from tests.support.serving import TIMEOUT_S
from wire.figures import By, Span
from wire.messages import SeatId, SetRules, Stage, StoreStalled, Update

CARD_LIMITS = range(30, 90)
"""Short games, and not all over at once."""
CARDS = 52


@dataclass
class Told:
    """What one table was told, and what about it cannot be."""

    code: str
    cards: dict[tuple[int, int], str] = field(default_factory=dict)
    over: set[int] = field(default_factory=set)
    held_on: int = 0
    moved_s: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    game: int = 0

    def moved_after(self, since_s: float) -> float | None:
        """When the first card was turned after that moment."""
        later = bisect_right(self.moved_s, since_s)
        return self.moved_s[later] if later < len(self.moved_s) else None

    def hear(self, told: object) -> None:
        """Takes what somebody at the table was told."""
        if isinstance(told, StoreStalled):
            self.held_on += told.on
        if not isinstance(told, Update):
            return
        if told.table is not None:
            self.game = told.table.game
        for event in told.events:
            if isinstance(event, CardTurned):
                if (self.game, event.nth) in self.cards:
                    self.wrong.append(f"{self.code}: card {event.nth} of game {self.game} was turned twice")
                self.cards[self.game, event.nth] = event.face
                self.moved_s.append(time.monotonic())
            if isinstance(event, GameOver):
                self.over.add(self.game)
        if told.view is not None and told.view.pile + sum(seat.cards for seat in told.view.seats) != CARDS:
            self.wrong.append(f"{self.code}: not {CARDS} cards in game {self.game}")


@dataclass
class Table:
    """One table: its players, whose seats must stay theirs, and what was told there."""

    told: Told
    players: list[Player] = field(default_factory=list)
    seats: list[SeatId | None] = field(default_factory=list)
    gaps_s: list[float] = field(default_factory=list)
    """How long one of the players was without a socket, each time."""


class Tables:
    """Tables at which people play until this is left."""

    def __init__(self, slowness: float) -> None:
        self.tables: list[Table] = []
        self._slowness = slowness
        self._playing: list[asyncio.Task[None]] = []

    async def open(self, url: str, at: str = "", *, seed: int) -> None:
        """Opens one more and starts to play; the sockets go to `at`, where that is another address."""
        code = await _new_table(url)
        there = at or url
        told = Told(code)
        table = Table(told)
        self.tables.append(table)
        for nth in range(2):
            self._playing.append(asyncio.create_task(self._sit(there, table, nth, random.Random(seed * 2 + nth))))

    async def _sit(self, url: str, table: Table, nth: int, rng: random.Random) -> None:
        async with connect(url, table.told.code, name=f"Player {nth}", entropy=rng.random) as player:
            table.players.append(player)
            table.seats.append(player.seat)
            beside = [asyncio.create_task(start_on(player, rng))]
            if nth == 1:
                beside.append(asyncio.create_task(_watch(player, table.gaps_s)))
            try:
                await play_on(player, rng, table.told.hear if nth == 0 else lambda _: None, self._slowness)
            finally:
                for each in beside:
                    each.cancel()

    async def move_on(self, since_s: float) -> list[float]:
        """Waits until a card has been turned at each table since then.

        Gives how long it took where a game was going on; elsewhere there was a break to wait for as well.
        """
        tables = [table for table in self.tables if table.told.game not in table.told.over]
        async with asyncio.timeout(4 * TIMEOUT_S):
            while any(table.told.moved_after(since_s) is None for table in self.tables):
                for task in self._playing:
                    if task.done():
                        task.result()
                await asyncio.sleep(0.02)
        return [(table.told.moved_after(since_s) or 0.0) - since_s for table in tables]

    async def leave(self) -> None:
        """Everybody hangs up."""
        for task in self._playing:
            task.cancel()
        for task in self._playing:
            with suppress(asyncio.CancelledError, NotAtTable):
                await task


async def play_on(player: Player, rng: random.Random, hear: Callable[[object], None], slowness: float = 1.0) -> None:
    """Slaps and turns like somebody who taps again when nothing comes of it."""
    slapped = (0, 0)
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(rng.uniform(0.4, 0.6) * slowness):
                hear(event := await anext(player))
                if isinstance(event, Resumed):
                    slapped = (0, 0)  # the card is shown afresh, and no hand has been on it
        view, top, game = player.view, player.top, player.table.game
        if view is None or player.table.stage is not Stage.PLAYING:
            continue
        if top is not None and is_slap_card(view, player.table.rules) and slapped != (game, top.nth):
            await asyncio.sleep(rng.uniform(0.2, 0.4) * slowness)
            slapped = (game, top.nth)
            if player.top == top:
                player.slap()
        elif player.my_turn:
            await asyncio.sleep(rng.uniform(0.2, 0.4) * slowness)
            player.turn()


async def _watch(player: Player, gaps_s: list[float]) -> None:
    """Notes how long the player is without a socket."""
    with suppress(NotAtTable):
        while True:
            await player.until(lambda p: not p.online)
            lost_s = time.monotonic()
            await player.until(lambda p: p.online)
            gaps_s.append(time.monotonic() - lost_s)


async def _new_table(url: str) -> str:
    """The code of a new table; on a machine that has much to do a store may take longer than it should."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            with suppress(ServerGone):
                return await create_table(url)
            await asyncio.sleep(0.5)


async def start_on(player: Player, rng: random.Random) -> None:
    """Starts whatever is to be started, for the host."""
    rules = Rules(min_show_ms=300, card_limit=rng.choice(CARD_LIMITS))
    with suppress(NotAtTable):
        await player.until(lambda p: len(p.table.seats) == 2)
        while True:
            await player.until(lambda p: p.online and p.table.stage is Stage.LOBBY and is_host(p))
            player.say(SetRules(rules))
            player.start()
            # A connection that is cut may have taken it with it.
            await player.until(lambda p: not p.online or p.table.stage is not Stage.LOBBY)


def is_host(player: Player) -> bool:
    return any(seat.host and seat.id == player.seat for seat in player.table.seats)


@asynccontextmanager
async def playing(url: str, tables: int, at: str = "", slowness: float = 1.0) -> AsyncIterator[Tables]:
    """So many tables, all of them in the middle of a game. With 2 people take twice as long for everything."""
    running = Tables(slowness)
    try:
        for nth in range(tables):
            await running.open(url, at, seed=nth)
        await running.move_on(0.0)
        yield running
    finally:
        await running.leave()


async def differences(store: RedisStore, tables: Tables) -> list[str]:
    """What the store has otherwise than the tables were told; nobody may play any more."""
    await store.board.sweep()
    wrong: list[str] = []
    for table in tables.tables:
        told = table.told
        wrong += told.wrong
        kept = cards_of(await store.journal(told.code))
        first = min((game for game, _ in kept), default=0)
        for (game, nth), face in told.cards.items():
            if game >= first and kept.get((game, nth)) != face:
                wrong.append(f"{told.code}: card {nth} of game {game} was {face}, and is {kept.get((game, nth))}")
        record = await store.load_table(told.code)
        assert record is not None
        if told.over and max(told.over) > record.games:
            wrong.append(f"{told.code}: game {max(told.over)} was over, and {record.games} have begun")
        for seat in record.seats:
            score = record.scores.get(seat.key_hash)
            page = await store.board.page(GameName.SLAPJACK, Span.ALL, By.GAMES, 1, seat.key_hash)
            counted = (page.you.games, page.you.wins) if page.you is not None else (0, 0)
            scored = (score.games, score.wins) if score is not None else (0, 0)
            # Of some games it counts nothing (R30), and of none it counts more.
            if counted[0] > scored[0] or counted[1] > scored[1]:
                wrong.append(f"{told.code}: {seat.name} has {scored} games and wins, and {counted} on the leaderboard")
            if scored[0] < len(told.over):
                wrong.append(f"{told.code}: {len(told.over)} games were over, and {seat.name} has played {scored[0]}")
    return wrong


def cards_of(journal: tuple[bytes, ...]) -> dict[tuple[int, int], str]:
    """Every card that was turned, by game and number, as the journal has it."""
    cards: dict[tuple[int, int], str] = {}
    game: Game | None = None
    for kept in journal:
        match read_entry(kept):
            case Dealt() as dealt:
                people = tuple(seat.computer is None for seat in dealt.seats)
                game = deal(dealt.rules, read_deck(dealt.deck), len(dealt.seats), dealt.dealer, people)
            case Moved() as moved if game is not None:
                step = game.step(moved.move, Entropy(moved.entropy))
                assert isinstance(step, Step), step
                for event in step.events:
                    if isinstance(event, CardTurned):
                        cards[moved.game, event.nth] = event.face
                game = step.game
    return cards
