"""The page and the parts of it, as they were built (tools/web.py). Knows files, and nothing of what is on them."""

import gzip
from functools import lru_cache
from importlib.resources import files
from mimetypes import guess_type
from os import stat_result
from pathlib import Path

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import PathLike, StaticFiles
from starlette.types import Scope

from server.base.settings import Settings
from server.net.http import keep_key, key_of

PAGE = Path(str(files("clients"))) / "web" / "dist"


def routes(settings: Settings) -> list[BaseRoute]:
    """The page at every address of its own, and its parts."""
    # Nothing else is looked for on the disk, whatever somebody asks for.
    its_files = {str(path.relative_to(PAGE)) for path in PAGE.rglob("*") if path.is_file()}

    async def page(request: Request) -> Response:
        """The page, whichever of its screens is asked for."""
        name = request.path_params.get("path", "")
        if "." in name.rpartition("/")[2]:
            if name not in its_files:
                raise HTTPException(404)
            return FileResponse(PAGE / name, headers={"cache-control": "no-cache"})
        if not (PAGE / "index.html").is_file():
            return Response("The page has not been built: run make play.", 503, media_type="text/plain")
        answer = FileResponse(PAGE / "index.html", headers={"cache-control": "no-cache"})
        if key := key_of(request):
            keep_key(answer, request, key, settings)  # for another year
        return answer

    return [
        Mount("/assets", Parts(directory=PAGE / "assets", check_dir=False)),
        Route("/", page),
        Route("/{path:path}", page),
    ]


class Parts(StaticFiles):
    """The parts of the page, which may be kept for good: their names change with what is in them.

    Each is packed once, and not whenever somebody asks: that takes milliseconds, for which every table would wait.
    """

    def file_response(
        self, full_path: PathLike, stat_result: stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """The file as whoever asks can take it."""
        if "gzip" in Headers(scope=scope).get("accept-encoding", ""):
            kind, _ = guess_type(full_path)
            answer = Response(_packed(str(full_path)), status_code, {"content-encoding": "gzip"}, kind)
        else:
            answer = super().file_response(full_path, stat_result, scope, status_code)
        answer.headers["vary"] = "accept-encoding"
        answer.headers["cache-control"] = "public, max-age=31536000, immutable"
        return answer


@lru_cache(maxsize=100)
def _packed(path: str) -> bytes:
    return gzip.compress(Path(path).read_bytes())
