"""The room: one table with its people, and what each of them is told. Sans I/O.

`receive` takes what happened and when, and gives the effects in the order in which they are to be carried out;
`wake_at` says when it wants to be woken. Knows no socket, no store and no clock of its own, and never which game is
played. What it does stands in its parts (admission, games, commands, announcer, heartbeat, unsaved), which share one
`TableState`.
"""

from typing import assert_never

from engine.game import Seat, Status
from server.base.ports import RandomSource
from server.judge.path import SEND_MARGIN_US
from server.table.admission import Admission
from server.table.announcer import Announcer, Rejection
from server.table.chair import REACT_EVERY_US, Guest
from server.table.commands import Commands
from server.table.games import Games
from server.table.heartbeat import Heartbeat
from server.table.journal import Replayed
from server.table.mail import ConnId, Effect, Forgotten, Gone, Input, Ponged, Said, SentLate, Stalled, Woken
from server.table.outbox import Outbox
from server.table.records import TableRecord
from server.table.state import TableState
from server.table.strain import AT_EASE, Strain
from server.table.unsaved import MOST_GAME_BYTES, Unsaved
from wire.messages import (
    AllSaid,
    AskTournaments,
    Claim,
    CloseCode,
    DoCall,
    DoCarryOn,
    DoSlap,
    DoTurn,
    Emoji,
    HostCommand,
    Join,
    Point,
    Quit,
    React,
    Reacted,
    RejectReason,
    Rename,
    Shown,
    Sit,
    Sync,
    Synced,
    Tournaments,
)

SLEPT_US = 5_000_000
"""What is later than this was slept over by the whole server. To play on for hours in one go would stop every table."""

GuestMessage = (
    Shown
    | AllSaid
    | DoTurn
    | DoSlap
    | DoCall
    | DoCarryOn
    | Point
    | React
    | Rename
    | Sit
    | Claim
    | AskTournaments
    | Quit
    | HostCommand
)
"""What somebody may say who has joined, beside asking for the clock."""


class Room:
    """One table. One writer: everything that happens to it comes through `receive`, in order."""

    def __init__(
        self,
        record: TableRecord,
        random_source: RandomSource,
        max_spectators: int = 200,
        replayed: Replayed | None = None,
        at_us: int = 0,
        strain: Strain = AT_EASE,
    ) -> None:
        self.code = record.code
        self.state = state = TableState.of(record, random_source)
        self._outbox = outbox = Outbox()
        self._announcer = Announcer(state, outbox)
        self._heartbeat = Heartbeat(state, strain, outbox)
        self._unsaved = Unsaved(record, outbox)
        self._games = Games(state, random_source, strain, self._announcer, self._unsaved, outbox)
        self._admission = Admission(state, random_source, max_spectators, self._announcer, self._heartbeat, self._games)
        self._commands = Commands(state, self._admission, self._games)
        self._fresh_us = 0
        if replayed is not None:
            self._games.resume(replayed, at_us)
        self._wake_us = self._due_us()
        self._host = state.seats.host
        self._settled: tuple[object, ...] | None = None

    def record(self) -> TableRecord:
        """What is to be kept of the table."""
        return self.state.record()

    def has_joined(self, conn: ConnId) -> bool:
        """Whether somebody has come to the table on that connection."""
        return conn in self.state.guests

    @property
    def late_winners(self) -> int:
        """How many hands came after a verdict that they would have won; a number to be driven to zero."""
        return self._games.late_winners

    # --- the way in ----------------------------------------------------------------------------------------------

    def receive(self, happened: Input, at_us: int) -> list[Effect]:
        """What follows from something that happened at `at_us`, after all that was due before it."""
        state = self.state
        now_us = state.now_us = max(state.now_us, at_us)
        if isinstance(happened, Stalled):
            self._stalled(happened.since_us)
        elif self._wake_us is not None and now_us - self._wake_us > SLEPT_US:
            self._stalled(self._wake_us)
        moved = self._wake_us is not None and self._wake_us <= now_us
        if moved:
            self._catch_up()
        if self._take_in(happened, at_us):
            moved = True
            self._catch_up()
        if moved and state.ingredients() != self._settled:
            self._settle()
        elif self._unsaved.entries:
            self._unsaved.close()
        if self._unsaved.game_bytes > MOST_GAME_BYTES:
            self._end_long_game()
        outbox = self._outbox
        return outbox.take() if outbox.effects or outbox.keeps or outbox.to_ping else []

    def _take_in(self, happened: Input, at_us: int) -> bool:
        """Takes what happened. False where it has changed nothing, and moved nothing that is due, mostly so."""
        # Not by patterns: what a busy server does most costs twice as much so.
        if isinstance(happened, Ponged):
            return self._ponged(happened)
        if isinstance(happened, Said):
            self._said(happened, at_us)
            return not isinstance(happened.message, Sync | Shown)
        match happened:
            case Forgotten(person):
                self._admission.forget(person)
            case Gone(conn):
                self._admission.lost(conn)
            case SentLate(conn, show_at_us, late_us):
                guest, play = self.state.guests.get(conn), self.state.play
                if play is not None and guest is not None and guest.chair is not None and guest.chair.place is not None:
                    play.witness.sent_late(guest.chair.place, show_at_us, late_us - SEND_MARGIN_US)
            case Stalled() | Woken():
                pass
            case _:
                assert_never(happened)
        return True

    def wake_at(self) -> int | None:
        """The instant from which `receive(Woken())` has something to do, None while only people can move it."""
        return self._wake_us

    def _settle(self) -> None:
        """Brings break, host and what people see to what the state asks for, and keeps it; the end of every change."""
        state = self.state
        self._games.settle_break()
        state.seats.look_for_host(state.now_us)
        if state.seats.host != self._host:
            self._host = state.seats.host
            self._announcer.tell_new_host()
        if state.play is not None:
            state.play.spectators = sum(state.seats.spectates(guest) for guest in state.guests.values())
        if not state.guests:
            self._heartbeat.due_us = None
        self._announcer.table()
        dealt = {chair.record.key_hash for chair in state.seats.chairs if chair.place is not None}
        self._unsaved.close(state.record(), dealt)
        self._wake_us = self._due_us()
        self._settled = state.ingredients()

    def _end_long_game(self) -> None:
        """R12: of a game that has gone on for so long nothing more is kept; it is counted as the host could have it."""
        self._unsaved.game_bytes = 0
        if self.state.play is not None:
            self._games.follow(self.state.play.end_now(self.state.now_us, too_long=True))
            self._settle()

    # --- time ----------------------------------------------------------------------------------------------------

    def _stalled(self, since_us: int) -> None:
        """The table has stood still for want of a store, or of a server that was awake.

        Nothing that was due meanwhile has happened.
        """
        self._fresh_us = self.state.now_us
        self._heartbeat.stalled()
        self._games.stalled(since_us)
        self._wake_us = self._due_us()

    def _catch_up(self) -> None:
        """Does what was due by now, each thing as of its own moment."""
        state = self.state
        while (due_us := self._due_us()) is not None and due_us <= state.now_us:
            if due_us == self._heartbeat.due_us:
                self._beat()
            elif due_us == state.seats.handover_us():
                state.seats.pass_host()
            elif due_us == state.claim_due_us():
                state.drop_old_claims()
            elif due_us == state.next_deal_us:
                self._games.deal(due_us)
            else:
                self._games.wake(due_us)
        self._wake_us = due_us

    def _due_us(self) -> int | None:
        state, beat_us = self.state, self._heartbeat.due_us
        play_us = state.play.wake_at() if state.play is not None and state.frozen_since_us is None else None
        waits = state.next_deal_us or state.claims or state.seats.host_away_us is not None
        if play_us is not None and beat_us is not None and not waits:
            return min(play_us, beat_us)  # as it is most of the time
        instants = (play_us, beat_us, state.next_deal_us or None, state.seats.handover_us(), state.claim_due_us())
        return min((instant for instant in instants if instant is not None), default=None)

    def _beat(self) -> None:
        for conn in self._heartbeat.silent():
            self._announcer.hang_up(conn, CloseCode.TOO_SLOW, "this phone has stopped answering")
            self._admission.lost(conn)
        if self.state.guests:
            self._heartbeat.beat()
        else:
            self._heartbeat.due_us = None

    def _ponged(self, pong: Ponged) -> bool:
        state = self.state
        guest = state.guests.get(pong.conn)
        if guest is None:
            return False
        plain = state.play is None or state.play.referee.is_plain(pong.sent_us)
        seen = guest.ponged(pong.sent_us, state.now_us, pong.kernel_rtt_us, plain=plain)
        if guest.chair is None or guest.chair.place is None or state.play is None or state.frozen_since_us is not None:
            return seen
        outcome = state.play.ponged(guest.chair.place, state.now_us)
        if outcome is None:
            return seen
        self._games.follow(outcome)
        return True

    # --- what people say -----------------------------------------------------------------------------------------

    def _said(self, happened: Said, at_us: int) -> None:
        conn, message = happened.conn, happened.message
        guest = self.state.guests.get(conn)
        rejection: Rejection | None
        if isinstance(message, Sync):
            self._announcer.tell((conn,), Synced(message.sent_us, at_us))
            return
        if isinstance(message, Join):
            rejection = RejectReason.ALREADY_JOINED if guest else self._admission.join(happened, message)
        elif guest is None:
            rejection = RejectReason.JOIN_FIRST
        else:
            if guest.chair is not None and not isinstance(message, Shown | AllSaid):
                self._admission.acted(guest.chair)
            # What people did while the store was away, they did to a table that they saw standing still.
            stale = at_us < self._fresh_us and isinstance(message, DoTurn | DoSlap | DoCall | DoCarryOn)
            rejection = RejectReason.PAUSED if stale else self._answer(conn, guest, message)
        if rejection is not None:
            self._announcer.refuse(conn, message, rejection)

    def _answer(self, conn: ConnId, guest: Guest, message: GuestMessage) -> Rejection | None:
        match message:
            case DoTurn() | DoSlap() | DoCall() | DoCarryOn():
                return self._move(guest, message)
            case Point(question, seat):
                return self._point(guest, question, seat)
            case Shown() | AllSaid():
                return self._page_said(guest, message)
            case React(emoji):
                return self._react(guest, emoji)
            case Rename():
                return self._admission.rename(guest, message)
            case Sit():
                return self._admission.sit(conn, guest, message)
            case Claim(seat):
                return self._admission.claim(conn, guest, seat)
            case AskTournaments():
                state = self.state
                ended = state.scores.ended(state.seats.chairs, plain_names=state.rules.plain_names)
                self._announcer.tell((conn,), Tournaments(ended))
                return None
            case Quit():
                self._admission.quit(conn, guest)
                return None
            case _:
                if guest.chair is None:
                    return RejectReason.NOT_SEATED
                if guest.chair.id != self.state.seats.host:
                    return RejectReason.NOT_HOST
                return self._commands.obey(message)

    def _move(self, guest: Guest, move: DoTurn | DoSlap | DoCall | DoCarryOn) -> Rejection | None:
        state = self.state
        if guest.chair is None:
            return RejectReason.NOT_SEATED
        if state.play is None or guest.chair.place is None:
            return RejectReason.NOT_PLAYING
        if move.game != state.games:
            return RejectReason.OTHER_GAME
        if state.paused:
            return RejectReason.PAUSED
        guest.chair.moves += 1
        return self._games.follow(state.play.move(guest.chair.place, move, state.now_us))

    def _page_said(self, guest: Guest, message: Shown | AllSaid) -> Rejection | None:
        """What a page says by itself: when it painted a card, and that it holds no hand any more."""
        state = self.state
        if state.play is None or guest.chair is None or guest.chair.place is None:
            return None
        if isinstance(message, Shown):
            if message.game != state.games:
                return RejectReason.OTHER_GAME
            state.play.witness.painted(guest.chair.place, message.nth, message.late_us)
        elif message.game == state.games and state.frozen_since_us is None:
            # Otherwise what it was about is over, or nothing is decided while the table stands still.
            self._games.follow(state.play.all_said(guest.chair.place, message.nth, state.now_us))
        return None

    def _point(self, guest: Guest, question: int, seat: Seat) -> Rejection | None:
        state = self.state
        if state.play is None:
            return RejectReason.NOT_PLAYING
        chair = state.seats.own(guest)  # nobody judges their own hand from a second screen
        place = chair.place if chair is not None else None
        if place is not None and state.play.game.view().seats[place].status is not Status.OUT:
            return RejectReason.NO_QUESTION
        return self._games.follow(state.play.point(question, seat, state.now_us))

    def _react(self, guest: Guest, emoji: Emoji) -> Rejection | None:
        if not self.state.rules.reactions:
            return RejectReason.REACTIONS_OFF
        if self.state.now_us - guest.reacted_us < REACT_EVERY_US:
            return RejectReason.TOO_SOON
        guest.reacted_us = self.state.now_us
        self._announcer.everybody(Reacted(guest.chair.id if guest.chair is not None else None, emoji))
        return None
