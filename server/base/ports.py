"""What is not ours to control: time and chance. The real ones are built in `serve.py`, fakes in tests."""

from typing import Protocol

from engine.cards import Entropy


class Clock(Protocol):
    """A clock that only moves forward."""

    def now_us(self) -> int:
        """Whole microseconds since some fixed moment."""

    def worked_us(self) -> int:
        """Whole microseconds of a processor that this process has used so far, 0 where nobody counts them."""
        return 0


class RandomSource(Protocol):
    """Where every shuffle, reaction of a computer player, code and secret comes from."""

    def draw(self) -> Entropy:
        """32 bytes that nobody can foresee."""


def fraction(random_source: RandomSource) -> float:
    """A number in the open interval from 0 to 1, all alike likely."""
    return (int.from_bytes(random_source.draw()[:6]) + 0.5) / 2**48
