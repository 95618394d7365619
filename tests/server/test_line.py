"""The line to the store: what is asked at any moment is sent. No store, no waiting."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from server.store.line import BATCHES, Command, Line


@pytest.mark.parametrize("steps", range(6))
async def test_what_is_asked_while_the_last_batches_end_is_sent(steps: int) -> None:
    """Though nobody asks anything after it."""
    line = Line("redis://unused")
    answered = asyncio.Event()

    async def sent(commands: Sequence[Command]) -> list[Any]:
        await answered.wait()
        return [None] * len(commands)

    line._sent = sent  # type: ignore[method-assign]
    for _ in range(BATCHES):
        line._asked(lambda pipe: pipe.ping())
        await asyncio.sleep(0)
    answered.set()
    for _ in range(steps):
        await asyncio.sleep(0)
    last = line._asked(lambda pipe: pipe.ping())
    for _ in range(20):
        await asyncio.sleep(0)
    assert last.done()
    await line.close()
