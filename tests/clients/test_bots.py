"""Computer players on the Python client: what a mind does at which instant, and whole games over real sockets."""

import asyncio
import os
import re
import sys
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from clients.bots import POLICIES, BadBot, Mind, Policy, find_bot, play
from clients.bots.files import bot_name
from clients.bots.mind import AGAIN_US, QUICKEST_MS, VERDICT_US, Act, Sight, sight_of
from clients.bots.tournament import Line, Outcome, compete, distinct, in_columns, interval
from clients.sdk import Player, connect, create_table, is_slap_card
from engine.game import End, LandedCard, Seat, SeatView, Status, Wait
from engine.rules import PRESETS, GameName, Rules, WhichHand
from tests.clients import scripted
from tests.clients.jacks_soon import EARLY
from tests.support.company import company
from tests.support.serving import ROOT, TIMEOUT_S, Served
from tests.support.tables import a_game, a_seat, a_table, turned
from wire.messages import DoSlap, Join, Kind, Point, Question, React, SeatId, SetRules, Stage, TableView, Tally, Welcome

EVEN = Policy("always the same", 500, 0, turn_ms=700)


def sight(faces: list[str], rules: Rules | None = None, place: int = 0, game: int = 1, **fields: Any) -> Sight:
    return Sight(game, a_game(faces, **fields), rules or Rules(), Seat(place))


def mind(policy: Policy = EVEN, seed: int = 1) -> Mind:
    return Mind(policy, Random(seed))


def done(bot: Mind, until_us: int) -> list[tuple[int, Act]]:
    """What the bot does by itself until then."""
    told = []
    while (due_us := bot.due_us()) is not None and due_us <= until_us:
        told += [(due_us, act) for act in bot.acts(due_us)]
    return told


# --- what may be slapped -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("faces", "rules", "worth_it"),
    [
        ([], Rules(), False),
        (["JS"], Rules(), True),
        (["QS"], Rules(), False),
        (["QS"], Rules(queens=True), True),
        (["4S", "4H"], Rules(), False),
        (["4S", "4H"], Rules(doubles=True), True),
        (["4S", "5H"], Rules(doubles=True), False),
        (["4S", "5H", "4D"], Rules(doubles=True), False),
        (["4S", "5H", "4D"], Rules(sandwiches=True), True),
        (["4S", "5H", "4D"], Rules(game=GameName.DUEL), True),
        (["4S", "4D"], Rules(game=GameName.DUEL), True),
        (["JS"], Rules(game=GameName.WAR), False),
    ],
)
def test_a_slap_card_is_seen(faces: list[str], rules: Rules, worth_it: bool) -> None:
    """R11."""
    assert is_slap_card(a_game(faces), rules) == worth_it


def test_only_jacks_count_in_an_elimination_round() -> None:
    """R20."""
    duel = Rules(game=GameName.DUEL)
    assert not is_slap_card(a_game(["4S", "4D"], empty=Seat(1)), duel)
    assert is_slap_card(a_game(["4S", "JD"], empty=Seat(1)), duel)


# --- a mind ------------------------------------------------------------------------------------------------------


def test_it_slaps_a_jack_after_its_reaction_and_once() -> None:
    bot = mind()
    bot.see(sight(["JS"]), 1_000)
    bot.see(sight(["JS"]), 2_000)
    assert done(bot, 10_000_000) == [(501_000, Act.SLAP)]


def test_it_turns_when_it_is_its_turn_and_again_when_nothing_comes_of_it() -> None:
    bot = mind()
    bot.see(sight(["2S", "3S"]), 0)
    (first_us, first), (second_us, second) = done(bot, 6_000_000)
    assert (first, second) == (Act.TURN, Act.TURN)
    assert 500_000 < first_us < 1_000_000
    assert second_us == first_us + AGAIN_US
    bot.see(sight(["2S", "3S", "4S"]), second_us)
    assert bot.due_us() is None


def test_a_jack_comes_before_its_own_turn() -> None:
    bot = mind()
    bot.see(sight(["2S", "JS"]), 0)
    (slap_us, slap), (turn_us, turn) = done(bot, 4_000_000)
    assert (slap, turn) == (Act.SLAP, Act.TURN)
    assert turn_us > slap_us + VERDICT_US


def test_a_covered_jack_is_let_go() -> None:
    bot = mind()
    bot.see(sight(["JS"]), 0)
    bot.see(sight(["JS", "4H"], place=1), 400_000)
    assert done(bot, 10_000_000) == []


def test_the_same_card_number_of_another_game_is_another_card() -> None:
    bot = mind()
    bot.see(sight(["JS"]), 0)
    assert len(done(bot, 1_000_000)) == 1
    bot.see(sight(["JS"], game=2), 1_000_000)
    assert len(done(bot, 2_000_000)) == 1


@pytest.mark.parametrize(
    ("rules", "acts"),
    [
        (Rules(call=True), {Act.SLAP, Act.CALL}),
        (Rules(say_jack=True), {Act.CALL}),
        (Rules(hand=WhichHand.OTHER), {Act.SLAP}),
    ],
)
def test_it_calls_where_one_must(rules: Rules, acts: set[Act]) -> None:
    """R13, R13a."""
    bot = mind()
    bot.see(sight(["JS"], rules), 0)
    assert {act for _, act in done(bot, 1_000_000)} == acts


def test_it_lets_a_card_pass_in_calm_mode_but_no_jack() -> None:
    """R19."""
    calm = Rules(calm=True)
    waits: dict[str, Any] = {"wait": Wait.ANSWERS, "turners": (), "answers": (Seat(0),)}
    bot = mind()
    bot.see(sight(["2S"], calm, **waits), 0)
    assert [act for _, act in done(bot, 1_000_000)] == [Act.CARRY_ON]
    bot.see(sight(["2S", "JS"], calm, **waits), 1_000_000)
    assert [act for _, act in done(bot, 2_000_000)] == [Act.SLAP]


def test_who_is_out_slaps_no_more() -> None:
    """R8."""
    seats = (SeatView(cards=0, status=Status.OUT), SeatView(cards=52, status=Status.IN_PLAY))
    waiting = (replace(seats[0], status=Status.WAITING), seats[1])
    for stacks, acts in ((waiting, [Act.SLAP]), (seats, [])):
        bot = mind()
        bot.see(Sight(1, replace(a_game(["JS"]), seats=stacks), Rules(), Seat(0)), 0)
        assert [act for _, act in done(bot, 1_000_000)] == acts


def test_it_judges_when_it_is_asked_and_until_somebody_has() -> None:
    """R18."""
    view = replace(a_game(["JS"]), turners=(), seats=(SeatView(52, Status.IN_PLAY), SeatView(0, Status.OUT)))
    asked = Sight(1, view, Rules(), Seat(1), judges=True)
    bot = mind()
    bot.see(asked, 0)
    (first_us, first), (second_us, second) = done(bot, 5_000_000)
    assert (first, second) == (Act.POINT, Act.POINT)
    assert first_us < 1_000_000 < second_us
    bot.see(replace(asked, judges=False), 5_000_000)
    assert done(bot, 10_000_000) == []


@pytest.mark.parametrize(
    ("table", "others", "judges"),
    [
        (a_table(3), Status.IN_PLAY, True),
        (a_table(3), Status.OUT, False),
        (a_table(3, watching=1), Status.IN_PLAY, False),
        (replace(a_table(), seats=(a_seat(0), a_seat(1), a_seat(2, kind=Kind.COMPUTER))), Status.OUT, True),
    ],
)
async def test_a_bot_judges_only_where_no_person_could(table: TableView, others: Status, judges: bool) -> None:
    """R18: the first word counts, and people should have it. What a bot says is what the evidence says."""
    stacks = (SeatView(0, Status.OUT), SeatView(52, Status.IN_PLAY), SeatView(0, others))
    view = replace(a_game(["JS"], seats=3), seats=stacks, turners=(Seat(1),))
    question = Question(id=7, game=1, nth=1, seats=(Seat(2), Seat(1)), hands=(), until_us=0)
    answer: asyncio.Future[Point] = asyncio.get_running_loop().create_future()

    async def script(at_table: scripted.Table) -> None:
        await at_table.welcome()
        await at_table.tell(table=table, view=view, question=question)
        if judges:
            answer.set_result(await at_table.hear(Point))
        await at_table.hear_out()

    async with scripted.at(scripted.Table(script)) as url, connect(url, "K7WQ2M", name="Robin") as robin:
        await robin.until(lambda p: p.question)
        seen = sight_of(robin)
        assert seen is not None
        assert seen.judges == judges
        playing = asyncio.create_task(play(robin, mind()))
        if judges:
            assert await asyncio.wait_for(answer, TIMEOUT_S) == Point(question=7, seat=Seat(2))
        playing.cancel()


async def test_it_slaps_again_when_its_card_is_shown_afresh_or_its_line_was_lost() -> None:
    """P9: its hands before are void, or were lost with the socket."""
    jack: dict[str, Any] = {"events": (turned(1, "JS"),), "view": a_game(["JS"])}
    slaps: asyncio.Queue[DoSlap] = asyncio.Queue()

    async def stands_still(at_table: scripted.Table) -> None:
        await at_table.welcome()
        await at_table.tell(**jack)
        slaps.put_nowait(await at_table.hear(DoSlap))
        await at_table.tell(show_at_us=1, view=jack["view"])
        slaps.put_nowait(await at_table.hear(DoSlap))
        at_table.break_off()

    async def is_back(at_table: scripted.Table) -> None:
        await at_table.hear(Join)
        await at_table.say(Welcome(code="K7WQ2M", key="secret", seat=SeatId("s0"), room_us=1))
        await at_table.tell(table=a_table(), view=jack["view"])
        slaps.put_nowait(await at_table.hear(DoSlap))
        await at_table.hear_out()

    table = scripted.Table(stands_still, is_back)
    async with scripted.at(table) as url, connect(url, "K7WQ2M", name="Robin") as robin:
        playing = asyncio.create_task(play(robin, mind(HASTY)))
        for _ in range(3):
            assert (await asyncio.wait_for(slaps.get(), TIMEOUT_S)).nth == 1
        playing.cancel()


def test_nothing_is_done_while_there_is_nothing_to_see() -> None:
    bot = mind()
    bot.see(sight(["2S", "JS"]), 0)
    bot.see(None, 100)
    assert bot.due_us() is None
    bot.see(sight(["2S", "JS"]), 1_000_000)
    assert done(bot, 1_600_000) == [(1_500_000, Act.SLAP)]


def test_the_nervous_one_slaps_pictures_and_nothing_else_by_mistake() -> None:
    bot, slapped = mind(POLICIES["nervous"]), {"KS": 0, "9S": 0}
    for game in range(2_000):
        for face in slapped:
            bot.see(sight(["2H", face], place=1, game=2 * game + (face == "KS")), 0)
            slapped[face] += sum(act is Act.SLAP for _, act in done(bot, 2_000_000))
    assert slapped["9S"] == 0
    assert 190 <= slapped["KS"] <= 290


def test_the_learner_gets_quicker_and_the_others_do_not() -> None:
    def reactions(name: str) -> list[int]:
        bot, told = mind(POLICIES[name]), []
        for game in range(60):
            bot.see(sight(["JS"], game=game), 0)
            told.append(done(bot, 5_000_000)[0][0] // 1000)
        return told

    learner = reactions("learner")
    assert mean(learner[:5]) > 700
    assert mean(learner[-20:]) < 450
    assert abs(mean(reactions("steady")[:30]) - 480) < 40
    assert min(reactions("sharp")) >= QUICKEST_MS


# --- bot files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("nobody", None, "no bot is called '.*nobody': choose steady, learner, nervous, sharp, or name a Python file"),
        ("empty.py", "", "is no bot: it has no `async def play\\(player\\)`"),
        ("plain.py", "def play(player): ...", "is no bot"),
        ("broken.py", "1 / 0", "cannot be run: ZeroDivisionError: division by zero"),
        ("typo.py", "def play(", "cannot be run: SyntaxError"),
        ("leaves.py", "raise SystemExit(3)", "cannot be run: SystemExit: 3"),
    ],
)
def test_what_is_no_bot_is_said_in_one_line(name: str, text: str | None, why: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(BadBot, match=why) as wrong:
        find_bot(str(path))
    assert "\n" not in str(wrong.value)


def test_a_bot_is_called_what_its_file_is() -> None:
    assert bot_name("bots/my_clever_bot.py") == "My clever bot"
    assert bot_name("sharp") == "Sharp"


# --- at real tables ----------------------------------------------------------------------------------------------


HASTY = Policy("for tests", 190, 0, turn_ms=QUICKEST_MS)


async def finishes(url: str, rules: Rules) -> None:
    """Two hasty bots at a table of their own, until the cards are counted."""
    async with company(url, "Ann", "Ben") as (ann, ben):
        ann.say(SetRules(replace(rules, min_show_ms=300, card_limit=4)))
        playing = [asyncio.create_task(play(player, mind(HASTY, seed))) for seed, player in enumerate((ann, ben))]
        ann.start()
        await ben.until(lambda p: p.table.stage is Stage.BREAK)
        assert ben.view is not None
        assert ben.view.end is End.CARD_LIMIT
        assert ben.view.turned >= 4
        ann.quit()
        ben.quit()
        await asyncio.gather(*playing)


async def test_two_bots_finish_a_game_of_every_kind(server: Served) -> None:
    """All at the same time, since most of it is waiting."""
    kinds = [preset.rules for preset in PRESETS.values()]
    await asyncio.gather(*(finishes(server.url, rules) for rules in [*kinds, Rules(say_jack=True)]))


async def test_a_bot_sees_what_a_person_sees(server: Served) -> None:
    """Everything that a mind is given is in the view that every phone at the table is sent."""
    code = await create_table(server.url)
    async with connect(server.url, code, name="Ann") as ann, connect(server.url, code, name="Tv", watch=True) as tv:
        async with connect(server.url, code, name="Ben"):
            await ann.until(lambda p: len(p.table.seats) == 2)
            assert sight_of(ann) is None
            ann.start()
            await ann.until(lambda p: p.view)
            await tv.until(lambda p: p.view)
            seen = sight_of(ann)
            assert seen is not None
            assert (seen.view, seen.rules, seen.place) == (tv.view, tv.table.rules, 0)


# --- bots that people write --------------------------------------------------------------------------------------


def written_bot(page: str) -> str:
    """The bot that stands on a page of the documentation."""
    (text,) = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)
    return str(text)


async def cheers(ann: Player) -> None:
    """Ann shows an emoji for every Jack: more may happen while a card lies there than hands."""
    seen: list[LandedCard] = []
    while True:
        await ann.until(lambda p: p.top is not None and p.top.face[0] == "J" and p.top not in seen)
        assert ann.top is not None
        seen.append(ann.top)
        ann.say(React("🎉"))


async def wins_jacks(ann: Player) -> bool:
    """Whether the other at Ann's table, who turns her cards and slaps nothing, wins the three Jacks that soon come."""
    ann.say(SetRules(Rules(min_show_ms=300, card_limit=EARLY + 4)))
    await ann.until(lambda p: len(p.table.seats) == 2)
    ann.start()
    sleepy = asyncio.create_task(play(ann, mind(Policy("never slaps in time", 60_000, 0, turn_ms=QUICKEST_MS))))
    cheering = asyncio.create_task(cheers(ann))
    await ann.until(lambda p: p.table.stage is Stage.BREAK)
    cheering.cancel()
    tally = ann.table.seats[1].tally
    ann.quit()
    await sleepy
    return tally is not None and tally.slaps == 3 and tally.wrong == 0


async def program_plays(url: str, file: Path) -> None:
    """As a program of its own."""
    async with company(url, "Ann") as (ann,):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(file), url, ann.table.code), env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        try:
            assert await wins_jacks(ann), file
        finally:
            process.kill()
            await process.wait()


async def bot_plays(url: str, name: str) -> None:
    async with company(url, "Ann") as (ann,), connect(url, ann.table.code, name=bot_name(name)) as bot:
        playing = asyncio.create_task(find_bot(name)(bot))
        assert await wins_jacks(ann), name
        bot.quit()
        await playing


def test_the_bot_of_the_first_page_has_twenty_lines() -> None:
    assert len([line for line in written_bot("README.md").splitlines() if line.strip()]) <= 20


async def test_every_bot_plays_ours_and_those_on_the_pages(jacks_soon: Served, tmp_path: Path) -> None:
    """All at the same time, since most of it is waiting."""
    robin, mine = tmp_path / "robin.py", tmp_path / "mine.py"
    robin.write_text(written_bot("README.md"), encoding="utf-8")
    mine.write_text(written_bot("docs/bots.md"), encoding="utf-8")
    await asyncio.gather(
        program_plays(jacks_soon.url, robin), *(bot_plays(jacks_soon.url, name) for name in [*POLICIES, str(mine)])
    )


def test_the_page_of_bots_names_every_policy() -> None:
    page = (ROOT / "docs" / "bots.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", page, re.M))
    assert rows == {name: policy.sentence for name, policy in POLICIES.items()}


# --- a tournament ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wins", "games", "least", "most"),
    [
        (0, 0, 0.0, 1.0),
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (500, 1000, 0.4691, 0.5309),
    ],
)
def test_an_interval_is_wilsons(wins: int, games: int, least: float, most: float) -> None:
    assert interval(wins, games) == pytest.approx((least, most), abs=1e-4)


@given(st.integers(0, 500), st.integers(0, 500))
@example(0, 47)
def test_an_interval_holds_what_was_seen(wins: int, others: int) -> None:
    games = wins + others
    least, most = interval(wins, games)
    assert 0 <= least <= (wins / games if games else 0.5) <= most + 1e-9 <= 1 + 1e-9


def test_bots_of_one_name_are_told_apart() -> None:
    assert distinct(["Sharp", "Steady", "Sharp"]) == ["Sharp", "Steady", "Sharp 2"]


def test_a_table_of_results() -> None:
    quick = Line("Quick").after(Outcome(True, Tally(slaps=3, average_ms=250, best_ms=200, wrong=1)))
    slow = Line("Slow").after(Outcome(False, Tally(slaps=0, average_ms=0, best_ms=0, wrong=0)))
    assert in_columns([slow, quick]).splitlines() == [
        "bot    games  wins   share   95 % interval  reaction  wrong a game",
        "Quick      1     1  100.0%  20.7% – 100.0%    250 ms          1.00",
        "Slow       1     0    0.0%    0.0% – 79.3%         –          0.00",
    ]


async def test_a_tournament_counts_games_and_gives_up_a_table_that_a_bot_has_left(tmp_path: Path) -> None:
    """On a server that each starts itself, at the same time. The broken bot gives up at its first card."""
    broken = tmp_path / "broken.py"
    broken.write_text("async def play(player):\n    await player.until(lambda p: p.view)\n    1 / 0\n")
    quick = Rules(min_show_ms=300, card_limit=3)
    told: list[int] = []
    lines, given_up = await asyncio.gather(
        compete(["sharp", "sharp"], quick, games=3, tables=2, progress=told.append),
        compete(["sharp", str(broken)], quick, games=3, tables=1),
    )
    assert [line.name for line in lines] == ["Sharp", "Sharp 2"]
    assert [line.games for line in lines] == [3, 3]
    assert sum(line.wins for line in lines) >= 3
    assert told == [1, 2, 3]
    assert [line.games for line in given_up] == [0, 0]
