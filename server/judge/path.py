"""What the server can prove about one phone's network path, from pings alone (docs/fairness.md).

A ping carries bytes that nobody can foresee and shares the stream with the cards; its pong shares the stream with the
slaps. Nothing here is the phone's own word. A path is a value: instants in, a new path out.
"""

from engine.value import Value

LOWEST_OF_US = 30_000_000
"""The lowest round trip is that of the last half minute: a phone may move to a longer path."""


class RoundTrip(Value):
    """One ping answered: how long it took and when the pong came."""

    rtt_us: int
    at_us: int


class Path(Value):
    """The path to and from one connection. All times in microseconds, instants on the room's clock.

    `lows` holds the round trips that are, or may yet become, the lowest of the last half minute, rising in both
    fields. `smooth_us` and `spread_us` follow the usual round trip and how much it varies (RFC 6298, section 2).
    `answered_us` is when the last ping that came back had been sent.
    `kernel_rtt_us` is the lowest round trip that the kernel saw, where its peer is the phone itself.
    `rtt_us` is the lowest recent round trip, None while no ping has come back; `usual_us` how long a card usually takes
    to get there: half of a round trip that not many exceed. More would let a phone hold cards early, which a cheat
    could look at; less would show them late.
    """

    lows: tuple[RoundTrip, ...] = ()
    smooth_us: int = 0
    spread_us: int = 0
    answered_us: int | None = None
    kernel_rtt_us: int | None = None
    rtt_us: int | None = None
    usual_us: int = 0

    def ponged(self, sent_us: int, at_us: int, kernel_rtt_us: int | None = None) -> "Path":
        """The path after the pong for the ping sent at `sent_us` came at `at_us`, and what the kernel says by then."""
        rtt_us = max(0, at_us - sent_us)
        since_us = at_us - LOWEST_OF_US
        lows = [low for low in self.lows if low.rtt_us < rtt_us and low.at_us > since_us]
        lows.append(RoundTrip(rtt_us, at_us))
        if self.lows:
            spread_us = self.spread_us + (abs(rtt_us - self.smooth_us) - self.spread_us) // 4
            smooth_us = self.smooth_us + (rtt_us - self.smooth_us) // 8
        else:
            smooth_us, spread_us = rtt_us, rtt_us // 2
        usual_us = (smooth_us + spread_us) // 2
        return Path(tuple(lows), smooth_us, spread_us, sent_us, kernel_rtt_us, lows[0].rtt_us, usual_us)
