"""What a store must do, and how it says that it cannot. Must not depend on Redis or on what a journal entry says."""

from typing import Protocol

from server.table.records import Change, Opened, TableRecord


class StoreDown(Exception):
    """The store does not answer, or refuses; nothing was acknowledged. `refused` is what it said, empty if nothing."""

    def __init__(self, text: str = "", refused: str = "") -> None:
        super().__init__(text)
        self.refused = refused


class Fenced(Exception):
    """The table is not as its owner left it, because another server has taken it over or the store has lost something.

    Nothing was written, and this owner must fall silent. `stands` is where the journal stands, as `<epoch>-<number>`,
    or `nothing` where there is none; empty where nobody has looked.
    """

    def __init__(self, text: str = "", stands: str = "") -> None:
        super().__init__(text)
        self.stands = stands

    def lost(self, epoch: int) -> bool:
        """Whether the store has lost changes of that epoch, rather than that somebody has opened the table since."""
        if self.stands == "nothing":
            return True
        now, _, _ = self.stands.partition("-")
        return now.isdigit() and int(now) <= epoch


class Elsewhere(Exception):
    """The table is another server's: its name, and for how long its lease lasts if it is not renewed."""

    def __init__(self, node: str, left_ms: int) -> None:
        super().__init__(f"the table is at {node}")
        self.node, self.left_ms = node, left_ms


class BadRecord(Exception):
    """What the store holds cannot be read; the text names the key and what is wrong. Nothing was changed."""


class Store(Protocol):
    """Where tables are kept. An awaited write has been accepted; whether it outlives a power cut is up to its settings.

    Every method raises `StoreDown` when the store does not answer in time.
    """

    async def create_table(self, record: TableRecord) -> bool:
        """Keeps a new table; False, and nothing changed, when the code is taken."""

    async def load_table(self, code: str) -> TableRecord | None:
        """The table of that code, to look at; raises `BadRecord`."""

    async def open_table(self, code: str, owner: str = "") -> Opened | None:
        """Takes the table over under a new epoch: from now on nobody else's `keep` succeeds. Raises `BadRecord`.

        An `owner` takes only what is free: the table is then its own for as long as its lease lasts, and it meets
        `Elsewhere` where another's does. Without one it takes what it wants, and the table is free.
        """

    async def release_table(self, code: str, owner: str, epoch: int) -> None:
        """Lets the table be anybody's, unless somebody has opened it since that epoch."""

    async def keep(self, code: str, epoch: int, number: int, change: Change) -> None:
        """Keeps change `number` (counted from 1) of that epoch, all of it or nothing.

        Asked again with the same number after a `StoreDown` it is not kept twice. Raises `Fenced`.
        """

    async def person_of(self, key_hash: str) -> str:
        """The person that a device's secret belongs to: the hash itself, until the device was linked to another."""

    async def close(self) -> None:
        """Lets go of the connections."""


class Leases(Protocol):
    """The leases of servers, and what all servers are to hear. Every method raises `StoreDown`."""

    async def take(self, node: str, boot: str) -> bool:
        """Takes the lease of that name; False while another has it."""

    async def renew(self, node: str, boot: str) -> bool:
        """Lets it last as long again; False where it is no longer this boot's."""

    async def release(self, node: str, boot: str) -> None:
        """Ends the lease, where it is this boot's."""

    async def tell_forgotten(self, person: str) -> None:
        """Says to every server that a person wants to be forgotten."""

    async def forgotten(self, after: str) -> tuple[list[str], str]:
        """Who wanted to be forgotten after that place (`-` for the beginning), and the place now."""
