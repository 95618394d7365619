"""The whole way of a slap on a made-up clock: real room and judge, phones with links between, the truth on record.

A small run of what `make bench-fairness` measures at length. It would fail if the judge were any of the other rules.
"""

import pytest

from tests.simulation import report
from tests.simulation.links import Network
from tests.simulation.phones import Device, Human
from tests.simulation.scenes import cheats, worlds
from tests.simulation.world import Player, World
from wire.messages import Verdict

MIX = ((15, 3), (40, 6), (90, 12), (220, 25))
KEEN = Human(spread_ms=60)


def players(*, stalled: float = 0, jank: float = 0, human: Human = KEEN) -> list[Player]:
    return [Player(Network(rtt, jitter, stalled=stalled), human, device=Device(busy=jank)) for rtt, jitter in MIX]


def test_the_truly_first_hand_wins_and_no_other_rule_sees_it() -> None:
    contests = World(players(), 1).run(250)
    assert report.right(contests).pct >= 99
    assert report.right(contests, "first message received").pct < 85
    assert report.right(contests, "arrival minus half the round trip").pct < 98
    assert report.right(contests, "synchronised absolute stamps").pct < 99
    assert report.corrected(contests).pct <= 3
    assert report.wait_ms(contests) <= 1.8 * report.floor_ms(contests)
    assert report.wait_ms(contests, 1.0) <= 400 + 1


def test_stalls_and_jank_cost_an_honest_player_next_to_nothing() -> None:
    world = World(players(stalled=0.02, jank=0.02), 2)
    contests = world.run(250)
    assert report.right(contests).pct >= 98
    assert report.corrected(contests).pct <= 3
    assert world.room.late_winners <= 2


def test_a_page_that_janks_on_a_short_line_is_waited_for() -> None:
    """Where all are near, the verdict would come before a page that is busy has said what it holds."""
    near = [Player(Network(rtt, 3), KEEN, device=Device(busy=0.04)) for rtt in (6, 6, 15, 20)]
    world = World(near, 7)
    contests = world.run(300)
    assert world.room.late_winners == 0
    assert report.right(contests).pct >= 99.5
    assert report.wait_ms(contests) <= 45


def test_a_server_that_is_late_itself_corrects_nobody_for_it() -> None:
    """While a change is being kept the whole table waits; a card that left late was seen late, and that is no lie."""
    world = World(players(), 2, slow_store=0.3)
    contests = world.run(250)
    assert report.right(contests).pct >= 99
    assert report.corrected(contests).pct <= 0.5


@pytest.mark.parametrize("shares", [(0.2, 0.8), (0.35, 0.65)])
def test_what_round_trips_cannot_see_cancels(shares: tuple[float, float]) -> None:
    """Asymmetric paths shift the reveal, and the reaction with it."""
    down, up = shares
    table = [Player(Network(100, 8, share), KEEN) for share in (down, up, 0.5, 0.5)]
    assert report.right(World(table, 3).run(200)).pct >= 98.5


HARMLESS = {
    "lies by 100 ms": True,
    "claims the floor": True,
    "never says that it has no hand": True,
    "pongs + 100 while a slap card is out, claim - 100": True,
    "no pongs until the slap is sent, claim - 200": True,
    "silent until `any_hand`, claims 140": True,
    "a second socket that watches, pongs + 300": False,
}
"""Cheats of whom the host is told, and one who is only kept from it."""


@pytest.mark.parametrize(("name", "told"), HARMLESS.items())
def test_a_cheat_gains_little(name: str, told: bool) -> None:
    """Of 200 contests a fair share is 25 %, give or take 3 points; silence won up to all before it cost anything."""
    scene = next(scene for scene in cheats() if scene.name == f"{name} @ 30 ms")
    world = World(scene.players, 4)
    contests = world.run(200)
    chairs = world.room.state.seats.chairs
    seat = next(seat for seat, chair in enumerate(chairs) if chair.conn == scene.at)
    assert report.shares(contests)[seat].pct <= 25 + 5 + 8
    assert report.ahead_ms(contests, seat) <= 15 + 1000 / 60, "a frame passes before the others see it"
    assert chairs[seat].detector.flagged is told
    assert not any(chair.detector.flagged for place, chair in enumerate(chairs) if place != seat)


@pytest.mark.parametrize(
    "name",
    [
        "a far phone behind a carrier's proxy",
        "12 ms between touch and sending",
        "15 ms, and the nearest frame",
        "bursts of 200 ms over 5 s",
    ],
)
def test_what_is_wrong_with_a_line_or_a_phone_costs_its_owner_nothing(name: str) -> None:
    """Behind the proxy 77 % were right before, with the lag 95 %."""
    scene = next(scene for scene in worlds() if scene.name == name)
    world = World(scene.players, 4, direct=scene.direct)
    contests = world.run(100)
    assert report.right(contests).pct >= 98
    # A burst corrects several hands at once, so that so few contests say little: `make bench-fairness` has more.
    assert report.corrected(contests).interval[0] <= 1
    assert world.room.late_winners <= 1
    assert not any(chair.detector.flagged for chair in world.room.state.seats.chairs)


def test_a_world_can_be_had_again() -> None:
    """Time and chance are inputs: a seed that fails can be looked at."""

    def verdicts(seed: int) -> list[Verdict]:
        return [judged.verdict for judged in World(players(stalled=0.02, jank=0.02), seed).run(12)]

    assert verdicts(7) == verdicts(7)
    assert verdicts(7) != verdicts(8)
