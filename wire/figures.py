"""The leaderboard as it is asked for and told (R30, docs/http.md), and every figure on it with all there is to know.

Another figure is a member of `By`, a field of `Row` and a line of `FIGURES`: the store, the page, the terminal and the
documents go by these. Knows no store and no screen.
"""

from collections.abc import Mapping
from enum import StrEnum

from engine.value import Value

RATED_FROM_GAMES = 10


class Span(StrEnum):
    """What time a board is about."""

    ALL = "all"
    MONTH = "month"
    WEEK = "week"


class By(StrEnum):
    """What a board ranks by, and the figures in the order in which they are shown."""

    WINS = "wins"
    RATE = "rate"
    BEST = "best"
    MEDIAN = "median"
    STREAK = "streak"
    GAMES = "games"


class Row(Value, forbid_unknown_fields=False):
    """One person's figures; reactions in microseconds, None without any.

    Equal figures share a rank; it is None where the person is not on this board: no reaction, no win, too few games.
    A server of another version may tell more figures, or fewer.
    """

    rank: int | None
    name: str
    face: str
    you: bool
    games: int = 0
    wins: int = 0
    rate: float | None = None
    streak: int = 0
    best_us: int | None = None
    median_us: int | None = None


class Page(Value, forbid_unknown_fields=False):
    """One page of a board, counted from 1, of `pages`; `people` are on the board. `you` is the asker's own row.

    `at` is asked with for the next page, 0 where there is none. `ends_s` is when the week or month ends, in seconds
    since 1970, and 0 for all time.
    """

    people: int
    pages: int
    rows: tuple[Row, ...]
    you: Row | None
    at: int = 0
    ends_s: int = 0


class Unit(StrEnum):
    """What a figure is told in: as it is, as a share of one, or in microseconds."""

    NUMBER = "number"
    SHARE = "share"
    US = "us"


class Figure(Value):
    """A figure: what people call it, what it is, the field of a `Row` that has it, and its unit.

    It is what the store keeps of somebody under `of`, divided by what it keeps under `per`, and counts from
    `from_games` games on. The most is best, or the least. `slaps` says that nobody has it where nothing is slapped.
    """

    name: str
    sentence: str
    field: str
    of: str
    per: str = ""
    unit: Unit = Unit.NUMBER
    from_games: int = 0
    least_first: bool = False
    slaps: bool = False

    def value(self, kept: Mapping[str, float]) -> float | None:
        """The figure of somebody of whom this is kept; None where there is none yet."""
        if self.of not in kept or (self.per and not kept.get(self.per)) or kept.get("games", 0) < self.from_games:
            return None
        return kept[self.of] / kept[self.per] if self.per else kept[self.of]


FIGURES: Mapping[By, Figure] = {
    By.WINS: Figure("Wins", "games won, alone or with others", "wins", of="wins"),
    By.RATE: Figure(
        "Rate",
        f"wins a game, from 0 to 1; null before {RATED_FROM_GAMES} games",
        "rate",
        of="wins",
        per="games",
        unit=Unit.SHARE,
        from_games=RATED_FROM_GAMES,
    ),
    By.BEST: Figure("Best", "the quickest reaction", "best_us", of="best", unit=Unit.US, least_first=True, slaps=True),
    By.MEDIAN: Figure(
        "Median",
        "the reaction that half of all are quicker than",
        "median_us",
        of="median",
        unit=Unit.US,
        least_first=True,
        slaps=True,
    ),
    By.STREAK: Figure("Streak", "the most wins one after the other", "streak", of="streak"),
    By.GAMES: Figure("Games", "games played", "games", of="games"),
}
