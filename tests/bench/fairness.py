"""`make bench-fairness`: does the truly first hand win? The real server on real sockets, and worlds on a made-up clock.

The harness plays the phones, so it knows the truth; the judge sees what a server can see. Prints the tables and writes
`build/bench/fairness.json`. Real sockets run for honest phones; the liars, and the variants that want thousands of
contests, run on the simulated world with the same room, the same judge and the same phones.
"""

import argparse
import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench.sockets import Agenda, Table
from tests.simulation import report
from tests.simulation.links import Network
from tests.simulation.phones import HONEST, Device, Human, Liar
from tests.simulation.world import Judged, Player, World
from tests.support.serving import served

MIX = ((15, 3), (40, 6), (90, 12), (220, 25))
"""Round trip and jitter in ms of the four phones at the table of docs/fairness.md."""

SIX = ((15, 3), (40, 6), (90, 12), (150, 15), (220, 25), (300, 25))
LIARS_TABLE = ((30, 4), (40, 6), (90, 12), (180, 20))
WIFI = ((6, 3), (6, 3), (6, 3), (6, 3))
KEEN = Human(spread_ms=60)
"""People who are nearly alike: more close calls than at any real table."""

LIARS = {
    "honest": HONEST,
    "lies by 10 ms": Liar(lie_ms=10),
    "lies by 40 ms": Liar(lie_ms=40),
    "lies by 100 ms": Liar(lie_ms=100),
    "lies by 250 ms": Liar(lie_ms=250),
    "claims the floor": Liar(claim_ms=101),
    "lies about the paint": Liar(paint_ms=60),
    "delays its clock-sync by 200 ms": Liar(sync_delay_ms=200, lie_ms=100),
    "never says that it has no hand": Liar(mute=True, lie_ms=100),
    "delays its pongs by 100 ms": Liar(pong_delay_ms=100, lie_ms=150),
}
PONG_DELAYER = "delays its pongs by 100 ms"
SEEN = "delays pongs, the kernel sees the phone"
OUT = Path("build/bench/fairness.json")


def table(
    links: Sequence[tuple[float, float]],
    *,
    human: Human = KEEN,
    stalled: float = 0.0,
    jank: float = 0.0,
    down_shares: Sequence[float] = (0.5,),
    liar: Liar = HONEST,
    liar_at: int = 0,
) -> list[Player]:
    """People at these links, one of them perhaps a liar."""
    return [
        Player(
            Network(rtt_ms, jitter_ms, down_shares[number % len(down_shares)], stalled),
            human,
            liar if number == liar_at else HONEST,
            Device(busy=jank),
        )
        for number, (rtt_ms, jitter_ms) in enumerate(links)
    ]


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


Job = tuple[str, list[Player], int, int, int, bool]


def simulate(job: Job) -> tuple[str, list[Judged], int, int]:
    """One world; gives its name, its contests, the seat of phone number `watched`, and its late winners."""
    name, players, seed, contests, watched, direct = job
    world = World(players, seed, direct=direct)
    judged = world.run(contests)
    seat = next(seat for seat, chair in enumerate(world.room.state.seats.chairs) if chair.conn == watched)
    return name, judged, seat, world.room.late_winners


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


def wait_over_floor(contests: Sequence[Judged]) -> float:
    """The median wait for a verdict, in medians of what nobody can save."""
    return report.wait_ms(contests) / max(1e-9, report.floor_ms(contests))


def main() -> None:
    """Runs everything and writes the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=48, help="tables at the real server")
    parser.add_argument("--seconds", type=float, default=260, help="how long they play")
    parser.add_argument("--contests", type=int, default=1500, help="contests in each simulated world")
    options = parser.parse_args()
    began = time.monotonic()

    print(f"the real server, {options.tables} tables for {options.seconds:.0f} s", flush=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), module="server", SLAPJACK_MESSAGES_PER_S="1000", SLAPJACK_MESSAGE_BURST="1000") as server,
    ):
        real = asyncio.run(over_sockets(server.url, options.tables, options.seconds))
    print_rules("real sockets, 15/40/90/220 ms, paths 35-65 % asymmetric", real)

    n = options.contests
    jobs: list[Job] = [
        ("mixed links", table(MIX), 1, 2 * n, 0, False),
        ("six players up to 300 ms", table(SIX), 2, n, 0, False),
        ("2 % stalls of up to 200 ms and 2 % jank", table(MIX, stalled=0.02, jank=0.02), 3, n, 0, False),
        ("20/80 asymmetric paths", table(((100, 8),) * 4, down_shares=(0.2, 0.8, 0.5, 0.5)), 4, 2 * n, 0, False),
        ("one Wi-Fi", table(WIFI), 5, n // 2, 0, False),
    ]
    jobs += [
        (f"{name} @ {LIARS_TABLE[at][0]} ms", _liars(liar, at), 6 + at, n, at, direct)
        for name, liar, direct in [*((*each, False) for each in LIARS.items()), (SEEN, LIARS[PONG_DELAYER], True)]
        for at in (0, 3)
    ]
    worlds: dict[str, list[Judged]] = {}
    liars: dict[str, float] = {}
    late_winners = 0
    print(f"\n{len(jobs)} worlds on a made-up clock", flush=True)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for name, contests, seat, turned in pool.imap(simulate, jobs):
            if "@" in name:
                share = report.shares(contests)[seat]
                liars[name] = share.pct - 25
                low, high = share.interval
                over = f"{share.pct - 25:+5.1f} points over its fair share [{low - 25:+.1f}, {high - 25:+.1f}]"
                print(f"  {name:44} {over}", flush=True)
            else:
                worlds[name] = contests
                late_winners += turned
                print_rules(name, contests)
                sys.stdout.flush()

    near = report.close(real)
    summary = {
        "right_pct": report.right(real).pct,
        "right_close_pct": report.right(near).pct,
        "wait_over_floor": wait_over_floor(real),
        "liar_worst_points": max(points for name, points in liars.items() if PONG_DELAYER not in name),
        "pong_delayer_worst_points": max(points for name, points in liars.items() if PONG_DELAYER in name),
        "late winners": late_winners,
        "contests": len(real),
        "close_contests": len(near),
        "first_received_pct": report.right(real, "first message received").pct,
        "simulated_right_pct": report.right(worlds["mixed links"]).pct,
        "six_right_pct": report.right(worlds["six players up to 300 ms"]).pct,
        "stalls_right_pct": report.right(worlds["2 % stalls of up to 200 ms and 2 % jank"]).pct,
        "wifi_spread_ms": report.spread_ms(worlds["one Wi-Fi"]),
        "mix_spread_ms": report.spread_ms(real),
        "corrected_pct": report.corrected(real).pct,
        "liars": liars,
    }
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps({"summary": summary}, indent=2) + "\n", encoding="utf-8")
    print(f"\n{json.dumps(summary, indent=2)}\nwritten to {OUT} after {time.monotonic() - began:.0f} s")


def _liars(liar: Liar, at: int) -> list[Player]:
    return table(LIARS_TABLE, human=Human(), stalled=0.02, jank=0.02, liar=liar, liar_at=at)


if __name__ == "__main__":
    main()
