"""`make evening`: one evening of play, to be watched where there is a display, told in lines everywhere.

    python -m tests.evening [WINS]

Leaves build/evening/sheet.png.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import sync_playwright
from redis import Redis

from tests.browser.conftest import ARGUMENTS
from tests.evening.evening import Evening
from tests.evening.sheet import Sheet
from tests.support.serving import ROOT
from tools.cluster import Cluster

FOLDER = ROOT / "build" / "evening"
WINS = 5


def spend(wins: int, place: Path, pictures: Path, tell: Callable[[str], None], *, watched: bool = False) -> Path:
    """Plays an evening; gives the contact sheet, which there is also when something goes wrong."""
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    arguments = [each for each in ARGUMENTS if not (watched and each.startswith("--headless"))]
    binary = shutil.which("chromium")
    with (
        Cluster(place) as cluster,
        Redis.from_url(f"unix://{place}/redis.sock") as store,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=binary, args=arguments, headless=not watched) as browser,
    ):
        sheet = Sheet(pictures)
        party = Evening(cluster, store, browser, place, sheet, tell)
        try:
            party.play(wins)
        finally:
            kept = sheet.keep(browser)
            party.close()
        return kept


def main() -> None:
    """Tells what happens, with the time."""
    begun_s = time.monotonic()

    def tell(line: str) -> None:
        print(f"{time.monotonic() - begun_s:6.1f} s  {line}", flush=True)

    wins = int(sys.argv[1]) if len(sys.argv) > 1 else WINS
    watched = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    with tempfile.TemporaryDirectory(prefix="slapjack-") as place:
        kept = spend(wins, Path(place), FOLDER, tell, watched=watched)
    tell(f"pictures: {kept.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
