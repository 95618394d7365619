"""The other end of a connection as a table sees it, and what it hears when the table hangs up.

Must not depend on sockets; `server/net` has the real phone.
"""

from typing import Protocol

SERVICE_RESTART = 1012
"""Come back: the close code for it (IANA's WebSocket Close Code Number Registry)."""

MOVED = "this table has moved: coming back to it"
LOST = "the score book has lost what it had kept of this table"
STOPS = "this server stops: coming back to another"
STORE_AWAY = "the score book does not answer: try again in a moment"
UNREADABLE = "what was kept of you cannot be read"
FAILED = "this table has run into an error and starts again from its last score"


class Phone(Protocol):
    """One connected phone."""

    def write(self, frame: bytes) -> bool:
        """Sends a WebSocket frame without waiting; False when the peer was cut for not reading."""

    def ping(self) -> None:
        """Sends a ping."""

    def hang_up(self, code: int, reason: str) -> None:
        """Closes the connection with that close code (RFC 6455 section 7.4) and a reason for people."""
