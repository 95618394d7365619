"""A browser, phones in it and a server for them. Screenshots go to build/screens."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.phone import Phone
from tests.support.serving import ROOT, Served, served

SCREENS = ROOT / "build" / "screens"

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-breakpad",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The machine's own Chromium. Not for the whole session: while it runs no other test can have an event loop."""
    assert (ROOT / "clients" / "web" / "dist" / "index.html").is_file(), "the page has not been built: make web"
    assert CHROMIUM, "no Chromium on this machine: make test installs it"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS, ignore_default_args=["--disable-back-forward-cache"]
        )
        yield browser
        browser.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    """A server with a data folder of its own, the Jacks last in its deck."""
    with served(tmp_path) as running:
        yield running


@pytest.fixture
def phone(chromium: Browser, server: Served, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[str], Phone]]:
    """Gives a phone to somebody of that name. What went wrong on any of them fails the test."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    phones: list[Phone] = []

    def hand_out(name: str) -> Phone:
        phones.append(Phone(chromium, server.url, name, SCREENS))
        return phones[-1]

    yield hand_out
    for each in phones:
        each.put_away()
    if shots := [shot for each in phones for shot in each.shots]:
        with capsys.disabled():
            print(f"\nscreenshots in {SCREENS.relative_to(ROOT)}: {', '.join(shots)}")
    assert [problem for each in phones for problem in each.problems] == []
