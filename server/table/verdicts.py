"""A table's journal in plain words, every verdict derived once more from what it was derived from.

Knows how to read a journal and what makes a verdict right. Knows no store and changes nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from engine.game import CardTurned, Game
from engine.rules import JudgeOf, Rules
from engine.value import Value
from server.judge.judge import Evidence, too_close, weigh
from server.table.graphemes import JOINER, NON_JOINER
from server.table.journal import BadEntry, Dealt, Judged, Moved, deal_again, move_again, read_entry
from server.table.records import SeatRecord
from wire.messages import RankedSlap, Verdict


class Finding(Value):
    """One line for people; `good` says whether what it is about is as it should be."""

    text: str
    good: bool = True


def findings(journal: Sequence[bytes]) -> Iterator[Finding]:
    """What a journal tells, game by game: each deal, each verdict and whether it stands, each entry that is bad."""
    dealt: Dealt | None = None
    game: Game | None = None
    faces: dict[int, str] = {}
    for number, kept in enumerate(journal, 1):
        try:
            match read_entry(kept):
                case Dealt() as dealt:
                    faces.clear()
                    game = deal_again(dealt)
                    yield Finding(f"Game {dealt.game}, {dealt.rules.game}: {', '.join(map(_seat_name, dealt.seats))}")
                case Moved() as moved:
                    if game is not None:
                        step = move_again(game, moved)
                        game = step.game
                        faces.update((e.nth, str(e.face)) for e in step.events if isinstance(e, CardTurned))
                case Judged(verdict, evidence):
                    yield _judged(verdict, evidence, dealt, faces)
        except BadEntry as bad:
            game = None
            yield Finding(f"Entry {number} of {len(journal)} is bad: {bad}", good=False)


def _judged(verdict: Verdict, evidence: Iterable[Evidence], dealt: Dealt | None, faces: dict[int, str]) -> Finding:
    names = [_seat_name(seat) for seat in dealt.seats] if dealt is not None else []

    def name(seat: int) -> str:
        return names[seat] if seat < len(names) else f"seat {seat}"

    card = f"Card {verdict.nth}" + (f", {faces[verdict.nth]}" if verdict.nth in faces else "")
    if verdict.winner is None:
        first = "a turn came before every hand"
    elif verdict.margin_us is None:
        first = f"{name(verdict.winner)} alone"
    else:
        first = f"{name(verdict.winner)} first, {_ms(verdict.margin_us)} apart"
    hands = "; ".join(f"{name(hand.seat)} {_told(hand)}" for hand in verdict.hands)
    wrong = [
        f"{name(seat)} {what}"
        for seat, what in _differences(verdict, evidence, dealt.rules if dealt is not None else None)
    ]
    wrong += _order_differences(verdict, dealt.rules) if dealt is not None else []
    return Finding(f"  {card}: {first}. {hands}. {'DIFFERS: ' + '; '.join(wrong) if wrong else 'OK'}", not wrong)


def _differences(verdict: Verdict, evidence: Iterable[Evidence], rules: Rules | None) -> Iterator[tuple[int, str]]:
    """The hands that the evidence does not make. A turn counts from when the card on top has had its time (R3a)."""
    known = {(e.seat, e.cover): e for e in evidence}
    for hand in verdict.hands:
        found = known.get((hand.seat, hand.cover))
        if found is None:
            yield hand.seat, "is judged without evidence"
            continue
        weighed = msgspec.structs.replace(weigh(found), called=hand.called)
        if hand.cover and rules is not None:
            moment_us = max(weighed.accepted_us - weighed.handicap_us, rules.min_show_ms * 1000)
            weighed = msgspec.structs.replace(weighed, accepted_us=moment_us, handicap_us=0)
        if weighed != hand:
            yield hand.seat, f"weighs {_told(weighed)}"


def _order_differences(verdict: Verdict, rules: Rules) -> Iterator[str]:
    """What is wrong with the dealer's order (R4), given the hands as they are."""
    counting = [hand for hand in verdict.hands if hand.called or hand.cover or not rules.call]  # R13
    if not counting:
        yield "no hand counts"
        return
    best = counting[0]
    if rules.judge is JudgeOf.TABLE and too_close(verdict):
        counting[:2] = sorted(counting[:2], key=lambda hand: hand.accepted_us)  # the table had the last word (R18)
    if any(one.accepted_us > next_.accepted_us for one, next_ in pairwise(counting)):
        yield "a later hand stands before an earlier one"
    if verdict.winner != (None if best.cover else best.seat):
        yield "it goes to another than the first"
    margin_us = counting[1].accepted_us - counting[0].accepted_us if len(counting) > 1 else None
    if verdict.margin_us != margin_us:
        yield "the margin is another"


def _told(hand: RankedSlap) -> str:
    parts = [f"said {_ms(hand.reaction_us)}"] if hand.reaction_us is not None else ["said nothing"]
    parts += [f"+{_ms(hand.added_us)} unproved"] if hand.added_us else []
    parts += [f"{_ms(hand.credit_us)} of credit"] if hand.credit_us else []
    parts += [f"+{_ms(hand.handicap_us)} handicap"] if hand.handicap_us else []
    parts += ["a turn"] if hand.cover else []
    return f"{_ms(hand.accepted_us)} ({', '.join(parts)})"


def _ms(us: int) -> str:
    return f"{us / 1000:.1f} ms"


def _seat_name(seat: SeatRecord) -> str:
    # What comes from a store is not to paint on a terminal.
    return (
        "".join(sign if sign.isprintable() or sign in (JOINER, NON_JOINER) else "?" for sign in seat.name) or "nobody"
    )
