"""What the host of a table may say: rules, seats, pauses, and when a game begins and ends (R26)."""

from typing import assert_never

import msgspec

from server.table.admission import TABLE_FULL, Admission
from server.table.announcer import Rejection
from server.table.games import Games
from server.table.state import TableState
from wire.messages import (
    AddComputer,
    EndGame,
    GiveSeat,
    HoldDeal,
    HostCommand,
    Lock,
    Pause,
    RejectReason,
    Remove,
    SeatId,
    SetHandicap,
    SetRules,
    SetTable,
    Start,
)


class Commands:
    """Obeys the host, who has been found to be one."""

    def __init__(self, state: TableState, admission: Admission, games: Games) -> None:
        self._state = state
        self._admission = admission
        self._games = games

    def obey(self, message: HostCommand) -> Rejection | None:
        """Does it, or says why not."""
        state = self._state
        match message:
            case Start():
                return self._start()
            case HoldDeal(on):
                state.held = on
            case Pause(on):
                if state.play is None:
                    return RejectReason.NOT_PLAYING
                state.paused = on
                self._games.look_who_is_here(state.now_us)
            case EndGame():
                if state.play is None:
                    return RejectReason.NOT_PLAYING
                return self._games.follow(state.play.end_now(state.now_us))
            case SetRules():
                return self._set_rules(message)
            case AddComputer():
                if state.seats.is_full(state.rules):
                    return TABLE_FULL
                state.seats.seat_computer(message)
            case Remove(seat):
                chair = state.seats.chair(seat)
                if chair is None:
                    return RejectReason.NO_SUCH_SEAT
                self._admission.dismiss(chair, "the host has removed you from the table")
            case GiveSeat(seat, yes):
                return self._admission.give_seat(seat, yes)
            case SetHandicap(seat, ms):
                return self._set_handicap(seat, ms)
            case Lock(on):
                state.locked = on
            case SetTable(first_to, ranked):
                state.scores.first_to, state.ranked = first_to, ranked
            case _:
                assert_never(message)
        return None

    def _start(self) -> Rejection | None:
        state, chairs = self._state, self._state.seats.chairs
        if state.play is not None:
            return RejectReason.ALREADY_PLAYING
        if conflicts := state.rules.seat_conflicts(len(chairs)):
            why = RejectReason.TOO_FEW if len(chairs) < state.rules.seats()[0] else RejectReason.TOO_MANY
            return why, f"{conflicts[0].rule}: {conflicts[0].sentence}"
        state.seats.rightful_host = None
        self._games.deal(state.now_us)
        return None

    def _set_rules(self, message: SetRules) -> Rejection | None:
        state = self._state
        if state.play is not None:
            return RejectReason.ALREADY_PLAYING
        if conflicts := message.rules.conflicts():
            return RejectReason.BAD_RULES, f"{conflicts[0].rule}: {conflicts[0].sentence}"
        made_up, state.rules = state.rules.plain_names, message.rules
        if message.rules.plain_names and not made_up:
            state.seats.name_plainly()
        return None

    def _set_handicap(self, seat: SeatId, ms: int) -> Rejection | None:
        chair = self._state.seats.chair(seat)
        if chair is None:
            return RejectReason.NO_SUCH_SEAT
        if self._state.play is not None:
            return RejectReason.ALREADY_PLAYING
        chair.record = msgspec.structs.replace(chair.record, handicap_ms=ms)
        return None
