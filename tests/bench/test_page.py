"""The page about speed: every part that is measured has its place, and its plots are pictures."""

import re
from xml.etree import ElementTree

import pytest

from tests.bench.page import PAGE, WORDS
from tests.bench.plot import Line, drawn

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("part", ["rivals", "run", "targets", *WORDS])
def test_every_part_has_its_place(part: str) -> None:
    assert len(re.findall(rf"<!-- {part} -->\n.*?<!-- /{part} -->", PAGE.read_text("utf-8"), flags=re.DOTALL)) == 1


def test_a_plot_has_a_line_for_each_and_keeps_within_its_frame() -> None:
    lines = [Line("p99", [(200, 1.5), (1_000, 24.0)]), Line("p50 & less", [(200, 0.2), (1_000, 0.9)])]
    picture = ElementTree.fromstring(drawn("Cards < 25 ms", "tables", "ms", lines))
    _, _, width, height = map(float, picture.attrib["viewBox"].split())
    found = picture.findall(f"{SVG}polyline")
    assert len(found) == len(lines)
    for line in found:
        for point in line.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 < x < width and 0 < y < height
    assert "p50 & less" in [text.text for text in picture.findall(f"{SVG}text")]


def test_a_plot_of_nothing_is_drawn() -> None:
    assert "<polyline" in drawn("Nothing yet", "x", "y", [Line("", [])])
