"""What people and computer players are called. A name is text, never markup.

It stays as it was typed, as far as it can be seen, and is as long as people count (`graphemes.py`). Whether two look
alike is told by their skeletons, as in Unicode Technical Standard 39, section 4.
"""

import unicodedata
from collections.abc import Collection

from server.table.graphemes import JOINER, NON_JOINER, REGION_FLAG, TONES, clusters, is_picture, is_region, is_tag

NAME_LENGTH = 20
"""In letters, as people count them."""
MOST_SIGNS = 160
"""In code points, of which a letter with its vowel signs, or a family, has several."""

COMPUTER_NAMES = ("Ada", "Otto", "Mina", "Hugo", "Lola", "Emil", "Nora", "Anton", "Ida", "Kurt")
COMPUTER_FACE = "🤖"
PLAIN_FACE = "🙂"

_ANIMALS = ("Otter", "Robin", "Badger", "Heron", "Hedgehog", "Seal", "Fox", "Owl", "Beaver", "Lynx", "Puffin", "Hare")
_COLOURS = ("Amber", "Blue", "Coral", "Golden", "Green", "Ivory", "Jade", "Lilac", "Rosy", "Ruby", "Silver", "Teal")

_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U0001d159\U00016fe4"
"""Letters, marks and symbols that are drawn as nothing."""

_STYLES = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
"""Variation selectors: not seen either, but part of an emoji."""

_JOINED_SCRIPTS = (range(0x0600, 0x0E00), range(0x1800, 0x18B0))
"""Where a joiner, or its opposite, changes how letters are written: Arabic to Sinhala, and Mongolian."""

_MOST_MARKS = 2
_MOST_FACE_SIGNS = 12
_RUDE = "🖕"

_LOOK_ALIKES = str.maketrans("авсԁеһіјӏкмнорԛѕтуԝхαεηικνορτυχ01|i", "abcdehljlkmhopqstywxaenlkvoptuxolll")
"""Small letters of other scripts, and digits, that are drawn like Latin ones; i and l are one, as I and l look."""


class BadName(ValueError):
    """A name that cannot stand at the table; the text says why."""


def clean(name: str) -> str:
    """The name without what cannot be seen, runs of spaces made one; raises `BadName` when that leaves no name.

    What joins letters or emoji stays where it does. Stacked marks are cut so that no name paints over another.
    """
    text = " ".join(unicodedata.normalize("NFC", "".join(filter(_may_be_seen, name))).split())
    while (visible := unicodedata.normalize("NFC", _without_strays(text))) != text:
        text = " ".join(visible.split())
    if not any(unicodedata.category(sign)[0] in "LNSP" for sign in text):
        raise BadName("a name needs at least one letter")
    if len(clusters(text)) > NAME_LENGTH or len(text) > MOST_SIGNS:
        raise BadName(f"a name has at most {NAME_LENGTH} letters")
    if any(sign in "<>" for sign in text):
        raise BadName("a name cannot have < or >")
    return text


def _may_be_seen(sign: str) -> bool:
    if sign in (JOINER, NON_JOINER) or sign.isspace() or is_tag(sign):
        return True
    return unicodedata.category(sign)[0] != "C" and sign not in _BLANK


def _without_strays(text: str) -> str:
    """The text without marks, joiners, styles and tags where they belong to nothing that is seen."""
    tagged = {at for flag in REGION_FLAG.finditer(text) for at in range(*flag.span())}
    kept: list[str] = []
    marks = _MOST_MARKS  # a mark needs a letter to stand on
    for at, sign in enumerate(text):
        before, after = kept[-1] if kept else " ", text[at + 1] if at + 1 < len(text) else " "
        if sign in (JOINER, NON_JOINER):
            stays = _joins(before, sign, after)
        elif is_tag(sign):
            stays = at in tagged
        elif any(ord(sign) in block for block in _STYLES):
            stays = is_picture(before)
        elif unicodedata.category(sign) in ("Mn", "Me"):
            marks += 1
            stays = marks <= _MOST_MARKS
        else:
            marks = _MOST_MARKS if sign.isspace() else 0
            stays = True
        if stays:
            kept.append(sign)
    return "".join(kept)


def _joins(before: str, joiner: str, after: str) -> bool:
    if joiner == JOINER and is_picture(after):
        return is_picture(before) or ord(before) in TONES or any(ord(before) in block for block in _STYLES)
    joined = all(any(ord(sign) in script for script in _JOINED_SCRIPTS) for sign in (before, after))
    return joined and unicodedata.category(after)[0] in "LM"


def skeleton(name: str) -> str:
    """What is left of a name when all is taken away that the eye may miss: equal for names that look alike."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    letters = (sign for sign in plain if sign.isalnum() or unicodedata.category(sign)[0] in "SP")
    return "".join(letters).translate(_LOOK_ALIKES).replace("rn", "m")


def distinct(name: str, others: Collection[str]) -> str:
    """The name, with a number behind it where it looks like one of the others."""
    taken, number, told = {skeleton(other) for other in others}, 1, name
    while skeleton(told) in taken:
        number += 1
        tail = f" {number}"
        told = "".join(clusters(name)[: NAME_LENGTH - len(tail)]) + tail
    return told


def clean_face(face: str) -> str:
    """The emoji a person picked, or a plain one where it is none. One emoji: a row of them could spell words."""
    flag = REGION_FLAG.fullmatch(face) or (len(face) == 2 and all(map(is_region, face)))
    drawn = len(face) <= _MOST_FACE_SIGNS and all(map(_is_one_picture, face.split(JOINER)))
    return face if (flag or drawn) and face[0] not in _RUDE else PLAIN_FACE


def _is_one_picture(text: str) -> bool:
    """Whether it is one picture, in any of its styles and skin tones."""
    if not text or not is_picture(text[0]):
        return False
    return all(sign == "\ufe0f" or ord(sign) in TONES for sign in text[1:])


def plain_name(pick: int) -> str:
    """A generated name for tables where children play: the same for the same `pick`."""
    return f"{_COLOURS[pick % len(_COLOURS)]} {_ANIMALS[pick // len(_COLOURS) % len(_ANIMALS)]}"
