"""What one game has to do later: each timer's kind, seat and card, and the instant at which it rings.

Knows instants as numbers and what rings first. Does not know what is then done.
"""

from collections.abc import Callable, Mapping
from enum import IntEnum, auto

from engine.game import Seat


class TimerKind(IntEnum):
    """What a timer is for. At one instant they ring in this order: a hand not called before the turn it held up."""

    CALL = auto()
    CARRY = auto()
    CONTEST = auto()
    MOMENT = auto()
    LIMIT = auto()
    PASS = auto()
    PING = auto()
    QUESTION = auto()
    SLAP = auto()
    TURN = auto()
    TURN_AWAY = auto()


Timer = tuple[TimerKind, Seat, int]
"""What is due: its kind, the seat (or 0) and the card it is about (or 0)."""

CLOSING: Timer = (TimerKind.CONTEST, Seat(0), 0)
PINGING: Timer = (TimerKind.PING, Seat(0), 0)
LIMIT: Timer = (TimerKind.LIMIT, Seat(0), 0)
STANDING = (TimerKind.TURN, TimerKind.TURN_AWAY, TimerKind.PASS, TimerKind.CARRY)
"""Kinds of timers that follow from the game's state alone."""

UNSEATED = (TimerKind.CONTEST, TimerKind.PING, TimerKind.PASS, TimerKind.LIMIT, TimerKind.QUESTION)
"""Kinds of timers that are no seat's, whatever seat they name."""


class Timers:
    """The timers of one game. All instants are in microseconds on the room's clock."""

    def __init__(self) -> None:
        self._dues_us: dict[Timer, int] = {}

    def __contains__(self, timer: Timer) -> bool:
        return timer in self._dues_us

    def set(self, timer: Timer, due_us: int) -> None:
        """Has it ring then, and not when it was to ring before."""
        self._dues_us[timer] = due_us

    def drop(self, timer: Timer) -> bool:
        """Has it not ring; whether it was to."""
        return self._dues_us.pop(timer, None) is not None

    def keep(self, wanted: Callable[[Timer], bool]) -> None:
        """Drops all but those."""
        self._dues_us = {timer: due_us for timer, due_us in self._dues_us.items() if wanted(timer)}

    def stand(self, wanted: Mapping[Timer, int]) -> None:
        """Sets the timers that follow from the game's state. Those of them that are set already keep their instant."""
        kept = {t: due_us for t, due_us in self._dues_us.items() if t[0] not in STANDING or t in wanted}
        self._dues_us = {**wanted, **kept}

    def shift(self, by_us: int) -> None:
        """Has all of them ring so much later."""
        self._dues_us = {timer: due_us + by_us for timer, due_us in self._dues_us.items()}

    def latest_us(self, kind: TimerKind, at_least_us: int) -> int:
        """When the last of that kind rings, but not before `at_least_us`."""
        return max([at_least_us, *(due_us for timer, due_us in self._dues_us.items() if timer[0] is kind)])

    def next_us(self) -> int | None:
        """When the first of them rings, None where none is set."""
        return min(self._dues_us.values(), default=None)

    def ring(self, at_us: int) -> tuple[Timer, int] | None:
        """Takes the first that is due by `at_us`, with its instant; None where none is."""
        timer = min(self._dues_us, key=lambda t: (self._dues_us[t], t), default=None)
        if timer is None or self._dues_us[timer] > at_us:
            return None
        return timer, self._dues_us.pop(timer)
