"""How our server's costs grow, what it does when it is full, and how soon it is there: `make bench-curves`.

    python -m tests.bench.curves [--only rooms,seats,watchers,memory,full,start] [--window 4]

The workload, the cores and the store are those of tests/bench/speed.py. The figures go to build/bench/curves.json;
`python -m tests.bench.page` makes docs/speed.md of them.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import uvloop

from server.store.embedded import EmbeddedStore
from tests.bench.phones import Load, OwnTable, Table, posted, quantile
from tests.bench.speed import (
    CONTESTANTS,
    LOAD_CORE,
    ROOMY,
    ROOT,
    SERVER_CORE,
    Bench,
    IdleTable,
    Row,
    listens,
    memory_kib,
    most_tables,
    running,
)
from tools.ports import lasting_port

OUT = ROOT / "build" / "bench" / "curves.json"
OWN = next(contestant for contestant in CONTESTANTS if contestant.name == "own")
ROOMS = (50, 100, 200, 400, 800, 1200)
SEATS = (2, 4, 6, 8, 10)
WATCHERS = (0, 25, 50, 100, 200)
PHONES = 800
"""So many phones sit at all tables together, however many sit at one."""
WATCHED_TABLES = 10
RESTORED = 1000
STARTS = 5
AT_ONCE = 100
"""So many tables come back at the same time."""
OVER = 1.6
"""How many times what it takes a server is asked for."""

Figures = dict[str, Any]


def say(text: str) -> None:
    """Progress, as it is made."""
    print(text, flush=True)


def table_with(seats: int, watching: int = 0) -> type[Table]:
    """A kind of table with so many at it."""
    return type("TableWith", (OwnTable,), {"seats": seats, "watching": watching})


async def windows(kind: type[Table], steps: Sequence[int], window_s: float, name: str) -> list[Row]:
    """One server, and a window with each number of tables; ends where the server is full."""
    rows = []
    with running(OWN) as (port, pid, store_pid):
        bench = Bench(Load(port, kind), pid, store_pid, window_s, lambda text: say(f"{name:9} {text}"))
        for tables in steps:
            rows.append(await bench.at(tables))
            if rows[-1].tables < tables:
                break
        await bench.load.bring_to(0)
    return rows


def _point(row: Row) -> Figures:
    return {
        "tables": row.tables,
        "cpu_us": row.cpu_us,
        "server_pct": row.server_pct,
        "p50_ms": row.p50_ms,
        "p99_ms": row.p99_ms,
        "verdict_p50_ms": row.verdict_p50_ms,
        "verdict_p99_ms": row.verdict_p99_ms,
        "wait_p50_ms": row.wait_p50_ms,
        "errors": row.errors,
    }


async def rooms(window_s: float) -> Figures:
    """Cost, and delays of cards and verdicts, against the number of tables of four."""
    return {"points": [_point(row) for row in await windows(OwnTable, ROOMS, window_s, "rooms")]}


async def seats(window_s: float) -> Figures:
    """Cost against the people at a table, with as many people in all."""
    points = []
    for number in SEATS:
        (row,) = await windows(table_with(number), (PHONES // number,), window_s, f"{number} seats")
        points.append({"seats": number, **_point(row)})
    return {"points": points}


async def watchers(window_s: float) -> Figures:
    """Cost against how many look on at each of a few tables."""
    points = []
    for number in WATCHERS:
        kind = table_with(4, number)
        (row,) = await windows(kind, (WATCHED_TABLES,), window_s, f"{number} look on")
        points.append({"watchers": number, **_point(row)})
    return {"points": points}


async def memory(window_s: float) -> Figures:
    """What a socket that says nothing, somebody who plays and a table that sleeps take of the server's memory."""
    with running(OWN) as (port, pid, _):
        idle = Load(port, IdleTable)
        await idle.bring_to(25)
        before_kib = memory_kib(pid)
        await idle.bring_to(225)
        await asyncio.sleep(1)
        idle_kib = (memory_kib(pid) - before_kib) / (200 * IdleTable.watching)
    with running(OWN) as (port, pid, _):
        playing = Load(port, OwnTable)
        await playing.bring_to(25)
        await asyncio.sleep(window_s)
        before_kib = memory_kib(pid)
        await playing.bring_to(225)
        await asyncio.sleep(window_s)
        player_kib = (memory_kib(pid) - before_kib) / (200 * OwnTable.seats)
        await playing.bring_to(0)
    with running(OWN) as (port, pid, _):
        for _ in range(100):
            await posted(port, "/api/tables")
        before_kib = memory_kib(pid)
        for _ in range(1000):
            await posted(port, "/api/tables")
        asleep_kib = (memory_kib(pid) - before_kib) / 1000
    say(f"memory    {idle_kib:.1f} KiB a socket, {player_kib:.1f} a player all told, {asleep_kib:.2f} a sleeping table")
    return {"idle_socket_kib": idle_kib, "player_kib": player_kib, "sleeping_table_kib": asleep_kib}


async def full(window_s: float) -> Figures:
    """Ever more tables are asked for, beyond what the server carries: how many it lets in and how those fare."""
    points: list[Figures] = []
    with running(OWN) as (port, pid, store_pid):
        load = Load(port, OwnTable)
        bench = Bench(load, pid, store_pid, window_s, lambda text: say(f"full      {text}"))
        asked, knee = 200, 0
        while not knee or asked <= knee * OVER:
            row = await bench.at(asked)
            points.append({"asked": asked, "refused": load.refused, **_point(row)})
            if row.tables < asked and not knee:
                knee = row.tables
            if asked >= most_tables():
                break
            asked = round(asked * 1.2)
        await load.bring_to(0)
    return {"points": points}


# --- how soon it is there ----------------------------------------------------------------------------------------


async def _until(done: Callable[[], Awaitable[bool]], within_s: float) -> None:
    deadline_s = time.monotonic() + within_s
    while not await done():
        if time.monotonic() > deadline_s:
            raise TimeoutError("the server did not come up")
        await asyncio.sleep(0.002)


def _served(port: int, **environ: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "server"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **ROOMY, "SLAPJACK_PORT": str(port), **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}),
    )


async def cold_start() -> float:
    """Seconds from nothing, no store either, until somebody sits at a first table."""
    port = lasting_port()
    with tempfile.TemporaryDirectory(prefix="slapjack-bench-") as folder:
        began_s = time.monotonic()
        process = _served(port, SLAPJACK_DATA=folder, REDIS_URL="")
        try:
            await _until(lambda: asyncio.sleep(0, listens(port)), 20)
            load = Load(port, table_with(1))
            table = load.fresh()
            assert isinstance(table, OwnTable)
            await table.come()
            return time.monotonic() - began_s
        finally:
            process.terminate()
            process.wait(10)


async def restored(tables: int) -> Figures:
    """A server with so many running games is killed and started again, and all phones come back at once."""
    with tempfile.TemporaryDirectory(prefix="slapjack-bench-") as folder:
        store = EmbeddedStore(Path(folder), fsync="everysec")
        port = lasting_port()
        process = _served(port, REDIS_URL=store.url)
        try:
            await _until(lambda: asyncio.sleep(0, listens(port)), 20)
            load = Load(port, OwnTable)
            await load.bring_to(tables)
            await asyncio.sleep(2)
            left = [(table.code, table.keys) for table in load.tables if isinstance(table, OwnTable)]
            process.send_signal(signal.SIGKILL)
            process.wait()
            began_s = time.monotonic()
            process = _served(port, REDIS_URL=store.url)
            await _until(lambda: asyncio.sleep(0, listens(port)), 20)
            listening_s = time.monotonic() - began_s
            back = Load(port, OwnTable)
            places = asyncio.Semaphore(AT_ONCE)
            took_s: list[float] = []

            async def come_back(code: str, keys: Sequence[str]) -> None:
                table = back.fresh()
                assert isinstance(table, OwnTable)
                async with places:
                    await table.come_back(code, keys)
                took_s.append(time.monotonic() - began_s)
                back.tables.append(table)

            await asyncio.gather(*(come_back(code, keys) for code, keys in left))
            await asyncio.sleep(1)
            back.look()
            await asyncio.sleep(2)
            seen = back.look()
            found = {
                "tables": len(left),
                "listening_s": listening_s,
                "half_s": quantile(took_s, 0.5),
                "all_s": max(took_s),
                "cards_per_s": len(seen.cards) / 2 / OwnTable.seats,
                "errors": dict(seen.errors),
            }
            say(f"start     {found}")
            return found
        finally:
            process.terminate()
            process.wait(20)
            store.stop()


async def start(_: float) -> Figures:
    """Cold starts, and a start after kill -9 in the middle of a thousand games."""
    colds_s = [await cold_start() for _ in range(STARTS)]
    say(f"start     cold in {median(colds_s):.2f} s (at most {max(colds_s):.2f})")
    return {"cold_s": median(colds_s), "cold_at_most_s": max(colds_s), "restored": await restored(RESTORED)}


MEASURES: dict[str, Callable[[float], Awaitable[Figures]]] = {
    "rooms": rooms,
    "seats": seats,
    "watchers": watchers,
    "memory": memory,
    "full": full,
    "start": start,
}


def main() -> None:
    """Measures what was asked for, and keeps what was measured before of the rest."""
    options = argparse.ArgumentParser(prog="curves", description="How our server's costs grow.")
    options.add_argument("--only", default=",".join(MEASURES), help="which, with commas between")
    options.add_argument("--window", type=float, default=4.0, help="seconds of each window")
    chosen = options.parse_args()
    os.sched_setaffinity(0, {LOAD_CORE})
    most_tables()
    OUT.parent.mkdir(parents=True, exist_ok=True)
    figures = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
    for name in chosen.only.split(","):
        figures[name] = uvloop.run(MEASURES[name](chosen.window))  # type: ignore[arg-type]
        OUT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    say(f"written to {OUT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
