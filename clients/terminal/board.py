"""The leaderboard of a server, by its question over HTTP (docs/protocol.md, P14)."""

import asyncio
import urllib.error
import urllib.request
from urllib.parse import urlencode

import msgspec
from rich.text import Text

from clients.terminal.words import inert, ms

TIMEOUT_S = 10


class NoBoard(Exception):
    """The leaderboard cannot be shown; the text says why in one line."""


class Row(msgspec.Struct):
    """Somebody's figures; `rank` is None where there are too few games yet."""

    rank: int | None
    name: str
    games: int
    wins: int
    streak: int
    best_us: int | None
    median_us: int | None
    you: bool


class Board(msgspec.Struct):
    """One page of `pages`; `you` is one's own row, wherever it stands."""

    people: int
    pages: int
    rows: list[Row]
    you: Row | None


async def ask(url: str, key: str, **asked: str) -> Board:
    """Asks for a page, as the person whose key it is; raises `NoBoard`."""
    return await asyncio.to_thread(_ask, f"{url}/api/leaderboard?{urlencode(asked)}", key)


def _ask(address: str, key: str) -> Board:
    request = urllib.request.Request(address, headers={"authorization": f"Bearer {key}"} if key else {})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return msgspec.json.decode(answer.read(), type=Board)
    except urllib.error.HTTPError as refused:
        with refused:
            raise NoBoard(f"The server shows no leaderboard just now ({refused.code}).") from None
    except (OSError, ValueError):
        raise NoBoard("The server cannot be reached, or has no leaderboard.") from None


def in_columns(board: Board) -> Text:
    """The rows, best first; one's own is reversed, and stands below where it is on another page."""
    lines = [Text(f"{'':>5}  {'name':20}  games   wins   rate  streak     best   median", "dim")]
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
    rate = f"{row.wins / row.games:.0%}" if row.games else "–"
    best = ms(row.best_us) if row.best_us is not None else "–"
    median = ms(row.median_us) if row.median_us is not None else "–"
    figures = f"  {row.games:5}  {row.wins:5}  {rate:>5}  {row.streak:6}  {best:>7}  {median:>7}"
    line = Text(f"{rank:>5}  ").append_text(name).append(figures)
    if row.you:
        line.stylize("reverse")
    return line
