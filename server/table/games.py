"""The games of a table, one after another: dealt, told, frozen while nobody is there, ended, and the break between."""

from engine.cards import deck_text, full_deck, shuffled
from engine.game import GameOver, Refusal, Seat, WrongSlap
from engine.rules import GameName
from engine.table import deal
from server.base.ports import RandomSource
from server.judge.judge import Evidence
from server.table.announcer import Announcer
from server.table.chair import Chair
from server.table.journal import Dealt, Replayed
from server.table.outbox import Outbox
from server.table.outcome import GameUpdate, Outcome
from server.table.play import Play
from server.table.scores import result_of
from server.table.state import TableState
from server.table.strain import Strain
from server.table.unsaved import Unsaved
from wire.messages import AnyHand, RejectReason, Stage, Verdict

BREAK_US = 7_000_000
DUEL_BREAK_US = 3_000_000
"""Between games there is time to look at the result; Duel's rules say three seconds themselves (R28)."""


class Games:
    """Has the games dealt and played, and carries out what follows in them."""

    def __init__(
        self,
        state: TableState,
        random_source: RandomSource,
        strain: Strain,
        announcer: Announcer,
        unsaved: Unsaved,
        outbox: Outbox,
    ) -> None:
        self._state = state
        self._random_source = random_source
        self._strain = strain
        self._announcer = announcer
        self._unsaved = unsaved
        self._outbox = outbox
        self._late_winners = 0
        self._resumed = False

    @property
    def late_winners(self) -> int:
        """How many hands came after a verdict that they would have won; a number to be driven to zero."""
        play = self._state.play
        return self._late_winners + (play.referee.late_winners if play is not None else 0)

    # --- one after another ---------------------------------------------------------------------------------------

    def deal(self, at_us: int) -> None:
        """The next game begins."""
        state = self._state
        state.seats.deal_in()
        chairs = tuple(state.seats.chairs)
        ids = [chair.id for chair in chairs]
        dealer = (ids.index(state.dealer) + 1) % len(ids) if state.dealer in ids else 0
        state.dealer = ids[dealer]
        state.games += 1
        state.stage = Stage.PLAYING
        state.played = state.seats.people()
        state.paused = state.held = state.deserted = False
        state.next_deal_us = 0
        state.frozen_since_us = None
        state.scores.begin()
        self._unsaved.close(state.record())  # what the last game has left, apart: a deal comes first in its change
        deck = shuffled(full_deck(), self._random_source.draw())
        seats = tuple(chair.record for chair in chairs)
        self._unsaved.journal(Dealt(state.games, deck_text(deck), state.rules, Seat(dealer), seats))
        state.play = Play(
            deal(state.rules, deck, len(ids), Seat(dealer), tuple(seat.computer is None for seat in seats)),
            state.rules,
            state.games,
            chairs,
            self._random_source,
            at_us=at_us,
            strain=self._strain,
            show_jacks=state.rules.show_jacks and state.games == 1,
        )
        self._announcer.table()
        self.follow(state.play.begin())
        self.look_who_is_here(at_us)

    def resume(self, replayed: Replayed, at_us: int) -> None:
        """Goes on with a game from the journal. It stands still until somebody is back (R24)."""
        state, dealt = self._state, replayed.dealt
        state.stage = Stage.PLAYING
        state.played = sum(seat.computer is None for seat in dealt.seats)
        state.play = Play(
            replayed.game,
            dealt.rules,
            dealt.game,
            state.seats.resume(dealt.seats),
            self._random_source,
            at_us=at_us,
            strain=self._strain,
            moves=replayed.moves,
            played_us=replayed.played_us,
        )
        state.frozen_since_us = at_us
        self._unsaved.game_bytes = replayed.size
        self._resumed = True

    def settle_break(self) -> None:
        """Times the next deal, while there are people for it (R28).

        Where everybody else who played is gone, it waits for the host.
        """
        state = self._state
        if state.stage is not Stage.BREAK:
            return
        state.deserted = state.played > 1 and state.seats.people_here() < 2
        if not state.seats.ready(state.rules):
            state.stage, state.next_deal_us, state.deserted = Stage.LOBBY, 0, False
        elif state.held or state.deserted:
            state.next_deal_us = 0
        elif not state.next_deal_us:
            pause_us = DUEL_BREAK_US if state.rules.game is GameName.DUEL else BREAK_US
            state.next_deal_us = state.now_us + pause_us

    def _end(self, play: Play) -> None:
        state, seats = self._state, self._state.seats
        self._late_winners += play.referee.late_winners
        for chair in seats.chairs:
            if chair.place is not None:
                chair.standing = play.witness.standings[chair.place]
        state.play = None
        state.paused = False
        state.frozen_since_us = None
        seats.deal_out()
        state.stage = Stage.BREAK if seats.ready(state.rules) and not state.scores.champions else Stage.LOBBY

    # --- time ----------------------------------------------------------------------------------------------------

    def wake(self, at_us: int) -> None:
        """Does what is due in the game."""
        if self._state.play is not None:
            self.follow(self._state.play.wake(at_us))
            self.look_who_is_here(at_us)

    def stalled(self, since_us: int) -> None:
        """The table has stood still since then, for want of a store or of a server that was awake."""
        state = self._state
        if state.next_deal_us:
            state.next_deal_us += state.now_us - since_us
        if state.play is not None and state.frozen_since_us is None:
            self.follow(state.play.go_on(since_us, state.now_us, afresh=True))

    def look_who_is_here(self, at_us: int) -> None:
        """Stops and starts the game's time: a pause, or every person away (R24)."""
        state = self._state
        if state.play is None:
            return
        still = state.paused or state.seats.first_here() is None
        if still == (state.frozen_since_us is not None):
            return
        if state.frozen_since_us is None:
            self.follow(state.play.settle(at_us))
            if state.play is not None:
                state.frozen_since_us = at_us
        else:
            since_us, state.frozen_since_us = state.frozen_since_us, None
            afresh, self._resumed = self._resumed, False
            self.follow(state.play.go_on(since_us, at_us, afresh=afresh))

    def presence_changed(self) -> None:
        """Somebody is gone or back."""
        state = self._state
        self.look_who_is_here(state.now_us)
        if state.play is not None and state.frozen_since_us is None:
            self.follow(state.play.presence_changed(state.now_us))

    def leave(self, chair: Chair) -> None:
        """A seat leaves the game for good (R25)."""
        state = self._state
        if state.play is not None and chair.place is not None:
            # While the game stands still, so does its time.
            at_us = state.now_us if state.frozen_since_us is None else state.frozen_since_us
            self.follow(state.play.leave(chair.place, at_us))

    # --- what follows --------------------------------------------------------------------------------------------

    def follow(self, outcome: Outcome) -> Refusal | RejectReason | None:
        """Carries out what follows in the game, and ends it when it is over; gives why a move does not stand."""
        state, chairs = self._state, self._state.seats.chairs
        for seat in outcome.pings:
            if (conn := chairs[seat].conn) is not None:
                self._outbox.to_ping[conn] = None
        if outcome.asks and state.play is not None:
            conns = tuple(c for s in outcome.asks if (c := chairs[s].conn) is not None)
            self._announcer.tell(conns, AnyHand(state.games, state.play.due.nth - 1))
        if outcome.entries:
            self._unsaved.journal(*outcome.entries)
        gone_quiet = outcome.silent and [seat for seat in outcome.silent if chairs[seat].let_pass()]
        if outcome.updates and state.play is not None:
            self._tell(outcome.updates, state.play)
        if gone_quiet:
            self.presence_changed()
        return outcome.refusal

    def _tell(self, updates: tuple[GameUpdate, ...], play: Play) -> None:
        """Tells everybody what happened, and ends the game when it is over."""
        over = False
        for update in updates:
            if update.verdict is not None:
                self._look_for_cheats(play, update.verdict, update.evidence)
            for event in update.events:
                if isinstance(event, WrongSlap):
                    self._state.seats.chairs[event.seat].wrong += 1
                elif isinstance(event, GameOver):
                    over = True
        if over:
            self._score(play)
        for update in updates:
            self._announcer.game_update(update)
        if over:
            self._end(play)

    def _look_for_cheats(self, play: Play, verdict: Verdict, evidence: tuple[Evidence, ...]) -> None:
        """Lets each hand be looked at, and tells the host of one that is no person's.

        Hands on a card on which the table stood still win piles, and are nobody's reaction.
        """
        if verdict.nth == play.stood_still_on:
            return
        late_us = {e.seat: e.late_us or 0 for e in evidence}
        for hand in verdict.hands:
            chair = self._state.seats.chairs[hand.seat]
            if chair.computer is not None or hand.cover:
                continue
            chair.reactions_us.append(hand.accepted_us - hand.handicap_us)
            was_flagged = chair.detector.flagged
            chair.detector = chair.detector.seen(hand, late_us.get(hand.seat, 0))
            if chair.detector.flagged and not was_flagged:
                self._announcer.flagged(chair)

    def _score(self, play: Play) -> None:
        """Adds the wins, and hands the result over to be counted on the leaderboard (R28, R29, R30)."""
        state, chairs, over = self._state, self._state.seats.chairs, play.game.view()
        # A person without a key has asked to be forgotten.
        played = [c for c in chairs if c.place is not None and (c.computer is not None or c.record.key_hash)]
        winners = [chairs[winner] for winner in over.winners if chairs[winner] in played]
        state.scores.count(played, winners)
        state.winners = tuple(chair.id for chair in winners)
        number = f"{state.code}-{state.born}-{state.games}"
        ranked = state.ranked and not play.rules.calm
        took_us = play.played_us(state.now_us if state.frozen_since_us is None else state.frozen_since_us)
        plain = state.rules.plain_names
        result = result_of(number, state.code, over, played, winners, ranked=ranked, took_us=took_us, plain_names=plain)
        self._unsaved.count(result)
