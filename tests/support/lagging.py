"""Lines that lag: a way to a server of its own for each device, on which everything comes later and in order.

The delays are those of `tests.simulation.links`, here on real sockets and the machine's clock, in a thread of its own
so that browsers can be driven beside it.
"""

import asyncio
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from tests.simulation.links import Network, Way, ways

PIECE_BYTES = 65536


class Lines:
    """All the lines to one server."""

    def __init__(self, url: str, seed: int, loop: asyncio.AbstractEventLoop) -> None:
        self._to = urlsplit(url)
        self._rng = random.Random(seed)
        self._loop = loop
        self._near_ends: list[asyncio.Server] = []
        self._open: set[asyncio.StreamWriter] = set()

    def lay(self, network: Network) -> str:
        """A new line, by the address of its near end. For any thread but the lines' own."""
        return asyncio.run_coroutine_threadsafe(self._lay(network), self._loop).result()

    def resume(self) -> None:
        """Takes all of them away, and whatever is on its way."""
        asyncio.run_coroutine_threadsafe(self._resume(), self._loop).result()

    async def _lay(self, network: Network) -> str:
        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            down, up = ways(network, random.Random(self._rng.random()))
            with suppress(OSError):
                there, back = await asyncio.open_connection(self._to.hostname, self._to.port)
                ends = {writer, back}
                self._open |= ends
                await asyncio.gather(_carry(reader, back, up), _carry(there, writer, down))
                self._open -= ends
                back.close()
            writer.close()

        self._near_ends.append(await asyncio.start_server(carry, "127.0.0.1", 0))
        return f"http://127.0.0.1:{self._near_ends[-1].sockets[0].getsockname()[1]}"

    async def _resume(self) -> None:
        for end in self._near_ends:
            end.close()
        for writer in self._open:
            writer.transport.abort()
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way) -> None:
    """Passes on what is read, each piece when it has arrived, and the end like any other piece."""
    travelling: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()

    async def arrive() -> None:
        while True:
            at_us, piece = await travelling.get()
            await asyncio.sleep((at_us - _now_us()) / 1e6)
            if not piece or writer.is_closing():
                return
            writer.write(piece)

    async def depart() -> None:
        piece = b"-"
        while piece:
            try:
                piece = await reader.read(PIECE_BYTES)
            except OSError:
                piece = b""
            travelling.put_nowait((way.arrival_us(_now_us()), piece))

    await asyncio.gather(depart(), arrive())
    with suppress(OSError):
        writer.write_eof()


def _now_us() -> int:
    return time.monotonic_ns() // 1000


@contextmanager
def lagging_lines(url: str, seed: int = 1) -> Iterator[Lines]:
    """Lines to that server, until the end."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="lines", daemon=True)
    thread.start()
    lines = Lines(url, seed, loop)
    try:
        yield lines
    finally:
        lines.resume()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
