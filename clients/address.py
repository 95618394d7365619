"""Where a table is, in what people type or paste: a code, or the link that invites them."""

import asyncio
import json
import re
import urllib.request
from urllib.parse import urlsplit

from clients.sdk import NotAtTable

TIMEOUT_S = 5
_LINK = re.compile(r"(.+?)/(?:t|tv|ws)/([^/?#]+)")


class BadAddress(NotAtTable):
    """What was given is no address of a server; the text says what was."""


def server_at(text: str) -> str:
    """The address of a server as `http://host:port`; raises `BadAddress`. Without a scheme it is taken for `http`."""
    typed = text.strip()
    try:
        parts = urlsplit(typed if "://" in typed else f"http://{typed}")
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise BadAddress(f"{typed[:60]!r} is no address of a server, such as http://localhost:8000") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadAddress(f"{typed[:60]!r} is no address of a server, such as http://localhost:8000")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}"


def table_at(text: str, server: str) -> tuple[str, str]:
    """The server and the code in a code or a link; a code is of a table at `server`. Raises `BadAddress`."""
    if text.strip() and "/" not in text:
        return server, text.strip()
    link = _LINK.match(text.strip())
    if link is None:
        raise BadAddress(f"{text.strip()[:60]!r} is neither a code nor a link such as http://localhost:8000/t/K7WQ2M")
    return server_at(link[1]), link[2]


async def invite_origin(server: str) -> str:
    """The address under which others reach that server, as far as it knows; else the one that is known here."""
    return await asyncio.to_thread(_invite_origin, server)


def _invite_origin(server: str) -> str:
    try:
        with urllib.request.urlopen(f"{server}/api/invite", timeout=TIMEOUT_S) as answer:
            return server_at(json.load(answer)["origin"])
    except (OSError, ValueError, KeyError, TypeError, BadAddress):
        return server
