"""One running game in time: pace, turns made for a silent seat, wrong slaps, and what follows from the dealer's word.

Knows instants as numbers and any game through `engine.game.Game`. Knows no socket and no name, and never which game
it runs. Who was first is the referee's (`referee.py`), when turns are due the pace's (`pace.py`), when computer players
move is theirs (`computers.py`), and everything that is to be done later stands in the timers (`timers.py`).
"""

from collections.abc import Iterable, Sequence
from typing import assert_never

from engine.cards import Entropy
from engine.game import (
    AnyEvent,
    AnyMove,
    CardTurned,
    CarryOn,
    EndNow,
    Game,
    Leave,
    LetPass,
    PileWon,
    Reason,
    Refusal,
    Seat,
    SeatOut,
    Side,
    Slap,
    SlapKind,
    Status,
    TimeUp,
    Turn,
    Wait,
)
from engine.rules import GameName, Rules
from server.base.ports import RandomSource
from server.judge import judge
from server.table.computers import Computers
from server.table.journal import Judged, Moved
from server.table.outcome import Draft, GameUpdate, Outcome
from server.table.pace import Pace
from server.table.player import Player
from server.table.referee import Referee, Ruling
from server.table.strain import AT_EASE, Strain
from server.table.timers import LIMIT, UNSEATED, Timer, TimerKind, Timers
from server.table.witness import Witness
from wire.messages import DoCall, DoCarryOn, DoSlap, DoTurn, RejectReason, Verdict

SHOW_JACKS_US = 5_000_000
FIRST_CARD_US = 1_500_000
"""What the table needs to see the deal before the first card."""

NO_ENTROPY = Entropy(bytes(32))


class Play:
    """A game in progress. Its methods take the instant and give what follows from it.

    `stood_still_on` is the last card on which the table has stood still: people may have looked at it for longer than
    any clock here tells. `spectators` is how many look on who may judge. A game resumed from the journal has had
    `moves` and `played_us` already.
    """

    def __init__(
        self,
        game: Game,
        rules: Rules,
        number: int,
        players: Sequence[Player],
        random_source: RandomSource,
        *,
        at_us: int,
        strain: Strain = AT_EASE,
        show_jacks: bool = False,
        moves: int = 0,
        played_us: int = 0,
    ) -> None:
        self.game = game
        self.due = game.due()
        self.rules = rules
        self.number = number
        self.spectators = 0
        self.stood_still_on = 0
        self._players = players
        self._random_source = random_source
        self._timers = Timers()
        self._computers = Computers([player.computer for player in players], rules.calm, random_source)
        self.witness = Witness(players, self._computers.seats)
        self.referee = Referee(
            rules,
            number,
            self.witness,
            self._computers.seats,
            self._timers,
            random_source,
            strain,
            lambda: self.spectators > 0 or _judge_among(players, self.game),
        )
        self.witness.show(0, at_us + (SHOW_JACKS_US if show_jacks else FIRST_CARD_US) - rules.min_show_ms * 1000)
        self._pace = Pace(rules, players, self._computers, self._timers)
        self._slap_moment_us = rules.in_force().slap_moment_ms * 1000
        self._calls: dict[tuple[Seat, int], int] = {}
        self.began_us = at_us - played_us
        self._moves = moves
        self._draft = Draft()
        if rules.time_limit_min:
            self._timers.set(LIMIT, max(at_us, self.began_us + rules.time_limit_min * 60_000_000))
        self._plan(at_us)

    @property
    def over(self) -> bool:
        """Whether the game has been won."""
        return self.due.wait is Wait.OVER

    def played_us(self, at_us: int) -> int:
        """How long the game has been played at `at_us`: what stood still, slap moments too, is left out."""
        return max(at_us, self._pace.seen_until_us) - self.began_us

    # --- what happens --------------------------------------------------------------------------------------------

    def begin(self) -> Outcome:
        """The cards have been dealt: the table sees its stacks."""
        self._tell(())
        return self._draft.take()

    def move(self, seat: Seat, move: DoTurn | DoSlap | DoCall | DoCarryOn, at_us: int) -> Outcome:
        """What somebody does with their hand or voice."""
        refusal: Refusal | RejectReason | None
        match move:
            case DoTurn(_, nth, reaction_us, side):
                refusal = self._turn(Turn(seat, nth, side), reaction_us, at_us)
            case DoSlap() if self.rules.say_jack:
                refusal = Refusal(Reason.NOTHING_TO_SLAP, "R13a")
            case DoSlap(_, nth, reaction_us, side):
                refusal = self._hand(seat, nth, reaction_us, side, at_us)
            case DoCall(_, nth, reaction_us) if self.rules.say_jack:
                refusal = self._hand(seat, nth, reaction_us, Side.NONE, at_us)  # the call is the hand itself (R13a)
            case DoCall(_, nth):
                refusal = self._call(seat, nth, at_us)
            case DoCarryOn(_, nth):
                refusal = self._step(CarryOn(seat, nth), at_us)
            case _:
                assert_never(move)
        return self._draft.take(refusal)

    def point(self, question: int, seat: Seat, at_us: int) -> Outcome:
        """The table's judge points at a winner (R18)."""
        asked = self.referee.question
        if asked is None or asked.id != question or seat not in asked.seats:
            return Outcome(RejectReason.NO_QUESTION)
        return self._ruled(self.referee.answer(seat), at_us)

    def ponged(self, seat: Seat, at_us: int) -> Outcome | None:
        """A ping came back. None where nobody waits for that."""
        ruling = self.referee.ponged(seat, at_us)
        return None if ruling is None else self._ruled(ruling, at_us)

    def all_said(self, seat: Seat, nth: int, at_us: int) -> Outcome:
        """A page that was asked has said every hand on card `nth` that it had."""
        return self._ruled(self.referee.all_said(seat, nth, at_us), at_us)

    def leave(self, seat: Seat, at_us: int) -> Outcome:
        """A seat leaves for good (R25)."""
        self._follow(self.referee.forget(seat, at_us), at_us)
        self._pace.turns.pop(seat, None)
        self._timers.keep(lambda timer: timer[1] != seat or timer[0] in UNSEATED)
        self._step(Leave(seat), at_us)
        return self._draft.take()

    def end_now(self, at_us: int, *, too_long: bool = False) -> Outcome:
        """Has the cards counted, after the slap card that is open (R12): the host's wish, or the game is `too_long`."""
        return self._draft.take(self._step(EndNow(too_long), at_us))

    def settle(self, at_us: int) -> Outcome:
        """Decides at once what hands have come down, before the table stands still."""
        return self._ruled(self.referee.settle(at_us), at_us)

    def presence_changed(self, at_us: int) -> Outcome:
        """Phones are gone or back: their turns come sooner or later from now on (R24)."""
        self._plan(at_us)
        return self._draft.take()

    def go_on(self, since_us: int, at_us: int, *, afresh: bool) -> Outcome:
        """The table has stood still since then (R24): everything that is to come comes so much later.

        Shown `afresh`, the top card has a new moment: a window that was open is void, and every hand in it.
        """
        by_us = at_us - since_us
        self.stood_still_on = self.due.nth - 1
        self._timers.shift(by_us)
        self._calls = {call: called_us + by_us for call, called_us in self._calls.items()}
        self.began_us += by_us
        self._pace.seen_until_us += by_us
        self.witness.shown_us += by_us
        self.referee.shift(by_us)
        if afresh:
            self.referee.close()
            self.referee.withdraw()
            self.witness.show(self.due.nth - 1, at_us + self._pace.lead_us())
            self._pace.turns.clear()
            self._computers.forget()
            self._timers.keep(lambda timer: timer == LIMIT)
            self._tell((), self.witness.shown_us)
        self._plan(at_us)
        return self._draft.take()

    # --- time ----------------------------------------------------------------------------------------------------

    def wake_at(self) -> int | None:
        """The instant at which `wake` has something to do."""
        return self._timers.next_us()

    def wake(self, at_us: int) -> Outcome:
        """Does what is due at `at_us`, the earliest first; at one instant in the order of their kinds."""
        while not self.over and (due := self._timers.ring(at_us)) is not None:
            self._ring(*due)
        return self._draft.take()

    def _ring(self, timer: Timer, at_us: int) -> None:
        kind, seat, nth = timer
        match kind:
            case TimerKind.PING:  # first what rings most
                self._follow(self.referee.ping(at_us), at_us)
            case TimerKind.CONTEST:
                self._follow(self.referee.close_if_due(at_us), at_us)
            case TimerKind.TURN | TimerKind.TURN_AWAY:
                # In War cards turn by themselves (R21): whoever only watches it is not silent.
                if seat not in self._computers.seats and self.rules.game is not GameName.WAR:
                    self._draft.silent.append(seat)
                self._turn(Turn(seat, nth, Side.NONE), at_us - self.witness.shown_us, at_us)
            case TimerKind.MOMENT:
                self._turn_now(seat, nth, at_us)
            case TimerKind.SLAP:
                self._hand(seat, nth, at_us - self.witness.shown_us, Side.NONE, at_us)
                if self.rules.call:
                    self._call(seat, nth, at_us)
            case TimerKind.CARRY:
                self._step(CarryOn(seat, nth), at_us)
            case TimerKind.CALL:
                self._step(Slap(seat, nth), at_us)
                self._time_turns(at_us)
            case TimerKind.PASS if self.referee.contest is not None and self.referee.contest.heard:
                self._timers.set(timer, at_us + judge.WINDOW_CAP_US)  # a hand came in time: the dealer speaks first
            case TimerKind.PASS if (called_us := self._timers.latest_us(TimerKind.CALL, at_us)) > at_us:
                self._timers.set(timer, called_us)  # and so may the call of a wrong slap (R13)
            case TimerKind.PASS:
                self._step(LetPass(nth), at_us)
            case TimerKind.LIMIT:
                self._step(TimeUp(), at_us)
            case TimerKind.QUESTION:
                assert self.referee.question is not None
                self._follow(self.referee.answer(self.referee.question.seats[0]), at_us)
            case _:
                assert_never(kind)

    # --- moves ---------------------------------------------------------------------------------------------------

    def _turn(self, move: Turn, reaction_us: int | None, at_us: int) -> Refusal | None:
        """Turn a card: at once, when its moment has come (R3a), or when it is known that no hand was first (R6)."""
        if move.seat not in self.due.turners or move.nth != self.due.nth:
            outcome = self.game.step(move, NO_ENTROPY)
            if isinstance(outcome, Refusal):
                return outcome
        if move.seat in self._pace.turns:
            return Refusal(Reason.OTHER_TURN, "R3")
        self._pace.turns[move.seat] = move
        if self.due.contest and self.referee.contest is not None:
            self._follow(self.referee.cover(move.seat, reaction_us, at_us), at_us)
        elif self._pace.is_due(move, self.witness.shown_us, at_us):
            self._turn_now(move.seat, move.nth, at_us)
        return None

    def _hand(
        self, seat: Seat, nth: int, reaction_us: int | None, side: Side, at_us: int
    ) -> Refusal | RejectReason | None:
        """A hand on card `nth`, `reaction_us` after it was painted on that phone (R4, R7)."""
        called_us = self._calls.get((seat, nth))
        called = called_us is not None and at_us - called_us <= judge.CALL_BEFORE_US
        move = Slap(seat, nth, called=called, side=side)
        match self.game.weigh(move):
            case Refusal() as refusal:
                return self.referee.too_late(seat, nth, reaction_us, at_us) or refusal
            case SlapKind.WRONG if self.rules.call and not called:
                timer = (TimerKind.CALL, seat, nth)
                if timer not in self._timers:
                    self._timers.set(timer, at_us + judge.CALL_AFTER_US)
                self._time_turns(at_us)
            case SlapKind.WRONG:
                self._step(move, at_us)
            case SlapKind.CONTEST:
                if not self.referee.open_now:
                    return Refusal(Reason.PILE_GONE, "R7f")
                self._follow(self.referee.slap(seat, reaction_us, called, at_us), at_us)
        return None

    def _call(self, seat: Seat, nth: int, at_us: int) -> Refusal | None:
        """ "Slapjack!" (R13)."""
        if not self.rules.call:
            return Refusal(Reason.NOTHING_TO_SLAP, "R13")
        top = self.due.nth - 1
        if nth not in (top, top - 1):
            return Refusal(Reason.NO_SUCH_CARD, "R13")
        self._calls[seat, nth] = at_us
        if self._timers.drop((TimerKind.CALL, seat, nth)):
            self._step(Slap(seat, nth, called=True), at_us)
            self._time_turns(at_us)
        else:
            self._follow(self.referee.call(seat, nth, at_us), at_us)
        return None

    def _time_turns(self, at_us: int) -> None:
        """Gives the turns that wait their moment again: a call is awaited, or is not any more (R13)."""
        for turn in self._pace.timed():
            if self._pace.is_due(turn, self.witness.shown_us, at_us):
                self._turn_now(turn.seat, turn.nth, at_us)

    def _turn_now(self, seat: Seat, nth: int, at_us: int) -> None:
        turn = self._pace.take(seat, nth)
        if turn is not None:
            self._step(turn, at_us)

    # --- what follows --------------------------------------------------------------------------------------------

    def _ruled(self, ruling: Ruling, at_us: int) -> Outcome:
        self._follow(ruling, at_us)
        return self._draft.take()

    def _follow(self, ruling: Ruling, at_us: int) -> None:
        """Does what the dealer says: the first hand, or the turn that came before every hand, takes effect."""
        self._draft.pings += ruling.pings
        self._draft.asks += ruling.asks
        if ruling.question:
            self._tell(())
        verdict = ruling.verdict
        if verdict is None:
            return
        best = verdict.hands[0]
        if verdict.winner is None:
            self._step(self._pace.turns.pop(best.seat), at_us, verdict)
        else:
            self._pace.turns.clear()
            self._step(Slap(verdict.winner, verdict.nth, called=best.called), at_us, verdict)

    def _step(self, move: AnyMove, at_us: int, verdict: Verdict | None = None) -> Refusal | None:
        entropy = self._random_source.draw()
        outcome = self.game.step(move, entropy)
        if isinstance(outcome, Refusal):
            return outcome
        self.game = outcome.game
        self.due = self.game.due()
        self._moves += 1
        if verdict is not None:
            self._draft.entries.append(Judged(verdict, tuple(self.referee.evidence)))
        self._draft.entries.append(Moved(self.number, self._moves, move, entropy, self.played_us(at_us)))
        if self.over:
            self.referee.withdraw()
        show_at_us = 0
        if any(isinstance(event, CardTurned) for event in outcome.events):
            show_at_us = max(at_us + self._pace.lead_us(), self._pace.next_card_us(self.witness.shown_us))
            self.witness.show(self.due.nth - 1, show_at_us)
            self._calls.clear()
        if any(isinstance(event, PileWon) for event in outcome.events) and not self.over:
            self._let_slap_be_seen(at_us)
        self._tell(outcome.events, show_at_us, verdict)
        self._plan(at_us)
        for event in outcome.events:
            if isinstance(event, SeatOut):
                self._follow(self.referee.forget(event.seat, at_us), at_us)
        return None

    def _let_slap_be_seen(self, at_us: int) -> None:
        """A slap has won: nothing goes on for the slap moment, and the clock of the limits stands still in it (R3b)."""
        moment_us = self._slap_moment_us
        self._pace.seen_until_us = at_us + moment_us
        self.began_us += moment_us
        if LIMIT in self._timers:
            self._timers.set(LIMIT, self._timers.latest_us(TimerKind.LIMIT, at_us) + moment_us)

    def _tell(self, events: tuple[AnyEvent, ...], show_at_us: int = 0, verdict: Verdict | None = None) -> None:
        evidence = tuple(self.referee.evidence) if verdict is not None else ()
        judged = self.due.contest > 0
        self._draft.updates.append(
            GameUpdate(show_at_us, events, self.game.view(), verdict, self.referee.question, evidence, judged)
        )

    # --- what is to come -----------------------------------------------------------------------------------------

    def _plan(self, at_us: int) -> None:
        """Sets the timers that the game's state asks for and takes away those it does not."""
        due = self.due
        if self.over:
            self._timers.keep(lambda _: False)
            self._pace.turns.clear()
            self.referee.close()
            return
        self._pace.plan(due, max(at_us, self.witness.shown_us, self._pace.seen_until_us))
        for seat, reaction_us in self._computers.reactions_us(self.game, due.nth - 1).items():
            self._timers.set((TimerKind.SLAP, seat, due.nth - 1), max(at_us, self.witness.shown_us) + reaction_us)
        slappers = _still_there(self._players, due.slappers)
        if not due.contest:
            self.referee.close()
        elif self.referee.contest is None or self.referee.contest.nth != due.contest:
            self.referee.open(due.contest, slappers)
        else:
            # The card that was to cover it may have been paid away (R7), and in calm mode rivals come and go (R19).
            self.referee.among(slappers, frozenset(self._pace.turns), at_us)


def _still_there(players: Sequence[Player], seats: Iterable[Seat]) -> frozenset[Seat]:
    """Those whose phone is there, and computer players."""
    return frozenset(s for s in seats if players[s].connected or players[s].computer is not None)


def _judge_among(players: Sequence[Player], game: Game) -> bool:
    """Whether a person who is out can judge for the table (R18)."""
    seated = zip(game.view().seats, players, strict=True)
    return any(seat.status is Status.OUT and p.computer is None and not p.away for seat, p in seated)
