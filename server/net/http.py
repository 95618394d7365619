"""What all questions over HTTP have in common: how they are read, how they are answered, who asks, sockets or not.

Knows requests and answers. Knows nothing of what is asked.
"""

from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response

from engine.value import Value
from server.base.keys import KEY
from server.base.ports import Clock
from server.base.settings import Settings
from server.net.limits import AddressBuckets
from server.net.origins import from_another_page, right_origin

MOST_BODY_BYTES = 4096
COOKIE_S = 365 * 86_400
COOKIE = "slapjack"

Asked = TypeVar("Asked", bound=Value)


class Denied(Exception):
    """What was asked is not done: an HTTP status, the reason for programs, and the reason for people."""

    def __init__(self, status: int, reason: str, text: str) -> None:
        super().__init__(text)
        self.status, self.reason, self.text = status, reason, text

    def answer(self) -> Response:
        """The answer that says so."""
        return reply({"error": self.reason, "text": self.text}, self.status)


class TooManyMisses(Denied):
    """Too many wrong codes have been named from one household, or from everywhere."""

    def __init__(self) -> None:
        super().__init__(429, "too_many", "too many wrong codes: wait a minute")


class RequestGuard:
    """Lets in what comes from our own page, and from each household no more than so much a minute."""

    def __init__(self, clock: Clock, settings: Settings, per_minute: int) -> None:
        self._clock = clock
        self._settings = settings
        self._asks = AddressBuckets(per_minute / 60, per_minute)

    def let_in(self, request: Request) -> None:
        """Raises `Denied` where the request is to go no further."""
        origin, host = request.headers.get("origin"), request.headers.get("host")
        if from_another_page(request.headers) or not right_origin(origin, host, self._settings.public_url):
            raise Denied(403, "foreign_origin", "this page belongs to another server")
        if not self._asks.take(address(request), self._clock.now_us()):
            raise Denied(429, "too_many", "too much is asked from here: wait a minute")


def reply(value: object, status: int = 200) -> Response:
    """An answer in JSON that nobody keeps."""
    return Response(msgspec.json.encode(value), status, {"cache-control": "no-store"}, media_type="application/json")


async def read_body(request: Request, kind: type[Asked]) -> Asked:
    """What was sent, nothing being an empty object; raises `Denied`."""
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BODY_BYTES:
                raise Denied(413, "too_long", f"more than {MOST_BODY_BYTES} bytes")
    except ClientDisconnect:  # which nobody will hear, but it is no error of ours
        raise Denied(400, "malformed", "it breaks off") from None
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        raise Denied(400, "malformed", str(wrong)) from None


def key_of(asking: HTTPConnection) -> str:
    """The asking device's secret, from its `Authorization: Bearer` or else from its cookie; empty without one."""
    scheme, _, token = asking.headers.get("authorization", "").partition(" ")
    key = token.strip() if scheme.lower() == "bearer" else asking.cookies.get(COOKIE, "")
    return key if KEY.fullmatch(key) else ""


def address(request: Request) -> str:
    """Where the request comes from."""
    return request.client.host if request.client is not None else ""


def keep_key(response: Response, request: Request, key: str, settings: Settings) -> None:
    """Has the browser keep the secret for a year; with an empty one it forgets it."""
    # Behind a proxy the request itself is plain; and what is kept as secure would not come back over a home network.
    public = settings.public_url.startswith("https:") and settings.public_url.endswith(
        f"//{request.headers.get('host', '').lower()}"
    )
    response.set_cookie(
        COOKIE,
        key,
        max_age=COOKIE_S if key else 0,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https" or public,
    )
