"""The estimate of the room's clock (P8), against links and clocks whose truth is known."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import pytest

from clients.sdk import Exchange, RoomClock

START_US = 7_000_000_000


@dataclass(frozen=True)
class Case:
    """Exchanges over ways up and down drawn by `ways_us`, and the clock that the room has, `room_us`."""

    name: str
    room_us: Callable[[int], float]
    ways_us: Callable[[Random, int], tuple[float, float]]
    exchanges: int
    off_by_us: float
    every_us: int = 2_500_000
    drift: float = 0.0


def steady(now_us: int) -> float:
    return now_us + 123_456_789


def drifting(now_us: int) -> float:
    return now_us * (1 + 80e-6) + 5_000


def long_ago(now_us: int) -> float:
    return now_us - 4_000_000_000


def jitter(low_us: float, most_us: float) -> Callable[[Random, int], tuple[float, float]]:
    return lambda rng, nth: (low_us + rng.random() * most_us, low_us + rng.random() * most_us)


def mostly_stalled(rng: Random, nth: int) -> tuple[float, float]:
    return (20_000 + 200_000 * rng.random(), 20_000) if nth % 8 != 2 else (20_000, 20_000)


def slower_way_from_20(rng: Random, nth: int) -> tuple[float, float]:
    return (5_000, 5_000) if nth < 20 else (50_000, 50_000)


CASES = [
    Case("one exchange", steady, lambda rng, nth: (40_000, 40_000), 1, 1),
    Case("a steady way", steady, lambda rng, nth: (40_000, 40_000), 30, 1),
    Case("a room's clock behind ours", long_ago, lambda rng, nth: (3_000, 3_000), 30, 1),
    Case("a good exchange among stalls", steady, mostly_stalled, 30, 1_000),
    Case("jitter of 25 ms", steady, jitter(20_000, 25_000), 48, 4_000),
    Case("drift", drifting, jitter(5_000, 200), 48, 300, drift=80e-6),
    Case("drift under jitter", drifting, jitter(10_000, 15_000), 48, 4_000),
    Case("the first burst shows no drift", steady, jitter(10_000, 10_000), 5, 6_000, every_us=200_000),
    Case("a way that grows slower", steady, slower_way_from_20, 60, 1),
]


def estimate(case: Case, seed: int) -> tuple[RoomClock, int]:
    rng = Random(seed)
    clock = RoomClock()
    now_us = START_US
    for nth in range(case.exchanges):
        up_us, down_us = case.ways_us(rng, nth)
        sent_us = now_us
        heard_us = round(sent_us + up_us + down_us)
        clock = clock.learned(Exchange(sent_us, round(case.room_us(round(sent_us + up_us))), heard_us))
        now_us = max(heard_us, now_us + case.every_us)
    return clock, now_us


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_estimate_is_as_near_as_the_links_allow(case: Case) -> None:
    for seed in range(20):
        clock, now_us = estimate(case, seed)
        assert abs(clock.room_us(now_us) - case.room_us(now_us)) <= case.off_by_us + 1
        assert abs(clock.own_us(clock.room_us(now_us)) - now_us) <= 1


def test_drift_is_followed_between_exchanges() -> None:
    case = next(case for case in CASES if case.name == "drift")
    clock, now_us = estimate(case, seed=1)
    assert clock.drift == pytest.approx(80e-6, abs=10e-6)
    later_us = now_us + 30_000_000
    assert abs(clock.room_us(later_us) - case.room_us(later_us)) < 600


def test_path_asymmetry_cannot_be_seen() -> None:
    """20 ms up and 80 ms down look like 50 and 50: half the difference stays in the offset."""
    case = Case("asymmetric", steady, lambda rng, nth: (20_000, 80_000), 30, 0)
    clock, now_us = estimate(case, seed=1)
    assert clock.room_us(now_us) - steady(now_us) == pytest.approx(-30_000, abs=1)


@pytest.mark.parametrize("jump_us", [3_600_000_000, -3_600_000_000, 200_000])
def test_a_jump_of_a_clock_is_believed_at_the_first_exchange_after_it(jump_us: int) -> None:
    """A machine that slept, or another server: the earlier exchanges are worth nothing."""
    case = Case("before", steady, jitter(20_000, 25_000), 48, 0)
    clock, now_us = estimate(case, seed=1)
    clock = clock.learned(Exchange(now_us, round(steady(now_us + 30_000)) + jump_us, now_us + 60_000))
    assert clock.room_us(now_us) - steady(now_us) == pytest.approx(jump_us, abs=1)
    assert len(clock.exchanges) == 1


def test_the_shortest_recent_round_trip_is_known() -> None:
    assert RoomClock().rtt_us == 0
    clock, _ = estimate(Case("growing", steady, lambda rng, nth: (5_000 + nth * 100, 5_000), 100, 0), seed=1)
    assert clock.rtt_us == 10_000 + 52 * 100
