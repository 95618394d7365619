"""Puts what was measured into docs/speed.md, and draws its curves: `python -m tests.bench.page`.

Between two marks of that page stands what the last runs of tests/bench/speed.py and tests/bench/curves.py have left in
build/bench; where a run is missing, what stood there stays. The words around it are written by hand.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from tests.bench import curves, speed
from tests.bench.plot import Line, drawn

PAGE = speed.ROOT / "docs" / "speed.md"
PLOTS = speed.ROOT / "docs" / "speed"

Point = dict[str, Any]


def main() -> None:
    """Writes the page and its plots."""
    parts: dict[str, str] = {}
    if speed.OUT.exists():
        kept = json.loads(speed.OUT.read_text(encoding="utf-8"))
        climbs = {name: [speed.read_climb(each) for each in found] for name, found in kept["climbs"].items()}
        parts["rivals"] = speed.report(climbs)
        parts["targets"] = targets(kept["summary"])
        parts["run"] = run_in_words(climbs)
    if curves.OUT.exists():
        found = json.loads(curves.OUT.read_text(encoding="utf-8"))
        PLOTS.mkdir(exist_ok=True)
        for name in [name for name in WORDS if name in found]:
            pictures = []
            for plot, (title, draw) in PLOTTED.get(name, {}).items():
                (PLOTS / f"{plot}.svg").write_text(draw(title, found[name]["points"]), encoding="utf-8")
                pictures.append(f"![{title}](speed/{plot}.svg)")
            parts[name] = "\n\n".join([WORDS[name](found[name]), *([" ".join(pictures)] if pictures else [])])
    page = PAGE.read_text(encoding="utf-8")
    for name, text in parts.items():
        page, times = re.subn(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", rf"\g<1>{text}\n\g<2>", page, flags=re.S)
        assert times == 1, f"{PAGE} has no place for {name}"
    PAGE.write_text(page, encoding="utf-8")


# --- against the rivals ------------------------------------------------------------------------------------------

TARGETS: Sequence[tuple[str, str, str, float, bool]] = (
    ("vs_node_ws", "tables a core × bare Node `ws`", "×", 1.0, True),
    ("vs_colyseus", "tables a core × Colyseus", "×", 2.3, True),
    ("vs_limit", "tables a core × picows", "×", 0.5, True),
    ("no_journal_vs_limit", "the same without the journal", "×", 0.65, True),
    ("cpu_vs_limit", "processor time a delivery × picows, 1,000 tables", "×", 1.6, False),
    ("cpu_vs_starlette", "processor time a delivery × Starlette, 1,000 tables", "×", 0.6, False),
    ("kib_per_idle_socket", "memory of a socket that says nothing", "KiB", 32, False),
    ("verdict_p50_ms_at_half", "slap in → verdict out at half of capacity, p50", "ms", 1, False),
    ("verdict_p99_ms_at_half", "the same, p99", "ms", 5, False),
)
"""Name in the summary, words, unit, what is wanted, and whether more is better."""


def targets(summary: dict[str, float]) -> str:
    """What was wanted beside what was found."""
    lines = ["| | wanted | found | |", "| --- | --- | --- | --- |"]
    for name, words, unit, wanted, more in TARGETS:
        if name in summary:
            found = summary[name]
            met = found >= wanted if more else found <= wanted
            sign = "≥" if more else "≤"
            lines.append(f"| {words} | {sign} {wanted:g} {unit} | {found:.3g} {unit} | {'met' if met else 'not met'} |")
    return "\n".join(lines)


def run_in_words(climbs: dict[str, list[speed.Climb]]) -> str:
    """What else the machine did in that run, for that is what the figures are worth."""
    rows = [row for found in climbs.values() for climb in found for row in climb.rows]
    others = sorted(row.others_pct for row in rows)
    return (
        f"{max(map(len, climbs.values()))} rounds, {len(rows)} windows. The load maker never took more than "
        f"{max(row.load_pct for row in rows):.0f} % of its core. Everything else on this machine of {len(speed.CORES)} "
        f"cores took {others[len(others) // 2]:.0f} % of one in the median window, {others[-1]:.0f} % in the worst."
    )


# --- the curves --------------------------------------------------------------------------------------------------


def line(name: str, points: Sequence[Point], x: str, y: Callable[[Point], float]) -> Line:
    """One value of each point against another."""
    return Line(name, [(point[x], y(point)) for point in points])


def table(points: Sequence[Point], columns: Sequence[tuple[str, Callable[[Point], str]]]) -> str:
    """The points as a table."""
    lines = [f"| {' | '.join(head for head, _ in columns)} |", f"|{' --- |' * len(columns)}"]
    lines += [f"| {' | '.join(cell(point) for _, cell in columns)} |" for point in points]
    return "\n".join(lines)


def per_table(point: Point) -> float:
    """Share of the server's core that one table takes, in percent."""
    return float(point["server_pct"] / point["tables"])


COST: tuple[str, Callable[[Point], str]] = ("µs a delivery", lambda p: f"{p['cpu_us']:.0f}")
CARDS: tuple[str, Callable[[Point], str]] = ("cards p50 / p99 ms", lambda p: f"{p['p50_ms']:.2f} / {p['p99_ms']:.2f}")
VERDICTS: tuple[str, Callable[[Point], str]] = (
    "verdicts p50 / p99 ms",
    lambda p: f"{p['verdict_p50_ms']:.2f} / {p['verdict_p99_ms']:.2f}",
)

WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "rooms": lambda found: table(
        found["points"],
        [
            ("tables", lambda p: f"{p['tables']:,}"),
            ("% of the core", lambda p: f"{p['server_pct']:.0f}"),
            COST,
            CARDS,
            VERDICTS,
        ],
    ),
    "seats": lambda found: table(
        found["points"],
        [
            ("seats", lambda p: f"{p['seats']}"),
            ("tables", lambda p: f"{p['tables']}"),
            ("% of the core for a table", lambda p: f"{per_table(p):.3f}"),
            COST,
        ],
    ),
    "watchers": lambda found: table(
        found["points"],
        [
            ("look on", lambda p: f"{p['watchers']}"),
            ("% of the core for a table", lambda p: f"{per_table(p):.2f}"),
            COST,
            CARDS,
        ],
    ),
    "full": lambda found: table(
        found["points"],
        [
            ("asked for", lambda p: f"{p['asked']:,}"),
            ("let in", lambda p: f"{p['tables']:,}"),
            ("% of the core", lambda p: f"{p['server_pct']:.0f}"),
            CARDS,
        ],
    ),
    "memory": lambda found: (
        f"A socket that says nothing takes {found['idle_socket_kib']:.1f} KiB, somebody who plays "
        f"{found['player_kib']:.1f} KiB with their share of the table, a table that sleeps "
        f"{max(0.0, found['sleeping_table_kib']):.2f} KiB."
    ),
    "start": lambda found: (
        f"From nothing, no store either, to somebody at a first table: {found['cold_s']:.2f} s (the slowest of "
        f"{curves.STARTS}: {found['cold_at_most_s']:.2f} s). After kill -9 in the middle of "
        f"{found['restored']['tables']:,} games of four the server listens again after "
        f"{found['restored']['listening_s']:.2f} s; half of the tables have all four back, and their game, after "
        f"{found['restored']['half_s']:.2f} s, the last after {found['restored']['all_s']:.2f} s."
    ),
}

Draw = Callable[[str, Sequence[Point]], str]

PLOTTED: dict[str, dict[str, tuple[str, Draw]]] = {
    "rooms": {
        "rooms": (
            "Cost against tables",
            lambda title, points: drawn(
                title,
                "tables of four",
                "% of the server's core",
                [line("", points, "tables", lambda p: p["server_pct"])],
            ),
        ),
        "verdicts": (
            "Verdicts against load",
            lambda title, points: drawn(
                title,
                "% of the server's core in use",
                "ms from when it could be known until it is there",
                [
                    line("p99", points, "server_pct", lambda p: p["verdict_p99_ms"]),
                    line("p50", points, "server_pct", lambda p: p["verdict_p50_ms"]),
                ],
            ),
        ),
    },
    "seats": {
        "seats": (
            "Cost against seats",
            lambda title, points: drawn(
                title, "seats at a table", "% of the core for a table", [line("", points, "seats", per_table)]
            ),
        ),
    },
    "watchers": {
        "watchers": (
            "Cost against people who look on",
            lambda title, points: drawn(
                title,
                "who look on at a table of four",
                "% of the core for a table",
                [line("", points, "watchers", per_table)],
            ),
        ),
    },
    "full": {
        "full": (
            "Past the knee: who is let in",
            lambda title, points: drawn(
                title, "tables asked for", "tables that play", [line("", points, "asked", lambda p: p["tables"])]
            ),
        ),
        "full-cards": (
            "Past the knee: how those fare",
            lambda title, points: drawn(
                title,
                "tables asked for",
                "ms from a turn to its card on a phone",
                [
                    line("p99", points, "asked", lambda p: p["p99_ms"]),
                    line("p50", points, "asked", lambda p: p["p50_ms"]),
                ],
            ),
        ),
    },
}
"""The plots of each part: the file's name, the title, and how it is drawn."""


if __name__ == "__main__":
    main()
