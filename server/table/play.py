"""One running game in time: pace, turns made for a silent seat, contests, calls, the table's judge, computer players.

Knows instants as numbers and any game through `engine.game.Game`. Knows no socket and no name, and never which game
it runs. Everything it must do later stands in `timers`, so it sleeps and wakes as a value.
"""

from collections.abc import Sequence
from enum import IntEnum, auto
from statistics import NormalDist
from typing import Protocol, assert_never

import msgspec

from engine.cards import Entropy
from engine.game import (
    AnyEvent,
    AnyMove,
    CardTurned,
    CarryOn,
    Due,
    EndNow,
    Game,
    GameView,
    Leave,
    LetPass,
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
from engine.rules import GameName, JudgeOf, Rules
from engine.value import Value
from server.base import meters
from server.base.ports import RandomSource
from server.judge import judge
from server.judge.path import Path
from server.table.journal import AnyEntry, Judged, Moved
from server.table.records import Computer
from server.table.strain import AT_EASE, Strain
from wire.messages import Question, RankedSlap, RejectReason, Verdict

AUTO_TURN_US = 15_000_000
AUTO_TURN_AWAY_US = 4_000_000
AUTO_TURN_WAR_US = 5_000_000
SILENT_TURNS = 3
"""After so many turns made for it a silent seat counts as away (R24)."""

LAST_HAND_US = 10_000_000
QUESTION_US = 10_000_000
SHOW_JACKS_US = 5_000_000
FIRST_CARD_US = 1_500_000
"""What the table needs to see the deal before the first card."""

LEAD_CAP_US = 250_000
LEAD_MARGIN_US = 5_000
PING_SELDOM_US = 50_000
LIKELY_US = 2_000_000
"""For how long hands are likely on a slap card, and how often phones are asked after that."""

COMPUTER_TURN = NormalDist(900_000, 200_000)
QUICKEST_COMPUTER_US = 150_000


class Player(Protocol):
    """What a game must know of whoever sits there."""

    silent_turns: int
    credit_us: int

    @property
    def computer(self) -> Computer | None:
        """How it plays, where it is a computer player (R31)."""

    @property
    def handicap_ms(self) -> int:
        """What is added to its accepted reactions (R32)."""

    @property
    def path(self) -> Path:
        """What is proved of the way to and from its phone."""

    @property
    def connected(self) -> bool:
        """Whether a hand can still come from there."""

    @property
    def away(self) -> bool:
        """The phone is gone, or has not moved for three turns (R24)."""


class GameUpdate(Value):
    """Something to tell the table: what happened, to be shown at `show_at_us` (0: at once), and the game after it.

    `judged` says whether hands on the card on top are a contest.
    """

    show_at_us: int
    events: tuple[AnyEvent, ...]
    view: GameView
    verdict: Verdict | None = None
    question: Question | None = None
    evidence: tuple[judge.Evidence, ...] = ()
    judged: bool = False


class TimerKind(IntEnum):
    """What a timer is for. At one instant they ring in this order: a hand not called before the turn it held up."""

    CALL = auto()
    CARRY = auto()
    CONTEST = auto()
    MOMENT = auto()
    LIMIT = auto()
    PASS = auto()
    PING = auto()
    QUESTION = auto()
    SLAP = auto()
    TURN = auto()
    TURN_AWAY = auto()


Timer = tuple[TimerKind, Seat, int]
"""What is due: its kind, the seat (or 0) and the card it is about."""


class Play:
    """A game in progress. Its methods take the instant, and give a `Refusal` where a move does not stand.

    `overturned` counts the hands that would have won, had they come before the verdict.
    `stood_still_on` is the last card on which the table has stood still: people may have looked at it for longer than
    any clock here tells.
    What is to be told collects in `happenings`, who is to be pinged in `pings`, whose page is to be asked for hands in
    `asks` and what is to be journaled in `entries`, until the room takes it away. A game taken up from the journal has
    had `moves` and `played_us` already.
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
        self.players = players
        self.timers: dict[Timer, int] = {}
        self.updates: list[GameUpdate] = []
        self.pings: list[Seat] = []
        self.asks: list[Seat] = []
        self.entries: list[AnyEntry] = []
        self.spectators = 0
        self.question: Question | None = None
        self.contest: judge.Contest | None = None
        self._random_source = random_source
        self._strain = strain
        # Turns that wait: for their moment (R3a), or for the contest about the card that they would cover (R6).
        self._turns: dict[Seat, Turn] = {}
        self._reacted: dict[Seat, int] = {}
        # The card on top, at each phone: how late that painted it, and how late the server had sent it.
        self._painted_late: dict[Seat, int] = {}
        self._sent_late: dict[Seat, int] = {}
        self._evidence: list[judge.Evidence] = []
        self._spoken: tuple[Verdict | None, int] = (None, 0)
        self.late_winners = 0
        self.stood_still_on = 0
        self._calls: dict[tuple[Seat, int], int] = {}
        self._in_question: Verdict | None = None
        self.shown_us = at_us + (SHOW_JACKS_US if show_jacks else FIRST_CARD_US) - rules.min_show_ms * 1000
        self._began_us = at_us - played_us
        self._moves = moves
        if rules.time_limit_min:
            self.timers[TimerKind.LIMIT, Seat(0), 0] = max(at_us, self._began_us + rules.time_limit_min * 60_000_000)
        self._tell(())
        self._plan(at_us)

    # --- moves ---------------------------------------------------------------------------------------------------

    def turn(
        self, seat: Seat, nth: int, reaction_us: int | None, side: Side, at_us: int, *, auto: bool = False
    ) -> Refusal | None:
        """Turn a card: at once, when its moment has come (R3a), or when it is known that no hand was first (R6)."""
        move = Turn(seat, nth, side)
        refusal = self._would_refuse(move)
        if refusal is None and seat in self._turns:
            refusal = Refusal(Reason.OTHER_TURN, "R3")
        if refusal is not None:
            return refusal
        self.players[seat].silent_turns = self.players[seat].silent_turns + 1 if auto else 0
        self._turns[seat] = move
        if self.due.contest and self.contest is not None:
            cover = self._take_hand(seat, reaction_us, at_us, cover=True)
            # Its moment is not before the card on top has had its time (R3a), and it has no handicap (R32).
            moment_us = max(cover.accepted_us - cover.handicap_us, self.rules.min_show_ms * 1000)
            cover = msgspec.structs.replace(cover, accepted_us=moment_us, handicap_us=0)
            self.contest = self._with_watermarks(self.contest).hear(cover, at_us)
            self._close_if_due(at_us)
        else:
            self.timers[TimerKind.MOMENT, seat, nth] = self._moment_us(at_us)
            self._turn_if_due(seat, nth, at_us)
        return None

    def slap(
        self, seat: Seat, nth: int, reaction_us: int | None, side: Side, at_us: int
    ) -> Refusal | RejectReason | None:
        """A hand on card `nth`, `reaction_us` after it was painted on that phone (R4, R7)."""
        if self.rules.say_jack:
            return Refusal(Reason.NOTHING_TO_SLAP, "R13a")
        return self._hand(seat, nth, reaction_us, side, at_us)

    def _hand(
        self, seat: Seat, nth: int, reaction_us: int | None, side: Side, at_us: int
    ) -> Refusal | RejectReason | None:
        self.players[seat].silent_turns = 0
        move = Slap(seat, nth, called=self._called(seat, nth, at_us), side=side)
        match self.game.weigh(move):
            case Refusal() as refusal:
                return self._too_late(seat, nth, reaction_us, at_us) or refusal
            case SlapKind.WRONG if self.rules.call and not move.called:
                self.timers.setdefault((TimerKind.CALL, seat, nth), at_us + judge.CALL_AFTER_US)
                self._time_turns(at_us)
            case SlapKind.WRONG:
                self._step(move, at_us)
            case SlapKind.CONTEST:
                if self.contest is None or self._in_question is not None:
                    return Refusal(Reason.PILE_GONE, "R7f")
                if any(e.seat == seat and not e.cover for e in self._evidence):
                    return None
                self.contest = self._with_watermarks(self.contest).hear(
                    self._take_hand(seat, reaction_us, at_us), at_us
                )
                if move.called or not self.rules.call:
                    self.contest = self.contest.hear_call(seat)
                self._close_if_due(at_us)
                self._ping(at_us)
        return None

    def call(self, seat: Seat, nth: int, reaction_us: int | None, at_us: int) -> Refusal | RejectReason | None:
        """ "Slapjack!" (R13); under `say_jack` it is the hand itself (R13a)."""
        if self.rules.say_jack:
            return self._hand(seat, nth, reaction_us, Side.NONE, at_us)
        if not self.rules.call:
            return Refusal(Reason.NOTHING_TO_SLAP, "R13")
        top = self.due.nth - 1
        if nth not in (top, top - 1):
            return Refusal(Reason.NO_SUCH_CARD, "R13")
        self._calls[seat, nth] = at_us
        if self.timers.pop((TimerKind.CALL, seat, nth), None) is not None:
            self._step(Slap(seat, nth, called=True), at_us)
            self._time_turns(at_us)
        elif self.contest is not None and self.contest.nth == nth and self._in_time(self.contest, seat, at_us):
            self.contest = self.contest.hear_call(seat)
            self._close_if_due(at_us)
        return None

    def carry_on(self, seat: Seat, nth: int, at_us: int) -> Refusal | None:
        """A person lets the card pass (R19)."""
        self.players[seat].silent_turns = 0
        return self._step(CarryOn(seat, nth), at_us)

    def point(self, question: int, seat: Seat, at_us: int) -> bool:
        """The table's judge points at a winner (R18); False where there is nothing to decide, or not between these."""
        if self.question is None or self.question.id != question or seat not in self.question.seats:
            return False
        self._answer(seat, at_us)
        return True

    def leave(self, seat: Seat, at_us: int) -> None:
        """A seat leaves for good (R25)."""
        self._forget_hand(seat, at_us)
        self._turns.pop(seat, None)
        self.timers = {
            timer: due_us for timer, due_us in self.timers.items() if timer[1] != seat or timer[0] in UNSEATED
        }
        self._step(Leave(seat), at_us)

    def end_now(self, at_us: int) -> Refusal | None:
        """The host ends the game and has the cards counted (R12)."""
        self.settle(at_us)
        return self._step(EndNow(), at_us)

    def settle(self, at_us: int) -> None:
        """Decides at once what hands have come down, before the table stands still or the game ends."""
        if self.question is not None:
            self._answer(self.question.seats[0], at_us)
        elif self.contest is not None and any(not h.hand.cover for h in self.contest.heard):
            self._close(self.contest, at_us, ask=False)

    # --- time ----------------------------------------------------------------------------------------------------

    def wake_at(self) -> int | None:
        """The instant at which `wake` has something to do."""
        return min(self.timers.values(), default=None)

    def wake(self, at_us: int) -> None:
        """Does what is due at `at_us`, the earliest first; at one instant in the order of their kinds."""
        while not self.over:
            timer = min(self.timers, key=lambda t: (self.timers[t], t), default=None)
            if timer is None or self.timers[timer] > at_us:
                return
            due_us = self.timers.pop(timer)
            self._ring(timer, due_us)

    def shift(self, by_us: int) -> None:
        """Moves everything that is to come: the table has stood still for so long (R24)."""
        self.stood_still_on = self.due.nth - 1
        self.timers = {timer: due_us + by_us for timer, due_us in self.timers.items()}
        self._calls = {call: at_us + by_us for call, at_us in self._calls.items()}
        self._began_us += by_us
        self.shown_us += by_us
        if self.contest is not None:
            heard = tuple(judge.Heard(h.hand, h.arrived_us + by_us) for h in self.contest.heard)
            asked = {seat: due_us and due_us + by_us for seat, due_us in self.contest.asked.items()}
            shown_us = self.contest.shown_us + by_us
            self.contest = msgspec.structs.replace(self.contest, shown_us=shown_us, heard=heard, asked=asked)

    def show_afresh(self, at_us: int) -> None:
        """Shows the top card anew: a window that was open and unannounced is void, and every hand in it."""
        if self.question is not None:
            self._in_question = self.question = None
            self.timers = {timer: due_us for timer, due_us in self.timers.items() if timer[0] != TimerKind.QUESTION}
        self.shown_us = at_us + self._lead_us()
        self.contest = None
        self._turns.clear()
        self._painted_late.clear()
        self._sent_late.clear()
        self._reacted.clear()
        self.timers = {timer: due_us for timer, due_us in self.timers.items() if timer[0] == TimerKind.LIMIT}
        self._tell((), self.shown_us)
        self._plan(at_us)

    def presence_changed(self, at_us: int) -> None:
        """Phones are gone or back: their turns come sooner or later from now on (R24)."""
        if self.contest is not None:
            self.contest = self.contest.among(self._rivals(self.due))
        self._plan(at_us)
        self._plan_contest(at_us)

    def played_us(self, at_us: int) -> int:
        """How long the game has been played, without the time in which the table stood still."""
        return at_us - self._began_us

    @property
    def over(self) -> bool:
        """Whether the game has been won."""
        return self.due.wait is Wait.OVER

    # --- inside --------------------------------------------------------------------------------------------------

    def _ring(self, timer: Timer, at_us: int) -> None:
        kind, seat, nth = timer
        match kind:
            case TimerKind.PING:  # first what rings most
                self._ping(at_us)
            case TimerKind.CONTEST:
                self._close_if_due(at_us)
            case TimerKind.TURN | TimerKind.TURN_AWAY:
                # In War cards turn by themselves (R21): whoever only watches it is not silent.
                expected = self.players[seat].computer is None and self.rules.game is not GameName.WAR
                self.turn(seat, nth, at_us - self.shown_us, Side.NONE, at_us, auto=expected)
            case TimerKind.MOMENT:
                self._turn_now(seat, nth, at_us)
            case TimerKind.SLAP:
                self._hand(seat, nth, at_us - self.shown_us, Side.NONE, at_us)
                if self.rules.call:
                    self.call(seat, nth, at_us - self.shown_us, at_us)
            case TimerKind.CARRY:
                self._step(CarryOn(seat, nth), at_us)
            case TimerKind.CALL:
                self._step(Slap(seat, nth), at_us)
                self._time_turns(at_us)
            case TimerKind.PASS if self.contest is not None and self.contest.heard:
                self.timers[timer] = at_us + judge.WINDOW_CAP_US  # a hand came down in time: the dealer speaks first
            case TimerKind.PASS:
                self._step(LetPass(nth), at_us)
            case TimerKind.LIMIT:
                self._step(TimeUp(), at_us)
            case TimerKind.QUESTION:
                assert self.question is not None
                self._answer(self.question.seats[0], at_us)
            case _:
                assert_never(kind)

    def _too_late(self, seat: Seat, nth: int, reaction_us: int | None, at_us: int) -> RejectReason | None:
        """Counts a hand that would have won had it come before the verdict. A verdict is final all the same."""
        spoken, shown_us = self._spoken
        if spoken is None or spoken.nth != nth or any(hand.seat == seat and not hand.cover for hand in spoken.hands):
            return None
        if judge.weigh(self._gather(seat, reaction_us, shown_us, at_us)).accepted_us >= spoken.hands[0].accepted_us:
            return None
        self.late_winners += 1
        meters.LATE_WINNERS.add()
        return RejectReason.TOO_LATE

    def _take_hand(self, seat: Seat, reaction_us: int | None, at_us: int, *, cover: bool = False) -> RankedSlap:
        """Has the dealer weigh a hand, and takes what it cost from the lag credit."""
        evidence = self._gather(seat, reaction_us, self.shown_us, at_us, cover=cover)
        self._evidence.append(evidence)
        hand = judge.weigh(evidence)
        self.players[seat].credit_us -= hand.credit_us
        return hand

    def _gather(
        self, seat: Seat, reaction_us: int | None, shown_us: int, at_us: int, *, cover: bool = False
    ) -> judge.Evidence:
        player = self.players[seat]
        return judge.Evidence(
            seat=seat,
            claimed_us=reaction_us,
            shown_us=shown_us + self._sent_late.get(seat, 0),
            arrived_us=at_us,
            rtt_us=player.path.rtt_us,
            answered_us=player.path.answered_us,
            kernel_rtt_us=player.path.kernel_rtt_us,
            credit_us=player.credit_us,
            handicap_us=player.handicap_ms * 1000,
            late_us=self._painted_late.get(seat),
            cover=cover,
            computer=player.computer is not None,
        )

    def _called(self, seat: Seat, nth: int, at_us: int) -> bool:
        called_us = self._calls.get((seat, nth))
        return called_us is not None and at_us - called_us <= judge.CALL_BEFORE_US

    def _in_time(self, contest: judge.Contest, seat: Seat, at_us: int) -> bool:
        """Whether a call still counts for the seat's hand, as others may keep the contest open for longer (R13)."""
        return any(h.hand.seat == seat and at_us - h.arrived_us <= judge.CALL_AFTER_US for h in contest.heard)

    def _moment_us(self, at_us: int) -> int:
        """When a turn made now takes effect, so that its card is not shown before its moment (R3a, R13)."""
        moment_us = max(at_us, self.shown_us + self.rules.min_show_ms * 1000 - self._lead_us())
        if not self.rules.call:
            return moment_us
        return max([moment_us, *(due_us for timer, due_us in self.timers.items() if timer[0] == TimerKind.CALL)])

    def _lead_us(self) -> int:
        """How far ahead a card must be sent for the slowest present phone to show it in time."""
        usual_us = max([player.path.usual_us for player in self.players if player.connected], default=0)
        return min(LEAD_CAP_US, usual_us + LEAD_MARGIN_US)

    def _turn_if_due(self, seat: Seat, nth: int, at_us: int) -> None:
        if self.timers[TimerKind.MOMENT, seat, nth] <= at_us:
            del self.timers[TimerKind.MOMENT, seat, nth]
            self._turn_now(seat, nth, at_us)

    def _turn_now(self, seat: Seat, nth: int, at_us: int) -> None:
        # A turn that waited may have lost its ground meanwhile: the seat left, or paid away its last card.
        move = self._turns.pop(seat, None)
        if move is not None and move.nth == nth:
            self._step(move, at_us)

    def _time_turns(self, at_us: int) -> None:
        """Gives the turns that wait their moment again: a call is awaited, or is not any more (R13)."""
        for seat, move in list(self._turns.items()):
            if (TimerKind.MOMENT, seat, move.nth) in self.timers:
                self.timers[TimerKind.MOMENT, seat, move.nth] = self._moment_us(at_us)
                self._turn_if_due(seat, move.nth, at_us)

    def _would_refuse(self, move: Turn) -> Refusal | None:
        if move.seat in self.due.turners and move.nth == self.due.nth:
            return None
        outcome = self.game.step(move, NO_ENTROPY)
        return outcome if isinstance(outcome, Refusal) else None

    def _step(self, move: AnyMove, at_us: int, verdict: Verdict | None = None) -> Refusal | None:
        entropy = self._random_source.draw()
        outcome = self.game.step(move, entropy)
        if isinstance(outcome, Refusal):
            return outcome
        self.game = outcome.game
        self.due = self.game.due()
        self._moves += 1
        if verdict is not None:
            self.entries.append(Judged(verdict, tuple(self._evidence)))
        self.entries.append(Moved(self.number, self._moves, move, entropy, self.played_us(at_us)))
        if self.over:
            self._in_question = self.question = None
        show_at_us = 0
        if any(isinstance(event, CardTurned) for event in outcome.events):
            show_at_us = max(at_us + self._lead_us(), self.shown_us + self.rules.min_show_ms * 1000)
            self.shown_us = show_at_us
            self._calls.clear()
            self._painted_late.clear()
            self._sent_late.clear()
        self._tell(outcome.events, show_at_us, verdict)
        self._plan(at_us)
        for event in outcome.events:
            if isinstance(event, SeatOut):
                self._forget_hand(event.seat, at_us)
        return None

    def _forget_hand(self, seat: Seat, at_us: int) -> None:
        """A seat is out, and so is the hand of its own that was still to be judged (R8, R25)."""
        if self.question is not None and seat in self.question.seats:
            self._answer(next(s for s in self.question.seats if s != seat), at_us)
        if self.contest is not None:
            self.contest = self.contest.forget(seat)
            self._plan_contest(at_us)

    def _tell(
        self,
        events: tuple[AnyEvent, ...],
        show_at_us: int = 0,
        verdict: Verdict | None = None,
    ) -> None:
        evidence = tuple(self._evidence) if verdict is not None else ()
        judged = self.due.contest > 0
        self.updates.append(GameUpdate(show_at_us, events, self.game.view(), verdict, self.question, evidence, judged))

    # --- what is to come -----------------------------------------------------------------------------------------

    def _plan(self, at_us: int) -> None:
        """Sets the timers that the game's state asks for and takes away those it does not."""
        due = self.due
        if self.over:
            self.timers.clear()
            self._turns.clear()
            self.contest = None
            return
        top = due.nth - 1
        for seat in [s for s, move in self._turns.items() if s not in due.turners or move.nth != due.nth]:
            self.timers.pop((TimerKind.MOMENT, seat, self._turns.pop(seat).nth), None)
        wanted: dict[Timer, int] = {}
        for seat in due.turners:
            if seat not in self._turns:
                # Two kinds, so that a seat gets another time when its presence changes, and only then.
                kind = TimerKind.TURN_AWAY if self.players[seat].away else TimerKind.TURN
                wanted[kind, seat, due.nth] = self._turn_us(seat, at_us)
        if due.wait is Wait.LAST_HAND:
            wanted[TimerKind.PASS, Seat(0), top] = max(at_us, self.shown_us) + LAST_HAND_US
        for seat in due.answers:
            if self.players[seat].away:
                wanted[TimerKind.CARRY, seat, top] = max(at_us, self.shown_us)
        kept = {t: due_us for t, due_us in self.timers.items() if t[0] not in STANDING or t in wanted}
        self.timers = wanted | kept
        self._plan_computers(due, at_us)
        if not due.contest:
            self.contest = None
            self.timers.pop(CLOSING, None)
            self.timers.pop(PINGING, None)
        elif self.contest is None or self.contest.nth != due.contest:
            self._open_contest(due)
        else:
            # The card that was to cover it may have been paid away (R7), and in calm mode rivals come and go (R19).
            contest = self.contest.among(self._rivals(due))
            heard = tuple(h for h in contest.heard if not h.hand.cover or h.hand.seat in self._turns)
            self.contest = msgspec.structs.replace(contest, heard=heard)
            self._plan_contest(at_us)

    def _rivals(self, due: Due) -> frozenset[Seat]:
        """Who can still slap: whose phone is there, and computer players."""
        return frozenset(s for s in due.slappers if self.players[s].connected or self.players[s].computer is not None)

    def _turn_us(self, seat: Seat, at_us: int) -> int:
        base_us = max(at_us, self.shown_us)
        player = self.players[seat]
        if player.computer is not None:
            return base_us + self._draw_us(COMPUTER_TURN)
        if player.away:
            return base_us + AUTO_TURN_AWAY_US
        return base_us + (AUTO_TURN_WAR_US if self.rules.game is GameName.WAR else AUTO_TURN_US)

    def _plan_computers(self, due: Due, at_us: int) -> None:
        """A computer player reacts to the card on top as a person would: it sees it when it is shown (R31)."""
        nth = due.nth - 1
        for seat, player in enumerate(self.players):
            if player.computer is None or self._reacted.get(Seat(seat)) == nth:
                continue
            mark = self.game.weigh(Slap(Seat(seat), nth))
            if isinstance(mark, Refusal):
                continue  # it is out, or the people have the first word (R19)
            self._reacted[Seat(seat)] = nth
            if mark is SlapKind.CONTEST or self._slips(player.computer):
                spread = NormalDist(player.computer.reaction_ms * 1000, max(1, player.computer.spread_ms * 1000))
                reaction_us = max(QUICKEST_COMPUTER_US, self._draw_us(spread))
                self.timers[TimerKind.SLAP, Seat(seat), nth] = max(at_us, self.shown_us) + reaction_us

    def _slips(self, computer: Computer) -> bool:
        return not self.rules.calm and self._draw() * 100 < computer.slip_percent

    def _draw(self) -> float:
        """A number in the open interval from 0 to 1."""
        return (int.from_bytes(self._random_source.draw()[:6]) + 0.5) / 2**48

    def _draw_us(self, spread: NormalDist) -> int:
        return max(0, round(spread.inv_cdf(self._draw())))

    # --- the contest ---------------------------------------------------------------------------------------------

    def _open_contest(self, due: Due) -> None:
        computers = frozenset(Seat(seat) for seat, player in enumerate(self.players) if player.computer is not None)
        self.contest = judge.Contest(due.contest, self.shown_us, self._rivals(due), computers, self.rules.call)
        self._evidence.clear()
        for player in self.players:
            player.credit_us = judge.refilled(player.credit_us)
        if self.contest.rivals - computers:
            # A hand that gets here before that is for the card before, and no ping will make it another.
            usual_us = max(player.path.usual_us for player in self.players)
            self.timers[PINGING] = self.shown_us + max(0, judge.FLOOR_US - 2 * usual_us - judge.PING_US)

    def shown(self, seat: Seat, nth: int, late_us: int) -> None:
        """A phone says how long after its moment it painted the card on top."""
        if nth == self.due.nth - 1:
            self._painted_late.setdefault(seat, late_us)

    def sent_late(self, seat: Seat, show_at_us: int, late_us: int) -> None:
        """The card to be shown at `show_at_us` got to that phone so much later, and it is the server that was late."""
        if show_at_us == self.shown_us and late_us > 0:
            self._sent_late[seat] = late_us

    def ponged(self, seat: Seat, at_us: int) -> bool:
        """A ping came back: nothing earlier can come from there. False where nobody waits for that."""
        if self.contest is None or not self.contest.heard:
            return False
        self.contest = self._raise_watermark(self.contest, seat)
        self._close_if_due(at_us)
        return True

    def all_said(self, seat: Seat, nth: int, at_us: int) -> None:
        """A page that was asked has said every hand on card `nth` that it had."""
        if self.contest is not None and self.contest.nth == nth and seat in self.contest.asked:
            self.contest = self.contest.answered(seat)
            self._close_if_due(at_us)

    def _with_watermarks(self, contest: judge.Contest) -> judge.Contest:
        """The contest with the watermarks of its rivals as they stand, which it needs from its first hand on."""
        if not contest.heard:
            for seat in contest.rivals - contest.local:
                contest = self._raise_watermark(contest, seat)
        return contest

    def _raise_watermark(self, contest: judge.Contest, seat: Seat) -> judge.Contest:
        player = self.players[seat]
        rtt_us, answered_us = player.path.rtt_us, player.path.answered_us
        if rtt_us is None or answered_us is None:
            return contest
        return contest.raise_watermark(seat, self._watermark_us(seat, rtt_us, answered_us) + player.handicap_ms * 1000)

    def _watermark_us(self, seat: Seat, rtt_us: int, answered_us: int) -> int:
        sent_late_us, late_us = self._sent_late.get(seat, 0), self._painted_late.get(seat)
        painted_us = None if late_us is None else late_us - sent_late_us
        return judge.watermark_us(self.shown_us + sent_late_us, painted_us, rtt_us, answered_us)

    def _ping(self, at_us: int) -> None:
        """Asks every phone that may still be earlier, often while hands are likely, seldom when the table sleeps.

        Once there is a hand, it asks again at the moment from which an answer is the last that the dealer needs; and
        under strain not before.
        """
        contest = self.contest
        if contest is None or self._in_question is not None:
            return
        likely = contest.heard or at_us - self.shown_us < LIKELY_US
        next_us = at_us + (round(judge.PING_US * self._strain.ping_backoff) if likely else PING_SELDOM_US)
        for seat in sorted(contest.open_to() - contest.local):
            short_us = self._short_us(seat, contest, at_us) if contest.heard else 0
            if short_us <= 0 or self._strain.ping_backoff == 1:
                self.pings.append(seat)
            if short_us > 0:
                next_us = min(next_us, at_us + short_us)
        self.timers[PINGING] = next_us
        self._ask(contest, at_us)

    def _ask(self, contest: judge.Contest, at_us: int) -> None:
        """Asks each page once whether it holds a hand, as soon as its answer is the last that the dealer needs."""
        if not contest.heard:
            return
        for seat in sorted(contest.silent() - contest.local - contest.asked.keys()):
            rtt_us = self.players[seat].path.rtt_us
            if rtt_us is not None and self._short_us(seat, contest, at_us) <= 0:
                self.contest = contest = contest.ask(seat, at_us + rtt_us)
                self.asks.append(seat)

    def _short_us(self, seat: Seat, contest: judge.Contest, at_us: int) -> int:
        """How long after `at_us` a ping must leave for its pong to say that nothing earlier can come from there."""
        rtt_us = self.players[seat].path.rtt_us
        if rtt_us is None:
            return 0
        mark_us = self._watermark_us(seat, rtt_us, at_us)
        return contest.heard[0].hand.accepted_us - mark_us - self.players[seat].handicap_ms * 1000

    def _plan_contest(self, at_us: int) -> int | None:
        """Sets the timer for the verdict; gives the instant, None while there is nothing to decide."""
        closes_us = self.contest.closes_us(at_us) if self.contest is not None and self._in_question is None else None
        if closes_us is None:
            self.timers.pop(CLOSING, None)
        else:
            self.timers[CLOSING] = closes_us
        return closes_us

    def _close_if_due(self, at_us: int) -> None:
        if self.contest is not None and self._in_question is None:
            self._ask(self.contest, at_us)
        closes_us = self._plan_contest(at_us)
        if closes_us is not None and closes_us <= at_us and self.contest is not None:
            self._close(self.contest, at_us)

    def _close(self, contest: judge.Contest, at_us: int, *, ask: bool = True) -> None:
        self.timers.pop(CLOSING, None)
        verdict = contest.verdict(self.number, at_us, lambda n: int(self._draw() * n))
        if verdict is None:  # nobody called in time: the hands cost nothing and the card is still there (R13)
            self.contest = contest.afresh()
            self._evidence.clear()
        elif ask and self.rules.judge is JudgeOf.TABLE and judge.too_close(verdict) and self._judges():
            first, second = (hand.seat for hand in verdict.hands[:2])
            self._in_question = verdict
            self.question = Question(
                verdict.nth, self.number, verdict.nth, (first, second), verdict.hands, at_us + QUESTION_US
            )
            self.timers[TimerKind.QUESTION, Seat(0), verdict.nth] = self.question.until_us
            self._tell(())
        else:
            self._decide(verdict, at_us)

    def _judges(self) -> bool:
        """Whether anybody may judge: somebody watching, or a person who is out (R18)."""
        return self.spectators > 0 or any(
            seat.status is Status.OUT and player.computer is None and not player.away
            for seat, player in zip(self.game.view().seats, self.players, strict=True)
        )

    def _answer(self, winner: Seat, at_us: int) -> None:
        verdict = self._in_question
        assert verdict is not None
        self._in_question = self.question = None
        self.timers = {timer: due_us for timer, due_us in self.timers.items() if timer[0] != TimerKind.QUESTION}
        hands = sorted(verdict.hands, key=lambda hand: hand.seat != winner)
        self._decide(msgspec.structs.replace(verdict, winner=winner, hands=tuple(hands)), at_us)

    def _decide(self, verdict: Verdict, at_us: int) -> None:
        """Lets the first hand, or the turn that came before every hand, take effect. The verdict is final."""
        meters.VERDICT_WAIT.saw(verdict.wait_us)
        meters.CORRECTED.add(sum(hand.added_us > 0 for hand in verdict.hands))
        best = verdict.hands[0]
        if verdict.winner is None:
            move: AnyMove = self._turns.pop(best.seat)
        else:
            self._turns.clear()
            move = Slap(verdict.winner, verdict.nth, called=best.called)
        self._spoken = (verdict, self.shown_us)
        self._step(move, at_us, verdict)


NO_ENTROPY = Entropy(bytes(32))
CLOSING: Timer = (TimerKind.CONTEST, Seat(0), 0)
PINGING: Timer = (TimerKind.PING, Seat(0), 0)
STANDING = (TimerKind.TURN, TimerKind.TURN_AWAY, TimerKind.PASS, TimerKind.CARRY)
"""Kinds of timers that follow from the game's state alone."""

UNSEATED = (TimerKind.CONTEST, TimerKind.PING, TimerKind.PASS, TimerKind.LIMIT, TimerKind.QUESTION)
