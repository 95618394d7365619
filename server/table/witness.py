"""What is known of the card on top at each phone of one game, and of the way to it: what hands on it are judged by.

Knows pings, and what phones and the server itself have said, as numbers. Does not know who was first.
"""

from collections.abc import Sequence

from engine.game import Seat
from server.judge import judge
from server.judge.path import SEND_MARGIN_US
from server.table.player import Player


class Witness:
    """`shown_us` is when the card on top was or is to be shown, `standings` what earlier hands leave each seat."""

    def __init__(self, players: Sequence[Player], computers: frozenset[Seat]) -> None:
        self.shown_us = 0
        self.standings = [player.standing for player in players]
        self._players = players
        self._computers = computers
        self._top = 0
        # The card on top, at each phone: how late that painted it, and how late the server had sent it.
        self._painted_late: dict[Seat, int] = {}
        self._sent_late: dict[Seat, int] = {}

    def show(self, nth: int, show_at_us: int) -> None:
        """Card `nth` comes on top, or is shown afresh where it is there already."""
        self._top = nth
        self.shown_us = show_at_us
        self._painted_late.clear()
        # Where the way by the pongs is longer than the kernel's, the card is not sent soon enough for it.
        self._sent_late = {
            Seat(seat): late_us
            for seat, player in enumerate(self._players)
            if (late_us := (player.path.rtt_us or 0) // 2 - player.path.ahead_us - SEND_MARGIN_US) > 0
        }

    def painted(self, seat: Seat, nth: int, late_us: int) -> None:
        """A phone says how long after its moment it painted card `nth`."""
        if nth == self._top:
            self._painted_late.setdefault(seat, late_us)

    def sent_late(self, seat: Seat, show_at_us: int, late_us: int) -> None:
        """The card to be shown at `show_at_us` got to that phone so much later, and it is the server that was late."""
        if show_at_us == self.shown_us and late_us > 0:
            self._sent_late[seat] = self._sent_late.get(seat, 0) + late_us

    def refill(self) -> None:
        """One more slap card is shown."""
        self.standings = [standing.refilled() for standing in self.standings]

    def usual_us(self) -> int:
        """How long a card usually takes to the farthest phone."""
        return max(player.path.usual_us for player in self._players)

    def rtt_us(self, seat: Seat) -> int | None:
        """The lowest recent round trip, None while no ping has come back."""
        return self._players[seat].path.rtt_us

    def watermark_us(self, seat: Seat) -> int:
        """The accepted reaction below which no hand can come from that phone any more; 0 before its first pong."""
        path = self._players[seat].path
        if path.rtt_us is None or path.answered_us is None:
            return 0
        sent_late_us, late_us = self._sent_late.get(seat, 0), self._painted_late.get(seat)
        painted_us = None if late_us is None else late_us - sent_late_us
        watermark_us = judge.watermark_us(self.shown_us + sent_late_us, painted_us, path.rtt_us, path.answered_us)
        return watermark_us + self._players[seat].handicap_ms * 1000

    def evidence(
        self, seat: Seat, claimed_us: int | None, shown_us: int, at_us: int, *, cover: bool = False
    ) -> judge.Evidence:
        """All that a hand is judged by that arrived at `at_us`, on the card shown at `shown_us`."""
        player, standing = self._players[seat], self.standings[seat]
        slow_us = player.path.slow_us(shown_us)
        return judge.Evidence(
            seat=seat,
            claimed_us=claimed_us,
            shown_us=shown_us + self._sent_late.get(seat, 0),
            arrived_us=at_us,
            rtt_us=player.path.rtt_us,
            answered_us=player.path.answered_us,
            kernel_rtt_us=player.path.kernel_rtt_us if player.path.direct else None,
            credit_us=standing.available_us(slow_us // 2),
            jitter_us=max(player.path.jitter_us, slow_us // 2),
            lag_us=standing.lag_us,
            handicap_us=player.handicap_ms * 1000,
            late_us=self._painted_late.get(seat),
            cover=cover,
            computer=seat in self._computers,
        )

    def charge(self, seat: Seat, cost_us: int) -> None:
        """A claim on the card on top has cost so much."""
        slow_us = self._players[seat].path.slow_us(self.shown_us)
        self.standings[seat] = self.standings[seat].charged(cost_us, slow_us // 2)

    def learn(self, evidence: judge.Evidence) -> None:
        """Any hand or turn tells of the lag that its phone always has."""
        lag_us = judge.lag_us(evidence)
        if lag_us is not None:
            self.standings[evidence.seat] = self.standings[evidence.seat].learned(lag_us)
