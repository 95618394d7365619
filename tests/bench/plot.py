"""A line plot as a small SVG: what the speed benches draw for docs/speed.md.

Knows points and words. Knows nothing of what is plotted.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 460, 260
LEFT, RIGHT, TOP, BOTTOM = 56, 14, 34, 44
INKS = ("#2563a8", "#c2571a", "#2f7d4f", "#7a3e9d")
"""Dark enough for a white page, and each line is named at its end as well."""
TICKS = 5


@dataclass(frozen=True)
class Line:
    """One line of a plot: what it is and its points."""

    name: str
    points: Sequence[tuple[float, float]]


def drawn(title: str, across: str, up: str, lines: Sequence[Line]) -> str:
    """The plot; both axes begin at 0."""
    far, high = _end(x for line in lines for x, _ in line.points), _end(y for line in lines for _, y in line.points)

    def at(x: float, y: float) -> str:
        across_px = LEFT + x / far * (WIDTH - LEFT - RIGHT)
        return f"{across_px:.1f},{HEIGHT - BOTTOM - y / high * (HEIGHT - TOP - BOTTOM):.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        f' role="img" font-family="sans-serif" font-size="11"><title>{escape(title)}</title>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        _text(LEFT, 16, title, weight="bold"),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, across, anchor="middle"),
        _text(LEFT, 29, up, fill="#555"),
    ]
    for tick in range(TICKS + 1):
        x, y = far * tick / TICKS, high * tick / TICKS
        parts.append(f'<path d="M{at(0, y)} L{at(far, y)}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 6, float(at(0, y).split(",")[1]) + 4, f"{y:,.4g}", anchor="end"))
        parts.append(_text(float(at(x, 0).split(",")[0]), HEIGHT - BOTTOM + 15, f"{x:,.4g}", anchor="middle"))
    for line, ink in zip(lines, INKS, strict=False):
        points = [at(x, y) for x, y in line.points]
        parts.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{ink}" stroke-width="2"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="2.5" fill="{ink}"/>' for x, y in (p.split(",") for p in points)]
        if len(lines) > 1 and points:
            end_x, end_y = map(float, points[-1].split(","))
            parts.append(_text(min(end_x, WIDTH - RIGHT), end_y - 7, line.name, anchor="end", fill=ink))
    return "\n".join([*parts, "</svg>\n"])


def _text(x: float, y: float, text: str, *, anchor: str = "start", fill: str = "#222", weight: str = "normal") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}" font-weight="{weight}"'
    return f"<text {place}>{escape(text)}</text>"


def _end(values: Iterable[float]) -> float:
    """A round number that is no smaller than any of them."""
    most = max(values, default=0.0) or 1.0
    step = 10 ** math.floor(math.log10(most))
    return next(float(step * times) for times in (1, 2, 2.5, 5, 10) if step * times >= most)
