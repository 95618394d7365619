"""Times the dealer judge alone, in microseconds of processor time a slap.

    python -m tests.bench.judge_speed

A contest of four: each hand is weighed from its evidence and heard, three pongs of each phone move its watermark, after
each of them it is asked when the verdict can be given, and then it is given. The luck is drawn beforehand.
"""

import argparse
import platform
import random
import time
from statistics import median

from engine.game import Seat
from server.judge import judge
from server.judge.standing import CREDIT_START_US

SEATS = 4
PONGS = 3
CASES = 512
SHOWN_US = 1_000_000_000

Case = list[tuple[judge.Evidence, list[int]]]
"""The hands of one contest in the order of their arrival, and the watermarks of each seat."""


def drawn(rng: random.Random) -> Case:
    """A contest between phones with round trips of 5 to 120 ms."""
    case: Case = []
    for seat in range(SEATS):
        rtt_us, reaction_us = rng.randrange(5_000, 120_000), rng.randrange(250_000, 900_000)
        evidence = judge.Evidence(
            seat=Seat(seat),
            claimed_us=reaction_us,
            shown_us=SHOWN_US,
            arrived_us=SHOWN_US + reaction_us + rtt_us // 2,
            rtt_us=rtt_us,
            answered_us=SHOWN_US + reaction_us - rtt_us // 2 - rng.randrange(judge.PING_US),
            credit_us=CREDIT_START_US,
            late_us=rng.randrange(judge.FRAME_US),
        )
        case.append((evidence, sorted(rng.randrange(200_000, 900_000) for _ in range(PONGS))))
    return sorted(case, key=lambda hand: hand[0].arrived_us)


def judged(case: Case) -> None:
    """One contest from its first hand to its verdict."""
    contest = judge.Contest(nth=1, shown_us=SHOWN_US, rivals=frozenset(Seat(seat) for seat in range(SEATS)))
    for evidence, watermarks in case:
        contest = contest.hear(judge.weigh(evidence), evidence.arrived_us)
        for mark_us in watermarks:
            contest = contest.raise_watermark(evidence.seat, mark_us)
            contest.closes_us(evidence.arrived_us)
    assert contest.verdict(1, case[-1][0].arrived_us, lambda n: 0) is not None


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(prog="judge_speed", description="Time the dealer judge.")
    options.add_argument("--seconds", type=float, default=1.0, help="how long one run lasts")
    options.add_argument("--runs", type=int, default=5, help="how many runs there are")
    chosen = options.parse_args()
    rng = random.Random(1)
    cases = [drawn(rng) for _ in range(CASES)]
    each_us = []
    for _ in range(chosen.runs):
        contests = 0
        began_s = time.process_time()
        while (took_s := time.process_time() - began_s) < chosen.seconds:
            for case in cases:
                judged(case)
            contests += CASES
        each_us.append(took_s / contests / SEATS * 1e6)
    print(f"the judge, {SEATS} hands a contest, {platform.python_implementation()} {platform.python_version()}")
    print(f"us_per_slap={median(each_us):.1f} least={min(each_us):.1f} most={max(each_us):.1f}")


if __name__ == "__main__":
    main()
