"""The web application: the page, the few HTTP questions beside it, and the socket."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.connection import Door, read_code, right_origin
from server.host import Host, ServerFull
from server.lan import invite_origin
from server.limits import AddressBuckets
from server.ports import Clock, Luck
from server.protocol import Kind
from server.settings import Settings
from server.store.port import BadRecord, Store, StoreDown

log = logging.getLogger("slapjack.app")

PAGE = Path(str(files("clients"))) / "web" / "dist"

SECURITY_HEADERS = {
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        b"media-src 'self' data: blob:; font-src 'self'; connect-src 'self' ws: wss:; manifest-src 'self'; "
        b"worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
}


def build_app(store: Store, clock: Clock, luck: Luck, settings: Settings) -> Starlette:
    """The application over a store that is already open, and which stays open when the application ends."""
    host = Host(store, clock, luck, settings.max_tables, settings.max_spectators)
    door = Door(host, clock, settings)
    tables = AddressBuckets(settings.tables_per_minute / 60, settings.tables_per_minute)

    async def create_table(request: Request) -> Response:
        """`POST /api/tables`: a new table. 201 with its code; 403, 429, 503."""
        if not right_origin(request.headers.get("origin"), request.headers.get("host"), settings.public_url):
            return _error(403, "foreign_origin", "this page belongs to another server")
        if not tables.of(_address(request)).take(clock.now_us()):
            return _error(429, "too_many", "too many new tables from here: wait a minute")
        try:
            return JSONResponse({"code": await host.create()}, 201)
        except ServerFull:
            return _error(503, "server_full", "this server is full: try again later")

    async def show_table(request: Request) -> Response:
        """`GET /api/tables/CODE`: whether it is there and how it stands, 404 where it is not."""
        address = _address(request)
        if not door.may_guess(address):
            return _error(429, "too_many", "too many wrong codes: wait a minute")
        code = read_code(request.path_params["code"])
        table = await host.peek(code) if code is not None else None
        if table is None:
            door.missed(address)
            return _error(404, "no_such_table", "there is no table with this code")
        people = sum(seat.kind is Kind.PERSON for seat in table.seats)
        return JSONResponse({"code": table.code, "people": people, "seats": len(table.seats), "games": table.games})

    async def invite(request: Request) -> Response:
        """`GET /api/invite`: the origin under which other phones reach this server."""
        host = request.headers.get("host", "")
        return JSONResponse({"origin": invite_origin(host, request.url.scheme, settings.public_url)})

    async def healthz(_: Request) -> Response:
        """`GET /healthz`: it serves."""
        return JSONResponse({"status": "ok", "tables": host.tables})

    async def page(request: Request) -> Response:
        """The page, whichever of its screens is asked for."""
        name = request.path_params.get("path", "")
        if "." in name.rpartition("/")[2]:
            found = PAGE / name
            if found.resolve().is_relative_to(PAGE.resolve()) and found.is_file():
                return FileResponse(found, headers={"cache-control": "no-cache"})
            raise HTTPException(404)
        if not (PAGE / "index.html").is_file():
            return Response("The page has not been built: run make play.", 503, media_type="text/plain")
        return FileResponse(PAGE / "index.html", headers={"cache-control": "no-cache"})

    async def store_down(_: Request, down: Exception) -> Response:
        log.warning("the store does not answer: %s", down)
        return _error(503, "store_down", "the score book does not answer: try again in a moment")

    async def bad_record(_: Request, bad: Exception) -> Response:
        log.error("a table cannot be read: %s", bad)
        return _error(500, "bad_record", "what was kept of this table cannot be read")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await host.close()

    return Starlette(
        routes=[
            Route("/api/tables", create_table, methods=["POST"]),
            Route("/api/tables/{code}", show_table),
            Route("/api/invite", invite),
            Route("/healthz", healthz),
            WebSocketRoute("/ws/{code}", door.answer),
            Mount("/assets", StaticFiles(directory=PAGE / "assets", check_dir=False)),
            Route("/", page),
            Route("/{path:path}", page),
        ],
        middleware=[Middleware(SecurityHeaders)],
        exception_handlers={StoreDown: store_down, BadRecord: bad_record},
        lifespan=lifespan,
    )


class SecurityHeaders:
    """Puts the content policy and its companions on every answer, and lets hashed assets be kept for good."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes everything through; adds headers to the start of an HTTP answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *SECURITY_HEADERS.items()]
                if scope["path"].startswith("/assets/") and message["status"] == 200:
                    message["headers"].append((b"cache-control", b"public, max-age=31536000, immutable"))
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def _error(status: int, error: str, text: str) -> Response:
    return JSONResponse({"error": error, "text": text}, status)
