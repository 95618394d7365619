"""The main job over real sockets: tables, people, whole games, and coming back (docs/protocol.md)."""

import asyncio
import json
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from clients.sdk import Lost, Player, Removed, Resumed, TakenOver, connect, create_table
from engine.game import CardTurned, End, GameOver, PileWon, Seat, Status
from engine.rules import Rules
from tests.support.company import caught_up, company, refusal, seen
from tests.support.rng import jacks_last
from tests.support.serving import Served, served
from wire.codes import CODE_LENGTH, CODE_SYMBOLS
from wire.messages import (
    AddComputer,
    EndGame,
    HoldDeal,
    Kind,
    Lock,
    Message,
    Pause,
    React,
    Reacted,
    RejectReason,
    Remove,
    Rename,
    SeatId,
    SetHandicap,
    SetRules,
    Sit,
    Stage,
    Start,
    Update,
)

QUICK = Rules(min_show_ms=300)
SLOW_COMPUTER = AddComputer(reaction_ms=5_000, spread_ms=0)
"""It turns its cards like any other, but a person takes every Jack."""


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


def wins(player: Player) -> list[int]:
    return [seat.wins for seat in player.table.seats]


async def start(players: list[Player], rules: Rules = QUICK) -> None:
    """A game of these people and a slow computer player, with the Jacks last in the deck."""
    host = players[0]
    host.say(SetRules(rules))
    host.say(SLOW_COMPUTER)
    host.start()
    for player in players:
        await player.until(lambda p: p.table.stage is Stage.PLAYING and p.view is not None and not p.view.end)


async def play_on(player: Player, slaps: bool, until_turned: int = 52) -> list[Update]:
    """Turns whenever it is our turn, and slaps Jacks or leaves them to others, until the game is over."""
    told = []
    async for event in player:
        if not isinstance(event, Update):
            continue
        told.append(event)
        if (view := event.view) is not None and (view.end is not None or view.turned >= until_turned):
            break
        if slaps and player.top is not None and player.top.face.startswith("J"):
            player.slap()
        elif player.my_turn:
            player.turn()
    return told


# --- tables and lobby --------------------------------------------------------------------------------------------


async def test_a_new_table_has_a_code_and_is_there(server: Served) -> None:
    code = await create_table(server.url)
    assert len(code) == CODE_LENGTH
    assert set(code) <= set(CODE_SYMBOLS)
    assert get(f"{server.url}/api/tables/{code}") == {"code": code, "people": 0, "seats": 0, "games": 0}
    assert get(f"{server.url}/healthz")["status"] == "ok"


async def test_the_first_to_join_is_the_host_and_all_see_the_same_table(server: Served) -> None:
    """R26."""
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        assert ann.table == ben.table
        assert [(seat.name, seat.host, seat.kind) for seat in ann.table.seats] == [
            ("Ann", True, Kind.PERSON),
            ("Ben", False, Kind.PERSON),
        ]
        assert ann.key != ben.key
        assert len({ann.seat, ben.seat}) == 2
        assert ann.key not in repr(ben.table)


async def test_a_code_is_forgiven_its_case_and_spaces(server: Served) -> None:
    code = await create_table(server.url)
    async with connect(server.url, f" {code[:3].lower()} {code[3:].lower()}", name="Ann") as ann:
        assert ann.table.code == code


async def test_what_the_host_sets_in_the_lobby_is_seen_by_all(server: Served) -> None:
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        ann.say(SetRules(Rules(queens=True, min_show_ms=1_500)))
        ann.say(AddComputer(reaction_ms=450))
        ann.say(SetHandicap(seat=ben.table.seats[0].id, ms=200))
        ann.say(Lock(True))
        ben.say(Rename(name="Benjamin", face="🐻"))
        await ben.until(lambda p: p.table.locked and p.table.seats[1].name == "Benjamin")
        await ann.until(lambda p: p.table == ben.table)
        assert ben.table.rules == Rules(queens=True, min_show_ms=1_500)
        assert [(seat.name, seat.kind, seat.handicap_ms, seat.reaction_ms) for seat in ben.table.seats] == [
            ("Ann", Kind.PERSON, 200, 0),
            ("Benjamin", Kind.PERSON, 0, 0),
            ("Ada", Kind.COMPUTER, 0, 450),
        ]


async def test_reactions_go_to_all(server: Served) -> None:
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        ben.say(React("🎉"))
        while not isinstance(told := await anext(ann), Reacted):
            pass
        assert told == Reacted(ben.seat, "🎉")
        assert (await refusal(ben, React("🎉"))).reason == RejectReason.TOO_SOON


# --- a whole game ------------------------------------------------------------------------------------------------


async def test_two_people_and_a_computer_play_a_whole_game(server: Served) -> None:
    """The known deck is turned card by card, everybody is told the same, and the win is counted."""
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        await start([ann, ben])
        stories = await asyncio.gather(play_on(ann, slaps=True), play_on(ben, slaps=False))
        for told in stories:
            events = [event for update in told for event in update.events]
            faces = [event.face for event in events if isinstance(event, CardTurned)]
            # The seat at the winner's left goes on (R5), with the card that it was dealt last.
            deck = jacks_last()
            assert faces == [*deck[:49], deck[51], deck[49]]
            assert [e.cards for e in events if isinstance(e, PileWon)] == [49, 1, 1]
            assert events[-1] == GameOver(winners=(Seat(0),), end=End.LAST_SEAT)
            for update in told:
                if update.view is not None:
                    assert update.view.pile + sum(seat.cards for seat in update.view.seats) == 52
        seen = [[u for u in told if u.events] for told in stories]
        assert seen[0] == seen[1]
        verdicts = [update.verdict for update in seen[0] if update.verdict is not None]
        assert [(verdict.winner, verdict.hands[0].seat) for verdict in verdicts] == [(0, 0)] * 3
        for player in (ann, ben):
            await player.until(lambda p: p.table.stage is Stage.BREAK)
            assert wins(player) == [1, 0, 0]
            assert player.table.winners == (ann.seat,)
            assert player.table.next_deal_us > 0
        ann.say(HoldDeal(True))
        await ben.until(lambda p: p.table.held)
        assert ben.table.next_deal_us == 0


async def test_no_card_is_shown_before_its_moment(server: Served) -> None:
    """R3, P9: clock sync, hold and release together."""
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        await start([ann, ben])

        async def early(player: Player) -> list[int]:
            """How long before its moment each card was handed out, beyond what the clock estimate may be wrong by."""
            early_us = []
            async for event in player:
                if isinstance(event, Update) and event.show_at_us:
                    # The server runs on this machine, so its clock is ours.
                    wrong_us = max(exchange.rtt_us for exchange in player.clock.exchanges) // 2 + 100
                    early_us.append(event.show_at_us - time.monotonic_ns() // 1000 - wrong_us)
                if player.view is not None and player.view.turned >= 9:
                    break
                if player.my_turn:
                    player.turn()
            return early_us

        for early_us in await asyncio.gather(early(ann), early(ben)):
            assert len(early_us) == 9
            assert max(early_us) <= 0


# --- coming back -------------------------------------------------------------------------------------------------


async def test_the_key_leads_back_to_the_same_seat_and_cards(server: Served) -> None:
    """P7, R24: in the middle of a game, from a new process as it were."""
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        await start([ann, ben])
        ben_plays = asyncio.create_task(play_on(ben, slaps=False, until_turned=7))
        await play_on(ann, slaps=False, until_turned=7)
        await ben_plays
        key, seat, place = ann.key, ann.seat, ann.place
        await ann.close()
        await ben.until(lambda p: p.table.seats[0].away)
        async with connect(server.url, ben.table.code, name="somebody", key=key) as again:
            await ben.until(lambda p: not p.table.seats[0].away)
            assert (again.key, again.seat, again.place) == (key, seat, place)
            assert again.table.seats[0].name == "Ann"
            await caught_up(again)
            await caught_up(ben)
            assert again.view == ben.view
            assert again.view is not None
            assert again.view.turned >= 7


async def test_a_second_device_takes_the_seat_over(server: Served) -> None:
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        async with connect(server.url, ann.table.code, name="Ann", key=ann.key) as other:
            with pytest.raises(TakenOver, match="another device"):
                await ann.until(lambda p: False)
            assert other.seat == ben.table.seats[0].id
            await caught_up(ben)
            assert [seat.away for seat in ben.table.seats] == [False, False]


async def test_a_wrong_key_is_a_newcomer(server: Served) -> None:
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        async with connect(server.url, ann.table.code, name="Eve", key=ann.key[:-1] + "~") as eve:
            assert eve.seat not in (ann.seat, ben.seat)
            assert [seat.name for seat in eve.table.seats] == ["Ann", "Ben", "Eve"]


# --- watching ----------------------------------------------------------------------------------------------------


async def test_who_watches_sees_the_game_and_may_not_play(server: Served) -> None:
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        await start([ann, ben])
        async with connect(server.url, ann.table.code, name="Wim", watch=True) as wim:
            await ann.until(lambda p: p.table.watching == 1)
            assert (wim.seat, wim.place, wim.my_turn) == (None, None, False)
            await asyncio.gather(*(play_on(p, slaps=False, until_turned=4) for p in (ann, ben)))
            await wim.until(lambda p: p.view is not None and p.view.turned >= 4)
            for act in (wim.turn, wim.slap, Start()):
                assert (await refusal(wim, act)).reason == RejectReason.NOT_SEATED
            wim.say(Sit(name="Wim", face="🦉"))
            await wim.until(lambda p: p.seat is not None and len(p.table.seats) == 4)
            assert wim.place is None
            ann.say(EndGame())
            await wim.until(lambda p: p.table.stage is Stage.BREAK)
            ann.start()
            await wim.until(lambda p: p.place == 3 and p.view is not None and len(p.view.seats) == 4)


# --- the host ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        Start(),
        SetRules(Rules()),
        AddComputer(),
        Lock(True),
        HoldDeal(True),
        Pause(True),
        EndGame(),
        Remove(SeatId("any")),
    ],
    ids=lambda message: type(message).__name__,
)
async def test_only_the_host_commands(server: Served, message: Message) -> None:
    """R26."""
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        before = seen(ann)
        assert (await refusal(ben, message)).reason == RejectReason.NOT_HOST
        await caught_up(ann)
        assert seen(ann) == before


async def test_the_host_removes_a_player_whose_cards_go_under_the_pile(server: Served) -> None:
    """R25."""
    async with company(server.url, "Ann", "Ben", "Cem") as (ann, ben, cem):
        await start([ann, ben, cem])
        assert ben.seat is not None
        ann.say(Remove(ben.seat))
        with pytest.raises(Removed, match="host has removed you"):
            await ben.until(lambda p: False)
        for player in (ann, cem):
            await player.until(lambda p: p.view is not None and p.view.seats[1].status is Status.OUT)
            assert player.view is not None
            assert player.view.under == 13
        ann.say(EndGame())
        await cem.until(lambda p: [seat.name for seat in p.table.seats] == ["Ann", "Cem", "Ada"])


async def test_the_host_pauses_and_ends(server: Served) -> None:
    """R24, R12."""
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        await start([ann, ben])
        ann.say(Pause(True))
        await ben.until(lambda p: p.table.paused)
        assert ben.my_turn
        assert (await refusal(ben, ben.turn)).reason == RejectReason.PAUSED
        ann.say(Pause(False))
        await ben.until(lambda p: not p.table.paused)
        ann.say(EndGame())
        await ben.until(lambda p: p.view is not None and p.view.end is End.HOST)


async def test_a_host_who_quits_leaves_the_role_to_the_longest_seated(server: Served) -> None:
    """R26."""
    async with company(server.url, "Ann", "Ben", "Cem") as (ann, ben, cem):
        ann.quit()
        for player in (ben, cem):
            await player.until(lambda p: [seat.name for seat in p.table.seats if seat.host] == ["Ben"])
        assert Lost not in [type(event) async for event in ann]


async def test_a_host_away_for_half_a_minute_is_stood_in_for(tmp_path: Path) -> None:
    """R26: and gets the role back on return."""
    with served(tmp_path) as server:
        async with company(server.url, "Ann", "Ben") as (ann, ben):
            await ann.close()
            await ben.until(lambda p: p.table.seats[0].away)
            assert ben.table.seats[0].host
            server.jump_a_minute()
            await caught_up(ben)
            await ben.until(lambda p: p.table.seats[1].host)
            async with connect(server.url, ben.table.code, name="Ann", key=ann.key):
                await ben.until(lambda p: p.table.seats[0].host and not p.table.seats[1].host)


# --- the server dies ---------------------------------------------------------------------------------------------


async def test_a_server_killed_in_the_middle_of_a_game_goes_on_with_it(store: str, tmp_path: Path) -> None:
    """Every card that anybody was shown is there again, and the next ones come in the order of the same deck."""
    with served(tmp_path, store) as server:
        async with company(server.url, "Ann", "Ben") as (ann, ben):
            await start([ann, ben])
            stories = await asyncio.gather(*(play_on(p, slaps=False, until_turned=7) for p in (ann, ben)))
            server.kill()
            for player in (ann, ben):
                await player.until(lambda p: not p.online)
            server.start()
            for player in (ann, ben):
                await player.until(lambda p: p.online and not any(seat.away for seat in p.table.seats))
            assert ann.view is not None
            assert ann.view.turned >= 7
            stories += await asyncio.gather(*(play_on(p, slaps=False, until_turned=12) for p in (ann, ben)))
            for player in (ann, ben):
                await player.until(lambda p: p.view is not None and p.view.turned >= 12)
            faces = {
                event.nth: event.face
                for told in stories
                for update in told
                for event in update.events
                if isinstance(event, CardTurned)
            }
            assert [faces[nth] for nth in sorted(faces)] == [jacks_last()[nth - 1] for nth in sorted(faces)]
            assert len(faces) >= 11


async def test_a_killed_server_comes_back_with_its_tables_and_scores(store: str, tmp_path: Path) -> None:
    """kill -9 between games: seats, host, rules and win scores stand, and everybody is back by themselves."""
    rules = Rules(min_show_ms=300, card_limit=3)
    with served(tmp_path, store) as server:
        async with company(server.url, "Ann", "Ben") as (ann, ben):
            await start([ann, ben], rules)
            await asyncio.gather(play_on(ann, slaps=False), play_on(ben, slaps=False))
            await ann.until(lambda p: p.table.stage is Stage.BREAK)
            ann.say(HoldDeal(True))
            await ben.until(lambda p: p.table.held)
            keys, before = (ann.key, ben.key), ben.table
            assert sum(wins(ben)) >= 1
            server.kill()
            for player in (ann, ben):
                await player.until(lambda p: not p.online)
            server.start()
            for player in (ann, ben):
                await player.until(lambda p: p.online and not any(seat.away for seat in p.table.seats))
            assert (ann.key, ben.key) == keys
            assert wins(ben) == [seat.wins for seat in before.seats]
            assert [seat.id for seat in ben.table.seats] == [seat.id for seat in before.seats]
            assert [seat.host for seat in ben.table.seats] == [seat.host for seat in before.seats]
            assert (ben.table.rules, ben.table.game) == (rules, before.game)
            told = []
            while Resumed not in told:
                told.append(type(await anext(ben)))
            assert Lost in told
            ann.start()
            await asyncio.gather(play_on(ann, slaps=False), play_on(ben, slaps=False))
            await ann.until(lambda p: sum(wins(p)) > sum(seat.wins for seat in before.seats))
