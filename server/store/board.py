"""The leaderboard (R30) as it is kept: every result counted once, and a page read in the time of a few look-ups.

Knows keys, orders and periods. Knows no table and no secret: a person is a name without a key here.

A finished game waits in its table's outbox until it is counted, and `slapjack:due` says which tables have one waiting,
for whoever comes after a crash. All that one game counts shares `{slapjack}`, `{duel}` or `{war}`:

- `slapjack:{game}:counted`, a sorted set by time: ids of results that have been counted.
- `slapjack:{game}:seen`, a sorted set by time: when each person last played.
- `slapjack:{game}:paused`, a string: while it is there nothing is counted, and results wait.
- `slapjack:{game}:pairs:<day>`, a hash: how many games of each pair of people counted on that day.
- `slapjack:{game}:<period>:row:<person>`, a hash: what a person's figures are made of (wire/figures.py). Of their
  reactions it keeps how many fell into each of the steps that are a 32nd of an octave wide, 2.2 %: below 370 ms that is
  finer than the 8 ms which the dealer calls too close to tell apart, and the median comes out of some forty small
  numbers, however many games there were.
- `slapjack:{game}:<period>:<order>`, a sorted set of people.

A period is `all`, a month such as `2026-11` or an ISO week such as `2026-W48`, in UTC.
"""

import logging
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, date, datetime, timedelta
from math import floor, log2

import msgspec

from engine.rules import GameName
from engine.value import Value
from server.store.pipeline import Pipeline
from server.store.port import BadRecord
from server.table.kept import read_kept
from server.table.records import Result
from wire.figures import FIGURES, By, Page, Row, Span

log = logging.getLogger("slapjack.store")

PAGE_ROWS = 20
STEPS_AN_OCTAVE = 32
SLOWEST_US = 60_000_000

DAY_S = 86_400
REMEMBERED_S = 40 * DAY_S
"""Ids of counted results are remembered for longer than any journal could bring one up again."""
STAYS_DUE_S = 3_600
"""A table stays due after its outbox was found empty: somebody may just be about to put a result in."""
PERIOD_STAYS_S = 8 * DAY_S
RETIRED_AT_ONCE = 500
PAIR_A_DAY = 20
"""So many games of the same two people count in a day (R30), in UTC."""
COPIED, COPY_EVERY_S, COPY_STAYS_S = 2_000, 5, 300
"""Whoever reads a board page by page reads a copy of its best: made every few seconds at most, and kept for minutes."""
PAUSE_S = 60
"""Counting goes on by itself so long after whoever paused it has died."""

DUE = "slapjack:due"
KEPT = tuple(dict.fromkeys(field for figure in FIGURES.values() for field in (figure.of, figure.per) if field))
"""The fields of a person's row that figures are made of."""
_NUMBER = msgspec.json.Decoder(int | float)


class Finished(Value):
    """A result as it waits to be counted, and when the game was over, in seconds since 1970."""

    at_s: int
    result: Result
    version: int = 1


class Board:
    """The boards of every game. A row of somebody who has not played for `keep_s` goes.

    Programs do not count among people, and games with fewer than two people left not at all, unless `rank_programs`.
    """

    def __init__(self, pipeline: Pipeline, keep_s: int, rank_programs: bool = False) -> None:
        self._pipeline = pipeline
        self._redis = pipeline.redis
        self._keep_s = keep_s
        self._rank_programs = rank_programs
        self._count_script = pipeline.script("count")
        self._rename_script = pipeline.script("rename")

    async def announce(self, code: str) -> int:
        """Says that this table is about to have a result waiting. Gives the time, in seconds since 1970."""
        now_s = await self._pipeline.now_s()
        await self._pipeline.ask(lambda pipe: pipe.zadd(DUE, {code: now_s}), DUE)
        return now_s

    async def drain(self, code: str) -> bool:
        """Counts what waits in a table's outbox; False when something of it still waits, because counting is paused.

        Raises `BadRecord` for what cannot be read, which stays, after the rest has been counted.
        """
        outbox, bad = outbox_key(code), ""
        waiting = await self._pipeline.ask(lambda pipe: pipe.hgetall(outbox), outbox)
        for packed_id, packed in waiting.items():
            try:
                finished = read_kept(packed, Finished)
                game = GameName(finished.result.game)
            except (msgspec.DecodeError, ValueError) as wrong:
                bad = f"{outbox}: {packed_id.decode(errors='replace')}: {wrong}"
                continue
            if not await self._count(game, finished):
                return False
            await self._pipeline.answer(self._redis.hdel(outbox, packed_id), outbox)
        if bad:
            raise BadRecord(bad)
        return True

    async def pause_counting(self) -> bool:
        """From now on, and for a minute unless it is said again, results wait; whether they did already."""
        before = [
            await self._pipeline.answer(self._redis.set(_paused(game), "1", ex=PAUSE_S, get=True), _paused(game))
            for game in GameName
        ]
        return None not in before

    async def count_again(self) -> None:
        """Results need not wait any longer."""
        for game in GameName:
            await self._pipeline.answer(self._redis.delete(_paused(game)), _paused(game))

    async def paused(self) -> bool:
        """Whether results wait."""
        found = [await self._pipeline.answer(self._redis.exists(_paused(game)), _paused(game)) for game in GameName]
        return any(found)

    async def sweep(self) -> None:
        """Counts what a crash has left waiting anywhere, and lets go of what is past its time."""
        if await self.paused():
            return
        now_s = await self._pipeline.now_s()
        waiting = await self._pipeline.answer(self._redis.zrange(DUE, 0, -1), DUE)
        all_counted = True
        for code in waiting:
            try:
                all_counted &= await self.drain(code.decode(errors="replace"))
            except BadRecord as bad:
                log.error("a result cannot be counted: %s", bad)
                all_counted = False
        if all_counted:
            # Who was announced since is newer than this, and nothing older waits: its id need not be known any more.
            await self._pipeline.answer(self._redis.zremrangebyscore(DUE, "-inf", now_s - STAYS_DUE_S), DUE)
            for game in GameName:
                counted = f"{_prefix(game)}counted"
                forgotten = self._redis.zremrangebyscore(counted, "-inf", now_s - REMEMBERED_S)
                await self._pipeline.answer(forgotten, counted)
        for game in GameName:
            await self._retire(game, now_s)

    async def page(self, game: GameName, span: Span, by: By, page: int, person: str, at_s: int = 0) -> Page:
        """A page of a board; `person` is who asks, or empty. Takes two round trips of look-ups, O(log people) each.

        Whoever reads on brings the `at` of the page before as `at_s`: then nobody is there twice, and nobody missing.
        """
        now_s = await self._pipeline.now_s()
        if not now_s - COPY_STAYS_S < at_s <= now_s:
            at_s = now_s - now_s % COPY_EVERY_S
        prefix = f"{_prefix(game)}{period(span, at_s)}:"
        asker, least_first = _member(person), FIGURES[by].least_first
        live = prefix + by
        people = int(await self._pipeline.ask(lambda pipe: pipe.zcard(live), live))
        key = await self._copied(live, at_s, least_first) if people > PAGE_ROWS else live
        start = (page - 1) * PAGE_ROWS
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.zcard(key)
            pipe.zrange(key, start, start + PAGE_ROWS - 1, desc=not least_first, withscores=True)
            pipe.zscore(live, asker)
            people, ranked, own_score = await self._pipeline.answer(pipe.execute(), key)
        shown = [(member.decode(), score) for member, score in ranked]
        async with self._redis.pipeline(transaction=False) as pipe:
            first, own_one = [(key, score) for _, score in shown[:1]], [(live, own_score)]
            for where, score in first + (own_one if own_score is not None else []):
                least, most = ("-inf", f"({score!r}") if least_first else (f"({score!r}", "+inf")
                pipe.zcount(where, least, most)
            for member in [*(member for member, _ in shown), *([asker] if asker else [])]:
                pipe.hmget(f"{prefix}row:{member}", "name", "face", *KEPT)
            found = await self._pipeline.answer(pipe.execute(), key) if shown or asker else []
        ranks = [int(better) + 1 for better in found[: bool(shown) + (own_score is not None)]]
        figures = found[len(ranks) :]
        rows: list[Row] = []
        for nth, (member, score) in enumerate(shown):
            rank = ranks[0] if nth == 0 else start + nth + 1
            if nth and score == shown[nth - 1][1]:
                rank = rows[-1].rank or rank
            rows.append(_row(rank, figures[nth], member == asker))
        own = _row(ranks[-1] if own_score is not None else None, figures[-1], True) if asker else None
        pages, ends_s = -(-people // PAGE_ROWS), _ends_s(span, at_s)
        known = tuple(row for row in rows if row.games)  # and not who was forgotten since
        return Page(people, pages, known, own if own and own.games else None, at_s if key != live else 0, ends_s)

    async def _copied(self, live: str, at_s: int, least_first: bool) -> str:
        """A copy of the best of a board as they were at that moment, for all who read it page by page."""
        copy = f"{live}:at:{at_s}"
        if not await self._pipeline.answer(self._redis.exists(copy), copy):
            best = self._redis.zrangestore(copy, live, 0, COPIED - 1, desc=not least_first)
            await self._pipeline.answer(best, copy)
            await self._pipeline.answer(self._redis.expire(copy, COPY_STAYS_S), copy)
        return copy

    async def rename(self, person: str, name: str, face: str = "") -> None:
        """Has a person, or the id that they have on the board, called this in every row until their next game.

        Without a `face` that stays. Raises `StoreDown` or `BadRecord`.
        """
        now_s = await self._pipeline.now_s()
        for game in GameName:
            rows = [f"{_prefix(game)}{each}:row:{_member(person)}" for each in _periods(now_s)]
            await self._rename_script(rows, (name, face))

    async def forget(self, person: str) -> None:
        """Takes a person off every board."""
        now_s = await self._pipeline.now_s()
        for game in GameName:
            await self._take_off(game, [_member(person)], now_s)

    async def everybody(self, game: GameName) -> AsyncIterator[tuple[str, Row]]:
        """Everybody who has a row of all time, by the id that they have on the board; in no order."""
        key, cursor = f"{_prefix(game)}all:{By.GAMES}", 0
        while True:
            cursor, found = await self._pipeline.answer(self._redis.zscan(key, cursor), key)
            for packed, _ in found:
                member = packed.decode()
                of = f"{_prefix(game)}all:row:{member}"
                row = await self._pipeline.answer(self._redis.hmget(of, "name", "face", *KEPT), of)
                yield member, _row(None, row, False)
            if not int(cursor):
                return

    async def _count(self, game: GameName, finished: Finished) -> bool:
        """Counts a result unless it has been; False while counting is paused."""
        result, at_s = finished.result, finished.at_s
        people = [each for each in result.people if each.person and (self._rank_programs or not each.program)]
        if len(people) < 2 <= len(result.people):
            people = []
        day = datetime.fromtimestamp(at_s, UTC).date()
        told = {
            "steps_an_octave": STEPS_AN_OCTAVE,
            "orders": [
                {"name": by, "of": figure.of, "per": figure.per, "from_games": figure.from_games}
                for by, figure in FIGURES.items()
            ],
            "periods": [[period(span, at_s), _goes_s(span, at_s)] for span in Span],
            "people": [
                {
                    "id": _member(played.person),
                    "name": played.name,
                    "face": played.face,
                    "won": played.won,
                    "sums": played.sums(),
                    "best": max(1, min(played.reactions_us)) if played.reactions_us else 0,
                    "steps": [_step(reaction_us) for reaction_us in played.reactions_us],
                }
                for played in people
            ],
            "pair_a_day": PAIR_A_DAY,
        }
        answer = await self._count_script(
            [f"{_prefix(game)}counted", _paused(game), f"{_prefix(game)}seen", f"{_prefix(game)}pairs:{day}"],
            [_prefix(game), result.id, at_s, await self._pipeline.now_s(), msgspec.json.encode(told)],
        )
        return bool(answer != b"PAUSED")

    async def _retire(self, game: GameName, now_s: int) -> None:
        seen = f"{_prefix(game)}seen"
        while True:
            past = self._redis.zrangebyscore(seen, "-inf", now_s - self._keep_s, start=0, num=RETIRED_AT_ONCE)
            members = [member.decode() for member in await self._pipeline.answer(past, seen)]
            if not members:
                return
            await self._take_off(game, members, now_s)

    async def _take_off(self, game: GameName, members: Sequence[str], now_s: int) -> None:
        prefix = _prefix(game)
        periods = _periods(now_s)
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.zrem(f"{prefix}seen", *members)
            for each in periods:
                pipe.delete(*(f"{prefix}{each}:row:{member}" for member in members))
                for by in By:
                    pipe.zrem(f"{prefix}{each}:{by}", *members)
            await self._pipeline.answer(pipe.execute(), f"{prefix}seen")


def outbox_key(code: str) -> str:
    """Where a table's results wait."""
    return f"slapjack:{{{code}}}:results"


def period(span: Span, at_s: int) -> str:
    """The period of that span which has this moment in it."""
    day = datetime.fromtimestamp(at_s, UTC).date()
    match span:
        case Span.ALL:
            return "all"
        case Span.MONTH:
            return f"{day:%Y-%m}"
        case Span.WEEK:
            year, week, _ = day.isocalendar()
            return f"{year}-W{week:02}"


def _periods(now_s: int) -> list[str]:
    """Those that can still be there: other months and weeks have expired."""
    return sorted({period(span, now_s - days * DAY_S) for span in Span for days in (0, 7, 14)})


def _ends_s(span: Span, at_s: int) -> int:
    """When the period ends, in seconds since 1970; 0 for never."""
    day = datetime.fromtimestamp(at_s, UTC).date()
    match span:
        case Span.ALL:
            return 0
        case Span.MONTH:
            after = date(day.year + day.month // 12, day.month % 12 + 1, 1)
        case Span.WEEK:
            after = day + timedelta(days=7 - day.weekday())
    return int(datetime(after.year, after.month, after.day, tzinfo=UTC).timestamp())


def _goes_s(span: Span, at_s: int) -> int:
    """When what is kept of the period may go, 0 for never."""
    ends_s = _ends_s(span, at_s)
    return ends_s + PERIOD_STAYS_S if ends_s else 0


def _step(reaction_us: int) -> int:
    return floor(log2(min(max(reaction_us, 1), SLOWEST_US)) * STEPS_AN_OCTAVE)


def _prefix(game: GameName) -> str:
    return f"slapjack:{{{game}}}:"


def _paused(game: GameName) -> str:
    return f"{_prefix(game)}paused"


def _member(person: str) -> str:
    """A person on a board: 128 bits of the name, so that a million of them take half the memory."""
    return person[:32]


def _row(rank: int | None, found: Sequence[bytes | None], you: bool) -> Row:
    name, face = ((text or b"").decode(errors="replace") for text in found[:2])
    kept = {field: _NUMBER.decode(text) for field, text in zip(KEPT, found[2:], strict=True) if text is not None}
    figures = {figure.field: figure.value(kept) for figure in FIGURES.values()}
    told = {field: value for field, value in figures.items() if value is not None}
    return msgspec.convert({"rank": rank, "name": name, "face": face, "you": you, **told}, Row)
