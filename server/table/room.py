"""The room: one table with its people, and what each of them is told. Sans I/O.

`receive` takes what happened and when, and gives the effects in the order in which they are to be carried out;
`wake_at` says when it wants to be woken. Knows no socket, no store and no clock of its own, and never which game is
played.
"""

from typing import assert_never

import msgspec

from engine.cards import deck_text, full_deck, shuffled
from engine.game import GameOver, Refusal, Seat, Status, WrongSlap
from engine.table import deal
from server.base.keys import KEY, hash_of, new_key
from server.base.ports import RandomSource
from server.judge.judge import Evidence
from server.judge.path import Path
from server.table.chair import REACT_EVERY_US, Chair, Guest, Seats
from server.table.journal import AnyEntry, Dealt, Replayed, write_entry
from server.table.mail import (
    ConnId,
    Effect,
    Forgotten,
    Gone,
    HangUp,
    Input,
    Keep,
    Ping,
    Ponged,
    Said,
    SentLate,
    Stalled,
    Tell,
    Woken,
)
from server.table.names import BadName, clean, clean_face
from server.table.outcome import GameUpdate, Outcome
from server.table.play import Play
from server.table.records import Change, Result, TableRecord
from server.table.scores import ScoreBook, result_of
from server.table.strain import AT_EASE, Strain
from wire.messages import (
    PROTOCOL,
    AddComputer,
    AllSaid,
    AnyHand,
    Claim,
    ClientMessage,
    CloseCode,
    DoCall,
    DoCarryOn,
    DoSlap,
    DoTurn,
    Emoji,
    EndGame,
    GiveSeat,
    HoldDeal,
    HostCommand,
    Join,
    Lock,
    Message,
    Pause,
    Point,
    Quit,
    React,
    Reacted,
    Refused,
    RejectReason,
    Remove,
    Rename,
    Seated,
    SeatId,
    SetHandicap,
    SetRules,
    SetTable,
    Shown,
    Sit,
    Stage,
    Start,
    SuspectFlagged,
    Sync,
    Synced,
    TableSeat,
    TableView,
    Update,
    Verdict,
    Welcome,
)

BREAK_US = 3_000_000
PING_PLAYING_US = 1_000_000
PING_IDLE_US = 3_000_000
PING_NEWCOMER_US = 200_000
PINGS_FOR_NEWCOMER = 5

SLEPT_US = 5_000_000
"""What is later than this was slept over by the whole server. To play on for hours in one go would stop every table."""

SEND_MARGIN_US = 5_000
"""A card is sent so long before it must be there, beyond what the way usually takes."""

TABLE_FULL = (RejectReason.TABLE_FULL, "every seat at this table is taken")

QUIET = (Sync, Shown, AllSaid, DoTurn, DoSlap, DoCall, DoCarryOn, Point, React)
"""What people say most. Of itself it changes nothing at the table but the game."""

GuestMessage = (
    Shown | AllSaid | DoTurn | DoSlap | DoCall | DoCarryOn | Point | React | Rename | Sit | Claim | Quit | HostCommand
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
        self.rules = record.rules
        self.scores = ScoreBook.of(record)
        self.games = record.games
        self.dealer = record.dealer
        self.locked = record.locked
        self.ranked = record.ranked
        self._seats = Seats(record.seats, record.host, random_source)
        self.guests: dict[ConnId, Guest] = {}
        self._watched: dict[str, None] = {}
        self.stage = Stage.LOBBY
        self.play: Play | None = None
        self.paused = False
        self.held = False
        self.frozen_since_us: int | None = None
        self.winners: tuple[SeatId, ...] = ()
        self.next_deal_us = 0
        self._random_source = random_source
        self._strain = strain
        self._max_spectators = max_spectators
        self._late_winners = 0
        self._n = 0
        self._ping_us: int | None = None
        self._newcomer_pings = 0
        # In order. Whoever comes late to several pings sends one: they would all leave now.
        self._to_ping: dict[ConnId, None] = {}
        self._now_us = 0
        self._effects: list[Effect] = []
        self._keeps: list[Keep] = []
        self._entries: list[AnyEntry] = []
        self._result: Result | None = None
        self._fresh_us = 0
        self._born = record.born
        self._saved = record
        self._shown_table: TableView | None = None
        # Whether more than the game may have changed, so that the table and its record have to be looked at again.
        # Whatever changes them says so; the tests look after every input whether it was forgotten (Table._check).
        self._dirty = True
        self._resumed = False
        if replayed is not None:
            self._resume(replayed, at_us)
        self._wake_us = self._due_us()

    # --- the way in ----------------------------------------------------------------------------------------------

    def receive(self, happened: Input, at_us: int) -> list[Effect]:
        """What follows from something that happened at `at_us`, after all that was due before it."""
        self._now_us = max(self._now_us, at_us)
        if isinstance(happened, Stalled):
            self._stalled(happened.since_us)
        elif self._wake_us is not None and self._now_us - self._wake_us > SLEPT_US:
            self._stalled(self._wake_us)
        if self._wake_us is not None and self._wake_us <= self._now_us:
            self._catch_up()
        if self._happened(happened, at_us):
            self._catch_up()
        if self._dirty:
            self._settle()
            self._wake_us = self._due_us()
            self._keep()
            self._dirty = False
        elif self._entries:
            self._keep()
        if self._to_ping:
            self._effects.append(Ping(tuple(self._to_ping)))
            self._to_ping.clear()
        if not self._effects and not self._keeps:
            return []
        effects: list[Effect] = [*self._keeps, *self._effects]
        self._keeps, self._effects = [], []
        return effects

    def _happened(self, happened: Input, at_us: int) -> bool:
        """Takes what happened. False where it has moved nothing that is due, as with most of what comes in."""
        # Not by patterns: what a busy server does most costs twice as much so.
        if isinstance(happened, Ponged):
            return self._ponged(happened.conn, happened.sent_us, happened.kernel_rtt_us)
        if isinstance(happened, Said):
            self._said(happened.conn, happened.message, happened.person, at_us)
            return not isinstance(happened.message, Sync | Shown)
        match happened:
            case Forgotten(person):
                if self._knows(person):
                    self._forget(person)
            case Gone(conn):
                self._lost(conn)
            case SentLate(conn, show_at_us, late_us):
                self._sent_late(conn, show_at_us, late_us)
            case Stalled() | Woken():
                pass
            case _:
                assert_never(happened)
        return True

    def wake_at(self) -> int | None:
        """The instant from which `receive(Woken())` has something to do, None while only people can move it."""
        return self._wake_us

    @property
    def chairs(self) -> list[Chair]:
        """The seats in the order of the circle, with whoever sits there."""
        return self._seats.chairs

    @property
    def host(self) -> SeatId | None:
        """The seat of the host (R26)."""
        return self._seats.host

    @property
    def late_winners(self) -> int:
        """How many hands came after a verdict that they would have won; a number to be driven to zero."""
        return self._late_winners + (self.play.referee.late_winners if self.play is not None else 0)

    def record(self) -> TableRecord:
        """What is to be kept of the table."""
        return TableRecord(
            code=self.code,
            rules=self.rules,
            seats=tuple(chair.record for chair in self._seats.chairs if not chair.gone),
            scores=dict(self.scores.scores),
            games=self.games,
            host=self._seats.rightful_host or self._seats.host,
            dealer=self.dealer,
            locked=self.locked,
            first_to=self.scores.first_to,
            ranked=self.ranked,
            archive=self.scores.archive,
            born=self._born,
        )

    # --- what is kept --------------------------------------------------------------------------------------------

    def _keep(self) -> None:
        """Puts what has changed since the last time into one change, which is kept all of it or not at all."""
        record = self.record() if self._dirty else self._saved
        changed = record if record != self._saved else None
        if changed is None and not self._entries and self._result is None:
            return
        self._saved = record
        entries = tuple(write_entry(entry) for entry in self._entries)
        deals = bool(self._entries) and isinstance(self._entries[0], Dealt)
        self._keeps.append(Keep(Change(changed, entries, deals, self._result)))
        self._entries, self._result = [], None

    def _resume(self, replayed: Replayed, at_us: int) -> None:
        """Goes on with a game from the journal. It stands still until somebody is back (R24)."""
        self.stage = Stage.PLAYING
        self.play = Play(
            replayed.game,
            replayed.dealt.rules,
            replayed.dealt.game,
            self._seats.resume(replayed.dealt.seats),
            self._random_source,
            at_us=at_us,
            strain=self._strain,
            moves=replayed.moves,
            played_us=replayed.played_us,
        )
        self.frozen_since_us = at_us
        self._resumed = True

    def _stalled(self, since_us: int) -> None:
        """The table has stood still for want of a store, or of a server that was awake.

        Nothing that was due meanwhile has happened.
        """
        self._dirty = True
        self._fresh_us = self._now_us
        for guest in self.guests.values():
            guest.heard_us, guest.unanswered = self._now_us, 0
        if self.next_deal_us:
            self.next_deal_us += self._now_us - since_us
        if self.play is not None and self.frozen_since_us is None:
            self._follow(self.play.go_on(since_us, self._now_us, afresh=True))

    # --- time ----------------------------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Does what was due by now, each thing as of its own moment."""
        while (due_us := self._due_us()) is not None and due_us <= self._now_us:
            if due_us == self._ping_us:
                self._ping_all()
            elif due_us == self._seats.handover_us():
                self._dirty = True
                self._seats.pass_host()
            elif due_us == self.next_deal_us:
                self.next_deal_us = 0
                self._deal(due_us)
            elif self.play is not None:
                self._follow(self.play.wake(due_us))
                self._stand_still(due_us)

        self._wake_us = due_us

    def _due_us(self) -> int | None:
        play_us = self.play.wake_at() if self.play is not None and self.frozen_since_us is None else None
        ping_us = self._ping_us
        if play_us is not None and ping_us is not None and not self.next_deal_us and self._seats.host_away_us is None:
            return min(play_us, ping_us)  # as it is most of the time
        instants = (play_us, ping_us, self.next_deal_us or None, self._seats.handover_us())
        return min((instant for instant in instants if instant is not None), default=None)

    def _ping_all(self) -> None:
        """Keeps every phone's path known; the game asks more often while it matters."""
        for conn in [conn for conn, guest in self.guests.items() if guest.is_silent(self._now_us)]:
            self._effects.append(HangUp(conn, CloseCode.TOO_SLOW, "this phone has stopped answering"))
            self._lost(conn)
        if not self.guests:
            self._ping_us = None
            return
        self._newcomer_pings = max(0, self._newcomer_pings - 1)
        playing = self.play is not None and self.frozen_since_us is None
        pace_us = min(PING_IDLE_US, round(PING_PLAYING_US * self._strain.ping_backoff)) if playing else PING_IDLE_US
        pace_us = PING_NEWCOMER_US if self._newcomer_pings else pace_us
        self._ping_us = self._now_us + pace_us
        for conn, guest in self.guests.items():
            # Whoever has just answered the game is known.
            if self._newcomer_pings or self._now_us - guest.heard_us >= pace_us // 2:
                guest.unanswered += 1
                self._to_ping[conn] = None

    def _sent_late(self, conn: ConnId, show_at_us: int, late_us: int) -> None:
        guest = self.guests.get(conn)
        if self.play is not None and guest is not None and guest.chair is not None and guest.chair.place is not None:
            self.play.witness.sent_late(guest.chair.place, show_at_us, late_us - SEND_MARGIN_US)

    def _ponged(self, conn: ConnId, sent_us: int, kernel_rtt_us: int | None) -> bool:
        guest = self.guests.get(conn)
        if guest is None:
            return False
        guest.heard_us, guest.unanswered = self._now_us, 0
        guest.path = guest.path.ponged(sent_us, self._now_us, kernel_rtt_us)
        if guest.chair is None:
            return False
        if guest.chair.take_path(guest.path):
            self._dirty = True
        if self.play is None or guest.chair.place is None or self.frozen_since_us is not None:
            return False
        outcome = self.play.ponged(guest.chair.place, self._now_us)
        if outcome is None:
            return False
        self._follow(outcome)
        return True

    def _stand_still(self, at_us: int) -> None:
        """Stops and starts the game's time: a pause, or every person away (R24)."""
        if self.play is None:
            return
        still = self.paused or self._seats.first_here() is None
        if still == (self.frozen_since_us is not None):
            return
        self._dirty = True
        if self.frozen_since_us is None:
            self._follow(self.play.settle(at_us))
            if self.play is not None:
                self.frozen_since_us = at_us
        else:
            since_us, self.frozen_since_us = self.frozen_since_us, None
            afresh, self._resumed = self._resumed, False
            self._follow(self.play.go_on(since_us, at_us, afresh=afresh))

    # --- people --------------------------------------------------------------------------------------------------

    def _said(self, conn: ConnId, message: ClientMessage, person: str, at_us: int) -> None:
        guest = self.guests.get(conn)
        if not isinstance(message, QUIET):
            self._dirty = True
        if isinstance(message, Join):
            if guest is not None:
                self._refuse(conn, message, RejectReason.ALREADY_JOINED)
            else:
                self._join(conn, message, person)
            return
        if isinstance(message, Sync):
            self._effects.append(Tell((conn,), Synced(message.sent_us, at_us)))
            return
        if guest is None:
            self._refuse(conn, message, RejectReason.JOIN_FIRST)
            return
        if guest.chair is not None and not isinstance(message, Shown | AllSaid):
            self._acted(guest.chair)
        # What people did while the store was away, they did to a table that they saw standing still.
        stale = at_us < self._fresh_us and isinstance(message, DoTurn | DoSlap | DoCall | DoCarryOn)
        refusal = RejectReason.PAUSED if stale else self._answer(conn, guest, message)
        match refusal:
            case None:
                pass
            case Refusal(reason, rule):
                self._refuse(conn, message, reason, rule)
            case (RejectReason() as why, detail):
                self._refuse(conn, message, why, detail=detail)
            case RejectReason() as why:
                self._refuse(conn, message, why)
            case _:
                assert_never(refusal)

    def _refuse(self, conn: ConnId, message: Message, reason: str, rule: str = "", detail: str = "") -> None:
        tag = message.__struct_config__.tag
        self._effects.append(Tell((conn,), Refused(str(tag), str(reason), rule, detail)))

    def _join(self, conn: ConnId, join: Join, person: str) -> None:
        if join.protocol != PROTOCOL:
            self._effects.append(
                HangUp(conn, CloseCode.WRONG_VERSION, "the page is older than the server: load it again")
            )
            return
        key = join.key if KEY.fullmatch(join.key) else new_key(self._random_source)
        key_hash = person or hash_of(key)
        # Somebody who wants to watch, on the television say, keeps the seat that their phone has.
        chair = None if join.watch else self._seats.chair_of(key_hash)
        if chair is None:
            # A screen whose line has blipped comes back, though the table was locked meanwhile.
            known = join.watch and (key_hash in self._watched or self._seats.chair_of(key_hash) is not None)
            refusal = self._newcomer_refused(join, known)
            if refusal is not None:
                self._refuse(conn, join, refusal[0], detail=refusal[1])
                return
            if not join.watch:
                chair = self._seats.seat_person(join, key_hash, self.rules)
        if chair is not None:
            self._take_seat(conn, chair)
        # Only now: what their coming has set going is told to the others, and to them with the whole table.
        self.guests[conn] = Guest(key_hash, chair, heard_us=self._now_us)
        self._newcomer_pings = PINGS_FOR_NEWCOMER
        self._ping_us = self._now_us
        self._effects.append(
            Tell((conn,), Welcome(self.code, key, chair.id if chair is not None else None, self._now_us))
        )
        self._settle_table(but=conn)
        self._show_all(conn)

    def _newcomer_refused(self, join: Join, known: bool = False) -> tuple[RejectReason, str] | None:
        if self.locked and not known:
            return RejectReason.TABLE_LOCKED, "the host has locked this table"
        if not join.watch and self._seats.is_full(self.rules):
            return TABLE_FULL
        if join.watch and sum(guest.chair is None for guest in self.guests.values()) >= self._max_spectators:
            return RejectReason.TABLE_FULL, "too many people are watching this table"
        try:
            clean(join.name)
        except BadName as wrong:
            return RejectReason.BAD_NAME, str(wrong)
        return None

    def _take_seat(self, conn: ConnId, chair: Chair) -> None:
        if chair.conn is not None:
            self.guests.pop(chair.conn, None)
            self._effects.append(HangUp(chair.conn, CloseCode.SEAT_TAKEN_OVER, "your seat is in use on another device"))
        chair.conn = conn
        chair.path = Path()
        chair.silent_turns = 0
        self._came(chair)

    def _acted(self, chair: Chair) -> None:
        """Somebody does something, and so is not silent (R24)."""
        was_away, chair.silent_turns = chair.away, 0
        if was_away:
            self._came(chair)

    def _came(self, chair: Chair) -> None:
        self._seats.came(chair)
        self._presence_changed()

    def _presence_changed(self) -> None:
        self._dirty = True
        self._stand_still(self._now_us)
        if self.play is not None and self.frozen_since_us is None:
            self._follow(self.play.presence_changed(self._now_us))

    def _lost(self, conn: ConnId) -> None:
        guest = self.guests.pop(conn, None)
        if guest is None:
            return
        self._dirty = True
        if guest.chair is None:
            self._watched[guest.key_hash] = self._watched.pop(guest.key_hash, None)
            if len(self._watched) > self._max_spectators:
                del self._watched[next(iter(self._watched))]
            return
        guest.chair.conn = None
        self._presence_changed()

    def _remove(self, chair: Chair) -> None:
        """Takes a seat from the table for good (R25); its win score stays with its owner."""
        self._seats.let_go(chair)
        if self.dealer == chair.id:
            # The deal passes to the left of where it was (R2).
            self.dealer = self._seats.chairs[self._seats.chairs.index(chair) - 1].id
        if self.play is not None and chair.place is not None:
            # While the game stands still, so does its time.
            at_us = self._now_us if self.frozen_since_us is None else self.frozen_since_us
            self._follow(self.play.leave(chair.place, at_us))
        if chair.computer is not None:
            self.scores.forget(chair.id)
        if self.play is None or chair.place is None:
            self._seats.drop(chair)
        self._stand_still(self._now_us)

    def _knows(self, person: str) -> bool:
        """Whether somebody is or was here: most who want to be forgotten were at none of a server's tables."""
        here = any(guest.key_hash == person for guest in self.guests.values())
        seated = self._seats.chair_of(person) is not None
        return here or seated or person in self._watched or self.scores.knows(person)

    def _forget(self, person: str) -> None:
        self._dirty = True
        chair = self._seats.chair_of(person)
        if chair is not None:
            # First, for their leaving may end the game, and its result must not name them.
            chair.record = msgspec.structs.replace(chair.record, name="", key_hash="")
            self._dismiss(chair, "you have been forgotten, as you asked")
        for conn, guest in list(self.guests.items()):
            if guest.key_hash == person:
                del self.guests[conn]
                self._effects.append(HangUp(conn, CloseCode.REMOVED, "you have been forgotten, as you asked"))
        self._watched.pop(person, None)
        self.scores.forget(person)

    def _dismiss(self, chair: Chair, reason: str) -> None:
        if chair.conn is not None:
            self.guests.pop(chair.conn, None)
            self._effects.append(HangUp(chair.conn, CloseCode.REMOVED, reason))
        self._remove(chair)

    # --- what people ask -----------------------------------------------------------------------------------------

    def _answer(
        self, conn: ConnId, guest: Guest, message: GuestMessage
    ) -> Refusal | RejectReason | tuple[RejectReason, str] | None:
        match message:
            case DoTurn() | DoSlap() | DoCall() | DoCarryOn():
                return self._move(guest, message)
            case Point(question, seat):
                return self._point(guest, question, seat)
            case Shown(game, nth, late_us):
                if self.play is not None and guest.chair is not None and guest.chair.place is not None:
                    if game != self.games:
                        return RejectReason.OTHER_GAME
                    self.play.witness.painted(guest.chair.place, nth, late_us)
                return None
            case AllSaid(game, nth):
                # What it was about may be over, and nothing is decided while the table stands still.
                place = guest.chair.place if guest.chair is not None and self.frozen_since_us is None else None
                if self.play is not None and place is not None and game == self.games:
                    self._follow(self.play.all_said(place, nth, self._now_us))
                return None
            case React(emoji):
                return self._react(guest, emoji)
            case Rename():
                return self._rename(guest, message)
            case Sit():
                return self._sit(conn, guest, message)
            case Claim(seat):
                return self._claim(guest, seat)
            case Quit():
                if guest.chair is not None:
                    self._remove(guest.chair)
                self.guests.pop(conn)
                self._effects.append(HangUp(conn, CloseCode.REMOVED, "you have left the table"))
                return None
            case _:
                if guest.chair is None:
                    return RejectReason.NOT_SEATED
                if guest.chair.id != self._seats.host:
                    return RejectReason.NOT_HOST
                return self._command(message)

    def _move(self, guest: Guest, move: DoTurn | DoSlap | DoCall | DoCarryOn) -> Refusal | RejectReason | None:
        if guest.chair is None:
            return RejectReason.NOT_SEATED
        if self.play is None or guest.chair.place is None:
            return RejectReason.NOT_PLAYING
        if move.game != self.games:
            return RejectReason.OTHER_GAME
        if self.paused:
            return RejectReason.PAUSED
        return self._follow(self.play.move(guest.chair.place, move, self._now_us))

    def _point(self, guest: Guest, question: int, seat: Seat) -> Refusal | RejectReason | None:
        if self.play is None:
            return RejectReason.NOT_PLAYING
        chair = self._seats.own(guest)  # nobody judges their own hand from a second screen
        place = chair.place if chair is not None else None
        if place is not None and self.play.game.view().seats[place].status is not Status.OUT:
            return RejectReason.NO_QUESTION
        return self._follow(self.play.point(question, seat, self._now_us))

    def _react(self, guest: Guest, emoji: Emoji) -> RejectReason | None:
        if not self.rules.reactions:
            return RejectReason.REACTIONS_OFF
        if self._now_us - guest.reacted_us < REACT_EVERY_US:
            return RejectReason.TOO_SOON
        guest.reacted_us = self._now_us
        self._tell_everybody(Reacted(guest.chair.id if guest.chair is not None else None, emoji))
        return None

    def _rename(self, guest: Guest, rename: Rename) -> RejectReason | tuple[RejectReason, str] | None:
        if guest.chair is None:
            return RejectReason.NOT_SEATED
        try:
            name = guest.chair.record.name if self.rules.plain_names else clean(rename.name)
        except BadName as wrong:
            return RejectReason.BAD_NAME, str(wrong)
        record = msgspec.structs.replace(guest.chair.record, name=name, face=clean_face(rename.face))
        guest.chair.record = record
        return None

    def _sit(self, conn: ConnId, guest: Guest, sit: Sit) -> RejectReason | tuple[RejectReason, str] | None:
        if guest.chair is not None:
            return RejectReason.ALREADY_SEATED
        chair = self._seats.chair_of(guest.key_hash)  # on another device
        if chair is None:
            refusal = self._newcomer_refused(Join(sit.name, sit.face))
            if refusal is not None:
                return refusal
            chair = self._seats.seat_person(sit, guest.key_hash, self.rules)
        guest.chair = chair
        self._effects.append(Tell((conn,), Seated(chair.id)))
        self._take_seat(conn, chair)
        return None

    def _claim(self, guest: Guest, seat: SeatId) -> RejectReason | tuple[RejectReason, str] | None:
        own = self._seats.own(guest)
        if own is not None and (own.place is not None or own.id in (self._seats.host, seat)):
            return RejectReason.ALREADY_SEATED
        chair = self._seats.chair(seat)
        if chair is None or chair.computer is not None or chair.connected:
            return RejectReason.NO_SUCH_SEAT, "nobody is away from that seat"
        guest.claims = seat
        return None

    def _give_seat(self, seat: SeatId, yes: bool) -> RejectReason | None:
        """A person who has lost their key has their seat again (R28); whoever has the old key is a newcomer."""
        chair, claim = self._seats.chair(seat), self._seats.claim_on(seat, self.guests)
        if chair is None or claim is None:
            return RejectReason.NO_SUCH_SEAT
        conn, guest = claim
        if not yes:
            guest.claims = None
            return None
        for other in self.guests.values():
            if other.claims == seat:
                other.claims = None
        own = self._seats.own(guest)
        if own is not None:
            guest.chair = None
            own.conn = None if own.conn == conn else own.conn
            self._dismiss(own, "you have your earlier seat again")
        self.scores.hand_over(chair.score_key, guest.key_hash)
        chair.record = msgspec.structs.replace(chair.record, key_hash=guest.key_hash)
        guest.chair = chair
        self._effects.append(Tell((conn,), Seated(chair.id)))
        self._take_seat(conn, chair)
        return None

    def _command(self, message: HostCommand) -> Refusal | RejectReason | tuple[RejectReason, str] | None:
        match message:
            case Start():
                return self._start()
            case HoldDeal(on):
                self.held = on
            case Pause(on):
                if self.play is None:
                    return RejectReason.NOT_PLAYING
                self.paused = on
                self._stand_still(self._now_us)
            case EndGame():
                if self.play is None:
                    return RejectReason.NOT_PLAYING
                return self._follow(self.play.end_now(self._now_us))
            case SetRules(rules):
                if self.play is not None:
                    return RejectReason.ALREADY_PLAYING
                if conflicts := rules.conflicts():
                    return RejectReason.BAD_RULES, f"{conflicts[0].rule}: {conflicts[0].sentence}"
                made_up, self.rules = self.rules.plain_names, rules
                if rules.plain_names and not made_up:
                    self._seats.name_plainly()
            case AddComputer():
                if self._seats.is_full(self.rules):
                    return TABLE_FULL
                self._seats.seat_computer(message)
            case Remove(seat):
                chair = self._seats.chair(seat)
                if chair is None:
                    return RejectReason.NO_SUCH_SEAT
                self._dismiss(chair, "the host has removed you from the table")
            case GiveSeat(seat, yes):
                return self._give_seat(seat, yes)
            case SetHandicap(seat, ms):
                chair = self._seats.chair(seat)
                if chair is None:
                    return RejectReason.NO_SUCH_SEAT
                if self.play is not None:
                    return RejectReason.ALREADY_PLAYING
                chair.record = msgspec.structs.replace(chair.record, handicap_ms=ms)
            case Lock(on):
                self.locked = on
            case SetTable(first_to, ranked):
                self.scores.first_to, self.ranked = first_to, ranked
            case _:
                assert_never(message)
        return None

    # --- games ---------------------------------------------------------------------------------------------------

    def _start(self) -> Refusal | RejectReason | tuple[RejectReason, str] | None:
        if self.play is not None:
            return RejectReason.ALREADY_PLAYING
        if conflicts := self.rules.seat_conflicts(len(self._seats.chairs)):
            why = RejectReason.TOO_FEW if len(self._seats.chairs) < self.rules.seats()[0] else RejectReason.TOO_MANY
            return why, f"{conflicts[0].rule}: {conflicts[0].sentence}"
        self._seats.rightful_host = None
        self._deal(self._now_us)
        return None

    def _deal(self, at_us: int) -> None:
        self._dirty = True
        self._seats.deal_in()
        ids = [chair.id for chair in self._seats.chairs]
        dealer = (ids.index(self.dealer) + 1) % len(ids) if self.dealer in ids else 0
        self.dealer = ids[dealer]
        self.games += 1
        self.stage = Stage.PLAYING
        self.paused = self.held = False
        self.next_deal_us = 0
        self.frozen_since_us = None
        self.scores.begin()
        self._keep()  # what the last game has left, apart: a deal comes first in its change
        deck = shuffled(full_deck(), self._random_source.draw())
        seats = tuple(chair.record for chair in self._seats.chairs)
        self._entries.append(Dealt(self.games, deck_text(deck), self.rules, Seat(dealer), seats))
        game = deal(self.rules, deck, len(ids), Seat(dealer), tuple(seat.computer is None for seat in seats))
        show_jacks = self.rules.show_jacks and self.games == 1
        self.play = Play(
            game,
            self.rules,
            self.games,
            tuple(self._seats.chairs),
            self._random_source,
            at_us=at_us,
            strain=self._strain,
            show_jacks=show_jacks,
        )
        self._settle_table()
        self._follow(self.play.begin())
        self._stand_still(at_us)

    def _follow(self, outcome: Outcome) -> Refusal | RejectReason | None:
        """Carries out what follows in the game, and ends it when it is over; gives why a move does not stand."""
        if outcome.pings:
            for seat in outcome.pings:
                if (conn := self._seats.chairs[seat].conn) is not None:
                    self._to_ping[conn] = None
        if outcome.asks and self.play is not None:
            conns = tuple(c for s in outcome.asks if (c := self._seats.chairs[s].conn) is not None)
            self._effects.append(Tell(conns, AnyHand(self.games, self.play.due.nth - 1)))
        self._entries += outcome.entries
        gone_quiet = [chair for seat in outcome.silent if (chair := self._seats.chairs[seat]).let_pass()]
        if outcome.updates:
            self._tell_updates(outcome.updates)
        if gone_quiet:
            self._presence_changed()
        return outcome.refusal

    def _tell_updates(self, updates: tuple[GameUpdate, ...]) -> None:
        """Tells everybody what happened, and ends the game when it is over."""
        over = False
        for update in updates:
            if update.verdict is not None:
                self._watch(update.verdict, update.evidence)
            for event in update.events:
                if isinstance(event, WrongSlap):
                    self._seats.chairs[event.seat].wrong += 1
                elif isinstance(event, GameOver):
                    over = True
        if over:
            self._score()
        for update in updates:
            self._n += 1
            h = update
            self._tell_everybody(
                Update(self._n, h.show_at_us, h.events, h.view, h.verdict, h.question, say_shown=h.judged)
            )
        if over:
            self._end_game()

    def _watch(self, verdict: Verdict, evidence: tuple[Evidence, ...]) -> None:
        """Lets each hand be looked at, and tells the host of one that is no person's.

        Hands on a card on which the table stood still win piles, and are nobody's reaction.
        """
        if self.play is not None and verdict.nth == self.play.stood_still_on:
            return
        late_us = {e.seat: e.late_us or 0 for e in evidence}
        for hand in verdict.hands:
            chair = self._seats.chairs[hand.seat]
            if chair.computer is not None or hand.cover:
                continue
            chair.reactions_us.append(hand.accepted_us - hand.handicap_us)
            was_flagged = chair.watch.flagged
            chair.watch = chair.watch.seen(hand, late_us.get(hand.seat, 0))
            if chair.watch.flagged and not was_flagged:
                self._tell_host(chair)

    def _score(self) -> None:
        """Adds the wins, and hands the result over to be counted on the leaderboard (R28, R29, R30)."""
        assert self.play is not None
        chairs, over = self._seats.chairs, self.play.game.view()
        # A person without a key has asked to be forgotten.
        played = [c for c in chairs if c.place is not None and (c.computer is not None or c.record.key_hash)]
        winners = [chairs[winner] for winner in over.winners if chairs[winner] in played]
        self.scores.count(played, winners)
        self.winners = tuple(chair.id for chair in winners)
        number = f"{self.code}-{self._born}-{self.games}"
        ranked = self.ranked and not self.play.rules.calm
        self._result = result_of(number, self.code, over, played, winners, ranked=ranked)

    def _tell_host(self, flagged: Chair) -> None:
        host = self._seats.chair(self._seats.host)
        if host is not None and host.conn is not None:
            self._effects.append(Tell((host.conn,), SuspectFlagged(flagged.id, flagged.watch.one_in)))

    def _end_game(self) -> None:
        assert self.play is not None
        self._dirty = True
        self._late_winners += self.play.referee.late_winners
        for chair in self._seats.chairs:
            if chair.place is not None:
                chair.credit_us = self.play.witness.credits_us[chair.place]
        self.play = None
        self.paused = False
        self.frozen_since_us = None
        self._seats.deal_out()
        self.stage = Stage.BREAK if self._seats.ready(self.rules) and not self.scores.champions else Stage.LOBBY

    # --- what people are told ------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Brings break, host and table to what the state asks for, at the end of everything received."""
        if self.stage is Stage.BREAK:
            if not self._seats.ready(self.rules):
                self.stage, self.next_deal_us = Stage.LOBBY, 0
            elif self.held:
                self.next_deal_us = 0
            elif not self.next_deal_us:
                self.next_deal_us = self._now_us + BREAK_US
        self._seats.look_for_host(self._now_us)
        if self.play is not None:
            self.play.spectators = sum(self._seats.looks_on(guest) for guest in self.guests.values())
        if not self.guests:
            self._ping_us = None
        self._settle_table()

    def _settle_table(self, but: ConnId | None = None) -> None:
        table = self.table()
        if table == self._shown_table:
            return
        self._shown_table = table
        self._n += 1
        self._tell_everybody(Update(self._n, 0, table=table), but)

    def table(self) -> TableView:
        """The table as everybody sees it."""
        return TableView(
            code=self.code,
            stage=self.stage,
            game=self.games,
            rules=self.rules,
            seats=tuple(self._table_seat(chair) for chair in self._seats.chairs),
            watching=sum(guest.chair is None for guest in self.guests.values()),
            locked=self.locked,
            paused=self.paused,
            held=self.held,
            dealer=self.dealer,
            winners=self.winners,
            next_deal_us=self.next_deal_us,
            asleep=self.frozen_since_us is not None and not self.paused,
            first_to=self.scores.first_to,
            ranked=self.ranked,
            champions=tuple(chair.id for chair in self._seats.chairs if chair.score_key in self.scores.champions),
            standings=self.scores.standings(self._seats.chairs) if self.play is None else (),
        )

    def _table_seat(self, chair: Chair) -> TableSeat:
        return TableSeat(
            id=chair.id,
            name=chair.record.name,
            face=chair.record.face,
            kind=chair.record.kind,
            place=chair.place,
            host=chair.id == self._seats.host,
            away=chair.away or chair.gone,
            wins=self.scores.wins(chair.score_key),
            rtt_ms=chair.told_rtt_ms,
            handicap_ms=chair.handicap_ms,
            reaction_ms=chair.computer.reaction_ms if chair.computer is not None else 0,
            tally=chair.tally() if self.play is None else None,
            claimed=self._seats.claim_on(chair.id, self.guests) is not None,
        )

    def _show_all(self, conn: ConnId) -> None:
        """The whole table and game, for somebody who has just come in; held like the last card if that is to come."""
        table = self.table()
        view = self.play.game.view() if self.play is not None else None
        question = self.play.referee.question if self.play is not None else None
        show_at_us = self.play.witness.shown_us if self.play is not None and view is not None and view.turned else 0
        show_at_us = show_at_us if show_at_us > self._now_us else 0
        # Whoever comes between a card's turning and its moment gets it no sooner than the others (R3).
        send_at_us = (show_at_us - SEND_MARGIN_US,) if show_at_us else ()
        whole = Update(self._n, show_at_us, view=view, question=question, table=table)
        self._effects.append(Tell((conn,), whole, send_at_us))
        guest = self.guests[conn]
        if guest.chair is not None and guest.chair.id == self._seats.host:
            for chair in self._seats.chairs:
                if chair.watch.flagged:
                    self._tell_host(chair)

    def _tell_everybody(self, message: Message, but: ConnId | None = None) -> None:
        conns = tuple([conn for conn in self.guests if conn != but])
        if not conns:
            return
        send_at_us: tuple[int, ...] = ()
        if isinstance(message, Update) and message.show_at_us > self._now_us:
            # No phone holds the card much earlier than it may show it (R3).
            latest_us = message.show_at_us - SEND_MARGIN_US
            send_at_us = tuple([max(self._now_us, latest_us - self.guests[conn].path.usual_us) for conn in conns])
        self._effects.append(Tell(conns, message, send_at_us))
