"""Tables to keep, and somebody who keeps them."""

from typing import Any

from engine.rules import Rules, WonPile
from server.store.port import Store
from server.table.records import Change, Computer, Opened, Played, Result, Score, SeatRecord, TableRecord
from wire.messages import Kind, SeatId

CODE = "K7WQ2M"
ZOE, ANNA, BEN = ("ab" * 32, "a1" * 32, "be" * 32)


def a_table(code: str = CODE, **fields: Any) -> TableRecord:
    """A table with a person, whose name is as awkward as names are, and a computer player."""
    person = SeatRecord(SeatId("a1"), "Zoë 🃏 <b>", "🦊", Kind.PERSON, key_hash=ZOE, handicap_ms=120)
    computer = SeatRecord(SeatId("b2"), "Robot", "🤖", Kind.COMPUTER, computer=Computer(reaction_ms=450))
    plain: dict[str, Any] = {
        "rules": Rules(queens=True, won_pile=WonPile.UNDER, card_limit=200),
        "seats": (person, computer),
        "scores": {ZOE: Score("Zoë 🃏 <b>", "🦊", 3, 4), "b2": Score("Robot", "🤖", 1, 4)},
        "games": 4,
        "host": SeatId("a1"),
        "dealer": SeatId("b2"),
        "locked": True,
    }
    return TableRecord(code, **{**plain, **fields})


def a_result(nth: int, *people: Played, code: str = CODE, game: str = "slapjack", ranked: bool = True) -> Result:
    """A finished game."""
    return Result(f"{code}-{nth}", code, game, people, ranked)


def played(person: str, won: bool = False, *reactions_ms: float, name: str = "") -> Played:
    """Somebody's part in a game, under a name of their own."""
    return Played(person, name or person[:6], "🦊", won, tuple(round(ms * 1000) for ms in reactions_ms))


class Owner:
    """Whoever has taken a table over, and counts its changes."""

    def __init__(self, store: Store, opened: Opened) -> None:
        self._store = store
        self.opened = opened
        self.number = 0

    async def keeps(self, *entries: bytes, again: bool = False, **change: Any) -> None:
        """Keeps the next change, or the last one again."""
        self.number += not again
        code, epoch = self.opened.record.code, self.opened.epoch
        await self._store.keep(code, epoch, self.number, Change(entries=entries, **change))


async def owner(store: Store, code: str = CODE, table: TableRecord | None = None) -> Owner:
    """Takes the table over, and makes it first where there is none."""
    await store.create_table(table or a_table(code))
    opened = await store.open_table(code)
    assert opened is not None
    return Owner(store, opened)
