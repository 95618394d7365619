"""The dealer at one table: the contest for the card on top, whom to ask meanwhile, the verdict, the table's judge.

Knows what `server.judge` makes of the evidence that `witness.py` puts together, and instants as numbers. Knows no game:
what follows from a verdict is its caller's. Of the timers it sets CLOSING, PINGING and QUESTION.
"""

from collections.abc import Callable

import msgspec

from engine.game import Seat
from engine.rules import JudgeOf, Rules
from engine.value import Value
from server.base import meters
from server.base.ports import RandomSource, fraction
from server.judge import judge
from server.table.strain import Strain
from server.table.timers import CLOSING, PINGING, TimerKind, Timers
from server.table.witness import Witness
from wire.messages import Question, RankedSlap, RejectReason, Verdict

QUESTION_US = 10_000_000
PING_SELDOM_US = 50_000
LIKELY_US = 2_000_000
"""For how long hands are likely on a slap card, and how often phones are pinged after that."""

FIRST_ASK_US = 150_000
OFTEN_US = 1_000_000
ASK_SELDOM_US = 100_000
"""When pages are first asked about a card, for how long often, and how often after that: a phone may say some thirty
messages a second."""


class Ruling(Value):
    """What the dealer wants done: whom to ping, whose page to ask for hands, what question to put to the table's judge,
    which verdict to carry out."""

    pings: tuple[Seat, ...] = ()
    asks: tuple[Seat, ...] = ()
    question: bool = False
    verdict: Verdict | None = None


class Referee:
    """Who was first on each slap card of one game.

    `evidence` is what the hands of this contest were judged by, `late_winners` how many hands came after a verdict that
    they would have won. `may_judge` says whether anybody may judge for the table (R18).
    """

    def __init__(
        self,
        rules: Rules,
        number: int,
        witness: Witness,
        computers: frozenset[Seat],
        timers: Timers,
        random_source: RandomSource,
        strain: Strain,
        may_judge: Callable[[], bool],
    ) -> None:
        self.contest: judge.Contest | None = None
        self.question: Question | None = None
        self.evidence: list[judge.Evidence] = []
        self.late_winners = 0
        self._rules = rules
        self._number = number
        self._witness = witness
        self._computers = computers
        self._timers = timers
        self._random_source = random_source
        self._strain = strain
        self._may_judge = may_judge
        self._asked_us = self._spoke_us = 0
        self._in_question: Verdict | None = None
        self._spoken: tuple[Verdict | None, int] = (None, 0)

    # --- the card ------------------------------------------------------------------------------------------------

    def open(self, nth: int, slappers: frozenset[Seat]) -> None:
        """Hands on the card on top are a contest now, among these."""
        self.contest = judge.Contest(nth, self._witness.shown_us, slappers, self._computers, self._rules.call)
        self.evidence.clear()
        self._witness.refill()
        if slappers - self._computers:
            # A hand that gets here before that is for the card before, and no ping will make it another.
            after_us = max(0, judge.FLOOR_US - 2 * self._witness.usual_us() - judge.PING_US)
            self._timers.set(PINGING, self._witness.shown_us + after_us)

    def among(self, slappers: frozenset[Seat], covering: frozenset[Seat], at_us: int) -> None:
        """Only these may slap now, and only those have a turn that would cover the card."""
        assert self.contest is not None
        heard = tuple(h for h in self.contest.heard if not h.hand.cover or h.hand.seat in covering)
        self.contest = msgspec.structs.replace(self.contest.among(slappers), heard=heard)
        self._plan(at_us)

    def is_plain(self, sent_us: int) -> bool:
        """Whether no slap card lay when a ping was sent at `sent_us`, nor lies now."""
        return self.contest is None and sent_us >= self._spoke_us

    def close(self) -> None:
        """Hands on the card on top are no contest any more."""
        self.contest = None
        self._timers.drop(CLOSING)
        self._timers.drop(PINGING)

    def withdraw(self) -> None:
        """The question to the table's judge is not asked any more."""
        self._in_question = self.question = None
        self._timers.keep(lambda timer: timer[0] is not TimerKind.QUESTION)

    def shift(self, by_us: int) -> None:
        """The table has stood still for so long (R24)."""
        if self.contest is not None:
            heard = tuple(judge.Heard(h.hand, h.arrived_us + by_us) for h in self.contest.heard)
            asked = {seat: tuple(due_us + by_us for due_us in dues_us) for seat, dues_us in self.contest.asked.items()}
            shown_us = self.contest.shown_us + by_us
            self.contest = msgspec.structs.replace(self.contest, shown_us=shown_us, heard=heard, asked=asked)

    # --- hands ---------------------------------------------------------------------------------------------------

    @property
    def open_now(self) -> bool:
        """Whether a hand on the card on top may still be first."""
        return self.contest is not None and self._in_question is None

    def slap(self, seat: Seat, reaction_us: int | None, called: bool, at_us: int) -> Ruling:
        """A hand on the card on top; a seat's first one stands."""
        assert self.contest is not None
        if any(e.seat == seat and not e.cover for e in self.evidence):
            return Ruling()
        self.contest = self._with_watermarks(self.contest).hear(self._take_hand(seat, reaction_us, at_us), at_us)
        if called or not self._rules.call:
            self.contest = self.contest.hear_call(seat)
        return self.close_if_due(at_us)

    def cover(self, seat: Seat, reaction_us: int | None, at_us: int) -> Ruling:
        """A turn that would cover the card on top: it takes effect once no hand can have come before it (R6)."""
        assert self.contest is not None
        cover = self._take_hand(seat, reaction_us, at_us, cover=True)
        # Its moment is not before the card on top has had its time (R3a), and it has no handicap (R32).
        moment_us = max(cover.accepted_us - cover.handicap_us, self._rules.min_show_ms * 1000)
        cover = msgspec.structs.replace(cover, accepted_us=moment_us, handicap_us=0)
        self.contest = self._with_watermarks(self.contest).hear(cover, at_us)
        return self.close_if_due(at_us)

    def call(self, seat: Seat, nth: int, at_us: int) -> Ruling:
        """A call (R13). It counts for the seat's hand if it is in time, as others may keep the contest open longer."""
        if self.contest is None or self.contest.nth != nth:
            return Ruling()
        heard = self.contest.heard
        if not any(h.hand.seat == seat and at_us - h.arrived_us <= judge.CALL_AFTER_US for h in heard):
            return Ruling()
        self.contest = self.contest.hear_call(seat)
        return self.close_if_due(at_us)

    def too_late(self, seat: Seat, nth: int, reaction_us: int | None, at_us: int) -> RejectReason | None:
        """Counts a hand that would have won had it come before the verdict. A verdict is final all the same."""
        spoken, shown_us = self._spoken
        if spoken is None or spoken.nth != nth or any(hand.seat == seat and not hand.cover for hand in spoken.hands):
            return None
        evidence = self._witness.evidence(seat, reaction_us, shown_us, at_us)
        if judge.weigh(evidence).accepted_us >= spoken.hands[0].accepted_us:
            return None
        self.late_winners += 1
        meters.LATE_WINNERS.inc()
        return RejectReason.TOO_LATE

    def forget(self, seat: Seat, at_us: int) -> Ruling:
        """A seat is out, and so is the hand of its own that was still to be judged (R8, R25)."""
        ruling = Ruling()
        if self.question is not None and seat in self.question.seats:
            ruling = self.answer(next(s for s in self.question.seats if s != seat))
        if self.contest is not None:
            self.contest = self.contest.forget(seat)
            self._plan(at_us)
        return ruling

    def _take_hand(self, seat: Seat, reaction_us: int | None, at_us: int, *, cover: bool = False) -> RankedSlap:
        """Has the dealer weigh a hand, and takes what it cost from the lag credit."""
        evidence = self._witness.evidence(seat, reaction_us, self._witness.shown_us, at_us, cover=cover)
        self.evidence.append(evidence)
        hand = judge.weigh(evidence)
        self._witness.charge(seat, hand.credit_us)
        self._witness.learn(evidence)
        return hand

    # --- the wait ------------------------------------------------------------------------------------------------

    def ponged(self, seat: Seat, at_us: int) -> Ruling | None:
        """A ping came back: nothing earlier can come from there. None where nobody waits for that."""
        if self.contest is None or not self.contest.heard:
            return None
        self.contest = self.contest.raise_watermark(seat, self._witness.watermark_us(seat))
        return self.close_if_due(at_us)

    def all_said(self, seat: Seat, nth: int, at_us: int) -> Ruling:
        """A page that was asked has said every hand on card `nth` that it had."""
        if self.contest is None or self.contest.nth != nth or seat not in self.contest.asked:
            return Ruling()
        self.contest = self.contest.answered(seat)
        return self.close_if_due(at_us) if self.contest.heard else Ruling()

    def ping(self, at_us: int) -> Ruling:
        """Pings every phone that may still be earlier, and now and then asks its page whether it holds a hand.

        Often while hands are likely, seldom when the table sleeps; and at moments that no hand has changed, for whoever
        saw that one has come down could be quick to say that its own was before.
        """
        contest = self.contest
        if contest is None or self._in_question is not None:
            return Ruling()
        since_us = at_us - self._witness.shown_us
        pace_us = judge.PING_US if since_us < LIKELY_US else PING_SELDOM_US
        self._timers.set(PINGING, at_us + round(pace_us * self._strain.ping_backoff))
        ask_us = judge.ASK_US if since_us < OFTEN_US else ASK_SELDOM_US
        asks: tuple[Seat, ...] = ()
        if since_us >= FIRST_ASK_US and at_us >= self._asked_us + ask_us:
            self._asked_us = at_us
            dues_us = {
                seat: at_us + rtt_us + judge.PAGE_US
                for seat in sorted(contest.silent() - contest.local)
                if (rtt_us := self._witness.rtt_us(seat)) is not None
            }
            self.contest = contest.ask(dues_us)
            asks = tuple(dues_us)
        return Ruling(tuple(sorted(contest.open_to() - contest.local)), asks)

    def _with_watermarks(self, contest: judge.Contest) -> judge.Contest:
        """The contest with the watermarks of its rivals as they stand, which it needs from its first hand on."""
        if not contest.heard:
            for seat in contest.rivals - contest.local:
                contest = contest.raise_watermark(seat, self._witness.watermark_us(seat))
        return contest

    # --- the verdict ---------------------------------------------------------------------------------------------

    def _plan(self, at_us: int) -> int | None:
        """Sets the timer for the verdict; gives the instant, None while there is nothing to decide."""
        closes_us = self.contest.closes_us(at_us) if self.contest is not None and self._in_question is None else None
        if closes_us is None:
            self._timers.drop(CLOSING)
        else:
            self._timers.set(CLOSING, closes_us)
        return closes_us

    def close_if_due(self, at_us: int) -> Ruling:
        """The verdict, if it can be given by now."""
        closes_us = self._plan(at_us)
        if closes_us is None or closes_us > at_us or self.contest is None:
            return Ruling()
        return self._speak(self.contest, at_us)

    def settle(self, at_us: int) -> Ruling:
        """Decides at once what hands have come down, before the table stands still or the game ends."""
        if self.question is not None:
            return self.answer(self.question.seats[0])
        if self.contest is not None and any(not h.hand.cover for h in self.contest.heard):
            return self._speak(self.contest, at_us, ask=False)
        return Ruling()

    def _speak(self, contest: judge.Contest, at_us: int, *, ask: bool = True) -> Ruling:
        self._timers.drop(CLOSING)
        self._spoke_us = at_us
        verdict = contest.verdict(self._number, at_us, lambda n: int(fraction(self._random_source) * n))
        if verdict is None:  # nobody called in time: the hands cost nothing and the card is still there (R13)
            self.contest = contest.afresh()
            self.evidence.clear()
            return Ruling()
        if ask and self._rules.judge is JudgeOf.TABLE and judge.too_close(verdict) and self._may_judge():
            first, second = (hand.seat for hand in verdict.hands[:2])
            self._in_question = verdict
            self.question = Question(
                verdict.nth, self._number, verdict.nth, (first, second), verdict.hands, at_us + QUESTION_US
            )
            self._timers.set((TimerKind.QUESTION, Seat(0), verdict.nth), self.question.until_us)
            return Ruling(question=True)
        return Ruling(verdict=self._said(verdict))

    def answer(self, winner: Seat) -> Ruling:
        """The verdict in question goes to that seat."""
        verdict = self._in_question
        assert verdict is not None
        self.withdraw()
        hands = sorted(verdict.hands, key=lambda hand: hand.seat != winner)
        return Ruling(verdict=self._said(msgspec.structs.replace(verdict, winner=winner, hands=tuple(hands))))

    def _said(self, verdict: Verdict) -> Verdict:
        """The verdict, which is final from now on."""
        meters.VERDICT_WAIT.observe(verdict.wait_us / 1e6)
        meters.CORRECTED.inc(sum(hand.added_us > 0 for hand in verdict.hands))
        self._spoken = (verdict, self._witness.shown_us)
        return verdict
