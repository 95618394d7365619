"""The line to the store: what is asked at any moment is sent. No store, no waiting."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from redis.exceptions import RedisError

from server.store.pipeline import BATCHES, Command, Pipeline
from server.store.port import StoreDown


@pytest.mark.parametrize("steps", range(6))
async def test_what_is_asked_while_the_last_batches_end_is_sent(steps: int) -> None:
    """Though nobody asks anything after it."""
    line = Pipeline("redis://unused")
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


@pytest.mark.parametrize(("spare_s", "together"), [(0.0, True), (3600.0, False)])
async def test_what_is_asked_within_a_tick_goes_out_together_unless_it_was_quiet_before(
    spare_s: float, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.store.pipeline.SPARE_S", spare_s)
    line = Pipeline("redis://unused")
    sizes: list[int] = []

    async def sent(commands: Sequence[Command]) -> list[Any]:
        sizes.append(len(commands))
        return [None] * len(commands)

    line._sent = sent  # type: ignore[method-assign]
    answers = []
    for _ in range(50):
        answers.append(line._asked(lambda pipe: pipe.ping()))
        for _ in range(5):
            await asyncio.sleep(0)
    await asyncio.gather(*answers)
    assert sum(sizes) == 50
    assert (len([size for size in sizes if size]) < 50) is together
    await line.close()


@pytest.mark.parametrize("option", ["socket_timeout=soon", "what=ever"])
def test_an_address_with_options_that_there_are_not_is_refused_in_words(option: str) -> None:
    with pytest.raises(StoreDown, match=r"the store at redis://unused cannot be asked: .*'(socket_timeout|what)'"):
        Pipeline(f"redis://:secret@unused?{option}")


async def test_whoever_waits_for_the_moment_is_told_when_the_line_is_closed() -> None:
    line = Pipeline("redis://unused")
    line._next_s = asyncio.get_running_loop().time() + 3600
    waiting = line._asked(lambda pipe: pipe.ping())
    await asyncio.sleep(0)
    await line.close()
    with pytest.raises(RedisError, match="closed"):
        await waiting
