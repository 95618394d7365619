"""What goes into a room's mailbox, and what comes out of the room: inputs and effects. All are values."""

from typing import NewType

from engine.value import Value
from server.table.records import Change
from wire.messages import ClientMessage, CloseCode, Message

ConnId = NewType("ConnId", int)
"""One connection of one server."""


class Said(Value):
    """A message has arrived on a connection.

    With a `Join` come the person to whom its key belongs, and the client network that it comes from, where known.
    """

    conn: ConnId
    message: ClientMessage
    person: str = ""
    network: str = ""


class Gone(Value):
    """A connection has closed."""

    conn: ConnId


class Ponged(Value):
    """The ping that was sent to a connection at `sent_us` has come back."""

    conn: ConnId
    sent_us: int
    kernel_rtt_us: int | None = None


class Stalled(Value):
    """The store had not answered since `since_us`; it does again."""

    since_us: int


class SentLate(Value):
    """The card to be shown at `show_at_us` went out to a connection so much after its moment: the server was late."""

    conn: ConnId
    show_at_us: int
    late_us: int


class Woken(Value):
    """Nothing but time has passed."""


class Forgotten(Value):
    """A person wants to be forgotten, here as everywhere."""

    person: str


Input = Said | Gone | Ponged | Stalled | SentLate | Forgotten | Woken


class Tell(Value):
    """One message, the same for each of these connections; to be sent to each at its own of `send_at_us`, if given."""

    conns: tuple[ConnId, ...]
    message: Message
    send_at_us: tuple[int, ...] = ()


class Ping(Value):
    """Send each of these connections a ping."""

    conns: tuple[ConnId, ...]


class HangUp(Value):
    """Close a connection and say why."""

    conn: ConnId
    code: CloseCode
    reason: str


class Keep(Value):
    """Keep this before anything that follows is told."""

    change: Change


Effect = Tell | Ping | HangUp | Keep
