"""Luck for tests: the same known deck whenever a whole deck is shuffled, and otherwise nothing twice."""

from collections.abc import Sequence
from math import factorial

from engine.cards import ENTROPY_BYTES, Card, Entropy, full_deck

ORDERS = factorial(52)


class StackedLuck:
    """Every draw shuffles a full deck into `deck`, and no two draws are alike.

    A shuffle of 52 cards looks at a draw modulo 52! only, so that there are thirty bits above for codes, seats and
    secrets to differ in. They count from 1: computer players find their luck at its lowest and are as quick as can be.
    Servers that play together must not draw alike, so each has had some `draws` before.
    """

    def __init__(self, deck: Sequence[Card], draws: int = 0) -> None:
        self._order = order_number(deck)
        self._draws = draws

    def draw(self) -> Entropy:
        """32 bytes that everybody who reads this can foresee."""
        self._draws += 1
        return Entropy((self._order + self._draws * ORDERS).to_bytes(ENTROPY_BYTES, "big"))


def order_number(deck: Sequence[Card]) -> int:
    """The number from which `engine.cards.shuffled` makes this order of a full deck."""
    order = list(full_deck())
    picks: list[int] = []
    for last in range(len(order) - 1, 0, -1):
        pick = order.index(deck[last])
        order[last], order[pick] = order[pick], order[last]
        picks.append(pick)
    number = 0
    for base, pick in zip(range(2, len(order) + 1), reversed(picks), strict=True):
        number = number * base + pick
    return number


def jacks_last() -> tuple[Card, ...]:
    """A deck of 48 cards that nobody may slap under the standard rules, and then the Jacks.

    Three seats turn all but three of them: whoever wins the first Jack leaves the others a card each, a Jack that is
    their last. The same seat winning these as well, the game is over with the 51st card.
    """
    deck = full_deck()
    return (*(card for card in deck if card[0] != "J"), *(card for card in deck if card[0] == "J"))
