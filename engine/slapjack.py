"""Slapjack: the standard game, its table rules, calm mode and Duel, as one immutable value.

Knows what every move does to the cards. Knows no time: how long a card shows, how long the table waits for a hand and
whose hand was first are settled before a move gets here. Numbers in brackets are rules (RULES.md).
"""

from typing import assert_never

from msgspec.structs import replace

from engine.cards import Entropy, shuffled
from engine.duel import round_changes
from engine.game import (
    AnyEvent,
    AnyMove,
    CardTurned,
    CarriedOn,
    CarryOn,
    Due,
    End,
    EndNow,
    GameOver,
    GameView,
    LandedCard,
    Leave,
    LetPass,
    PileTakenBack,
    PileWon,
    Reason,
    Refusal,
    Seat,
    SeatBack,
    SeatOut,
    SeatWaiting,
    Side,
    Slap,
    SlapKind,
    Status,
    Step,
    TimeUp,
    Turn,
    Wait,
)
from engine.penalties import wrong_call, wrong_slap
from engine.position import Landed, Position, passed, put_out, without_pile
from engine.rules import GameName, WhichHand, WonPile
from engine.seats import absent, changed, most_cards, next_with_cards, seat_views, statuses

SHOWN = 5
"""How many landed cards a view has: a sandwich needs three, the eye likes a few more."""


class Slapjack(Position, tag_field="kind", tag="slapjack"):
    """The game in a position: what may happen next, and what every move makes of it."""

    # --- what everybody may know ---------------------------------------------------------------------------------

    def due(self) -> Due:
        """What may happen next."""
        wait = self.wait()
        turner = next_with_cards(self.after, self.stacks) if wait is Wait.TURN else None
        contest = self.turned if self.end is None and self.slap_card_on_top() else 0
        return Due(
            wait=wait,
            turners=() if turner is None else (turner,),
            nth=self.turned + 1,
            contest=contest,
            slappers=self.slappers() if contest else (),
            answers=self.answers() if wait is Wait.ANSWERS else (),
        )

    def weigh(self, slap: Slap) -> SlapKind | Refusal:
        """Whether a hand joins the contest, is a wrong slap, or is no slap at all (R7).

        The call is not looked at: it may still come (R13).
        """
        if self.end is not None:
            return _OVER
        if refusal := absent(slap.seat, self.out):
            return refusal
        if slap.nth == 0:
            return Refusal(Reason.NOTHING_TO_SLAP, "R7d")
        if not 0 < slap.nth <= self.turned:
            return Refusal(Reason.NO_SUCH_CARD, "R7f")
        depth = self.turned - slap.nth
        if depth >= len(self.landed):
            return Refusal(Reason.PILE_GONE, "R7f")
        if not self.persons[slap.seat] and self.answers():
            return Refusal(Reason.TABLE_WAITS, "R19")
        card = self.landed[-1 - depth]
        if card.seat == slap.seat and (reason := _wrong_hand(self.rules.hand, card.side, slap.side)):
            return Refusal(reason, "R15")
        if card.slap:
            return SlapKind.CONTEST if depth == 0 else Refusal(Reason.COVERED, "R7f")
        return Refusal(Reason.ALREADY_PAID, "R7c") if slap.seat in card.wrong else SlapKind.WRONG

    def view(self) -> GameView:
        """What anybody may know."""
        due = self.due()
        shown = self.landed[-SHOWN:]
        first = self.turned - len(shown) + 1
        return GameView(
            game=self.rules.game.value,
            turned=self.turned,
            seats=seat_views(self.stacks, self.out),
            pile=len(self.under) + len(self.landed),
            under=len(self.under),
            landed=tuple(
                LandedCard(nth=nth, face=card.face, seat=card.seat) for nth, card in enumerate(shown, start=first)
            ),
            wait=due.wait,
            turners=due.turners,
            answers=due.answers,
            empty=self.empty(),
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
                return self._slap(move, entropy)
            case CarryOn():
                return self._carry_on(move, entropy)
            case LetPass():
                return self._let_pass(move, entropy)
            case TimeUp():
                return self._time_is_up(entropy)
            case EndNow(too_long):
                return self._end_now(End.TOO_LONG if too_long else End.HOST, entropy)
            case Leave():
                return self._leave(move, entropy)
            case _:
                assert_never(move)

    def _turn(self, turn: Turn, entropy: Entropy) -> Step | Refusal:
        """R3: the top card goes face up on the pile."""
        seat = turn.seat
        if refusal := absent(seat, self.out):
            return refusal
        if turn.nth != self.turned + 1:
            return Refusal(Reason.OTHER_TURN, "R3a")
        wait = self.wait()
        if wait is not Wait.TURN:
            return Refusal(Reason.TABLE_WAITS, "R12" if self.limit() else "R19" if wait is Wait.ANSWERS else "R10")
        if seat != next_with_cards(self.after, self.stacks):
            return Refusal(Reason.NOT_YOUR_TURN, "R3")
        face = self.stacks[seat][0]
        stacks = changed(self.stacks, seat, self.stacks[seat][1:])
        ranks = (face[0], *(card.face[0] for card in self.landed[:-3:-1]))
        jacks_only = self.rules.game is GameName.DUEL and not all(stacks)
        slap = self.rules.may_be_slapped(ranks, jacks_only=jacks_only)
        card = Landed(face=face, seat=seat, slap=slap, side=turn.side)
        game = replace(self, stacks=stacks, after=seat, turned=turn.nth, landed=(*self.landed, card), answered=())
        return self._settled(game, entropy, CardTurned(seat=seat, nth=turn.nth, face=face))

    def _slap(self, slap: Slap, entropy: Entropy) -> Step | Refusal:
        """R4, R7: on a slap card this is the first hand."""
        mark = self.weigh(slap)
        if isinstance(mark, Refusal):
            return mark
        if mark is SlapKind.CONTEST:
            if self.rules.call and not slap.called:
                return Refusal(Reason.NOT_CALLED, "R13")
            return self._won(slap.seat, entropy)
        # A covered card is called in vain: the pile and the contest on it are others' business (R14a).
        called_wrongly = self.rules.wrong_call and slap.called and slap.nth == self.turned
        game, event = (wrong_call if called_wrongly else wrong_slap)(self, slap)
        return self._settled(game, entropy, event, end=self._slap_end())

    def _won(self, seat: Seat, entropy: Entropy) -> Step:
        """R4, R5, R8: the pile goes under the winner's stack, and whoever has no cards then is out."""
        stack, pile = self.stacks[seat], self.pile()
        if self.rules.won_pile is WonPile.SHUFFLE_IN:
            stack = shuffled(stack + pile, entropy)
        elif self.rules.won_pile is WonPile.UNDER:
            stack += pile
        else:
            stack += shuffled(pile, entropy)
        stacks = changed(self.stacks, seat, stack)
        # The empty seat that wins an elimination round turns next (R20), otherwise the seat at the winner's left (R5).
        after = Seat(1 - seat) if seat == self.empty() else seat
        game = replace(without_pile(self), stacks=stacks, out=tuple(not stack for stack in stacks), after=after)
        event = PileWon(seat=seat, nth=self.turned, cards=len(pile))
        return self._settled(game, entropy, event, end=self._slap_end())

    def _carry_on(self, move: CarryOn, entropy: Entropy) -> Step | Refusal:
        """R19: a person lets the top card pass."""
        if refusal := absent(move.seat, self.out):
            return refusal
        if move.nth != self.turned or move.seat not in self.answers():
            return Refusal(Reason.NOTHING_TO_ANSWER, "R19")
        game = replace(self, answered=(*self.answered, move.seat))
        return self._settled(game, entropy, CarriedOn(seat=move.seat, nth=move.nth))

    def _let_pass(self, move: LetPass, entropy: Entropy) -> Step | Refusal:
        """R10, R12, R20: nobody has slapped the card that the table waited for, so it is no slap card any more."""
        if move.nth != self.turned or self.wait() not in (Wait.LAST_HAND, Wait.LAST_CARD):
            return Refusal(Reason.NOTHING_TO_PASS, "R10")
        return self._settled(passed(self), entropy, seen=True)

    def _time_is_up(self, entropy: Entropy) -> Step | Refusal:
        """R12: the time limit ends the game as soon as no slap card shows."""
        if not self.rules.time_limit_min or self.ending is not None:
            return Refusal(Reason.NO_LIMIT, "R12")
        return self._settled(replace(self, ending=End.TIME_LIMIT), entropy)

    def _end_now(self, end: End, entropy: Entropy) -> Step | Refusal:
        """R12: the game ends as soon as no slap card shows; nobody need answer any more (R19)."""
        if self.ending is not None:
            return Refusal(Reason.TABLE_WAITS, "R12")
        return self._settled(replace(self, ending=end), entropy)

    def _leave(self, move: Leave, entropy: Entropy) -> Step | Refusal:
        """R25: the cards of a seat that leaves go under the pile."""
        if refusal := absent(move.seat, self.out):
            return refusal
        game = replace(
            self,
            stacks=changed(self.stacks, move.seat, ()),
            out=put_out(self.out, move.seat),
            under=self.stacks[move.seat] + self.under,
        )
        return self._settled(game, entropy)

    # --- what follows of itself ----------------------------------------------------------------------------------

    def _settled(
        self, game: "Slapjack", entropy: Entropy, *events: AnyEvent, end: End = End.LAST_SEAT, seen: bool = False
    ) -> Step:
        """What follows from a move that led from `self` to `game`: the end, the count, the pile taken back.

        `seen` says that the last card of all has had its time on top (R10); in calm mode everybody says so (R19).
        """
        if sum(game.out) == len(game.out) - 1:
            return self._told(game._last_seat(end), *events)
        if game.open() or (game.ending is None and game.answers()):
            return self._told(game, *events)
        if limit := game.limit():
            return self._told(game._counted(limit), *events)
        if not any(game.stacks) and (seen or game.rules.calm or not game.landed):
            taker = game.taker()
            taken = PileTakenBack(seat=taker, cards=len(game.pile()))
            return self._told(game._taken_back(taker, entropy), *events, taken)
        return self._told(game, *events)

    def _told(self, game: "Slapjack", *events: AnyEvent) -> Step:
        """The step from `self` to `game`, with all that has changed for a seat said after the `events`."""
        told = list(events)
        if game.out is not self.out or not (all(self.stacks) and all(game.stacks)):
            changes = zip(statuses(self.stacks, self.out), statuses(game.stacks, game.out), strict=True)
            told += [_NEW_STATUS[new](seat=Seat(seat)) for seat, (old, new) in enumerate(changes) if old is not new]
        told += round_changes(self.empty(), game.empty(), events, over=game.end is not None)
        if game.end is not None:
            told.append(GameOver(winners=game.winners, end=game.end))
        return Step(game=game, events=tuple(told))

    def _slap_end(self) -> End:
        """Why the game is over when a slap has left one seat (R9, R20)."""
        return End.DUEL_SLAP if self.rules.game is GameName.DUEL else End.LAST_SEAT

    def _last_seat(self, end: End) -> "Slapjack":
        """R9: the one seat that is not out wins, and every card is its own."""
        winner = Seat(self.out.index(False))
        stacks = changed(self.stacks, winner, self.stacks[winner] + self.pile())
        return replace(without_pile(self), stacks=stacks, winners=(winner,), end=end)

    def _counted(self, end: End) -> "Slapjack":
        """R12: most cards in the stack wins, and the pile counts for nobody."""
        return replace(self, winners=most_cards(self.stacks, self.out), end=end)

    def _taken_back(self, taker: Seat, entropy: Entropy) -> "Slapjack":
        """R10, R20: the pile becomes the taker's stack, and the taker turns next."""
        stacks = changed(self.stacks, taker, shuffled(self.pile(), entropy))
        return replace(without_pile(self), stacks=stacks)


_OVER = Refusal(Reason.GAME_OVER, "R9")

_NEW_STATUS: dict[Status, type[SeatBack | SeatWaiting | SeatOut]] = {
    Status.IN_PLAY: SeatBack,
    Status.WAITING: SeatWaiting,
    Status.OUT: SeatOut,
}


def _wrong_hand(rule: WhichHand, turned: Side, slapped: Side) -> Reason | None:
    """Why the turner of a card may not slap it with that hand, if so; a hand that is not known is any (R15)."""
    if rule is WhichHand.NOT_TURNER:
        return Reason.TURNER
    if rule is WhichHand.ANY or Side.NONE in (turned, slapped):
        return None
    if rule is WhichHand.OTHER:
        return Reason.SAME_HAND if turned is slapped else None
    return Reason.OTHER_HAND if turned is not slapped else None
