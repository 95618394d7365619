"""Slapjack: the standard game, its table rules, calm mode and Duel, as one immutable value.

Knows what every move does to the cards. Knows no time: how long a card shows, how long the table waits for a hand and
whose hand was first are settled before a move gets here. Numbers in brackets are rules (RULES.md).
"""

from typing import assert_never

from msgspec.structs import replace

from engine.cards import Card, Entropy, shuffled
from engine.game import (
    AnyEvent,
    AnyMove,
    CardTurned,
    CarriedOn,
    CarryOn,
    Due,
    EliminationBegan,
    EliminationEnded,
    End,
    EndNow,
    GameOver,
    GameView,
    LandedCard,
    Leave,
    LetPass,
    PileShared,
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
    WrongSlap,
)
from engine.rules import GameName, Penalty, Rules, WonPile
from engine.seats import (
    Outs,
    Stack,
    Stacks,
    absent,
    changed,
    clockwise,
    dealt,
    most_cards,
    next_with_cards,
    seat_views,
    statuses,
)
from engine.value import Value

SHOWN = 5
"""How many landed cards a view has: a sandwich needs three, the eye likes a few more."""


class Landed(Value):
    """A face-up card of the pile. `slap` says whether it was a slap card when it was turned (R11).

    `side` is the hand that turned it (R15), `wrong` are the seats that have slapped it wrongly (R7c).
    """

    face: Card
    seat: Seat
    slap: bool
    side: Side = Side.NONE
    wrong: tuple[Seat, ...] = ()


class Slapjack(Value, tag_field="kind", tag="slapjack"):
    """A game in progress, or over. `rules` are the rules in force, `persons` says which seats are people (R19).

    The pile is `under`, face down, and `landed` upon it, both with the bottom card first. The circle goes on at the
    left of `after`, so whose turn it is follows from who has cards (R3, R5). `answered` are the people who have
    slapped the top card or let it pass (R19). `time_up` waits for the end of a slap window (R12).
    """

    rules: Rules
    persons: tuple[bool, ...]
    stacks: Stacks
    out: Outs
    after: Seat
    turned: int = 0
    landed: tuple[Landed, ...] = ()
    under: tuple[Card, ...] = ()
    answered: tuple[Seat, ...] = ()
    time_up: bool = False
    winners: tuple[Seat, ...] = ()
    end: End | None = None

    # --- what everybody may know ---------------------------------------------------------------------------------

    def due(self) -> Due:
        """What may happen next."""
        wait = self._wait()
        turner = next_with_cards(self.after, self.stacks) if wait is Wait.TURN else None
        contest = self.turned if self.end is None and self._slap_card_on_top() else 0
        return Due(
            wait=wait,
            turners=() if turner is None else (turner,),
            nth=self.turned + 1,
            contest=contest,
            slappers=self._slappers() if contest else (),
            answers=self._answers() if wait is Wait.ANSWERS else (),
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
        if not self.persons[slap.seat] and self._answers():
            return Refusal(Reason.TABLE_WAITS, "R19")
        card = self.landed[-1 - depth]
        if self.rules.other_hand and card.seat == slap.seat and card.side is slap.side is not Side.NONE:
            return Refusal(Reason.SAME_HAND, "R15")
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
            empty=self._empty(),
            winners=self.winners,
            end=self.end,
        )

    # --- moves ---------------------------------------------------------------------------------------------------

    def step(self, move: AnyMove, entropy: Entropy) -> Step | Refusal:
        """The game after the move, or why the move does not stand. Total: it never raises."""
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
            case EndNow():
                return self._told(self._counted(End.HOST))
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
        wait = self._wait()
        if wait is not Wait.TURN:
            return Refusal(Reason.TABLE_WAITS, "R19" if wait is Wait.ANSWERS else "R12" if self._limit() else "R10")
        if seat != next_with_cards(self.after, self.stacks):
            return Refusal(Reason.NOT_YOUR_TURN, "R3")
        face = self.stacks[seat][0]
        stacks = changed(self.stacks, seat, self.stacks[seat][1:])
        card = Landed(face=face, seat=seat, slap=self._may_be_slapped(face, stacks), side=turn.side)
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
        if self.rules.wrong_call and slap.called:
            return self._shared(slap, entropy)
        return self._wrong(slap, entropy)

    def _won(self, seat: Seat, entropy: Entropy) -> Step:
        """R4, R5, R8: the pile goes under the winner's stack, and whoever has no cards then is out."""
        stack, pile = self.stacks[seat], self._pile()
        if self.rules.won_pile is WonPile.SHUFFLE_IN:
            stack = shuffled(stack + pile, entropy)
        elif self.rules.won_pile is WonPile.UNDER:
            stack += pile
        else:
            stack += shuffled(pile, entropy)
        stacks = changed(self.stacks, seat, stack)
        # The empty seat that wins an elimination round turns next (R20), otherwise the seat at the winner's left (R5).
        after = Seat(1 - seat) if seat == self._empty() else seat
        game = replace(self._without_pile(), stacks=stacks, out=tuple(not stack for stack in stacks), after=after)
        event = PileWon(seat=seat, nth=self.turned, cards=len(pile))
        return self._settled(game, entropy, event, end=self._slap_end())

    def _wrong(self, slap: Slap, entropy: Entropy) -> Step:
        """R7, R8: a wrong slap costs the top card; a seat that has none is out."""
        seat = slap.seat
        depth = self.turned - slap.nth
        place = len(self.landed) - 1 - depth
        card = self.landed[place]
        slapped = replace(card, wrong=(*card.wrong, seat))
        game = replace(self, landed=(*self.landed[:place], slapped, *self.landed[place + 1 :]))
        paid, to = 0, None
        if self.rules.calm:
            # A hand on the top card is an answer, on a covered one it only came late (R19).
            game = replace(game, answered=(*self.answered, seat)) if depth == 0 else game
        elif stack := self.stacks[seat]:
            paid, to = 1, self._payee(seat, card.seat)
            stacks = changed(self.stacks, seat, stack[1:])
            if to is None:
                game = replace(game, stacks=stacks, under=(stack[0], *self.under))
            else:
                game = replace(game, stacks=changed(stacks, to, (*stacks[to], stack[0])))
        else:
            game = replace(game, out=_with_out(self.out, seat))
        event = WrongSlap(seat=seat, nth=slap.nth, paid=paid, to=to)
        return self._settled(game, entropy, event, end=self._slap_end())

    def _payee(self, seat: Seat, turner: Seat) -> Seat | None:
        """Who receives the card of a wrong slap; nobody when it goes under the pile (R7, R7a, R7b, Duel)."""
        if self.rules.game is GameName.DUEL:
            return Seat(1 - seat)
        if self.rules.penalty is Penalty.UNDER_PILE or turner == seat or self.out[turner]:
            return None
        return turner

    def _shared(self, slap: Slap, entropy: Entropy) -> Step:
        """R14: after a wrong call the pile is dealt to the others, from the caller's left."""
        seat, seats = slap.seat, len(self.stacks)
        others = [other for other in clockwise(seat, seats) if other != seat and not self.out[other]]
        shares = dealt(self._pile(), others, seats)
        game = replace(
            self._without_pile(),
            stacks=tuple(stack + share for stack, share in zip(self.stacks, shares, strict=True)),
            out=self.out if self.stacks[seat] else _with_out(self.out, seat),
            after=seat,
        )
        event = PileShared(seat=seat, nth=slap.nth, shares=tuple(len(share) for share in shares))
        return self._settled(game, entropy, event, end=self._slap_end())

    def _carry_on(self, move: CarryOn, entropy: Entropy) -> Step | Refusal:
        """R19: a person lets the top card pass."""
        if refusal := absent(move.seat, self.out):
            return refusal
        if move.nth != self.turned or move.seat not in self._answers():
            return Refusal(Reason.NOTHING_TO_ANSWER, "R19")
        game = replace(self, answered=(*self.answered, move.seat))
        return self._settled(game, entropy, CarriedOn(seat=move.seat, nth=move.nth))

    def _let_pass(self, move: LetPass, entropy: Entropy) -> Step | Refusal:
        """R10, R12, R20: nobody has slapped the card that the table waited for, so it is no slap card any more."""
        if move.nth != self.turned or self._wait() is not Wait.LAST_HAND:
            return Refusal(Reason.NOTHING_TO_PASS, "R10")
        return self._settled(self._passed(), entropy)

    def _time_is_up(self, entropy: Entropy) -> Step | Refusal:
        """R12: the time limit ends the game as soon as no slap card shows."""
        if not self.rules.time_limit_min or self.time_up:
            return Refusal(Reason.NO_LIMIT, "R12")
        return self._settled(replace(self, time_up=True), entropy)

    def _leave(self, move: Leave, entropy: Entropy) -> Step | Refusal:
        """R25: the cards of a seat that leaves go under the pile."""
        if refusal := absent(move.seat, self.out):
            return refusal
        game = replace(
            self,
            stacks=changed(self.stacks, move.seat, ()),
            out=_with_out(self.out, move.seat),
            under=self.stacks[move.seat] + self.under,
        )
        return self._settled(game, entropy)

    # --- what follows of itself ----------------------------------------------------------------------------------

    def _settled(self, game: "Slapjack", entropy: Entropy, *events: AnyEvent, end: End = End.LAST_SEAT) -> Step:
        """What follows from a move that led from `self` to `game`: the end, the count, the pile taken back."""
        if sum(game.out) == len(game.out) - 1:
            return self._told(game._last_seat(end), *events)
        if game._answers() or game._open():
            return self._told(game, *events)
        if limit := game._limit():
            return self._told(game._counted(limit), *events)
        if not any(game.stacks):
            taker = game._taker()
            taken = PileTakenBack(seat=taker, cards=len(game._pile()))
            return self._told(game._taken_back(taker, entropy), *events, taken)
        return self._told(game, *events)

    def _told(self, game: "Slapjack", *events: AnyEvent) -> Step:
        """The step from `self` to `game`, with all that has changed for a seat said after the `events`."""
        told = list(events)
        if game.out is not self.out or not (all(self.stacks) and all(game.stacks)):
            changes = zip(statuses(self.stacks, self.out), statuses(game.stacks, game.out), strict=True)
            told += [_NEW_STATUS[new](seat=Seat(seat)) for seat, (old, new) in enumerate(changes) if old is not new]
        was_empty, empty = self._empty(), game._empty()
        if empty is not None and (empty != was_empty or any(isinstance(event, PileTakenBack) for event in events)):
            told.append(EliminationBegan(empty=empty))
        elif was_empty is not None and empty is None and game.end is None:
            told.append(EliminationEnded())
        if game.end is not None:
            told.append(GameOver(winners=game.winners, end=game.end))
        return Step(game=game, events=tuple(told))

    def _slap_end(self) -> End:
        """Why the game is over when a slap has left one seat (R9, R20)."""
        return End.DUEL_SLAP if self.rules.game is GameName.DUEL else End.LAST_SEAT

    def _last_seat(self, end: End) -> "Slapjack":
        """R9: the one seat that is not out wins, and every card is its own."""
        winner = Seat(self.out.index(False))
        stacks = changed(self.stacks, winner, self.stacks[winner] + self._pile())
        return replace(self._without_pile(), stacks=stacks, winners=(winner,), end=end)

    def _counted(self, end: End) -> "Slapjack":
        """R12: most cards in the stack wins, and the pile counts for nobody."""
        return replace(self, winners=most_cards(self.stacks, self.out), end=end)

    def _taken_back(self, taker: Seat, entropy: Entropy) -> "Slapjack":
        """R10, R20: the pile becomes the taker's stack, and the taker turns next."""
        stacks = changed(self.stacks, taker, shuffled(self._pile(), entropy))
        return replace(self._without_pile(), stacks=stacks)

    def _passed(self) -> "Slapjack":
        return replace(self, landed=(*self.landed[:-1], replace(self.landed[-1], slap=False)))

    def _without_pile(self) -> "Slapjack":
        return replace(self, landed=(), under=(), answered=())

    # --- what the state says -------------------------------------------------------------------------------------

    def _pile(self) -> Stack:
        """The pile turned over: the card that lay lowest is on top (R4, R14)."""
        return self.under + tuple(card.face for card in self.landed)

    def _may_be_slapped(self, face: Card, stacks: Stacks) -> bool:
        """Whether a card that has just been turned is a slap card; `stacks` are those without it (R11, R20)."""
        rules, landed, rank = self.rules, self.landed, face[0]
        if rank == "J":
            return True
        if rules.game is GameName.DUEL and not all(stacks):
            return False
        return (
            rank in rules.slap_ranks()
            or (rules.doubles and len(landed) >= 1 and landed[-1].face[0] == rank)
            or (rules.sandwiches and len(landed) >= 2 and landed[-2].face[0] == rank)
        )

    def _slap_card_on_top(self) -> bool:
        return bool(self.landed) and self.landed[-1].slap

    def _open(self) -> bool:
        """Whether somebody may still be about to slap the top card."""
        return self._slap_card_on_top() and len(self._slappers()) > 0

    def _slappers(self) -> tuple[Seat, ...]:
        """The seats whose hand on the slap card on top may still come; computer players wait for people (R19)."""
        people_first = bool(self._answers())
        return tuple(
            Seat(seat)
            for seat, out in enumerate(self.out)
            if not out and seat not in self.answered and (self.persons[seat] or not people_first)
        )

    def _answers(self) -> tuple[Seat, ...]:
        """The people who have neither slapped the top card nor let it pass (R19)."""
        if not self.rules.calm or not self.landed:
            return ()
        return tuple(
            Seat(seat)
            for seat, person in enumerate(self.persons)
            if person and not self.out[seat] and seat not in self.answered
        )

    def _limit(self) -> End | None:
        """The limit that has been reached, if any (R12)."""
        if self.time_up:
            return End.TIME_LIMIT
        return End.CARD_LIMIT if self.turned >= self.rules.last_card() else None

    def _wait(self) -> Wait:
        if self.end is not None:
            return Wait.OVER
        if self._answers():
            return Wait.ANSWERS
        if self._open() and (self._limit() or not any(self.stacks)):
            return Wait.LAST_HAND
        return Wait.TURN

    def _taker(self) -> Seat:
        """R10: the turner of the last card, or where that seat is out the next one in turn that is not."""
        if not self.out[self.after]:
            return self.after
        return next(seat for seat in clockwise(self.after, len(self.out)) if not self.out[seat])

    def _empty(self) -> Seat | None:
        """R20: the seat without cards in an elimination round; were both without, not the one that turned last."""
        if self.rules.game is not GameName.DUEL or self.end is not None or all(self.stacks):
            return None
        turner = next_with_cards(self.after, self.stacks)
        return Seat(1 - (self.after if turner is None else turner))


_OVER = Refusal(Reason.GAME_OVER, "R9")

_NEW_STATUS: dict[Status, type[SeatBack | SeatWaiting | SeatOut]] = {
    Status.IN_PLAY: SeatBack,
    Status.WAITING: SeatWaiting,
    Status.OUT: SeatOut,
}


def _with_out(out: Outs, seat: Seat) -> Outs:
    return (*out[:seat], True, *out[seat + 1 :])
