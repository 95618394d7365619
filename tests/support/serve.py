"""The real server with a stacked deck: `python -m tests.support.serve`, set by its environment.

SIGUSR1 moves its clock forward by a minute. Production has neither.
"""

import os
import signal

from server.base.settings import read_settings
from server.serve import RealClock, serve
from tests.support.rng import StackedLuck, jacks_last

MINUTE_US = 60_000_000


class JumpingClock(RealClock):
    """The machine's clock, and a minute more for every signal."""

    def __init__(self) -> None:
        super().__init__()
        self._ahead_us = 0

    def now_us(self) -> int:
        """Whole microseconds since some fixed moment."""
        return super().now_us() + self._ahead_us

    def jump(self) -> None:
        """A minute has gone by."""
        self._ahead_us += MINUTE_US


if __name__ == "__main__":
    clock = JumpingClock()
    signal.signal(signal.SIGUSR1, lambda *_: clock.jump())
    settings = read_settings(os.environ)
    # Servers with names play together, and one that is started again goes on with what it left: nothing twice.
    draws = int.from_bytes(os.urandom(3)) if settings.node else 0
    serve(settings, clock, StackedLuck(jacks_last(), draws))
