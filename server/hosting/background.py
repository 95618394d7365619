"""What runs in the background, and never dies unnoticed. Must not depend on what any of it does."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from server.base.ports import Clock

log = logging.getLogger("slapjack.background")

AGAIN_S = 1.0
"""What has failed is started again after this."""
FAILING_S = 10.0
"""So long after it failed a task is said to be failing."""

Run = Callable[[], Coroutine[Any, Any, None]]


class Background:
    """Tasks of one server, each with a name for the log.

    A failure is logged with its traceback. What is to run for as long as the server does is started again, and until it
    has gone well for `FAILING_S` the server is not ready (`GET /readyz`).
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept_running: set[asyncio.Task[None]] = set()
        self._to_their_end: set[asyncio.Task[None]] = set()
        self._failed_us: dict[str, int] = {}

    def keep_running(self, name: str, run: Run) -> None:
        """Runs what never ends by itself, and runs it again whenever it does."""
        self._kept_running.add(asyncio.create_task(self._again_and_again(name, run)))

    def run(self, name: str, task: Coroutine[Any, Any, None]) -> None:
        """Runs something to its end."""
        started = asyncio.create_task(self._once(name, task))
        self._to_their_end.add(started)
        started.add_done_callback(self._to_their_end.discard)

    def failing(self) -> list[str]:
        """The names of those that have failed in the last `FAILING_S`."""
        now_us = self._clock.now_us()
        return [name for name, failed_us in self._failed_us.items() if now_us - failed_us < FAILING_S * 1e6]

    async def finish(self) -> None:
        """Ends what never ends by itself, and waits for the rest."""
        for task in self._kept_running:
            task.cancel()
        await asyncio.gather(*self._kept_running, *self._to_their_end, return_exceptions=True)

    async def _again_and_again(self, name: str, run: Run) -> None:
        while True:
            await self._once(name, run())
            self._failed_us[name] = self._clock.now_us()
            log.error("%s has ended, and is started again", name)
            await asyncio.sleep(AGAIN_S)

    async def _once(self, name: str, task: Coroutine[Any, Any, None]) -> None:
        try:
            await task
        except Exception:
            log.exception("%s has failed", name)
            self._failed_us[name] = self._clock.now_us()
