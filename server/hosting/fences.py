"""Why a table is not this server's any more, said once for all tables and not once for each.

Must not depend on what is kept of a table.
"""

import logging

from server.base.logs import about
from server.base.ports import Clock
from server.hosting.cluster import Nameless
from server.hosting.phone import LOST, MOVED
from server.store.port import Fenced

log = logging.getLogger("slapjack.fences")

ONCE_IN_US = 60_000_000
"""Many tables meet the same within this."""


class Fences:
    """What this server's tables have met. `nameless` is set where it has no name among others on one store."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._said_us: dict[str, int] = {}
        self.nameless: Nameless | None = None

    def explain(self, code: str, epoch: int, fenced: Fenced) -> str:
        """Says in the log why a table that was opened under `epoch` was refused; gives the reason for its people."""
        if fenced.lost(epoch):
            self._say_once(
                code,
                "the store has lost what it had acknowledged, of this table and perhaps of all: "
                "was it emptied or set back?",
            )
            return LOST
        if self.nameless is not None and self.nameless.others:
            self._say_once(
                code,
                "another server on the same Redis has taken it: give each its own name with SLAPJACK_NODE, "
                "or they take each other's tables for ever",
            )
        else:
            # Nothing to look at: somebody was forgotten, or a server with a name has it, whose log says why.
            about(log, code).info("no longer this server's: %s", fenced)
        return MOVED

    def _say_once(self, code: str, text: str) -> None:
        now_us = self._clock.now_us()
        said_us = self._said_us.get(text)
        if said_us is None or now_us - said_us > ONCE_IN_US:
            self._said_us[text] = now_us
            about(log, code).error(text)
