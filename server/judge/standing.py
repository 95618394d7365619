"""What one seat's earlier hands leave for its next one: its lag credit, and the lag that its phone always has.

Knows what hands were measured at, as numbers. A standing is a value.
"""

import msgspec

from engine.value import Value

CREDIT_CAP_US = 400_000
CREDIT_START_US = 120_000
CREDIT_REFILL_US = 7_000
"""The lag credit: by how much claims may be quicker than expected. It refills with each slap card shown."""

TROUBLE_CAP_US = 600_000
TROUBLE_START_US = 300_000
TROUBLE_REFILL_US = 15_000
"""The same for a line that was slow on the cards before as well, and never more than it was slow then."""

LAG_CAP_US = 8_000
"""A phone's own lag between a touch and its sending is not held against it up to here."""

LAG_OUTLIER_US = 40_000
"""One hand says no more of it than this."""


class Standing(Value):
    """In microseconds: the two accounts, and the usual lag as learnt so far, which may lie outside of its bounds."""

    credit_us: int = CREDIT_START_US
    trouble_us: int = TROUBLE_START_US
    learnt_us: int = 0

    @property
    def lag_us(self) -> int:
        """The lag that is not held against the phone."""
        return min(max(0, self.learnt_us), LAG_CAP_US)

    def refilled(self) -> "Standing":
        """After one more slap card was shown."""
        return msgspec.structs.replace(
            self,
            credit_us=min(CREDIT_CAP_US, self.credit_us + CREDIT_REFILL_US),
            trouble_us=min(TROUBLE_CAP_US, self.trouble_us + TROUBLE_REFILL_US),
        )

    def available_us(self, slow_us: int) -> int:
        """What a claim may cost on a line that was slower by `slow_us` than at its best, before the card."""
        return self.credit_us + min(slow_us, self.trouble_us)

    def charged(self, cost_us: int, slow_us: int) -> "Standing":
        """After a claim that cost so much."""
        trouble_us = min(cost_us, slow_us, self.trouble_us)
        return msgspec.structs.replace(
            self, credit_us=self.credit_us - cost_us + trouble_us, trouble_us=self.trouble_us - trouble_us
        )

    def learned(self, lag_us: int) -> "Standing":
        """After one more hand or turn on any card, whose claim left so much more than its way takes."""
        sample_us = min(max(-LAG_OUTLIER_US, lag_us), LAG_OUTLIER_US)
        return msgspec.structs.replace(self, learnt_us=self.learnt_us + (sample_us - self.learnt_us) // 8)
