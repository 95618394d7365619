"""Whole tables played by people who do anything at any time, under any rules.

`Table` holds the room to what every phone relies on; here are the cards, and that nobody waits for what never comes.
Every game can be played again from its seed.
"""

import random
from collections.abc import Callable
from typing import Any

import pytest

from engine.cards import full_deck
from engine.game import Seat, Side, Wait
from engine.rules import PRESETS, GameName, JudgeOf, Penalty, Rules, WhichHand, WonPile
from engine.slapjack import Slapjack
from engine.war import War
from tests.server.world import Phone, Table
from wire.messages import (
    MAX_SEATS,
    AddComputer,
    AllSaid,
    Claim,
    ClientMessage,
    DoCall,
    DoCarryOn,
    DoSlap,
    DoTurn,
    EndGame,
    GiveSeat,
    HoldDeal,
    Lock,
    Pause,
    Point,
    Quit,
    React,
    Remove,
    Rename,
    SeatId,
    SetHandicap,
    SetRules,
    Shown,
    Sit,
    Stage,
    Start,
    Sync,
)

TABLES = 160
GROUPS = 8
"""Every other table is a large one at which people mostly play, so that stacks are small and many run out."""


def any_rules(rng: random.Random) -> Rules:
    """Rules that may be chosen together, mostly of quick games."""
    while True:
        rules = Rules(
            game=rng.choice([GameName.SLAPJACK] * 6 + [GameName.DUEL, GameName.WAR]),
            queens=rng.random() < 0.4,
            doubles=rng.random() < 0.4,
            sandwiches=rng.random() < 0.3,
            won_pile=rng.choice(list(WonPile)),
            penalty=rng.choice(list(Penalty)),
            min_show_ms=rng.choice([300, 800]),
            card_limit=rng.choice([0, 0, 0, 30]),
            time_limit_min=rng.choice([0, 0, 1]),
            call=(call := rng.random() < 0.3),
            say_jack=rng.random() < 0.1,
            wrong_call=call and rng.random() < 0.5,
            hand=WhichHand.OTHER if rng.random() < 0.2 else WhichHand.ANY,
            show_jacks=rng.random() < 0.2,
            judge=rng.choice(list(JudgeOf)),
            calm=rng.random() < 0.2,
            plain_names=rng.random() < 0.1,
            reactions=rng.random() < 0.9,
        )
        if rng.random() < 0.2:
            rules = rng.choice(list(PRESETS.values())).rules
        if not rules.conflicts():
            return rules


class Company:
    """People at one table who do anything at any time."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.table = Table(rules=any_rules(self.rng), seed=seed, max_spectators=3)
        self.gone: list[Phone] = []
        self.names = 0
        self.games = 0
        large = seed // GROUPS % 2 == 1
        self.actions = 240 if large else 120
        for _ in range(self.rng.randint(4, 9) if large else self.rng.randint(1, 4)):
            self.somebody_joins()
        self.acts: list[tuple[int, Callable[[], object]]] = [
            (200 if large else 40, self.turns),
            (100 if large else 30, self.slaps_the_top),
            (40 if large else 8, self.slaps_anything),
            (8, self.calls),
            (12, self.carries_on),
            (3, self.points),
            (4, self.commands),
            (3, self.says_anything),
            (2, self.goes),
            (4, self.comes_back),
            (1, self.somebody_joins),
            (2, self.somebody_watches),
            (1, self.sits_down),
            (1, self.quits),
            (1, self.moves_to_another_phone),
            (1, self.loses_their_key),
            (1, self.nobody_does_anything),
        ]

    # --- who ---

    def here(self) -> list[Phone]:
        return [phone for phone in self.table.phones if phone.joined and phone.closed is None]

    def anybody(self) -> Phone | None:
        here = self.here()
        return self.rng.choice(here) if here else None

    def host(self) -> Phone | None:
        return next((p for p in self.here() if p.seat == self.table.room.state.seats.host), None)

    # --- what ---

    def play_on(self) -> None:
        weights = [weight for weight, _ in self.acts]
        for _ in range(self.actions):
            self.table.later(self.rng.choice([0, 1, 20, 120, 300, 600]))
            self.rng.choices([act for _, act in self.acts], weights)[0]()
            self.check()
        self.games = self.table.room.state.games

    def say(self, phone: Phone | None, message: ClientMessage) -> None:
        if phone is not None:
            phone.say(message)
            phone.joined = phone.joined and phone.closed is None

    def reaction_us(self, phone: Phone, nth: int) -> int | None:
        reaction_us = phone.reaction_us(nth)
        if reaction_us is None or self.rng.random() < 0.05:
            return self.rng.choice([None, 0, -(2**53), 2**53, 150_000])
        return reaction_us - phone.rtt_ms * 500 - self.rng.choice([0, 0, 1_000, 20_000])

    def side(self) -> Side:
        return self.rng.choice(list(Side))

    def turns(self) -> None:
        for phone in self.here():
            turners = () if phone.view is None else phone.view.turners
            seat = next((s for s in self.table.room.state.seats.chairs if s.id == phone.seat), None)
            if seat is not None and seat.place in turners:
                top = self.table.top()
                self.say(phone, DoTurn(self.table.game, top + 1, self.reaction_us(phone, top), self.side()))
        if self.table.room.state.stage is not Stage.PLAYING:
            self.say(self.host(), Start())

    def slaps_the_top(self) -> None:
        for phone in self.rng.sample(self.here(), min(2, len(self.here()))):
            if phone.joined and phone.view is not None and phone.view.landed and phone.view.landed[-1].face[0] in "JQ":
                nth = phone.view.turned
                self.say(phone, DoSlap(self.table.game, nth, self.reaction_us(phone, nth), self.side()))
                if self.rng.random() < 0.5:
                    self.say(phone, DoCall(self.table.game, nth))

    def slaps_anything(self) -> None:
        phone = self.anybody()
        if phone is not None and phone.view is not None:
            nth = max(0, phone.view.turned - self.rng.choice([0, 0, 1, 2, 9]))
            game = self.table.game - (self.rng.random() < 0.05)
            self.say(phone, DoSlap(max(0, game), nth, self.reaction_us(phone, nth), self.side()))

    def calls(self) -> None:
        phone = self.anybody()
        if phone is not None and phone.view is not None:
            self.say(phone, DoCall(self.table.game, phone.view.turned))

    def carries_on(self) -> None:
        for phone in self.here():
            if self.rng.random() < 0.7 and phone.view is not None:
                self.say(phone, DoCarryOn(self.table.game, phone.view.turned))

    def points(self) -> None:
        for phone in self.here():
            if phone.question is not None:
                self.say(phone, Point(phone.question.id, self.rng.choice(phone.question.seats)))

    def commands(self) -> None:
        rng = self.rng
        seat = rng.choice([chair.id for chair in self.table.room.state.seats.chairs] or [SeatId("x")])
        commands: tuple[ClientMessage, ...] = (
            Start(),
            HoldDeal(rng.random() < 0.3),
            Pause(rng.random() < 0.3),
            EndGame(),
            SetRules(any_rules(rng)),
            AddComputer(reaction_ms=rng.randint(150, 900), slip_percent=rng.choice([0, 20])),
            AddComputer(),
            Remove(seat),
            SetHandicap(seat, rng.randint(0, 500)),
            Lock(rng.random() < 0.3),
        )
        self.say(self.host() if rng.random() < 0.9 else self.anybody(), rng.choice(commands))

    def says_anything(self) -> None:
        phone = self.anybody()
        top = 0 if phone is None or phone.view is None else phone.view.turned
        says: tuple[ClientMessage, ...] = (
            React("🎉"),
            Rename("Somebody else", "🐸"),
            Sync(sent_us=1),
            Point(1, Seat(0)),
            Shown(self.table.room.state.games, top, 9_000),
            AllSaid(self.table.room.state.games, top),
        )
        self.say(phone, self.rng.choice(says))

    # --- coming and going ---

    def new_phone(self) -> Phone:
        self.names += 1
        phone = self.table.phone(f"P{self.names}")
        phone.rtt_ms = self.rng.choice([0, 20, 80, 300])
        phone.pong_every_ms = 60  # one pong may answer several pings
        return phone

    def somebody_joins(self) -> None:
        if len(self.table.room.state.seats.chairs) < MAX_SEATS or self.rng.random() < 0.1:
            self.new_phone().join()

    def somebody_watches(self) -> None:
        self.new_phone().join(watch=True)

    def sits_down(self) -> None:
        self.say(next((p for p in self.here() if p.seat is None), None), Sit("Sitting", "🐸"))

    def goes(self) -> None:
        phone = self.anybody()
        if phone is not None:
            phone.go()
            self.gone.append(phone)

    def comes_back(self) -> None:
        if self.gone:
            phone = self.gone.pop(self.rng.randrange(len(self.gone)))
            phone.conn, phone.closed, phone.n = self.table.new_conn(phone), None, None
            phone.join(key=phone.key, watch=phone.seat is None)

    def quits(self) -> None:
        if self.rng.random() < 0.3:
            self.say(self.anybody(), Quit())

    def moves_to_another_phone(self) -> None:
        phone = self.anybody()
        if phone is not None:
            self.new_phone().join(key=phone.key)
            phone.joined = phone.closed is None

    def loses_their_key(self) -> None:
        """Somebody claims a seat, theirs or another's, and the host believes them or not."""
        seats = [chair.id for chair in self.table.room.state.seats.chairs]
        if seats:
            phone, seat = self.new_phone(), self.rng.choice([*(p.seat for p in self.gone if p.seat in seats), *seats])
            phone.join(watch=self.rng.random() < 0.5)
            self.say(phone, Claim(seat))
            self.say(self.host(), GiveSeat(seat, self.rng.random() < 0.8))

    def nobody_does_anything(self) -> None:
        """For longer than any rule lets a table wait: the game must have moved on, or be allowed to stand."""
        room = self.table.room
        before = self.state()
        self.table.later(31_000)
        play = room.state.play
        if play is None:
            assert room.state.held or room.state.stage is Stage.LOBBY or before != self.state()
            return
        waits_for_people = play.game.due().wait is Wait.ANSWERS and any(
            not room.state.seats.chairs[seat].away for seat in play.game.due().answers
        )
        stands = room.state.paused or not any(
            not chair.away for chair in room.state.seats.chairs if chair.computer is None
        )
        assert waits_for_people or stands or before != self.state(), "the table waits for what never comes"

    def state(self) -> tuple[int, Any]:
        room = self.table.room
        return room.state.games, room.state.play.game if room.state.play is not None else None

    # --- what is always true ---

    def check(self) -> None:
        room = self.table.room
        if room.state.play is not None:
            game = room.state.play.game
            assert isinstance(game, Slapjack | War)
            cards = [*game.under, *(card.face for card in game.landed), *(c for stack in game.stacks for c in stack)]
            assert sorted(cards) == ALL_CARDS
            view = game.view()
            assert view.pile + sum(seat.cards for seat in view.seats) == 52
            assert (
                room.state.play.referee.question is None
                or room.state.play.game.due().contest == room.state.play.referee.question.nth
            )
        assert len({chair.record.key_hash or chair.id for chair in room.state.seats.chairs if not chair.gone}) == sum(
            not chair.gone for chair in room.state.seats.chairs
        ), "one key, one chair"


ALL_CARDS = sorted(full_deck())


@pytest.mark.parametrize("group", range(GROUPS))
def test_anybody_does_anything_at_any_time(group: int) -> None:
    games = 0
    for seed in range(group, TABLES, GROUPS):
        company = Company(seed)
        try:
            company.play_on()
        except BaseException as wrong:
            wrong.add_note(f"seed {seed}, {company.table.ms} ms into game {company.table.room.state.games}")
            raise
        games += company.games
    assert games > TABLES // GROUPS, "they have played"
