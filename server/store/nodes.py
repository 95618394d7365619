"""The servers that share a store, as they are kept: a lease for each, and what all of them are to hear.

Knows keys and how long each is kept. Knows no table; which of them is whose is kept with the table.

- `slapjack:node:<name>`, a string: the boot of the server that has this name now. It expires unless it is renewed, by
  the store's own clock.
- `slapjack:forgotten`, a stream: people who have just asked to be forgotten, for servers that have them at a table.
"""

from server.store.pipeline import Pipeline
from server.store.port import Leases

LEASE_MS = 3_000
FORGOTTEN = "slapjack:forgotten"
FORGOTTEN_STAYS_S = 60
MOST_FORGOTTEN = 10_000


def lease_key(node: str) -> str:
    """Where the lease of a server is kept."""
    return f"slapjack:node:{node}"


class Nodes(Leases):
    """All servers with a name."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._lease_script = pipeline.script("lease")

    async def take(self, node: str, boot: str) -> bool:
        """Takes the lease of that name; False while another has it."""
        key = lease_key(node)
        return await self._pipeline.ask(lambda pipe: pipe.set(key, boot, nx=True, px=LEASE_MS), key) is not None

    async def renew(self, node: str, boot: str) -> bool:
        """Keeps the lease for another `LEASE_MS`; False where it is no longer this boot's."""
        return bool(await self._lease_script([lease_key(node)], (boot, LEASE_MS)))

    async def release(self, node: str, boot: str) -> None:
        """Ends the lease, where it is this boot's."""
        await self._lease_script([lease_key(node)], (boot, 0))

    async def left_ms(self, node: str, boot: str) -> int:
        """For how long the lease of that boot lasts if it is not renewed, 0 where it has none."""
        key = lease_key(node)
        has, left_ms = await self._pipeline.ask_all([lambda pipe: pipe.get(key), lambda pipe: pipe.pttl(key)], key)
        return max(1, int(left_ms)) if has == boot.encode() else 0

    async def tell_forgotten(self, person: str) -> None:
        """Says to every server that a person wants to be forgotten."""
        await self._pipeline.ask_all(
            [
                lambda pipe: pipe.xadd(FORGOTTEN, {"person": person}, maxlen=MOST_FORGOTTEN),
                lambda pipe: pipe.expire(FORGOTTEN, FORGOTTEN_STAYS_S),
            ],
            FORGOTTEN,
        )

    async def forgotten(self, after: str) -> tuple[list[str], str]:
        """Who wanted to be forgotten after that place in the stream (`-` for its beginning), and the place now."""
        start = after if after == "-" else f"({after}"
        told = await self._pipeline.ask(lambda pipe: pipe.xrange(FORGOTTEN, start), FORGOTTEN)
        return [fields[b"person"].decode() for _, fields in told], told[-1][0].decode() if told else after
