"""What whoever runs a server may do about people on its leaderboard: list, rename and remove them, or forget one.

Knows a store that is open, and says what it did line by line.
"""

import argparse

from engine.rules import GameName
from server.base.ports import Clock, RandomSource
from server.hosting.forgetting import forget
from server.ops.command import Failed, Say
from server.store.redis import RedisStore
from server.table.names import BadName, clean
from wire.figures import Row

SHOWN = 50
ID_LENGTH = 12


async def about_people(
    store: RedisStore, args: argparse.Namespace, random_source: RandomSource, clock: Clock, say: Say
) -> None:
    """`slapjack people`, whatever of it was asked for. Raises `Failed`, `StoreDown` and `BadRecord`."""
    if args.rename:
        await rename_person(store, args.rename[0], args.rename[1], say)
    elif args.remove:
        await remove_person(store, args.remove, say)
    elif args.forget:
        await forget_person(store, random_source, clock.now_us(), args.forget, say)
    else:
        await list_people(store, args.name, say)


async def list_people(store: RedisStore, part: str, say: Say) -> None:
    """`slapjack people [NAME]`: the rows of all time whose name has this in it, most wins first."""
    found = await _rows(store)
    wanted = [each for each in found if part.casefold() in each[2].name.casefold()]
    for member, game, row in sorted(wanted, key=lambda each: (-each[2].wins, each[0]))[:SHOWN]:
        best = f", best {row.best_us / 1000:.0f} ms" if row.best_us is not None else ""
        say(f"{member[:ID_LENGTH]}  {row.face} {row.name:20}  {game}: {row.wins} of {row.games} games won{best}")
    if not wanted:
        say("Nobody of that name is on the leaderboard." if part else "Nobody is on the leaderboard.")
    elif len(wanted) > SHOWN:
        say(f"… and {len(wanted) - SHOWN} more: give a part of a name.")


async def rename_person(store: RedisStore, person_id: str, name: str, say: Say) -> None:
    """`slapjack people --rename ID NAME`: until their next game, which brings the name that they have then."""
    try:
        called = clean(name)
    except BadName as wrong:
        raise Failed(f"{name!r} cannot stand there: {wrong}") from None
    member, was = await _one(store, person_id)
    await store.board.rename(member, called)
    say(f"{was} is called {called} on the leaderboard until their next game.")


async def remove_person(store: RedisStore, person_id: str, say: Say) -> None:
    """`slapjack people --remove ID`: off every leaderboard; their tables and their key stay."""
    member, name = await _one(store, person_id)
    await store.board.forget(member)
    say(f"{name} is off the leaderboard.")


async def forget_person(store: RedisStore, random_source: RandomSource, at_us: int, person_id: str, say: Say) -> None:
    """`slapjack people --forget ID`: as if they had asked for it themselves."""
    member, name = await _one(store, person_id)
    person = await store.people.named(member)
    if person is None:
        await store.board.forget(member)
    else:
        await forget(store, random_source, at_us, person)
    say(f"{name} is forgotten.")


async def _rows(store: RedisStore) -> list[tuple[str, GameName, Row]]:
    return [(member, game, row) for game in GameName async for member, row in store.board.everybody(game)]


async def _one(store: RedisStore, person_id: str) -> tuple[str, str]:
    """The person whose id begins so, and their name; raises `Failed` unless there is exactly one."""
    found = {member: row.name for member, _, row in await _rows(store) if member.startswith(person_id.lower())}
    if len(found) != 1 or not person_id:
        raise Failed(f"{'nobody has' if not found else 'several have'} the id {person_id!r}: see slapjack people")
    return next(iter(found.items()))
