"""One table of the workload at a whole server without a socket, on a made-up clock: for counting what a message costs.

From the bytes that arrive to the bytes that leave everything is the server's own code; a transport in memory stands for
the kernel and the network, a store in memory for the journal. The same seed gives the same calls.
"""

import asyncio
import random
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.websockets import WebSocket
from uvicorn import Config
from uvicorn.server import ServerState

from server.base.settings import Settings
from server.hosting.host import Host
from server.net.accepted import Sockets
from server.net.connection import SocketEndpoint
from server.net.link import link_protocol
from server.net.requests import RequestProtocol
from tests.bench.phones import OwnTable, Phone, Tally, upgrade
from tests.server.test_host import FakeStore, SkippingLoop
from tests.server.world import FakeLuck
from wire.messages import MAX_FRAME_BYTES

WAY_S = 0.0002
"""How long bytes take one way."""


class Wire(asyncio.Transport):
    """A transport that brings what is written to the protocol at the other end a little later."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__({"peername": ("192.0.2.1", 50000), "sockname": ("192.0.2.2", 8000)})
        self._loop = loop
        self._closed = False
        self._under_way: deque[bytes] = deque()
        self.other: asyncio.Protocol | None = None

    def write(self, data: Any) -> None:
        """Sends."""
        # In order, which timers of the same moment do not keep.
        self._under_way.append(bytes(data))
        self._loop.call_later(WAY_S, self._bring)

    def _bring(self) -> None:
        data = self._under_way.popleft()
        if not self._closed and self.other is not None:
            self.other.data_received(data)

    def get_write_buffer_size(self) -> int:
        """Nothing waits here."""
        return 0

    def is_closing(self) -> bool:
        """Whether it has been closed."""
        return self._closed

    def close(self) -> None:
        """Brings nothing any more, and the other end hears of it."""
        if not self._closed and self.other is not None:
            self._loop.call_soon(self.other.connection_lost, None)
        self._closed = True

    abort = close

    def pause_reading(self) -> None:
        """Nothing comes unasked for here."""

    def resume_reading(self) -> None:
        """As above."""


class World:
    """A server in memory, and tables at it."""

    def __init__(self, loop: SkippingLoop, seed: int) -> None:
        self.loop = loop
        self.tally = Tally()
        rng = FakeLuck(seed)
        settings = Settings(data=Path("unused"), max_connections_per_address=10_000)
        store = FakeStore()
        self.host = Host(store, loop.clock, rng, 100, 200)
        self._sockets = Sockets(settings, loop.clock)
        self._door = SocketEndpoint(self.host, store, loop.clock, settings)
        self._config = Config(
            self._app,
            interface="asgi3",
            proxy_headers=False,
            ws=link_protocol(loop.clock, rng, settings.outbox_bytes),
            ws_max_size=MAX_FRAME_BYTES,
            ws_per_message_deflate=False,
            log_config=None,
        )
        self._config.load()
        self._state = ServerState()

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        scope["path_params"] = {"code": scope["path"].rpartition("/")[2]}
        await self._door.answer(WebSocket(scope, receive, send))

    def dialled(self, phone: Phone) -> None:
        """Connects a phone."""
        here, there = Wire(self.loop), Wire(self.loop)
        owner = self._sockets.accept("192.0.2.1")
        assert owner is not None
        owner.start(RequestProtocol(self._config, self._state, {}, self.loop))
        here.other, there.other = owner, phone
        owner.connection_made(there)
        phone.connection_made(here)


class TableInMemory(OwnTable):
    """A table of ours at a server in memory."""

    def __init__(self, world: World, seed: int) -> None:
        self.now_s = world.loop.time
        super().__init__(0, 1, world.tally, random.Random(seed))
        self._world = world

    async def _dial(self, path: str) -> Phone:
        phone = Phone(self, upgrade(path))
        opened = phone.opened
        assert opened is not None
        self._world.dialled(phone)
        self.phones.append(phone)
        await opened
        return phone

    async def _new_code(self) -> str:
        return await self._world.host.create()


def played(seconds: float, *, seed: int = 1, before: Callable[[], None], after: Callable[[], None]) -> Tally:
    """Has a table play for so many seconds of its clock, between `before` and `after`, and gives what was seen."""
    loop = SkippingLoop()

    async def run() -> Tally:
        world = World(loop, seed)
        table = TableInMemory(world, seed)
        await table.sit()
        await asyncio.sleep(3)
        world.tally = table.tally = Tally()
        before()
        await asyncio.sleep(seconds)
        after()
        seen = table.tally
        table.leave()
        await asyncio.sleep(1)
        await world.host.close()
        return seen

    try:
        return loop.run_until_complete(run())
    finally:
        loop.close()
