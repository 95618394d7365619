"""Every rule number of engine/RULES.md is cited by a test, and nothing cites a number that is not there."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEFINED = re.compile(r"^ *- \*\*(R\d+[a-z]?)\b", re.MULTILINE)
IN_TEXT = re.compile(r"\bR\d+[a-z]?\b")
IN_A_NAME = re.compile(r"(?<=_)r(\d+[a-z]?)(?=_)")
RULES = set(DEFINED.findall((ROOT / "engine" / "RULES.md").read_text(encoding="utf-8")))


def sources(*folders: str) -> Iterator[Path]:
    """Our own code in these folders."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".ts", ".svelte"} and not {"node_modules", "dist"} & set(path.parts):
                yield path


def cited(path: Path) -> set[str]:
    """The numbers in a source: `R7a` anywhere, and `r7a` in the name of a test."""
    text = path.read_text(encoding="utf-8")
    return set(IN_TEXT.findall(text)) | {f"R{number}" for number in IN_A_NAME.findall(text)}


def test_the_rule_book_is_numbered_without_gaps() -> None:
    whole = {int(rule[1:]) for rule in RULES if rule[1:].isdigit()}
    assert whole == set(range(1, 33))


def test_every_rule_is_cited_by_a_test() -> None:
    tests = [*sources("tests"), *(path for path in sources("clients") if ".test." in path.name)]
    missing = RULES - set().union(*map(cited, tests))
    assert not missing, f"no test cites {', '.join(sorted(missing, key=number))}"


def test_nothing_cites_a_rule_that_is_not_there() -> None:
    unknown = {
        f"{path.relative_to(ROOT)}: {rule}"
        for path in sources("engine", "server", "clients", "tests")
        for rule in cited(path) - RULES
    }
    assert not unknown, unknown


def number(rule: str) -> tuple[int, str]:
    """Rules in the order of the book."""
    digits = rule[1:].rstrip("abcdef")
    return int(digits), rule
