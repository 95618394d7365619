"""Dealing: from rules, a deck and the number of seats to a game in its first state.

Knows every game by name; the only page that does. Plays nothing.
"""

from collections.abc import Sequence

from engine.cards import Card, whole_deck
from engine.game import Seat
from engine.rules import Conflict, GameName, Rules, RulesError
from engine.seats import clockwise, dealt
from engine.slapjack import Slapjack
from engine.war import War

AnyGame = Slapjack | War
"""What a snapshot of a game in progress decodes to."""


def deal(
    rules: Rules, deck: Sequence[Card], seats: int, dealer: Seat, persons: tuple[bool, ...] | None = None
) -> AnyGame:
    """A new game: all cards dealt one at a time, clockwise from the dealer's left, each under those before it (R2).

    So the deck read from its start is the order in which the cards will be turned, while nobody wins any. `persons`
    says which seats are people and not computer players (R19); without it all are. Raises `DeckError` unless the deck
    is 52 different cards (R1), and `RulesError` where the rules exclude each other or are out of range, or the seats
    are too few, too many or not there. Nothing is built before all of that has been looked at.
    """
    conflicts = rules.conflicts() + rules.seat_conflicts(seats)
    if not conflicts and (type(dealer) is not int or not 0 <= dealer < seats):
        conflicts += (Conflict("R2", f"The dealer must be one of the seats 0 to {seats - 1}, not {dealer}."),)
    if not conflicts and persons is not None and len(persons) != seats:
        conflicts += (Conflict("R2", f"It must be known of all {seats} seats who is a person, not of {len(persons)}."),)
    if conflicts:
        raise RulesError(conflicts)
    people = (True,) * seats if persons is None else persons
    order = clockwise(dealer, seats)
    stacks = dealt(whole_deck(deck), order, seats)
    if rules.game is GameName.WAR:
        return War(rules=rules, stacks=stacks, first=order[0])
    return Slapjack(rules=rules.in_force(), persons=people, stacks=stacks, out=(False,) * seats, after=dealer)
