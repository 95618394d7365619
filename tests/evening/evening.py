"""One evening of play: three phones, a terminal, two bots and a television, each at the end of a line that lags.

They play one tournament. In the middle the node that has their table is killed, and one of them goes on with another
device. Every step is told as it happens, and pictured for the contact sheet.
"""

import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from playwright.sync_api import Browser, expect
from redis import Redis

from tests.browser.phone import TIMEOUT_MS, Phone, Seen
from tests.evening.sheet import Sheet
from tests.simulation.links import Network
from tests.support.lagging import lagging_lines
from tests.support.serving import ROOT
from tests.support.terminal import Tmux
from tools.cluster import Cluster

TABLET, TELEVISION = (768, 1024), (1920, 1080)
HOME, OLD_PHONE, TRAIN, FAR = (
    Network(rtt_ms=12, jitter_ms=4),
    Network(rtt_ms=60, jitter_ms=15, down_share=0.6),
    Network(rtt_ms=110, jitter_ms=30, stalled=0.02, stall_ms=150),
    Network(rtt_ms=180, jitter_ms=20, down_share=0.45),
)
CARDS = 24
"""A game that ends after fewer cards than the page offers: an evening that one can sit through."""
LONG_GAME = 40
"""One that is not over before all has happened in it."""
ALL_THERE = """() => {
    const stacks = [...document.querySelectorAll("[data-seat] strong [aria-hidden]")];
    const pile = Number.parseInt(document.querySelector("[data-testid=pile] ~ p")?.textContent || "0");
    return stacks.reduce((sum, stack) => sum + Number(stack.textContent), pile) === 52;
}"""
"""What the television shows while every card is in its place."""
LOOK_EVERY_S = 0.03
SLIPS = 0.02
"""One card in so many is slapped by mistake."""
QUICKEST_S = 0.12
"""From the look at the card; by then it has lain there for a while."""
GAME_S = 180.0
"""A game that takes longer is stuck."""


class Hands:
    """Somebody with a phone: turns when it is their turn, slaps Jacks and Queens, and now and then another card."""

    def __init__(self, phone: Phone, reaction_ms: int, rng: random.Random) -> None:
        self.phone = phone
        self._reaction_s = reaction_ms / 1000
        self._rng = rng
        self._nth = 0
        self._slap_s = self._turn_s = float("inf")

    def act(self, now_s: float) -> Seen:
        """Looks, and does what is due by now."""
        seen = self.phone.look()
        if seen.nth != self._nth:
            self._nth, self._turn_s, self._slap_s = seen.nth, float("inf"), float("inf")
            if seen.top and (seen.top[0] in "JQ" or (seen.cards and self._rng.random() < SLIPS)):
                self._slap_s = now_s + max(QUICKEST_S, self._rng.gauss(self._reaction_s, self._reaction_s / 5))
        if seen.mine and self._turn_s == float("inf"):
            self._turn_s = now_s + self._rng.uniform(0.3, 0.7)
        if now_s >= self._slap_s:
            self.phone.slap()
            self._slap_s = float("inf")
        elif seen.mine and now_s >= self._turn_s and self._slap_s == float("inf"):
            self.phone.tap_own_stack()
            self._turn_s = float("inf")
        return seen


class AtTerminal(threading.Thread):
    """Somebody with a keyboard, who reads what stands on the screen."""

    def __init__(self, terminal: Tmux, rng: random.Random) -> None:
        super().__init__(name="terminal")
        self._terminal = terminal
        self._rng = rng
        self._gone = threading.Event()

    def run(self) -> None:
        """Plays until it is time to go."""
        slapped = False
        while not self._gone.wait(LOOK_EVERY_S):
            screen = self._terminal.screen()
            picture = re.search(r"│ +(JACK|QUEEN) +│", screen) is not None
            if picture and not slapped:
                self._gone.wait(self._rng.uniform(0.15, 0.35))
                self._terminal.press("Space")
            elif "YOUR TURN" in screen and not picture:
                self._gone.wait(self._rng.uniform(0.2, 0.6))
                self._terminal.press("Enter")
            slapped = picture

    def go(self) -> None:
        """Stops playing."""
        self._gone.set()
        self.join()


class Evening:
    """Everybody at one table, and what happens there."""

    def __init__(
        self, cluster: Cluster, store: Redis, browser: Browser, place: Path, sheet: Sheet, tell: Callable[[str], None]
    ) -> None:
        self._cluster = cluster
        self._store = store
        self._browser = browser
        self._tell = tell
        self._place = place
        self._sheet = sheet
        self._stack = ExitStack()
        self._lines = self._stack.enter_context(lagging_lines(cluster.url))
        self._terminal = Tmux(place, 80, 24)
        self._stack.callback(self._terminal.ask, "kill-server")
        self.ann, self.ben, self.cleo = (
            self._device(name, line) for name, line in (("Ann", HOME), ("Ben", TRAIN), ("Cleo", OLD_PHONE))
        )
        self.wall = self._device("TV", HOME, TELEVISION)
        self._hands = [
            Hands(phone, reaction_ms, random.Random(phone.name))
            for phone, reaction_ms in ((self.ann, 200), (self.ben, 240), (self.cleo, 260))
        ]
        self._games = 0
        self._turned = 0

    def _device(self, name: str, line: Network, size: tuple[int, int] = (390, 844)) -> Phone:
        device = Phone(self._browser, self._lines.lay(line), name, self._place, size, sharpness=1)
        self._stack.callback(device.put_away)
        return device

    def close(self) -> None:
        """Everybody goes home."""
        self._stack.close()

    # --- the evening, step by step -----------------------------------------------------------------------------------

    def play(self, wins: int) -> None:
        """A tournament to so many wins, from the invitation to the champion; to one win all happens in one game."""
        code = self._gather(wins)
        self.ann.button("Start the game").tap()
        for each in (*self._phones(), self.wall):
            each.wait_for_table()
        self._tell("the first game is dealt")
        self._play_on(8)
        self._picture("in the first game", self.ann, self.ben, self.wall)
        self._picture_terminal("in the first game")
        for event in (self._kill_its_node, self._change_device):
            if wins > 1:
                self._play_on()
                self._between()
            self._play_on(5)
            event(code)
        while not self._champion():
            self._play_on()
            self._between()
        self._end(wins)

    def _gather(self, wins: int) -> str:
        code = self.ann.open_table()
        self._choose("First to", wins)
        self.ann.page.get_by_text("Every switch").tap()
        queens = self.ann.page.get_by_role("switch", name=re.compile("Queens count"))
        queens.tap()
        expect(queens).to_be_checked(timeout=TIMEOUT_MS)
        self._choose("Pace", 500)
        self._choose("Card limit", CARDS if wins > 1 else LONG_GAME)
        self.wall.page.goto(f"/tv/{code}")
        self.ben.follow_link(code)
        self.cleo.follow_link(code)
        self.ann.sees_seat("Cleo")
        self._tell(f"Ann has a table, {code}; Ben and Cleo have come by its link")

        self._terminal.run("play", f"{self._lines.lay(FAR)}/t/{code}", "--name", "Robin", "--guest")
        self.ann.sees_seat("Robin")
        robin = AtTerminal(self._terminal, random.Random("Robin"))
        robin.start()
        self._stack.callback(robin.go)
        self._stack.enter_context(_bots(code, self._lines.lay(HOME), self._place / "bots.log"))
        for name in ("Steady", "Learner"):
            self.ann.sees_seat(name)
        self._tell("Robin sits at a terminal, and two bots have been let in")
        self.ann.page.get_by_text("Every switch").tap()
        self.ann.page.get_by_role("heading", level=1).scroll_into_view_if_needed()
        self._picture("who has come", self.ann, self.cleo, self.wall)
        return code

    def _kill_its_node(self, code: str) -> None:
        owner = self._owner(code)
        self._cluster.kill(owner)
        self._tell(f"kill -9 of node {owner}, which has the table, in the middle of game {self._games + 1}")
        self._picture("killed", self.ben, self.wall)
        for phone in self._phones():
            phone.wait_for_table()
            expect(phone.page.get_by_text("Connection lost")).to_have_count(0, timeout=TIMEOUT_MS)
        self.wall.page.wait_for_function(ALL_THERE)
        assert self._owner(code) != owner
        self._tell(f"all are back, with their cards, on node {self._owner(code)}")
        self._picture("back", self.ben, self.wall)
        self._cluster.start(owner)

    def _change_device(self, code: str) -> None:
        self.cleo.page.goto("/move")
        self.cleo.button("Make a recovery code").tap()
        written = self.cleo.page.get_by_test_id("recovery").inner_text()
        self._picture("Cleo's battery is almost empty", self.cleo, self.wall)
        self.cleo.put_away()
        self._tell("Cleo has written down a recovery code, and her phone is off")

        tablet = self._device("Cleo", OLD_PHONE, TABLET)
        tablet.page.goto("/move")
        tablet.page.get_by_label("Your recovery code").fill(written)
        tablet.button("Move to this phone").tap()
        tablet.sees("Welcome back.")
        tablet.page.goto(f"/t/{code}")
        tablet.button("Take a seat").tap()
        tablet.wait_for_table()
        self.cleo = self._hands[2].phone = tablet
        self._tell("Cleo is back in her seat, with a tablet")
        self._picture("Cleo is back", self.cleo, self.wall)

    def _end(self, wins: int) -> None:
        scores = self._scores(self.ann)
        assert set(scores) == {"Ann", "Ben", "Cleo", "Robin", "Steady", "Learner"}, scores
        assert max(scores.values()) == wins, scores
        assert sum(scores.values()) >= self._games, "every game has a winner"
        self._terminal.reads("champion!")
        self._tell(f"{self._champion()} after {self._games} games: {scores}")
        self._picture("the end", *self._phones(), self.wall)
        self._picture_terminal("the end")
        self.ann.page.goto("/leaderboard")
        expect(self.ann.page.locator("[data-row]").first).to_be_visible()
        self._picture("the leaderboard", self.ann)
        problems = [problem for device in (*self._phones(), self.wall) for problem in device.problems]
        assert not problems, problems

    # --- what the steps are made of ----------------------------------------------------------------------------------

    def _play_on(self, cards: int = LONG_GAME) -> None:
        """Plays until so many more cards have been turned, or the game is over when that comes first."""
        enough = self._turned + cards
        gives_up_s = time.monotonic() + GAME_S
        while True:
            now_s = time.monotonic()
            assert now_s < gives_up_s, "a game is stuck"
            seen = [hands.act(now_s) for hands in self._hands]
            self._turned = max(self._turned, *(each.nth for each in seen))
            if any(each.over for each in seen) or self._turned >= enough:
                return
            time.sleep(LOOK_EVERY_S)

    def _between(self) -> None:
        """The break after a game, which all see alike; comes back with the next game dealt, if there is one."""
        self._games, self._turned = self._games + 1, 0
        for phone in self._phones():
            phone.sees("Win scores")
        scores = self._scores(self.ann)
        for phone in self._phones():
            assert self._scores(phone) == scores
        self._tell(f"game {self._games} is over: {scores}")
        self._picture(f"after game {self._games}", *((self.ann, self.ben) if self._games == 1 else ()), self.wall)
        if not self._champion():
            for phone in self._phones():
                phone.wait_for_table()

    def _owner(self, code: str) -> str:
        """The node that has the table."""
        owner = self._store.hget(f"slapjack:{{{code}}}:marks", "owner")
        assert isinstance(owner, bytes)
        return owner.decode().partition("/")[0]

    def _champion(self) -> str:
        titles = self.ann.page.get_by_text(re.compile(r"champions?!$"))
        return titles.first.inner_text() if titles.count() else ""

    def _scores(self, phone: Phone) -> dict[str, int]:
        return {name: int(wins.split()[0]) for name, wins in phone.wins("score").items()}

    def _phones(self) -> tuple[Phone, Phone, Phone]:
        return self.ann, self.ben, self.cleo

    def _choose(self, label: str, value: int) -> None:
        choice = self.ann.page.get_by_label(label)
        choice.evaluate("(select, value) => { select.add(new Option(value, value)); }", str(value))
        choice.select_option(str(value))
        expect(choice).to_have_value(str(value), timeout=TIMEOUT_MS)

    def _picture(self, what: str, *devices: Phone) -> None:
        for device in devices:
            self._sheet.add(f"{device.name}: {what}", device.page.screenshot())

    def _picture_terminal(self, what: str) -> None:
        self._sheet.add_terminal(f"Robin: {what}", self._terminal.picture())


@contextmanager
def _bots(code: str, url: str, log: Path) -> Iterator[None]:
    """Two bots of different tempers at the table."""
    policies = ("--policy", "steady", "--policy", "learner")
    with log.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "clients.command", "bots", code, "--server", url, "--seats", "2", *policies],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(TIMEOUT_MS / 1000)
