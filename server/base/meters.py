"""What a server counts of what it does. Anybody counts, as anybody writes to a log; only `GET /metrics` looks.

One of each for the whole process, so that what happened at a table is still counted when the table sleeps. Nothing is
counted for each message. Knows numbers, and not what follows from them.
"""

from bisect import bisect_left
from itertools import accumulate


class Number:
    """A count or a measure."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float = 0

    def add(self, more: int = 1) -> None:
        """So many more, or fewer."""
        self.value += more


class Durations:
    """How many durations were no longer than each of `bounds_us`, how many there were, and their sum."""

    __slots__ = ("_counts", "bounds_us", "sum_us")

    def __init__(self, *bounds_us: int) -> None:
        self.bounds_us = bounds_us
        self._counts = [0] * (len(bounds_us) + 1)
        self.sum_us = 0

    def saw(self, took_us: int) -> None:
        """Something took so long."""
        self._counts[bisect_left(self.bounds_us, took_us)] += 1
        self.sum_us += took_us

    def up_to(self) -> list[int]:
        """How many were no longer than each bound, and last how many there were."""
        return list(accumulate(self._counts))


VERDICT_WAIT = Durations(1_000, 5_000, 10_000, 25_000, 50_000, 100_000, 200_000, 300_000, 400_000, 500_000, 2_000_000)
"""From the first hand's arrival to the verdict."""
CORRECTED = Number()
"""Hands to whose claimed reaction the dealer added something."""
LATE_WINNERS = Number()
"""Hands that came after a verdict which they would have won."""
KEEP = Durations(250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000)
"""What it took to keep a change."""
NOT_KEPT = Number()
"""Changes that the store did not acknowledge; each is tried again."""
FENCED = Number()
"""Changes that were refused, because their table has another owner."""
CONNECTIONS = Number()
"""Sockets that are at a table now."""
CUT = Number()
"""Sockets that were cut, because they had stopped reading."""
BUSY = Number()
"""For what share of the last second this server has worked, at the last look."""
LATE_US = Number()
"""How late its loop was, as a rule, at the last looks."""
