"""Row 12: 52 cards, each in one place, at every step, and a journal from which every game comes back byte for byte."""

from pathlib import Path

import msgspec

from server.table.journal import replay
from tests.faults.figure import Figure
from tests.server.test_simulation import TABLES, Company
from wire.messages import Stage


class Journaled(Company):
    """People who do anything at any time, at a table whose game is played again from its journal at every step."""

    def __init__(self, seed: int) -> None:
        self.steps = 0
        super().__init__(seed)

    def check(self) -> None:
        """Also that what was kept is what is played."""
        super().check()
        self.steps += 1
        room = self.table.room
        if room.state.stage is Stage.PLAYING and room.state.play is not None and self.steps % 7 == 0:
            replayed = replay(self.table.journal)
            assert replayed is not None
            assert not replayed.bad, replayed.bad
            assert msgspec.msgpack.encode(replayed.game) == msgspec.msgpack.encode(room.state.play.game)


def row(_: Path, full: bool) -> Figure:
    """Whole tables, from seeds that no test plays."""
    games = steps = 0
    seed = TABLES
    while games < (2_000 if full else 40):
        company = Journaled(seed)
        try:
            company.play_on()
        except AssertionError as wrong:
            return Figure(False, f"{games} games, {steps} steps, and then seed {seed}: {wrong}")
        games, steps, seed = games + company.games, steps + company.steps, seed + 1
    return Figure(True, f"{games} games, {steps} steps, every card in one place and every game as in its journal")
