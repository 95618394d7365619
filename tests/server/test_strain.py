"""How hard a server has to work, and what it then does less often: phones are asked more seldom, new tables wait."""

import pytest

from server.judge.judge import PING_US
from server.table.mail import Woken
from server.table.strain import EASY, FULL, HARD, LATE_US, LOOKS, MOST_BACKOFF, Strain
from tests.server.world import MS, Table
from wire.messages import Shown

NAMES = ("Ann", "Ben", "Cleo", "Dan")


def seen(busy: float, lag_us: int = 0, looks: int = LOOKS) -> Strain:
    strain = Strain()
    for _ in range(looks):
        strain.observe(busy, lag_us)
    return strain


def test_a_server_at_ease_may_do_everything() -> None:
    strain = seen(EASY, LATE_US)
    assert strain.ping_backoff == 1
    assert not strain.full


def test_one_long_step_is_no_strain() -> None:
    """A collection of garbage, say."""
    strain = seen(0.2)
    strain.observe(1.0, 50 * LATE_US)
    assert strain.ping_backoff == 1
    assert not strain.full


def test_the_busier_the_more_seldom_and_then_it_is_full() -> None:
    between = seen((EASY + HARD) / 2)
    assert between.ping_backoff == pytest.approx((1 + MOST_BACKOFF) / 2)
    assert not between.full
    assert seen(HARD).ping_backoff == pytest.approx(MOST_BACKOFF)
    assert not seen(FULL - 0.01).full
    assert seen(1.0).full
    assert seen(1.0).ping_backoff == MOST_BACKOFF


def test_a_server_whose_processor_others_take_is_full() -> None:
    assert seen(0.2, LATE_US + 1).full


def test_it_passes() -> None:
    strain = seen(1.0, 2 * LATE_US)
    for _ in range(LOOKS):
        strain.observe(0.1, 0)
    assert strain.ping_backoff == 1
    assert not strain.full


def contest(strain: Strain, rtt_ms: int = 20) -> tuple[int, int]:
    """How many pings a contest takes and how long its verdict, in ms from the first hand; all slap, 60 ms apart."""
    table = Table(*NAMES, rtt_ms=dict.fromkeys(NAMES, rtt_ms), strain=strain)
    table.later(3_000)
    table.start(first="JS 4H")
    table.turn_cards(1)
    for phone in table.phones:
        phone.say(Shown(table.game, 1, 0))
    table.pings = 0
    for number, name in enumerate(NAMES):
        table.after(1, 200 + 60 * number)
        if table.verdicts:
            break
        table[name].slap(reaction_ms=200 + 60 * number - rtt_ms // 2)
    table.after(1, 900)
    assert table.verdicts[0].winner is not None
    return table.pings, table.verdicts[0].wait_us // MS


def test_r4_under_strain_phones_are_asked_more_seldom_and_the_verdict_is_the_same() -> None:
    at_ease, waited_ms = contest(Strain())
    strained, waited_strained_ms = contest(seen(1.0))
    assert strained < at_ease / 3
    # No ping leaves because a hand has come, for that would tell of it: the wait grows, by one beat of them at most.
    assert 0 <= waited_strained_ms - waited_ms <= round(PING_US * MOST_BACKOFF) // MS


@pytest.mark.parametrize("rtt_ms", [0, 20, 150])
def test_nobody_is_asked_before_a_hand_can_be_meant_for_the_card(rtt_ms: int) -> None:
    """R4: a reaction below a tenth of a second is none, so no ping is needed to disprove it."""
    table = Table(*NAMES, rtt_ms=dict.fromkeys(NAMES, rtt_ms))
    table.later(3_000)
    table.start(first="JS 4H")
    table.turn_cards(1)
    table.pings = 0
    table.after(1, max(0, 85 - 2 * rtt_ms))
    assert table.pings <= len(NAMES), "but for those that every phone gets each second"
    table.after(1, 400)
    assert table.pings >= 10 * len(NAMES)


def test_a_server_that_comes_late_asks_once_for_all_that_it_has_missed() -> None:
    """R4: however many pings were due meanwhile, they would all leave now, and it is busy enough."""
    table = Table(*NAMES, rtt_ms=dict.fromkeys(NAMES, 20))
    table.later(3_000)
    table.start(first="JS 4H")
    table.turn_cards(1)
    table.after(1, 100)
    table.pings = 0
    table.now_us += 300 * MS
    table.happens(Woken())
    assert table.pings == len(NAMES)
