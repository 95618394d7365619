"""The leaderboard (R30) as every store keeps it: what is counted, in which order, and that it is counted once."""

import asyncio
import hashlib
import itertools
import random
from datetime import UTC, datetime
from statistics import median

import msgspec
import pytest
from redis.asyncio import Redis

from engine.cards import full_deck
from engine.rules import GameName
from server.ops.command import Failed
from server.ops.people import forget_person, list_people, remove_person, rename_person
from server.store.board import DUE, PAGE_ROWS, PAIR_A_DAY, Finished, outbox_key, period
from server.store.port import BadRecord
from server.store.redis import RedisStore
from server.table.records import Played, Renamed, Result
from tests.contracts.calendar import Calendar
from tests.contracts.servers import Server
from tests.contracts.tables import ANNA, BEN, CODE, ZOE, Owner, a_result, owner, played
from tests.support.rng import StackedLuck
from wire.figures import FIGURES, RATED_FROM_GAMES, By, Page, Row, Span

SLAPJACK, DUEL, WAR = GameName.SLAPJACK, GameName.DUEL, GameName.WAR


class Club:
    """A table at which games are over as soon as they begin."""

    def __init__(self, store: RedisStore, keeper: Owner, first: int = 1) -> None:
        self.store = store
        self._keeper = keeper
        self._results = itertools.count(first)

    async def over(self, *people: Played, game: str = "slapjack", ranked: bool = True) -> None:
        """A game is over."""
        result = a_result(next(self._results), *people, game=game, ranked=ranked)
        await self._keeper.keeps(b"move", result=result)

    async def calls(self, *people: Renamed) -> None:
        """At the table these are called otherwise from now on."""
        await self._keeper.keeps(b"move", renamed=people)

    async def page(self, by: By = By.WINS, span: Span = Span.ALL, *, you: str = "", page: int = 1) -> Page:
        """A page of the Slapjack board."""
        return await self.store.board.page(SLAPJACK, span, by, page, you)

    async def ranks(self, by: By, span: Span = Span.ALL) -> list[tuple[int | None, str]]:
        """Who is on the first page."""
        return [(row.rank, row.name) for row in (await self.page(by, span)).rows]

    async def you(self, person: str, span: Span = Span.ALL) -> Row:
        """A person's own row."""
        row = (await self.page(span=span, you=person)).you
        assert row is not None
        return row


@pytest.fixture
async def club(store: RedisStore) -> Club:
    """A table whose results count."""
    return Club(store, await owner(store))


# --- what is counted ---------------------------------------------------------------------------------------------


async def test_games_wins_and_streaks_are_counted(club: Club) -> None:
    for anna_wins in (True, True, False, True):
        await club.over(played(ANNA, anna_wins), played(BEN, not anna_wins))
    anna, ben = await club.you(ANNA), await club.you(BEN)
    assert (anna.games, anna.wins, anna.streak) == (4, 3, 2)
    assert (ben.games, ben.wins, ben.streak) == (4, 1, 1)


async def test_a_shared_win_counts_for_each(club: Club) -> None:
    await club.over(played(ANNA, True), played(BEN, True), played(ZOE))
    assert [(await club.you(person)).wins for person in (ANNA, BEN, ZOE)] == [1, 1, 0]


async def test_the_best_reaction_is_exact_and_the_median_near(club: Club) -> None:
    rng = random.Random(7)
    reactions_ms = [rng.gauss(380, 90) for _ in range(501)]
    for at in range(0, len(reactions_ms), 10):
        await club.over(played(ANNA, True, *reactions_ms[at : at + 10]), played(BEN), played(somebody(at)))
    anna = await club.you(ANNA)
    assert anna.best_us == round(min(reactions_ms) * 1000)
    assert anna.median_us == pytest.approx(median(reactions_ms) * 1000, rel=0.011)
    assert (await club.you(BEN)).best_us is None


@pytest.mark.parametrize("reactions_ms", [[250], [250, 350], [200, 300, 900], [0.0, 120_000], [333] * 9])
async def test_the_median_of_a_few(club: Club, reactions_ms: list[float]) -> None:
    await club.over(played(ANNA, True, *reactions_ms), played(BEN))
    told_us = (await club.you(ANNA)).median_us
    assert told_us is not None
    inside = sorted(min(max(ms * 1000, 1), 60_000_000) for ms in reactions_ms)
    middle = inside[(len(inside) - 1) // 2], inside[len(inside) // 2]
    assert middle[0] * 0.97 - 1 <= told_us <= middle[1] * 1.03 + 1


async def test_what_is_not_ranked_is_not_counted(club: Club, redis: "Redis") -> None:
    await club.over(played(ANNA, True), played(BEN), ranked=False)
    assert await club.page(you=ANNA) == Page(people=0, pages=0, rows=(), you=None)
    assert await redis.exists(outbox_key(CODE)) == 0


async def test_each_game_has_its_own_board(club: Club) -> None:
    await club.over(played(ANNA, True), played(BEN), game="war")
    await club.over(played(BEN, True), played(ANNA), game="duel")
    assert (await club.page()).rows == ()
    for game, winner in ((WAR, ANNA), (DUEL, BEN)):
        page = await club.store.board.page(game, Span.ALL, By.WINS, 1, winner)
        assert page.people == 2
        assert page.rows[0] == page.you
        assert page.rows[0].name == winner[:6]


async def test_the_name_is_the_last_one_and_two_of_a_name_are_two(club: Club) -> None:
    await club.over(played(ANNA, True, name="Anna"), played(BEN, name="Anna"))
    assert [(row.name, row.wins) for row in (await club.page()).rows] == [("Anna", 1), ("Anna", 0)]
    await club.over(played(ANNA, True, name="Änni 🃏"), played(BEN, name="Anna"))
    assert [(row.name, row.wins) for row in (await club.page()).rows] == [("Änni 🃏", 2), ("Anna", 0)]


# --- the order ---------------------------------------------------------------------------------------------------


async def test_the_most_or_the_quickest_first(club: Club) -> None:
    await club.over(played(ANNA, True, 400, 420), played(BEN, False, 250, 700), played(ZOE))
    await club.over(played(ANNA, True, 410), played(BEN, False, 690), played(ZOE))
    await club.over(played(BEN, True, 710), played(ZOE))
    anna, ben, zoe = ANNA[:6], BEN[:6], ZOE[:6]
    assert await club.ranks(By.WINS) == [(1, anna), (2, ben), (3, zoe)]
    assert sorted(await club.ranks(By.GAMES)) == sorted([(1, ben), (1, zoe), (3, anna)])
    assert await club.ranks(By.BEST) == [(1, ben), (2, anna)]
    assert await club.ranks(By.MEDIAN) == [(1, anna), (2, ben)]
    assert await club.ranks(By.STREAK) == [(1, anna), (2, ben)]


def test_a_board_ranks_by_every_figure_and_a_row_has_it() -> None:
    assert list(FIGURES) == list(By)
    assert {figure.field for figure in FIGURES.values()} <= set(Row.__struct_fields__)


async def test_rates_count_from_ten_games_on(club: Club) -> None:
    for nth in range(RATED_FROM_GAMES - 1):
        await club.over(played(ANNA, nth % 3 == 0), played(BEN, nth % 3 != 0))
    assert await club.ranks(By.RATE) == []
    page = await club.page(By.RATE, you=ANNA)
    assert page.you is not None
    assert (page.you.rank, page.you.games, page.you.rate) == (None, RATED_FROM_GAMES - 1, None)
    await club.over(played(BEN), played(ZOE, True))
    assert await club.ranks(By.RATE) == [(1, BEN[:6])]
    await club.over(played(ANNA, True), played(ZOE))
    assert await club.ranks(By.RATE) == [(1, BEN[:6]), (2, ANNA[:6])]
    assert [row.rate for row in (await club.page(By.RATE)).rows] == [0.6, 0.4]


def somebody(nth: int) -> str:
    """One of many people."""
    return hashlib.sha256(b"%d" % nth).hexdigest()


async def test_equals_share_a_rank_and_stay_in_order(club: Club) -> None:
    people = [somebody(nth) for nth in range(3 * PAGE_ROWS)]
    # The first third wins three games, the second two, the last one.
    for wins in range(3):
        await club.over(*(played(person, nth < PAGE_ROWS * (3 - wins)) for nth, person in enumerate(people)))
    pages = [await club.page(page=page, you=people[5]) for page in (1, 2, 3)]
    assert [[row.rank for row in page.rows] for page in pages] == [
        [1] * PAGE_ROWS,
        [PAGE_ROWS + 1] * PAGE_ROWS,
        [2 * PAGE_ROWS + 1] * PAGE_ROWS,
    ]
    assert pages == [await club.page(page=page, you=people[5]) for page in (1, 2, 3)]
    for page in pages:
        assert (page.people, page.pages) == (3 * PAGE_ROWS, 3)
        assert page.you is not None
        assert (page.you.rank, page.you.wins, page.you.you) == (1, 3, True)
    assert sum(row.you for page in pages for row in page.rows) == 1


async def test_a_rank_goes_on_over_the_edge_of_a_page(club: Club) -> None:
    people = [somebody(nth) for nth in range(PAGE_ROWS + 5)]
    await club.over(*(played(person, nth < 3) for nth, person in enumerate(people)))
    assert [row.rank for row in (await club.page()).rows] == [1] * 3 + [4] * (PAGE_ROWS - 3)
    assert [row.rank for row in (await club.page(page=2)).rows] == [4] * 5
    assert (await club.page(page=3)).rows == ()


async def test_an_empty_board_has_no_page(club: Club) -> None:
    assert await club.page(you=ANNA) == Page(people=0, pages=0, rows=(), you=None)


# --- time --------------------------------------------------------------------------------------------------------


async def test_this_week_and_this_month_begin_again_and_all_time_goes_on(club: Club, calendar: Calendar) -> None:
    await club.over(played(ANNA, True, 300), played(BEN))
    calendar.pass_days(5)  # Monday of the next week, the same month
    await club.over(played(ANNA, True, 400), played(BEN))
    assert [(await club.you(ANNA, span)).wins for span in Span] == [2, 2, 1]
    assert [(await club.you(ANNA, span)).streak for span in Span] == [2, 2, 1]
    assert [(await club.you(ANNA, span)).best_us for span in Span] == [300_000, 300_000, 400_000]
    calendar.pass_days(15)  # Tuesday, 1 December
    assert (await club.page(span=Span.MONTH, you=ANNA)).you is None
    await club.over(played(ANNA), played(BEN, True))
    assert [(await club.you(ANNA, span)).games for span in Span] == [3, 1, 1]


@pytest.mark.parametrize(
    ("moment", "month", "week"),
    [
        ("2026-11-11T12:00", "2026-11", "2026-W46"),
        ("2026-12-31T23:59", "2026-12", "2026-W53"),
        ("2027-01-01T00:00", "2027-01", "2026-W53"),
        ("2027-01-04T00:00", "2027-01", "2027-W01"),
        ("2024-12-30T00:00", "2024-12", "2025-W01"),
    ],
)
def test_periods_are_months_and_iso_weeks(moment: str, month: str, week: str) -> None:
    at_s = int(datetime.fromisoformat(moment + "+00:00").timestamp())
    assert [period(span, at_s) for span in Span] == ["all", month, week]


async def test_what_is_past_goes_away(club: Club, redis: "Redis", calendar: Calendar) -> None:
    await club.over(played(ANNA, True, 300), played(BEN))
    rows = [f"slapjack:{{slapjack}}:{past}:row:{ANNA[:32]}" for past in ("2099-11", "2099-W46")]
    for key in (*rows, "slapjack:{slapjack}:2099-11:wins", "slapjack:{slapjack}:2099-W46:median"):
        ends_s = await redis.expiretime(key)
        assert calendar.now_s < ends_s < calendar.now_s + 40 * 86_400
    calendar.pass_days(364)
    await club.over(played(BEN, True), played(ZOE))
    await club.store.board.sweep()
    assert (await club.page()).people == 3
    calendar.pass_days(2)
    await club.store.board.sweep()
    assert (await club.page()).people == 2
    assert (await club.page(you=ANNA)).you is None
    assert await redis.exists(f"slapjack:{{slapjack}}:all:row:{ANNA[:32]}") == 0


async def test_a_result_that_waited_past_its_week_counts_for_the_rest(
    club: Club, redis: "Redis", calendar: Calendar
) -> None:
    await redis.set("slapjack:{slapjack}:paused", "1")
    await club.over(played(ANNA, True), played(BEN))
    await redis.delete("slapjack:{slapjack}:paused")
    calendar.pass_days(30)
    await club.store.board.sweep()
    assert (await club.you(ANNA)).wins == 1
    assert await redis.keys("slapjack:{slapjack}:2099-W46:*") == []


# --- once --------------------------------------------------------------------------------------------------------


async def waits(store: RedisStore, redis: "Redis", *results: Result) -> None:
    """Has results wait in the outbox of a table, as a crash may leave them."""
    at_s = await store.board.announce(CODE)
    for result in results:
        await redis.hset(outbox_key(CODE), result.id, msgspec.msgpack.encode(Finished(at_s, result)))


async def test_what_a_crash_left_waiting_is_counted_by_whoever_sweeps_and_once(club: Club, redis: "Redis") -> None:
    results = [a_result(nth, played(ANNA, True), played(BEN)) for nth in range(20)]
    await waits(club.store, redis, *results)
    await asyncio.gather(
        *(club.store.board.sweep() for _ in range(10)), *(club.store.board.drain(CODE) for _ in range(10))
    )
    assert (await club.you(ANNA)).games == 20
    assert await redis.exists(outbox_key(CODE)) == 0
    await waits(club.store, redis, *results)
    await club.store.board.sweep()
    assert (await club.you(ANNA)).games == 20


async def test_a_result_is_known_again_for_as_long_as_it_could_come_up(
    club: Club, redis: "Redis", calendar: Calendar
) -> None:
    result = a_result(1, played(ANNA, True), played(BEN))
    await waits(club.store, redis, result)
    await club.store.board.sweep()
    # The server was away for long: of all that waits nothing is forgotten before it has been looked at.
    await waits(club.store, redis, a_result(2, played(ANNA), played(BEN)), result)
    calendar.pass_days(300)
    await club.store.board.sweep()
    assert (await club.you(ANNA)).games == 2
    await club.store.board.sweep()
    assert await redis.zcard("slapjack:{slapjack}:counted") == 0
    assert await redis.zcard(DUE) == 0


async def test_while_counting_is_paused_results_wait(club: Club, redis: "Redis") -> None:
    await redis.set("slapjack:{slapjack}:paused", "1")
    await club.over(played(ANNA, True), played(BEN))
    await club.over(played(ANNA, True), played(BEN), game="war")
    await club.store.board.sweep()
    assert (await club.page()).rows == ()
    await redis.delete("slapjack:{slapjack}:paused")
    await club.store.board.sweep()
    assert (await club.you(ANNA)).games == 1
    assert (await club.store.board.page(WAR, Span.ALL, By.GAMES, 1, "")).people == 2


@pytest.mark.parametrize(
    "packed",
    [
        b"no result",
        msgspec.msgpack.encode({"at_s": 1}),
        msgspec.msgpack.encode(Finished(1, a_result(9, game="whist"))),
    ],
)
async def test_a_result_that_cannot_be_read_is_named_and_keeps_no_other_waiting(
    club: Club, redis: "Redis", packed: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    both = played(ANNA), played(BEN)
    await waits(club.store, redis, a_result(1, *both), a_result(3, *both))
    await redis.hset(outbox_key(CODE), "broken", packed)
    with pytest.raises(BadRecord, match=r"slapjack:\{K7WQ2M\}:results: broken: "):
        await club.store.board.drain(CODE)
    assert (await club.you(ANNA)).games == 2
    await club.store.board.sweep()
    assert "slapjack:{K7WQ2M}:results: broken: " in caplog.text
    assert await redis.hgetall(outbox_key(CODE)) == {b"broken": packed}


@pytest.mark.parametrize(
    "key",
    [
        "slapjack:{slapjack}:counted",
        "slapjack:{slapjack}:seen",
        "slapjack:{slapjack}:all:wins",
        "slapjack:{slapjack}:2099-W46:median",
        f"slapjack:{{slapjack}}:2099-11:row:{BEN[:32]}",
    ],
)
async def test_a_foreign_key_on_the_board_is_named_and_nothing_is_counted_in_part(
    club: Club, redis: "Redis", key: str, caplog: pytest.LogCaptureFixture
) -> None:
    await redis.set(key, "somebody else's")
    await club.over(played(ANNA, True, 300), played(BEN))
    assert f"{key}: not ours: " in caplog.text
    assert await redis.get(key) == b"somebody else's"
    await redis.delete(key)
    await club.store.board.sweep()
    assert (await club.you(ANNA)).games == 1
    assert (await club.you(BEN)).games == 1


async def test_who_wants_to_be_forgotten_is_on_no_board(club: Club, redis: "Redis", calendar: Calendar) -> None:
    for days in (18, 3, 5):  # to 7 December, when November and its last week are still kept
        calendar.pass_days(days)
        for game in GameName:
            await club.over(played(ANNA, True, 300), played(BEN), game=game)
    await club.store.board.forget(ANNA)
    await club.store.people.forget(ANNA)
    for span in Span:
        for by in By:
            page = await club.page(by, span, you=ANNA)
            assert page.you is None
            assert ANNA[:6] not in [row.name for row in page.rows]
    assert (await club.you(BEN)).games == 3
    for key in await redis.keys("*"):
        assert ANNA[:32].encode() not in key
        assert ANNA[:32].encode() not in (await redis.dump(key) or b"")


# --- what is no game among people --------------------------------------------------------------------------------


async def test_r30_of_the_same_two_people_so_many_games_a_day_count(club: Club, calendar: Calendar) -> None:
    for _ in range(PAIR_A_DAY + 5):
        await club.over(played(ANNA, True), played(BEN))
    assert [(await club.you(person)).games for person in (ANNA, BEN)] == [PAIR_A_DAY, PAIR_A_DAY]
    await club.over(played(ANNA, True), played(BEN), played(ZOE))
    assert [(await club.you(person)).games for person in (ANNA, BEN, ZOE)] == [PAIR_A_DAY + 1, PAIR_A_DAY + 1, 1]
    calendar.pass_days(1)
    await club.over(played(ANNA, True), played(BEN))
    assert (await club.you(ANNA)).games == PAIR_A_DAY + 2


async def test_r30_programs_do_not_count_among_people_unless_that_is_wanted(
    club: Club, server: Server, calendar: Calendar
) -> None:
    bot = msgspec.structs.replace(played(BEN, True, 101), program=True)
    await club.over(played(ANNA), bot)
    assert (await club.page(By.GAMES)).rows == ()
    await club.over(played(ANNA), played(ZOE, True), bot)
    assert [row.name for row in (await club.page(By.GAMES)).rows] == [ZOE[:6], ANNA[:6]]
    async with RedisStore(server.url, now_s=calendar, rank_programs=True) as store:
        wanted = Club(store, await owner(store), first=10)
        await wanted.over(played(ANNA), bot)
        assert (await store.board.page(SLAPJACK, Span.ALL, By.BEST, 1, "")).rows[0].best_us == 101_000


async def test_whoever_runs_the_server_lists_renames_and_removes_people(club: Club) -> None:
    await club.over(played(ANNA, True, 300, name="Rude"), played(BEN, name="Ben"))
    said: list[str] = []
    await list_people(club.store, "rud", said.append)
    (line,) = said
    assert "Rude" in line
    assert "1 of 1 games won, best 300 ms" in line
    person_id = line.split()[0]
    await rename_person(club.store, person_id, "Robin", said.append)
    for span in Span:
        assert [row.name for row in (await club.page(span=span)).rows] == ["Robin", "Ben"]
    with pytest.raises(Failed, match="cannot stand there"):
        await rename_person(club.store, person_id, "<b>", said.append)
    await remove_person(club.store, person_id, said.append)
    assert [row.name for row in (await club.page(By.GAMES)).rows] == ["Ben"]
    for wrong in (person_id, ""):
        with pytest.raises(Failed, match="the id"):
            await remove_person(club.store, wrong, said.append)


async def test_r30_a_new_name_at_the_table_is_on_every_board_at_once(club: Club) -> None:
    await club.over(played(ANNA, True, name="Anna"), played(BEN, name="Ben"))
    await club.calls(Renamed(ANNA, "Zoë", "🐻"), Renamed("c" * 64, "Nobody", "🦊"))
    for span in Span:
        rows = (await club.page(span=span)).rows
        assert [(row.name, row.face) for row in rows] == [("Zoë", "🐻"), ("Ben", rows[1].face)]


async def test_somebody_is_forgotten_by_their_id(club: Club) -> None:
    await club.store.people.meet(ZOE, "Zoë", "🦊")
    await club.over(played(ZOE, True), played(BEN))
    said: list[str] = []
    await forget_person(club.store, StackedLuck(full_deck()), 0, ZOE[:12], said.append)
    assert (await club.store.people.look(ZOE)).name == ""
    assert [row.name for row in (await club.page(By.GAMES)).rows] == [BEN[:6]]


# --- read page by page -------------------------------------------------------------------------------------------


async def test_r30_whoever_reads_page_by_page_misses_nobody_and_sees_nobody_twice(
    club: Club, calendar: Calendar
) -> None:
    people = [somebody(nth) for nth in range(3 * PAGE_ROWS)]
    await club.over(*(played(person, name=f"N{nth}") for nth, person in enumerate(people)))
    first = await club.page(By.GAMES)
    assert first.at > 0
    seen = [row.name for row in first.rows]
    for number in (2, 3):
        unseen = [person for nth, person in enumerate(people) if f"N{nth}" not in seen][:3]
        calendar.now_s += 20
        await club.over(*(played(person, name=f"N{people.index(person)}") for person in unseen))
        page = await club.store.board.page(SLAPJACK, Span.ALL, By.GAMES, number, "", first.at)
        assert page.at == first.at
        seen += [row.name for row in page.rows]
    assert sorted(seen) == sorted(f"N{nth}" for nth in range(3 * PAGE_ROWS))
    calendar.now_s += 10 * 60
    again = await club.store.board.page(SLAPJACK, Span.ALL, By.GAMES, 1, "", first.at)
    assert again.at > first.at, "what was copied so long ago is gone"
    assert {row.games for row in again.rows[:3]} == {2}


async def test_who_was_forgotten_meanwhile_is_on_no_page(club: Club) -> None:
    people = [somebody(nth) for nth in range(PAGE_ROWS + 5)]
    await club.over(*(played(person) for person in people))
    first = await club.page(By.GAMES)
    await club.store.board.forget(people[0])
    pages = [await club.store.board.page(SLAPJACK, Span.ALL, By.GAMES, n, "", first.at) for n in (1, 2)]
    assert people[0][:6] not in [row.name for page in pages for row in page.rows]


async def test_a_board_says_when_its_week_and_month_end(club: Club) -> None:
    assert (await club.page()).ends_s == 0
    ends = [datetime.fromtimestamp((await club.page(span=span)).ends_s, UTC) for span in (Span.WEEK, Span.MONTH)]
    assert [f"{end:%A %Y-%m-%d %H:%M}" for end in ends] == ["Monday 2099-11-16 00:00", "Tuesday 2099-12-01 00:00"]
