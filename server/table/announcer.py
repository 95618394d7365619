"""Who is told what: the table as everybody sees it, updates in order, refusals, and what the host alone learns."""

from engine.game import Refusal
from engine.rules import Conflict
from server.judge.path import SEND_MARGIN_US
from server.table.chair import Chair, Guest
from server.table.mail import ConnId, HangUp, Tell
from server.table.outbox import Outbox
from server.table.outcome import GameUpdate
from server.table.records import Computer
from server.table.state import TableState
from wire.messages import (
    CloseCode,
    Message,
    Refused,
    RejectReason,
    Removed,
    SeatClaimed,
    SeatId,
    SuspectFlagged,
    TableSeat,
    TableView,
    Update,
)

NO_COMPUTER = Computer(0, 0, 0)

Rejection = Refusal | RejectReason | tuple[RejectReason, str | Conflict]
"""Why something was not done: by the game, by the table, or by the table with more to say about it."""


class Announcer:
    """Puts what a table says into the outbox, in order."""

    def __init__(self, state: TableState, outbox: Outbox) -> None:
        self._state = state
        self._outbox = outbox
        self._n = 0
        self._shown: TableView | None = None

    def tell(self, conns: tuple[ConnId, ...], message: Message) -> None:
        """Tells these."""
        self._outbox.effects.append(Tell(conns, message))

    def hang_up(self, conn: ConnId, code: CloseCode, reason: str) -> None:
        """Closes a connection."""
        self._outbox.effects.append(HangUp(conn, code, reason))

    def refuse(self, conn: ConnId, message: Message, why: Rejection) -> None:
        """Says why `message` changed nothing."""
        match why:
            case Refusal(reason, rule):
                refused = Refused(str(message.__struct_config__.tag), str(reason), rule)
            case (RejectReason() as reason, Conflict(rule, sentence)):
                refused = Refused(str(message.__struct_config__.tag), str(reason), rule, f"{rule}: {sentence}")
            case (RejectReason() as reason, str() as detail):
                refused = Refused(str(message.__struct_config__.tag), str(reason), detail=detail)
            case _:
                refused = Refused(str(message.__struct_config__.tag), str(why))
        self.tell((conn,), refused)

    def everybody(self, message: Message, but: ConnId | None = None) -> None:
        """Tells everybody, and nobody a card much earlier than they may show it (R3)."""
        state = self._state
        conns = tuple([conn for conn in state.guests if conn != but])
        if not conns:
            return
        send_at_us: tuple[int, ...] = ()
        if isinstance(message, Update) and message.show_at_us > state.now_us:
            send_at_us = tuple([self._send_us(state.guests[conn], message.show_at_us) for conn in conns])
        self._outbox.effects.append(Tell(conns, message, send_at_us))

    def _send_us(self, guest: Guest, show_at_us: int) -> int:
        """When to send a card that is to be shown then: not before, to whoever only watches."""
        if guest.chair is None or guest.chair.place is None:
            return show_at_us
        return max(self._state.now_us, show_at_us - SEND_MARGIN_US - guest.path.ahead_us)

    def game_update(self, update: GameUpdate) -> None:
        """Tells everybody what has happened in the game."""
        self._n += 1
        u = update
        self.everybody(Update(self._n, u.show_at_us, u.events, u.view, u.verdict, u.question, say_shown=u.judged))

    def table(self, but: ConnId | None = None) -> None:
        """Tells everybody of the table, where it looks otherwise than they know."""
        table = table_view(self._state)
        if table == self._shown:
            return
        self._shown = table
        self._n += 1
        self.everybody(Update(self._n, 0, table=table), but)

    def whole(self, conn: ConnId) -> None:
        """The whole table and game, for somebody who has just come in; held like the last card if that is to come."""
        state, play = self._state, self._state.play
        view = play.game.view() if play is not None else None
        question = play.referee.question if play is not None else None
        show_at_us = play.witness.shown_us if play is not None and view is not None and view.turned else 0
        show_at_us = show_at_us if show_at_us > state.now_us else 0
        # Whoever comes between a card's turning and its moment gets it no sooner than the others (R3).
        send_at_us = (show_at_us,) if show_at_us else ()
        whole = Update(self._n, show_at_us, view=view, question=question, table=table_view(state))
        self._outbox.effects.append(Tell((conn,), whole, send_at_us))
        guest = state.guests[conn]
        if guest.chair is not None and guest.chair.id == state.seats.host:
            self.tell_new_host()

    def tell_new_host(self) -> None:
        """Tells whoever is host now what only a host knows."""
        for chair in self._state.seats.chairs:
            if chair.detector.flagged:
                self.flagged(chair)
        for seat in self._state.claims:
            self.claimed(seat)

    def claimed(self, seat: SeatId) -> None:
        """Tells the host who says that a lost seat is theirs."""
        state = self._state
        chair, host, claimant = state.seats.chair(seat), state.seats.chair(state.seats.host), state.claimant(seat)
        if chair is None or host is None or host.conn is None or claimant is None:
            return
        guest = claimant[1]
        same = guest.network == chair.network if guest.network and chair.network else None
        until_us = state.claims[seat].until_us
        self.tell((host.conn,), SeatClaimed(seat, guest.name, guest.face, guest.since_us, until_us, same))

    def flagged(self, suspect: Chair) -> None:
        """Tells the host of hands that are no person's."""
        host = self._state.seats.chair(self._state.seats.host)
        if host is not None and host.conn is not None:
            self.tell((host.conn,), SuspectFlagged(suspect.id, suspect.detector.one_in))


def table_view(state: TableState) -> TableView:
    """The table as everybody sees it."""
    seats, scores, plain = state.seats, state.scores, state.rules.plain_names
    return TableView(
        code=state.code,
        stage=state.stage,
        game=state.games,
        rules=state.rules,
        seats=tuple(_seat_view(state, chair) for chair in seats.chairs),
        watching=state.spectators(),
        locked=state.locked,
        paused=state.paused,
        held=state.held,
        dealer=state.dealer,
        winners=state.winners,
        next_deal_us=state.next_deal_us,
        asleep=state.frozen_since_us is not None and not state.paused,
        first_to=scores.first_to,
        ranked=state.ranked,
        champions=tuple(chair.id for chair in seats.chairs if chair.score_key in scores.champions),
        standings=scores.standings(seats.chairs, plain_names=plain) if state.play is None else (),
        removed=tuple(Removed(each.seat, each.name, each.face) for each in state.removed),
        deserted=state.deserted,
    )


def _seat_view(state: TableState, chair: Chair) -> TableSeat:
    computer = chair.computer or NO_COMPUTER
    return TableSeat(
        id=chair.id,
        name=chair.record.shown_name(state.rules.plain_names),
        face=chair.record.face,
        kind=chair.record.kind,
        place=chair.place,
        host=chair.id == state.seats.host,
        away=chair.away or chair.gone,
        wins=state.scores.wins(chair.score_key),
        rtt_ms=chair.told_rtt_ms,
        handicap_ms=chair.handicap_ms,
        reaction_ms=computer.reaction_ms,
        tally=chair.tally() if state.play is None else None,
        claimed=state.claimant(chair.id) is not None,
        program=chair.record.program,
        spread_ms=computer.spread_ms,
        slip_percent=computer.slip_percent,
    )
