"""Row 13: the simulated world in storms: one writer an epoch, nothing told is lost, everybody sees the same."""

import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from engine.value import Value
from tests.faults.figure import Figure
from tests.simulation.storms import weather

STORMS = 10_000
FIRST = 1_000
"""The first seed; those below are for the tests."""
MOST_S = 220.0
"""A busy machine tries fewer."""
GROUP = 25


class Lived(Value):
    """What some storms have come to."""

    storms: int
    cards: int
    faults: dict[str, int]
    wrong: list[str]


def lived(seeds: range) -> Lived:
    """Lives through the storms of these seeds."""
    cards, faults, wrong = 0, Counter[str](), []
    for seed in seeds:
        try:
            storm = weather(seed)
        except Exception as broken:
            wrong.append(f"seed {seed}: {type(broken).__name__}: {str(broken)[:300]}")
        else:
            cards += storm.told
            faults += storm.faults
    return Lived(len(seeds), cards, dict(faults), wrong)


def in_all(parts: list[Lived]) -> Figure:
    """The figure of all of them."""
    faults: Counter[str] = Counter()
    for part in parts:
        faults += Counter(part.faults)
    wrong = [each for part in parts for each in part.wrong]
    named = ", ".join(f"{times} × {fault.replace('_', ' ')}" for fault, times in faults.most_common())
    text = (
        f"{sum(part.storms for part in parts)} storms, {sum(part.cards for part in parts)} cards under {named}: "
        f"{len(wrong)} broken"
    )
    return Figure(not wrong, "; ".join([text, *wrong[:3]]))


def row(_: Path, full: bool) -> Figure:
    """Seeds that no test has; on both processors, for no longer than there is time."""
    if not full:
        return in_all([lived(range(FIRST, FIRST + 20))])
    parts: list[Lived] = []
    began_s = time.monotonic()
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for part in pool.map(lived, [range(at, at + GROUP) for at in range(FIRST, FIRST + STORMS, GROUP)]):
            parts.append(part)
            if time.monotonic() - began_s > MOST_S:
                pool.shutdown(cancel_futures=True)
                break
    return in_all(parts)
