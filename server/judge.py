"""The dealer judge: who was first on a slap card (R4, R18; docs/fairness.md).

Knows reactions, arrivals and paths as numbers. Knows no socket, no clock and no truth: it sees what a server can see.
A contest is a value; every method gives a new one or an answer.
"""

from collections.abc import Callable

import msgspec

from engine.game import Seat, Value
from server.protocol import Hand, Verdict

TIE_BAND_US = 8_000
"""Two accepted reactions closer than this are too close to call (R18)."""

FLOOR_US = 100_000
"""No reaction below this is human: such a hand was meant for the card before."""

FLOORED_US = 200_000
"""What a hand below the floor is accepted as, so that a true quick hand beats it."""

PATH_CAP_US = 400_000
"""A path longer than this is not made up for beyond it."""

WINDOW_US = 250_000
"""How long the dealer collects hands after the first one arrived."""

CALL_BEFORE_US = 500_000
CALL_AFTER_US = 1_500_000
"""A call is good from half a second before the hand until one and a half after it (R13)."""


def measure(
    seat: Seat,
    claimed_us: int | None,
    *,
    shown_us: int,
    arrived_us: int,
    path_us: int,
    handicap_us: int = 0,
) -> Hand:
    """The hand that a claim stands for.

    `claimed_us` is the reaction on the phone's own clock, None where the phone has no usable stamps: then the usual
    one-way path `path_us` is taken off the time that has passed on ours. `shown_us` and `arrived_us` are instants on
    the room's clock.
    """
    elapsed_us = max(0, arrived_us - shown_us)
    reaction_us = elapsed_us - path_us if claimed_us is None else claimed_us
    accepted_us = max(min(reaction_us, elapsed_us), elapsed_us - PATH_CAP_US)
    if accepted_us < FLOOR_US:
        accepted_us = FLOORED_US
    return Hand(
        seat=seat,
        reaction_us=claimed_us,
        accepted_us=accepted_us + handicap_us,
        path_us=elapsed_us - accepted_us,
        handicap_us=handicap_us,
    )


class Heard(Value):
    """A hand and when it arrived, on the room's clock."""

    hand: Hand
    arrived_us: int


class Contest(Value):
    """The contest for slap card `nth`, shown at `shown_us`, among `rivals` who may still slap it.

    Where `call` is set a hand counts only once its call is heard (R13).
    """

    nth: int
    shown_us: int
    rivals: frozenset[Seat]
    call: bool = False
    heard: tuple[Heard, ...] = ()

    def hear(self, hand: Hand, arrived_us: int) -> "Contest":
        """The contest with one more hand, or turn that would cover the card; a seat's first one stands."""
        if any(h.hand.seat == hand.seat and h.hand.cover == hand.cover for h in self.heard):
            return self
        entry = Heard(hand, arrived_us)
        ranked = sorted((*self.heard, entry), key=lambda h: h.hand.accepted_us)
        return msgspec.structs.replace(self, heard=tuple(ranked))

    def hear_call(self, seat: Seat) -> "Contest":
        """The contest after `seat`'s call was heard in time."""
        return msgspec.structs.replace(
            self,
            heard=tuple(
                msgspec.structs.replace(h, hand=msgspec.structs.replace(h.hand, called=True))
                if h.hand.seat == seat and not h.hand.cover
                else h
                for h in self.heard
            ),
        )

    def forget(self, seat: Seat) -> "Contest":
        """The contest without a seat that has left (R25)."""
        return msgspec.structs.replace(
            self,
            rivals=self.rivals - {seat},
            heard=tuple(h for h in self.heard if h.hand.seat != seat),
        )

    def among(self, rivals: frozenset[Seat]) -> "Contest":
        """The contest among those who may still slap now: a phone is gone or back."""
        return msgspec.structs.replace(self, rivals=rivals)

    def afresh(self) -> "Contest":
        """The same card with no hand on it: none of those that came down counted (R13)."""
        return msgspec.structs.replace(self, heard=tuple(h for h in self.heard if h.hand.cover))

    def closes_us(self) -> int | None:
        """When the verdict can be given, None while nobody has moved.

        At once when every rival has slapped; else when the collecting window of the first arrival is over; and not
        before an earlier hand's call is heard or is too late (R13).
        """
        if not self.heard:
            return None
        first_us = min(h.arrived_us for h in self.heard)
        slapped = {h.hand.seat for h in self.heard if not h.hand.cover}
        closes_us = max(h.arrived_us for h in self.heard) if self.rivals <= slapped else first_us + WINDOW_US
        for h in self.heard:
            if self._counts(h):
                # A turn covers the card no sooner than its own moment (R3a, R6).
                return max(closes_us, self.shown_us + h.hand.accepted_us) if h.hand.cover else closes_us
            closes_us = max(closes_us, h.arrived_us + CALL_AFTER_US)
        return closes_us

    def verdict(self, game: int, at_us: int, lot: Callable[[int], int]) -> Verdict | None:
        """Who was first, None where no hand counts. `lot(n)` draws one of n that are exactly equal."""
        counting = [h for h in self.heard if self._counts(h)]
        if not counting:
            return None
        equal = [h for h in counting if h.hand.accepted_us == counting[0].hand.accepted_us]
        if len(equal) > 1:
            first = equal[lot(len(equal))]
            counting = [first, *(h for h in counting if h is not first)]
        best = counting[0].hand
        margin_us = counting[1].hand.accepted_us - best.accepted_us if len(counting) > 1 else None
        uncounted = [h for h in self.heard if not self._counts(h)]
        return Verdict(
            game=game,
            nth=self.nth,
            winner=None if best.cover else best.seat,
            hands=tuple(h.hand for h in (*counting, *uncounted)),
            margin_us=margin_us,
            wait_us=at_us - min(h.arrived_us for h in self.heard),
        )

    def _counts(self, heard: Heard) -> bool:
        return heard.hand.cover or heard.hand.called or not self.call


def too_close(verdict: Verdict) -> bool:
    """Whether the two best hands are closer than the tie band (R18). A turn is no hand."""
    return (
        verdict.margin_us is not None
        and verdict.margin_us < TIE_BAND_US
        and not any(hand.cover for hand in verdict.hands[:2])
    )
