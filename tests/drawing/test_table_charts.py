"""Histograms and cross tabulations of perturbed tables: the numbers behind the pictures, and the pictures."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from noren.api import protect
from noren.data.frames import Table
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.drawing.base import write_picture
from noren.drawing.table_charts import crosstab, histogram, view
from noren.errors import ParameterError
from noren.measures.utility.l1_precision import precision

SCHEMA = Schema.of(
    {
        "kind": "table",
        "columns": {
            "sex": {"role": "quasi", "domain": ["f", "m"]},
            "town<b>": {"role": "quasi", "domain": ["a", "b", "c"]},
            "age": {"role": "quasi", "type": "integer", "minimum": 0.0, "maximum": 99.0},
        },
    }
)


def people(rows: int = 900) -> Table:
    draws = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "sex": [("f", "m")[i] for i in draws.integers(0, 2, rows)],
            "town<b>": [("a", "b", "c")[i] for i in draws.choice(3, rows, p=[0.7, 0.2, 0.1])],
            "age": draws.integers(0, 100, rows),
        }
    )
    return Table.of(frame, SCHEMA)


@pytest.fixture(scope="module")
def release() -> Release:
    return protect(people(), "retention", k=2, seed=1)


def test_a_view_holds_what_is_drawn(release: Release) -> None:
    original = people()
    shown = view(release, ["town<b>", "sex"], original=original, model="em")
    assert list(shown.tables) == ["original", "perturbed", "reconstructed"]
    counted = original.frame.group_by("town<b>", "sex").len().sort("town<b>", "sex")["len"].to_list()
    assert shown.tables["original"].ravel().tolist() == counted
    said = shown.as_dict()
    assert said["labels"] == [["a", "b", "c"], ["f", "m"]]
    assert said["l1_precision"]["perturbed"] == precision(shown.tables["original"], shown.tables["perturbed"])
    assert set(view(release, ["sex"], model="none").tables) == {"perturbed"}
    assert view(release, ["sex"], model="em").precision("perturbed") is None


def test_panels_share_one_scale_and_say_their_precision(release: Release) -> None:
    shown = view(release, ["town<b>"], original=people(), model="em")
    drawn = histogram(shown)
    tops = {panel["encoding"]["x"]["scale"]["domain"][1] for panel in drawn["panels"]}
    assert tops == {max(float(t.max()) for t in shown.tables.values())}
    titles = [panel["title"] for panel in drawn["panels"]]
    assert titles[0] == "original"
    assert titles[2] == f"reconstructed: {shown.precision('reconstructed'):.1%} in the right cell"
    long = histogram(view(release, ["age"], model="none"))
    assert len(long["panels"][0]["encoding"]["y"]["sort"]) == 50  # a hundred ages, two to a bar


@pytest.mark.parametrize("ending", ["svg", "html", "png"])
def test_pictures_are_written(release: Release, ending: str, tmp_path: Path) -> None:
    shown = view(release, ["town<b>", "sex"], original=people(), model="em")
    for name, chart in (("h", histogram(view(release, ["sex"], model="em"))), ("c", crosstab(shown))):
        path = write_picture(chart, tmp_path / f"{name}.{ending}")
        content = path.read_bytes()
        assert content.startswith({"svg": b"<svg", "html": b"<!doctype", "png": b"\x89PNG"}[ending])
        assert b"<b>" not in content


def test_what_cannot_be_drawn(release: Release, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="one or two different attributes"):
        view(release, ["sex", "sex"])
    with pytest.raises(ParameterError, match="has two attributes"):
        crosstab(view(release, ["sex"], model="none"))
    with pytest.raises(ParameterError, match=r"no chart ends in '\.gif'"):
        write_picture(histogram(view(release, ["sex"], model="none")), tmp_path / "x.gif")
    with pytest.raises(ParameterError, match="not made by retention"):
        view(Release(people(), release.secret, Statement("hand")), ["sex"])
