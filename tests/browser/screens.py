"""The whole set of screens as pictures, in both themes and the longest language: `python -m tests.browser.screens`.

With names of scenes only those. Pictures go to build/screens, one folder for each way of looking.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.conftest import ARGUMENTS, SCREENS
from tests.browser.scenes import SCENES
from tests.support.serving import served

PHONE, TELEVISION = (390, 844), (1920, 1080)
WAYS = {
    "light": ("light", "en", PHONE),
    "dark": ("dark", "en", PHONE),
    "longest": ("light", "de", PHONE),
    "small": ("light", "fr", (360, 640)),
    "tablet": ("dark", "en", (768, 1024)),
    "laptop": ("light", "en", (1280, 800)),
}
"""How to look: theme, language, size of the screen."""


def main(names: list[str]) -> None:
    """Takes the pictures."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for way, (theme, language, size) in WAYS.items():
            (SCREENS / way).mkdir(parents=True, exist_ok=True)
            for scene in SCENES:
                if names and scene.name not in names:
                    continue
                width, height = TELEVISION if scene.name.startswith("tv") else size
                context = browser.new_context(
                    base_url=server.url,
                    viewport={"width": width, "height": height},
                    has_touch=True,
                    color_scheme="dark" if theme == "dark" else "light",
                    service_workers="block",
                )
                page = scene.set(context, language)
                page.screenshot(path=SCREENS / way / f"{scene.name}.png", full_page=not scene.path.startswith("/t"))
                context.close()
            print(f"{SCREENS / way}", flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
