"""People as they are kept: which devices are whose, the ways to bring a person to another device, and their tables.

Knows keys and how long each is kept. Secrets come here as their SHA-256 alone. A person is named by the hash of the
secret of their first device, and shares no name with anybody, whatever they call themselves.

- `slapjack:device:<hash>`, a string: the person, where it is another than the device's own.
- `slapjack:link:<hash>`, `slapjack:recovery:<hash>`, strings: the person that a link or a recovery code leads to.
- `slapjack:{<person>}:person`, a hash: `name` and `face` last used, the hashes of the `link` and `recovery` code,
  `played` once they have finished a game; for each linked device `since:<hash>`, and `owner:<hash>` where it came by
  the recovery code.
- `slapjack:{<person>}:devices`, `slapjack:{<person>}:tables`, sets: linked devices, and codes of tables.
"""

from collections.abc import Iterable

from engine.value import Value
from server.store.pipeline import Command, Pipeline

PERSON_LENGTH = 64
"""A person's name is the hex SHA-256 of a secret."""

NEW_S = 7 * 86_400
"""Somebody who has finished no game is forgotten so soon, so that nobody can fill the store with people."""

MOST_DEVICES = 20
ID_LENGTH = 16
"""A device is called by so much of the hash of its secret."""

LINK_S = 600
"""How long a link to another device can be used."""


class Person(Value):
    """Somebody as they called themselves last, both empty where that is unknown. `devices` are those linked later."""

    name: str
    face: str
    devices: int
    recovery: bool


class Device(Value):
    """A linked device: what it is called, and since when it has been linked, in seconds since 1970 (0: not known)."""

    id: str
    since_s: int


class TooManyDevices(Exception):
    """So many devices are linked to this person already that there may be no more."""


class People:
    """All people, and what leads to them.

    Somebody not seen for `keep_s` is forgotten; for `NEW_S`, where they have finished no game.
    """

    def __init__(self, pipeline: Pipeline, keep_s: int) -> None:
        self._pipeline = pipeline
        self._redis = pipeline.redis
        self._kept_s = keep_s

    @property
    def _keep_s(self) -> int:
        return self._kept_s + self._pipeline.spare_s

    async def person_of(self, key_hash: str) -> str:
        """The person that a device's secret belongs to: the hash itself, until the device was linked to another."""
        key = _device(key_hash)
        person = await self._pipeline.ask(lambda pipe: pipe.getex(key, ex=self._keep_s), key)
        return key_hash if person is None else str(person.decode())

    async def look(self, person: str) -> Person:
        """What is known of a person."""
        key = _of(person, "person")
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.hmget(key, "name", "face", "recovery")
            pipe.scard(_of(person, "devices"))
            (name, face, recovery), devices = await self._pipeline.answer(pipe.execute(), key)
        return Person((name or b"").decode(), (face or b"").decode(), devices, recovery is not None)

    async def meet(self, person: str, name: str, face: str) -> None:
        """Somebody is here again, and calls themselves this; empty is as before."""
        key = _of(person, "person")
        recovery, played = await self._pipeline.answer(self._redis.hmget(key, "recovery", "played"), key)
        keep_s = self._keep_s if played else NEW_S + self._pipeline.spare_s
        async with self._redis.pipeline(transaction=True) as pipe:
            if name and face:
                pipe.hset(key, mapping={"name": name, "face": face})
            pipe.expire(key, keep_s)
            pipe.expire(_of(person, "devices"), keep_s)
            if recovery is not None:
                pipe.expire(_recovery(recovery.decode()), keep_s)
            await self._pipeline.answer(pipe.execute(), key)

    async def is_new(self, person: str) -> bool:
        """Whether nothing is kept of this person."""
        key = _of(person, "person")
        return not await self._pipeline.ask(lambda pipe: pipe.exists(key), key)

    async def have_played(self, people: Iterable[str]) -> None:
        """These people have finished a game, and are kept for long."""
        commands: list[Command] = []
        for person in people:
            keys = [_of(person, what) for what in ("person", "devices", "tables")]
            commands.append(lambda pipe, key=keys[0]: pipe.hset(key, "played", "1"))  # type: ignore[misc]
            commands += [lambda pipe, key=key: pipe.expire(key, self._keep_s) for key in keys]  # type: ignore[misc]
        await self._pipeline.ask_all(commands, "slapjack:{person}:person")

    async def sat_down(self, code: str, people: Iterable[str], keep_s: int = NEW_S) -> None:
        """These people have something at this table, so that it can be found when one of them wants to be forgotten."""
        commands: list[Command] = []
        for person in people:
            commands += self._at_table(_of(person, "tables"), code, keep_s + self._pipeline.spare_s)
        await self._pipeline.ask_all(commands, "slapjack:{person}:tables")

    async def stood_up(self, code: str, person: str) -> None:
        """This person has nothing at this table any more."""
        key = _of(person, "tables")
        await self._pipeline.answer(self._redis.srem(key, code), key)

    def _at_table(self, key: str, code: str, keep_s: int) -> list[Command]:
        return [
            lambda pipe: pipe.sadd(key, code),
            lambda pipe: pipe.expire(key, keep_s, nx=True),
            lambda pipe: pipe.expire(key, keep_s, gt=True),
        ]

    async def tables(self, person: str) -> list[str]:
        """The codes of all tables that a person has had a seat at, some of which may be gone."""
        key = _of(person, "tables")
        codes = await self._pipeline.answer(self._redis.smembers(key), key)
        return sorted(code.decode() for code in codes)

    async def named(self, beginning: str) -> str | None:
        """The person whose name begins so, None where nothing is kept of one. Looks through the whole store."""
        async for key in self._redis.scan_iter(match=_of(f"{beginning}*", "*"), count=1000):
            return str(key.decode().partition("{")[2].partition("}")[0])
        return None

    async def offer_link(self, person: str, token_hash: str) -> None:
        """From now on, and for ten minutes, this token leads to the person, once; an earlier one no longer does."""
        await self._lead(person, "link", _link(token_hash), token_hash, LINK_S)

    async def take_link(self, token_hash: str) -> str | None:
        """The person that the token leads to, for whoever is first; None where it leads nowhere (any more)."""
        key = _link(token_hash)
        person = await self._pipeline.answer(self._redis.getdel(key), key)
        return None if person is None else str(person.decode())

    async def set_recovery(self, person: str, code_hash: str) -> None:
        """From now on this recovery code leads to the person, and an earlier one no longer does."""
        await self._lead(person, "recovery", _recovery(code_hash), code_hash, self._keep_s)

    async def recover(self, code_hash: str) -> str | None:
        """The person that a recovery code leads to, None where there is none."""
        key = _recovery(code_hash)
        person = await self._pipeline.answer(self._redis.getex(key, ex=self._keep_s), key)
        return None if person is None else str(person.decode())

    async def owns(self, key_hash: str, person: str) -> bool:
        """Whether the device is the person's first one, or has come by their recovery code."""
        key = _of(person, "person")
        return key_hash == person or bool(
            await self._pipeline.ask(lambda pipe: pipe.hexists(key, f"owner:{key_hash}"), key)
        )

    async def devices(self, person: str) -> list[Device]:
        """The devices that were linked to a person, the first one first."""
        key, devices_key = _of(person, "person"), _of(person, "devices")
        hashes = sorted(each.decode() for each in await self._pipeline.answer(self._redis.smembers(devices_key), key))
        if not hashes:
            return []
        since = await self._pipeline.answer(self._redis.hmget(key, [f"since:{each}" for each in hashes]), key)
        devices = [Device(each[:ID_LENGTH], int(at_s or 0)) for each, at_s in zip(hashes, since, strict=True)]
        return sorted(devices, key=lambda device: device.since_s)

    async def evict(self, person: str, device_id: str) -> bool:
        """The linked device of that id is nobody's but its own again; False where there is none."""
        devices_key = _of(person, "devices")
        for each in await self._pipeline.answer(self._redis.smembers(devices_key), devices_key):
            if len(device_id) == ID_LENGTH and each.decode().startswith(device_id):
                await self.link(each.decode(), each.decode())
                return True
        return False

    async def link(self, key_hash: str, person: str, *, owner: bool = False) -> None:
        """The device is that person's from now on; who it was before stays as they are, without it.

        As an `owner` it may do what their first device may. Raises `TooManyDevices`.
        """
        before, now_s = await self.person_of(key_hash), await self._pipeline.now_s()
        devices_key, key = _of(person, "devices"), _of(person, "person")
        linked = await self._pipeline.answer(self._redis.scard(devices_key), devices_key)
        if person not in (key_hash, before) and linked >= MOST_DEVICES:
            raise TooManyDevices
        played = await self._pipeline.answer(self._redis.hget(key, "played"), key)
        keep_s = self._keep_s if played else NEW_S + self._pipeline.spare_s
        async with self._redis.pipeline(transaction=False) as pipe:
            if before not in (key_hash, person):
                pipe.srem(_of(before, "devices"), key_hash)
                pipe.hdel(_of(before, "person"), f"since:{key_hash}", f"owner:{key_hash}")
            if key_hash == person:
                pipe.delete(_device(key_hash))
            else:
                # The way back first: a device that nobody knows of could not be forgotten.
                pipe.sadd(devices_key, key_hash)
                pipe.expire(devices_key, keep_s)
                pipe.hset(key, f"since:{key_hash}", str(now_s))
                if owner:
                    pipe.hset(key, f"owner:{key_hash}", "1")
                pipe.expire(key, keep_s)
                pipe.set(_device(key_hash), person, ex=keep_s)
            await self._pipeline.answer(pipe.execute(), _device(key_hash))

    async def forget(self, person: str) -> None:
        """Deletes all that is kept of a person here, the ways to them first.

        Where they still have something at a table, the list of those stays, and their devices, which may ask again.
        """
        devices_key, key = _of(person, "devices"), _of(person, "person")
        done = not await self.tables(person)
        devices = await self._pipeline.answer(self._redis.smembers(devices_key), devices_key) if done else ()
        link, recovery = await self._pipeline.answer(self._redis.hmget(key, "link", "recovery"), key)
        gone = [
            *(_device(device.decode()) for device in devices),
            *([_link(link.decode())] if link else []),
            *([_recovery(recovery.decode())] if recovery else []),
            *([key, devices_key] if done else []),
        ]
        async with self._redis.pipeline(transaction=False) as pipe:
            for each in gone:
                pipe.delete(each)
            if not done:  # which of the devices may ask again stays
                pipe.hdel(key, "name", "face", "link", "recovery", "played")
            await self._pipeline.answer(pipe.execute(), key)

    async def _lead(self, person: str, field: str, way: str, secret_hash: str, keep_s: int) -> None:
        key = _of(person, "person")
        before, played = await self._pipeline.answer(self._redis.hmget(key, field, "played"), key)
        stays_s = self._keep_s if played else NEW_S + self._pipeline.spare_s
        ways = {"link": _link, "recovery": _recovery}
        async with self._redis.pipeline(transaction=False) as pipe:
            if before is not None:
                pipe.delete(ways[field](before.decode()))
            pipe.hset(key, field, secret_hash)
            pipe.expire(key, stays_s)
            pipe.set(way, person, ex=min(keep_s, stays_s))
            await self._pipeline.answer(pipe.execute(), key)


def _of(person: str, what: str) -> str:
    return f"slapjack:{{{person}}}:{what}"


def _device(key_hash: str) -> str:
    return f"slapjack:device:{key_hash}"


def _link(token_hash: str) -> str:
    return f"slapjack:link:{token_hash}"


def _recovery(code_hash: str) -> str:
    return f"slapjack:recovery:{code_hash}"
