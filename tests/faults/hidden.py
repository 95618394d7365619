"""Row 11: nobody can see a card before it is turned: not in any byte that is sent to anybody, nor in anything that is
done otherwise because of it.

Every table of people who do anything has a twin with other cards where nobody has seen them, and the twin must say the
same. And what a real server sends to people, screens and programs is searched for what it must not have.
"""

import asyncio
import base64
import copy
import json
import random
import re
import urllib.request
from pathlib import Path
from typing import Any

import msgspec

from clients.sdk import create_table
from engine.cards import read_deck
from engine.game import CardTurned, GameView
from engine.rules import Rules
from engine.slapjack import Slapjack
from engine.war import War
from server.store.embedded import running
from server.store.redis import RedisStore
from server.table.journal import Dealt, Moved, read_entry
from server.table.mail import Effect, Input, Tell
from server.table.room import Room
from tests.faults.figure import Figure, both
from tests.faults.wire import BINARY, CLOSE, PING, PONG, TEXT, Wire, dial, framed
from tests.server.test_simulation import TABLES, Company
from tests.support.serving import TIMEOUT_S, Served, served
from wire.codec import read_server_message, write
from wire.messages import JSON_SUBPROTOCOL, AddComputer, DoSlap, DoTurn, Join, Message, SetRules, Start, Update

CARD = re.compile(r"[A23456789TJQK][SHDC]")
RULES = Rules(min_show_ms=300)
ABOUT_TO_TURN = 3
"""The first cards of each stack stay where they are in the twin: an input may turn as many of them (R22)."""


def cards_in(value: object) -> set[str]:
    """Every card that is named anywhere in a message."""
    if isinstance(value, str):
        return {value} if CARD.fullmatch(value) else set()
    if isinstance(value, dict):
        return {card for key, each in value.items() for card in cards_in(key) | cards_in(each)}
    if isinstance(value, list | tuple):
        return {card for each in value for card in cards_in(each)}
    return set()


# --- twins -------------------------------------------------------------------------------------------------------


def twin_of(room: Room, rng: random.Random) -> Room:
    """The same room, with other cards wherever nobody has seen them."""
    twin = copy.deepcopy(room)
    assert twin.state.play is not None
    game = twin.state.play.game
    assert isinstance(game, Slapjack | War)
    unseen = [card for stack in game.stacks for card in stack[ABOUT_TO_TURN:]] + list(game.under)
    rng.shuffle(unseen)
    stacks = []
    for stack in game.stacks:
        hidden = len(stack[ABOUT_TO_TURN:])
        stacks.append((*stack[:ABOUT_TO_TURN], *unseen[:hidden]))
        del unseen[:hidden]
    twin.state.play.game = msgspec.structs.replace(game, stacks=tuple(stacks), under=tuple(unseen))
    return twin


def said(effects: list[Effect], room: Room) -> list[object]:
    """All that can be seen from outside: every byte and to whom it goes, and when something will happen next."""
    seen: list[object] = [
        (effect.conns, write(effect.message), effect.send_at_us) if isinstance(effect, Tell) else effect
        for effect in effects
    ]
    return [*seen, room.wake_at()]


class Watched(Company):
    """People who do anything, whose table has a twin for as long as one input, again and again."""

    def __init__(self, seed: int, every: int) -> None:
        self.twins = 0
        self.messages = 0
        self.public: set[str] = set()
        self._heard: dict[int, int] = {}
        self._every = every
        self._inputs = 0
        self._rng = random.Random(seed)
        super().__init__(seed)
        self._game = 0
        happens = self.table.happens

        def happens_to_both(happened: Input) -> list[Effect]:
            self._inputs += 1
            if self._inputs % self._every == 0 and self.table.room.state.play is not None:
                self._compare_next(happened)
            effects = happens(happened)
            self._look()
            return effects

        self.table.happens = happens_to_both  # type: ignore[method-assign]

    def _compare_next(self, happened: Input) -> None:
        """Has a twin take what happens first, and the table be held against it."""
        room = self.table.room
        twin = twin_of(room, self._rng)
        expected = said(twin.receive(happened, self.table.now_us), twin)
        receive = room.receive

        def compared(happened: Input, at_us: int) -> list[Effect]:
            room.receive = receive  # type: ignore[method-assign]
            effects = receive(happened, at_us)
            self.twins += 1
            assert said(effects, room) == expected, f"the twin does otherwise on {happened}"
            return effects

        room.receive = compared  # type: ignore[method-assign]

    def _look(self) -> None:
        """Looks at all that anybody has been told since the last time."""
        new: list[Message] = []
        for nth, phone in enumerate(self.table.phones):
            new += phone.heard[self._heard.get(nth, 0) :]
            self._heard[nth] = len(phone.heard)
        updates = [message for message in new if isinstance(message, Update)]
        turned = {event.face for update in updates for event in update.events if isinstance(event, CardTurned)}
        for update in updates:
            hidden = cards_in(msgspec.to_builtins(update)) - self.public - turned
            assert not hidden, f"{hidden} were told in {update}"
        self.messages += len(new)
        if self.table.room.state.games != self._game:
            self._game, self.public = self.table.room.state.games, set()
        self.public |= turned


def twins(tables: int, every: int) -> Figure:
    """Tables from seeds that no test plays."""
    total = messages = 0
    for seed in range(2 * TABLES, 2 * TABLES + tables):
        company = Watched(seed, every)
        try:
            company.play_on()
        except AssertionError as wrong:
            return Figure(False, f"seed {seed}: {str(wrong)[:300]}")
        total, messages = total + company.twins, messages + company.messages
    text = f"{total} inputs to twins with other unseen cards changed no byte and no moment, {messages} messages without"
    return Figure(total > 0, f"{text} a hidden card")


# --- recorded ----------------------------------------------------------------------------------------------------


class Recorder:
    """Somebody at a real table, and every byte that came to them."""

    def __init__(self, wire: Wire, *, text: bool = False) -> None:
        self.wire, self.text = wire, text
        self.frames: list[bytes] = []
        self.bytes = b""
        self.view: GameView | None = None
        self.over = False

    async def say(self, message: Message) -> None:
        """Says something, in its own way of writing."""
        if self.text:
            fields = msgspec.to_builtins(message)
            await self.wire.send(framed(TEXT, json.dumps(fields).encode()))
        else:
            await self.wire.say(message)

    async def listen(self) -> None:
        """Writes down what comes."""
        while True:
            opcode, payload = await self.wire.frame()
            self.bytes += payload
            if opcode == PING:
                await self.wire.send(framed(PONG, payload))
            elif opcode == CLOSE:
                raise ConnectionError(f"hung up on: {payload!r}")
            elif opcode in (BINARY, TEXT):
                self.frames.append(payload)
                told = read_server_message(payload) if opcode == BINARY else None
                if isinstance(told, Update) and told.view is not None:
                    self.view, self.over = told.view, self.over or told.view.end is not None


async def recorded(server: Served, store_url: str, cards: int) -> Figure:
    """A game with people, a computer, somebody who left it, a television and a program, and all that each is sent."""
    code = await create_table(server.url)
    roles: dict[str, Recorder] = {}
    listening: list[asyncio.Task[None]] = []
    for role in ("host", "player", "leaver", "television", "program"):
        in_json = role == "program"
        way = {"Sec_WebSocket_Protocol": JSON_SUBPROTOCOL} if in_json else {}
        roles[role] = Recorder(await dial(server.url, f"/ws/{code}", **way), text=in_json)
        listening.append(asyncio.create_task(roles[role].listen()))
        await roles[role].say(
            Join(role, "🦊", f"key-of-the-{role}-that-nobody-else-has", role in ("television", "program"))
        )
        async with asyncio.timeout(TIMEOUT_S):
            while not roles[role].frames:  # noqa: ASYNC110 - who comes first is host
                await asyncio.sleep(0.01)
    host, player, leaver = roles["host"], roles["player"], roles["leaver"]
    for message in (SetRules(msgspec.structs.replace(RULES, card_limit=cards)), AddComputer(), Start()):
        await host.say(message)
    turned = 0
    async with asyncio.timeout(TIMEOUT_S + 10 * cards):  # a turn that is not taken is made after eight seconds
        while not host.over:
            await asyncio.sleep(0.05)
            for task in listening[:2]:
                if task.done():
                    task.result()
            if turned >= cards // 2:
                leaver.wire.drop()
            for each in (host, player, leaver):
                view, each.view = each.view, None
                if view is None or (leaver.wire.writer.is_closing() and each is leaver):
                    continue
                turned = max(turned, view.turned)
                await each.say(DoTurn(1, view.turned + 1))
                if view.landed and view.landed[-1].face[0] == "J":
                    await each.say(DoSlap(1, view.turned, 300_000))
    await asyncio.sleep(0.3)
    for task in listening:
        task.cancel()
    await asyncio.gather(*listening, return_exceptions=True)
    for each in roles.values():
        each.wire.drop()
    over_http = b""
    for path in (f"/api/tables/{code}", "/api/leaderboard", "/healthz", "/api/invite"):
        with await asyncio.to_thread(urllib.request.urlopen, server.url + path) as answer:
            over_http += answer.read()
    async with RedisStore(store_url) as store:
        entries = [read_entry(kept) for kept in await store.journal(code)]
    wrong = leaks({name: role.frames for name, role in roles.items()}, entries)
    secrets = secrets_of(entries)
    for name, recorder in roles.items():
        others = [f"key-of-the-{other}".encode() for other in roles if other != name]
        for secret in (*secrets, *others):
            if secret in recorder.bytes or secret in over_http:
                wrong.append(f"{name} was sent {secret[:12]!r}…")
    sent = sum(len(each.bytes) for each in roles.values())
    figure = (
        f"{sent} bytes to {len(roles)} roles, {turned} cards, {len(secrets)} secrets looked for: {len(wrong)} found"
    )
    return Figure(not wrong and turned >= cards - 1, "; ".join([figure, *wrong[:3]]))


def leaks(frames: dict[str, list[bytes]], entries: list[Any]) -> list[str]:
    """Cards that somebody was told of before they were turned. Whoever comes in is told the cards that lie there."""
    deck = read_deck(next(entry.deck for entry in entries if isinstance(entry, Dealt)))
    wrong = []
    for name, sent in frames.items():
        public: set[str] = set()
        for frame in sent:
            fields = json.loads(frame) if frame[:1] == b"{" else msgspec.msgpack.decode(frame)
            for event in fields.get("events", ()):
                public |= {event["face"]} if "face" in event else set()
            hidden = cards_in(fields) - public
            if hidden and public:
                wrong.append(f"{name} was told {hidden}")
    assert len(deck) == 52
    return wrong


def secrets_of(entries: list[Any]) -> list[bytes]:
    """The deck and all chance of the game, in every way in which they may be written."""
    secrets: list[bytes] = []
    for entry in entries:
        if isinstance(entry, Dealt):
            deck = read_deck(entry.deck)
            secrets += [entry.deck[:14].encode(), "".join(deck[:5]).encode(), entry.deck[-14:].encode()]
            secrets += [msgspec.msgpack.encode(list(deck[:3])), json.dumps(deck[:3]).encode()]
            secrets += [seat.key_hash.encode() for seat in entry.seats if seat.key_hash]
        if isinstance(entry, Moved):
            entropy = entry.entropy
            secrets += [entropy, entropy.hex().encode(), base64.b64encode(entropy), base64.urlsafe_b64encode(entropy)]
    return secrets


def row(folder: Path, full: bool) -> Figure:
    """The twins, and what was recorded."""
    with served(folder, module="server") as server:
        url = running(folder / "data")
        assert url is not None
        figures = [twins(*((60, 3) if full else (3, 5)))]
        figures.append(asyncio.run(recorded(server, url, 52 if full else 6)))
    return both(figures)
