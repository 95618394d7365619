"""Every switch of the table in one plain sentence, the presets, and what excludes what.

Knows what may be chosen together and by how many seats it is played. Plays nothing.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated

import msgspec

from engine.value import Value


class WonPile(StrEnum):
    """How a won pile goes under the winner's stack (R4)."""

    SHUFFLE_UNDER = "shuffle_under"
    UNDER = "under"
    SHUFFLE_IN = "shuffle_in"


class Penalty(StrEnum):
    """Where the card of a wrong slap goes (R7)."""

    TO_TURNER = "to_turner"
    UNDER_PILE = "under_pile"


class WhichHand(StrEnum):
    """With which hand the turner of a card may slap it (R15)."""

    ANY = "any"
    OTHER = "other"
    SAME = "same"
    NOT_TURNER = "not_turner"


class WarCards(StrEnum):
    """How many cards each seat puts face down in a war (R22)."""

    ONE = "one"
    THREE = "three"


class JudgeOf(StrEnum):
    """Who decides what is too close to call (R18)."""

    DEALER = "dealer"
    TABLE = "table"


class GameName(StrEnum):
    """Which game is played."""

    SLAPJACK = "slapjack"
    DUEL = "duel"
    WAR = "war"


class Conflict(Value):
    """Why a choice cannot be played: the rule that it breaks, and a sentence for people."""

    rule: str
    sentence: str


class RulesError(ValueError):
    """A game that cannot be dealt under these rules. `conflicts` has at least one reason."""

    def __init__(self, conflicts: tuple[Conflict, ...]) -> None:
        super().__init__(" ".join(f"{conflict.rule}: {conflict.sentence}" for conflict in conflicts))
        self.conflicts = conflicts


MOST_CARDS = 10_000
"""A game of so many turned cards ends, limit or not (R12): what is kept of it must not grow for ever."""

OFFER_FROM_CARDS = 300
OFFER_EVERY_CARDS = 100
"""In a game without a limit the host is offered to end and count at so many turned cards, and at so many more (R12)."""


class Rules(Value):
    """One table's choices; the defaults are the standard game. Times end in their unit, 0 is off."""

    game: GameName = GameName.SLAPJACK
    queens: bool = False
    doubles: bool = False
    sandwiches: bool = False
    won_pile: WonPile = WonPile.SHUFFLE_UNDER
    penalty: Penalty = Penalty.TO_TURNER
    min_show_ms: Annotated[int, msgspec.Meta(ge=300, le=10_000)] = 800
    slap_moment_ms: Annotated[int, msgspec.Meta(ge=0, le=1_500)] = 900
    card_limit: Annotated[int, msgspec.Meta(ge=0, le=MOST_CARDS)] = 0
    time_limit_min: Annotated[int, msgspec.Meta(ge=0, le=240)] = 0
    call: bool = False
    say_jack: bool = False
    wrong_call: bool = False
    hand: WhichHand = WhichHand.ANY
    show_jacks: bool = False
    judge: JudgeOf = JudgeOf.DEALER
    calm: bool = False
    ace_high: bool = False
    war_cards: WarCards = WarCards.ONE
    plain_names: bool = False
    reactions: bool = True

    def seats(self) -> range:
        """How many seats can play (R1, R20, R21)."""
        return range(2, 11) if self.game is GameName.SLAPJACK else range(2, 3)

    def conflicts(self) -> tuple[Conflict, ...]:
        """Every reason why these choices cannot be played together; none if they can.

        Where a choice is none at all, as a number out of its range, these reasons are the only ones.
        """
        if wrong := self._out_of_range():
            return wrong
        duel, war = self.game is GameName.DUEL, self.game is GameName.WAR
        pointless = _spoken(name for name in _SLAP_SWITCHES if getattr(self, name) != getattr(STANDARD, name))
        overruled = _spoken(
            name for name, own in _DUEL.items() if getattr(self, name) not in (getattr(STANDARD, name), own)
        )
        shouts = _spoken(
            name for name in ("call", "wrong_call", "hand") if getattr(self, name) != getattr(STANDARD, name)
        )
        hurries = _spoken(name for name in ("call", "wrong_call", "time_limit_min") if getattr(self, name))
        checks = (
            (self.wrong_call and not self.call, "R14", "The wrong call needs the call: switch the call on as well."),
            (
                self.say_jack and shouts,
                "R13a",
                f"With “Say Jack!” the call alone is the hand, so this must be off: {shouts}.",
            ),
            (self.calm and hurries, "R19", f"Calm mode hurries nobody, so this must be off: {hurries}."),
            (duel and overruled, "R20", f"Duel has its own way of doing this, so leave it as it is: {overruled}."),
            (
                duel and self.hand is WhichHand.NOT_TURNER,
                "R20",
                "In an elimination round one player turns every card and must be free to slap: choose another hand.",
            ),
            (war and pointless, "R21", f"In War there is nothing to slap, so this must be off: {pointless}."),
        )
        return tuple(Conflict(rule, sentence) for broken, rule, sentence in checks if broken)

    def seat_conflicts(self, seats: int) -> tuple[Conflict, ...]:
        """Why so many seats cannot play; nothing if they can (R1, R20, R21)."""
        able = self.seats()
        if type(seats) is int and seats in able:  # True and 2.0 are no numbers of seats
            return ()
        if self.game is GameName.SLAPJACK:
            return (Conflict("R1", f"Slapjack is for {able[0]} to {able[-1]} seats, not for {seats}."),)
        rule, name = ("R20", "Duel") if self.game is GameName.DUEL else ("R21", "War")
        return (Conflict(rule, f"{name} is for exactly 2 seats, not for {seats}."),)

    def slap_ranks(self) -> str:
        """The ranks of which every card may be slapped, the Jack's first (R11)."""
        return "J" + "".join(rank for switch, rank in RANKS_TOO.items() if getattr(self, switch))

    def may_be_slapped(self, ranks: Sequence[str], *, jacks_only: bool = False) -> bool:
        """Whether the card on top is a slap card; `ranks` are those of the landed cards, the top one first (R11).

        Three are enough, and none are a slap card. `jacks_only` is the elimination round of Duel (R20).
        """
        top, below = ranks[:1], ranks[1:3]
        if not top or self.game is GameName.WAR:
            return False
        if top[0] == "J" or jacks_only:
            return top[0] == "J"
        return (
            top[0] in self.slap_ranks()
            or (self.doubles and top[0] in below[:1])
            or (self.sandwiches and top[0] in below[1:])
        )

    def offered_at(self, turned: int) -> int:
        """The number of cards at which the host was last offered to end and count; 0 where not yet, or never (R12)."""
        if self.card_limit or self.time_limit_min or turned < OFFER_FROM_CARDS:
            return 0
        return turned - (turned - OFFER_FROM_CARDS) % OFFER_EVERY_CARDS

    def last_card(self) -> int:
        """The number of the card with which the game ends at the latest (R12)."""
        return self.card_limit or MOST_CARDS

    def in_force(self) -> "Rules":
        """The rules as they are played: Duel puts its own in place of what it fixes (R20).

        The slap moment falls away where nobody hurries and where there is nothing to slap (R3b).
        """
        rules = msgspec.structs.replace(self, **_DUEL) if self.game is GameName.DUEL else self
        if rules.slap_moment_ms and (rules.calm or rules.game is GameName.WAR):
            rules = msgspec.structs.replace(rules, slap_moment_ms=0)
        return rules

    def _out_of_range(self) -> tuple[Conflict, ...]:
        """What is no choice at all: a number out of its range, something of another type."""
        wrong = []
        for field in msgspec.structs.fields(Rules):
            try:
                msgspec.convert(getattr(self, field.name), field.type)
            except msgspec.ValidationError as error:
                wrong.append(Conflict(RULE_OF[field.name], f"The {_spoken([field.name])} cannot be that: {error}."))
        return tuple(wrong)


STANDARD = Rules()

RANKS_TOO = {"queens": "Q"}
"""The switches by which every card of a rank may be slapped as well as the Jacks, and that rank (R11)."""

_DUEL = {
    **dict.fromkeys(RANKS_TOO, False),
    "doubles": True,
    "sandwiches": True,
    "won_pile": WonPile.SHUFFLE_IN,
    "penalty": Penalty.TO_TURNER,
}

SWITCHES = {
    "game": "Slapjack; Duel, a Slapjack for two with elimination rounds; or War, where luck decides.",
    "queens": "Queens may be slapped as well as Jacks.",
    "doubles": "A card may be slapped when the one right below has the same rank.",
    "sandwiches": "A card may be slapped when the one two below has the same rank.",
    "won_pile": "How a won pile goes to its winner: shuffled and put under, turned over and put under, or shuffled in.",
    "penalty": "The card of a wrong slap goes to whoever turned the slapped card, or under the pile.",
    "min_show_ms": "How long every card stays on top at least, in milliseconds.",
    "slap_moment_ms": "How long everybody sees a won slap before the next card, in milliseconds.",
    "card_limit": "The game ends after so many turned cards, and most cards win; 0 plays on.",
    "time_limit_min": "The game ends after so many minutes, and most cards win; 0 plays on.",
    "call": "A hand counts only with the call “Slapjack!”.",
    "say_jack": "Saying “Jack!” is the slap: there is nothing to hit.",
    "wrong_call": "A called wrong slap costs no card, but the pile is dealt to the others.",
    "hand": "Whoever turned the card slaps it with any hand, with the other one, with the same one, or not at all.",
    "show_jacks": "The cards to slap are laid out for all to see before the deal.",
    "judge": "What is too close to call is decided by the dealer, or by somebody at the table who is not playing.",
    "calm": "The game waits after every card until everybody has slapped or carried on, and wrong slaps are free.",
    "ace_high": "In War the Ace beats the King.",
    "war_cards": "In a war each player puts one card face down, or three.",
    "plain_names": "Names are made up by the table, so that nobody has to type one.",
    "reactions": "Players may send each other emoji.",
}
"""One plain sentence for every field of `Rules`."""

RULE_OF = {
    "game": "R1",
    "queens": "R11",
    "doubles": "R11",
    "sandwiches": "R11",
    "won_pile": "R4",
    "penalty": "R7",
    "min_show_ms": "R3a",
    "slap_moment_ms": "R3b",
    "card_limit": "R12",
    "time_limit_min": "R12",
    "call": "R13",
    "say_jack": "R13a",
    "wrong_call": "R14",
    "hand": "R15",
    "show_jacks": "R17",
    "judge": "R18",
    "calm": "R19",
    "ace_high": "R21",
    "war_cards": "R22",
    "plain_names": "R27",
    "reactions": "R27",
}
"""The rule that every field of `Rules` is a choice of."""

_SLAP_SWITCHES = (
    *RANKS_TOO,
    "doubles",
    "sandwiches",
    "won_pile",
    "penalty",
    "call",
    "say_jack",
    "wrong_call",
    "hand",
    "show_jacks",
    "judge",
    "calm",
)


class Preset(Value):
    """A table that people know by name.

    `reaction_ms` is the mean reaction that its computer players should have (R31).
    """

    name: str
    sentence: str
    rules: Rules
    reaction_ms: int = 600


_LITTLE_KIDS = Rules(
    queens=True,
    min_show_ms=1500,
    penalty=Penalty.UNDER_PILE,
    show_jacks=True,
    plain_names=True,
    reactions=False,
)

PRESETS = {
    "standard": Preset("Standard", "Slap the Jacks and win every card.", STANDARD),
    "little_kids": Preset(
        "Little kids", "Slower, with Queens as well, and nobody pays another player.", _LITTLE_KIDS, reaction_ms=900
    ),
    "calm": Preset(
        "Calm",
        "Little kids without the rush: the game waits for everybody after every card.",
        msgspec.structs.replace(_LITTLE_KIDS, calm=True, slap_moment_ms=0),
        reaction_ms=900,
    ),
    "house_party": Preset(
        "House party",
        "Queens, doubles and sandwiches, most cards after 300, and the table judges close calls.",
        Rules(queens=True, doubles=True, sandwiches=True, card_limit=300, judge=JudgeOf.TABLE),
    ),
    "shout": Preset(
        "Shout",
        "Slap with the hand that did not turn and call “Slapjack!”, and beware of calling wrongly.",
        Rules(call=True, wrong_call=True, hand=WhichHand.OTHER),
    ),
    "duel": Preset(
        "Duel",
        "Two players, doubles and sandwiches, and elimination rounds.",
        Rules(game=GameName.DUEL).in_force(),
    ),
    "war": Preset(
        "War", "Two players and nothing to slap: the higher card wins.", Rules(game=GameName.WAR, slap_moment_ms=0)
    ),
}
"""The presets by the name that a client asks for, in the order in which they are offered."""


def _spoken(names: Iterable[str]) -> str:
    """Field names as people read them, or nothing."""
    return ", ".join(name.removesuffix("_min").removesuffix("_ms").replace("_", " ") for name in names)
