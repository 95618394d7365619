"""What is known of the card on top at each phone of one game, and of the way to it: what hands on it are judged by.

Knows pings, and what phones and the server itself have said, as numbers. Does not know who was first.
"""

from collections.abc import Sequence

from engine.game import Seat
from server.judge import judge
from server.table.player import Player


class Witness:
    """`shown_us` is when the card on top was or is to be shown, `credits_us` the lag credit of each seat."""

    def __init__(self, players: Sequence[Player], computers: frozenset[Seat]) -> None:
        self.shown_us = 0
        self.credits_us = [player.credit_us for player in players]
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
        self._sent_late.clear()

    def painted(self, seat: Seat, nth: int, late_us: int) -> None:
        """A phone says how long after its moment it painted card `nth`."""
        if nth == self._top:
            self._painted_late.setdefault(seat, late_us)

    def sent_late(self, seat: Seat, show_at_us: int, late_us: int) -> None:
        """The card to be shown at `show_at_us` got to that phone so much later, and it is the server that was late."""
        if show_at_us == self.shown_us and late_us > 0:
            self._sent_late[seat] = late_us

    def refill(self) -> None:
        """One more slap card is shown."""
        self.credits_us = [judge.refilled(credit_us) for credit_us in self.credits_us]

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
        return self._watermark_us(seat, path.rtt_us, path.answered_us)

    def watermark_of_ping_us(self, seat: Seat, at_us: int) -> int | None:
        """What its watermark will be once the pong is here of a ping that is sent at `at_us`."""
        rtt_us = self._players[seat].path.rtt_us
        return None if rtt_us is None else self._watermark_us(seat, rtt_us, at_us)

    def _watermark_us(self, seat: Seat, rtt_us: int, answered_us: int) -> int:
        sent_late_us, late_us = self._sent_late.get(seat, 0), self._painted_late.get(seat)
        painted_us = None if late_us is None else late_us - sent_late_us
        watermark_us = judge.watermark_us(self.shown_us + sent_late_us, painted_us, rtt_us, answered_us)
        return watermark_us + self._players[seat].handicap_ms * 1000

    def evidence(
        self, seat: Seat, claimed_us: int | None, shown_us: int, at_us: int, *, cover: bool = False
    ) -> judge.Evidence:
        """All that a hand is judged by that arrived at `at_us`, on the card shown at `shown_us`."""
        player = self._players[seat]
        return judge.Evidence(
            seat=seat,
            claimed_us=claimed_us,
            shown_us=shown_us + self._sent_late.get(seat, 0),
            arrived_us=at_us,
            rtt_us=player.path.rtt_us,
            answered_us=player.path.answered_us,
            kernel_rtt_us=player.path.kernel_rtt_us,
            credit_us=self.credits_us[seat],
            handicap_us=player.handicap_ms * 1000,
            late_us=self._painted_late.get(seat),
            cover=cover,
            computer=seat in self._computers,
        )
