"""A phone in somebody's hand: a touch screen of 390 by 844, and the few things that a person does with it."""

import re
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Locator, expect

TIMEOUT_MS = 30_000
OFFLINE = re.compile(r"WebSocket connection to|net::ERR_|WebSocket is already in CLOSING")
"""What Chromium itself says when the server or the network is gone, as it is meant to be in these tests."""

LOOK = """() => {
    const own = document.querySelector("button.own");
    const pile = document.querySelector("[data-testid=pile]");
    return {
        nth: Number(pile?.dataset.nth ?? 0),
        top: pile?.dataset.top ?? "",
        mine: own !== null && own.getAttribute("aria-disabled") !== "true",
        cards: Number.parseInt(own?.querySelector("strong")?.textContent ?? "0"),
        over: pile === null,
    };
}"""


@dataclass(frozen=True)
class Seen:
    """What the table looks like: the number and face of the top card, whose turn, one's own cards."""

    nth: int
    top: str
    mine: bool
    cards: int
    over: bool


class Phone:
    """One browser context with one page in it; another size makes it a tablet, or a television."""

    def __init__(
        self,
        browser: Browser,
        url: str,
        name: str,
        screens: Path,
        size: tuple[int, int] = (390, 844),
        sharpness: int = 2,
    ) -> None:
        self.name = name
        self.problems: list[str] = []
        self.shots: list[str] = []
        self._screens = screens
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            device_scale_factor=sharpness,
            is_mobile=True,
            has_touch=True,
            locale="en-GB",
            base_url=url,
        )
        self.context.set_default_timeout(TIMEOUT_MS)
        self.page = self.context.new_page()
        self._debugger = self.context.new_cdp_session(self.page)
        self.page.on("console", self._hear_console)
        self.page.on("pageerror", lambda error: self.problems.append(f"{name}: {error}"))
        self.page.on("dialog", lambda dialog: self.problems.append(f"{name}: a dialog says {dialog.message}"))

    def open_table(self) -> str:
        """From the start page to a new table; its code."""
        self.page.goto("/")
        self.page.get_by_label("Your name").fill(self.name)
        self.button("New table").tap()
        self.page.wait_for_url("**/t/*")
        return self.page.url.rsplit("/", 1)[1]

    def follow_link(self, code: str) -> None:
        """From the link in a message to a seat at the table."""
        self.page.goto(f"/t/{code}")
        self.page.get_by_label("Your name").fill(self.name)
        self.button("Take a seat").tap()

    def button(self, name: str) -> Locator:
        """The button of that name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def sees(self, text: str) -> None:
        """Waits until that stands on the screen."""
        expect(self.page.get_by_text(text).first).to_be_visible(timeout=TIMEOUT_MS)

    def sees_seat(self, name: str, *words: str) -> None:
        """Waits until the lobby shows a seat of that name, and these words beside it."""
        seat = self.page.locator(f'[data-seat="{name}"]')
        for word in words or (name,):
            expect(seat).to_contain_text(word, timeout=TIMEOUT_MS)

    def wins(self, of: str) -> dict[str, str]:
        """The win scores as they stand on the screen; `of` is `score` after a game, `seat` in the lobby."""
        # All of it at one moment: the next deal does not wait for whoever reads row after row.
        rows = self.page.locator(f"[data-{of}]").evaluate_all(
            f"rows => rows.map(row => [row.dataset.{of}, row.innerText])"
        )
        return {name: re.findall(r"\d+ wins?", text)[0] for name, text in rows}

    def look(self) -> Seen:
        """What the table looks like now."""
        return Seen(**self.page.evaluate(LOOK))

    def wait_for_table(self) -> None:
        """Waits until cards are on the table."""
        self.page.get_by_test_id("pile").wait_for(state="attached")

    def wait_for_other_card(self, nth: int) -> None:
        """Waits until another card than `nth` is on top, or the game is over."""
        self.page.wait_for_function(
            f"nth => {{ const now = ({LOOK})(); return now.over || now.nth !== nth; }}", arg=nth
        )

    def wait_for_card(self, nth: int) -> None:
        """Waits until card `nth`, or a later one, is on top. Another phone's page may have shown it already."""
        self.page.wait_for_function(f"nth => ({LOOK})().nth >= nth", arg=nth)

    def turn(self) -> None:
        """A tap on one's own stack, once it is one's turn."""
        self.page.wait_for_function(f"() => {{ const now = ({LOOK})(); return now.over || now.mine; }}")
        self.tap_own_stack()

    def tap_own_stack(self) -> None:
        """A tap on one's own stack, while there is one."""
        own = self.page.evaluate("() => document.querySelector('button.own')?.getBoundingClientRect().toJSON()")
        if own is not None:
            self.page.touchscreen.tap(own["x"] + own["width"] / 2, own["y"] + own["height"] / 2)

    def slap(self) -> None:
        """A flat hand on the middle of the table."""
        self.page.touchscreen.tap(195, 480)

    def shoot(self, what: str) -> None:
        """A screenshot, for people to look at."""
        name = f"{what}-{self.name.lower()}.png"
        self.page.screenshot(path=self._screens / name)
        self.shots.append(name)

    def lock(self) -> None:
        """The screen goes dark: the page is hidden and none of its scripts runs, though the network goes on."""
        self._hide(True)
        self._debugger.send("Debugger.enable")
        self._debugger.send("Debugger.pause")

    def unlock(self) -> None:
        """The page is back on the screen."""
        self._debugger.send("Debugger.disable")
        self._hide(False)

    def _hide(self, hidden: bool) -> None:
        # A page without a window is never hidden, so it has to be told.
        self.page.evaluate(
            """hidden => {
                Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
                document.dispatchEvent(new Event("visibilitychange"));
            }""",
            hidden,
        )

    def put_away(self) -> None:
        """Closes the page."""
        self.context.close()

    def _hear_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not OFFLINE.search(message.text):
            self.problems.append(f"{self.name}: {message.text}")
