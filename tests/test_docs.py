"""The documents: every link leads somewhere, every path that is named is there, and the map has every room."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLACES = ("*.md", "docs/**/*.md", "engine/*.md", "clients/*/*.md", "deploy/*.md")
DOCUMENTS = sorted(found for place in PLACES for found in ROOT.glob(place))
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|md|sh|toml|ts|svelte|cfg|yml|json|txt|lua))`")
CODE = re.compile(r"^```.*?^```|^    .*?$", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
MADE = ("build/", "dist/", "test-output/")
"""What is named in the documents and comes into being only by what they describe."""


def anchors(document: Path) -> set[str]:
    """What the headings of a document can be linked by, as forges make it."""
    headings = HEADING.findall(re.sub(r"^```.*?^```", "", document.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(document: Path) -> Iterator[str]:
    """What a document leads to that is not there."""
    text = document.read_text("utf-8")
    for link in LINK.findall(CODE.sub("", text)):
        if "://" in link or link.startswith("mailto:"):
            continue
        place, _, anchor = link.partition("#")
        target = document.parent / place if place else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link
    for path in PATH.findall(text):
        if not path.startswith(MADE) and not any(
            (where / path).exists() for where in (ROOT, ROOT / "server", document.parent)
        ):
            yield path


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    assert list(broken(document)) == []


def test_the_map_has_every_room() -> None:
    told = (ROOT / "docs" / "map.md").read_text("utf-8")
    places = ("server/*.py", "server/*/*.py", "wire/*.py")
    files = [file for place in places for file in ROOT.glob(place) if not file.name.startswith("__")]
    rooms = [file.name for file in files if file.parent.name not in ("base", "store")]
    folders = [
        f"{folder.relative_to(ROOT)}/"
        for place in ("*/__init__.py", "clients/*/__init__.py", "server/*/__init__.py")
        for folder in (found.parent for found in ROOT.glob(place))
    ]
    assert [name for name in (*rooms, *folders) if name not in told] == []
