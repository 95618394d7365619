"""The short form of `make evening`: a single game, in which all of it happens."""

from pathlib import Path

import pytest

from tests.evening.__main__ import spend


@pytest.mark.timeout(400)
def test_an_evening_ends_with_a_champion(tmp_path: Path) -> None:
    """R29; R24, with another device; and a table that outlives its node."""
    spend(1, tmp_path, tmp_path / "pictures", print)
