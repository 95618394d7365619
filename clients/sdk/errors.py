"""Why a client is not, or no longer, at a table: one type for each final close code (P4), and a few more.

Knows the codes and which of them a client may come back from. Opens no socket.
"""

from typing import ClassVar

from wire.messages import CloseCode


class NotAtTable(Exception):
    """The client is not at the table and will not get there by trying again; the text says why."""

    code: ClassVar[int] = 0


class BadFrame(NotAtTable):
    """One side sent what the other cannot read."""

    code = CloseCode.MALFORMED


class ForeignOrigin(NotAtTable):
    """The server does not let pages of this origin in."""

    code = CloseCode.FOREIGN_ORIGIN


class NoSuchTable(NotAtTable):
    """No table has that code."""

    code = CloseCode.NO_SUCH_TABLE


class TakenOver(NotAtTable):
    """The same key has joined from somewhere else, and that client has the seat now."""

    code = CloseCode.SEAT_TAKEN_OVER


class Removed(NotAtTable):
    """The host has removed this client."""

    code = CloseCode.REMOVED


class WrongVersion(NotAtTable):
    """The two sides speak different versions of the protocol."""

    code = CloseCode.WRONG_VERSION


class TooMany(NotAtTable):
    """The client sent more than the server takes."""

    code = CloseCode.TOO_MANY


class JoinRefused(NotAtTable):
    """The table exists and did not let the client in; `reason` is a `RejectReason` of the protocol's."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class ServerGone(NotAtTable):
    """The server could not be reached, or not again within the client's patience."""


class NotNow(ServerGone):
    """The server is there, and did not let the client in for as long as it was patient: it is full, or unwell."""


FINAL: dict[int, type[NotAtTable]] = {
    kind.code: kind for kind in (BadFrame, ForeignOrigin, NoSuchTable, TakenOver, Removed, WrongVersion, TooMany)
}
"""Close codes that end it. After any other code the client comes back with its key (P7)."""
