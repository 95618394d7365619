"""The pace of one game: when a turn that was made takes effect, and when one is made for a silent seat.

After a won slap the next card is not shown for the slap moment (R3b).

Knows instants as numbers, and of the game what it waits for. Of the timers it sets MOMENT.
"""

from collections.abc import Sequence

from engine.game import Due, Seat, Turn, Wait
from engine.rules import GameName, Rules
from server.table.computers import Computers
from server.table.player import Player
from server.table.timers import Timer, TimerKind, Timers

AUTO_TURN_US = 15_000_000
AUTO_TURN_AWAY_US = 4_000_000
AUTO_TURN_WAR_US = 5_000_000
LAST_HAND_US = 10_000_000
LEAD_CAP_US = 250_000
LEAD_MARGIN_US = 5_000


class Pace:
    """The turns of one game that wait, in `turns` by their seats: for their moment (R3a, R3b), or for the contest about
    the card that they would cover (R6).

    `seen_until_us` is the end of the slap moment, in which everybody sees whose hand won; 0 before the first.
    """

    def __init__(self, rules: Rules, players: Sequence[Player], computers: Computers, timers: Timers) -> None:
        self.turns: dict[Seat, Turn] = {}
        self.seen_until_us = 0
        self._rules = rules
        self._players = players
        self._computers = computers
        self._timers = timers

    def lead_us(self) -> int:
        """How far ahead a card must be sent for the slowest present phone to show it in time."""
        usual_us = max([player.path.usual_us for player in self._players if player.connected], default=0)
        return min(LEAD_CAP_US, usual_us + LEAD_MARGIN_US)

    def next_card_us(self, shown_us: int) -> int:
        """Before when the next card is not shown: the one on top, shown at `shown_us`, has its time, and so has a won
        slap (R3a, R3b)."""
        return max(shown_us + self._rules.min_show_ms * 1000, self.seen_until_us)

    def is_due(self, turn: Turn, shown_us: int, at_us: int) -> bool:
        """Whether a turn takes effect now. If not it is timed: its card is not shown before `next_card_us`, nor before
        a call that is awaited (R13)."""
        timer = (TimerKind.MOMENT, turn.seat, turn.nth)
        moment_us = max(at_us, self.next_card_us(shown_us) - self.lead_us())
        if self._rules.call:
            moment_us = self._timers.latest_us(TimerKind.CALL, moment_us)
        if moment_us <= at_us:
            self._timers.drop(timer)
            return True
        self._timers.set(timer, moment_us)
        return False

    def timed(self) -> list[Turn]:
        """The turns that wait for their moment."""
        return [turn for turn in self.turns.values() if (TimerKind.MOMENT, turn.seat, turn.nth) in self._timers]

    def take(self, seat: Seat, nth: int) -> Turn | None:
        """The turn of that seat, which waits no more. It may have lost its ground meanwhile: the seat has left, or paid
        away its last card."""
        turn = self.turns.pop(seat, None)
        return turn if turn is not None and turn.nth == nth else None

    def plan(self, due: Due, base_us: int) -> None:
        """Sets the timers that follow from the game's state alone, as of `base_us`, and drops what lost its ground."""
        for seat in [s for s, turn in self.turns.items() if s not in due.turners or turn.nth != due.nth]:
            self._timers.drop((TimerKind.MOMENT, seat, self.turns.pop(seat).nth))
        wanted: dict[Timer, int] = {}
        for seat in due.turners:
            if seat not in self.turns:
                # Two kinds, so that a seat gets another time when its presence changes, and only then.
                kind = TimerKind.TURN_AWAY if self._players[seat].away else TimerKind.TURN
                wanted[kind, seat, due.nth] = base_us + self._turn_after_us(seat)
        if due.wait is Wait.LAST_HAND:
            wanted[TimerKind.PASS, Seat(0), due.nth - 1] = base_us + LAST_HAND_US
        elif due.wait is Wait.LAST_CARD:  # it is seen for its time as any other (R10)
            wanted[TimerKind.PASS, Seat(0), due.nth - 1] = base_us + self._rules.min_show_ms * 1000
        for seat in due.answers:
            if self._players[seat].away:
                wanted[TimerKind.CARRY, seat, due.nth - 1] = base_us
        self._timers.stand(wanted)

    def _turn_after_us(self, seat: Seat) -> int:
        """How long after the card on top was shown a turn is made for that seat."""
        if seat in self._computers.seats:
            return self._computers.turn_after_us()
        if self._players[seat].away:
            return AUTO_TURN_AWAY_US
        return AUTO_TURN_WAR_US if self._rules.game is GameName.WAR else AUTO_TURN_US
