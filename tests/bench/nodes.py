"""What one room costs each part of a cluster, and what two nodes carry against one.

    python -m tests.bench.nodes [--tables 100] [--window 8] [--rounds 2]

`make cluster` with a load of whole games through the proxy, first with two nodes that have so many tables each and
then, one of them drained, with one. A machine with two cores cannot show two nodes at full speed beside their load, so
both nodes share the first core and all else the second, and what is compared is the processor time that a message
takes: if a node that has a neighbour takes no more for it than one that has none, each core that is added carries as
much as the first.
"""

import argparse
import asyncio
import gc
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import uvloop

from tests.bench.phones import Load, OwnTable, Tally, quantile
from tests.bench.speed import ROOMY, SETTLE_S, cpu_s, memory_kib, most_tables
from tools.cluster import Cluster

CORES = sorted(os.sched_getaffinity(0))
PARTS = ("nodes", "redis", "proxy")
SEATS = 4


@dataclass
class Row:
    """One window: messages that were delivered each second, processor time of each part in µs a delivery, delays."""

    nodes: int
    delivered_per_s: float
    cpu_us: dict[str, float]
    p50_ms: float
    p99_ms: float
    load_pct: float
    errors: dict[str, int]


def pin(pid: int, core: int) -> None:
    """Has a process, with all its threads, work on one core."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {core})


async def window(cluster: Cluster, load: Load, window_s: float) -> Row:
    """What is used while the load plays for so long."""
    pids = {part: cluster.pids(part) for part in PARTS}
    await asyncio.sleep(SETTLE_S)
    load.look()
    gc.collect()
    gc.disable()
    began_s, own_s = time.monotonic(), time.process_time()
    before = {part: sum(map(cpu_s, pids[part])) for part in PARTS}
    await asyncio.sleep(window_s)
    used_s = {part: sum(map(cpu_s, pids[part])) - before[part] for part in PARTS}
    wall_s, own_s = time.monotonic() - began_s, time.process_time() - own_s
    seen: Tally = load.look()
    gc.enable()
    return Row(
        nodes=len(pids["nodes"]),
        delivered_per_s=seen.delivered / wall_s,
        cpu_us={part: each_s / max(1, seen.delivered) * 1e6 for part, each_s in used_s.items()},
        p50_ms=quantile(seen.cards, 0.5) * 1000,
        p99_ms=quantile(seen.cards, 0.99) * 1000,
        load_pct=own_s / wall_s * 100,
        errors=dict(seen.errors),
    )


async def measure(tables: int, window_s: float) -> tuple[list[Row], float]:
    """A window with two nodes of so many tables each, and one with one; and a table's memory in its node, in KiB."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="slapjack-bench-") as folder, Cluster(Path(folder), ROOMY) as cluster:
        cluster.drain("c")
        for part in PARTS:
            for pid in cluster.pids(part):
                pin(pid, CORES[0] if part == "nodes" else CORES[-1])
        pin(os.getpid(), CORES[-1])
        load = Load(cluster.proxy.port, OwnTable)
        before_kib = sum(map(memory_kib, cluster.pids("nodes")))
        await load.bring_to(2 * tables)
        rows.append(await window(cluster, load, window_s))
        room_kib = (sum(map(memory_kib, cluster.pids("nodes"))) - before_kib) / len(load.tables)
        await load.bring_to(0)
        await asyncio.to_thread(cluster.drain, "b")
        await load.bring_to(tables)
        rows.append(await window(cluster, load, window_s))
        await load.bring_to(0)
    return rows, room_kib


def told(rows: list[Row], room_kib: list[float], tables: int) -> str:
    """The figures in words, with the arithmetic."""
    lines = [
        f"{row.nodes} node{'s' * (row.nodes > 1)}: {row.delivered_per_s:,.0f} delivered a second, "
        + ", ".join(f"{part} {us:.1f} µs" for part, us in row.cpu_us.items())
        + f" each; p50 {row.p50_ms:.2f}, p99 {row.p99_ms:.2f} ms; load {row.load_pct:.0f} %"
        + (f"; {row.errors}" if row.errors else "")
        for row in rows
    ]
    two, one = ([row for row in rows if row.nodes == nodes] for nodes in (2, 1))
    each = {part: median(row.cpu_us[part] for row in two) for part in PARTS}
    both_us, alone_us = each["nodes"], median(row.cpu_us["nodes"] for row in one)
    per_room = median(row.delivered_per_s for row in two) / tables / 2
    lines += [
        "",
        f"A room of {SEATS} is told {per_room:.1f} messages a second in all; so it takes of one core",
        *(
            f"  {part}: {us * per_room / 1e4:.3f} %, or {1e6 / us / per_room:,.0f} rooms a core"
            for part, us in each.items()
        ),
        f"and {median(room_kib):.0f} KiB of a node's memory, {median(room_kib) / SEATS:.0f} a person.",
        f"A node with a neighbour takes {both_us:.1f} µs for a message and one without {alone_us:.1f}: "
        f"two carry 2 × {alone_us:.1f} / {both_us:.1f} = {2 * alone_us / both_us:.2f} times as much as one.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measures and tells."""
    parser = argparse.ArgumentParser(description="What a room costs a cluster, and two nodes against one.")
    parser.add_argument("--tables", type=int, default=100, help="for each node")
    parser.add_argument("--window", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args()
    most_tables()  # allows as many open files as the machine gives
    rows: list[Row] = []
    room_kib: list[float] = []
    for _ in range(asked.rounds):
        seen, kib = uvloop.run(measure(asked.tables, asked.window))
        rows += seen
        room_kib.append(kib)
    print(told(rows, room_kib, asked.tables))


if __name__ == "__main__":
    main()
