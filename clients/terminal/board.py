"""The leaderboard of a server, by its question over HTTP (docs/http.md)."""

import asyncio
import urllib.error
import urllib.request
from urllib.parse import urlencode

import msgspec
from rich.text import Text

from clients.terminal.words import inert, ms
from wire.figures import FIGURES, Figure, Page, Row, Unit

TIMEOUT_S = 10

CELLS = {Unit.NUMBER: 5, Unit.SHARE: 4, Unit.US: 7}
COLUMNS = {by: max(CELLS[figure.unit], len(by)) for by, figure in FIGURES.items()}
"""How wide each figure is; a heading is the word that a board is asked for by."""


class NoBoard(Exception):
    """The leaderboard cannot be shown; the text says why in one line."""


async def ask(url: str, key: str, **asked: str) -> Page:
    """Asks for a page, as the person whose key it is; raises `NoBoard`."""
    return await asyncio.to_thread(_ask, f"{url}/api/leaderboard?{urlencode(asked)}", key)


def _ask(address: str, key: str) -> Page:
    request = urllib.request.Request(address, headers={"authorization": f"Bearer {key}"} if key else {})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return msgspec.json.decode(answer.read(), type=Page)
    except urllib.error.HTTPError as refused:
        with refused:
            raise NoBoard(f"The server shows no leaderboard just now ({refused.code}).") from None
    except (OSError, ValueError):
        raise NoBoard("The server cannot be reached, or has no leaderboard.") from None


def in_columns(board: Page) -> Text:
    """The rows, best first; one's own is reversed, and stands below where it is on another page."""
    lines = [Text(f"{'':>5}  {'name':20}{''.join(f'  {by:>{cells}}' for by, cells in COLUMNS.items())}", "dim")]
    lines += [_line(row) for row in board.rows]
    if board.you is not None and not any(row.you for row in board.rows):
        lines += [Text("  …"), _line(board.you)]
    if not board.rows:
        lines.append(Text("Nobody yet: it counts games between two people or more.", "italic"))
    return Text("\n", no_wrap=True).join(lines)


def _line(row: Row) -> Text:
    rank = f"{row.rank}." if row.rank is not None else "–"
    name = Text(inert(row.name, 20))
    name.truncate(20, pad=True)
    figures = "".join(f"  {_figure(row, FIGURES[by]):>{cells}}" for by, cells in COLUMNS.items())
    line = Text(f"{rank:>5}  ").append_text(name).append(figures)
    if row.you:
        line.stylize("reverse")
    return line


def _figure(row: Row, figure: Figure) -> str:
    value = getattr(row, figure.field)
    match value, figure.unit:
        case None, _:
            return "–"
        case _, Unit.SHARE:
            return f"{value:.0%}"
        case _, Unit.US:
            return ms(value)
        case _:
            return f"{value:.1f}".removesuffix(".0")
