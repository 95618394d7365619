"""What people and computer players are called. A name is text, never markup."""

import unicodedata

NAME_LENGTH = 20

COMPUTER_NAMES = ("Ada", "Otto", "Mina", "Hugo", "Lola", "Emil", "Nora", "Anton", "Ida", "Kurt")
COMPUTER_FACE = "🤖"

_ANIMALS = ("Otter", "Robin", "Badger", "Heron", "Hedgehog", "Seal", "Fox", "Owl", "Beaver", "Lynx", "Puffin", "Hare")
_COLOURS = ("Amber", "Blue", "Coral", "Golden", "Green", "Ivory", "Jade", "Lilac", "Rosy", "Ruby", "Silver", "Teal")


class BadName(ValueError):
    """A name that cannot stand at the table; the text says why."""


def clean(name: str) -> str:
    """The name without what cannot be seen, runs of spaces made one; raises `BadName` when that leaves no name.

    Joiners and variation selectors stay, emoji need them. Stacked marks are cut so that no name paints over a neighbour.
    """
    kept: list[str] = []
    marks = 0
    for sign in unicodedata.normalize("NFC", name):
        category = unicodedata.category(sign)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if sign.isspace():
            kept.append(" ")
        elif (category[0] != "C" or sign == "\u200d") and marks <= 2:
            kept.append(sign)
    text = " ".join("".join(kept).split())
    if not any(unicodedata.category(sign)[0] in "LNSP" for sign in text):
        raise BadName("a name needs at least one letter")
    if len(text) > NAME_LENGTH:
        raise BadName(f"a name has at most {NAME_LENGTH} letters")
    if any(sign in "<>" for sign in text):
        raise BadName("a name cannot have < or >")
    return text


def clean_face(face: str) -> str:
    """The emoji a person picked, or a plain one where it is none; a face never carries words."""
    symbols = [sign for sign in face if unicodedata.category(sign) in ("So", "Sk", "Mn") or sign == "\u200d"]
    return face if 0 < len(face) <= 8 and len(symbols) == len(face) else "🙂"


def plain_name(pick: int) -> str:
    """A generated name for tables where children play: the same for the same `pick`."""
    return f"{_COLOURS[pick % len(_COLOURS)]} {_ANIMALS[pick // len(_COLOURS) % len(_ANIMALS)]}"
