"""A contact sheet: all the pictures of an evening on one page, as build/evening/sheet.html and sheet.png."""

import html
import re
from io import StringIO
from pathlib import Path

from playwright.sync_api import Browser
from rich.console import Console
from rich.text import Text

STYLE = """
body { margin: 24px; background: #1c1f1d; color: #eee; font: 15px/1.3 system-ui, sans-serif }
main { display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start }
figure { margin: 0 } figcaption { padding: 4px 0 }
img { display: block; height: 480px }
pre { margin: 0; height: 480px; overflow: hidden; background: #000; font: 13px/17.5px "DejaVu Sans Mono", monospace }
"""
WIDTH = 2000


class Sheet:
    """The pictures in the order in which they were taken, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._figures: list[str] = []

    def add(self, caption: str, png: bytes) -> None:
        """A screenshot, which is also kept by itself."""
        words = re.sub(r"[^a-z0-9]+", "-", caption.lower())
        file = f"{len(self._figures) + 1:02}-{words}.png"
        (self._folder / file).write_bytes(png)
        self._add(caption, f'<img src="{file}" alt="">')

    def add_terminal(self, caption: str, ansi: str) -> None:
        """What stands in a terminal, with its colours."""
        console = Console(record=True, width=80, file=StringIO())
        console.print(Text.from_ansi(ansi))
        self._add(caption, console.export_html(inline_styles=True, code_format="<pre>{code}</pre>"))

    def _add(self, caption: str, picture: str) -> None:
        self._figures.append(f"<figure>{picture}<figcaption>{html.escape(caption)}</figcaption></figure>")

    def keep(self, browser: Browser) -> Path:
        """Writes the sheet, and gives its picture."""
        page, picture = self._folder / "sheet.html", self._folder / "sheet.png"
        page.write_text(
            f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style><main>{"".join(self._figures)}</main>',
            encoding="utf-8",
        )
        shown = browser.new_page(viewport={"width": WIDTH, "height": 800})
        shown.goto(page.as_uri())
        shown.screenshot(path=picture, full_page=True)
        shown.close()
        return picture
