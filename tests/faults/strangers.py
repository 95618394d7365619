"""Row 18: pages of other origins, people who would be others, moves that are said again, names that are attacks."""

import asyncio
import hashlib
import itertools
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from playwright.sync_api import Page, sync_playwright

from clients.sdk import Player, create_table
from engine.rules import Rules
from server.base.keys import new_key
from server.serve import RealRandomSource
from tests.browser.conftest import ARGUMENTS
from tests.clients.test_terminal_pictures import ONE, ZERO, parts, seen
from tests.faults.figure import Figure, both
from tests.faults.wire import dial
from tests.support.company import caught_up, company
from tests.support.serving import Served, served
from tests.support.tables import a_game, a_seat
from wire.messages import CloseCode, DoSlap, DoTurn, Join, Quit, SetRules, Stage, Start, Welcome

ORIGINS = (
    *("http://evil.example", "https://evil.example", "null", "file://", "http://localhost:1", "https://127.0.0.1"),
    *(
        "http://127.0.0.1.evil.example",
        "http://evil.example#",
        "http://user@127.0.0.1",
        "chrome-extension://abc",
        "",
        " ",
    ),
)
QUESTIONS = (
    *(("POST", path) for path in ("/api/tables", "/api/me", "/api/me/link", "/api/me/recovery", "/api/me/move")),
    *(("POST", "/api/me/unlink"), ("DELETE", "/api/me")),
)


# --- origins -----------------------------------------------------------------------------------------------------


async def foreign(server: Served) -> Figure:
    """No page of another origin opens a socket or asks a question that changes anything."""
    code = await create_table(server.url)
    let_in: list[str] = []
    for origin in ORIGINS:
        wire = await dial(server.url, f"/ws/{code}", Origin=origin)
        await wire.say(Join("Eve", "🦊"))
        if await wire.close_code() != CloseCode.FOREIGN_ORIGIN:
            let_in.append(f"socket from {origin!r}")
        wire.drop()
        for method, path in QUESTIONS:
            status = await asyncio.to_thread(asked, server.url + path, method, origin)
            if status != 403:
                let_in.append(f"{method} {path} from {origin!r}: {status}")
    tried = len(ORIGINS) * (1 + len(QUESTIONS))
    return Figure(not let_in, "; ".join([f"{len(let_in)} of {tried} foreign requests let in", *let_in[:3]]))


def asked(url: str, method: str, origin: str) -> int:
    """What a browser's question from there is answered."""
    request = urllib.request.Request(url, method=method, data=b"{}", headers={"Origin": origin})
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


# --- seats and moves ---------------------------------------------------------------------------------------------


async def impersonated(server: Served, folder: Path) -> Figure:
    """Everything but the key is tried at somebody's seat, and every move is said again, by them and by others."""
    wrong: list[str] = []
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        key, seat = ann.key, str(ann.seat)
        hashed = hashlib.sha256(key.encode()).hexdigest()
        keys = ("", seat, hashed, key[:-1], key + "A", key.swapcase(), f" {key}", key[::-1], "Ann", "A" * 32)
        for tried in keys:
            wire = await dial(server.url, f"/ws/{ann.table.code}", Cookie=f"slapjack={key}")
            await wire.say(Join("Ann", "🙂", tried))
            welcome = await wire.hear()
            if not isinstance(welcome, Welcome) or welcome.seat == seat or welcome.key == key:
                wrong.append(f"a way to Ann's seat: {tried!r}")
            await wire.say(Quit())
            await wire.close_code()
            wire.drop()
        await caught_up(ann)
        wrong += [] if ann.online and ann.seat == seat else ["Ann has lost her seat"]
        turned = await moves_again(ann, ben, 4)
        wrong += [] if turned == 4 else [f"{turned} cards were turned by 4 moves"]
    kept = b"".join(path.read_bytes() for path in (folder / "data").rglob("*") if path.is_file())
    wrong += ["a key is kept as it is"] * (key.encode() in kept) + ["no hash is kept"] * (hashed.encode() not in kept)
    secrets = {new_key(RealRandomSource()) for _ in range(10_000)}
    bits = min(map(len, secrets)) * 6
    wrong += [] if bits >= 128 and len(secrets) == 10_000 else [f"keys of {bits} bits"]
    text = f"{len(keys)} false ways to a seat, moves said 7 times, keys of {bits} bits kept hashed: {len(wrong)} wrong"
    return Figure(not wrong, "; ".join([text, *wrong[:3]]))


async def moves_again(ann: Player, ben: Player, cards: int) -> int:
    """So many turns, said by whoever's they are not and then four times by whoever's they are; the cards turned."""
    ann.say(SetRules(Rules(min_show_ms=300)))
    ann.start()
    for player in (ann, ben):
        await player.until(lambda p: p.table.stage is Stage.PLAYING and p.view is not None)
    for nth in range(1, cards + 1):
        for player in (ann, ben):
            await player.until(lambda p, nth=nth: p.view is not None and p.view.turned >= nth - 1)  # type: ignore[misc]
        turner, other = (ann, ben) if ann.my_turn else (ben, ann)
        for player, times in ((other, 3), (turner, 4)):
            for _ in range(times):
                player.say(DoTurn(ann.table.game, nth))
        turner.say(DoSlap(ann.table.game + 1, nth))
    for player in (ann, ben):
        await player.until(lambda p: p.view is not None and p.view.turned >= cards)
        await caught_up(player)
    assert ann.view is not None
    return ann.view.turned


# --- names -------------------------------------------------------------------------------------------------------

PAYLOADS = (
    *(
        "<b>x",
        "<img src=x>",
        "<svg/onload=pwned=1>",
        "&lt;i&gt;",
        "&#60;i&#62;",
        "</title>",
        "<!--",
        "]]>",
        "<script>pwned=1",
    ),
    *(
        "{{7*7}}",
        "${7*7}",
        "#{7*7}",
        "<%=7*7%>",
        "{@html p}",
        "{pwned=1}",
        "`pwned=1`",
        "javascript:pwned=1",
        "data:text/html,p",
    ),
    *(
        '" onload="pwned=1',
        "' onx='pwned=1",
        '"><i>',
        "'><i>",
        "\\x3ci>",
        "\\u003ci\\u003e",
        "%3Ci%3E",
        "pwned=1//",
        "*/pwned=1/*",
    ),
    *(
        "\x1b[2J",
        "\x1b]0;p\x07",
        "\x9b31m",
        "\x1bP+q\x1b\\",
        "\r\nINFO p",
        "\n\n",
        "\t\t",
        "\x00p",
        "\x08\x08p",
        "\x7f",
    ),
    *(
        "\u202eevE",
        "\u2066x\u2069",
        "\u200b",
        "\u200d\u200d",
        "\ufeffx",
        "\u2028x",
        "\u0301" * 9,
        "\U000e0041",
        "\ufff9x",
    ),
    *(
        "[red]",
        "[/]",
        "[link=p]x[/link]",
        "[@click=p]",
        "%s%s%n",
        "{0}",
        "{self}",
        "$(id)",
        "`id`",
        ";id",
        "|id",
        "&&id",
    ),
    *(
        "' OR 1=1--",
        '"; DROP',
        "=cmd|p",
        "@SUM(1)",
        "+1+1",
        "../../etc",
        "..\\..",
        "con.txt",
        "__proto__",
        "constructor",
    ),
    *(
        "null",
        "undefined",
        "NaN",
        "true",
        "0",
        "-1",
        "[object Object]",
        "toString",
        "hasOwnProperty",
        "🏴\u200d☠\ufe0f",
    ),
)
NAMES = list(itertools.islice((f"{before}{payload}" for before in ("", "Eve ", "Ann") for payload in PAYLOADS), 200))
TO_A_TABLE = 8
KEY_LENGTH = 32


PLAIN = "b, i, img, svg [onload], script:not([src]), iframe, object, title ~ title, [onload], [onerror], [onx]"
"""What no name may bring onto a page, as a selector."""


def in_a_terminal(names: Sequence[str]) -> list[str]:
    """The names that would get out of their place in a terminal, even where a server has let them pass."""
    out = []
    for name in names:
        now = seen(seats=2, view=a_game(["4H", "JS"]))
        assert now.table is not None
        seats = tuple(a_seat(place, name=name) for place in range(2))
        table = msgspec.structs.replace(now.table, seats=seats)
        now = msgspec.structs.replace(now, table=table, players={ZERO: seats[0], ONE: seats[1]})
        if any(set("\x1b\x9b\x07\r\t\x00\x08\u202e\u2066\u200b") & set(picture) for picture in parts(now)):
            out.append(f"a terminal obeys {name!r}")
    return out


async def seated(server: Served, names: Sequence[str]) -> tuple[str, int]:
    """A table at which these people sit, as far as they are let in; its code, and how many those are."""
    code, let_in = await create_table(server.url), 0
    wires = [await dial(server.url, f"/ws/{code}") for _ in names]
    for name, wire in zip(names, wires, strict=True):
        await wire.say(Join(name, "🙂"))
        let_in += isinstance(await wire.hear(), Welcome)
    await wires[0].say(Start())
    await wires[0].say(Start())
    await asyncio.sleep(0.1)
    for wire in wires:
        wire.drop()
    return code, let_in


def on_pages(server: Served, names: Sequence[str]) -> tuple[int, list[str]]:
    """How many of these are let in, and what is wrong on a phone or a television that shows them."""
    let_in, wrong = 0, []
    with sync_playwright() as playwright:
        binary = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=binary, args=ARGUMENTS)
        phone, television = (browser.new_context(locale="en-GB").new_page() for _ in range(2))
        heard: list[str] = []
        for page in (phone, television):
            page.on("console", lambda message: heard.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: heard.append(str(error)))
            page.on("dialog", lambda dialog: heard.append(f"a dialog: {dialog.message}"))
            page.on("request", lambda request: addresses.append(request.url))
        addresses: list[str] = []
        for at in range(0, len(names), TO_A_TABLE):
            group = ["Host", *names[at : at + TO_A_TABLE]]
            with ThreadPoolExecutor(1) as apart:
                code, seats = apart.submit(asyncio.run, seated(server, group)).result()
            let_in += seats - 1
            for page, path in ((phone, "t"), (television, "tv")):
                page.goto(f"{server.url}/{path}/{code}")
            phone.get_by_label("Your name").fill("Ann")
            phone.get_by_role("button", name="Take a seat", exact=True).click()
            for page in (phone, television):
                page.get_by_text("Host").first.wait_for()
                wrong += found(page, group)
        kept = phone.evaluate("JSON.stringify(localStorage)")
        keys = [word for word in re.findall(r"[A-Za-z0-9_-]{22,64}", kept) if len(word) == KEY_LENGTH]
        wrong += [f"a key in {address}" for address in addresses if any(key in address for key in keys)]
        wrong += ["no key was looked for"] * (not keys)
        browser.close()
    return let_in, wrong + [f"the page says {line}" for line in heard]


def found(page: Page, names: Sequence[str]) -> list[str]:
    """What the names have brought onto that page."""
    elements = page.locator(PLAIN).count()
    return [f"{elements} elements of {names}"] * (elements > 0) + [f"ran {names}"] * bool(
        page.evaluate("'pwned' in window")
    )


def named(server: Served, *, in_a_browser: bool) -> Figure:
    """All the names, wherever names stand."""
    wrong = in_a_terminal(NAMES)
    if in_a_browser:
        let_in, on_them = on_pages(server, NAMES)
        wrong += on_them
    else:
        let_in = asyncio.run(seated(server, ["Host", *NAMES[:TO_A_TABLE]]))[1] - 1
    log = server.said()
    wrong += [f"the log has {name!r}" for name in NAMES if len(name) > TO_A_TABLE and name in log]
    wrong += ["the log has control signs"] * any(ord(sign) < 32 and sign != "\n" for sign in log)
    where = "page, television, terminal and log" if in_a_browser else "terminal and log"
    text = f"{len(NAMES)} hostile names, {let_in} of them let in, on {where}: {len(wrong)} wrong"
    return Figure(not wrong, "; ".join([text, *wrong[:3]]))


def row(folder: Path, full: bool) -> Figure:
    """The short form leaves the browser to tests/browser."""
    with served(folder, module="server", SLAPJACK_ASKS_PER_MINUTE="100000") as server:
        figures = [asyncio.run(foreign(server)), asyncio.run(impersonated(server, folder))]
        figures.append(named(server, in_a_browser=full))
    return both(figures)
