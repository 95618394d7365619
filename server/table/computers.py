"""When the computer players of one game slap and turn (R31).

Knows reactions as people set them and the game through `engine.game.Game`. Sees a card when it is shown, as people do.
"""

from collections.abc import Sequence
from statistics import NormalDist

from engine.game import Game, Refusal, Seat, Slap, SlapKind
from server.base.ports import RandomSource, fraction
from server.table.records import Computer

TURN = NormalDist(900_000, 200_000)
QUICKEST_US = 150_000


class Computers:
    """The computer players of one game by their seats; None where a person sits."""

    def __init__(self, players: Sequence[Computer | None], calm: bool, random_source: RandomSource) -> None:
        self._players = {Seat(seat): player for seat, player in enumerate(players) if player is not None}
        self._calm = calm
        self._random_source = random_source
        self._reacted: dict[Seat, int] = {}
        self.seats = frozenset(self._players)

    def turn_after_us(self) -> int:
        """How long after a card was shown one turns the next."""
        return self._draw_us(TURN)

    def reactions_us(self, game: Game, nth: int) -> dict[Seat, int]:
        """How long after card `nth`, now on top, is shown they slap it: each is asked once for a card."""
        found: dict[Seat, int] = {}
        for seat, player in self._players.items():
            if self._reacted.get(seat) == nth:
                continue
            kind = game.weigh(Slap(seat, nth))
            if isinstance(kind, Refusal):
                continue  # it is out, or the people have the first word (R19)
            self._reacted[seat] = nth
            if kind is SlapKind.CONTEST or self._slips(player):
                spread = NormalDist(player.reaction_ms * 1000, max(1, player.spread_ms * 1000))
                found[seat] = max(QUICKEST_US, self._draw_us(spread))
        return found

    def forget(self) -> None:
        """The card on top is shown afresh: they react to it again."""
        self._reacted.clear()

    def _slips(self, player: Computer) -> bool:
        return not self._calm and fraction(self._random_source) * 100 < player.slip_percent

    def _draw_us(self, spread: NormalDist) -> int:
        return max(0, round(spread.inv_cdf(fraction(self._random_source))))
