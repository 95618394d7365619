"""Seeds of storms that once broke something; `make faults` tries new ones by the thousand (reliability 13)."""

import pytest

from tests.simulation.storms import weather

PINNED = {
    22: "a line that had died unnoticed took the seat from the one that came after it, for its look-up was slower",
    156: "a phone whose clock leapt while it asked for the time said a round trip that no message can hold",
    165: "as 22, from another side",
    2503: "a server whose clock had leapt played on for the hour in one go, 887 cards, while everybody else waited",
}


@pytest.mark.parametrize("seed", PINNED)
def test_what_once_went_wrong_goes_well(seed: int) -> None:
    storm = weather(seed)
    assert storm.told > 0
    assert sum(storm.faults.values()) > 0


def test_the_same_seed_is_the_same_storm() -> None:
    one, other = weather(7), weather(7)
    assert (one.told, one.faults, one.ground.cards) == (other.told, other.faults, other.ground.cards)
