"""People at a real table, by the Python client, and what tests ask of them."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec
import websockets
from websockets.asyncio.client import ClientConnection

from clients.sdk import Player, connect, create_table
from wire.codec import read_server_message, write
from wire.messages import Join, Message, Refused, ServerMessage, Sync


@asynccontextmanager
async def company(url: str, *names: str) -> AsyncIterator[list[Player]]:
    """A new table with these people at it, the first of them its host; all see the whole table."""
    code = await create_table(url)
    async with AsyncExitStack() as stack:
        players = [await stack.enter_async_context(connect(url, code, name=name)) for name in names]
        for player in players:
            await player.until(lambda p: len(p.table.seats) == len(names))
        yield players


async def refusal(player: Player, act: Message | Callable[[], None]) -> Refused:
    """Says or does something that will be refused, and gives the answer."""
    if isinstance(act, Message):
        player.say(act)
    else:
        act()
    while not isinstance(answer := await anext(player), Refused):
        pass
    return answer


async def caught_up(player: Player) -> None:
    """Comes back when this player has been told all that the room had to tell it by now: answers come in order."""
    sent_us = time.monotonic_ns() // 1000
    player.say(Sync(sent_us))
    await player.until(lambda p: any(exchange.sent_us == sent_us for exchange in p.clock.exchanges))


def seen(player: Player) -> tuple[object, ...]:
    """What this player sees; but round trips change by themselves when the machine is busy."""
    seats = tuple(msgspec.structs.replace(seat, rtt_ms=0) for seat in player.table.seats)
    return msgspec.structs.replace(player.table, seats=seats), player.view, player.key


class Raw:
    """A bare socket that says whatever a test wants."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def say(self, *frames: bytes | str | Message) -> None:
        for frame in frames:
            await self.socket.send(write(frame) if isinstance(frame, Message) else frame)

    async def hear(self) -> ServerMessage:
        frame = await self.socket.recv()
        assert isinstance(frame, bytes)
        message = read_server_message(frame)
        assert message is not None
        return message

    async def hear_out(self) -> tuple[int | None, str | None]:
        """The close code and reason, after whatever else comes before them."""
        try:
            while True:
                await self.socket.recv()
        except websockets.ConnectionClosed:
            return self.socket.close_code, self.socket.close_reason


@asynccontextmanager
async def raw(url: str, code: str, *, join: str = "", origin: str | None = None) -> AsyncIterator[Raw]:
    """A bare socket at a table; with a name in `join` it has joined already."""
    address = f"{url.replace('http', 'ws', 1)}/ws/{code}"
    async with websockets.connect(address, compression=None, origin=origin, close_timeout=1) as socket:  # type: ignore[arg-type]
        talker = Raw(socket)
        if join:
            await talker.say(Join(name=join, face="🙂"))
            await talker.hear()
        yield talker
