"""Forgetting a person: at every table and in its journal, on the leaderboard, and every way that leads to them.

Takes tables out of the store and puts them back as what is left. Knows no request, and nobody's phone.
"""

import logging
from collections.abc import Sequence

import msgspec

from server.base.logs import about
from server.base.ports import RandomSource
from server.hosting.host import resumed_game
from server.store.port import BadRecord, Fenced, StoreDown
from server.store.redis import RedisStore
from server.table.journal import Replayed, write_entry
from server.table.mail import Forgotten, Keep
from server.table.records import Change
from server.table.room import Room

log = logging.getLogger("slapjack.forgetting")

BACK_UP = "a back-up is being made, and nobody can be forgotten meanwhile"


async def forget(store: RedisStore, random_source: RandomSource, at_us: int, person: str) -> None:
    """Deletes a person: from every table and its journal, from the leaderboard, and every way that leads to them.

    What stops it half-way, such as a `StoreDown`, leaves enough for it to be done again. So does a table that cannot be
    read: nothing else is kept by it, and in the end it raises `BadRecord`.
    """
    if await store.board.paused():
        raise StoreDown(BACK_UP)
    unread: BadRecord | None = None
    for code in await store.people.tables(person):
        try:
            while not await _forget_at(store, random_source, at_us, code, person):
                about(log, code).info("was taken over meanwhile")
            await store.people.stood_up(code, person)
        except BadRecord as bad:
            about(log, code).error("a person cannot be forgotten there: %s", bad)
            unread = bad
    await store.board.forget(person)
    await store.people.forget(person)
    if unread is not None:
        raise unread


async def _forget_at(store: RedisStore, random_source: RandomSource, at_us: int, code: str, person: str) -> bool:
    """Takes a person out of what is kept of a table; False where somebody else took the table over meanwhile.

    Whoever has the table awake is fenced off by it, and takes it up again as it is then.
    """
    if not await store.board.drain(code):
        raise StoreDown(BACK_UP)
    record = await store.load_table(code)
    # Also what cannot be read any more may name them.
    if record is None or not any(
        person.encode() in kept for kept in (msgspec.msgpack.encode(record), *await store.journal(code))
    ):
        return True
    opened = await store.open_table(code)
    if opened is None:
        return True
    replayed = await resumed_game(code, opened.journal)
    # The table itself knows what follows when somebody leaves for good (R25), be it that another has won.
    room = Room(opened.record, random_source, 0, replayed, at_us)
    effects = room.receive(Forgotten(person), at_us)
    change = next((effect.change for effect in effects if isinstance(effect, Keep)), Change())
    goes_on = replayed is not None and change.result is None
    kept = (*_without(replayed, opened.journal, person), *change.entries) if replayed is not None and goes_on else ()
    try:
        cleared = msgspec.structs.replace(change, entries=kept, deals=bool(kept), clears=True)
        await store.keep(code, opened.epoch, 1, cleared)
    except Fenced:
        return False
    return True


def _without(replayed: Replayed, journal: Sequence[bytes], person: str) -> Sequence[bytes]:
    """The journal of a game that goes on, as far as it can be believed, with nobody's name in this person's place.

    Only its deal names anybody.
    """
    seats = tuple(
        msgspec.structs.replace(seat, name="", key_hash="", made_up="") if seat.key_hash == person else seat
        for seat in replayed.dealt.seats
    )
    return [write_entry(msgspec.structs.replace(replayed.dealt, seats=seats)), *journal[1 : replayed.entries]]
