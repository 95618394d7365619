"""The whole set of screens as pictures, in both themes and the longest language: `python -m tests.browser.screens`.

With names of scenes only those. Pictures go to build/screens, one folder for each way of looking. With `strip` it takes
the README's, which goes to docs.
"""

import shutil
import sys
import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from tests.browser.conftest import ARGUMENTS, SCREENS
from tests.browser.scenes import SCENES, Scene
from tests.support.serving import ROOT, served

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
STRIP = ("lobby-guest", "hand", "photo-finish", "champion")


def take(browser: Browser, url: str, scene: Scene, way: str, **how: Any) -> bytes:
    """A picture of a scene, looked at in one of the ways."""
    theme, language, size = WAYS[way]
    width, height = TELEVISION if scene.name.startswith("tv") else size
    context = browser.new_context(
        base_url=url,
        viewport={"width": width, "height": height},
        has_touch=True,
        color_scheme="dark" if theme == "dark" else "light",
        service_workers="block",
    )
    picture = scene.set(context, language).screenshot(**how)
    context.close()
    return picture


def strip(browser: Browser, url: str) -> None:
    """Several phones side by side."""
    scenes = {scene.name: scene for scene in SCENES}
    images = [b64encode(take(browser, url, scenes[name], "light")).decode() for name in STRIP]
    page = browser.new_page(viewport={"width": (PHONE[0] + 20) * len(STRIP) - 20, "height": PHONE[1]})
    page.set_content(
        '<body style="margin: 0; display: flex; gap: 20px; background: #fff">'
        + "".join(f'<img src="data:image/png;base64,{image}" style="border-radius: 24px">' for image in images)
    )
    page.screenshot(path=ROOT / "docs" / "strip.jpg", type="jpeg", quality=80)


def main(names: list[str]) -> None:
    """Takes the pictures."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        if names == ["strip"]:
            strip(browser, server.url)
            return
        for way in WAYS:
            (SCREENS / way).mkdir(parents=True, exist_ok=True)
            for scene in SCENES:
                if names and scene.name not in names:
                    continue
                picture = SCREENS / way / f"{scene.name}.png"
                take(browser, server.url, scene, way, path=picture, full_page=not scene.path.startswith("/t"))
            print(f"{SCREENS / way}", flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
