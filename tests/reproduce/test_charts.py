"""Lines as SVG, in the colours that a page recolours."""

import re

from noren.reproduce.frame import lines


def test_lines_over_categories_with_a_gap() -> None:
    chart = lines(
        "By pattern",
        ["A", "B", "C"],
        {"k = 2": [("paper", [1.0, 2.0, 3.0], "paper"), ("em", [1.0, None, 2.0], "ours")]},
        across_title="pattern",
        up_title="precision",
        up=(0, 4),
    )
    picture = chart.draw()
    assert chart.title == "By pattern"
    assert picture.startswith("<svg")
    assert "k = 2: precision" in picture
    assert {"#26456e", "#5d6675"} <= set(re.findall(r'(?:fill|stroke)="(#\w+)"', picture))


def test_lines_over_numbers() -> None:
    shown = {"": [("ours", [0.1, 0.2, 0.3], "better")]}
    assert "risk" in lines("", [2, 5, 10], shown, across_title="k", up_title="risk").draw()  # type: ignore[arg-type]
