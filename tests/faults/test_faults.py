"""The short form of every promise that `make faults` puts to the test at length."""

from pathlib import Path

import pytest

from tests.faults.__main__ import ROWS


@pytest.mark.timeout(180)
@pytest.mark.parametrize("number", [number for number in ROWS if number != 20])  # which is tests/contracts
def test_a_promise_is_kept(number: int, tmp_path: Path) -> None:
    figure = ROWS[number](tmp_path, False)
    print(figure.text)
    assert figure.kept, figure.text
