"""The chart of unicity: its numbers are those of the steps, and nothing is said by colour alone."""

from noren.drawing.base import picture
from noren.reports.unicity import unicity_lines

ORIGINAL = [
    {"known": 1, "tried": 10, "unique": 0.3, "low": 0.1, "high": 0.6},
    {"known": 4, "tried": 8, "unique": 0.9, "low": 0.5, "high": 1.0},
]
FORGIVEN = {"forgiving": 0.2, "forgiving_low": 0.1, "forgiving_high": 0.4}


def test_one_line_needs_no_legend() -> None:
    spec = unicity_lines(ORIGINAL)
    assert [(row["known"], row["share"], row["low"], row["high"]) for row in spec["data"]["values"]] == [
        (1, 0.3, 0.1, 0.6), (4, 0.9, 0.5, 1.0),
    ]  # fmt: skip
    assert spec["layer"][1]["encoding"]["color"]["legend"] is None
    assert "Known purchases" in picture(spec)


def test_a_release_is_told_by_what_is_found_rightly_where_that_is_known() -> None:
    judged = unicity_lines(ORIGINAL, {"k3": [step | FORGIVEN for step in ORIGINAL]})
    assert [row["share"] for row in judged["data"]["values"]] == [0.3, 0.9, 0.2, 0.2]
    assert {row["line"] for row in judged["data"]["values"]} == {"Original", "k3: Right despite mismatches"}
    public = unicity_lines(ORIGINAL, {"k3": ORIGINAL})
    assert {row["line"] for row in public["data"]["values"]} == {"Original", "k3: One pseudonym left"}
    looks = [layer["encoding"] for layer in judged["layer"][1:]]
    assert looks[1]["shape"]["scale"]["range"] == ["circle", "square"]
