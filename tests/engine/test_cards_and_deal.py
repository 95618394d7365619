"""The deck, the luck and the deal (R1, R2), and what cannot be dealt."""

from itertools import permutations
from math import factorial
from typing import cast

import pytest

from engine.cards import ENTROPY_BYTES, Card, DeckError, Entropy, deck_text, full_deck, read_deck, shuffled, whole_deck
from engine.game import Seat
from engine.rules import STANDARD, GameName, Rules, RulesError
from engine.slapjack import Slapjack
from engine.table import deal
from engine.war import War
from tests.engine.cardtable import CardTable, seats

DECK = full_deck()


def test_r1_a_deck_is_52_different_cards() -> None:
    assert len(set(DECK)) == len(DECK) == 52
    assert {card[0] for card in DECK} == set("A23456789TJQK")
    assert {card[1] for card in DECK} == set("SHDC")


def test_r1_a_deck_is_written_and_read() -> None:
    assert deck_text(DECK).startswith("AS 2S 3S ")
    assert read_deck(deck_text(DECK)) == DECK


@pytest.mark.parametrize(
    ("deck", "wrong"),
    [
        (DECK[:-1], "missing: KC"),
        ((*DECK[:-1], DECK[0]), "doubled: AS"),
        ((*DECK[:-1], Card("XX")), "unknown: XX"),
        ((*DECK, DECK[3]), "doubled: 4S"),
    ],
)
def test_r1_a_wrong_deck_is_refused_and_says_why(deck: tuple[Card, ...], wrong: str) -> None:
    with pytest.raises(DeckError, match=f"R1: .*{wrong}"):
        whole_deck(deck)
    with pytest.raises(DeckError, match=f"R1: .*{wrong}"):
        deal(STANDARD, deck, 2, Seat(0))


def test_a_shuffle_gives_every_order_once() -> None:
    four = DECK[:4]
    orders = [shuffled(four, Entropy(rng.to_bytes(ENTROPY_BYTES))) for rng in range(factorial(4))]
    assert sorted(orders) == sorted(permutations(four))


@pytest.mark.parametrize(
    ("number", "sizes"),
    [
        (2, [26, 26]),
        (3, [18, 17, 17]),
        (4, [13] * 4),
        (5, [11, 11, 10, 10, 10]),
        (6, [9] * 4 + [8] * 2),
        (7, [8] * 3 + [7] * 4),
        (8, [7] * 4 + [6] * 4),
        (9, [6] * 7 + [5] * 2),
        (10, [6] * 2 + [5] * 8),
    ],
)
def test_r2_sizes_with_the_larger_stacks_dealt_to_first(number: int, sizes: list[int]) -> None:
    for dealer in range(number):
        game = deal(STANDARD, DECK, number, Seat(dealer))
        counts = [len(game.stacks[(dealer + 1 + place) % number]) for place in range(number)]
        assert counts == sizes


def test_r2_the_deck_is_dealt_one_by_one_and_turned_in_its_order() -> None:
    table = CardTable(deal(STANDARD, DECK, 3, Seat(1)))
    assert table.due.turners == seats(2)
    table.turns(10)
    assert tuple(card.face for card in table.view.landed) == DECK[5:10]


def test_r1_r20_r21_how_many_seats_can_play() -> None:
    for number in (0, 1, 11, 10**12, True, 2.0):
        with pytest.raises(RulesError, match=f"R1: Slapjack is for 2 to 10 seats, not for {number}"):
            deal(STANDARD, DECK, cast(int, number), Seat(0))
    with pytest.raises(RulesError, match="R20: Duel is for exactly 2 seats, not for 3"):
        deal(Rules(game=GameName.DUEL), DECK, 3, Seat(0))
    with pytest.raises(RulesError, match="R21: War is for exactly 2 seats, not for 1"):
        deal(Rules(game=GameName.WAR), DECK, 1, Seat(0))


def test_r2_dealer_and_persons_must_fit_the_seats() -> None:
    with pytest.raises(RulesError, match="R2: The dealer must be one of the seats 0 to 1, not 2"):
        deal(STANDARD, DECK, 2, Seat(2))
    with pytest.raises(RulesError, match="R2: The dealer must be one of the seats 0 to 1, not True"):
        deal(STANDARD, DECK, 2, Seat(True))
    with pytest.raises(RulesError, match="R2: It must be known of all 2 seats who is a person, not of 1"):
        deal(STANDARD, DECK, 2, Seat(0), (True,))


def test_conflicting_rules_cannot_be_dealt() -> None:
    with pytest.raises(RulesError, match="R14: ") as refused:
        deal(Rules(wrong_call=True), DECK, 2, Seat(0))
    assert [conflict.rule for conflict in refused.value.conflicts] == ["R14"]


def test_each_game_is_dealt_as_what_it_is() -> None:
    assert isinstance(deal(STANDARD, DECK, 2, Seat(0)), Slapjack)
    assert isinstance(deal(Rules(game=GameName.DUEL), DECK, 2, Seat(0)), Slapjack)
    assert isinstance(deal(Rules(game=GameName.WAR), DECK, 2, Seat(0)), War)
