"""Lines as SVG, in the colours that a page recolours."""

import re

from noren.reproduce.frame import ChartLine, lines


def test_lines_over_categories_with_a_gap() -> None:
    picture = lines(
        ["A", "B", "C"],
        {"k = 2": [ChartLine("paper", [1.0, 2.0, 3.0], "paper"), ChartLine("em", [1.0, None, 2.0], "ours")]},
        across_title="pattern",
        up_title="precision",
        up=(0, 4),
    )
    assert picture.startswith("<svg")
    assert "k = 2: precision" in picture
    assert {"#26456e", "#5d6675"} <= set(re.findall(r'(?:fill|stroke)="(#\w+)"', picture))


def test_lines_over_numbers() -> None:
    picture = lines(
        [2, 5, 10], {"": [ChartLine("ours", [0.1, 0.2, 0.3], "better")]}, across_title="k", up_title="risk"
    )  # fmt: skip
    assert "risk" in picture
