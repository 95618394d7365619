"""What people and computer players are called. A name is text, never markup."""

import unicodedata

NAME_LENGTH = 20

COMPUTER_NAMES = ("Ada", "Otto", "Mina", "Hugo", "Lola", "Emil", "Nora", "Anton", "Ida", "Kurt")
COMPUTER_FACE = "🤖"
PLAIN_FACE = "🙂"

_ANIMALS = ("Otter", "Robin", "Badger", "Heron", "Hedgehog", "Seal", "Fox", "Owl", "Beaver", "Lynx", "Puffin", "Hare")
_COLOURS = ("Amber", "Blue", "Coral", "Golden", "Green", "Ivory", "Jade", "Lilac", "Rosy", "Ruby", "Silver", "Teal")

JOINER = "\u200d"
"""What makes one emoji of several: it is not seen, and is part of a name all the same."""
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and symbols that are drawn as nothing."""

_MOST_MARKS = 2

_PICTURES = (
    range(0x2300, 0x2400),
    range(0x2600, 0x27C0),
    range(0x2B00, 0x2C00),
    range(0x1F000, 0x1F100),
    range(0x1F300, 0x1FB00),
)
"""The blocks of emoji without those that have letters."""

_TONES = range(0x1F3FB, 0x1F400)
_EMOJI_STYLE = "\ufe0f"


class BadName(ValueError):
    """A name that cannot stand at the table; the text says why."""


def clean(name: str) -> str:
    """The name without what cannot be seen, runs of spaces made one; raises `BadName` when that leaves no name.

    Joiners and variation selectors stay, emoji need them. Stacked marks are cut so that no name paints over another.
    """
    kept: list[str] = []
    marks = _MOST_MARKS  # a mark needs a letter to stand on
    for sign in unicodedata.normalize("NFC", "".join(filter(_is_seen, name))):
        if unicodedata.category(sign) in ("Mn", "Me"):
            marks += 1
        elif sign != JOINER:
            marks = _MOST_MARKS if sign.isspace() else 0
        if marks <= _MOST_MARKS:
            kept.append(sign)
    text = " ".join("".join(kept).split())
    if not any(unicodedata.category(sign)[0] in "LNSP" for sign in text):
        raise BadName("a name needs at least one letter")
    if len(text) > NAME_LENGTH:
        raise BadName(f"a name has at most {NAME_LENGTH} letters")
    if any(sign in "<>" for sign in text):
        raise BadName("a name cannot have < or >")
    return text


def _is_seen(sign: str) -> bool:
    return sign.isspace() or sign == JOINER or (unicodedata.category(sign)[0] != "C" and sign not in _BLANK)


def clean_face(face: str) -> str:
    """The emoji a person picked, or a plain one where it is none. One emoji: a row of them could spell words."""
    return face if len(face) <= 8 and all(map(_is_picture, face.split(JOINER))) else PLAIN_FACE


def _is_picture(text: str) -> bool:
    """Whether it is one picture, in any of its styles and skin tones."""
    if not text or ord(text[0]) in _TONES or not any(ord(text[0]) in block for block in _PICTURES):
        return False
    return all(sign == _EMOJI_STYLE or ord(sign) in _TONES for sign in text[1:])


def plain_name(pick: int) -> str:
    """A generated name for tables where children play: the same for the same `pick`."""
    return f"{_COLOURS[pick % len(_COLOURS)]} {_ANIMALS[pick // len(_COLOURS) % len(_ANIMALS)]}"
