"""What judged contests say: who should have won, who did under which rule, and how long it took."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

from server.judge.judge import PATH_CAP_US
from tests.simulation.phones import Truth
from tests.simulation.world import Judged

CLOSE_US = 20_000
CORRECTED_US = 5_000


def first_of(truths: Sequence[Truth], key: Callable[[Truth], float | None]) -> int:
    """The seat that is first by `key`; what has none is last."""
    return min(range(len(truths)), key=lambda seat: _or_never(key(truths[seat])))


def truly_first(judged: Judged) -> int:
    """The seat whose hand was first after its owner saw the card, whoever heard of it."""
    return first_of(judged.truths, lambda truth: truth.reaction_us)


def gap_us(judged: Judged) -> int:
    """By how much the first hand was before the second."""
    first, second = sorted(truth.reaction_us for truth in judged.truths)[:2]
    return second - first


def _or_never(value: float | None) -> float:
    return float("inf") if value is None else value


def _minus_rtt(judged: Judged, share: float) -> int:
    arrivals = [
        _or_never(truth.arrived_us) - rtt * share for truth, rtt in zip(judged.truths, judged.rtts_us, strict=True)
    ]
    return arrivals.index(min(arrivals))


RULES: dict[str, Callable[[Judged], int | None]] = {
    "first message received": lambda j: first_of(j.truths, lambda truth: truth.arrived_us),
    "arrival minus half the round trip": lambda j: _minus_rtt(j, 0.5),
    "arrival minus the round trip": lambda j: _minus_rtt(j, 1.0),
    "synchronised absolute stamps": lambda j: first_of(j.truths, lambda truth: truth.stamp_us),
    "the dealer": lambda j: j.verdict.winner,
}
"""The rules that are held against each other on the same contests."""


def floor_us(judged: Judged) -> float:
    """How long after the first hand arrived nobody could yet know who was first: a rival's silence up to the leading
    reaction takes its usual way up to be heard of."""
    leader = judged.truths[truly_first(judged)]
    known_us = max(truth.painted_us + leader.reaction_us + truth.usual_up_us for truth in judged.truths)
    first_us = min(_or_never(truth.arrived_us) for truth in judged.truths)
    return max(0.0, known_us - first_us)


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share of them lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `n`, with the 95 % interval by Wilson's score."""

    hits: int
    n: int

    @property
    def pct(self) -> float:
        """In per cent."""
        return 100 * self.hits / self.n if self.n else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval in per cent."""
        if not self.n:
            return 0.0, 100.0
        z, p = 1.96, self.hits / self.n
        middle = (p + z * z / (2 * self.n)) / (1 + z * z / self.n)
        reach = z * sqrt(p * (1 - p) / self.n + z * z / (4 * self.n**2)) / (1 + z * z / self.n)
        return 100 * max(0.0, middle - reach), 100 * min(1.0, middle + reach)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.pct:.2f} % [{low:.2f}, {high:.2f}] n={self.n}"


def right(contests: Sequence[Judged], rule: str = "the dealer") -> Share:
    """How often that rule found the truly first hand."""
    return Share(sum(RULES[rule](judged) == truly_first(judged) for judged in contests), len(contests))


def close(contests: Sequence[Judged]) -> list[Judged]:
    """Those with a gap under 20 ms."""
    return [judged for judged in contests if gap_us(judged) < CLOSE_US]


def shares(contests: Sequence[Judged]) -> list[Share]:
    """What each seat won."""
    return [
        Share(sum(judged.verdict.winner == seat for judged in contests), len(contests))
        for seat in range(len(contests[0].truths))
    ]


def corrected(contests: Sequence[Judged]) -> Share:
    """How many claims were corrected by more than 5 ms."""
    hands = [hand for judged in contests for hand in judged.verdict.hands if not hand.cover]
    return Share(sum(hand.added_us > CORRECTED_US for hand in hands), len(hands))


def spread_ms(contests: Sequence[Judged], share: float = 0.95) -> float:
    """The quantile of how far apart the phones let go of the same card, before each screen's next frame."""
    revealed = [[truth.revealed_us for truth in judged.truths] for judged in contests]
    return quantile([(max(each) - min(each)) / 1000 for each in revealed], share)


def wait_ms(contests: Sequence[Judged], share: float = 0.5) -> float:
    """The quantile of the time from the first hand's arrival to the verdict."""
    return quantile([judged.verdict.wait_us / 1000 for judged in contests], share)


def floor_ms(contests: Sequence[Judged], share: float = 0.5) -> float:
    """The quantile of the time that nobody can save."""
    return quantile([floor_us(judged) / 1000 for judged in contests], share)


def wrong(contests: Sequence[Judged]) -> list[Judged]:
    """Those in which the pile did not go to the truly first hand."""
    return [judged for judged in contests if judged.verdict.winner != truly_first(judged)]


def why_wrong(judged: Judged) -> str:
    """Why the pile went to somebody else than the truly first hand: what the evidence says of it."""
    first = truly_first(judged)
    hand = next((h for h in judged.verdict.hands if h.seat == first and not h.cover), None)
    if hand is None:
        return "late"
    if hand.reaction_us is None:
        return "no claim"
    if hand.path_us > PATH_CAP_US:
        return "cap"
    if hand.added_us > 0:
        return "credit dry"
    if judged.verdict.winner is None:
        return "covered"
    return "a rival's claim"


def ahead_ms(contests: Sequence[Judged], seat: int, share: float = 0.5) -> float:
    """The quantile of how long before the others could see a card that seat's phone had it."""
    aheads = [
        min(truth.painted_us for place, truth in enumerate(judged.truths) if place != seat)
        - judged.truths[seat].came_us
        for judged in contests
    ]
    return quantile([ahead / 1000 for ahead in aheads], share)


def body_right(contests: Sequence[Judged], rule: Callable[[Judged], int | None]) -> Share:
    """How often a rule finds whose finger was first, touch panels included."""
    hits = sum(rule(judged) == first_of(judged.truths, lambda truth: truth.body_us or None) for judged in contests)
    return Share(hits, len(contests))
