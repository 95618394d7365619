"""A bot at a table: its mind's hands on a player of the Python client."""

import asyncio
from collections.abc import Callable

from clients.bots.mind import Act, Mind, sight_of
from clients.sdk import Clock, Monotonic, Player, Resumed, shows_afresh
from engine.game import Side
from wire.messages import Update


def _judge(player: Player) -> None:
    """Says what the evidence says (R18): the dealer has put the hands in order, and a bot has no better eyes."""
    if player.question is not None:
        player.point(player.question.seats[0])


HANDS: dict[Act, Callable[[Player], None]] = {
    # The hand that turned is never the one that slaps (R15).
    Act.TURN: lambda player: player.turn(Side.LEFT),
    Act.SLAP: lambda player: player.slap(Side.RIGHT),
    Act.CALL: Player.call,
    Act.CARRY_ON: Player.carry_on,
    Act.POINT: _judge,
}


async def play(player: Player, mind: Mind, clock: Clock | None = None) -> None:
    """Plays until the player has left; raises the `NotAtTable` that ended it otherwise."""
    clock = clock or Monotonic()
    while True:
        now_us = clock.now_us()
        mind.see(sight_of(player), now_us)
        for act in mind.acts(now_us):
            HANDS[act](player)
        due_us = mind.due_us()
        try:
            async with asyncio.timeout(None if due_us is None else max(0, due_us - clock.now_us()) / 1e6):
                event = await anext(player)
        except TimeoutError:
            pass
        except StopAsyncIteration:
            return
        else:
            if isinstance(event, Resumed) or (isinstance(event, Update) and shows_afresh(event)):
                mind.see(None, clock.now_us())  # what its hands did before is lost or void, so it looks anew
