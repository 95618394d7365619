"""What is not ours to control: time and luck. The real ones are built in `__main__`, fakes in tests."""

from typing import Protocol

from engine.cards import Chance


class Clock(Protocol):
    """A clock that only moves forward."""

    def now_us(self) -> int:
        """Whole microseconds since some fixed moment."""


class Luck(Protocol):
    """Where every shuffle, reaction of a computer player, code and secret comes from."""

    def draw(self) -> Chance:
        """32 bytes that nobody can foresee."""
