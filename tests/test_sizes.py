"""What `make check` says of modules, functions and classes that have grown too large."""

from pathlib import Path

import pytest

from tools import sizes


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A house with one room, and nothing in it."""
    monkeypatch.setattr(sizes, "ROOT", tmp_path)
    (tmp_path / "engine").mkdir()
    return tmp_path / "engine"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x = 1\n" * 401, "engine/game.py is 401 long, but at most 400 are allowed"),
        ("def deal():\n" + "    x = 1\n" * 60, "engine/game.py deal is 61 long, but at most 60 are allowed"),
        (
            "class Game:\n" + "".join(f"    def f{nth}(self): ...\n" for nth in range(26)),
            "engine/game.py Game is 26 long, but at most 25 are allowed",
        ),
    ],
)
def test_what_is_too_large_is_said(house: Path, text: str, what: str) -> None:
    (house / "game.py").write_text(text)
    assert sizes.too_large({}) == ([what], [])
    name = what.partition(" is ")[0]
    assert sizes.too_large({name: (500, "it must")}) == ([], [])


def test_an_exception_that_nothing_needs_is_said(house: Path) -> None:
    (house / "game.py").write_text("x = 1\n")
    assert sizes.too_large({"engine/game.py": (500, "it must")}) == ([], ["engine/game.py needs no exception any more"])
