"""Row 7: two nodes are asked for the same code at once, thousands of times, and one of them is stopped now and then.

Never two rooms: in every room that a node has, somebody asks for the time again and again, and when they were answered
is written down. One machine has one monotonic clock, so the answers of two nodes can be put in order. A node that is
stopped between looking at its lease and writing writes when it is woken: that frame had been on its way, and it counts
as of the look.

    python -m tests.faults.asked NODE REDIS_URL

is one of the nodes. It takes a JSON line for each batch of codes and answers with one, then tells on an empty line when
it has spoken, and forgets the batch.
"""

import asyncio
import json
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum
from itertools import pairwise
from pathlib import Path

from engine.rules import Rules
from engine.value import Value
from server.hosting.cluster import Node
from server.hosting.host import Host, ServerStops
from server.hosting.mailbox import Mailbox
from server.serve import RealClock, RealRandomSource
from server.store.nodes import LEASE_MS
from server.store.port import Elsewhere, StoreDown
from server.store.redis import RedisStore
from server.table.mail import ConnId
from server.table.records import TableRecord
from tests.contracts.servers import RedisServer
from tests.faults.figure import Figure
from tests.support.serving import ROOT, TIMEOUT_S
from wire.messages import Sync

BATCH = 400
AT_ONCE = 10
"""So few are asked for at once that now this node is first and now the other."""
ASKS_EVERY_S = 0.05
SPEAKS_S = 0.3
"""So long each batch is watched after all were asked."""

Span = tuple[int, int]
"""When one room spoke first and last, in microseconds."""


# --- a node ------------------------------------------------------------------------------------------------------


class LookedAt(RealClock):
    """The machine's clock, and when it was last looked at: before it speaks a room looks whether its lease is over."""

    looked_us = 0

    def now_us(self) -> int:
        """Whole microseconds since some fixed moment."""
        self.looked_us = super().now_us()
        return self.looked_us


class Listener:
    """Somebody in a room, who asks for the time and writes down as of when they were told."""

    def __init__(self, mailbox: Mailbox, clock: LookedAt) -> None:
        self.mailbox = mailbox
        self.spoke: list[int] = []
        self._clock = clock
        mailbox.connect(ConnId(1), self)

    def ask(self) -> None:
        """Asks once more."""
        now_us = time.monotonic_ns() // 1000
        self.mailbox.hear(ConnId(1), Sync(sent_us=now_us), now_us)

    def write(self, frame: bytes) -> bool:
        """The room has spoken."""
        self.spoke.append(self._clock.looked_us)
        return True

    def ping(self) -> None:
        """Nobody is asked here."""

    def hang_up(self, code: int, reason: str) -> None:
        """The room is gone."""


async def be_a_node(name: str, url: str) -> None:
    """Answers what is asked on standard input until it ends."""
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(limit=2**20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with RedisStore(url) as store:
        clock, rng = LookedAt(), RealRandomSource()
        node = Node(name, store.nodes, clock, rng)
        host = Host(store, clock, rng, 1_000_000, 0, node)
        assert await node.take()
        listeners: dict[str, list[Listener]] = {}
        few = asyncio.Semaphore(AT_ONCE)

        async def ask(code: str) -> str:
            mailbox = None
            while mailbox is None:
                try:
                    async with few:
                        mailbox = await host.open(code)
                except Elsewhere as there:
                    return there.node
                except (ServerStops, StoreDown):  # after it was stopped it has no lease at first
                    await asyncio.sleep(ASKS_EVERY_S)
            if not any(listener.mailbox is mailbox for listener in listeners.setdefault(code, [])):
                listeners[code].append(Listener(mailbox, clock))
            return name

        async def speak() -> None:
            while True:
                for each in [listener for all_here in listeners.values() for listener in all_here]:
                    each.ask()
                await asyncio.sleep(ASKS_EVERY_S)

        busy = [asyncio.create_task(each) for each in (node.stay(host.forget, host.fall_silent), speak())]
        print("[]", flush=True)
        while line := await lines.readline():
            if line.strip():
                print(json.dumps(await asyncio.gather(*map(ask, json.loads(line)))), flush=True)
                continue
            spoke = {code: [one.spoke for one in all_here if one.spoke] for code, all_here in listeners.items()}
            print(json.dumps({code: [(one[0], one[-1]) for one in all_here] for code, all_here in spoke.items()}))
            sys.stdout.flush()
            listeners.clear()
            await host.close()
        for each in busy:
            each.cancel()


# --- who asks ----------------------------------------------------------------------------------------------------


class Process:
    """One of the nodes, from outside."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def hear(self) -> object:
        """Its next line."""
        assert self._process.stdout is not None
        async with asyncio.timeout(TIMEOUT_S):
            return json.loads(await self._process.stdout.readline())

    def say(self, codes: Sequence[str]) -> None:
        """A batch to be asked for; an empty one ends it."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(codes).encode() + b"\n" if codes else b"\n")

    def signal(self, how: signal.Signals) -> None:
        """Stops it, or has it go on."""
        self._process.send_signal(how)

    async def end(self) -> None:
        """Ends it."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


async def start(name: str, url: str) -> Process:
    """One more node."""
    command = (sys.executable, "-m", "tests.faults.asked", name, url)
    pipe, nobody = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    node = Process(
        await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=nobody, limit=2**22)
    )
    await node.hear()
    return node


class Asked(Value):
    """What came of asking for a batch of codes.

    `rooms` that have spoken, codes with two of them at once, and codes of which nobody had one.
    """

    rooms: int
    doubled: int
    missed: int


class Stop(Enum):
    """When the first node is stopped."""

    NEVER = "never"
    ASKED = "asked"
    SPEAKING = "speaking"


async def asked(nodes: Sequence[Process], codes: Sequence[str], stop: Stop) -> Asked:
    """Asks both nodes for each of these codes at once. When one is stopped, the other takes over all that it has."""
    first, second = nodes
    for node in nodes:
        node.say(codes)
    missed = 0
    if stop is Stop.NEVER:
        for node in nodes:
            await node.hear()
    else:
        if stop is Stop.SPEAKING:
            await first.hear()
            await asyncio.sleep(SPEAKS_S)
        first.signal(signal.SIGSTOP)
        await second.hear()
        await asyncio.sleep(LEASE_MS / 1e3)
        second.say(codes)
        again = await second.hear()
        assert isinstance(again, list)
        missed += len(codes) - again.count("b")
        await asyncio.sleep(SPEAKS_S)
        first.signal(signal.SIGCONT)
        if stop is Stop.ASKED:
            await first.hear()
    await asyncio.sleep(SPEAKS_S)
    for node in nodes:
        node.say(())
    spans: dict[str, list[Span]] = {code: [] for code in codes}
    for node in nodes:
        told = await node.hear()
        assert isinstance(told, dict)
        for code, spoke in told.items():
            spans[code] += spoke
    missed += sum(not rooms for rooms in spans.values())
    return Asked(sum(map(len, spans.values())), sum(map(overlap, spans.values())), missed)


def overlap(spans: Sequence[Span]) -> bool:
    """Whether two rooms have spoken in turns."""
    in_order = sorted(spans)
    return any(one[1] >= other[0] for one, other in pairwise(in_order))


async def all_asked(url: str, codes: int, stops: int) -> Figure:
    """Asks for so many codes, and stops a node so many times while it does."""
    nodes = [await start(name, url) for name in ("a", "b")]
    batches = -(-codes // BATCH)
    stopped = {nth * batches // stops: Stop.ASKED if nth % 2 else Stop.SPEAKING for nth in range(stops)}
    came: list[Asked] = []
    try:
        async with RedisStore(url) as store:
            for batch in range(batches):
                some = [f"{batch:03}{nth:03}" for nth in range(min(BATCH, codes - batch * BATCH))]
                tables = (store.create_table(TableRecord(code, Rules(), born="1")) for code in some)
                assert all(await asyncio.gather(*tables))
                came.append(await asked(nodes, some, stopped.get(batch, Stop.NEVER)))
    finally:
        for node in nodes:
            await node.end()
    rooms, doubled, missed = (sum(getattr(each, what) for each in came) for what in ("rooms", "doubled", "missed"))
    text = (
        f"{codes} codes asked of two nodes at once, one of them stopped {stops} times: {rooms} rooms, of them "
        f"{rooms - codes} taken over, {missed} codes without a room, {doubled} with two at once"
    )
    return Figure(not doubled and not missed, text)


def row(folder: Path, full: bool) -> Figure:
    """Two nodes over a real Redis."""
    store = RedisServer(folder)
    try:
        return asyncio.run(all_asked(store.url, *((10_000, 9) if full else (600, 1))))
    finally:
        store.stop()


if __name__ == "__main__":
    asyncio.run(be_a_node(*sys.argv[1:]))
