"""What a row of the table of promises comes to."""

from engine.value import Value


class Figure(Value):
    """Whether the promise was kept, and the figure that shows by how much."""

    kept: bool
    text: str


def both(figures: list[Figure]) -> Figure:
    """Several figures as one: kept when each is."""
    return Figure(all(figure.kept for figure in figures), "; ".join(figure.text for figure in figures))


def p99(values: list[float]) -> float:
    """The value that one in a hundred is above."""
    return sorted(values)[max(0, -(-len(values) * 99 // 100) - 1)] if values else float("inf")
