"""Browsers as people have them: each feature that the page uses is taken away, and a game is played all the same."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.browser.phone import Phone

TAKEN_AWAY = {
    # Firefox before 120, Safari before 16.4: not one turn was sent.
    "userActivation": "delete Navigator.prototype.userActivation",
    "vibrate": "delete Navigator.prototype.vibrate",
    "wakeLock": "delete Navigator.prototype.wakeLock",
    "share and clipboard": "delete Navigator.prototype.share; delete Navigator.prototype.clipboard",
    "speech": "delete window.speechSynthesis",
    "sound": "delete window.AudioContext; delete window.webkitAudioContext",
    "storage": """for (const name of ["localStorage", "sessionStorage"])
        Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError") } })""",
    "secure context": "delete Crypto.prototype.randomUUID; delete Crypto.prototype.subtle",
    "observers": "delete window.ResizeObserver; delete window.IntersectionObserver; delete window.PerformanceObserver",
    "Array.at": "delete Array.prototype.at; delete Array.prototype.findLast; delete String.prototype.at",
    "structuredClone": "delete window.structuredClone",
    "animations": "delete Element.prototype.animate",
    "service worker": "delete Navigator.prototype.serviceWorker",
    "dialogs": "delete HTMLDialogElement.prototype.showModal",
    # Keyboards of an iPad stamp their events with 0; others blur every clock.
    "stamps": "Object.defineProperty(Event.prototype, 'timeStamp', { get: () => 0 })",
    "a fine clock": """const exact = performance.now.bind(performance);
        performance.now = () => Math.floor(exact() / 100) * 100;
        const stamp = Object.getOwnPropertyDescriptor(Event.prototype, "timeStamp").get;
        Object.defineProperty(Event.prototype, "timeStamp",
            { get() { return Math.floor(stamp.call(this) / 100) * 100 } })""",
}


@contextmanager
def beside_a_computer(phone: Callable[[str], Phone], taken_away: str) -> Iterator[Phone]:
    """Ann's phone without some feature, at a table that has been dealt."""
    ann = phone("Ann")
    ann.page.add_init_script(f"(() => {{ {taken_away} }})()")
    ann.open_table()
    ann.page.get_by_role("button", name="Add a computer player").tap()
    ann.sees_seat("Ada")
    ann.button("Start the game").tap()
    ann.wait_for_table()
    yield ann


@pytest.mark.timeout(90)
@pytest.mark.parametrize("feature", TAKEN_AWAY)
def test_a_game_is_played_without(feature: str, phone: Callable[[str], Phone]) -> None:
    with beside_a_computer(phone, TAKEN_AWAY[feature]) as ann:
        for _ in range(2):
            nth = ann.look().nth
            ann.turn()
            ann.wait_for_other_card(nth)
        ann.slap()
        nth = ann.look().nth
        ann.turn()
        ann.wait_for_other_card(nth)


def test_a_page_that_does_not_start_says_so(phone: Callable[[str], Phone]) -> None:
    """A television of 2020 knows no such scripts: a sentence, not an empty page."""
    ann = phone("Ann")
    ann.page.route("**/assets/*.js", lambda route: route.fulfill(body="const x = ;", content_type="text/javascript"))
    ann.page.goto("/")
    ann.sees("Slapjack does not start in this browser")
    ann.problems.clear()
