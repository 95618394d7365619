"""Who comes to a table, sits at it, claims a seat there, and leaves: of their own will, removed, or forgotten."""

import msgspec

from server.base.keys import KEY, hash_of, new_key
from server.base.ports import RandomSource
from server.judge.path import Path
from server.table.announcer import Announcer, Rejection
from server.table.chair import Chair, Guest
from server.table.games import Games
from server.table.heartbeat import Heartbeat
from server.table.mail import ConnId, Said
from server.table.names import BadName, clean, clean_face
from server.table.records import RemovedSeat
from server.table.state import SeatClaim, TableState
from wire.messages import PROTOCOL, CloseCode, Join, RejectReason, Rename, Seated, SeatId, Sit, Welcome

TABLE_FULL = (RejectReason.TABLE_FULL, "every seat at this table is taken")

CLAIM_US = 120_000_000
"""For how long the host is asked whether a lost seat is somebody's."""
NOTICED_US = 30_000_000
"""A phone may be dead for so long before anybody notices; its owner may have come with another one meanwhile."""
MOST_REMOVED = 50
"""How many removed people a table remembers."""


class Admission:
    """Lets people in and out. Whoever spectated and has only lost their line is known for a while."""

    def __init__(
        self,
        state: TableState,
        random_source: RandomSource,
        max_spectators: int,
        announcer: Announcer,
        heartbeat: Heartbeat,
        games: Games,
    ) -> None:
        self._state = state
        self._random_source = random_source
        self._max_spectators = max_spectators
        self._announcer = announcer
        self._heartbeat = heartbeat
        self._games = games
        self._spectated: dict[str, int] = {}

    # --- coming --------------------------------------------------------------------------------------------------

    def join(self, said: Said, join: Join) -> Rejection | None:
        """Somebody's first message, with what is known of who says it."""
        conn, person, network = said.conn, said.person, said.network
        state, seats = self._state, self._state.seats
        if join.protocol != PROTOCOL:
            self._announcer.hang_up(conn, CloseCode.WRONG_VERSION, "the page is older than the server: load it again")
            return None
        # A key is ours, or it is replaced: one that anybody might have made up leads to no person and binds no seat.
        key, person = (join.key, person) if KEY.fullmatch(join.key) else (new_key(self._random_source), "")
        key_hash = person or hash_of(key)
        # Somebody who wants to watch, on the television say, keeps the seat that their phone has.
        if any(removed.key_hash == key_hash for removed in state.removed):
            return RejectReason.REMOVED, "the host has removed you from this table"
        chair = None if join.watch else seats.chair_of(key_hash)
        if chair is None:
            # A screen whose line has blipped comes back, though the table was locked meanwhile.
            known = join.watch and (key_hash in self._spectated or seats.chair_of(key_hash) is not None)
            refusal = self._newcomer_refused(join, known)
            if refusal is not None:
                return refusal
            if not join.watch:
                chair = seats.seat_person(join, key_hash, state.rules)
        if chair is not None:
            self._take_seat(conn, chair, network)
        # Only now: what their coming has set going is told to the others, and to them with the whole table.
        state.guests[conn] = Guest(
            key_hash,
            chair,
            chair.record.name if chair is not None else clean(join.name),
            clean_face(join.face),
            network,
            since_us=self._spectated.get(key_hash, state.now_us),
            heard_us=state.now_us,
        )
        self._heartbeat.greet()
        seat_id = chair.id if chair is not None else None
        self._announcer.tell((conn,), Welcome(state.code, key, seat_id, state.now_us))
        self._announcer.table(but=conn)
        self._announcer.whole(conn)
        return None

    def sit(self, conn: ConnId, guest: Guest, sit: Sit) -> Rejection | None:
        """A spectator takes a seat, or on this screen the one that they have on another."""
        if guest.chair is not None:
            return RejectReason.ALREADY_SEATED
        chair = self._state.seats.chair_of(guest.key_hash)  # on another device
        if chair is None:
            refusal = self._newcomer_refused(Join(sit.name, sit.face))
            if refusal is not None:
                return refusal
            chair = self._state.seats.seat_person(sit, guest.key_hash, self._state.rules)
        self._seat(conn, guest, chair)
        return None

    def claim(self, conn: ConnId, guest: Guest, seat: SeatId) -> Rejection | None:
        """Somebody says that a lost seat is theirs."""
        own = self._state.seats.own(guest)
        if own is not None and (own.place is not None or own.id in (self._state.seats.host, seat)):
            return RejectReason.ALREADY_SEATED
        state, chair = self._state, self._state.seats.chair(seat)
        if chair is None or chair.computer is not None or chair.connected:
            return RejectReason.NO_SUCH_SEAT, "nobody is away from that seat"
        if guest.since_us < chair.lost_us - NOTICED_US:
            return RejectReason.CAME_BEFORE, "you were here before that seat was lost"
        claimant = state.claimant(seat)
        if (claimant is not None and claimant[0] != conn) or guest.key_hash in chair.turned_away:
            return RejectReason.ALREADY_CLAIMED, "somebody asks for that seat, or the host has said no"
        others = {other: claim for other, claim in state.claims.items() if claim.conn != conn}
        state.claims = others | {seat: SeatClaim(conn, state.now_us + CLAIM_US)}
        self._announcer.claimed(seat)
        return None

    def give_seat(self, seat: SeatId, yes: bool) -> Rejection | None:
        """A person who has lost their key has their seat again (R28); whoever has the old key is a newcomer."""
        state = self._state
        chair, claimant = state.seats.chair(seat), state.claimant(seat)
        if chair is None or claimant is None:
            return RejectReason.NO_SUCH_SEAT
        conn, guest = claimant
        state.claims = {other: claim for other, claim in state.claims.items() if other != seat}
        if not yes:
            chair.turned_away.add(guest.key_hash)
            return None
        chair.turned_away.clear()
        own = state.seats.own(guest)
        if own is not None:
            guest.chair = None
            own.conn = None if own.conn == conn else own.conn
            self.dismiss(own, "you have your earlier seat again")
        state.scores.hand_over(chair.score_key, guest.key_hash)
        chair.record = msgspec.structs.replace(chair.record, key_hash=guest.key_hash)
        self._seat(conn, guest, chair)
        return None

    def rename(self, guest: Guest, rename: Rename) -> Rejection | None:
        """Somebody at a seat has another name and face; while names are made up, the table sees the face alone."""
        if guest.chair is None:
            return RejectReason.NOT_SEATED
        try:
            name = self._state.seats.own_name(rename.name, guest.chair)
        except BadName as wrong:
            return RejectReason.BAD_NAME, str(wrong)
        guest.chair.record = msgspec.structs.replace(guest.chair.record, name=name, face=clean_face(rename.face))
        return None

    def acted(self, chair: Chair) -> None:
        """Somebody does something, and so is not silent (R24)."""
        was_away, chair.silent_turns = chair.away, 0
        if was_away:
            self._came(chair)

    def _newcomer_refused(self, join: Join, known: bool = False) -> Rejection | None:
        if self._state.locked and not known:
            return RejectReason.TABLE_LOCKED, "the host has locked this table"
        if not join.watch and self._state.seats.is_full(self._state.rules):
            return TABLE_FULL
        if join.watch and self._state.spectators() >= self._max_spectators:
            return RejectReason.TABLE_FULL, "too many people are watching this table"
        try:
            clean(join.name)
        except BadName as wrong:
            return RejectReason.BAD_NAME, str(wrong)
        return None

    def _seat(self, conn: ConnId, guest: Guest, chair: Chair) -> None:
        guest.chair = chair
        self._announcer.tell((conn,), Seated(chair.id))
        self._take_seat(conn, chair, guest.network)

    def _take_seat(self, conn: ConnId, chair: Chair, network: str) -> None:
        if chair.conn is not None:
            self._state.drop_guest(chair.conn)
            self._announcer.hang_up(chair.conn, CloseCode.SEAT_TAKEN_OVER, "your seat is in use on another device")
        if chair.id in self._state.claims:
            self._state.claims = {seat: claim for seat, claim in self._state.claims.items() if seat != chair.id}
        chair.conn = conn
        chair.network = network
        chair.path = Path()
        chair.silent_turns = 0
        self._came(chair)

    def _came(self, chair: Chair) -> None:
        self._state.seats.came(chair)
        self._games.presence_changed()

    # --- going ---------------------------------------------------------------------------------------------------

    def lost(self, conn: ConnId) -> None:
        """A connection is gone; the seat stays (R24)."""
        guest = self._state.drop_guest(conn)
        if guest is None:
            return
        if guest.chair is None:
            self._spectated.pop(guest.key_hash, None)
            self._spectated[guest.key_hash] = guest.since_us
            if len(self._spectated) > self._max_spectators:
                del self._spectated[next(iter(self._spectated))]
            return
        guest.chair.conn = None
        guest.chair.lost_us = self._state.now_us
        self._games.presence_changed()

    def quit(self, conn: ConnId, guest: Guest) -> None:
        """Somebody leaves for good (R25)."""
        if guest.chair is not None:
            self._remove(guest.chair)
        self._state.drop_guest(conn)
        self._announcer.hang_up(conn, CloseCode.REMOVED, "you have left the table")

    def remove(self, seat: SeatId, *, if_away: bool) -> Rejection | None:
        """The host removes a seat, and with it whoever sits there, from all their screens."""
        state, chair = self._state, self._state.seats.chair(seat)
        if chair is None:
            return RejectReason.NO_SUCH_SEAT
        if if_away and not chair.away:
            return RejectReason.NOT_AWAY, "they have come back"
        record = chair.record
        if record.key_hash and not if_away and chair.id != state.seats.host:
            out = RemovedSeat(record.id, record.shown_name(state.rules.plain_names), record.face, record.key_hash)
            state.removed = (*state.removed, out)[-MOST_REMOVED:]
        self.dismiss(chair, "the host has removed you from the table")
        if record.key_hash:
            self._hang_up_on(record.key_hash, "the host has removed you from the table")
        return None

    def dismiss(self, chair: Chair, reason: str) -> None:
        """Takes a seat away from whoever has it."""
        if chair.conn is not None:
            self._state.drop_guest(chair.conn)
            self._announcer.hang_up(chair.conn, CloseCode.REMOVED, reason)
        self._remove(chair)

    def forget(self, person: str) -> None:
        """Takes a person out of all that is known here. Most who want that were at none of a server's tables."""
        state = self._state
        chair = state.seats.chair_of(person)
        if chair is not None:
            # First, for their leaving may end the game, and its result must not name them.
            chair.record = msgspec.structs.replace(chair.record, name="", key_hash="", made_up="")
            self.dismiss(chair, "you have been forgotten, as you asked")
        self._hang_up_on(person, "you have been forgotten, as you asked")
        self._spectated.pop(person, None)
        if any(removed.key_hash == person for removed in state.removed):
            state.removed = tuple(removed for removed in state.removed if removed.key_hash != person)
        if state.scores.knows(person):
            state.scores.forget(person)

    def _hang_up_on(self, person: str, reason: str) -> None:
        for conn in [conn for conn, guest in self._state.guests.items() if guest.key_hash == person]:
            self._state.drop_guest(conn)
            self._announcer.hang_up(conn, CloseCode.REMOVED, reason)

    def _remove(self, chair: Chair) -> None:
        """Takes a seat from the table for good (R25); its win score stays with its owner."""
        state, seats = self._state, self._state.seats
        seats.let_go(chair)
        if state.dealer == chair.id:
            # The deal passes to the left of where it was (R2).
            state.dealer = seats.chairs[seats.chairs.index(chair) - 1].id
        self._games.leave(chair)
        if chair.computer is not None:
            state.scores.forget(chair.id)
        if state.play is None or chair.place is None:
            seats.drop(chair)
        self._games.look_who_is_here(state.now_us)
