"""The table as it is seen: what an update changes of it. Pure, and without words."""

from collections.abc import Mapping

import msgspec

from engine.game import AnyEvent, CarriedOn, GameView, Seat
from engine.value import Value
from wire.messages import Question, SeatId, Stage, TableSeat, TableView, Update, Verdict


class Seen(Value):
    """All that is on the screen of somebody whose seat is `me`, None for somebody watching.

    `players` are those of the game in `view`; they outlive it, so that its end can be told. `said` is what happened
    last, `verdict` what the dealer judged there, and `finish` the last verdict of this game, for the photo finish.
    """

    me: SeatId | None = None
    table: TableView | None = None
    view: GameView | None = None
    players: Mapping[Seat, TableSeat] = {}
    said: tuple[AnyEvent, ...] = ()
    verdict: Verdict | None = None
    finish: Verdict | None = None
    question: Question | None = None

    def after(self, update: Update) -> "Seen":
        """What is seen once the update is shown."""
        now = self
        if update.table is not None:
            if self.table is not None and update.table.game != self.table.game:
                now = Seen(me=self.me)
            dealt_in = {seat.place: seat for seat in update.table.seats if seat.place is not None}
            now = msgspec.structs.replace(now, table=update.table, players=dealt_in or now.players)
        if update.view is not None:
            now = msgspec.structs.replace(now, view=update.view, question=update.question)
        # Who has carried on shows in whom the table still waits for; the dealer says nothing of it (R19).
        if any(not isinstance(event, CarriedOn) for event in update.events) or update.verdict is not None:
            now = msgspec.structs.replace(
                now, said=update.events, verdict=update.verdict, finish=update.verdict or now.finish
            )
        return now

    @property
    def place(self) -> Seat | None:
        """One's own place in the game in view."""
        return next((place for place, seat in self.players.items() if seat.id == self.me), None)

    @property
    def seat(self) -> TableSeat | None:
        """One's own seat."""
        return next((seat for seat in self.seats if seat.id == self.me), None)

    @property
    def seats(self) -> tuple[TableSeat, ...]:
        """Everybody seated."""
        return self.table.seats if self.table is not None else ()

    @property
    def playing(self) -> bool:
        """Whether a game is running."""
        return self.table is not None and self.table.stage is Stage.PLAYING

    @property
    def my_turn(self) -> bool:
        """Whether the table waits for one's own card."""
        return self.playing and self.view is not None and self.place is not None and self.place in self.view.turners

    @property
    def may_answer(self) -> bool:
        """Whether the table waits for one to slap or to let the card pass (R19)."""
        return self.playing and self.view is not None and self.place is not None and self.place in self.view.answers
