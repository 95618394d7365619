"""What a player is told of the rules in force: one plain sentence a statement, with its rule numbers.

Knows which statement holds under which rules. Page and terminal show these; their other languages are the page's.
"""

from typing import Any

from engine.rules import Rules
from engine.value import Value

_SLAP = {"game": ("slapjack", "duel")}
_STANDARD = {"game": ("slapjack",)}


class Statement(Value):
    """One sentence for players, the rules that it tells, and the choices under which it holds.

    `when` has for a field of `Rules` the values of which one must be chosen; a field that is not there may be anything.
    """

    sentence: str
    rules: tuple[str, ...]
    when: dict[str, tuple[str | bool, ...]]

    def holds(self, rules: Rules) -> bool:
        """Whether it is true at a table with these rules, which are those in force (`Rules.in_force`)."""
        return all(getattr(rules, field) in values for field, values in self.when.items())


def _say(sentence: str, *rules: str, **when: tuple[Any, ...]) -> Statement:
    return Statement(sentence, rules, when)


STATEMENTS = {
    "turns": _say(
        "Turn your top card onto the pile when it is your turn: clockwise, past who has none.", "R3", **_SLAP
    ),
    "slap": _say("Slap a Jack: the first hand takes the whole pile.", "R4", "R11", **_SLAP),
    "queens": _say("Queens may be slapped too.", "R11", **_SLAP, queens=(True,)),
    "doubles": _say("Slap a double: two cards of one rank, one on the other.", "R11", **_SLAP, doubles=(True,)),
    "sandwiches": _say("Slap a sandwich: one rank, with one card between.", "R11", **_SLAP, sandwiches=(True,)),
    "next": _say("The seat at the winner's left turns next, onto a new pile.", "R5", **_SLAP),
    "covered": _say("A Jack that is covered before any hand is safe: wait for the next.", "R6", **_SLAP),
    "pays_turner": _say(
        "Slap anything else and it costs you a card, which goes to whoever turned the card that you slapped.",
        "R7",
        **_STANDARD,
        penalty=("to_turner",),
        calm=(False,),
    ),
    "pays_pile": _say(
        "Slap anything else and it costs you a card, which goes under the pile.",
        "R7",
        **_STANDARD,
        penalty=("under_pile",),
        calm=(False,),
    ),
    "pays_other": _say(
        "Slap anything else and it costs you a card, which goes to the other player.",
        "R7",
        "R20",
        game=("duel",),
        calm=(False,),
    ),
    "waiting": _say(
        "Out of cards, you have one last chance: win the next slap and you are back. Somebody else wins it, or you slap"
        " wrongly: you are out.",
        "R8",
        **_SLAP,
        calm=(False,),
    ),
    "wins": _say("Whoever is left at the end wins.", "R9", **_SLAP),
    "taken_back": _say("Is every card turned? Whoever turned the last one takes the pile back.", "R10", **_SLAP),
    "odds": _say("One card in 13 is a Jack.", "R11", **_SLAP, queens=(False,)),
    "odds_queens": _say("Two cards in 13 are Jacks or Queens.", "R11", **_SLAP, queens=(True,)),
    "call": _say("Call “Slapjack!” as you slap, or your hand does not count.", "R13", **_SLAP, call=(True,)),
    "say_jack": _say("Say “Jack!”: that is the slap.", "R13a", **_SLAP, say_jack=(True,)),
    "wrong_call": _say("Call wrongly and the pile is dealt to the others.", "R14", **_SLAP, wrong_call=(True,)),
    "other": _say("Slap a card of your own with the hand that did not turn it.", "R15", **_SLAP, hand=("other",)),
    "same": _say("Slap a card of your own with the hand that turned it.", "R15", **_SLAP, hand=("same",)),
    "not_turner": _say("A card that you turned is for the others to slap.", "R15", **_SLAP, hand=("not_turner",)),
    "judge": _say("What is too close to call is judged by somebody who is not playing.", "R18", judge=("table",)),
    "calm": _say("The game waits for everybody after every card, and a wrong slap is free.", "R19", calm=(True,)),
    "duel": _say(
        "Out of cards in Duel: the other turns every card and only Jacks count. Who slaps one wins it: with cards the"
        " duel, without cards the pile. The empty one who slaps wrongly has lost.",
        "R20",
        game=("duel",),
    ),
    "king": _say(
        "Both turn a card. The higher one takes both: King high, Ace low.", "R21", game=("war",), ace_high=(False,)
    ),
    "ace": _say(
        "Both turn a card. The higher one takes both: the Ace beats the King.", "R21", game=("war",), ace_high=(True,)
    ),
    "war_one": _say(
        "Equal cards are a war: one card face down, one face up.", "R22", game=("war",), war_cards=("one",)
    ),
    "war_three": _say(
        "Equal cards are a war: three face down, one face up.", "R22", game=("war",), war_cards=("three",)
    ),
    "war_end": _say("Your last card in a war lies face up. No card left for it: you have lost.", "R23", game=("war",)),
    "tip": _say("Both hands at the edge, and watch the cards, not the hands.", "R16", **_SLAP),
}


def told_under(rules: Rules) -> tuple[str, ...]:
    """The names of the statements that hold under these rules, in the order in which they are told."""
    return tuple(name for name, statement in STATEMENTS.items() if statement.holds(rules.in_force()))
