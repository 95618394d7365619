"""The main job in a real browser: two phones and a computer player finish a game, and the score outlives the server."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import SCREENS
from tests.browser.phone import TIMEOUT_MS, Phone
from tests.support.serving import Served, served
from wire.codec import read_server_message
from wire.messages import Update, Verdict

# With the Jacks last a game is over in about 51 cards. Whoever has won the first of them must win the others too, so
# from then on only the bigger stack slaps.
BIG_STACK = 20


def play(phones: list[Phone], until_nth: int = 10_000) -> None:
    """Turns cards and slaps Jacks by touch, until that card is on top or the game is over."""
    nth = 0
    while not (seen := phones[0].look()).over and nth < until_nth:
        if seen.top.startswith("J"):
            stacks = [phone.look().cards for phone in phones]
            for phone, cards in zip(phones, stacks, strict=True):
                if max(stacks) < BIG_STACK or cards == max(stacks):
                    phone.slap()
        else:
            for phone in phones:
                if phone.look().mine:
                    phone.turn()
        phones[0].wait_for_other_card(nth)
        nth = phones[0].look().nth


def seated(phone: Callable[[str], Phone]) -> tuple[Phone, Phone]:
    """Ann and Ben at Ann's table."""
    ann, ben = phone("Ann"), phone("Ben")
    ben.follow_link(ann.open_table())
    ann.sees_seat("Ben")
    return ann, ben


@pytest.mark.timeout(180)
def test_two_phones_and_a_computer_play_and_the_score_outlives_the_server(
    phone: Callable[[str], Phone], server: Served
) -> None:
    both = ann, ben = seated(phone)
    ann.sees_seat("Ann", "you", "host")
    ann.page.get_by_role("slider").fill("1500")
    ann.page.get_by_role("button", name="Add a computer player").tap()
    ben.sees_seat("Ada", "computer", "1500 ms")
    ann.page.get_by_text("Every switch").tap()
    ann.page.get_by_label("Pace").select_option("500")
    ann.shoot("lobby")
    ann.button("Start the game").tap()
    for each in both:
        each.wait_for_table()

    play([ann, ben], until_nth=8)
    ann.shoot("table")
    play([ann, ben])
    for each in both:
        each.sees("Win scores")
    ann.button("Hold the next deal").tap()
    ann.sees("The next deal waits for you")
    scores = ann.wins("score")
    assert ben.wins("score") == scores
    assert sorted(scores) == ["Ada", "Ann", "Ben"]
    assert sorted(scores.values()) == ["0 wins", "0 wins", "1 win"]
    assert scores["Ada"] == "0 wins", "a hand on the glass is quicker than a sleepy computer"
    ann.shoot("score")

    server.kill()
    for each in both:
        each.sees("Connection lost")
    ben.shoot("lost")
    server.start()
    for each in both:
        for name, wins in scores.items():
            each.sees_seat(name, wins)
        expect(each.page.get_by_text("Connection lost")).to_have_count(0, timeout=TIMEOUT_MS)
        expect(each.page.locator("li.away")).to_have_count(0, timeout=TIMEOUT_MS)
        assert each.wins("seat") == scores
    ann.sees_seat("Ann", "you", "host")
    ben.sees_seat("Ben", "you")
    ben.shoot("back")
    ann.button("Start the game").tap()
    for each in both:
        each.wait_for_table()
        assert each.look().cards > 0


@pytest.mark.timeout(90)
def test_a_phone_without_network_finds_its_seat_and_cards_again(phone: Callable[[str], Phone]) -> None:
    """R24: in the middle of a game, and by itself."""
    ann, ben = seated(phone)
    ann.button("Start the game").tap()
    for each in (ann, ben):
        each.wait_for_table()
    play([ann, ben], until_nth=3)
    ann.turn()
    cards = ben.look().cards
    ben.context.set_offline(True)
    ben.sees("Connection lost")
    ben.shoot("gone")
    ben.context.set_offline(False)
    ben.sees("Back at the table")
    assert cards - 1 <= ben.look().cards <= cards
    play([ann, ben], until_nth=8)
    ben.wait_for_card(8)


@pytest.mark.timeout(90)
def test_a_locked_phone_is_up_to_date_when_it_is_unlocked(phone: Callable[[str], Phone], server: Served) -> None:
    """R24: after a while, and after its connection has gone."""
    ann, ben = seated(phone)
    ann.button("Start the game").tap()
    for each in (ann, ben):
        each.wait_for_table()
    ben.turn()
    ann.wait_for_other_card(0)
    ben.lock()
    ann.turn()
    ann.wait_for_other_card(1)
    ben.unlock()
    ben.wait_for_other_card(1)
    play([ann, ben], until_nth=5)
    ben.wait_for_card(5)

    ben.lock()
    server.kill()
    server.start()
    away = ann.page.get_by_text("away", exact=True)
    expect(away).to_be_visible(timeout=TIMEOUT_MS)
    ben.unlock()
    ben.sees("Back at the table")
    expect(away).to_have_count(0, timeout=TIMEOUT_MS)
    play([ann, ben], until_nth=9)
    ben.wait_for_card(9)


@pytest.mark.parametrize("name", ["&lt;i&gt;Eve", "{{7*7}}${7*7}", '" onload="pwn()', "javascript:pwn()", "‮evE"])
def test_a_hostile_name_is_text(phone: Callable[[str], Phone], name: str) -> None:
    """On every screen on which it stands."""
    ann, eve = phone("Ann"), phone(name)
    eve.follow_link(ann.open_table())
    shown = name.replace("‮", "")
    seat = ann.page.locator("[data-seat]").nth(1)
    expect(seat.locator(".name")).to_have_text(shown, timeout=TIMEOUT_MS)
    ann.button("Start the game").tap()
    for each in (ann, eve):
        each.wait_for_table()
    expect(ann.page.get_by_text(f"{shown}’s turn")).to_be_visible(timeout=TIMEOUT_MS)
    for each in (ann, eve):
        assert each.page.locator("i, script:not([src]), iframe, object, [onload], [onerror]").count() == 0


@pytest.mark.parametrize("name", ["<b>Eve</b>", "<script>pwn()"])
def test_a_name_of_markup_is_asked_for_again(phone: Callable[[str], Phone], name: str) -> None:
    ann, eve = phone("Ann"), phone(name)
    eve.follow_link(ann.open_table())
    eve.sees("Please pick another name")
    eve.page.get_by_label("Your name").fill("Eve")
    eve.button("Take a seat").tap()
    ann.sees_seat("Eve")


BUSY_MS = 100
"""So long Ben's page is at something else, while the dealer waits for its word."""

BUSY = """([startMs, lastsMs]) => {
    addEventListener("pointerdown", event => {
        window.handMs = performance.timeOrigin + event.timeStamp;
        window.toldMs = Date.now();
    }, { capture: true, once: true });
    setTimeout(() => {
        window.busyMs = Date.now();
        while (Date.now() < window.busyMs + lastsMs);
    }, startMs - Date.now());
}"""

HAND = """handMs => {
    const at = { clientX: 195, clientY: 480, bubbles: true };
    const slap = () => {
        window.handMs = Date.now();
        document.elementFromPoint(at.clientX, at.clientY).dispatchEvent(new PointerEvent("pointerdown", at));
    };
    setTimeout(slap, handMs - Date.now());
}"""


WAITED_US = 70_000
"""Whoever is told of a verdict later than that was waited for, and a busy machine was late."""


@pytest.mark.timeout(120)
def test_a_hand_on_a_page_that_is_busy_is_waited_for(chromium: Browser, tmp_path: Path) -> None:
    """R4: all the while Chromium answers pings; and it hands on the dealer's question before the earlier touch."""
    verdicts: list[Verdict] = []

    def hear(frame: bytes | str) -> None:
        told = read_server_message(frame) if isinstance(frame, bytes) else None
        if isinstance(told, Update) and told.verdict is not None:
            verdicts.append(told.verdict)

    with served(tmp_path, module="tests.clients.jacks_soon") as server:
        ann, ben = Phone(chromium, server.url, "Ann", SCREENS), Phone(chromium, server.url, "Ben", SCREENS)
        ann.page.on("websocket", lambda socket: socket.on("framereceived", hear))
        as_meant = False
        while not as_meant:  # a busy machine is late with a touch or a word: another table
            verdicts.clear()
            ben.follow_link(ann.open_table())
            ann.sees_seat("Ben")
            ann.button("Start the game").tap()
            for each in (ann, ben):
                each.wait_for_table()
            while not (seen := ann.look()).top.startswith("J"):
                play([ann, ben], until_nth=seen.nth + 1)
            ben.wait_for_card(seen.nth)
            busy_ms = time.time() * 1000 + 300
            ben.page.evaluate(BUSY, [busy_ms, BUSY_MS])
            ann.page.evaluate(HAND, busy_ms + 60)
            time.sleep(max(0.0, busy_ms / 1000 + 0.01 - time.time()))
            ben.slap()
            ann.wait_for_other_card(seen.nth)
            busy_ms, bens_ms, told_ms = ben.page.evaluate("[busyMs, handMs, toldMs]")
            anns_ms = ann.page.evaluate("handMs")
            while not verdicts:
                ann.page.wait_for_timeout(10)
            hands = {hand.seat for hand in verdicts[-1].hands}
            as_meant = busy_ms < bens_ms < anns_ms < told_ms < anns_ms + 60
            as_meant = as_meant and (len(hands) == 2 or verdicts[-1].wait_us < WAITED_US)
        assert hands == {0, 1}, "Ben's hand was down first, though his page said so last"
        assert not ann.problems + ben.problems
        for each in (ann, ben):
            each.put_away()
