"""War: two seats, nothing to slap, the higher card wins; the second game that the table can play.

Knows what every move does to the cards. Knows no time and no Slapjack. Numbers in brackets are rules (RULES.md).
"""

from typing import assert_never

from msgspec.structs import replace

from engine.cards import RANKS, Card, Entropy, shuffled
from engine.game import (
    AnyEvent,
    AnyMove,
    BattleWon,
    CardTurned,
    CarryOn,
    Due,
    End,
    EndNow,
    GameOver,
    GameView,
    LandedCard,
    Leave,
    LetPass,
    Reason,
    Refusal,
    Seat,
    SeatOut,
    SeatReady,
    Slap,
    Step,
    TimeUp,
    Turn,
    Wait,
    WarDeclared,
)
from engine.rules import Rules, WarCards
from engine.seats import Outs, Stacks, absent, changed, most_cards, seat_views
from engine.value import Value

SHOWN = 6
"""How many face-up cards a view has: three battles of one war."""


class War(Value, tag_field="kind", tag="war"):
    """A game in progress, or over. `first` is the seat whose card of a pair has the lower number.

    `ready` are the seats that have turned; their cards stay on their stacks until both have (R21). `landed` are the
    face-up cards between the two, `under` the face-down ones, `wars` how often they were equal in a row (R22).
    """

    rules: Rules
    stacks: Stacks
    first: Seat
    out: Outs = (False, False)
    ready: tuple[Seat, ...] = ()
    turned: int = 0
    landed: tuple[LandedCard, ...] = ()
    under: tuple[Card, ...] = ()
    wars: int = 0
    winners: tuple[Seat, ...] = ()
    end: End | None = None

    # --- what everybody may know ---------------------------------------------------------------------------------

    def due(self) -> Due:
        """What may happen next: both seats turn, in any order, and both call their card `nth` (R21)."""
        over = self.end is not None
        return Due(
            wait=Wait.OVER if over else Wait.TURN,
            turners=() if over else tuple(seat for seat in self._seats() if seat not in self.ready),
            nth=self.turned + 1,
            contest=0,
            slappers=(),
            answers=(),
        )

    def weigh(self, slap: Slap) -> Refusal:
        """There is nothing to slap."""
        if self.end is not None:
            return _OVER
        return absent(slap.seat, self.out) or Refusal(Reason.NO_SLAPS, "R21")

    def view(self) -> GameView:
        """What anybody may know."""
        due = self.due()
        return GameView(
            game=self.rules.game.value,
            turned=self.turned,
            seats=seat_views(self.stacks, self.out),
            pile=len(self.under) + len(self.landed),
            under=len(self.under),
            landed=self.landed[-SHOWN:],
            wait=due.wait,
            turners=due.turners,
            answers=(),
            ready=self.ready,
            winners=self.winners,
            end=self.end,
        )

    # --- moves ---------------------------------------------------------------------------------------------------

    def step(self, move: AnyMove, entropy: Entropy) -> Step | Refusal:
        """The game after the move, or why the move does not stand: see `Game.step`."""
        if self.end is not None:
            return _OVER
        match move:
            case Turn():
                return self._turn(move, entropy)
            case Slap():
                return self.weigh(move)
            case CarryOn():
                return absent(move.seat, self.out) or Refusal(Reason.NOTHING_TO_ANSWER, "R21")
            case LetPass():
                return Refusal(Reason.NOTHING_TO_PASS, "R21")
            case TimeUp():
                limit = self.rules.time_limit_min
                return self._counted(End.TIME_LIMIT) if limit else Refusal(Reason.NO_LIMIT, "R12")
            case EndNow(too_long):
                return self._counted(End.TOO_LONG if too_long else End.HOST)
            case Leave():
                return absent(move.seat, self.out) or self._lost((move.seat,), End.LAST_SEAT)
            case _:
                assert_never(move)

    def _turn(self, turn: Turn, entropy: Entropy) -> Step | Refusal:
        """R21: the first to turn waits for the other, then both cards show at once."""
        if refusal := absent(turn.seat, self.out):
            return refusal
        if turn.nth != self.turned + 1:
            return Refusal(Reason.OTHER_TURN, "R21")
        if turn.seat in self.ready:
            return Refusal(Reason.NOT_YOUR_TURN, "R21")
        if not self.ready:
            return Step(game=replace(self, ready=(turn.seat,)), events=(SeatReady(seat=turn.seat),))
        return self._battle(entropy)

    def _battle(self, entropy: Entropy) -> Step:
        """R21, R22: in a war one card or three go face down before each face-up one, but never the last."""
        stacks, under, landed = self.stacks, self.under, self.landed
        events: list[AnyEvent] = []
        for nth, seat in enumerate(self._seats(), start=self.turned + 1):
            stack = stacks[seat]
            hidden = min(_FACE_DOWN[self.rules.war_cards], len(stack) - 1) if self.wars else 0
            card = LandedCard(nth=nth, face=stack[hidden], seat=seat)
            under += stack[:hidden]
            landed += (card,)
            stacks = changed(stacks, seat, stack[hidden + 1 :])
            events.append(CardTurned(seat=seat, nth=nth, face=card.face))
        game = replace(self, stacks=stacks, under=under, landed=landed, ready=(), turned=self.turned + 2)
        one, two = landed[-2:]
        ranks = _ACE_HIGH if self.rules.ace_high else RANKS
        gap = ranks.index(one.face[0]) - ranks.index(two.face[0])
        if gap == 0:
            return game._war(events)
        return game._won(one.seat if gap > 0 else two.seat, entropy, events)

    def _war(self, events: list[AnyEvent]) -> Step:
        """R22, R23: equal cards; whoever has no card for the war has lost."""
        events.append(WarDeclared(depth=self.wars + 1))
        game = replace(self, wars=self.wars + 1)
        empty = tuple(seat for seat in self._seats() if not self.stacks[seat])
        return game._lost(empty, End.NO_CARDS, events) if empty else game._limited(events)

    def _won(self, seat: Seat, entropy: Entropy, events: list[AnyEvent]) -> Step:
        """R21, R23: the higher card takes all that lies there, in random order."""
        pile = self._pile()
        stacks = changed(self.stacks, seat, self.stacks[seat] + shuffled(pile, entropy))
        game = replace(self, stacks=stacks, landed=(), under=(), wars=0)
        events.append(BattleWon(seat=seat, cards=len(pile)))
        loser = Seat(1 - seat)
        return game._limited(events) if stacks[loser] else game._lost((loser,), End.ALL_CARDS, events)

    # --- how it ends ---------------------------------------------------------------------------------------------

    def _limited(self, events: list[AnyEvent]) -> Step:
        """R12: the card limit."""
        if self.turned >= self.rules.last_card():
            return self._counted(End.CARD_LIMIT, events)
        return Step(game=self, events=tuple(events))

    def _counted(self, end: End, events: list[AnyEvent] | None = None) -> Step:
        """R12: most cards in the stack wins; what lies between the two counts for nobody."""
        winners = most_cards(self.stacks, self.out)
        game = replace(self, ready=(), winners=winners, end=end)
        return Step(game=game, events=(*(events or ()), GameOver(winners=winners, end=end)))

    def _lost(self, losers: tuple[Seat, ...], end: End, events: list[AnyEvent] | None = None) -> Step:
        """R9, R23: the other seat wins, and every card is its own; both share when both have lost."""
        told = list(events or ())
        if len(losers) == 2:
            game = replace(self, winners=(Seat(0), Seat(1)), end=end)
        else:
            (loser,) = losers
            winner = Seat(1 - loser)
            game = replace(
                self,
                stacks=changed(((), ()), winner, self.stacks[winner] + self._pile() + self.stacks[loser]),
                out=(loser == 0, loser == 1),
                landed=(),
                under=(),
                ready=(),
                winners=(winner,),
                end=end,
            )
            told.append(SeatOut(seat=loser))
        told.append(GameOver(winners=game.winners, end=end))
        return Step(game=game, events=tuple(told))

    # --- what the state says -------------------------------------------------------------------------------------

    def _seats(self) -> tuple[Seat, Seat]:
        return self.first, Seat(1 - self.first)

    def _pile(self) -> tuple[Card, ...]:
        return self.under + tuple(card.face for card in self.landed)


_ACE_HIGH = RANKS[1:] + RANKS[0]
_FACE_DOWN = {WarCards.ONE: 1, WarCards.THREE: 3}
_OVER = Refusal(Reason.GAME_OVER, "R9")
