"""How a bot plays: what it sees goes in with the instant, and hands come out when they are due.

Knows tempers, and what a person would do at a table under any rules. Knows no socket and keeps no time; its luck is
handed in. It sees what a person sees: the cards that lie there, and nothing else.
"""

from enum import StrEnum
from random import Random

from clients.sdk import Player, is_slap_card
from engine.game import GameView, Seat, Status
from engine.rules import Rules, WhichHand
from engine.value import Value
from wire.messages import Kind, SeatId, TableView

QUICKEST_MS = 180
"""No hand comes sooner after its card: what is quicker than people are is not believed anyway."""

VERDICT_US = 2_000_000
"""How long a bot that has slapped waits for the dealer before it turns over its card all the same."""

AGAIN_US = 3_000_000
"""A bot that is still waited for tries once more after this."""

PICTURES = "QK"
"""The cards that are easily taken for a Jack."""


NOTHING = (0, 0)
"""No game and no card."""


class Policy(Value):
    """A temper: mean and spread of its reaction, how many of a hundred pictures it slaps by mistake, how soon it turns.

    Practice, in slap cards seen, takes the reaction from `reaction_ms` to `best_ms` and the mistakes to none: after
    each one nine tenths of the way are left. Without practice `best_ms` is 0.
    """

    sentence: str
    reaction_ms: int
    spread_ms: int
    slip_percent: int = 0
    turn_ms: int = 700
    best_ms: int = 0


POLICIES = {
    "steady": Policy("takes its time and is never wrong", 480, 60),
    "learner": Policy("slow and clumsy at first, better with every Jack", 900, 150, slip_percent=30, best_ms=380),
    "nervous": Policy("quick, but slaps one picture in eight by mistake", 340, 90, slip_percent=12, turn_ms=400),
    "sharp": Policy("as quick as people get, and never wrong", 260, 25, turn_ms=500),
}
"""The computer players that come with the client, by name."""


class Act(StrEnum):
    """What a hand, or a voice, may do."""

    TURN = "turn"
    SLAP = "slap"
    CALL = "call"
    CARRY_ON = "carry_on"
    POINT = "point"


class Sight(Value):
    """A game that a bot plays in, as it is shown; `judges` when it is asked who was first (R18)."""

    game: int
    view: GameView
    rules: Rules
    place: Seat
    judges: bool = False

    @property
    def status(self) -> Status:
        """Where the bot itself stands."""
        return self.view.seats[self.place].status


def sight_of(player: Player) -> Sight | None:
    """What there is to see; None while there is nothing to do."""
    table, view, place = player.table, player.view, player.place
    if view is None or place is None or view.end is not None or table.paused or table.asleep:
        return None
    return Sight(
        table.game, view, table.rules, place, player.question is not None and _only_judge(player.seat, table, view)
    )


def _only_judge(seat: SeatId | None, table: TableView, view: GameView) -> bool:
    """Whether nobody else could judge (R18): the first word counts, so a bot leaves it to whoever may be a person."""
    out = [
        each.id
        for each in table.seats
        if each.kind is Kind.PERSON and each.place is not None and view.seats[each.place].status is Status.OUT
    ]
    return out == [seat] and not table.watching


class Mind:
    """A bot's head: looks with `see`, says when it next wants to move, and moves."""

    def __init__(self, policy: Policy, random_source: Random) -> None:
        self._policy = policy
        self._random_source = random_source
        self._practice = 0
        self._top = NOTHING
        self._plans: dict[Act, int] = {}

    def see(self, sight: Sight | None, now_us: int) -> None:
        """Takes in what is shown now. To see the same again changes nothing."""
        if sight is None:
            self._plans.clear()
            self._top = NOTHING
            return
        self._look_at_top(sight, now_us)
        busy_until_us = self._plans[Act.SLAP] + VERDICT_US if Act.SLAP in self._plans else now_us
        self._plan(Act.TURN, sight.place in sight.view.turners, busy_until_us)
        self._plan(Act.CARRY_ON, sight.place in sight.view.answers and Act.SLAP not in self._plans, now_us)
        self._plan(Act.POINT, sight.judges, now_us)

    def due_us(self) -> int | None:
        """When it next wants to move; None when it waits for others."""
        return min(self._plans.values(), default=None)

    def acts(self, now_us: int) -> list[Act]:
        """What it does now."""
        due = [act for act, at_us in self._plans.items() if at_us <= now_us]
        for act in due:
            if act in (Act.SLAP, Act.CALL):
                del self._plans[act]
            else:
                self._plans[act] = now_us + AGAIN_US
        return due

    def _look_at_top(self, sight: Sight, now_us: int) -> None:
        nth = sight.view.landed[-1].nth if sight.view.landed else 0
        if self._top == (sight.game, nth):
            return
        self._top = (sight.game, nth)
        self._plans.clear()
        if nth == 0 or sight.status is Status.OUT or sight.rules.game == "war":
            return
        barred = sight.rules.hand is WhichHand.NOT_TURNER and sight.view.landed[-1].seat == sight.place
        worth_it = is_slap_card(sight.view, sight.rules) and not barred
        if worth_it or self._slips(sight.view.landed[-1].face[0]):
            at_us = now_us + self._reaction_us()
            if not sight.rules.say_jack:
                self._plans[Act.SLAP] = at_us
            if sight.rules.say_jack or sight.rules.call:
                self._plans[Act.CALL] = at_us
        if worth_it:
            self._practice += 1

    def _plan(self, act: Act, wanted: bool, from_us: int) -> None:
        if not wanted:
            self._plans.pop(act, None)
        elif act not in self._plans:
            self._plans[act] = from_us + self._about_us(self._policy.turn_ms, self._policy.turn_ms / 5)

    def _slips(self, rank: str) -> bool:
        return rank in PICTURES and self._random_source.random() * 100 < self._policy.slip_percent * self._unpractised()

    def _reaction_us(self) -> int:
        policy = self._policy
        best_ms = policy.best_ms or policy.reaction_ms
        return self._about_us(best_ms + (policy.reaction_ms - best_ms) * self._unpractised(), policy.spread_ms)

    def _unpractised(self) -> float:
        """How much of the way to its best is left."""
        return 0.9**self._practice if self._policy.best_ms else 1.0

    def _about_us(self, mean_ms: float, spread_ms: float) -> int:
        return round(max(QUICKEST_MS, self._random_source.gauss(mean_ms, spread_ms)) * 1000)
