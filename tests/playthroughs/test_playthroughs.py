"""The told games are those that are played now, and no card is named before everybody has seen it (R3)."""

import re

import pytest

from engine.rules import PRESETS
from tests.playthroughs.tell import FOLDER, dealt, played, told

CARD = re.compile(r"\b[A2-9TJQK][SHDC]\b")
TURNED = re.compile(r"turns ([A2-9TJQK][SHDC])\b")


@pytest.mark.parametrize("name", PRESETS)
def test_the_game_is_as_it_is_told(name: str) -> None:
    """After a wanted change: `python -m tests.playthroughs.tell --write`, and read what is different."""
    assert told(name, PRESETS[name]) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PRESETS)
def test_r3_no_card_is_seen_before_it_is_turned(name: str) -> None:
    seen: set[str] = set()
    for text, _ in played(*dealt(name, PRESETS[name])):
        seen |= set(TURNED.findall(text))
        assert set(CARD.findall(text)) <= seen
