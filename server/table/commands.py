"""What the host of a table may say: rules, seats, pauses, and when a game begins and ends (R26)."""

from typing import assert_never

import msgspec

from server.table.admission import TABLE_FULL, Admission
from server.table.announcer import Rejection
from server.table.games import Games
from server.table.records import Computer
from server.table.state import TableState
from wire.messages import (
    AddComputer,
    EndGame,
    GiveSeat,
    HoldDeal,
    HostCommand,
    LetBack,
    Lock,
    Pause,
    RejectReason,
    Remove,
    SeatId,
    SetComputer,
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
            case Remove(seat, if_away):
                return self._admission.remove(seat, if_away=if_away)
            case LetBack(seat):
                if all(removed.seat != seat for removed in state.removed):
                    return RejectReason.NO_SUCH_SEAT
                state.removed = tuple(removed for removed in state.removed if removed.seat != seat)
            case SetComputer():
                return self._set_computer(message)
            case GiveSeat(seat, yes):
                return self._admission.give_seat(seat, yes)
            case SetHandicap(seat, ms):
                return self._set_handicap(seat, ms)
            case Lock(on):
                state.locked = on
            case SetTable():
                return self._set_table(message)
            case _:
                assert_never(message)
        return None

    def _start(self) -> Rejection | None:
        state, chairs = self._state, self._state.seats.chairs
        if state.play is not None:
            return RejectReason.ALREADY_PLAYING
        if conflicts := state.rules.seat_conflicts(len(chairs)):
            why = RejectReason.TOO_FEW if len(chairs) < state.rules.seats()[0] else RejectReason.TOO_MANY
            return why, conflicts[0]
        state.seats.rightful_host = None
        self._games.deal(state.now_us)
        return None

    def _set_rules(self, message: SetRules) -> Rejection | None:
        state = self._state
        if state.play is not None:
            return RejectReason.ALREADY_PLAYING
        if conflicts := message.rules.conflicts():
            return RejectReason.BAD_RULES, conflicts[0]
        state.rules = message.rules
        if state.rules.plain_names:
            state.seats.name_plainly()
        return None

    def _set_table(self, message: SetTable) -> Rejection | None:
        state, first_to = self._state, message.first_to
        changes = first_to != state.scores.first_to
        if changes and not message.crown and 0 < first_to <= state.scores.most_wins():
            return RejectReason.WOULD_CROWN, f"somebody here has won {state.scores.most_wins()} games already"
        state.scores.first_to, state.ranked = first_to, message.ranked
        return None

    def _set_computer(self, message: SetComputer) -> Rejection | None:
        chair = self._state.seats.chair(message.seat)
        if chair is None or chair.computer is None:
            return RejectReason.NO_SUCH_SEAT
        if self._state.play is not None:
            return RejectReason.ALREADY_PLAYING
        plays = Computer(message.reaction_ms, message.spread_ms, message.slip_percent)
        chair.record = msgspec.structs.replace(chair.record, computer=plays)
        return None

    def _set_handicap(self, seat: SeatId, ms: int) -> Rejection | None:
        chair = self._state.seats.chair(seat)
        if chair is None:
            return RejectReason.NO_SUCH_SEAT
        if self._state.play is not None:
            return RejectReason.ALREADY_PLAYING
        chair.record = msgspec.structs.replace(chair.record, handicap_ms=ms)
        return None
