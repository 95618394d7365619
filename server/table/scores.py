"""The win scores of a table: standings, tournaments to so many wins, and those that have ended (R28, R29).

And what the leaderboard is told of a game (R30).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import msgspec

from engine.game import GameView
from server.base.keys import hash_of
from server.table.chair import Chair
from server.table.names import plain_name
from server.table.records import Played, Result, Score, TableRecord, Tournament
from wire.messages import EndedTournament, Standing

STANDINGS = 20
ARCHIVE = 20
"""How many people the standings name, and an ended tournament keeps; and how many of those a table remembers."""
SCORES = 200
"""How many people a table keeps the scores of: whoever has played least goes first, so that nobody can fill it."""

FEWEST_CARDS, FEWEST_MOVES, SHORTEST_US = 40, 3, 20_000_000
"""A game counts on the leaderboard from so many turned cards, and moves of two people, and so much time on (R30)."""


@dataclass
class ScoreBook:
    """Scores by `Chair.score_key`; `first_to` wins make a champion, 0 is open-ended.

    Each field is replaced when it changes, and never changed in place.
    """

    scores: dict[str, Score]
    first_to: int
    archive: tuple[Tournament, ...]

    @classmethod
    def of(cls, record: TableRecord) -> Self:
        """The book as it was kept."""
        return cls(dict(record.scores), record.first_to, record.archive)

    def wins(self, key: str) -> int:
        """How often somebody has won in this tournament."""
        return self.scores[key].wins if key in self.scores else 0

    def most_wins(self) -> int:
        """How often whoever leads has won in this tournament."""
        return max((score.wins for score in self.scores.values()), default=0)

    def count(self, played: Iterable[Chair], winners: Sequence[Chair]) -> None:
        """Counts a game, and a win for each of those who won or shared it."""
        scores = dict(self.scores)
        for chair in played:
            before = scores.get(chair.score_key, Score("", ""))
            wins = before.wins + (chair in winners)
            scores[chair.score_key] = Score(chair.record.name, chair.record.face, wins, before.games + 1)
        while len(scores) > SCORES:
            del scores[min(scores, key=lambda key: (scores[key].wins, scores[key].games))]
        self.scores = scores

    @property
    def champions(self) -> frozenset[str]:
        """Who has won the tournament; it lasts until the next begins, whoever sleeps or restarts meanwhile (R29)."""
        if not self.first_to:
            return frozenset()
        return frozenset(key for key, score in self.scores.items() if score.wins >= self.first_to)

    def begin(self) -> None:
        """Where somebody has become champion, puts the scores into the archive and begins again at nothing (R29)."""
        if self.champions:
            best = sorted(self.scores.items(), key=lambda item: (-item[1].wins, item[1].games))[:STANDINGS]
            ended = Tournament(max(score.games for score in self.scores.values()), dict(best), self.first_to)
            self.archive = (*self.archive, ended)[-ARCHIVE:]
            self.scores = {}

    def hand_over(self, key: str, to: str) -> None:
        """One person has been counted under two keys: `to` has won what either has."""
        scores = dict(self.scores)
        if (was := scores.pop(key, None)) is not None:
            own = scores.get(to, Score("", ""))
            scores[to] = Score(was.name, was.face, was.wins + own.wins, was.games + own.games)
            self.scores = scores

    def knows(self, person: str) -> bool:
        """Whether there is anything of somebody, in the ended tournaments too."""
        return person in self.scores or any(person in ended.scores for ended in self.archive)

    def forget(self, person: str) -> None:
        """Takes somebody out, of the ended tournaments too."""
        self.scores = {key: score for key, score in self.scores.items() if key != person}
        self.archive = tuple(
            msgspec.structs.replace(ended, scores={k: score for k, score in ended.scores.items() if k != person})
            for ended in self.archive
        )

    def standings(self, chairs: Iterable[Chair], *, plain_names: bool) -> tuple[Standing, ...]:
        """The best, with the seats of those who are here."""
        return _standings(self.scores, chairs, plain_names)

    def ended(self, chairs: Sequence[Chair], *, plain_names: bool) -> tuple[EndedTournament, ...]:
        """The tournaments that have ended, the latest first."""
        return tuple(
            EndedTournament(each.first_to, each.games, _standings(each.scores, chairs, plain_names))
            for each in reversed(self.archive)
        )


def _standings(scores: Mapping[str, Score], chairs: Iterable[Chair], plain_names: bool) -> tuple[Standing, ...]:
    here = {chair.score_key: chair for chair in chairs}
    ranked = sorted(scores.items(), key=lambda item: (-item[1].wins, item[1].games, item[1].name))
    return tuple(
        Standing(
            _name(key, score, here.get(key), plain_names),
            score.face,
            score.wins,
            score.games,
            here[key].id if key in here else None,
        )
        for key, score in ranked[:STANDINGS]
    )


def _name(key: str, score: Score, chair: Chair | None, plain_names: bool) -> str:
    """What somebody is called; whoever is not here has a made-up name as well while the table has no others."""
    if chair is not None:
        return chair.record.shown_name(plain_names)
    is_person = len(key) == len(hash_of(""))
    return plain_name(int(key[:8], 16)) if plain_names and is_person else score.name


def result_of(
    number: str,
    code: str,
    over: GameView,
    played: Sequence[Chair],
    winners: Sequence[Chair],
    *,
    ranked: bool,
    took_us: int,
    plain_names: bool,
) -> Result:
    """A finished game, to be counted on the leaderboard under `number` if it is `ranked` (R30).

    It is none there without cards, time and the hands of two people: else whoever sits down with a second phone that
    leaves at once would be the best player of all. Nor for whoever has hands that are hardly a person's.
    Nor where nobody else was there any more at its end (R28).
    """
    people = [chair for chair in played if chair.computer is None and not chair.detector.flagged]
    moved = sum(chair.moves >= FEWEST_MOVES for chair in people)
    here = sum(not chair.gone and not chair.away for chair in people)
    was_a_game = over.turned >= FEWEST_CARDS and took_us >= SHORTEST_US and moved > 1
    return Result(
        id=number,
        code=code,
        game=over.game,
        people=tuple(
            Played(
                person=chair.score_key,
                name=chair.record.shown_name(plain_names),
                face=chair.record.face,
                won=chair in winners,
                reactions_us=tuple(chair.reactions_us),
                program=chair.record.program,
            )
            for chair in people
        ),
        ranked=ranked and was_a_game and here > 1,
    )
