"""How hard this server has to work, from how late its loop gets to what is due; and what may then be done less often.

Knows lags as numbers and reads no clock. Only waiting and the bound on lies may suffer from it (docs/fairness.md).
"""

from collections import deque

LOOKS = 10
EASY_US = 2_000
"""A loop that is no later than this is at ease: timers are no finer than half of it."""
MOST_SELDOM = 5.0
FULL_US = 12_000
"""New tables are let in no more while the loop is later than this: those that play need what is left."""


class Strain:
    """What the last looks at the loop say. The middle one of them counts, so that one long step is no strain.

    `seldom` is how many times as seldom things may be done, 1 at ease; `full` says that no new table may be opened.
    """

    def __init__(self) -> None:
        self._lags: deque[int] = deque([0] * LOOKS, LOOKS)
        self.seldom = 1.0
        self.full = False

    def saw(self, lag_us: int) -> None:
        """The loop came so late to a look at it."""
        self._lags.append(lag_us)
        middle_us = sorted(self._lags)[LOOKS // 2]
        self.seldom = min(MOST_SELDOM, max(1.0, middle_us / EASY_US))
        self.full = middle_us > FULL_US


AT_EASE = Strain()
"""For rooms of which nobody looks at the loop."""
