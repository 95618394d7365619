"""What a game must know of whoever sits there. It reads and never writes it."""

from typing import Protocol

from server.judge.path import Path
from server.judge.standing import Standing
from server.table.records import Computer


class Player(Protocol):
    """A seat in the running game, and whoever sits on it."""

    @property
    def computer(self) -> Computer | None:
        """How it plays, where it is a computer player (R31)."""

    @property
    def connected(self) -> bool:
        """Whether a hand can still come from there."""

    @property
    def away(self) -> bool:
        """The phone is gone, or has not moved for three turns (R24)."""

    @property
    def handicap_ms(self) -> int:
        """What is added to its accepted reactions (R32)."""

    @property
    def path(self) -> Path:
        """What is proved of the way to and from its phone."""

    @property
    def standing(self) -> Standing:
        """What its hands in earlier games leave for its next one."""
