"""A statistical watch over one seat's hands: is this still how people slap? It marks for the host; it punishes nobody.

Knows hands as the judge weighed them. A watch is a value.
"""

from math import exp, log

import msgspec

from engine.value import Value
from wire.messages import RankedSlap

CORRECTED_US = 5_000
"""A claim corrected by more than this, beyond what a late screen explains, is unlikely from an honest phone."""

QUICK_US = 150_000
"""Hardly anybody ever reacts to a picture in less."""

HONEST = 0.03
"""How often an honest hand is unlikely: the judge's own target for corrections."""

LYING = 0.9
"""How often a lying one is."""

MARK_AT = log(1_000_000)
"""Where a seat is marked: no more than one honest run in a million gets there (Page's CUSUM, 1954)."""

_UNLIKELY = log(LYING / HONEST)
_LIKELY = log((1 - LYING) / (1 - HONEST))


class CheatDetector(Value):
    """What a seat's hands so far say: `score` is the log of the odds that they are no person's."""

    score: float = 0.0

    def seen(self, hand: RankedSlap, late_us: int) -> "CheatDetector":
        """The watch after one more judged hand, on a card that the phone says it painted `late_us` late."""
        corrected = hand.added_us > CORRECTED_US + max(0, late_us)
        quick = hand.reaction_us is not None and hand.reaction_us < QUICK_US
        said = _UNLIKELY if corrected or quick else _LIKELY
        return msgspec.structs.replace(self, score=max(0.0, self.score + said))

    @property
    def one_in(self) -> int:
        """One honest run in so many looks like this."""
        return round(exp(min(self.score, 40.0)))

    @property
    def flagged(self) -> bool:
        """Whether the host should be told."""
        return self.score >= MARK_AT
