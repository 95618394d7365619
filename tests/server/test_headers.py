"""What every answer says beside what was asked: nothing from elsewhere runs on the page, frames it or reads it."""

import pytest

from server.app import SECURITY_HEADERS
from tests.server.web import Web

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


def test_no_script_but_our_own() -> None:
    policy = SECURITY_HEADERS[b"content-security-policy"].decode()
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert allowed["default-src"] == "'none'"
    assert allowed["script-src"] == allowed["worker-src"] == "'self'"
    assert allowed["frame-ancestors"] == allowed["base-uri"] == allowed["form-action"] == "'none'"
    assert "*" not in policy
    assert "unsafe-eval" not in policy


async def test_whoever_came_by_https_never_comes_without(web: Web) -> None:
    async with web.browser("https://slapjack.example", public_url="https://slapjack.example") as browser:
        answer = await browser.get("/healthz")
    assert answer.headers["strict-transport-security"] == "max-age=31536000"
