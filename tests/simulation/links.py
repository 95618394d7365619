"""A phone's network and main thread as chance makes them, for worlds on a made-up clock and for real sockets alike.

All times in microseconds of true time. Every direction is first in, first out, as TCP is.
"""

import random
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Network:
    """One kind of path. `rtt_ms` is without jitter; `down_share` of it is the way down.

    `jitter_ms` is what a round trip takes on top on average, half of it each way, exponentially spread. Stalls hold
    everything back for up to `stall_ms`; a direction is stalled for the share `stalled` of the time. For the share
    `bursts` of the time, five seconds at a stretch, a round trip takes `burst_ms` more. `kernel_ms` is the round trip
    to whatever the server's kernel sees, where that is not the phone itself.
    """

    rtt_ms: float
    jitter_ms: float = 0.0
    down_share: float = 0.5
    stalled: float = 0.0
    stall_ms: float = 200.0
    bursts: float = 0.0
    burst_ms: float = 200.0
    kernel_ms: float | None = None


class Blocks:
    """Stretches of time in which something stands still, drawn as they come."""

    def __init__(self, rng: random.Random, share: float, shortest_ms: float, longest_ms: float) -> None:
        self._rng = rng
        self._shortest_us, self._longest_us = shortest_ms * 1000, longest_ms * 1000
        self._gap_us = (self._shortest_us + self._longest_us) / 2 * (1 - share) / share if share else 0.0
        self._from_us = rng.expovariate(1 / self._gap_us) if share else float("inf")
        self._to_us = self._from_us + rng.uniform(self._shortest_us, self._longest_us) if share else float("inf")

    def out_of(self, at_us: float) -> float:
        """`at_us`, or the end of the block it falls in. Asked in order of time."""
        while at_us >= self._to_us:
            self._from_us = self._to_us + self._rng.expovariate(1 / self._gap_us)
            self._to_us = self._from_us + self._rng.uniform(self._shortest_us, self._longest_us)
        return self._to_us if at_us >= self._from_us else at_us


@dataclass(slots=True)
class Way:
    """One direction of a path."""

    base_us: float
    jitter_us: float
    stalls: Blocks
    bursts: Blocks
    burst_us: float
    rng: random.Random
    last_us: float = field(default=0.0)

    def arrival_us(self, sent_us: float) -> int:
        """When what is sent at `sent_us` arrives; nothing overtakes what was sent before."""
        jitter_us = self.rng.expovariate(1 / self.jitter_us) if self.jitter_us else 0.0
        burst_us = self.burst_us if self.bursts.out_of(sent_us) > sent_us else 0.0
        self.last_us = max(self.last_us, self.stalls.out_of(sent_us + self.base_us + jitter_us + burst_us))
        return round(self.last_us)


def ways(network: Network, rng: random.Random) -> tuple[Way, Way]:
    """The way down and the way up."""
    shares = (network.down_share, 1 - network.down_share)
    bursts_seed = rng.random() if network.bursts else 0.0  # both ways at once
    down, up = (
        Way(
            network.rtt_ms * 1000 * share,
            network.jitter_ms * 500,
            Blocks(random.Random(rng.random()), network.stalled, 1.0, network.stall_ms),
            Blocks(random.Random(bursts_seed), network.bursts, 5_000, 5_000),
            network.burst_ms * 500,
            random.Random(rng.random()),
        )
        for share in shares
    )
    return down, up
