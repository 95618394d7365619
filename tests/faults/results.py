"""Row 5: results are counted exactly once, whoever dies at whichever step of recording one."""

import asyncio
import random
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from engine.rules import GameName
from server.base.keys import hash_of
from server.store.board import PAIR_A_DAY
from server.store.pipeline import Pipeline
from server.store.redis import RedisStore
from server.table.records import Change
from tests.contracts.servers import OwnServer
from tests.contracts.tables import ANNA, BEN, CODE, a_result, a_table, played
from tests.faults.figure import Figure
from wire.figures import By, Span


class Crash(Exception):
    """The process has died here."""


class FailingPipeline(Pipeline):
    """A pipeline that breaks at one of its uses: before it is used, or after it, when only the answer is lost."""

    breaks_at = 0
    after = False
    used = 0

    async def answer(self, answer: Awaitable[Any], key: str | bytes) -> Any:
        """Answers, unless this is the step at which all ends."""
        self.used += 1
        if self.used != self.breaks_at:
            return await super().answer(answer, key)
        if self.after:
            await super().answer(answer, key)
        else:
            unasked = asyncio.ensure_future(answer)
            unasked.cancel()
            with suppress(asyncio.CancelledError):
                await unasked
        raise Crash


async def steps_of_recording(url: str) -> int:
    """How many steps a game's end takes when all goes well."""
    with patch("server.store.redis.Pipeline", FailingPipeline):
        store = RedisStore(url)
    async with store:
        await store.create_table(a_table("222222"))
        opened = await store.open_table("222222")
        assert opened is not None
        failing = store.pipeline
        assert isinstance(failing, FailingPipeline)
        failing.used = 0
        change = Change(a_table("222222"), (b"over",), result=a_result(0, played(BEN), code="222222"))
        await store.keep("222222", opened.epoch, 1, change)
        await store.board.sweep()
        return failing.used


async def recorded(url: str, games: int) -> Figure:
    """Plays so many games at a table whose server dies at a step of each one's end, every step in turn."""
    rng = random.Random(5)
    steps = await steps_of_recording(url)
    crashes = lost = doubled = 0
    async with RedisStore(url) as survivor:
        await survivor.create_table(a_table(games=0))
        for game in range(1, games + 1):
            with patch("server.store.redis.Pipeline", FailingPipeline):
                store = RedisStore(url)
            failing = store.pipeline
            assert isinstance(failing, FailingPipeline)
            async with store:
                opened = await store.open_table(CODE)
                assert opened is not None
                failing.breaks_at, failing.after, failing.used = (game - 1) // 2 % steps + 1, game % 2 == 0, 0
                change = Change(a_table(games=game), (b"%d" % game,), result=_result(game))
                try:
                    await store.keep(CODE, opened.epoch, 1, change)
                    await store.board.sweep()
                except Crash:
                    crashes += 1
                failing.breaks_at = 0
            if rng.random() < 0.5:
                await survivor.board.sweep()
            # Whoever takes the table over plays what was not kept, which nobody was told of, once more.
            opened = await survivor.open_table(CODE)
            assert opened is not None
            if opened.record.games < game:
                await survivor.keep(CODE, opened.epoch, 1, change)
            await survivor.board.sweep()
            page = await survivor.board.page(GameName.SLAPJACK, Span.ALL, By.GAMES, 1, ANNA)
            counted = page.you.games if page.you is not None else 0
            lost += counted < game - lost + doubled
            doubled += counted > game - lost + doubled
    text = f"{games} games, {crashes} crashes at {steps} steps, before and after: {lost} lost, {doubled} doubled"
    return Figure(lost == doubled == 0 and crashes > games // 2, text)


def _result(game: int) -> Any:
    # The same two fill no more than so many games of the leaderboard a day (R30).
    companion = hash_of(f"companion {game // PAIR_A_DAY}")
    return a_result(game, played(ANNA, True, 300), played(companion))


def row(folder: Path, full: bool) -> Figure:
    """On the store that comes with the game; what happens at each step is a script of the adapter's."""
    server = OwnServer(folder)
    try:
        return asyncio.run(recorded(server.url, 1_000 if full else 60))
    finally:
        server.stop()
