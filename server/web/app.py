"""The web application: the page, the few HTTP questions beside it, and the socket."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.base.ports import Clock, RandomSource
from server.base.settings import Settings
from server.hosting.awake import NetworkFull, ServerFull
from server.hosting.cluster import Node
from server.hosting.host import Host
from server.hosting.phone import STORE_AWAY
from server.net.accepted import Sockets
from server.net.connection import SocketEndpoint
from server.net.http import Denied, RequestGuard, address, reply
from server.net.limits import AddressBuckets, Bucket, client_network
from server.net.origins import from_a_program, right_host
from server.store.port import BadRecord, StoreDown
from server.store.probe import probe
from server.store.redis import RedisStore
from server.web import leaderboard, page, people
from server.web.lan import invite_origin, other_origins
from server.web.metrics import CONTENT_TYPE, metrics
from wire.codes import read_code
from wire.messages import Kind

log = logging.getLogger("slapjack.app")

SECURITY_HEADERS = {
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        b"media-src 'self' data: blob:; font-src 'self'; connect-src 'self' ws: wss:; manifest-src 'self'; "
        b"worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}
ENCRYPTED_ONLY = (b"strict-transport-security", b"max-age=31536000")
"""Where people reach the server by https they are never to come without (RFC 6797)."""


def build_app(
    store: RedisStore, clock: Clock, random_source: RandomSource, settings: Settings, node: Node | None = None
) -> Starlette:
    """The application over a store that is already open, and which stays open when the application ends.

    `state.host` of it is its host, `state.sockets` what counts its connections; `node` is this server among others,
    whose lease is for the caller to take and renew.
    """
    host = Host(
        store, clock, random_source, settings.max_tables, settings.max_spectators, node, settings.max_tables_per_address
    )
    sockets = Sockets(settings, clock)
    endpoint = SocketEndpoint(host, store, clock, settings)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await host.close()

    for_all = [
        *_questions(host, endpoint, clock, settings),
        *people.PeopleApi(store, host, clock, random_source, settings).routes(),
        *leaderboard.routes(store, clock, settings),
        WebSocketRoute("/ws/{code}", endpoint.answer),
        *page.routes(settings),
    ]
    app = Starlette(
        routes=[
            *_operating(host, store, clock),
            # A proxy takes a request to the server that is named; here it is as if no server had been.
            Mount("/n/{node}", routes=for_all),
            *for_all,
        ],
        middleware=[
            Middleware(SecurityHeaders, encrypted=settings.public_url.startswith("https:")),
            Middleware(KnownByName, public_url=settings.public_url),
            Middleware(NotTooOften, clock=clock, requests=sockets.requests),
        ],
        exception_handlers={Denied: _denied, StoreDown: _store_down, BadRecord: _bad_record},
        lifespan=lifespan,
    )
    app.state.host, app.state.sockets = host, sockets
    return app


def _questions(host: Host, endpoint: SocketEndpoint, clock: Clock, settings: Settings) -> list[Route]:
    guard = RequestGuard(clock, settings, settings.tables_per_minute)
    new_tables = Bucket(settings.tables_per_s, 60 * settings.tables_per_s)

    async def create(request: Request) -> Response:
        """`POST /api/tables`: a new table. 201 with its code; 403, 429, 503."""
        guard.let_in(request)
        if not new_tables.take(clock.now_us()):
            raise Denied(429, "too_many", "too many tables are opened now: try again in a moment")
        try:
            return reply({"code": await host.create(client_network(address(request)))}, 201)
        except ServerFull:
            raise Denied(503, "server_full", "this server is full: try again later") from None
        except NetworkFull:
            raise Denied(429, "too_many", NetworkFull.text) from None

    async def show(request: Request) -> Response:
        """`GET /api/tables/CODE`, for programs: whether it is there and how it stands, 404 where it is not; 403, 429.

        Else a page elsewhere could have browsers ask for made-up codes, as pictures, until their network may name none.
        """
        if not from_a_program(request.headers):
            raise Denied(403, "foreign_origin", "this is answered to programs, not to pages")
        code = read_code(request.path_params["code"])
        table = await endpoint.look_for(request, code, address(request))
        if table is None:
            raise Denied(404, "no_such_table", "there is no table with this code")
        seated = sum(seat.kind is Kind.PERSON for seat in table.seats)
        return reply({"code": table.code, "people": seated, "seats": len(table.seats), "games": table.games})

    async def invite(request: Request) -> Response:
        """`GET /api/invite`: the origin under which other phones reach this server, and what else they could try."""
        asked_at = request.headers.get("host", "")
        origin = invite_origin(asked_at, request.url.scheme, settings.public_url)
        others = await run_in_threadpool(other_origins, origin, settings.public_url, settings.host)
        return reply({"origin": origin, "others": others})

    async def healthz(_: Request) -> Response:
        """`GET /healthz`: it serves."""
        return reply({"status": "ok", "tables": host.tables})

    return [
        Route("/api/tables", create, methods=["POST"]),
        Route("/api/tables/{code}", show),
        Route("/api/invite", invite),
        Route("/healthz", healthz),
    ]


def _operating(host: Host, store: RedisStore, clock: Clock) -> list[Route]:
    async def readyz(_: Request) -> Response:
        """`GET /readyz`: 200 while people may be sent here.

        503 while it drains, has no lease, its store is away, or what runs in its background fails.
        """
        if host.draining or not host.lease.holds(clock.now_us()):
            return Denied(503, "not_now", "this server takes nobody now").answer()
        try:
            await probe(store.pipeline)
        except StoreDown as down:  # which is in the log by those who need it
            return Denied(503, "store_down", str(down)).answer()
        if failing := host.background.failing():
            return Denied(503, "failing", f"{' and '.join(failing)}: the log says why").answer()
        return reply({"status": "ready"})

    async def show_metrics(_: Request) -> Response:
        """`GET /metrics`: what has been counted."""
        return Response(metrics(host, clock), headers={"content-type": CONTENT_TYPE, "cache-control": "no-store"})

    return [Route("/readyz", readyz), Route("/metrics", show_metrics)]


async def _denied(_: Request, wrong: Exception) -> Response:
    assert isinstance(wrong, Denied)
    return wrong.answer()


async def _store_down(_: Request, down: Exception) -> Response:
    log.warning("the store does not answer: %s", down)
    return Denied(503, "store_down", STORE_AWAY).answer()


async def _bad_record(_: Request, bad: Exception) -> Response:
    log.error("what is kept cannot be read: %s", bad)
    return Denied(500, "bad_record", "what was kept of this cannot be read").answer()


class SecurityHeaders:
    """Puts the content policy and its companions on every answer."""

    def __init__(self, app: ASGIApp, *, encrypted: bool) -> None:
        self._app = app
        self._headers = [*SECURITY_HEADERS.items(), *([ENCRYPTED_ONLY] if encrypted else [])]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes everything through; adds headers to the start of an HTTP answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        await self._app(scope, receive, send_with_headers)


class KnownByName:
    """Answers nobody who has asked for a server of another name."""

    def __init__(self, app: ASGIApp, *, public_url: str) -> None:
        self._app = app
        self._public_url = public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes everything through, or says what to set. Sockets are asked where their page comes from."""
        app = self._app
        if scope["type"] == "http" and not right_host(Headers(scope=scope).get("host"), self._public_url):
            app = Denied(
                421, "unknown_host", "this server has no such name: its owner may set SLAPJACK_PUBLIC_URL"
            ).answer()
        await app(scope, receive, send)


class NotTooOften:
    """Answers no household more often than it can have cause to ask. Sockets are counted at the door."""

    def __init__(self, app: ASGIApp, *, clock: Clock, requests: AddressBuckets) -> None:
        self._app = app
        self._clock = clock
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes everything through, or says that it is too much."""
        where = scope["client"][0] if scope.get("client") else ""
        app = self._app
        if scope["type"] == "http" and not self._requests.take(where, self._clock.now_us()):
            answer = Denied(429, "too_many", "too much is asked from here: wait a minute").answer()
            answer.headers["connection"] = "close"  # whoever comes back before there is more is not let in
            app = answer
        await app(scope, receive, send)
