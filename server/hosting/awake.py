"""The tables that are awake on this server: how many there may be, and which go to sleep to make room.

Must not depend on the store or on what happens at a table.
"""

from collections import Counter
from collections.abc import Iterator

from server.base.ports import Clock
from server.hosting.mailbox import Mailbox

SLEEP_AFTER_S = 600.0
"""A table that everybody has left leaves memory after this; it stays in the store."""
UNVISITED_S = 5.0
"""The same for a table that nobody has joined since it was woken."""

MOST_SHARE = 2
"""One client network has no more than this part of all tables awake: a half."""


class ServerFull(Exception):
    """As many tables are awake as this server carries."""


class NetworkFull(Exception):
    """As many tables are awake for one client network as it may have."""

    text = "too many tables are in play from here: leave one first"


class Awake:
    """Mailboxes by their table's code, each counted for the client network that had it woken.

    There are never more than `most`, and for one network never more than `most_each` or half of all. Somebody whom no
    network is known of, the empty text, is counted among all only.
    """

    def __init__(self, clock: Clock, most: int, most_each: int) -> None:
        self._clock = clock
        self._most = most
        self._most_each = min(most_each, max(1, most // MOST_SHARE))
        self._mailboxes: dict[str, tuple[Mailbox, str]] = {}
        self._of_network: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._mailboxes)

    def __iter__(self) -> Iterator[Mailbox]:
        """All of them as they are now, whatever goes to sleep meanwhile."""
        return iter([mailbox for mailbox, _ in self._mailboxes.values()])

    def get(self, code: str) -> Mailbox | None:
        """The mailbox of that table, None while it sleeps."""
        found = self._mailboxes.get(code)
        return found[0] if found is not None else None

    def add(self, mailbox: Mailbox, network: str) -> None:
        """A table is awake."""
        self._mailboxes[mailbox.code] = mailbox, network
        self._of_network[network] += 1

    def remove(self, mailbox: Mailbox) -> None:
        """A table sleeps; said twice it is the same."""
        if self.get(mailbox.code) is mailbox:
            _, network = self._mailboxes.pop(mailbox.code)
            self._of_network[network] -= 1
            if not self._of_network[network]:
                del self._of_network[network]

    def make_room(self, network: str) -> list[Mailbox]:
        """Makes room for one more table of that network; raises `NetworkFull` and `ServerFull` where there is none.

        Gives the tables that were stopped for it, to be released: at once, for whoever comes in between is sent away.
        """
        stopped = []
        if network and self._of_network[network] >= self._most_each:
            stopped += self._stop_emptiest(network)
            if not stopped:
                raise NetworkFull(f"{self._most_each} tables are awake for {network}")
        if len(self) >= self._most:
            stopped += self._stop_emptiest()
            if len(self) >= self._most:
                raise ServerFull(f"this server carries {self._most} tables")
        return stopped

    def stop_unused(self) -> list[Mailbox]:
        """Stops the tables at which nobody has been for long enough; gives them, to be released."""
        now_us = self._clock.now_us()
        unused = [
            mailbox
            for mailbox in self
            if mailbox.empty(now_us)
            and now_us - mailbox.quiet_since_us > (SLEEP_AFTER_S if mailbox.visited else UNVISITED_S) * 1e6
        ]
        for mailbox in unused:
            mailbox.stop()
        return unused

    def _stop_emptiest(self, network: str = "") -> list[Mailbox]:
        """Stops the table, of that network or of all, which people are likeliest not to miss; gives none or one.

        One that nobody ever joined goes first, then that which everybody left the longest ago.
        """
        now_us = self._clock.now_us()
        empty = [
            mailbox
            for mailbox, its_network in self._mailboxes.values()
            if (not network or its_network == network) and mailbox.empty(now_us)
        ]
        if not empty:
            return []
        emptiest = min(empty, key=lambda mailbox: (mailbox.visited, mailbox.quiet_since_us))
        emptiest.stop()
        return [emptiest]
