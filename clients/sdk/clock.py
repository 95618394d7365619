"""The room's clock, estimated from the answers to `sync` (P8).

Knows exchanges and what they say about the difference between two clocks. Reads no clock itself.
"""

from typing import Self

from engine.value import Value

KEEP = 48
"""Exchanges remembered: about two minutes of them at the usual pace."""

GRAIN_US = 500
"""How far off an exchange may be that took no longer than the shortest one."""

USUAL_DRIFT = 50e-6
"""How fast two quartz clocks usually part, and how much of a trend it takes to be believed."""

WORST_DRIFT = 500e-6
"""No two working clocks part faster than this."""


class Exchange(Value):
    """One question and its answer: sent and heard on our own clock, stamped in between on the room's."""

    sent_us: int
    room_us: int
    heard_us: int

    @property
    def rtt_us(self) -> int:
        """The round trip."""
        return self.heard_us - self.sent_us

    @property
    def offset_us(self) -> float:
        """Room's clock minus ours, were both ways equally long. It is never wrong by more than half the round trip."""
        return self.room_us - (self.sent_us + self.heard_us) / 2

    @property
    def middle_us(self) -> float:
        """When it happened, on our own clock."""
        return (self.sent_us + self.heard_us) / 2


class RoomClock(Value):
    """What is known of the room's clock: `offset_us` at our instant `at_us`, and how it drifts from there.

    A straight line through the exchanges, each weighed by how little it exceeded the shortest round trip; a drift is
    believed only as far as the exchanges span enough time to show one. Path asymmetry stays in the offset: no
    exchange of messages can see it.
    """

    exchanges: tuple[Exchange, ...] = ()
    at_us: float = 0.0
    offset_us: float = 0.0
    drift: float = 0.0

    def learned(self, new: Exchange) -> "Self":
        """The estimate after one more exchange. One that contradicts the earlier ones shows that a clock has jumped
        (a suspended machine, another server): they are forgotten."""
        kept = () if self._contradicted_by(new) else self.exchanges
        kept = (*kept, new)[-KEEP:]
        shortest_us = min(exchange.rtt_us for exchange in kept)
        weights = [((e.rtt_us - shortest_us) / 2 + GRAIN_US) ** -2 for e in kept]
        total = sum(weights)
        at_us = sum(w * e.middle_us for w, e in zip(weights, kept, strict=True)) / total
        # Offsets are taken from the newest, so that the squares stay small however large the clocks' readings are.
        origin_us = new.offset_us
        mean_us = sum(w * (e.offset_us - origin_us) for w, e in zip(weights, kept, strict=True)) / total
        spread = sum(w * (e.middle_us - at_us) ** 2 for w, e in zip(weights, kept, strict=True))
        trend = sum(
            w * (e.middle_us - at_us) * (e.offset_us - origin_us - mean_us) for w, e in zip(weights, kept, strict=True)
        )
        drift = trend / (spread + USUAL_DRIFT**-2)
        return type(self)(exchanges=kept, at_us=at_us, offset_us=origin_us + mean_us, drift=drift)

    def _contradicted_by(self, new: Exchange) -> bool:
        if not self.exchanges:
            return False
        best = min(self.exchanges, key=lambda e: e.rtt_us + 2 * WORST_DRIFT * (new.middle_us - e.middle_us))
        reach_us = (best.rtt_us + new.rtt_us) / 2 + WORST_DRIFT * (new.middle_us - best.middle_us) + 2 * GRAIN_US
        return abs(new.offset_us - best.offset_us) > reach_us

    @property
    def rtt_us(self) -> int:
        """The lowest recent round trip, 0 before the first exchange."""
        return min((exchange.rtt_us for exchange in self.exchanges), default=0)

    def room_us(self, now_us: int) -> int:
        """The room's clock at our instant `now_us`."""
        return round(now_us + self.offset_us + self.drift * (now_us - self.at_us))

    def own_us(self, room_us: int) -> int:
        """Our instant at which the room's clock reads `room_us`."""
        unmoved_us = room_us - self.offset_us
        return round(unmoved_us - self.drift * (unmoved_us - self.at_us))
