"""How hard this server has to work, and what may then be done less often.

Knows shares of a processor and lags as numbers, and reads no clock. Only waiting and the bound on lies may suffer from
it (docs/fairness.md).
"""

from collections import deque

from server.base import meters

LOOKS = 10
EASY, HARD, FULL = 0.5, 0.7, 0.75
"""Busy for so much of the time a server is at ease, does what can wait as seldom as may be, and takes no new table:
beyond that one card in a hundred comes so late that people notice (docs/speed.md)."""
MOST_BACKOFF = 6.0
LATE_US = 12_000
"""A loop that is later than this is full as well, whatever it is busy with: its processor is not its own."""


class Strain:
    """What the last looks at the server say, all together, so that one long step is no strain.

    `ping_backoff` is how many times as seldom things may be done, 1 at ease; `full` says that no new table may be
    opened.
    """

    def __init__(self) -> None:
        self._shares: deque[float] = deque([0.0] * LOOKS, LOOKS)
        self._lags: deque[int] = deque([0] * LOOKS, LOOKS)
        self.ping_backoff = 1.0
        self.full = False

    def observe(self, busy: float, lag_us: int) -> None:
        """It was busy for this share of the time since the last look, to which it came so late."""
        self._shares.append(busy)
        self._lags.append(lag_us)
        busy = sum(self._shares) / LOOKS
        self.ping_backoff = 1 + (MOST_BACKOFF - 1) * min(1.0, max(0.0, (busy - EASY) / (HARD - EASY)))
        late_us = sorted(self._lags)[LOOKS // 2]
        self.full = busy > FULL or late_us > LATE_US
        meters.BUSY.set(busy)
        meters.LATE.set(late_us / 1e6)


AT_EASE = Strain()
"""For rooms whose server nobody looks at."""
