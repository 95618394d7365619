"""What holds in every game under all rules that go together, whoever does what."""

from collections.abc import Sequence
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.cards import ENTROPY_BYTES, Card, Entropy, full_deck, shuffled
from engine.game import (
    AnyMove,
    CarryOn,
    End,
    EndNow,
    Leave,
    LetPass,
    Refusal,
    Seat,
    Side,
    Slap,
    SlapKind,
    Step,
    TimeUp,
    Turn,
    Wait,
)
from engine.rules import RANKS_TOO, GameName, Penalty, Rules, WarCards, WhichHand, WonPile
from engine.slapjack import Slapjack
from engine.table import AnyGame, deal
from engine.war import War
from tests.engine.cardtable import ZERO
from tests.engine.entropy import budget, chances, sensible_move

MOST_SEATS = 10
NOBODY = WhichHand.NOT_TURNER
rng = st.binary(min_size=ENTROPY_BYTES, max_size=ENTROPY_BYTES).map(Entropy)
flag = st.booleans()
eagerness = st.sampled_from((0, 1, 7, 8))
rarely = st.integers(0, 3).map(lambda number: number == 3)


@st.composite
def any_rules(draw: st.DrawFn, *, limited: bool = False) -> Rules:
    """Any rules that go together."""
    name = draw(st.sampled_from(GameName))
    card_limit = draw(st.integers(1, 150)) if limited or draw(flag) else 0
    if name is GameName.WAR:
        return Rules(
            game=name,
            card_limit=card_limit,
            time_limit_min=draw(st.sampled_from((0, 5))),
            ace_high=draw(flag),
            war_cards=draw(st.sampled_from(WarCards)),
        )
    chosen: dict[str, Any] = {"game": name, "card_limit": card_limit}
    if name is GameName.SLAPJACK:
        chosen |= {switch: draw(flag) for switch in (*RANKS_TOO, "doubles", "sandwiches")}
        chosen |= {"won_pile": draw(st.sampled_from(WonPile)), "penalty": draw(st.sampled_from(Penalty))}
    chosen["hand"] = draw(st.sampled_from([hand for hand in WhichHand if name is not GameName.DUEL or hand != NOBODY]))
    if draw(flag):
        chosen["calm"] = True
    else:
        call = draw(flag)
        chosen |= {"call": call, "wrong_call": call and draw(flag)}
        chosen |= {"time_limit_min": draw(st.sampled_from((0, 5)))}
    rules = Rules(**chosen)
    assert rules.conflicts() == ()
    return rules


@st.composite
def any_deal(draw: st.DrawFn, *, limited: bool = False) -> AnyGame:
    """The first state of any game."""
    rules = draw(any_rules(limited=limited))
    seats = draw(st.sampled_from(rules.seats()))
    persons = tuple(draw(st.lists(flag, min_size=seats, max_size=seats)))
    return deal(rules, shuffled(full_deck(), draw(rng)), seats, Seat(draw(st.integers(0, seats - 1))), persons)


def unseen(game: AnyGame) -> tuple[Card, ...]:
    """Every card that nobody has seen turned, or that has gone where nobody sees it."""
    return tuple(card for stack in game.stacks for card in stack) + game.under


def with_unseen(game: AnyGame, cards: Sequence[Card]) -> AnyGame:
    """The same game with other cards in the hidden places."""
    rest = list(cards)
    stacks = tuple(tuple(rest.pop(0) for _ in stack) for stack in game.stacks)
    return msgspec.structs.replace(game, stacks=stacks, under=tuple(rest))


def encoded(value: object) -> bytes:
    """The bytes of a value."""
    return msgspec.msgpack.encode(value)


def check(game: AnyGame) -> None:
    """All that must hold of a state."""
    in_places = [*unseen(game), *(card.face for card in game.landed)]
    assert sorted(in_places) == sorted(full_deck()), "52 different cards, each in one place (R1)"
    due, view = game.due(), game.view()
    assert (view.wait, view.turners, view.turned) == (due.wait, due.turners, due.nth - 1)
    assert sum(seat.cards for seat in view.seats) + view.pile == len(full_deck())
    if due.wait is Wait.TURN:
        assert len(due.turners) == 1 or isinstance(game, War)
        assert due.turners
        for seat in due.turners:
            assert isinstance(game.step(Turn(seat=seat, nth=due.nth), ZERO), Step)
    else:
        assert due.turners == ()
    if due.wait is Wait.ANSWERS:
        assert due.answers
        for seat in due.answers:
            assert isinstance(game.step(CarryOn(seat=seat, nth=due.nth - 1), ZERO), Step)
    if due.wait is Wait.LAST_HAND:
        assert due.contest == due.nth - 1
        assert isinstance(game.step(LetPass(nth=due.contest), ZERO), Step)
    if due.wait is Wait.LAST_CARD:
        assert due.contest == 0 and not any(game.stacks)
        assert isinstance(game.step(LetPass(nth=game.turned), ZERO), Step)
    for seat in due.slappers:
        hand = Slap(seat=seat, nth=due.contest, called=True)
        assert game.weigh(hand) is SlapKind.CONTEST
        assert isinstance(game.step(hand, ZERO), Step)
    assert (due.wait is Wait.OVER) == (view.end is not None) == bool(view.winners)
    if isinstance(game, Slapjack) and not game.landed:
        assert game.answered == ()
    check_time_limit(game)


def check_time_limit(game: AnyGame) -> None:
    """R12: when the time is up the game is over, or as soon as the slap card that shows has been let pass."""
    step = game.step(TimeUp(), ZERO)
    if isinstance(step, Refusal):
        return
    if step.game.due().wait is Wait.LAST_HAND:
        step = step.game.step(LetPass(nth=step.game.due().contest), ZERO)
        assert isinstance(step, Step)
    assert step.game.due().wait is Wait.OVER


class EveryGame(RuleBasedStateMachine):
    """Anybody does anything at any time, between stretches of sensible play."""

    game: AnyGame

    @initialize(game=any_deal())
    def is_dealt(self, game: AnyGame) -> None:
        self.game = game

    @precondition(lambda self: self.game.end is not None)
    @rule(game=any_deal())
    def is_dealt_again(self, game: AnyGame) -> None:
        self.game = game

    @rule(moves=st.integers(1, 120), word=st.integers(0, 2**32), eager=eagerness)
    def plays_on(self, moves: int, word: int, eager: int) -> None:
        for _, entropy in zip(range(moves), chances(str(word)), strict=False):
            if self.game.end is None:
                self.makes(sensible_move(self.game, entropy, eager), entropy)
                check(self.game)

    @rule(seat=st.integers(-1, MOST_SEATS), depth=st.integers(-1, 8), called=flag, side=st.sampled_from(Side), by=rng)
    def slaps(self, seat: int, depth: int, called: bool, side: Side, by: Entropy) -> None:
        self.makes(Slap(seat=Seat(seat), nth=self.game.turned - depth, called=called, side=side), by)

    @rule(seat=st.integers(-1, MOST_SEATS), ahead=st.integers(-1, 2), side=st.sampled_from(Side), by=rng)
    def turns(self, seat: int, ahead: int, side: Side, by: Entropy) -> None:
        self.makes(Turn(seat=Seat(seat), nth=self.game.turned + ahead, side=side), by)

    @rule(seat=st.integers(-1, MOST_SEATS), depth=st.integers(-1, 1), by=rng)
    def carries_on(self, seat: int, depth: int, by: Entropy) -> None:
        self.makes(CarryOn(seat=Seat(seat), nth=self.game.turned - depth), by)

    @rule(depth=st.integers(-1, 1), by=rng)
    def lets_pass(self, depth: int, by: Entropy) -> None:
        self.makes(LetPass(nth=self.game.turned - depth), by)

    @rule(seat=st.integers(-1, MOST_SEATS), by=rng, sure=rarely)
    def leaves(self, seat: int, by: Entropy, sure: bool) -> None:
        if sure:
            self.makes(Leave(seat=Seat(seat)), by)

    @rule(move=st.sampled_from((TimeUp(), EndNow())), by=rng, sure=rarely)
    def is_ended(self, move: AnyMove, by: Entropy, sure: bool) -> None:
        if sure:
            self.makes(move, by)

    def makes(self, move: AnyMove, entropy: Entropy) -> None:
        """Makes the move, twice: the same inputs give the same bytes, from a snapshot as well."""
        before = encoded(self.game)
        contest, turned = self.game.due().contest, self.game.turned
        outcome = self.game.step(move, entropy)
        if isinstance(move, Slap) and 0 < move.nth < turned and contest and isinstance(outcome, Step):
            after = outcome.game.due()
            assert after.contest == contest or after.wait is Wait.OVER, "a covered card ends no contest above it (R14a)"
            assert after.wait is not Wait.OVER or outcome.game.view().end in (End.LAST_SEAT, End.DUEL_SLAP)
        again = msgspec.msgpack.decode(before, type=AnyGame).step(move, entropy)
        assert encoded(again) == encoded(outcome)
        assert encoded(self.game) == before, "a step changes nothing that was there"
        if isinstance(outcome, Step):
            assert isinstance(outcome.game, Slapjack | War)
            self.game = outcome.game

    @invariant()
    def holds(self) -> None:
        check(self.game)

    @invariant()
    def hides_what_is_hidden(self) -> None:
        """Permuting what nobody has seen changes nothing that anybody is told."""
        other = with_unseen(self.game, unseen(self.game)[::-1])
        assert encoded(other.view()) == encoded(self.game.view())
        assert encoded(other.due()) == encoded(self.game.due())


any_number = st.integers() | st.integers(-2, 60) | flag
any_seat = (st.integers() | st.integers(-1, MOST_SEATS) | flag).map(Seat)
any_move: st.SearchStrategy[AnyMove] = st.one_of(
    st.builds(Turn, seat=any_seat, nth=any_number, side=st.sampled_from(Side)),
    st.builds(Slap, seat=any_seat, nth=any_number, called=flag, side=st.sampled_from(Side)),
    st.builds(CarryOn, seat=any_seat, nth=any_number),
    st.builds(LetPass, nth=any_number),
    st.builds(Leave, seat=any_seat),
    st.just(TimeUp()),
    st.just(EndNow()),
)


@given(game=any_deal(), moves=st.lists(st.tuples(any_move, st.binary(max_size=40).map(Entropy)), max_size=40))
@budget(150)
def test_step_is_total_and_no_boolean_is_a_seat(game: AnyGame, moves: list[tuple[AnyMove, Entropy]]) -> None:
    for move, entropy in moves:
        outcome = game.step(move, entropy)
        assert isinstance(outcome, Step | Refusal)
        if isinstance(outcome, Step):
            assert not isinstance(getattr(move, "seat", 0), bool)
            assert isinstance(outcome.game, Slapjack | War)
            game = outcome.game
            check(game)


TestEveryGame = EveryGame.TestCase
TestEveryGame.settings = budget(200, steps=30)


@given(game=any_deal(limited=True), word=st.integers(0, 2**32), eager=eagerness)
@budget(120)
def test_r12_every_game_with_a_card_limit_ends(game: AnyGame, word: int, eager: int) -> None:
    seats = len(game.stacks)
    longest = (game.rules.card_limit + 2) * (2 * seats + 2)
    moves = 0
    for entropy in chances(str(word)):
        if game.end is not None:
            break
        step = game.step(sensible_move(game, entropy, eager), entropy)
        if isinstance(step, Step):
            assert isinstance(step.game, Slapjack | War)
            game = step.game
            check(game)
            moves += 1
            assert moves <= longest, "every turn may be slapped wrongly and answered once by every seat, and won once"
