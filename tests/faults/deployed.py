"""Row 6: a rolling deploy. Each node hands its tables over and comes back, one after the other, while people play."""

import asyncio
import time
from pathlib import Path

from server.store.redis import RedisStore
from tests.faults.figure import Figure, p99
from tests.faults.playing import differences, playing
from tests.support.serving import ROOMY
from tools.cluster import NODES, Cluster

GAP_S = 1.0
EXIT_S = 10.0
IN_TESTS_S = 30.0
"""The short form runs beside whatever else the machine does, and asks only that nothing is lost."""


async def deployed(cluster: Cluster, url: str, tables: int, gap_s: float, exit_s: float) -> Figure:
    """Stops every node as a deploy does, and starts it again."""
    took_s: list[float] = []
    # Their phones share two cores with the servers here, and none of them may wait for another.
    async with playing(cluster.url, tables, slowness=3) as party:
        for node in NODES:
            began_s = time.monotonic()
            await asyncio.to_thread(cluster.drain, node)
            took_s.append(time.monotonic() - began_s)
            await asyncio.to_thread(cluster.start, node)
            await party.move_on(time.monotonic())
        gaps_s = [gap_s for table in party.tables for gap_s in table.gaps_s]
        seats = [(table.players, table.seats) for table in party.tables]
        moved = sum(p.seat != seat for players, kept in seats for p, seat in zip(players, kept, strict=True))
    async with RedisStore(url) as store:
        wrong = await differences(store, party)
    text = (
        f"{len(NODES)} nodes under {tables} games: {len(wrong)} differences, {moved} seats lost, {len(gaps_s)} gaps of "
        f"{p99(gaps_s):.2f} s at p99 ({max(gaps_s):.2f} at most), exits after {max(took_s):.1f} s at most"
    )
    kept = not wrong and not moved and p99(gaps_s) < gap_s and max(took_s) < exit_s
    return Figure(kept, "; ".join([text, *wrong[:3]]))


def row(folder: Path, full: bool) -> Figure:
    """Three nodes behind the proxy."""
    with Cluster(folder, ROOMY) as cluster:
        size = (200, GAP_S, EXIT_S) if full else (6, IN_TESTS_S, IN_TESTS_S)
        return asyncio.run(deployed(cluster, f"unix://{folder / 'redis.sock'}", *size))
