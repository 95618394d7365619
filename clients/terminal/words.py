"""What the dealer says on a terminal, in words.

Knows sentences and nothing of a screen. What comes from others, their names above all, is made inert here.
"""

from typing import assert_never
from unicodedata import bidirectional

from rich.cells import cell_len, set_cell_size

from clients import words
from clients.terminal.seen import Seen
from engine.cards import Card
from engine.game import (
    AnyEvent,
    BattleWon,
    CardTurned,
    CarriedOn,
    EliminationBegan,
    EliminationEnded,
    End,
    GameOver,
    PileShared,
    PileTakenBack,
    PileWon,
    Seat,
    SeatBack,
    SeatOut,
    SeatReady,
    SeatWaiting,
    WarDeclared,
    WrongSlap,
)
from engine.rules import STANDARD, GameName
from wire.messages import Verdict

RANKS = {
    "A": "Ace",
    "2": "Two",
    "3": "Three",
    "4": "Four",
    "5": "Five",
    "6": "Six",
    "7": "Seven",
    "8": "Eight",
    "9": "Nine",
    "T": "Ten",
    "J": "Jack",
    "Q": "Queen",
    "K": "King",
}
SUITS = {"S": "Spades", "H": "Hearts", "D": "Diamonds", "C": "Clubs"}

LEFT_TO_RIGHT = "\u200e"
"""A mark that takes no room, and after which text runs on as before."""


def inert(text: str, cells: int) -> str:
    """Somebody else's text, so that it can only be read, cut to so many cells of the screen."""
    shown = words.inert(text, cells)
    shown = shown if cell_len(shown) <= cells else set_cell_size(shown, cells - 1).rstrip() + "…"
    # A terminal that knows of right-to-left would draw the numbers after such a name in front of it (UAX 9, W2 and N1).
    return shown + LEFT_TO_RIGHT if any(bidirectional(sign) in ("R", "AL", "AN") for sign in shown) else shown


def cards(number: int) -> str:
    """So many cards, in words."""
    return words.counted(number, "card")


def ms(us: int) -> str:
    """Milliseconds as people read them: whole ones, but never 0 for what was more than that."""
    return f"{us / 1000:.1f} ms" if 0 < us < 500 else f"{us / 1000:.0f} ms"


def card_name(face: Card) -> str:
    """A card in words."""
    return f"the {RANKS[face[0]]} of {SUITS[face[1]]}"


def slap_cards(seen: Seen) -> str:
    """What may be slapped now, in words; nothing where there is nothing to slap (R11, R20)."""
    rules = seen.table.rules.in_force() if seen.table is not None else STANDARD
    if rules.game is GameName.WAR:
        return ""
    if seen.view is not None and seen.view.empty is not None:
        return "a Jack"
    named = [f"{'an' if rank in 'A8' else 'a'} {RANKS[rank]}" for rank in rules.slap_ranks()]
    named += ["a double"] * rules.doubles + ["a sandwich"] * rules.sandwiches
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"


def dealer_line(seen: Seen) -> str:
    """What the dealer says of what happened last."""
    if not seen.said:
        if seen.view is None:
            return ""
        if seen.view.turned:
            return "The game is on."
        return f"A new game. Watch for {slap_cards(seen)}!" if slap_cards(seen) else "A new game."
    told = [line for event in seen.said if (line := _sentence(seen, event))]
    if seen.verdict is not None and seen.verdict.winner is None:
        told.insert(0, "The turn came before every hand. Play goes on.")
    return " ".join(told)


def margin_us(verdict: Verdict | None) -> int | None:
    """By how much the winner's hand was before the next one; None when there was none. A turn is no hand.

    Below zero the table has judged otherwise than the dealer would have (R18).
    """
    hands = [hand for hand in verdict.hands if not hand.cover] if verdict is not None else []
    if verdict is None or len(hands) < 2 or hands[0].seat != verdict.winner:
        return None
    return hands[1].accepted_us - hands[0].accepted_us


def _sentence(seen: Seen, event: AnyEvent) -> str:
    match event:
        case CardTurned():
            return f"{_who(seen, event.seat)}: {card_name(event.face)}."
        case PileWon():
            return _won(seen, event)
        case WrongSlap():
            return _wrong(seen, event)
        case PileShared():
            return f"{_did(seen, event.seat, 'called')} wrongly. The pile goes to the others."
        case PileTakenBack():
            return f"Every card is turned: {_does(seen, event.seat, 'takes', 'take', inside=True)} the pile back."
        case SeatWaiting():
            if event.seat == seen.place:
                return f"You are out of cards. One last chance: slap {slap_cards(seen)}!"
            return f"{_who(seen, event.seat)} is out of cards and has one last chance."
        case SeatBack():
            return f"{_does(seen, event.seat, 'is', 'are')} back in."
        case SeatOut():
            return f"{_does(seen, event.seat, 'is', 'are')} out."
        case EliminationBegan():
            nobody = "you have" if event.empty == seen.place else f"{_who(seen, event.empty)} has"
            return f"Elimination round: only Jacks count, and {nobody} no cards."
        case EliminationEnded():
            return "The elimination round is over."
        case SeatReady():
            return f"{_does(seen, event.seat, 'is', 'are')} ready."
        case WarDeclared():
            return "War! One card face down, one face up." if event.depth == 1 else f"War number {event.depth}!"
        case BattleWon():
            won = _does(seen, event.seat, "wins", "win")
            return f"{won} the battle and {'take' if event.seat == seen.place else 'takes'} {cards(event.cards)}."
        case CarriedOn():
            return ""
        case GameOver():
            return _over(seen, event)
        case _:
            assert_never(event)


def _won(seen: Seen, event: PileWon) -> str:
    mine, margin = event.seat == seen.place, margin_us(seen.verdict)
    takes = f"{'take' if mine else 'takes'} {cards(event.cards)}"
    if margin is None:
        return f"Your hand: you {takes}." if mine else f"{_who(seen, event.seat)} slaps and {takes}."
    if margin < 0:
        return f"The table's word: {'you were' if mine else _who(seen, event.seat) + ' was'} first and {takes}."
    if margin == 0:
        return f"A dead heat! The lot falls on {'you: you' if mine else _who(seen, event.seat) + ', who'} {takes}."
    return f"{_did(seen, event.seat, 'were' if mine else 'was')} first by {ms(margin)} and {takes}."


def _wrong(seen: Seen, event: WrongSlap) -> str:
    landed = seen.view.landed if seen.view is not None else ()
    face = next((card_name(card.face) for card in landed if card.nth == event.nth), "a card")
    said = f"{_did(seen, event.seat, 'slapped')} {face}"
    if not event.paid:
        return f"{said}."
    to = "under the pile" if event.to is None else "to you" if event.to == seen.place else f"to {_who(seen, event.to)}"
    return f"{said}: one card {to}."


def _over(seen: Seen, event: GameOver) -> str:
    why = {
        End.LAST_SEAT: "Everybody else is out.",
        End.ALL_CARDS: "All 52 cards.",
        End.CARD_LIMIT: "Most cards at the card limit.",
        End.TIME_LIMIT: "Most cards when the time was up.",
        End.HOST: "The host ended the game: most cards win.",
        End.TOO_LONG: "The game grew too long to be kept: most cards win.",
        End.DUEL_SLAP: "The last slap decided it.",
        End.NO_CARDS: "No cards were left to fight with.",
    }[event.end]
    if len(event.winners) == 1:
        return f"{_does(seen, event.winners[0], 'wins', 'win')} the game! {why}"
    return f"{', '.join(_who(seen, winner) for winner in event.winners)} share the win. {why}"


def _who(seen: Seen, seat: Seat) -> str:
    if seat == seen.place:
        return "You"
    player = seen.players.get(seat)
    return inert(player.name, 20) if player is not None else "Somebody"


def _does(seen: Seen, seat: Seat, they: str, you: str, *, inside: bool = False) -> str:
    mine = seat == seen.place
    who = "you" if mine and inside else _who(seen, seat)
    return f"{who} {you if mine else they}"


def _did(seen: Seen, seat: Seat, verb: str) -> str:
    return f"{_who(seen, seat)} {verb}"
