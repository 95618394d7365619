"""A table whose answers a test writes, over a real socket."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import websockets
from websockets.asyncio.server import ServerConnection

from tests.support.tables import a_game, a_table
from wire.codec import read_client_message, write
from wire.messages import Join, Message, SeatId, Sync, Synced, Update, Welcome


class Table:
    """What the client meets: one socket after the other, each with a script of its own."""

    def __init__(self, *scripts: Callable[["Table"], Awaitable[None]]) -> None:
        self._scripts = list(scripts)
        self.paths: list[str] = []
        self.heard: list[Message] = []
        self.hung_up = asyncio.Event()
        self._n = 0

    async def meet(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        self.paths.append(socket.request.path)
        self._socket = socket
        try:
            await self._scripts.pop(0)(self)
        finally:
            self.hung_up.set()

    async def hear(self, kind: Any) -> Any:
        """The next message of that kind; what else comes is answered or noted on the way."""
        while True:
            frame = await self._socket.recv()
            assert isinstance(frame, bytes)
            message = read_client_message(frame)
            self.heard.append(message)
            if isinstance(message, Sync):
                await self.say(Synced(message.sent_us, message.sent_us + 5_000_000))
            if isinstance(message, kind):
                return message

    async def hear_out(self) -> None:
        """All that the client still says before it hangs up."""
        with suppress(websockets.ConnectionClosed):
            while True:
                await self.hear(Message)

    async def say(self, message: Message) -> None:
        await self._socket.send(write(message))

    async def welcome(self) -> Any:
        join = await self.hear(Join)
        await self.say(Welcome(code="K7WQ2M", key="secret", seat=SeatId("s0"), room_us=join.protocol))
        await self.tell(table=a_table(), view=a_game())
        return join

    async def tell(self, show_at_us: int = 0, **parts: Any) -> None:
        self._n += 1
        await self.say(Update(n=self._n, show_at_us=show_at_us, **parts))

    async def close(self, code: int, reason: str = "") -> None:
        await self._socket.close(code, reason)

    def break_off(self) -> None:
        self._socket.transport.abort()


@asynccontextmanager
async def at(table: Table) -> AsyncIterator[str]:
    """The address of a server that has this table."""
    async with websockets.serve(table.meet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
