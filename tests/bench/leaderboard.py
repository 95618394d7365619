"""What a leaderboard with a million people costs: `python -m tests.bench.leaderboard [PEOPLE]`.

On a redis-server of its own, with an append-only file as in use. Prints how much memory the board takes, what each
read takes as the game waits for it and as the server works on it, and what counting a result takes.
"""

import argparse
import asyncio
import hashlib
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from itertools import chain
from math import log2
from pathlib import Path

from engine.rules import GameName
from server.store.board import STEPS_AN_OCTAVE
from server.store.redis import RedisStore
from server.table.records import Change
from tests.contracts.servers import RedisServer
from tests.contracts.tables import CODE, a_result, a_table, played
from wire.figures import By, Span

AT_ONCE = 1_000
TIMES = 400
PREFIX = "slapjack:{slapjack}:"


def person(nth: int) -> str:
    """One of many people."""
    return hashlib.sha256(b"%d" % nth).hexdigest()


async def fill(store: RedisStore, people: int) -> None:
    """Puts people on the board of all time as counting their games would, without counting them one by one."""
    rng = random.Random(1)
    for start in range(0, people, AT_ONCE):
        scores: dict[By, dict[str, float]] = {by: {} for by in By}
        async with store.pipeline.redis.pipeline(transaction=False) as pipe:
            for nth in range(start, min(people, start + AT_ONCE)):
                member = person(nth)[:32]
                games = 1 + int(rng.expovariate(1 / 30))
                wins = sum(rng.random() < 0.3 for _ in range(games))
                streak = min(wins, 1 + int(rng.expovariate(1)))
                median_us = rng.lognormvariate(12.9, 0.2)
                best_us = round(median_us * rng.uniform(0.6, 0.9))
                middle = int(log2(median_us) * STEPS_AN_OCTAVE)
                steps = {str(middle + rng.randint(-12, 12)): rng.randint(1, 9) for _ in range(min(20, games))}
                told: dict[str, object] = {"games": games, "wins": wins, "streak": streak, "run": 0, "best": best_us}
                told |= {"median": round(median_us), "name": f"Player {nth}", "face": "🦊", **steps}
                pipe.execute_command("HSET", f"{PREFIX}all:row:{member}", *chain(*told.items()))
                scores[By.GAMES][member], scores[By.WINS][member] = games, wins
                scores[By.BEST][member], scores[By.MEDIAN][member] = best_us, median_us
                if streak:
                    scores[By.STREAK][member] = streak
                if games >= 10:
                    scores[By.RATE][member] = wins / games
            for by, members in scores.items():
                if members:
                    pipe.zadd(f"{PREFIX}all:{by}", members)
            pipe.zadd(f"{PREFIX}seen", dict.fromkeys(scores[By.GAMES], 2e9))
            await pipe.execute()


async def timed(times: int, ask: Callable[[int], Awaitable[object]]) -> str:
    """How long it takes, each asked after the other."""
    took_us = []
    for nth in range(times):
        began_ns = time.perf_counter_ns()
        await ask(nth)
        took_us.append((time.perf_counter_ns() - began_ns) / 1000)
    took_us.sort()
    return f"p50 {took_us[times // 2] / 1000:6.2f} ms   p99 {took_us[times * 99 // 100] / 1000:6.2f} ms"


async def measure(url: str, people: int) -> None:
    """Fills and asks."""
    async with RedisStore(url) as store:
        redis = store.pipeline.redis
        before = (await redis.info("memory"))["used_memory"]
        began_s = time.perf_counter()
        await fill(store, people)
        grown = (await redis.info("memory"))["used_memory"] - before
        print(f"{people:,} people: {grown / 2**20:.0f} MiB, {grown / people:.0f} bytes each; ", end="")
        print(f"filled in {time.perf_counter() - began_s:.0f} s")
        rng = random.Random(2)
        slapjack = GameName.SLAPJACK
        for by in By:
            pages = max(1, (await store.board.page(slapjack, Span.ALL, by, 1, "")).pages)  # of few none is ranked

            def ask(which: str, by: By = by, pages: int = pages) -> Callable[[int], Awaitable[object]]:
                def page(_: int) -> Awaitable[object]:
                    at = {"first": 1, "any": rng.randint(1, pages), "last": pages}[which]
                    return store.board.page(slapjack, Span.ALL, by, at, person(rng.randrange(people)))

                return page

            for which in ("first", "any", "last"):
                print(f"  by {by:<7} {which:>5} page and own row   {await timed(TIMES, ask(which))}")
        stats = await redis.info("commandstats")
        for name in ("zrange", "zcount", "zscore", "zcard", "hmget"):
            print(f"  on the server: {name:<7} {stats[f'cmdstat_{name}']['usec_per_call']:6.2f} µs a call")
        await store.create_table(a_table())
        opened = await store.open_table(CODE)
        assert opened is not None

        async def count(nth: int) -> None:
            four = [played(person(rng.randrange(people)), seat == 0, 300, 320, 350) for seat in range(4)]
            await store.keep(CODE, opened.epoch, nth + 1, Change(result=a_result(nth, *four)))

        print(f"  a result of four people, kept and counted     {await timed(TIMES, count)}")


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(prog="leaderboard", description="What a leaderboard with many people costs.")
    options.add_argument("people", nargs="?", type=int, default=1_000_000, help="how many people are on it")
    with tempfile.TemporaryDirectory(prefix="slapjack-bench-") as folder:
        server = RedisServer(Path(folder), "everysec")
        try:
            asyncio.run(measure(server.url, options.parse_args().people))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
