"""Cross tabulations count each row once, spread as its two cells are."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from noren import api
from noren.data.frames import History, Table
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.drawing.crosstabs import crosstabs
from noren.judgement.outcome import Outcome
from noren.reports.run_view import column_bars
from noren.retention.attributes import Attribute
from noren.retention.reconstruction import Reconstruction, reconstruct

SCHEMA = Schema.of(
    {
        "kind": "table",
        "columns": {
            "age": {"role": "quasi", "type": "integer", "minimum": 0.0, "maximum": 99.0},
            "town": {"role": "quasi", "domain": ["a", "b", "c"]},
            "ill": {"role": "sensitive", "domain": ["no", "yes"]},
        },
    }
)


def people(rows: int) -> Table:
    draws = np.random.default_rng(1)
    town = draws.choice(3, rows, p=[0.6, 0.3, 0.1])
    return Table.of(
        {
            "age": np.clip(draws.normal(30 + 15 * town, 8, rows), 0, 99).astype(int),
            "town": [("a", "b", "c")[i] for i in town],
            "ill": [("no", "yes")[i] for i in draws.integers(0, 2, rows)],
        },
        SCHEMA,
    )


def test_four_rows_by_hand() -> None:
    four = Table.of({"age": [20, 21, 22, 23], "town": ["a", "a", "b", "b"], "ill": ["no", "yes", "no", "no"]}, SCHEMA)
    frame = pl.DataFrame(
        {
            "age": [{"lo": 20, "hi": 21}, {"lo": 20, "hi": 21}, {"lo": 22, "hi": 22}, None],
            "town": [["a"], ["a", "b"], ["a", "b"], None],
            "ill": ["no", "yes", None, None],
        }
    )
    found = crosstabs(four, Release.of_aligned(four, Table(frame, SCHEMA), Statement("hand")))
    assert (found["rows"], found["columns"], found["reconstruction"]) == (4, ["age", "town", "ill"], None)
    assert [(p["a"], p["b"]) for p in found["pairs"]] == [("age", "town"), ("age", "ill"), ("town", "ill")]
    first = found["pairs"][0]
    assert (first["labels_a"], first["labels_b"]) == (["20", "21", "22", "23"], ["a", "b"])
    assert first["original"] == [[1, 0], [1, 0], [0, 1], [0, 1]]
    # row 1: half at 20, half at 21, in a; row 2: a quarter in each of four cells; row 3: half in a and half in b
    assert first["released"] == [[0.75, 0.25], [0.75, 0.25], [0.5, 0.5], [0, 0]]
    assert first["unsaid"] == {"original": 0.0, "released": 1.0}
    assert found["pairs"][1]["released"] == [[0.5, 0.5], [0.5, 0.5], [0, 0], [0, 0]]
    assert (first["reconstructed"], first["model"]) == (None, None)


def test_every_row_is_counted_once(history: History, outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        found = crosstabs(history, outcome.release)
        assert found["columns"] == ["date", "item", "price", "quantity"]
        assert len(found["pairs"]) == 6
        for pair in found["pairs"]:
            for what in ("original", "released"):
                table = np.array(pair[what])
                assert table.shape == (len(pair["labels_a"]), len(pair["labels_b"]))
                assert max(table.shape) <= 20
                assert table.sum() + pair["unsaid"][what] == pytest.approx(900, abs=1e-3)
            assert np.array(pair["original"]).sum() == 900
        json.dumps(found, allow_nan=False)


def test_many_values_share_the_last_bar(history: History, outcomes: list[Outcome]) -> None:
    pair = crosstabs(history, outcomes[0].release)["pairs"][0]
    counted = history.frame["item"].value_counts().sort(["count", "item"], descending=[True, False])
    assert len(counted) > 20
    assert pair["labels_b"] == [*counted["item"].head(19), ""]
    assert pair["axis_b"]["others"]
    expected = [*counted["count"].head(19), counted["count"].slice(19).sum()]
    assert np.array(pair["original"]).sum(axis=0).tolist() == expected


def test_margins_are_the_histograms_of_a_release_that_suppresses_nothing() -> None:
    table = people(400)
    release = api.protect(table, "mondrian", k=5, seed=1)
    bars = {one["column"]: one for one in column_bars(table, release)}
    pair = next(p for p in crosstabs(table, release)["pairs"] if (p["a"], p["b"]) == ("town", "ill"))
    np.testing.assert_allclose(np.array(pair["released"]).sum(axis=1), bars["town"]["released"], atol=1e-4)
    np.testing.assert_allclose(np.array(pair["released"]).sum(axis=0), bars["ill"]["released"], atol=1e-4)


cells = st.none() | st.tuples(st.integers(0, 9), st.integers(0, 6)).map(lambda e: {"lo": e[0], "hi": e[0] + e[1]})
sets = st.none() | st.lists(st.sampled_from("abz"), max_size=3, unique=True)


@examples(40)
@given(st.lists(st.tuples(cells, sets), min_size=1, max_size=12))
def test_a_table_is_the_sum_of_the_rows_products(rows: list[tuple[dict[str, int] | None, list[str] | None]]) -> None:
    columns = {"n": {"role": "quasi", "type": "integer"}, "t": {"role": "quasi"}}
    schema = Schema.of({"kind": "table", "columns": columns})
    original = Table.of({"n": [i % 16 for i in range(16)], "t": ["a"] * 9 + ["b"] * 7}, schema)
    frame = pl.DataFrame(
        {"n": [n for n, _t in rows], "t": [t for _n, t in rows]},
        schema={"n": pl.Struct({"lo": pl.Int64, "hi": pl.Int64}), "t": pl.List(pl.String)},
    )
    release = Release(Table(frame, schema), Release.of_aligned(original, original, Statement("hand")).secret,
                      Statement("hand"))  # fmt: skip
    pair = crosstabs(original, release)["pairs"][0]
    expected = np.zeros((16, 3))
    for number, texts in rows:
        if number is not None and texts:
            points = range(number["lo"], number["hi"] + 1)
            for point in points:
                for text in texts:
                    expected[point, "abz".index(text)] += 1 / len(points) / len(texts)
    assert pair["labels_a"] == [str(i) for i in range(16)]
    np.testing.assert_allclose(np.array(pair["released"]), expected[:, : len(pair["labels_b"])], atol=1e-5)
    assert expected[:, len(pair["labels_b"]) :].sum() == 0


# --- what was reconstructed ----------------------------------------------------------------------------------


def test_a_small_table_is_reconstructed_at_once() -> None:
    table = people(1_500)
    release = api.protect(
        table, "retention", seed=1, k=2, attributes=["town", "ill", "age"], classes=["age=20..100:20"], reconstruct="em"
    )
    found = crosstabs(table, release)
    assert found["reconstruction"] == {"model": "em", "how": "joint", "skipped": 0}
    whole = reconstruct(release.public, release.statement)
    for pair in found["pairs"]:
        margin = whole.margin([pair["a"], pair["b"]])
        order = [[a.labels().index(label) for label in labels] for a, labels in _with_labels(whole, pair)]
        np.testing.assert_allclose(np.array(pair["reconstructed"]), margin[np.ix_(*order)], atol=1e-5)
    ages = found["pairs"][-1]
    assert ages["labels_b"] == ["≤20", "21–40", "41–60", "61–80", "81–100"]


def _with_labels(whole: Reconstruction, pair: dict[str, Any]) -> list[tuple[Attribute, list[str]]]:
    named = {a.name: a for a in whole.perturbation.attributes}
    return [(named[pair[side]], pair[f"labels_{side}"]) for side in "ab"]


@pytest.mark.parametrize(("seconds", "model"), [(20.0, "em"), (0.0, "loglinear")])
def test_pair_by_pair_and_what_takes_too_long(monkeypatch: pytest.MonkeyPatch, seconds: float, model: str) -> None:
    monkeypatch.setattr("noren.drawing.crosstabs._JOINT_CELLS", 1)
    table = people(800)
    release = api.protect(table, "retention", seed=1, k=2, attributes=["age", "town", "ill"], reconstruct="em")
    found = crosstabs(table, release, seconds=seconds)
    assert found["reconstruction"] == {"model": "em", "how": "pairs", "skipped": 0}
    pair = found["pairs"][2]
    assert pair["model"] == model
    same = reconstruct(release.public, release.statement, model, attributes=["town", "ill"])  # type: ignore[arg-type]
    order = [[a.labels().index(label) for label in labels] for a, labels in _with_labels(same, pair)]
    np.testing.assert_allclose(np.array(pair["reconstructed"]), same.table[np.ix_(*order)], atol=1e-5)
    for one in found["pairs"]:
        assert np.array(one["reconstructed"]).sum() == pytest.approx(800, abs=1e-3)


def test_without_a_model_nothing_is_reconstructed() -> None:
    table = people(200)
    release = api.protect(table, "retention", seed=1, k=2, attributes=["town", "ill"], reconstruct="none")
    found = crosstabs(table, release)
    assert found["reconstruction"] == {"model": "none", "how": "none", "skipped": 1}
    assert found["pairs"][0]["reconstructed"] is None


# --- labels --------------------------------------------------------------------------------------------------


def test_labels_of_a_hierarchy_mean_what_stands_under_them(tmp_path: Path) -> None:
    schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"},
                                                     "town": {"role": "quasi"}}})  # fmt: skip
    table = Table.of({"age": [20, 23, 31, 31], "town": ["Bern", "Basel", "Rom", "Rom"]}, schema)
    rows = "\n".join(f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};*" for age in range(20, 40))
    (tmp_path / "age.csv").write_text(rows + "\n")
    (tmp_path / "town.csv").write_text("Bern;CH;*\nBasel;CH;*\nRom;IT;*\n")
    release = api.protect(table, "hierarchy", k=2, hierarchies=tmp_path, seed=1)
    assert sorted(release.public.lines()) == ["20-29,CH", "20-29,CH", "30-39,IT", "30-39,IT"]
    pair = crosstabs(table, release)["pairs"][0]
    table_of = dict(zip(pair["labels_b"], np.array(pair["released"]).T.tolist(), strict=True))
    # two rows from 20 to 23, over Bern and Basel; two at 31 in Rom
    assert table_of["Bern"] == table_of["Basel"] == [0.25] * 4 + [0.0] * 8
    assert table_of["Rom"] == [0.0] * 11 + [2.0]
