"""Who somebody is, over HTTP: one person on several devices, found again, moved and forgotten.

A device has a secret, a person has devices; a name and a face are only how they are called. Secrets never appear in
an address: they come in a header, a body or the cookie, and leave in a body alone. Every question takes and gives JSON.
"""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.value import Value
from server.base.keys import KEY, hash_of, new_key
from server.base.ports import Clock, RandomSource
from server.base.settings import Settings
from server.hosting.codes import new_code
from server.hosting.forgetting import forget
from server.hosting.host import Host
from server.net.guessing import Guesses
from server.net.http import Denied, RequestGuard, TooManyMisses, address, keep_key, key_of, read_body, reply
from server.net.limits import AddressBuckets
from server.store.people import LINK_S, MOST_DEVICES, TooManyDevices
from server.store.port import BadRecord
from server.store.redis import RedisStore
from server.table.names import BadName, clean, clean_face
from wire.codes import CODE_LENGTH, read_code

NEW_A_DAY = 200
"""So many people who were not known before may say who they are in a day from one client network."""

GROUP = 4
"""A recovery code is shown in groups of so many symbols."""


UNREAD = "something that names you cannot be read now: ask again another day, the rest is forgotten"


class Introduction(Value):
    """Who somebody says they are. Without `key` the cookie speaks; name and face are remembered together."""

    key: str = ""
    name: str = ""
    face: str = ""


class Me(Value):
    """Who you are. `linked` says that this device was moved to a person of another; `devices` were moved to yours."""

    key: str
    name: str
    face: str
    linked: bool
    devices: int
    recovery: bool


class MoveRequest(Value):
    """What leads to another person: the token of a link, or a recovery code."""

    token: str = ""
    code: str = ""


class Previous(Value):
    """Whom this device was before it was moved."""

    name: str
    face: str


class MoveResult(Value):
    """Who you are now, and who this device was: they stay as they are, and `POST /api/me/unlink` leads back to them."""

    me: Me
    was: Previous | None


class PeopleApi:
    """All questions about oneself. Each may be denied with 403 (another origin) or 429 (too many)."""

    def __init__(
        self, store: RedisStore, host: Host, clock: Clock, random_source: RandomSource, settings: Settings
    ) -> None:
        self._store = store
        self._people = store.people
        self._host = host
        self._clock = clock
        self._random_source = random_source
        self._settings = settings
        self._gate = RequestGuard(clock, settings, settings.asks_per_minute)
        self._newcomers = AddressBuckets(NEW_A_DAY / 86_400, NEW_A_DAY)
        self._guesses = Guesses(settings.misses_per_minute, settings.misses_per_s)

    def routes(self) -> list[Route]:
        """Where each of them is asked."""
        return [
            Route("/api/me", self._gated(self.meet), methods=["POST"]),
            Route("/api/me", self._gated(self.forget_me), methods=["DELETE"]),
            Route("/api/me/devices", self._gated(self.list_devices), methods=["GET"]),
            Route("/api/me/devices/{id}", self._gated(self.evict_device), methods=["DELETE"]),
            Route("/api/me/link", self._gated(self.offer_link), methods=["POST"]),
            Route("/api/me/recovery", self._gated(self.give_recovery), methods=["POST"]),
            Route("/api/me/move", self._gated(self.move), methods=["POST"]),
            Route("/api/me/unlink", self._gated(self.unlink), methods=["POST"]),
        ]

    async def meet(self, request: Request) -> Response:
        """`POST /api/me`: who you are. Whoever brings neither key nor cookie is new, and gets a key."""
        said = await read_body(request, Introduction)
        if said.key and not KEY.fullmatch(said.key):
            raise Denied(400, "bad_key", "this is no key of ours")
        name = face = ""
        if said.name:
            try:
                name, face = clean(said.name), clean_face(said.face)
            except BadName as wrong:
                raise Denied(400, "bad_name", str(wrong)) from None
        key = said.key or key_of(request) or new_key(self._random_source)
        person = await self._people.person_of(hash_of(key))
        new = name and await self._people.is_new(person)
        if new and not self._newcomers.take(address(request), self._clock.now_us()):
            raise Denied(429, "too_many", "too many new people come from here today")
        await self._people.meet(person, name, face)
        return await self._who(request, key)

    async def offer_link(self, request: Request) -> Response:
        """`POST /api/me/link`: a token that brings another device to you, once and within ten minutes. 201."""
        token = new_key(self._random_source)
        await self._people.offer_link(await self._person(request), hash_of(token))
        return reply({"token": token, "expires_s": LINK_S}, 201)

    async def give_recovery(self, request: Request) -> Response:
        """`POST /api/me/recovery`: a code to write down that brings any device to you. The last one is void. 201."""
        code = new_code(self._random_source) + new_code(self._random_source)
        await self._people.set_recovery(await self._owned(request), hash_of(code))
        return reply({"code": "-".join(code[at : at + GROUP] for at in range(0, len(code), GROUP))}, 201)

    async def move(self, request: Request) -> Response:
        """`POST /api/me/move`: this device is from now on the person's that a token or recovery code leads to. 404."""
        way = await read_body(request, MoveRequest)
        if bool(way.token) == bool(way.code):
            raise Denied(400, "malformed", "either a token or a code")
        key = device(request)
        # A token has 192 bits: nobody guesses it, and nobody is kept from using one.
        found = await self._people.take_link(hash_of(way.token)) if way.token else await self._guess(request, way.code)
        if found is None:
            raise Denied(404, "leads_nowhere", "this leads nowhere: it was used, has expired, or has a typing error")
        before = await self._people.person_of(hash_of(key))
        was = await self._people.look(before) if before != found else None
        try:
            await self._people.link(hash_of(key), found, owner=not way.token)
        except TooManyDevices:
            raise Denied(409, "too_many_devices", f"a person may have {MOST_DEVICES} more devices") from None
        me = await self._identity(key)
        return reply(MoveResult(me, Previous(was.name, was.face) if was is not None and was.name else None))

    async def _guess(self, request: Request, typed: str) -> str | None:
        """The person that a recovery code leads to, None where there is none, which is a miss; raises `Denied`."""
        async with self._guesses.name(address(request), self._clock) as guess:
            if guess is None:
                raise TooManyMisses
            code = read_recovery_code(typed)
            found = await self._people.recover(hash_of(code)) if code else None
            guess.right = found is not None
        return found

    async def unlink(self, request: Request) -> Response:
        """`POST /api/me/unlink`: this device is again who it was before it was moved."""
        key = device(request)
        await self._people.link(hash_of(key), hash_of(key))
        return await self._who(request, key)

    async def forget_me(self, request: Request) -> Response:
        """`DELETE /api/me`: nothing that leads to you stays: here, at tables, on the leaderboard. 204.

        500 where a table cannot be read; the key and the cookie are still good for asking again.
        """
        gone = await self._owned(request)
        await self._host.forget_everywhere(gone)
        try:
            await forget(self._store, self._random_source, self._clock.now_us(), gone)
        except BadRecord:  # of which the log has the table
            raise Denied(500, "bad_record", UNREAD) from None
        response = Response(status_code=204)
        keep_key(response, request, "", self._settings)
        return response

    async def list_devices(self, request: Request) -> Response:
        """`GET /api/me/devices`: the devices that were moved to you, the first one first. 403 to one of them."""
        return reply({"devices": await self._people.devices(await self._owned(request))})

    async def evict_device(self, request: Request) -> Response:
        """`DELETE /api/me/devices/ID`: that device is again who it was before. 204, 403 to a moved device, 404."""
        if not await self._people.evict(await self._owned(request), request.path_params["id"]):
            raise Denied(404, "no_such_device", "no device of yours is called that")
        return Response(status_code=204)

    async def _owned(self, request: Request) -> str:
        """The asking person, where their own device asks, or one that came by their recovery code; raises `Denied`."""
        person = await self._person(request)
        if not await self._people.owns(hash_of(device(request)), person):
            raise Denied(403, "not_owner", "only your own device may do this, not one that was moved to you")
        return person

    async def _who(self, request: Request, key: str) -> Response:
        response = reply(await self._identity(key))
        keep_key(response, request, key, self._settings)
        return response

    async def _identity(self, key: str) -> Me:
        here = await self._people.person_of(hash_of(key))
        known = await self._people.look(here)
        return Me(key, known.name, known.face, here != hash_of(key), known.devices, known.recovery)

    async def _person(self, request: Request) -> str:
        return await self._people.person_of(hash_of(device(request)))

    def _gated(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def let_in(request: Request) -> Response:
            self._gate.let_in(request)
            return await answer(request)

        return let_in


def device(request: Request) -> str:
    """The asking device's secret; raises `Denied` where it brings none."""
    key = key_of(request)
    if not key:
        raise Denied(401, "no_key", "it is not known who you are")
    return key


def read_recovery_code(text: str) -> str | None:
    """The recovery code in what somebody typed, as forgiving as with a table's; None where it cannot be one."""
    symbols = "".join(text.split()).replace("-", "")
    halves = read_code(symbols[:CODE_LENGTH]), read_code(symbols[CODE_LENGTH:])
    return halves[0] + halves[1] if halves[0] is not None and halves[1] is not None else None
