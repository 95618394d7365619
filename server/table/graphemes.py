"""Letters as people count them: a rough cut of the grapheme clusters of Unicode Standard Annex 29.

Rough, because it goes by what the standard library knows of signs; exact for the scripts and emoji that names have.
"""

import re
import unicodedata

JOINER = "\u200d"
NON_JOINER = "\u200c"

_VIRAMA = 9
"""The canonical combining class of a sign that joins a consonant to the next one."""

_PICTURES = (
    range(0x2300, 0x2400),
    range(0x2600, 0x27C0),
    range(0x2B00, 0x2C00),
    range(0x1F000, 0x1F100),
    range(0x1F300, 0x1FB00),
)
"""The blocks of emoji without those that have letters."""

TONES = range(0x1F3FB, 0x1F400)
_REGIONS = range(0x1F1E6, 0x1F200)
_JAMO = range(0x1160, 0x1200)
"""The vowels and last consonants of a Hangul syllable that is written in parts."""

REGION_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
"""The flag of a part of a country, as of Scotland: a black flag, letters that are not seen, and an end to them."""


def is_picture(sign: str) -> bool:
    """Whether a sign is the beginning of an emoji."""
    return ord(sign) not in TONES and any(ord(sign) in block for block in _PICTURES)


def is_region(sign: str) -> bool:
    """Whether it is one of the two letters that make a country's flag."""
    return ord(sign) in _REGIONS


def is_tag(sign: str) -> bool:
    """Whether it is one of the letters of a `REGION_FLAG` that are not seen."""
    return 0xE0020 <= ord(sign) <= 0xE007F


def clusters(text: str) -> list[str]:
    """The text cut into what people count as one letter or picture each."""
    cut: list[str] = []
    for sign in text:
        if cut and _goes_on(cut[-1], sign):
            cut[-1] += sign
        else:
            cut.append(sign)
    return cut


def _goes_on(letter: str, sign: str) -> bool:
    before = letter[-1]
    if unicodedata.category(sign)[0] == "M" or sign in (JOINER, NON_JOINER) or ord(sign) in TONES or is_tag(sign):
        return True
    if is_picture(sign):
        return before == JOINER and is_picture(letter[0])
    if is_region(sign):
        return len(letter) == 1 and is_region(letter)
    joined = unicodedata.combining(letter.rstrip(JOINER)[-1:] or " ") == _VIRAMA
    return ord(sign) in _JAMO or (joined and unicodedata.category(sign) == "Lo")
