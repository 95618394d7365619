"""The page and the parts of it, as they were built (tools/web.py): read once, and served from memory.

So nobody's question waits for a disk, and all cost the same. Parts of a file are not given, though somebody may ask for
them (RFC 9110 section 14.2). Knows files, and nothing of what is on them.
"""

import gzip
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files
from mimetypes import guess_type
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from server.base.settings import Settings
from server.net.http import keep_key, key_of

PAGE = Path(str(files("clients"))) / "web" / "dist"
FOR_GOOD = "public, max-age=31536000, immutable"
"""The names of such parts change with what is in them."""
ASK_AGAIN = "no-cache"
PACKED = (".js", ".css", ".html", ".svg", ".md", ".webmanifest")
"""What is text gets smaller; the pictures have been packed already."""


@dataclass(frozen=True)
class Part:
    """One file, and what is said with it."""

    plain: bytes
    packed: bytes | None
    headers: dict[str, str] = field(default_factory=dict)

    def answer(self, request: Request) -> Response:
        """The file as whoever asks can take it, or that they have it (RFC 9110 section 13.1.2)."""
        if self.headers["etag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=self.headers)
        if self.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self.packed, headers={**self.headers, "content-encoding": "gzip"})
        return Response(self.plain, headers=self.headers)


def routes(settings: Settings) -> list[BaseRoute]:
    """The page at every address of its own, and its parts."""
    # Nothing is looked for on the disk, whatever somebody asks for.
    parts = {path.relative_to(PAGE).as_posix(): _read(path) for path in PAGE.rglob("*") if path.is_file()}

    async def page(request: Request) -> Response:
        """The page, whichever of its screens is asked for."""
        name = request.path_params.get("path", "")
        if name.startswith("assets/") or "." in name.rpartition("/")[2]:
            if name not in parts:
                raise HTTPException(404)
            return parts[name].answer(request)
        if "index.html" not in parts:
            return Response("The page has not been built: run make play.", 503, media_type="text/plain")
        answer = parts["index.html"].answer(request)
        if key := key_of(request):
            keep_key(answer, request, key, settings)  # for another year
        return answer

    return [Route("/", page), Route("/{path:path}", page)]


def _read(path: Path) -> Part:
    plain = path.read_bytes()
    kind = guess_type(path.name)[0] or "application/octet-stream"
    headers = {
        "content-type": f"{kind}; charset=utf-8" if kind.startswith("text/") else kind,
        "cache-control": FOR_GOOD if path.parent == PAGE / "assets" else ASK_AGAIN,
        "etag": f'"{sha256(plain).hexdigest()[:32]}"',
        "vary": "accept-encoding",
    }
    return Part(plain, gzip.compress(plain) if path.suffix in PACKED else None, headers)
