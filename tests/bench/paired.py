"""What a change has gained: our server from two checkouts in turn under the same load, by CPU per delivered message.

    python -m tests.bench.paired BEFORE [AFTER] [--tables 300] [--rounds 5] [--unkept]

Both are folders with a whole checkout, such as `git archive` makes. The ratio is that of the two medians; beside it is
the ratio of each round, whose spread says what it is worth.
"""

import argparse
import asyncio
import os
from dataclasses import replace
from pathlib import Path
from statistics import median

import uvloop

from tests.bench.phones import Load
from tests.bench.speed import CONTESTANTS, LOAD_CORE, ROOT, Bench, Row, running


async def one(root: Path, name: str, tables: int, window_s: float, seed: int) -> Row:
    """A fresh server from that checkout, and one window."""
    contestant = replace(next(c for c in CONTESTANTS if c.name == name), root=root)
    with running(contestant) as (port, pid, store_pid):
        load = Load(port, contestant.table, seed=seed)
        bench = Bench(load, pid, store_pid, window_s, lambda text: print(f"{root.name:16} {text}", flush=True))
        row = await bench.at(tables)
        await load.bring_to(0)
        await asyncio.sleep(0)
    return row


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(prog="paired", description="Two checkouts of our server in turn.")
    options.add_argument("before", type=Path)
    options.add_argument("after", type=Path, nargs="?", default=ROOT)
    options.add_argument("--tables", type=int, default=300)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--window", type=float, default=4.0)
    options.add_argument("--unkept", action="store_true", help="without the journal")
    chosen = options.parse_args()
    os.sched_setaffinity(0, {LOAD_CORE})
    name = "unkept" if chosen.unkept else "own"
    costs: dict[Path, list[float]] = {chosen.before.resolve(): [], chosen.after.resolve(): []}
    for number in range(chosen.rounds):
        for root, seen in costs.items() if number % 2 else reversed(costs.items()):
            seen.append(uvloop.run(one(root, name, chosen.tables, chosen.window, number)).cpu_us)
    before, after = costs.values()
    rounds = " ".join(f"{b / a:.2f}" for b, a in zip(after, before, strict=True))
    print(f"after / before = {median(after) / median(before):.3f}   (rounds: {rounds})")


if __name__ == "__main__":
    main()
