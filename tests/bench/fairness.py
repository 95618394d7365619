"""`make bench-fairness`: does the truly first hand win? The real server on real sockets, and worlds on a made-up clock.

The harness plays the phones, so it knows the truth; the judge sees what a server can see. Prints the tables and writes
`build/bench/fairness.json`, with each wrong verdict, its evidence and why it was wrong. Real sockets run for honest
phones; the cheats, and the worlds that want thousands of contests, run on the simulated world with the same room, the
same judge and the same phones (`tests/simulation/scenes.py`). About a quarter of an hour on two quiet cores; `--short`
takes three minutes and says less.
"""

import argparse
import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from tests.bench.sockets import Agenda, Table
from tests.simulation import report
from tests.simulation.scenes import ALWAYS, MIX, Scene, cheats, table, worlds
from tests.simulation.world import Judged, World
from tests.support.serving import served

OUT = Path("build/bench/fairness.json")
FIRST_CARDS = 20
"""In so many slap cards a cheat may live on the credit that it came with."""


async def over_sockets(url: str, tables: int, seconds: float) -> list[Judged]:
    """Contests at that many tables of a real server, each on the mixed links with asymmetric paths."""
    shares = (0.5, 0.35, 0.65, 0.5)
    agenda = Agenda()
    playing = [Table(table(MIX, down_shares=shares), seed, agenda) for seed in range(tables)]
    tasks = []
    for each in playing:
        tasks.append(asyncio.create_task(each.play(url)))
        await asyncio.sleep(0.1)  # as they come, so that the tables are out of step
    for passed in range(int(seconds)):
        await asyncio.sleep(1)
        if passed % 30 == 29:
            print(f"  … {passed + 1} s, {sum(len(each.judged) for each in playing)} contests", flush=True)
    for task in tasks:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        if not isinstance(outcome, asyncio.CancelledError):
            print(f"  a table ended: {outcome!r}", file=sys.stderr)
    return [judged for each in playing for judged in each.judged]


Job = tuple[Scene, int, int]
"""A scene, the seed of its chance, and how many contests are wanted."""


def simulate(job: Job) -> tuple[Scene, list[Judged], int, int, list[int]]:
    """Its contests, the seat of the phone that is looked at, how many hands came too late, and who was flagged."""
    scene, seed, contests = job
    world = World(scene.players, seed, direct=scene.direct)
    judged = world.run(contests)
    chairs = world.room.state.seats.chairs
    seat = next(seat for seat, chair in enumerate(chairs) if chair.conn == scene.at)
    flagged = [seat for seat, chair in enumerate(chairs) if chair.detector.flagged]
    return scene, judged, seat, world.room.late_winners, flagged


def print_rules(name: str, contests: Sequence[Judged]) -> None:
    """The table of docs/fairness.md for these contests."""
    near = report.close(contests)
    print(f"\n{name}: {len(contests)} contests")
    print(f"  {'rule':36} {'truly first hand wins':34} in gaps under 20 ms")
    for rule in report.RULES:
        print(f"  {rule:36} {report.right(contests, rule)!s:34} {report.right(near, rule)}")
    waits = " / ".join(f"{report.wait_ms(contests, share):.0f}" for share in (0.5, 0.95, 1.0))
    floors = " / ".join(f"{report.floor_ms(contests, share):.0f}" for share in (0.5, 0.95, 1.0))
    print(f"  verdict after the first hand: {waits} ms (median / p95 / longest)")
    print(f"  the floor, when nobody can know sooner: {floors} ms")
    print(f"  {wait_over_floor(contests):.2f} times the floor; reveal spread p95 {report.spread_ms(contests):.1f} ms")
    print(f"  claims corrected by over 5 ms: {report.corrected(contests)}")
    print(f"  shares {', '.join(f'{share.pct:.1f} %' for share in report.shares(contests))}")
    by_body, perfect = (report.body_right(contests, rule) for rule in (report.RULES["the dealer"], report.truly_first))
    print(f"  by the finger, touch panels included: {by_body}; a perfect judge of the stamps: {perfect}")
    print(f"  wrong: {dict(Counter(report.why_wrong(judged) for judged in report.wrong(contests))) or 'none'}")


def wait_over_floor(contests: Sequence[Judged]) -> float:
    """The median wait for a verdict, in medians of what nobody can save."""
    return report.wait_ms(contests) / max(1e-9, report.floor_ms(contests))


def fair_share(scene: Scene) -> float:
    """In per cent, among those who slap."""
    return 100 / sum(not player.liar.absent for player in scene.players)


def points(scene: Scene, contests: Sequence[Judged], seat: int) -> tuple[float, float, float]:
    """What that seat wins over its fair share, with the 95 % interval."""
    share, fair = report.shares(contests)[seat], fair_share(scene)
    low, high = share.interval
    return share.pct - fair, low - fair, high - fair


def wrong_verdicts(name: str, contests: Sequence[Judged]) -> list[dict[str, Any]]:
    """Each with its evidence, for whoever asks why."""
    return [
        {
            "world": name,
            "why": report.why_wrong(judged),
            "truths": [asdict(truth) for truth in judged.truths],
            "verdict": to_builtins(judged.verdict),
            "evidence": to_builtins(judged.evidence),
        }
        for judged in report.wrong(contests)
    ]


def main() -> None:
    """Runs everything and writes the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="within three minutes")
    parser.add_argument("--tables", type=int, default=48, help="tables at the real server")
    parser.add_argument("--seconds", type=float, default=240, help="how long they play")
    parser.add_argument("--contests", type=int, default=1500, help="contests in each simulated world")
    options = parser.parse_args()
    if options.short:
        options.tables, options.seconds, options.contests = 24, 40, 120
    began = time.monotonic()

    print(f"the real server, {options.tables} tables for {options.seconds:.0f} s", flush=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), module="server", SLAPJACK_MESSAGES_PER_S="1000", SLAPJACK_MESSAGE_BURST="1000") as server,
    ):
        real = asyncio.run(over_sockets(server.url, options.tables, options.seconds))
    print_rules("real sockets, 15/40/90/220 ms, paths 35-65 % asymmetric", real)

    wrong = wrong_verdicts("real sockets", real)
    honest: dict[str, dict[str, Any]] = {}
    cheating: dict[str, float] = {}
    scenes = [*worlds(), *cheats()]
    print(f"\n{len(scenes)} worlds on a made-up clock", flush=True)
    jobs: list[Job] = [(scene, 100 + number, options.contests) for number, scene in enumerate(scenes)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for scene, contests, seat, late, flagged in pool.imap(simulate, jobs):
            if "@" in scene.name:
                over, low, high = points(scene, contests, seat)
                first = points(scene, contests[:FIRST_CARDS], seat)[0]
                cheating[scene.name] = over
                mark = "told" if seat in flagged else ""
                print(
                    f"  {scene.name:84} {over:+5.1f} [{low:+.1f}, {high:+.1f}], first {FIRST_CARDS}: {first:+.0f}, "
                    f"ahead {report.ahead_ms(contests, seat):.0f} ms {mark}",
                    flush=True,
                )
                continue
            wrong += wrong_verdicts(scene.name, contests)
            honest[scene.name] = {
                "right_pct": report.right(contests).pct,
                "wait_ms": report.wait_ms(contests),
                "wait_over_floor": wait_over_floor(contests),
                "corrected_pct": report.corrected(contests).pct,
                "late_winners": late,
                "flagged": len(flagged),
                "shares_pct": [share.pct for share in report.shares(contests)],
            }
            print_rules(scene.name, contests)
            print(f"  hands too late for a verdict that was theirs: {late}; phones flagged: {len(flagged)}", flush=True)

    near = report.close(real)
    summary = {
        "right_pct": report.right(real).pct,
        "right_close_pct": report.right(near).pct,
        "wait_over_floor": wait_over_floor(real),
        "cheat_worst_points": max(v for name, v in cheating.items() if not name.startswith(ALWAYS)),
        "always_worst_points": max(v for name, v in cheating.items() if name.startswith(ALWAYS)),
        "worst_world_right_pct": min(world["right_pct"] for world in honest.values()),
        "late_winners": sum(world["late_winners"] for world in honest.values()),
        "contests": len(real),
        "close_contests": len(near),
        "first_received_pct": report.right(real, "first message received").pct,
        "mix_spread_ms": report.spread_ms(real),
        "corrected_pct": report.corrected(real).pct,
        "worlds": honest,
        "cheats": cheating,
    }
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps({"summary": summary, "wrong": wrong}, indent=2) + "\n", encoding="utf-8")
    print(f"\n{json.dumps(summary, indent=2)}\nwritten to {OUT} after {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
