"""What keeping a move costs on each store: `python -m tests.bench.journal [SECONDS]`.

Prints, for each kind of server and each way to write, how long one table waits for a move to be kept, and how many
moves a second many tables keep together.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from server.base.settings import Fsync
from server.store.redis import RedisStore
from tests.contracts.servers import OwnServer, RedisServer, Server
from tests.contracts.tables import owner

MANY = 100
MOVE = b"x" * 90
"""About what a move with its chance takes."""


async def measure(url: str, seconds: float) -> str:
    """One table by itself, then many at once."""
    async with RedisStore(url) as store:
        keeper = await owner(store, "ALONE2")
        await keeper.keeps(MOVE, deals=True)
        took_us: list[float] = []
        until_s = time.perf_counter() + seconds
        while (began_s := time.perf_counter()) < until_s:
            await keeper.keeps(MOVE)
            took_us.append((time.perf_counter() - began_s) * 1e6)
        took_us.sort()

        keepers = [await owner(store, f"T{nth:05}") for nth in range(MANY)]
        until_s = time.perf_counter() + seconds

        async def play(nth: int) -> int:
            kept = 0
            while time.perf_counter() < until_s:
                await keepers[nth].keeps(MOVE)
                kept += 1
            return kept

        kept = sum(await asyncio.gather(*(play(nth) for nth in range(MANY))))
        p50, p99 = took_us[len(took_us) // 2], took_us[len(took_us) * 99 // 100]
        alone = f"one table p50 {p50 / 1000:6.2f} ms   p99 {p99 / 1000:6.2f} ms"
        return f"{alone}   {MANY} tables {kept / seconds:7,.0f} a second"


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(prog="journal", description="What keeping a move costs on each store.")
    options.add_argument("seconds", nargs="?", type=float, default=5.0, help="how long to measure each")
    seconds = options.parse_args().seconds
    kinds: list[Callable[[Path, Fsync], Server]] = [OwnServer, RedisServer]
    ways: tuple[Fsync, ...] = ("everysec", "always")
    for kind in kinds:
        for fsync in ways:
            with tempfile.TemporaryDirectory(prefix="slapjack-bench-") as folder:
                server = kind(Path(folder), fsync)
                try:
                    print(f"{server.name:<24} {asyncio.run(measure(server.url, seconds))}", flush=True)
                finally:
                    server.stop()


if __name__ == "__main__":
    main()
