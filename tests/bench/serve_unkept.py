"""The real server with a store that keeps no change of a table: `python -m tests.bench.serve_unkept`.

For measuring what the journal costs. Production has no such switch.
"""

import os

from server import serve as production
from server.base.settings import read_settings
from server.store.redis import RedisStore
from server.table.records import Change


class Unkept(RedisStore):
    """Tables are opened, what happens at them is not kept."""

    async def keep(self, code: str, epoch: int, number: int, change: Change) -> None:
        """Keeps nothing."""


if __name__ == "__main__":
    setattr(production, "RedisStore", Unkept)  # noqa: B010 - what production imports is not ours to assign
    production.serve(read_settings(os.environ), production.RealClock(), production.RealRandomSource())
