"""Row 19: a server for hours, with people who come, play, break off and go, and a clock that leaps.

    python -m tests.faults.soak [MINUTES]

plays in waves and writes what came of it to build/soak.json, from where `make faults` tells it. After each wave nobody
is there, and the server must be as it was: no handle, no task and no memory more than before.
"""

import asyncio
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from clients.sdk import NotAtTable, connect, create_table
from engine.value import Value
from tests.faults.figure import Figure
from tests.faults.guessing import statuses
from tests.faults.playing import play_on, start_on
from tests.faults.readers import memory_bytes
from tests.faults.wire import call, dial
from tests.support.serving import ROOT, Served, served, wait_for

MOST_GROWTH_MIB = 1.0
WARMING_MIB = 8.0
"""What a server may still grow by in its first minute."""
MINUTES = 120
RESULT = ROOT / "build" / "soak.json"
SPARE_HANDLES = 4
"""Connections to the store are opened when they are first needed, so some wave may be the first to need one more."""
MOST_GARBAGE = 200
"""After a wave: the server looks for garbage once an hour, and until then it must not pile up."""
MIB = 1024 * 1024
PATIENCE_S = 1
PESTS = (b"", b"GET /", b"\x16\x03\x01")
QUIET_S = 4.0
"""After so long whoever has gone is gone for the server too."""


class Sample(Value):
    """The server between two waves. `at_s` since the start; `garbage` are objects that only a collector finds."""

    at_s: float
    memory: int
    handles: int
    tasks: int
    garbage: int
    played: int


async def sits(url: str, code: str, nth: int, seed: int, played: list[int]) -> None:
    """Somebody comes back to their seat and plays."""
    rng = random.Random(seed)

    def hear(_: object) -> None:
        played[0] += 1

    key = f"soaking-{code}-{nth}-which-nobody-else-has"
    with suppress(NotAtTable):
        async with connect(url, code, name=f"Player {nth}", key=key, watch=nth > 1, entropy=rng.random) as player:
            if nth > 1:
                await player.until(lambda p: False)
            starting = asyncio.create_task(start_on(player, rng))
            try:
                await play_on(player, rng, hear)
            finally:
                starting.cancel()


async def pests(url: str, code: str) -> None:
    """What else comes by: wrong codes, callers who say nothing and are hung up on, nonsense."""
    await asyncio.to_thread(statuses, url, 5)
    callers = [await call(url) for _ in PESTS]
    for caller, begun in zip(callers, PESTS, strict=True):
        await caller.send(begun)
    for said in (b"", b"\x82\xfe", b"\x00" * 50):
        wire = await dial(url, f"/ws/{code}")
        await wire.send(said)
        wire.drop()
    for caller in callers:
        with suppress(ConnectionError):
            while await caller.reader.read(4096):
                pass
        caller.drop()


async def wave(server: Served, codes: list[str], for_s: float, seed: int, leaps: bool) -> int:
    """People play for so long, then all are gone; how much they were told."""
    played = [0]
    people = [
        asyncio.create_task(sits(server.url, code, nth, seed * 100 + nth, played)) for code in codes for nth in range(3)
    ]
    await asyncio.sleep(for_s / 2)
    if leaps:
        os.kill(server.pid, signal.SIGUSR1)
    await asyncio.gather(*(pests(server.url, code) for code in codes[:3]))
    await asyncio.sleep(for_s / 2)
    for person in people:
        person.cancel()
    await asyncio.gather(*people, return_exceptions=True)
    return played[0]


def sample(server: Served, began_s: float, played: int) -> Sample:
    """How the server is now."""
    said = server.said().count("tasks: ")
    os.kill(server.pid, signal.SIGUSR2)
    wait_for(lambda: server.said().count("tasks: ") > said, "the server to count its tasks")
    tasks, garbage = map(int, re.findall(r"tasks: (\d+), garbage: (\d+)", server.said())[-1])
    handles = sum(1 for _ in Path(f"/proc/{server.pid}/fd").iterdir())
    return Sample(time.monotonic() - began_s, memory_bytes(server.pid), handles, tasks, garbage, played)


async def soaked(server: Served, tables: int, waves: int, wave_s: float, quiet_s: float) -> list[Sample]:
    """So many waves, the clock leaping in every third; how the server was after each."""
    codes = [await create_table(server.url) for _ in range(tables)]
    samples, began_s = [], time.monotonic()
    for nth in range(waves):
        played = await wave(server, codes, wave_s, nth, leaps=nth % 3 == 1)
        # The pests that say nothing are waited for.
        await asyncio.sleep(quiet_s + PATIENCE_S)
        samples.append(sample(server, began_s, played))
    return samples


def in_all(samples: list[Sample], most_mib: float = MOST_GROWTH_MIB) -> Figure:
    """What the samples come to, the first third being warming up; `most_mib` an hour, or in all where it was less."""
    settled = samples[len(samples) // 3 :]
    first, last = settled[0], settled[-1]
    # Allocators keep what they once had, so it is the lowest of each end that tells.
    third = max(1, len(settled) // 3)
    grown_mib = (min(s.memory for s in settled[-third:]) - min(s.memory for s in settled[:third])) / MIB
    minutes = (last.at_s - first.at_s) / 60
    garbage = max(s.garbage for s in settled)
    stood = sum(one.played == 0 for one in samples)
    more = max(last.handles - first.handles, 0), max(last.tasks - first.tasks, 0)
    text = (
        f"{len(samples)} waves in {samples[-1].at_s / 60:.0f} minutes, clock leaping: memory {grown_mib:+.2f} MiB in "
        f"the last {minutes:.0f} of them ({last.memory / MIB:.0f} MiB), {more[0]} handles and {more[1]} tasks more, "
        f"{garbage} objects of garbage at most, {stood} waves without play"
    )
    return Figure(
        grown_mib / max(minutes / 60, 1) < most_mib
        and more[0] <= SPARE_HANDLES
        and not more[1]
        and garbage < MOST_GARBAGE
        and not stood,
        text,
    )


def soak(folder: Path, tables: int, waves: int, wave_s: float, quiet_s: float = QUIET_S) -> list[Sample]:
    """A server of its own."""
    with served(folder, module="tests.faults.soaked", SLAPJACK_JOIN_TIMEOUT_S=str(PATIENCE_S)) as server:
        return asyncio.run(soaked(server, tables, waves, wave_s, quiet_s))


def row(folder: Path, full: bool) -> Figure:
    """The last long one, when there was one; and a short one now."""
    now = in_all(soak(folder, *((10, 5, 10.0) if full else (2, 3, 1.5, 0.5))), WARMING_MIB)
    if not full:
        return now
    if not RESULT.is_file():
        return Figure(now.kept, f"{now.text}; no long soak yet (make soak)")
    last = json.loads(RESULT.read_text(encoding="utf-8"))
    return Figure(now.kept and last["kept"], f"{now.text}; the last long one: {last['text']}")


def main() -> int:
    """`make soak`: writes its result down."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES
    wave_s = 50.0
    waves = max(6, int(minutes * 60 / (wave_s + QUIET_S + PATIENCE_S)))
    with tempfile.TemporaryDirectory(prefix="slapjack-soak-", ignore_cleanup_errors=True) as folder:
        figure = in_all(soak(Path(folder), 20, waves, wave_s))
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps({"kept": figure.kept, "text": figure.text}), encoding="utf-8")
    print(f"row 19 {'ok' if figure.kept else 'SHORT'} {figure.text}")
    return 0 if figure.kept else 1


if __name__ == "__main__":
    sys.exit(main())
