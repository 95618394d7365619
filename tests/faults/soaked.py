"""The server for a soak: SIGUSR1 moves its clock forward by an hour; at SIGUSR2 it counts its tasks and its garbage."""

import asyncio
import gc
import os
import signal

from server.base.settings import read_settings
from server.serve import RealClock, RealRandomSource, serve

HOUR_US = 3_600_000_000


class LeapingClock(RealClock):
    """The machine's clock, and an hour more for every signal."""

    def __init__(self) -> None:
        super().__init__()
        self._ahead_us = 0

    def now_us(self) -> int:
        """Whole microseconds since some fixed moment."""
        return super().now_us() + self._ahead_us

    def leap(self) -> None:
        """An hour has gone by."""
        self._ahead_us += HOUR_US


if __name__ == "__main__":
    clock = LeapingClock()
    signal.signal(signal.SIGUSR1, lambda *_: clock.leap())
    signal.signal(
        signal.SIGUSR2, lambda *_: print(f"tasks: {len(asyncio.all_tasks())}, garbage: {gc.collect()}", flush=True)
    )
    serve(read_settings(os.environ), clock, RealRandomSource())
