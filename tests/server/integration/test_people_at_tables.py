"""People over HTTP who sit at real tables: one person on two phones, and one who wants to be forgotten in a game."""

import asyncio
import json
import urllib.request
from typing import Any

import pytest

from clients.sdk import Player, Removed, connect, create_table
from tests.support.company import company
from tests.support.serving import Served
from wire.messages import Stage


def ask(server: Served, method: str, path: str, key: str, **body: str) -> Any:
    """Asks as the device that has this key."""
    request = urllib.request.Request(
        server.url + path,
        method=method,
        headers={"authorization": f"Bearer {key}"},
        data=json.dumps(body).encode() if method == "POST" else None,
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read() or b"null")


async def test_a_person_who_moves_to_another_phone_has_their_seat_there(server: Served) -> None:
    code = await create_table(server.url)
    old = ask(server, "POST", "/api/me", "", name="Anna", face="🦊")["key"]
    new = ask(server, "POST", "/api/me", "")["key"]
    async with connect(server.url, code, name="Anna", key=old) as anna:
        seat = anna.seat
    token = ask(server, "POST", "/api/me/link", old)["token"]
    assert ask(server, "POST", "/api/me/move", new, token=token)["me"]["name"] == "Anna"
    async with connect(server.url, code, name="Anna", key=new) as anna:
        assert anna.seat == seat
        assert len(anna.table.seats) == 1
    ask(server, "POST", "/api/me/unlink", new)
    async with connect(server.url, code, name="Ben", key=new) as ben:
        assert ben.seat != seat


async def test_whoever_wants_to_be_forgotten_leaves_their_game_and_the_others_play_on(server: Served) -> None:
    async with company(server.url, "Quirina", "Ben", "Cleo") as (quirina, ben, cleo):
        quirina.start()
        for player in (quirina, ben, cleo):
            await player.until(lambda p: p.table.stage is Stage.PLAYING)
        await asyncio.to_thread(ask, server, "DELETE", "/api/me", quirina.key)
        with pytest.raises(Removed, match="forgotten"):
            await quirina.until(lambda p: not p.table.seats)
        for player in (ben, cleo):
            await player.until(lambda p: p.online and "Quirina" not in names(p))
            assert player.view is not None
            assert player.view.seats[0].status == "out"
            assert player.view.pile + sum(seat.cards for seat in player.view.seats) == 52
        await ben.until(lambda p: p.table.stage is Stage.PLAYING and p.view is not None)


def names(player: Player) -> set[str]:
    """Who sits there."""
    return {seat.name for seat in player.table.seats}
