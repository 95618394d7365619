"""Names and faces: text that cannot hide, cannot spill over and is never markup."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.table.graphemes import JOINER, NON_JOINER, clusters, is_tag
from server.table.names import (
    COMPUTER_FACE,
    COMPUTER_NAMES,
    NAME_LENGTH,
    BadName,
    clean,
    clean_face,
    distinct,
    plain_name,
    skeleton,
)
from wire.messages import MAX_SEATS

MARK = "\u0301"
FAMILY = "👨\u200d👩\u200d👧\u200d👦"
ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
always_the_same = settings(derandomize=True, database=None, deadline=None)


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("Robin", "Robin"),
        ("  Ann   Lee\t", "Ann Lee"),
        ("Ann\nLee", "Ann Lee"),
        ("Ann\u2028Lee\u00a0Fox", "Ann Lee Fox"),
        ("Zoe\u0308", "Zo\u00eb"),
        ("N\u200bi\u0303na", "N\u0129na"),
        ("李小龍", "李小龍"),
        ("Nguyễn", "Nguyễn"),
        ("กำธร", "กำธร"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("7", "7"),
        ("O'Neill & Son", "O'Neill & Son"),
        ("علی\u200cرضا", "علی\u200cرضا"),
        ("ශ්\u200dරී", "ශ්\u200dරී"),
        ("क्षत्रिय" * 6 + "मी", "क्षत्रिय" * 6 + "मी"),
        ("नि" * NAME_LENGTH, "नि" * NAME_LENGTH),
        (ENGLAND, ENGLAND),
        ("🇩🇪 Max", "🇩🇪 Max"),
        (FAMILY * 10, FAMILY * 10),
        ("Zoe\u200d", "Zoe"),
        ("Zoe\u200c", "Zoe"),
        ("Zo\u200ce", "Zoe"),
        ("Zoe\ufe0f", "Zoe"),
        ("Zo\U0001d159e", "Zoe"),
        ("Zoe\u034f", "Zoe"),
        ("Zoe\U000e0067\U000e0062", "Zoe"),
        ("a" * NAME_LENGTH, "a" * NAME_LENGTH),
        (" " * 40 + "a" * NAME_LENGTH, "a" * NAME_LENGTH),
    ],
)
def test_a_name_stands_as_people_write_it(name: str, cleaned: str) -> None:
    assert clean(name) == cleaned


@pytest.mark.parametrize(
    "name",
    ["", " ", "\t\n", "\u200b", "\u200d", "\ufeff", "\u202e", "\x00", "\u3164", "\uffa0", "\u2800", "\u115f", MARK],
)
def test_a_name_that_cannot_be_seen_is_none(name: str) -> None:
    with pytest.raises(BadName, match="at least one letter"):
        clean(name)


@pytest.mark.parametrize("name", ["<b>Ann</b>", "Ann<", "a > b"])
def test_markup_is_no_name(name: str) -> None:
    with pytest.raises(BadName, match="<"):
        clean(name)


def test_a_long_name_is_refused_with_the_length() -> None:
    with pytest.raises(BadName, match=str(NAME_LENGTH)):
        clean("a" * (NAME_LENGTH + 1))


@pytest.mark.parametrize(
    "hidden", ["\u202e", "\u202d", "\u2066", "\u200f", "\u200b", "\u00ad", "\x07", "\x1b", "\ud800"]
)
def test_signs_that_turn_or_hide_text_are_taken_out(hidden: str) -> None:
    assert clean(f"An{hidden}n") == "Ann"


@pytest.mark.parametrize("between", ["", "\u200b", "\u200d", "\u202e"])
def test_stacked_marks_are_cut_whatever_lies_between(between: str) -> None:
    stacked = "x" + between.join([MARK] * 8)
    assert clean(stacked).count(MARK) == 2


def test_a_mark_has_a_letter_to_stand_on() -> None:
    assert clean(MARK + "Ann") == "Ann"
    assert clean(f"Ann {MARK}Lee") == "Ann Lee"


@always_the_same
@given(st.text(max_size=80))
def test_a_cleaned_name_is_plain_whatever_was_typed(name: str) -> None:
    try:
        cleaned = clean(name)
    except BadName:
        return
    assert clean(cleaned) == cleaned
    assert 0 < len(clusters(cleaned)) <= NAME_LENGTH
    assert unicodedata.is_normalized("NFC", cleaned)
    assert cleaned == cleaned.strip()
    hidden = [sign for sign in cleaned if unicodedata.category(sign).startswith("C")]
    assert all(sign in (JOINER, NON_JOINER) or is_tag(sign) for sign in hidden)


@always_the_same
@given(st.text(st.sampled_from("aя \u200d\u200c\ufe0f\u0301🙂🏽🏴\U000e0067\U000e007f🇩🇪कि्ضl"), max_size=30))
def test_what_is_not_seen_makes_no_other_name(name: str) -> None:
    try:
        cleaned = clean(name)
    except BadName:
        return
    assert clean(cleaned) == cleaned
    assert all(unicodedata.category(letter[0])[0] in "LNSPZM" for letter in clusters(cleaned))


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Ann", 3),
        ("Zo\u00eb", 3),
        ("علی\u200cرضا", 6),
        (ENGLAND, 1),
        (FAMILY, 1),
        ("🇩🇪🇫🇷", 2),
        ("नमस्ते", 3),
        ("👍🏽!", 2),
    ],
)
def test_letters_are_counted_as_people_count(name: str, letters: int) -> None:
    assert len(clusters(name)) == letters


@pytest.mark.parametrize("other", ["Zoe", "zoe", "ZOE", "Z0e", "Zоe", "Zοe", "Zoé", "Z o e", "\uff3aoe", "Zo\u0335e"])
def test_names_that_look_alike_have_one_skeleton(other: str) -> None:
    assert skeleton(other) == skeleton("Zoe")
    assert distinct(other, ["Ben", "Zoe"]) == f"{other} 2"


@pytest.mark.parametrize("other", ["Zoey", "Joe", "Ζωή", "زوئی", "🦊"])
def test_other_names_have_others(other: str) -> None:
    assert distinct(other, ["Ben", "Zoe"]) == other


def test_a_third_of_one_name_has_a_number_of_their_own() -> None:
    assert distinct("Zoe", ["Zoe", "Zoe 2"]) == "Zoe 3"
    assert distinct("a" * NAME_LENGTH, ["a" * NAME_LENGTH]) == "a" * (NAME_LENGTH - 2) + " 2"


@pytest.mark.parametrize(
    "face",
    [
        "🙂",
        "🦊",
        "🤖",
        "👍🏽",
        "❤\ufe0f",
        "👩\u200d🚀",
        "👩🏽\u200d🚀",
        "🏴\u200d☠\ufe0f",
        "🫨",
        "☕",
        "👨\u200d👩\u200d👧",
        FAMILY,
        ENGLAND,
        "🇩🇪",
    ],
)
def test_an_emoji_is_a_face(face: str) -> None:
    assert clean_face(face) == face


@pytest.mark.parametrize(
    "face",
    [
        "a",
        "Ann",
        "🙂🙂",
        "🙂a",
        "ⓗⓔⓛⓛⓞ",
        "🅷🅸",
        "ⓗ\u200dⓘ",
        "🇫🇺🇨🇰",
        "\u200d",
        "\ufe0f",
        "\u0301\u0301",
        "🙂\u0301",
        "🙂\u200d",
        "^^^",
        "🏽",
        "<b>",
        "🙂" + "\u200d🙂" * 8,
        "🖕",
        "🖕🏽",
        "🇩",
        "🏴\U000e0067",
    ],
)
def test_a_face_is_one_emoji_and_never_words(face: str) -> None:
    assert clean_face(face) == "🙂"


@always_the_same
@given(st.text(min_size=1, max_size=32))
def test_a_cleaned_face_stays_as_it_is(face: str) -> None:
    assert clean_face(clean_face(face)) == clean_face(face)


def test_there_is_a_name_for_every_computer_player() -> None:
    assert len(set(COMPUTER_NAMES)) == MAX_SEATS
    assert all(clean(name) == name for name in COMPUTER_NAMES)
    assert clean_face(COMPUTER_FACE) == COMPUTER_FACE


def test_made_up_names_are_many_and_names_like_any_other() -> None:
    names = [plain_name(pick) for pick in range(144)]
    assert len(set(names)) == 144
    assert [plain_name(pick) for pick in range(144, 288)] == names
    assert all(clean(name) == name for name in names)
