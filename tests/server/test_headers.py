"""What every answer says beside what was asked: nothing from elsewhere runs on the page, frames it or reads it."""

import gzip
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from server.base.settings import Settings
from server.web.app import SECURITY_HEADERS, build_app
from tests.server.web import Web
from tests.server.world import S

PATHS = [
    "/",
    "/t/K7WQ2M",
    "/tv/K7WQ2M",
    "/healthz",
    "/api/tables/222222",
    "/api/leaderboard",
    "/assets/no.js",
    "/no.file",
]


@pytest.mark.parametrize("path", PATHS)
async def test_every_answer_has_them(web: Web, path: str) -> None:
    async with web.browser() as browser:
        answer = await browser.get(path)
    for name, value in SECURITY_HEADERS.items():
        assert answer.headers.get_list(name.decode()) == [value.decode()]
    assert "strict-transport-security" not in answer.headers


async def test_what_is_refused_has_them_too(web: Web) -> None:
    async with web.browser() as browser:
        answer = await browser.post("/api/tables", headers={"origin": "http://evil.example"})
    assert answer.status_code == 403
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/no%00file.js", {}, 404),
        (f"/{'a' * 300}.js", {}, 404),
        ("/../../pyproject.toml", {}, 404),
        ("/..%2f..%2f..%2fpyproject.toml", {}, 404),
        ("/api/invite", {"host": "localhost:99999"}, 200),
        ("/api/invite", {"host": "["}, 421),
        ("/api/leaderboard", {"origin": "http://["}, 403),
        ("/api/leaderboard", {"origin": "null", "host": ""}, 403),
        (f"/api/leaderboard?page=00000001{'9' * 30}", {}, 400),
        (f"/api/leaderboard?page={'9' * 5_000}", {}, 400),
    ],
)
async def test_whatever_somebody_writes_has_an_answer(
    web: Web, path: str, headers: dict[str, str], status: int
) -> None:
    async with web.browser() as browser:
        assert (await browser.get(path, headers=headers)).status_code == status


def test_no_script_but_our_own() -> None:
    policy = SECURITY_HEADERS[b"content-security-policy"].decode()
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert allowed["default-src"] == "'none'"
    assert allowed["script-src"] == allowed["worker-src"] == "'self'"
    assert allowed["frame-ancestors"] == allowed["base-uri"] == allowed["form-action"] == "'none'"
    assert "*" not in policy
    assert "unsafe-eval" not in policy


async def test_a_part_of_the_page_is_packed_once_for_all_who_take_it_packed(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.web.page.PAGE", tmp_path)
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "index-1.js").write_text("slap();" * 1_000)
    packed: list[bytes] = []

    def pack(plain: bytes) -> bytes:
        packed.append(plain)
        return gzip.compress(plain)

    monkeypatch.setattr("server.web.page.gzip", SimpleNamespace(compress=pack))
    async with web.browser() as browser:
        for accepted, encoding in (("gzip", "gzip"), ("identity", None), ("br, gzip", "gzip"), ("gzip", "gzip")):
            answer = await browser.get("/assets/index-1.js", headers={"accept-encoding": accepted})
            assert (answer.status_code, answer.text) == (200, "slap();" * 1_000)
            assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
            assert answer.headers.get("content-encoding") == encoding
            assert answer.headers["vary"] == "accept-encoding"
            assert "immutable" in answer.headers["cache-control"]
        same = await browser.get("/assets/index-1.js", headers={"if-none-match": answer.headers["etag"]})
        assert (same.status_code, same.content) == (304, b"")
        for wanted in ("bytes=0-3", "bytes=" + ",".join(f"{at}-{at}" for at in range(100))):
            whole = await browser.get("/assets/index-1.js", headers={"range": wanted})
            assert (whole.status_code, whole.text) == (200, "slap();" * 1_000), "parts of a part are not given"
        (tmp_path / "assets" / "index-1.js").unlink()
        assert (await browser.get("/assets/index-1.js")).status_code == 200, "it is served from memory"
    assert len(packed) == 1


async def test_whoever_came_by_https_never_comes_without(web: Web) -> None:
    async with web.browser("https://slapjack.example", public_url="https://slapjack.example") as browser:
        answer = await browser.get("/healthz")
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


async def test_a_household_that_asks_too_much_is_told_so_and_no_other(web: Web) -> None:
    app = build_app(web.store, web, web.rng, Settings(data=web.data, requests_per_s=1, request_burst=3))

    def browser(address: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.ASGITransport(app, client=(address, 1)), base_url="http://table.local")

    async with browser("203.0.113.7") as ours, browser("203.0.113.8") as next_door:
        assert [(await ours.get("/healthz")).status_code for _ in range(5)] == [200] * 3 + [429] * 2
        assert (await next_door.get("/healthz")).status_code == 200
        web.time_us += 2 * S
        assert (await ours.get("/healthz")).status_code == 200


@pytest.mark.parametrize(
    ("host", "known"),
    [
        *[(host, True) for host in ("localhost:8000", "127.0.0.1", "[::1]:8000", "192.168.1.20:8000", "8.8.8.8")],
        *[(host, True) for host in ("raspberrypi", "Ann-PC.local", "pi.fritz.box:8000", "pi.home.arpa.", "")],
        *[(host, False) for host in ("evil.example", "evil.example:8000", "127.0.0.1.nip.io", "evil.notlocal", "[")],
    ],
)
async def test_a_name_that_may_be_anybodys_is_not_answered(web: Web, host: str, known: bool) -> None:
    """DNS rebinding: a page elsewhere has its own name lead here."""
    async with web.browser() as browser:
        for asked in (browser.get("/healthz", headers={"host": host}), browser.get("/", headers={"host": host})):
            assert ((await asked).status_code != 421) is known
        opened = await browser.post("/api/tables", headers={"host": host, "origin": f"http://{host or 'x'}"})
        assert (opened.status_code == 201) is (known and bool(host))
    async with web.browser(public_url="https://slapjack.example") as browser:
        assert (await browser.get("/healthz", headers={"host": host})).status_code == 200


PICTURE = {"accept": "image/avif,image/webp,*/*;q=0.8", "user-agent": "Mozilla/5.0 (X11; Linux x86_64)"}


@pytest.mark.parametrize("site", [{}, {"sec-fetch-site": "cross-site", "sec-fetch-dest": "image"}])
async def test_pictures_elsewhere_spend_no_wrong_codes(web: Web, site: dict[str, str]) -> None:
    app = build_app(web.store, web, web.rng, Settings(data=web.data, misses_per_minute=3))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app, client=("203.0.113.7", 1)), base_url="http://table.local"
    ) as program:
        code = (await program.post("/api/tables")).json()["code"]
        for nth in range(2, 10):
            assert (await program.get(f"/api/tables/22222{nth}", headers={**PICTURE, **site})).status_code == 403
        assert [(await program.get(f"/api/tables/22222{nth}")).status_code for nth in range(2, 6)] == [
            404,
            404,
            404,
            429,
        ]
        web.time_us += 60 * S
        assert (await program.get(f"/api/tables/{code}")).status_code == 200


async def test_pictures_elsewhere_ask_no_questions_either(web: Web) -> None:
    async with web.browser() as browser:
        answer = await browser.get("/api/leaderboard", headers={**PICTURE, "sec-fetch-site": "same-site"})
    assert answer.status_code == 403
