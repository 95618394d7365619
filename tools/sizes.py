"""How large things may be: modules, functions, classes, and the page's sources.

    python -m tools.sizes

Prints what is larger and ends with 1. What may be larger is named below with its reason; an exception that nothing
needs any more is printed too, to be taken off the list.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

MOST_LINES, MOST_FUNCTION_LINES, MOST_METHODS = 400, 60, 25
PYTHON = ("engine", "wire", "server", "clients/*.py", "clients/sdk", "clients/bots", "clients/terminal", "tools")
PAGE = "clients/web/src"

UNMEASURED = {"lib/wire.ts": "generated", "messages": "catalogues: a line for each sentence"}
"""Sources of the page that may be of any length."""

EXCEPTIONS: dict[str, tuple[int, str]] = {
    "wire/messages.py": (700, "the list of messages: long because there are many, and looked up by name"),
    "server/table/play.py": (440, "to be cut: what is due next and what a move does are still in one"),
    "server/table/play.py Play": (28, "to be cut, as its module"),
    "server/table/seats.py Seats": (28, "to be cut: finding seats, and changing them"),
    "clients/sdk/player.py Player": (31, "what a player can do, each a line: to be cut"),
    "clients/sdk/session.py": (430, "to be cut"),
    "clients/sdk/session.py Session": (28, "to be cut"),
    "clients/terminal/app.py": (600, "to be cut into a file for each screen"),
    "clients/terminal/app.py Table": (29, "to be cut into a file for each screen"),
}
"""What may be larger: how large, and why."""


def python_files() -> Iterator[Path]:
    """Every module of ours that is measured."""
    for place in PYTHON:
        yield from sorted(ROOT.glob(place if place.endswith(".py") else f"{place}/**/*.py"))


def page_files() -> Iterator[Path]:
    """Every source of the page that is measured."""
    for kind in ("svelte", "ts"):
        for path in sorted((ROOT / PAGE).glob(f"**/*.{kind}")):
            if not any(path.is_relative_to(ROOT / PAGE / name) for name in UNMEASURED):
                yield path


def measured() -> Iterator[tuple[str, int, int]]:
    """Everything with its size and the size it may have: a module and a function in lines, a class in methods."""
    for path in python_files():
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text("utf-8")
        yield name, len(text.splitlines()), MOST_LINES
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{name} {node.name}", node.end_lineno - node.lineno + 1, MOST_FUNCTION_LINES
            elif isinstance(node, ast.ClassDef):
                methods = sum(isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) for each in node.body)
                yield f"{name} {node.name}", methods, MOST_METHODS
    for path in page_files():
        yield path.relative_to(ROOT).as_posix(), len(path.read_text("utf-8").splitlines()), MOST_LINES


def too_large(exceptions: dict[str, tuple[int, str]]) -> tuple[list[str], list[str]]:
    """A line for each thing that is larger than it may be, and one for each exception that is not needed."""
    found, needed = [], set()
    for name, size, most in measured():
        if size > most:
            needed.add(name)
            most, _ = exceptions.get(name, (most, ""))
        if size > most:
            found.append(f"{name} is {size} long, but at most {most} are allowed")
    return found, [f"{name} needs no exception any more" for name in sorted(exceptions.keys() - needed)]


def main() -> int:
    """Says what is too large."""
    found, unneeded = too_large(EXCEPTIONS)
    for line in (*found, *unneeded):
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
