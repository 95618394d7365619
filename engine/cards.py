"""Cards as two letters of text: rank then suit, `JS` is the Jack of Spades, `TD` the Ten of Diamonds.

Knows the deck, how to write it down and how chance becomes an order. Draws no chance itself.
"""

from collections.abc import Iterable, Sequence
from typing import NewType, TypeVar

Card = NewType("Card", str)
Entropy = NewType("Entropy", bytes)
"""32 bytes drawn uniformly: all the luck that one `step` may need."""

RANKS = "A23456789TJQK"
SUITS = "SHDC"
ENTROPY_BYTES = 32

T = TypeVar("T")


class DeckError(ValueError):
    """The deck is not 52 different cards (R1)."""


def full_deck() -> tuple[Card, ...]:
    """The 52 cards in a fixed order, no jokers (R1)."""
    return tuple(Card(rank + suit) for suit in SUITS for rank in RANKS)


def shuffled(cards: Iterable[T], entropy: Entropy) -> tuple[T, ...]:
    """The cards in an order that depends on `chance` alone.

    Fisher and Yates, fed from the digits of one 256-bit number in a mixed radix. 52! is below 2^226, so no order
    of a deck is likelier than another by more than one part in 2^30.
    """
    order = list(cards)
    random_source = int.from_bytes(entropy)
    for last in range(len(order) - 1, 0, -1):
        random_source, pick = divmod(random_source, last + 1)
        order[last], order[pick] = order[pick], order[last]
    return tuple(order)


def deck_text(deck: Sequence[Card]) -> str:
    """A deck as one line, first card to be dealt first: `JS 4H TD`."""
    return " ".join(deck)


def read_deck(text: str) -> tuple[Card, ...]:
    """The deck that `deck_text` wrote; raises `DeckError` unless it is a whole deck."""
    return whole_deck([Card(word) for word in text.split()])


def whole_deck(cards: Iterable[Card]) -> tuple[Card, ...]:
    """The cards as a tuple; raises `DeckError` naming what is missing, doubled or unknown (R1)."""
    deck = tuple(cards)
    known = full_deck()
    unknown = [card for card in deck if card not in known]
    missing = [card for card in known if card not in deck]
    doubled = [card for card in known if deck.count(card) > 1]
    for what, wrong in (("unknown", unknown), ("doubled", doubled), ("missing", missing)):
        if wrong:
            raise DeckError(f"R1: a deck is 52 different cards; {what}: {deck_text(wrong)}")
    return deck
