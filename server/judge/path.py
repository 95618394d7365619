"""What the server can prove about one phone's network path, from pings alone (docs/fairness.md).

A ping carries bytes that nobody can foresee and shares the stream with the cards; its pong shares the stream with the
slaps. Nothing here is the phone's own word. A path is a value: instants in, a new path out.
"""

from engine.value import Value

LOWEST_OF_US = 300_000_000
"""The lowest round trip is that of the last five minutes: a phone may move to a longer path."""

PONG_LAG_US = 30_000
"""No honest phone's pongs are so much slower than its kernel."""

JITTER_CAP_US = 12_000
"""By how much the way up may usually be slower than at its best without being held against its owner."""

SEND_MARGIN_US = 5_000
"""A card is sent so long before it must be there, beyond what the way usually takes."""

AHEAD_US = 10_000
"""So much sooner than the shortest way needs, for the sake of the usual one."""

RECENT_US = 2_000_000
"""A pong before that says nothing of how the line is now."""


class RoundTrip(Value):
    """One ping answered: how long it took and when the pong came."""

    rtt_us: int
    at_us: int


class Path(Value):
    """The path to and from one connection. All times in microseconds, instants on the room's clock.

    `lows` holds the round trips that are, or may yet become, the lowest of the last minutes, rising in both fields.
    `smooth_us` and `spread_us` follow the usual round trip and how much it varies (RFC 6298, section 2), and `before`
    is the last one, all of them while no slap card lay: what a phone does on those alone changes nothing of it.
    `answered_us` is when the last ping that came back had been sent. `kernel_rtt_us` is the lowest round trip that the
    kernel saw, and `direct` says that its peer has turned out to be the phone itself, by a pong that was hardly slower:
    a carrier's proxy is near, and every pong comes from far behind it.
    `rtt_us` is the lowest recent round trip, None while no ping has come back; `usual_us` how long a card usually takes
    to get there: half of a round trip that not many exceed.
    """

    lows: tuple[RoundTrip, ...] = ()
    smooth_us: int = 0
    spread_us: int = 0
    answered_us: int | None = None
    kernel_rtt_us: int | None = None
    rtt_us: int | None = None
    usual_us: int = 0
    before: RoundTrip | None = None
    direct: bool = False

    def ponged(self, sent_us: int, at_us: int, kernel_rtt_us: int | None = None, *, plain: bool = True) -> "Path":
        """The path after the pong for the ping sent at `sent_us` came at `at_us`, and what the kernel says by then.

        `plain` says that no slap card lay there.
        """
        rtt_us = max(0, at_us - sent_us)
        since_us = at_us - LOWEST_OF_US
        lows = [low for low in self.lows if low.rtt_us < rtt_us and low.at_us > since_us]
        lows.append(RoundTrip(rtt_us, at_us))
        smooth_us, spread_us, before = self.smooth_us, self.spread_us, self.before
        if plain and self.lows:
            spread_us += (abs(rtt_us - smooth_us) - spread_us) // 4
            smooth_us += (rtt_us - smooth_us) // 8
        elif not self.lows:
            smooth_us, spread_us = rtt_us, rtt_us // 2
        if plain:
            before = lows[-1]
        direct = self.direct or (kernel_rtt_us is not None and rtt_us <= kernel_rtt_us + PONG_LAG_US)
        usual_us = (smooth_us + spread_us) // 2
        lowest_us = lows[0].rtt_us
        return Path(tuple(lows), smooth_us, spread_us, sent_us, kernel_rtt_us, lowest_us, usual_us, before, direct)

    @property
    def jitter_us(self) -> int:
        """By how much the way up is usually slower than at its best, as far as that is made up for."""
        return min(JITTER_CAP_US, max(0, self.smooth_us - (self.rtt_us or 0)) // 2)

    @property
    def ahead_us(self) -> int:
        """How long before its moment a card may be sent: a phone that gets it sooner could be looked at sooner."""
        least_us = min(rtt_us for rtt_us in (self.rtt_us or 0, self.kernel_rtt_us) if rtt_us is not None)
        return min(self.usual_us, least_us // 2 + AHEAD_US)

    def slow_us(self, at_us: int) -> int:
        """By how much the line was slower than at its best just before `at_us`, on cards that are not slapped."""
        if self.before is None or self.rtt_us is None or self.before.at_us < at_us - RECENT_US:
            return 0
        return self.before.rtt_us - self.rtt_us
