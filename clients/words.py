"""Why something was not done, or why one is not at a table, in words for people; and text of others made inert.

Shared by all programs here that speak to people. Knows no screen.
"""

import unicodedata
from collections.abc import Mapping

from clients.address import BadAddress
from clients.sdk import (
    BadFrame,
    ForeignOrigin,
    JoinRefused,
    NoSuchTable,
    NotAtTable,
    NotNow,
    Removed,
    ServerGone,
    TakenOver,
    TooMany,
    WrongVersion,
)
from engine.game import Reason
from wire.messages import RejectReason

MARKS = ("Mn", "Me", "Mc")


def inert(text: str, most: int = 100) -> str:
    """Somebody else's text, so that it can only be read: no control, no direction, no mark upon a mark; cut to fit.

    A terminal obeys what is printed on it, and one sign of the wrong kind moves or hides all that follows.
    """
    kept: list[str] = []
    for sign in unicodedata.normalize("NFC", text):
        kind = unicodedata.category(sign)
        if kind.startswith("C") or kind in ("Zl", "Zp"):
            continue
        if kind in MARKS and (not kept or unicodedata.category(kept[-1]) in MARKS):
            continue
        kept.append(" " if kind == "Zs" else sign)
    return "".join(kept) if len(kept) <= most else "".join(kept[: most - 1]).rstrip() + "…"


def counted(number: int, what: str) -> str:
    """So many of them, in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"


REFUSALS: Mapping[str, str] = {
    RejectReason.NOT_SEATED: "You are watching. Take a seat to play.",
    RejectReason.NOT_HOST: "Only the host can do that.",
    RejectReason.NOT_PLAYING: "No game is running.",
    RejectReason.ALREADY_PLAYING: "A game is running already.",
    RejectReason.ALREADY_JOINED: "You are at the table already.",
    RejectReason.ALREADY_SEATED: "You have a seat already.",
    RejectReason.JOIN_FIRST: "The table does not know you yet.",
    RejectReason.OTHER_GAME: "That was the game before.",
    RejectReason.TOO_LATE: "The dealer had decided already. No harm done.",
    RejectReason.TOO_FEW: "More seats are needed.",
    RejectReason.TOO_MANY: "This game is for fewer seats.",
    RejectReason.TABLE_FULL: "Every seat is taken.",
    RejectReason.REMOVED: "The host has removed you from this table.",
    RejectReason.NOT_AWAY: "They have come back.",
    RejectReason.WOULD_CROWN: "Somebody has won that many games already.",
    RejectReason.ALREADY_CLAIMED: "Somebody else is asking for that seat, or the host said no.",
    RejectReason.CAME_BEFORE: "You were here before that seat was lost.",
    RejectReason.TABLE_LOCKED: "The host has locked this table to newcomers.",
    RejectReason.NO_SUCH_SEAT: "That seat is gone.",
    RejectReason.BAD_NAME: "Please pick another name: at least one letter, at most 20, and no < or >.",
    RejectReason.BAD_RULES: "These rules do not go together.",
    RejectReason.PAUSED: "The table stood still: that did not count.",
    RejectReason.NO_QUESTION: "That has been decided already.",
    RejectReason.TOO_SOON: "One emoji at a time.",
    RejectReason.REACTIONS_OFF: "Emoji are off at this table.",
    Reason.GAME_OVER: "The game is over.",
    Reason.NOT_YOUR_TURN: "It is not your turn.",
    Reason.OTHER_TURN: "That turn has passed.",
    Reason.TABLE_WAITS: "The table waits for the others.",
    Reason.SEAT_OUT: "You are out of this game.",
    Reason.NOTHING_TO_SLAP: "Nothing to slap.",
    Reason.NO_SUCH_CARD: "That card is gone.",
    Reason.COVERED: "That card was covered already. No harm done.",
    Reason.PILE_GONE: "That pile was gone already. No harm done.",
    Reason.ALREADY_PAID: "You have paid for that card already.",
    Reason.NOT_CALLED: "You did not call, so your hand does not count.",
    Reason.SAME_HAND: "Slap with the hand that did not turn. No harm done.",
    Reason.OTHER_HAND: "Slap with the hand that turned. No harm done.",
    Reason.TURNER: "You turned that card, so it is for the others. No harm done.",
    Reason.NO_SLAPS: "There is nothing to slap in this game.",
    Reason.NOTHING_TO_ANSWER: "Nobody waits for you.",
    Reason.NOTHING_TO_PASS: "There is nothing to let pass.",
    Reason.NO_LIMIT: "There is no limit in this game.",
}
"""Why something was not done, for the person who did it. A reason that is not here stands as it is (P13)."""


def refusal(reason: str) -> str:
    """A reason in words."""
    return REFUSALS.get(reason) or f"That cannot be done: {inert(reason, 40)}."


def why_not(error: NotAtTable) -> str:
    """Why one is not, or no longer, at a table: one plain line, and what can be done."""
    match error:
        case NoSuchTable():
            return "there is no table with this code: check it, or ask for it again"
        case JoinRefused(reason=RejectReason.TABLE_FULL):
            return "the table is full: watch it with --watch, or wait until somebody leaves"
        case JoinRefused(reason=RejectReason.TABLE_LOCKED):
            return "the host has locked this table to newcomers: ask them to open it"
        case JoinRefused():
            return refusal(error.reason).rstrip(".")
        case Removed():
            return "the host has removed you from this table"
        case TakenOver():
            return "your seat is open in another place, and this one has stopped"
        case WrongVersion():
            return "this client and the server are of different versions: get the server's"
        case TooMany():
            return "the server has heard too much from here: wait a minute"
        case ForeignOrigin():
            return "the server lets nobody in from here"
        case BadFrame():
            return f"the two sides do not understand each other: {inert(str(error), 80)}"
        case BadAddress():
            return inert(str(error))
        case NotNow():
            return f"the server lets nobody in just now ({inert(str(error), 80)}): try again in a moment"
        case ServerGone():
            return (
                f"no Slapjack server answers ({inert(str(error), 80)}): see that it runs, and that the address is right"
            )
        case _:
            return inert(str(error))
