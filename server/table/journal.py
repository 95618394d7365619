"""The journal of a room: what must be kept of a game so that it goes on after a crash, and its verdicts can be checked.

Knows how to write a game down and how to play it again. Keeps nothing itself, and holds no link sample.
"""

import zlib
from collections.abc import Generator, Sequence

import msgspec

from engine.cards import Entropy, read_deck
from engine.game import AnyMove, Game, Refusal, Seat, Step
from engine.rules import Rules
from engine.table import deal
from engine.value import Value
from server.judge.judge import Evidence
from server.table.kept import read_kept
from server.table.records import SeatRecord, with_hand
from wire.messages import Verdict

VERSION = 1


class Entry(Value, tag_field="entry"):
    """One thing that happened in a game. `played_us` is how long the game has been played, pauses left out."""


class Dealt(Entry, tag="dealt"):
    """A game began: all that it takes to deal it again. `seats` are who was dealt in, in the order of their places."""

    game: int
    deck: str
    rules: Rules
    dealer: Seat
    seats: tuple[SeatRecord, ...]


class Moved(Entry, tag="moved", rename={"entropy": "chance"}):
    """Move `number` of the game, counted from 1, was made with the chance that it was given."""

    game: int
    number: int
    move: AnyMove
    entropy: Entropy
    played_us: int


class Judged(Entry, tag="judged"):
    """The dealer spoke: the verdict, and all that it was derived from."""

    verdict: Verdict
    evidence: tuple[Evidence, ...]


AnyEntry = Dealt | Moved | Judged


class BadEntry(ValueError):
    """Bytes that are no entry of ours, or of a newer version; the text says what is wrong with them."""


class Replayed(Value):
    """A game played again from its journal: how it stands, after how many moves, and how long it had been played.

    `entries` is how many entries of the game that comes to, its deal among them, and `size` their bytes. `bad` says of
    the first entry that cannot be read or does not fit which it is and why; the game is as before it.
    """

    dealt: Dealt
    game: Game
    moves: int
    played_us: int
    entries: int = 1
    size: int = 0
    bad: str = ""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(AnyEntry).decode
_DEALT = msgspec.msgpack.encode("entry") + msgspec.msgpack.encode("dealt")


def write_entry(entry: AnyEntry) -> bytes:
    """An entry as it is kept: a version, a check sum (CRC-32) and msgpack."""
    body = _encode(entry)
    return bytes((VERSION,)) + zlib.crc32(body).to_bytes(4) + body


def read_entry(kept: bytes) -> AnyEntry:
    """The entry that `write_entry` wrote; raises `BadEntry`."""
    if kept[:1] != bytes((VERSION,)):
        raise BadEntry(f"version {kept[0] if kept else 'none'}, but this server reads version {VERSION}")
    if zlib.crc32(kept[5:]) != int.from_bytes(kept[1:5]):
        raise BadEntry("the check sum does not fit: something has changed these bytes")
    body = with_hand(kept[5:])
    try:
        return _decode(body)
    except msgspec.ValidationError as strict:
        try:
            entry: AnyEntry = read_kept(body, AnyEntry)  # type: ignore[arg-type]
            return entry
        except msgspec.DecodeError:
            raise BadEntry(str(strict)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        raise BadEntry(str(wrong)) from None


def replay(journal: Sequence[bytes]) -> Replayed | None:
    """The last game in a journal, as it stood after the last entry that can be believed; None where none was dealt.

    Raises `BadEntry` when not even the deal can be read.
    """
    steps = replaying(journal)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            replayed: Replayed | None = done.value
            return replayed


def replaying(journal: Sequence[bytes]) -> Generator[None, None, Replayed | None]:
    """The same entry by entry, so that whoever plays a long game again can do something else in between."""
    first = len(journal) - 1
    while first >= 0 and not _is_deal(journal[first]):
        first -= 1
        yield
    if first < 0:
        return None
    dealt = read_entry(journal[first])
    assert isinstance(dealt, Dealt)
    game = deal_again(dealt)
    moves, played_us = 0, 0
    for number, kept in enumerate(journal[first + 1 :], first + 1):
        yield
        try:
            entry = read_entry(kept)
            if isinstance(entry, Moved):
                if (entry.game, entry.number) != (dealt.game, moves + 1):
                    raise BadEntry(f"move {entry.number} of game {entry.game}, where move {moves + 1} is due")
                game = move_again(game, entry).game
                moves, played_us = entry.number, entry.played_us
        except BadEntry as wrong:
            bad = f"entry {number + 1} of {len(journal)}: {wrong}"
            return Replayed(dealt, game, moves, played_us, number - first, sum(map(len, journal[first:number])), bad)
    return Replayed(dealt, game, moves, played_us, len(journal) - first, sum(map(len, journal[first:])))


def deal_again(dealt: Dealt) -> Game:
    """The game as it was dealt; raises `BadEntry`."""
    people = tuple(seat.computer is None for seat in dealt.seats)
    try:
        return deal(dealt.rules, read_deck(dealt.deck), len(dealt.seats), dealt.dealer, people)
    except ValueError as wrong:
        raise BadEntry(f"game {dealt.game} cannot be dealt: {wrong}") from None


def move_again(game: Game, moved: Moved) -> Step:
    """What the move made of that game; raises `BadEntry`."""
    outcome = game.step(moved.move, moved.entropy)
    if isinstance(outcome, Refusal):
        raise BadEntry(f"a move that the rules refuse ({outcome.rule}, {outcome.reason}): {moved.move}")
    return outcome


def _is_deal(kept: bytes) -> bool:
    if _DEALT not in kept[: 2 * len(_DEALT)]:  # most entries need not be read for it
        return False
    try:
        return isinstance(read_entry(kept), Dealt)
    except BadEntry:
        return False
