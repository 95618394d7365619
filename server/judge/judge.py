"""The dealer judge: who was first on a slap card (R4, R18; docs/fairness.md).

Knows reactions, arrivals and what a path proves, as numbers. Knows no socket, no clock and no truth: it sees what a
server can see. Evidence, hands and contests are values, so any verdict can be derived again from its record.
"""

from collections.abc import Callable

import msgspec

from engine.game import Seat
from engine.value import Value
from server.judge.path import PONG_LAG_US
from wire.messages import RankedSlap, Verdict

TIE_BAND_US = 8_000
"""Two accepted reactions closer than this are too close to call (R18)."""

FLOOR_US = 100_000
"""No reaction below this is human: such a hand was meant for the card before."""

FLOORED_US = 200_000
"""What a hand below the floor is accepted as, so that a true quick hand beats it."""

PATH_CAP_US = 400_000
"""A path longer than this is not made up for beyond it."""

WINDOW_CAP_US = 400_000
"""The verdict comes at most this long after the leading hand arrived."""

FRAME_US = 17_000
"""A card is painted at the first frame after its moment: so late every honest screen may be."""

UNSEEN_US = 250_000
"""A phone that has not said that the card is painted may paint it so late."""

SLACK_US = 8_000
"""What input dispatch and the hop from the page to the network may take."""

BUSY_US = 150_000
"""For so long a page may be at something else and hold a hand, while the network process answers pings."""

PAGE_US = 20_000
"""So long a page that is at nothing else takes to say that it holds no hand, or hardly longer."""

ASK_US = 40_000
"""How often pages are asked that, while hands are likely."""

PING_US = 10_000
"""How often phones are asked while hands are likely."""

HOP_US = 1_500
"""What dispatch and hop usually take."""

UNCLAIMED_US = 30_000
"""Of the way up, so much is made up for where the phone claims nothing: it has only to hold its pongs back."""

CALL_BEFORE_US = 500_000
CALL_AFTER_US = 1_500_000
"""A call is good from half a second before the hand until one and a half after it (R13)."""


class Evidence(Value):
    """All that a hand is judged by. Instants are on the room's clock, everything is in microseconds.

    `claimed_us` is the reaction on the phone's own clock, its word alone; None where it has no usable stamps. The rest
    is the server's: when the card was to be shown, or could be where the server itself had sent it late, when the hand
    arrived, the lowest round trip and the sending of the last ping whose pong had come (None: no ping came back), the
    lowest round trip that the kernel saw where its peer is the phone itself, by how much its way up is usually slower
    than at its best, the lag that its phone always has, and what was left of the lag credit. `late_us` is how late the
    phone said it painted the card; no verdict rests on it.
    """

    seat: Seat
    claimed_us: int | None
    shown_us: int
    arrived_us: int
    rtt_us: int | None
    answered_us: int | None
    kernel_rtt_us: int | None = None
    credit_us: int = 0
    jitter_us: int = 0
    lag_us: int = 0
    handicap_us: int = 0
    late_us: int | None = None
    cover: bool = False
    computer: bool = False


def proved_us(shown_us: int, rtt_us: int, answered_us: int) -> int:
    """How long after the card's moment a hand came down at the earliest, when the pong came before it.

    The hand left after that ping was there: after `answered_us` and the way down. The card's moment on the phone's
    clock is off by half of what down and up differ, and so the way down cancels: half of the round trip is right for
    any asymmetry.
    """
    return answered_us + rtt_us // 2 - shown_us


def watermark_us(shown_us: int, late_us: int | None, rtt_us: int, answered_us: int) -> int:
    """The reaction below which nothing can come any more from a phone after this pong.

    `late_us` is how late the phone says it painted the card, None while it has not said so; and the page may hold a
    hand a little that the network process has overtaken with its pong. A lie about it wins nothing but time.
    """
    painted_us = UNSEEN_US if late_us is None else min(max(0, late_us), UNSEEN_US)
    return proved_us(shown_us, rtt_us, answered_us) - painted_us - SLACK_US


def weigh(evidence: Evidence) -> RankedSlap:
    """The hand that the evidence makes.

    What an honest claim would be is known to a few milliseconds, in two ways. By the pings: the hand came half a ping
    after the last one that was answered before it, on a card painted half a frame late. By the way: it came as long
    before its arrival as the way up usually takes. A line that stalls makes the first one earlier than the second; so
    does a phone that keeps silent, which nobody can tell from it. So the later of the two is expected, less the lag
    that this phone always has, and being quicker than that costs lag credit, as it does an honest phone now and then
    that janked, stalled or got its card late; what the credit does not cover is added back. So no lie gains more than
    the credit refills and that lag. Without a usable claim the link alone decides.
    """
    e = evidence
    elapsed_us = max(0, e.arrived_us - e.shown_us)
    if e.computer:
        return RankedSlap(e.seat, elapsed_us, elapsed_us + e.handicap_us, handicap_us=e.handicap_us, cover=e.cover)
    # A hand from the future: that clock has jumped, and its word is worth nothing.
    claimed_us = None if e.claimed_us is None or e.claimed_us > elapsed_us + FRAME_US else max(0, e.claimed_us)
    expected_us = _expected_us(e, elapsed_us)
    if claimed_us is None:
        reaction_us = max(expected_us, elapsed_us - min((e.rtt_us or 0) // 2, UNCLAIMED_US) - FRAME_US // 2)
    else:
        reaction_us = claimed_us
        expected_us -= e.lag_us
    least_us = elapsed_us - PATH_CAP_US
    short_us = max(0, expected_us - reaction_us)
    credit_us = min(short_us, e.credit_us, max(0, expected_us - least_us))
    accepted_us = max(reaction_us + short_us - credit_us, least_us)
    if accepted_us < FLOOR_US:
        accepted_us, credit_us = FLOORED_US, 0
    return RankedSlap(
        seat=e.seat,
        reaction_us=claimed_us,
        accepted_us=accepted_us + e.handicap_us,
        path_us=elapsed_us - reaction_us,
        added_us=max(0, accepted_us - reaction_us),
        credit_us=credit_us,
        handicap_us=e.handicap_us,
        cover=e.cover,
    )


def lag_us(evidence: Evidence) -> int | None:
    """What a claim leaves beyond the usual way up and half a frame: the phone's own lag, give or take a little.

    None where it makes no claim, or the way is not known.
    """
    e = evidence
    if e.computer or e.claimed_us is None or e.rtt_us is None:
        return None
    return e.arrived_us - e.shown_us - e.claimed_us - e.rtt_us // 2 - e.jitter_us - HOP_US - FRAME_US // 2


def _expected_us(e: Evidence, elapsed_us: int) -> int:
    """What an honest claim would be, but for the phone's own lag."""
    if e.rtt_us is None or e.answered_us is None:
        return elapsed_us
    by_way_us = elapsed_us - e.rtt_us // 2 - e.jitter_us - HOP_US - FRAME_US // 2
    if e.kernel_rtt_us is not None and e.rtt_us > e.kernel_rtt_us + PONG_LAG_US:
        # The phone answers late what its kernel has acknowledged at once, so its pongs prove nothing.
        return elapsed_us - e.kernel_rtt_us // 2 - PONG_LAG_US
    by_pings_us = proved_us(e.shown_us, e.rtt_us, e.answered_us) + PING_US // 2 - HOP_US - FRAME_US // 2
    return min(max(by_pings_us, by_way_us), elapsed_us)


class Heard(Value):
    """A hand and when it arrived, on the room's clock."""

    hand: RankedSlap
    arrived_us: int


class Contest(Value):
    """The contest for slap card `nth`, shown at `shown_us`, among `rivals`, who may still slap it.

    Those of them that are `local` are computer players: their hands come down here, at their very moment. `watermarks`
    says for each rival below which reaction nothing can come from there any more, `asked` by when a page should have
    said that it holds no hand, for each time it was asked and has not yet, and `said` has those who have said so on
    this card at all. Where `call` is set a hand counts only once its call is heard (R13).
    """

    nth: int
    shown_us: int
    rivals: frozenset[Seat]
    local: frozenset[Seat] = frozenset()
    call: bool = False
    heard: tuple[Heard, ...] = ()
    watermarks: dict[Seat, int] = msgspec.field(default_factory=dict)
    asked: dict[Seat, tuple[int, ...]] = msgspec.field(default_factory=dict)
    said: frozenset[Seat] = frozenset()

    def hear(self, hand: RankedSlap, arrived_us: int) -> "Contest":
        """The contest with one more hand, or turn that would cover the card; a seat's first one stands."""
        if any(h.hand.seat == hand.seat and h.hand.cover == hand.cover for h in self.heard):
            return self
        ranked = sorted((*self.heard, Heard(hand, arrived_us)), key=lambda h: h.hand.accepted_us)
        return msgspec.structs.replace(self, heard=tuple(ranked))

    def hear_call(self, seat: Seat) -> "Contest":
        """The contest after `seat`'s call was heard in time (R13)."""
        return msgspec.structs.replace(self, heard=tuple(_with_call(h) if _is_of(h, seat) else h for h in self.heard))

    def raise_watermark(self, seat: Seat, reaction_us: int) -> "Contest":
        """The contest knowing that no hand below `reaction_us` is still to come from `seat`."""
        if reaction_us <= self.watermarks.get(seat, 0):
            return self
        return msgspec.structs.replace(self, watermarks={**self.watermarks, seat: reaction_us})

    def ask(self, dues_us: dict[Seat, int]) -> "Contest":
        """The contest after those pages were asked, whose answers should be here by then."""
        asked = self.asked | {seat: (*self.asked.get(seat, ()), due_us) for seat, due_us in dues_us.items()}
        return msgspec.structs.replace(self, asked=asked)

    def answered(self, seat: Seat) -> "Contest":
        """The contest after that page has said, to the first question it had not answered, that it holds no hand."""
        asked = {**self.asked, seat: self.asked.get(seat, ())[1:]}
        return msgspec.structs.replace(self, asked=asked, said=self.said | {seat})

    def forget(self, seat: Seat) -> "Contest":
        """The contest without a seat that has left (R25)."""
        heard = tuple(h for h in self.heard if h.hand.seat != seat)
        return msgspec.structs.replace(self, rivals=self.rivals - {seat}, heard=heard)

    def among(self, rivals: frozenset[Seat]) -> "Contest":
        """The contest among those who may still slap now: a phone is gone or back."""
        return msgspec.structs.replace(self, rivals=rivals)

    def afresh(self) -> "Contest":
        """The same card with no hand on it: none of those that came down counted (R13)."""
        return msgspec.structs.replace(self, heard=(), asked={})

    def open_to(self) -> frozenset[Seat]:
        """The rivals who may still be earlier than the leader: not slapped, and not past it with their watermark."""
        leading_us = self.heard[0].hand.accepted_us if self.heard else 0
        return frozenset(s for s in self.silent() if not self.heard or self.watermarks.get(s, 0) < leading_us)

    def silent(self) -> frozenset[Seat]:
        """The rivals of whom no hand has been heard."""
        return self.rivals - {h.hand.seat for h in self.heard if not h.hand.cover}

    def closes_us(self, at_us: int) -> int | None:
        """When the verdict can be given as things stand at `at_us`, None while nobody has moved.

        At once when nobody can still be earlier, at the latest when the window has run into its cap; and not before an
        earlier hand's call is heard or comes too late (R13). It may lie in the past. A page that has answered before
        and owes an answer may be busy, and hold a hand that its pongs have overtaken; so its word is waited for.
        """
        if not self.heard:
            return None
        first = self.heard[0]
        open_to = self.open_to()
        closes_us = first.arrived_us + (WINDOW_CAP_US if open_to - self.local else 0)
        if open_to & self.local or first.hand.cover:
            # A computer's hand, or a turn made ahead of its moment (R3a), may still be to come.
            closes_us = max(closes_us, self.shown_us + first.hand.accepted_us)
        for h in self.heard:
            if self._counts(h):
                break
            closes_us = max(closes_us, h.arrived_us + CALL_AFTER_US)
        if closes_us <= at_us:
            silent = self.silent() & self.said
            owed = [dues_us[0] for seat, dues_us in self.asked.items() if dues_us and seat in silent]
            busy_us = max((due_us + BUSY_US for due_us in owed if due_us <= at_us), default=closes_us)
            closes_us = max(closes_us, min(busy_us, first.arrived_us + WINDOW_CAP_US))
        return closes_us

    def verdict(self, game: int, at_us: int, lot: Callable[[int], int]) -> Verdict | None:
        """Who was first, None where no hand counts. `lot(n)` draws one of n that are exactly equal."""
        counting = [h.hand for h in self.heard if self._counts(h)]
        if not counting:
            return None
        equal = sum(hand.accepted_us == counting[0].accepted_us for hand in counting)
        if equal > 1:
            counting.insert(0, counting.pop(lot(equal)))
        best = counting[0]
        return Verdict(
            game=game,
            nth=self.nth,
            winner=None if best.cover else best.seat,
            hands=(*counting, *(h.hand for h in self.heard if not self._counts(h))),
            margin_us=counting[1].accepted_us - best.accepted_us if len(counting) > 1 else None,
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


def _is_of(heard: Heard, seat: Seat) -> bool:
    return heard.hand.seat == seat and not heard.hand.cover


def _with_call(heard: Heard) -> Heard:
    return Heard(msgspec.structs.replace(heard.hand, called=True), heard.arrived_us)
