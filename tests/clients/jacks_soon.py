"""The real server with Jacks near the top of its deck: `python -m tests.clients.jacks_soon`, set by its environment."""

import os

from engine.cards import Card, full_deck
from server.base.settings import read_settings
from server.serve import RealClock, serve
from tests.support.rng import StackedLuck

EARLY = 3
"""So many cards come before the Jacks."""


def jacks_soon() -> tuple[Card, ...]:
    """A few cards that nobody may slap under the standard rules, the Jacks, and then the rest."""
    others = [card for card in full_deck() if card[0] != "J"]
    return (*others[:EARLY], *(card for card in full_deck() if card[0] == "J"), *others[EARLY:])


if __name__ == "__main__":
    serve(read_settings(os.environ), RealClock(), StackedLuck(jacks_soon()))
