"""The nearest thing to an iPhone here: join, turn, slap and reconnect in WebKitGTK; `make webkit`.

Needs Debian's webkit2gtk-driver and xvfb. Speaks WebDriver (W3C) by itself: it is a few questions over HTTP.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.serving import served

TIMEOUT_S = 30.0
BROWSER = sorted(str(found) for found in Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""How the protocol names an element."""


class WebKit:
    """One browser window."""

    def __init__(self, driver: str) -> None:
        self._driver = driver
        options = {"binary": BROWSER[-1], "args": ["--automation"]}
        asked = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        said = self._ask("POST", "/session", asked)
        self._session = f"/session/{said['sessionId']}"
        self.version = f"{said['capabilities']['browserName']} {said['capabilities']['browserVersion']}"
        self._ask("POST", f"{self._session}/window/rect", {"width": 400, "height": 844})

    def go(self, url: str) -> None:
        """Opens a page."""
        self._ask("POST", f"{self._session}/url", {"url": url})

    def run(self, script: str) -> Any:
        """What a script returns."""
        return self._ask("POST", f"{self._session}/execute/sync", {"script": script, "args": []})

    def tap(self, css: str) -> None:
        """A click in the middle of an element."""
        found = self._ask("POST", f"{self._session}/element", {"using": "css selector", "value": css})
        self._ask(
            "POST",
            f"{self._session}/actions",
            {
                "actions": [
                    {
                        "type": "pointer",
                        "id": "finger",
                        "parameters": {"pointerType": "mouse"},
                        "actions": [
                            {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": {ELEMENT: found[ELEMENT]}},
                            {"type": "pointerDown", "button": 0},
                            {"type": "pointerUp", "button": 0},
                        ],
                    }
                ]
            },
        )

    def wait(self, script: str, what: str) -> Any:
        """Comes back as soon as the script returns something true."""
        return wait_for(lambda: self.run(f"return {script}"), what)

    def close(self) -> None:
        """Closes the window."""
        self._ask("DELETE", self._session)

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        request = urllib.request.Request(
            self._driver + path,
            data=json.dumps(body or {}).encode() if method == "POST" else None,
            method=method,
            headers={"content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as wrong:
            raise AssertionError(f"{method} {path}: {wrong.read().decode()[:500]}") from None


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    """What the condition gives, as soon as that is something true."""
    deadline = time.monotonic() + TIMEOUT_S
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)
    return found


@contextmanager
def webkit(folder: Path) -> Iterator[WebKit]:
    """A browser on a display of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    screen = subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", "800x1000x24", "-nolisten", "tcp"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert screen.stdout is not None
    display = f":{int(screen.stdout.readline())}"
    with (folder / "webkit.log").open("wb") as log:
        driver = subprocess.Popen(
            ["WebKitWebDriver", "--host=127.0.0.1", f"--port={port}"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1"},
        )

    def answers() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=1):
                return True
        except OSError:
            return False

    try:
        wait_for(answers, "WebKitWebDriver")
        browser = WebKit(f"http://127.0.0.1:{port}")
        yield browser
        browser.close()
    finally:
        for process in (driver, screen):
            process.terminate()
            process.wait(TIMEOUT_S)


PILE = "document.querySelector('[data-testid=pile]')"


def main() -> int:
    """Plays; says what it saw."""
    if not BROWSER or not shutil.which("WebKitWebDriver") or not shutil.which("Xvfb"):
        print("no WebKitGTK here: apt-get install webkit2gtk-driver xvfb", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as server, webkit(Path(name)) as phone:
        print(phone.version)
        phone.go(server.url)
        phone.wait("document.querySelector('.ways .button:nth-of-type(2)') !== null", "the start page")
        phone.tap(".ways .button:nth-of-type(2)")
        phone.wait(f"{PILE} !== null", "a table with a computer player")
        print("joined", phone.run("return location.pathname"))

        phone.wait("document.querySelector('button.own')?.getAttribute('aria-disabled') === 'false'", "one's turn")
        before = phone.run(f"return Number({PILE}.dataset.nth)")
        phone.tap("button.own")
        phone.wait(f"Number({PILE}.dataset.nth) > {before}", "the turned card")
        print("turned", phone.run(f"return {PILE}.dataset.top"))

        phone.tap(".target")
        line = "document.querySelector('[data-testid=dealer]').textContent"
        phone.wait(f"{line}.includes('You slapped') && {line}", "the verdict")
        print("slapped:", phone.run(f"return {line}"))

        cards = phone.run("return document.querySelector('button.own strong').textContent")
        server.kill()
        phone.wait("document.body.textContent.includes('Connection lost')", "the lost connection to be told")
        server.start()
        phone.wait("document.body.textContent.includes('Back at the table')", "the way back")
        print(
            "reconnected:",
            phone.run("return document.querySelector('button.own strong').textContent"),
            "before:",
            cards,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
