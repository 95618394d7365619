"""The dealer judge on evidence made by hand: what a claim is worth, when the window closes, who was first."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.game import Seat
from server.judge.cheat_detector import CheatDetector
from server.judge.judge import (
    BUSY_US,
    CALL_AFTER_US,
    FLOORED_US,
    FRAME_US,
    HOP_US,
    PATH_CAP_US,
    PING_US,
    SLACK_US,
    TIE_BAND_US,
    UNCLAIMED_US,
    UNSEEN_US,
    WINDOW_CAP_US,
    Contest,
    Evidence,
    lag_us,
    too_close,
    watermark_us,
    weigh,
)
from server.judge.path import AHEAD_US, JITTER_CAP_US, LOWEST_OF_US, PONG_LAG_US, Path
from server.judge.standing import CREDIT_CAP_US, CREDIT_START_US, LAG_CAP_US, Standing
from wire.messages import RankedSlap

MS = 1_000
SHOWN_US = 5_000 * MS


def honest(
    reaction_ms: float, *, rtt_ms: float = 100, up_ms: float | None = None, credit_ms: float = 0, **more: int | None
) -> Evidence:
    """A hand so long after its card was painted, half a frame late, on a path without jitter.

    The last ping was answered half a ping before the hand left.
    """
    up_ms = rtt_ms / 2 if up_ms is None else up_ms
    down_ms = rtt_ms - up_ms
    # The phone's clock is off by half of what the ways differ, and so is its showing of the card.
    hand_us = SHOWN_US + (down_ms - up_ms) / 2 * MS + FRAME_US / 2 + reaction_ms * MS
    left_us = hand_us + HOP_US
    fields: dict[str, int | None] = {
        "claimed_us": round(reaction_ms * MS),
        "arrived_us": round(left_us + up_ms * MS),
        "answered_us": round(left_us - PING_US / 2 - down_ms * MS),
        "rtt_us": round(rtt_ms * MS),
        "credit_us": round(credit_ms * MS),
    }
    return Evidence(seat=Seat(0), shown_us=SHOWN_US, **(fields | more))  # type: ignore[arg-type]


def hand(seat: int, accepted_ms: float, *, cover: bool = False, called: bool = False) -> RankedSlap:
    return RankedSlap(Seat(seat), round(accepted_ms * MS), round(accepted_ms * MS), cover=cover, called=called)


# --- what a claim is worth ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rtt_ms", [1, 15, 90, 300])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_an_honest_claim_stands_whatever_the_path(rtt_ms: float, share: float) -> None:
    """The ping bracket: path and asymmetry cancel, so no credit is needed."""
    judged = weigh(honest(412, rtt_ms=rtt_ms, up_ms=rtt_ms * share))
    assert judged.accepted_us == pytest.approx(412 * MS, abs=2)
    assert judged.added_us <= 2
    assert judged.credit_us == 0


@pytest.mark.parametrize("lie_ms", [1, 10, 60, 250])
def test_a_lie_gains_what_the_credit_covers_and_no_more(lie_ms: int) -> None:
    truth = honest(500)
    for credit_ms in (0, 5, 100):
        lied = honest(500, credit_ms=credit_ms, claimed_us=(500 - lie_ms) * MS)
        gained_us = weigh(truth).accepted_us - weigh(lied).accepted_us
        assert gained_us == pytest.approx(min(lie_ms, credit_ms) * MS, abs=2)
        assert weigh(lied).credit_us == pytest.approx(min(lie_ms, credit_ms) * MS, abs=2)


def test_the_phones_word_about_its_painting_moves_nothing() -> None:
    """A painter that says it was late gains nothing by it."""
    assert weigh(honest(500, late_us=80 * MS)) == weigh(honest(500))


def test_a_spike_of_lag_is_made_up_for_by_credit() -> None:
    """A slap that the page held back for 60 ms, while its pongs went on."""
    janked = honest(500, credit_ms=100)
    held = honest(560, credit_ms=100, claimed_us=500 * MS)
    assert weigh(held).accepted_us == pytest.approx(weigh(janked).accepted_us, abs=2)
    assert weigh(held).credit_us == pytest.approx(60 * MS, abs=2)


def test_without_usable_stamps_the_link_alone_decides() -> None:
    """And it makes up for a short way only: whoever claims nothing has only to hold the pongs back."""
    judged = weigh(honest(412, rtt_ms=40, claimed_us=None))
    assert judged.reaction_us is None
    assert judged.accepted_us == pytest.approx(412 * MS, abs=6 * MS)
    far = honest(412, rtt_ms=200, claimed_us=None, answered_us=SHOWN_US)
    assert weigh(far).accepted_us == far.arrived_us - SHOWN_US - UNCLAIMED_US - FRAME_US // 2


@pytest.mark.parametrize("silent_ms", [20, 100, 400])
def test_silence_before_a_hand_costs_what_lateness_does(silent_ms: int) -> None:
    """Pongs that are missing prove nothing, and so they excuse nothing: the hand came as the way up lets expect."""
    spoke = honest(500, claimed_us=400 * MS)
    assert spoke.answered_us is not None
    silent = replace(spoke, answered_us=spoke.answered_us - silent_ms * MS)
    for credit_ms in (0, 60, 100):
        for evidence in (spoke, silent):
            judged = weigh(replace(evidence, credit_us=credit_ms * MS))
            assert judged.accepted_us == pytest.approx((500 - credit_ms) * MS, abs=2)
            assert judged.credit_us == pytest.approx(credit_ms * MS, abs=2)


def test_a_lag_that_a_phone_always_has_is_learnt_and_costs_nothing() -> None:
    """Each hand is sent 7 ms after its stamp; turns teach it as well as slaps."""
    late = honest(407, claimed_us=400 * MS)
    assert lag_us(late) == pytest.approx(7 * MS, abs=2)
    standing = Standing()
    for _ in range(30):
        standing = standing.learned(lag_us(late) or 0)
    assert standing.lag_us == pytest.approx(7 * MS, abs=200)
    assert weigh(replace(late, lag_us=standing.lag_us)).added_us < 200
    for _ in range(100):
        standing = standing.learned(10**9)
    assert standing.lag_us == LAG_CAP_US, "and no liar teaches it more than that"
    assert lag_us(replace(late, claimed_us=None)) is None


@pytest.mark.parametrize("claimed_us", [3_600_000_000, 2**53])
def test_a_hand_from_the_future_is_a_clock_that_jumped(claimed_us: int) -> None:
    """The claim is worth nothing, so it is judged as one without stamps."""
    assert weigh(honest(412, claimed_us=claimed_us)) == weigh(honest(412, claimed_us=None))


@pytest.mark.parametrize("claimed_us", [-(2**53), -1, 0, 99_999])
def test_below_the_floor_no_hand_is_human(claimed_us: int) -> None:
    """It counts for the card that was painted, but a true quick hand beats it; no claim gets below what is proved."""
    assert weigh(honest(50, claimed_us=claimed_us)).accepted_us == FLOORED_US
    assert weigh(honest(500, claimed_us=claimed_us)).accepted_us == pytest.approx(500 * MS, abs=2)


def test_a_path_longer_than_the_cap_is_not_made_up_for_beyond_it() -> None:
    far = honest(300, rtt_ms=1_000, credit_ms=100)
    assert weigh(far).accepted_us == far.arrived_us - SHOWN_US - PATH_CAP_US


def test_who_answers_no_ping_is_judged_by_arrival() -> None:
    silent = honest(300, rtt_us=None, answered_us=None)
    assert weigh(silent).accepted_us == silent.arrived_us - SHOWN_US


def test_late_pongs_prove_nothing_where_the_kernel_knows_better() -> None:
    """Held back by 100 ms, pongs make a path look longer and a hand 50 ms quicker; the kernel's round trip tells."""
    prompt = honest(500, rtt_ms=40, claimed_us=350 * MS)
    assert prompt.answered_us is not None
    delayed = replace(prompt, rtt_us=140 * MS, answered_us=prompt.answered_us - 100 * MS)
    assert weigh(delayed).accepted_us == pytest.approx(450 * MS, abs=2)
    seen = replace(delayed, kernel_rtt_us=40 * MS)
    assert weigh(seen).accepted_us == seen.arrived_us - SHOWN_US - 20 * MS - PONG_LAG_US
    assert weigh(honest(500, rtt_ms=40, kernel_rtt_us=39 * MS)) == weigh(honest(500, rtt_ms=40))


def test_a_handicap_is_added_to_the_accepted_reaction() -> None:
    """R32"""
    assert weigh(honest(412, handicap_us=300 * MS)).accepted_us == weigh(honest(412)).accepted_us + 300 * MS


def test_a_computers_hand_is_what_it_is() -> None:
    """R31: it comes down here, so there is nothing to check."""
    computer = Evidence(Seat(1), 1, SHOWN_US, SHOWN_US + 600 * MS, None, None, computer=True)
    assert weigh(computer).accepted_us == 600 * MS


@given(
    claimed_us=st.none() | st.integers(-(2**53), 2**53),
    elapsed_us=st.integers(-(10**9), 10**10),
    rtt_us=st.none() | st.integers(0, 10**7),
    answered_ago_us=st.none() | st.integers(-(10**7), 10**8),
    credit_us=st.integers(0, CREDIT_CAP_US),
    late_us=st.none() | st.integers(-(2**53), 2**53),
)
def test_no_claim_breaks_the_judge(
    claimed_us: int | None,
    elapsed_us: int,
    rtt_us: int | None,
    answered_ago_us: int | None,
    credit_us: int,
    late_us: int | None,
) -> None:
    """Total: a hand within what is possible, credit never overdrawn, and nothing quicker than the floor."""
    arrived_us = SHOWN_US + elapsed_us
    answered_us = None if answered_ago_us is None else arrived_us - answered_ago_us
    evidence = Evidence(
        Seat(0), claimed_us, SHOWN_US, arrived_us, rtt_us, answered_us, credit_us=credit_us, late_us=late_us
    )
    judged = weigh(evidence)
    assert 0 <= judged.credit_us <= credit_us
    assert judged.added_us >= 0
    assert judged.accepted_us >= 100 * MS
    assert judged.accepted_us >= max(0, elapsed_us) - PATH_CAP_US - 1
    assert weigh(evidence) == judged


@given(claims=st.lists(st.integers(0, 10**6), min_size=2, max_size=6, unique=True))
def test_a_rivals_claim_moves_no_other_hand(claims: list[int]) -> None:
    """Each hand is weighed by its own evidence alone."""
    alone = [weigh(honest(500, claimed_us=claim)) for claim in claims]
    assert [weigh(honest(500, claimed_us=claim)) for claim in reversed(claims)] == alone[::-1]


def test_the_credit_refills_with_each_slap_card_up_to_its_cap() -> None:
    standing = Standing(credit_us=0)
    for _ in range(1_000):
        assert standing.credit_us < standing.refilled().credit_us or standing.credit_us == CREDIT_CAP_US
        standing = standing.refilled()
    assert standing.credit_us == CREDIT_CAP_US


def test_a_line_that_was_slow_before_the_card_pays_from_its_own_account_first() -> None:
    fresh = Standing(trouble_us=100 * MS)
    assert fresh.available_us(0) == CREDIT_START_US
    assert fresh.available_us(60 * MS) == CREDIT_START_US + 60 * MS
    assert fresh.available_us(900 * MS) == CREDIT_START_US + 100 * MS
    paid = fresh.charged(70 * MS, 60 * MS)
    assert (paid.trouble_us, paid.credit_us) == (40 * MS, CREDIT_START_US - 10 * MS)


# --- the window --------------------------------------------------------------------------------------------------


def contest(rivals: int = 3, *, local: tuple[int, ...] = (), call: bool = False) -> Contest:
    seats = frozenset(Seat(seat) for seat in range(rivals))
    return Contest(7, SHOWN_US, seats, frozenset(Seat(seat) for seat in local), call)


def at(ms: float) -> int:
    return SHOWN_US + round(ms * MS)


def test_nobody_has_moved_and_the_window_is_open() -> None:
    assert contest().closes_us(at(2_000)) is None
    assert contest().open_to() == {0, 1, 2}


def test_the_window_closes_when_no_rival_can_be_earlier() -> None:
    """A watermark past the leading hand, or a hand of their own."""
    leading = contest().hear(hand(0, 400), at(430))
    assert leading.closes_us(at(2_000)) == at(430) + WINDOW_CAP_US
    waiting = leading.raise_watermark(Seat(1), 399 * MS)
    assert waiting.open_to() == {1, 2}
    waiting = waiting.raise_watermark(Seat(1), 400 * MS)
    assert waiting.open_to() == {2}
    assert waiting.hear(hand(2, 450), at(520)).closes_us(at(2_000)) == at(430)


def test_a_page_that_owes_an_answer_is_waited_for() -> None:
    """Its pongs are past the leading hand, but a busy page may hold an earlier one."""
    ben = Seat(1)
    leading = contest(2).hear(hand(0, 400), at(430)).raise_watermark(ben, 401 * MS)
    asked = leading.ask({ben: at(400)}).answered(ben).ask({ben: at(440)}).ask({ben: at(480)})
    assert asked.closes_us(at(440) - 1) == at(430), "it is not late yet"
    assert asked.closes_us(at(440)) == at(440) + BUSY_US
    assert asked.closes_us(at(440) + BUSY_US) == at(440) + BUSY_US, "no page is busy for ever"
    assert asked.answered(ben).closes_us(at(450)) == at(430)
    assert asked.hear(hand(1, 420), at(460)).closes_us(at(460)) == at(430), "its hand is its answer"
    assert asked.hear(hand(1, 390), at(460)).closes_us(at(460)) == at(460)
    assert asked.among(frozenset({Seat(0)})).closes_us(at(460)) == at(430), "its phone is gone"
    assert leading.ask({ben: at(440)}).closes_us(at(460)) == at(430), "it has never answered: it is none of ours"
    late = leading.ask({ben: at(400)}).answered(ben).ask({ben: at(430) + WINDOW_CAP_US})
    assert late.closes_us(at(430) + WINDOW_CAP_US) == at(430) + WINDOW_CAP_US, "the cap is the cap"


def test_what_was_asked_about_hands_that_did_not_count_is_forgotten_with_them() -> None:
    """R13: nobody called, and the card lies there as if nobody had moved."""
    assert contest(2).hear(hand(0, 400), at(430)).ask({Seat(1): at(450)}).afresh() == contest(2)


def test_an_earlier_hand_that_arrives_later_takes_the_lead() -> None:
    judged = contest().hear(hand(0, 400), at(410)).hear(hand(1, 380), at(500))
    verdict = judged.verdict(1, at(600), lambda n: 0)
    assert verdict is not None
    assert verdict.winner == 1
    assert verdict.margin_us == 20 * MS
    assert verdict.wait_us == 190 * MS
    assert judged.closes_us(at(2_000)) == at(500) + WINDOW_CAP_US, "the cap counts from the leading hand"


def test_the_first_hand_of_a_seat_stands() -> None:
    """A double tap, or a second claim that is better, changes nothing."""
    once = contest().hear(hand(0, 400), at(410))
    assert once.hear(hand(0, 150), at(420)) is once


def test_a_watermark_never_goes_back() -> None:
    flagged = contest().raise_watermark(Seat(1), 300 * MS)
    assert flagged.raise_watermark(Seat(1), 200 * MS) is flagged


@given(
    arrivals=st.permutations(range(4)), reactions=st.lists(st.integers(200, 900), min_size=4, max_size=4, unique=True)
)
def test_the_verdict_does_not_depend_on_the_order_of_arrival(arrivals: list[int], reactions: list[int]) -> None:
    judged = contest(4)
    for order, seat in enumerate(arrivals):
        judged = judged.hear(hand(seat, reactions[seat]), at(1_000 + order))
    verdict = judged.verdict(1, at(2_000), lambda n: 0)
    assert verdict is not None
    assert verdict.winner == reactions.index(min(reactions))


def test_exactly_equal_hands_are_drawn_by_lot() -> None:
    """R18"""
    for order in permutations(range(3)):
        judged = contest()
        for seat in order:
            judged = judged.hear(hand(seat, 400), at(450))
        winners = [judged.verdict(1, at(450), lambda n, lot=lot: lot) for lot in range(3)]  # type: ignore[misc]
        assert {verdict.winner for verdict in winners if verdict is not None} == {0, 1, 2}
        assert all(verdict is not None and verdict.margin_us == 0 for verdict in winners)


def test_a_turn_covers_the_card_only_at_its_own_moment() -> None:
    """R3a, R6: nobody slapped, the turner was quick, and computers may still be."""
    turned = contest(3, local=(1,)).hear(hand(0, 800, cover=True), at(350))
    turned = turned.raise_watermark(Seat(0), 900 * MS).raise_watermark(Seat(2), 900 * MS)
    assert turned.closes_us(at(2_000)) == at(800)
    slapped = turned.hear(hand(1, 600), at(600))
    verdict = slapped.verdict(1, at(800), lambda n: 0)
    assert verdict is not None
    assert verdict.winner == 1
    covered = turned.verdict(1, at(800), lambda n: 0)
    assert covered is not None
    assert covered.winner is None


def test_a_handicapped_person_waits_for_the_computers_that_may_be_earlier() -> None:
    """R32: accepted at 700, while the computer has not come down yet."""
    judged = contest(2, local=(1,)).hear(hand(0, 700), at(420))
    assert judged.closes_us(at(2_000)) == at(700)


def test_a_hand_without_its_call_is_waited_for_and_then_passed_over() -> None:
    """R13"""
    judged = contest(2, call=True).hear(hand(0, 300), at(320)).hear(hand(1, 400), at(430)).hear_call(Seat(1))
    assert judged.closes_us(at(2_000)) == at(320) + CALL_AFTER_US
    verdict = judged.verdict(1, at(1_900), lambda n: 0)
    assert verdict is not None
    assert verdict.winner == 1
    assert [h.seat for h in verdict.hands] == [1, 0]
    called = judged.hear_call(Seat(0))
    assert called.closes_us(at(2_000)) == at(320)
    assert contest(2, call=True).hear(hand(0, 300), at(320)).verdict(1, at(2_000), lambda n: 0) is None


def test_whoever_leaves_takes_their_hand_along() -> None:
    """R25"""
    judged = contest().hear(hand(0, 300), at(320)).hear(hand(1, 400), at(430)).forget(Seat(0))
    verdict = judged.verdict(1, at(900), lambda n: 0)
    assert verdict is not None
    assert verdict.winner == 1
    assert 0 not in judged.open_to()


def test_too_close_is_within_the_tie_band_and_between_hands() -> None:
    """R18"""
    for gap_ms, close in ((7.9, True), (8.0, False)):
        judged = contest().hear(hand(0, 400), at(410)).hear(hand(1, 400 + gap_ms), at(420))
        verdict = judged.verdict(1, at(500), lambda n: 0)
        assert verdict is not None
        assert too_close(verdict) is close
    covered = contest().hear(hand(0, 800), at(810)).hear(hand(1, 801, cover=True), at(810))
    verdict = covered.verdict(1, at(900), lambda n: 0)
    assert verdict is not None
    assert not too_close(verdict)
    assert TIE_BAND_US == 8_000


def test_a_watermark_leaves_room_for_what_the_page_may_still_hold() -> None:
    answered_us, rtt_us = at(500), 100 * MS
    assert watermark_us(SHOWN_US, 5 * MS, rtt_us, answered_us) == 550 * MS - 5 * MS - SLACK_US
    assert watermark_us(SHOWN_US, None, rtt_us, answered_us) == 550 * MS - UNSEEN_US - SLACK_US
    assert watermark_us(SHOWN_US, 10**12, rtt_us, answered_us) == 550 * MS - UNSEEN_US - SLACK_US
    assert watermark_us(SHOWN_US, -(10**12), rtt_us, answered_us) == 550 * MS - SLACK_US


# --- the path ----------------------------------------------------------------------------------------------------


def test_the_lowest_round_trip_of_the_last_minutes() -> None:
    path = Path()
    assert path.rtt_us is None
    for sent_ms, rtt_ms in ((0, 80), (100, 50), (200, 90)):
        path = path.ponged(sent_ms * MS, (sent_ms + rtt_ms) * MS)
    assert path.rtt_us == 50 * MS
    assert path.answered_us == 200 * MS
    late_us = 150 * MS + LOWEST_OF_US + 1
    assert path.ponged(late_us, late_us + 70 * MS).rtt_us == 70 * MS


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 10**6)), min_size=1, max_size=50))
def test_the_filter_is_the_minimum_of_its_window(steps: list[tuple[int, int]]) -> None:
    path, now_us, seen = Path(), 0, []
    for gap_us, rtt_us in steps:
        now_us += gap_us
        path = path.ponged(now_us - rtt_us, now_us)
        seen.append((now_us, rtt_us))
        assert path.rtt_us == min(rtt for at_us, rtt in seen if at_us > now_us - LOWEST_OF_US)


def test_a_card_is_sent_as_early_as_few_round_trips_need() -> None:
    steady, shaky = Path(), Path()
    for number in range(200):
        now_us = number * 100 * MS
        steady = steady.ponged(now_us, now_us + 100 * MS)
        shaky = shaky.ponged(now_us, now_us + (100 + 40 * (number % 2)) * MS)
    assert steady.usual_us == pytest.approx(50 * MS, rel=0.1)
    assert 60 * MS < shaky.usual_us < 100 * MS


def test_what_a_phone_does_on_slap_cards_alone_changes_nothing_of_its_usual_line() -> None:
    path = Path()
    for number in range(50):
        path = path.ponged(number * 1000 * MS, (number * 1000 + 40) * MS)
    held = path
    for number in range(50, 90):
        held = held.ponged(number * 1000 * MS, (number * 1000 + 240) * MS, plain=False)
    for what in ("rtt_us", "usual_us", "jitter_us", "ahead_us"):
        assert getattr(held, what) == getattr(path, what)
    assert held.slow_us(50_000 * MS) == 0


def test_a_card_is_never_sent_much_sooner_than_the_shortest_way_needs() -> None:
    shaky = Path()
    for number in range(200):
        shaky = shaky.ponged(number * 100 * MS, (number * 100 + 100 + 90 * (number % 2)) * MS, 20 * MS)
    assert shaky.rtt_us == 100 * MS
    assert shaky.jitter_us == JITTER_CAP_US
    assert shaky.ahead_us == 10 * MS + AHEAD_US, "the kernel sees somebody who is nearer"


def test_a_neighbour_is_not_taken_for_the_phone_before_a_pong_came_as_quickly() -> None:
    """A carrier's proxy has a public address as well."""
    behind = Path().ponged(0, 200 * MS, 20 * MS)
    assert not behind.direct
    assert behind.ponged(300 * MS, 340 * MS, 20 * MS).ponged(400 * MS, 600 * MS, 20 * MS).direct


def test_how_slow_the_line_was_just_before_a_card() -> None:
    path = Path().ponged(0, 40 * MS).ponged(500 * MS, 740 * MS)
    assert path.slow_us(1_000 * MS) == 200 * MS
    assert path.slow_us(10_000 * MS) == 0, "that is long ago"


# --- the watch ---------------------------------------------------------------------------------------------------


def test_a_floor_claimer_is_marked_within_six_slaps() -> None:
    watch = CheatDetector()
    for _ in range(6):
        assert not watch.flagged or watch.one_in >= 1_000_000
        watch = watch.seen(RankedSlap(Seat(0), 101 * MS, 500 * MS, added_us=399 * MS), 8 * MS)
    assert watch.flagged
    assert watch.one_in >= 1_000_000


def test_an_honest_hand_in_thirty_corrected_marks_nobody() -> None:
    watch = CheatDetector()
    for number in range(10_000):
        added_us = 30 * MS if number % 30 == 0 else 0
        watch = watch.seen(RankedSlap(Seat(0), 450 * MS, 450 * MS + added_us, added_us=added_us), 8 * MS)
        assert not watch.flagged


def test_a_late_screen_explains_its_corrections() -> None:
    watch = CheatDetector()
    for _ in range(100):
        watch = watch.seen(RankedSlap(Seat(0), 450 * MS, 480 * MS, added_us=30 * MS), 40 * MS)
    assert not watch.flagged
