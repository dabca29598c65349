"""Retention on tables: what is released, what it claims, and what it refuses."""

import datetime as dt
import os
import random
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.conftest import examples

import noren
from noren.api import measure, protect, reconstruct
from noren.data.frames import Table
from noren.data.reading import read
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError, ValueInCellError
from noren.kernels.reconstruction.retention import k_of, keep_probabilities, laplace
from noren.methods.retention import Retention, protect_file
from noren.retention.perturbation import Perturbation, perturbation_of

SCHEMA = Schema.of(
    {
        "kind": "table",
        "columns": {
            "sex": {"role": "quasi", "domain": ["f", "m", "x"]},
            "town": {"role": "quasi", "domain": ["a", "b", "c", "d"], "optional": True},
            "age": {"role": "quasi", "type": "integer", "minimum": 0.0, "maximum": 99.0},
            "born": {"role": "other", "type": "date", "minimum": dt.date(2000, 1, 1), "maximum": dt.date(2000, 1, 31)},
            "pay": {"role": "sensitive", "type": "decimal", "width": 0.5, "minimum": 0.0, "maximum": 10.0},
            "note": {"role": "other", "optional": True},
            "wide": {"role": "other", "type": "integer"},
            "one": {"role": "other", "domain": ["same"]},
        },
    }
)


def people(rows: int = 400, seed: int = 1, *, missing: bool = False) -> Table:
    draws = np.random.default_rng(seed)
    age = draws.integers(18, 80, rows)
    towns = [None if missing and i % 7 == 0 else "abc"[t] for i, t in enumerate(draws.integers(0, 3, rows).tolist())]
    frame = pl.DataFrame(
        {
            "sex": [("f", "m")[i] for i in (age > 40).astype(int).tolist()],
            "town": pl.Series(towns, dtype=pl.String),
            "age": age,
            "born": [dt.date(2000, 1, 1) + dt.timedelta(days=int(d)) for d in draws.integers(0, 31, rows)],
            "pay": draws.integers(0, 21, rows) / 2,
            "note": ["n"] * rows,
            "wide": draws.integers(0, 10**6, rows),
            "one": ["same"] * rows,
        }
    )
    return Table.of(frame, SCHEMA)


def test_only_chosen_columns_are_released_in_an_order_that_tells_nothing() -> None:
    original = people()
    release = protect(original, "retention", attributes=["sex", "town"], k=3, seed=5)
    assert release.public.schema.names == ("sex", "town")
    assert release.public.frame.columns == ["sex", "town"]
    assert len(release.public) == 400
    assert release.public.lines().is_sorted()
    rho = keep_probabilities(3, [3, 4], 400)
    assert [a["rho"] for a in release.statement.notes["attributes"]] == rho
    assert release.statement.notes["k"] == pytest.approx(3)
    assert set(release.public.frame["town"]) == {"a", "b", "c", "d"}  # d, which nobody has, is drawn too


def test_values_are_kept_as_often_as_they_should_be() -> None:
    original = people(20_000)
    release = protect(original, "retention", attributes=["sex", "town"], rho=0.4, seed=2)
    aligned = release.aligned().frame
    for name, size in (("sex", 3), ("town", 4)):
        stayed = float((aligned[name] == original.frame[name]).mean())  # type: ignore[arg-type]
        assert stayed == pytest.approx(0.4 + 0.6 / size, abs=0.015)
    assert release.statement.notes["k"] == pytest.approx(k_of([0.4] * 2, [3, 4], 20_000))


def test_numbers_and_days_move_on_their_grid() -> None:
    original = people(3000)
    release = protect(original, "retention", attributes=["age", "born", "pay"], k=2, seed=1)
    aligned = release.aligned().frame
    assert aligned["age"].is_between(0, 99).all()
    assert aligned["born"].is_between(dt.date(2000, 1, 1), dt.date(2000, 1, 31)).all()
    assert ((aligned["pay"] * 2) % 1 == 0).all()
    assert release.public.schema["born"] == SCHEMA["born"]
    made = perturbation_of(release.public.schema, release.statement)
    # ages go as far as the noise says
    age, at = original.frame["age"].to_numpy(), np.arange(100)
    near = (laplace(100, made.decay(0)) * (np.abs(at[:, None] - at) <= 10)).sum(axis=1)
    stayed = np.abs(aligned["age"].to_numpy() - age) <= 10
    assert stayed.mean() == pytest.approx(near[age].mean(), abs=0.03)
    assert near[age].mean() > 0.25  # of 21 in 100 values
    assert made.k(3000) == pytest.approx(2)
    assert made.sizes == (100, 31, 21)
    assert made.decay(0) == pytest.approx(made.ratios[0] ** (1 / 99))


def test_classes_are_made_before_anything_else() -> None:
    original = people(500)
    method = Retention(attributes=("age",), k=2, classes=("age=20..100:10",))
    release = method.protect(original, seed=1)
    labels = ["≤20", "21–30", "31–40", "41–50", "51–60", "61–70", "71–80", "81–90", "91–100"]
    assert release.public.schema["age"].domain == tuple(labels)
    plan = method.plan(original.schema, 500)
    assert plan.codes(pl.DataFrame({"age": [18, 20, 21, 80, 81]}))[0].tolist() == [0, 0, 1, 6, 7]
    again = perturbation_of(release.public.schema, release.statement)
    assert again.codes(original.frame)[0].tolist() == plan.codes(original.frame)[0].tolist()


def test_weights_share_out_what_k_allows() -> None:
    method = Retention(attributes=("sex", "town"), k=3, weights=(3, 1))
    plan = method.plan(SCHEMA, 400)
    assert np.log(plan.ratios[0]) == pytest.approx(3 * np.log(plan.ratios[1]))
    assert plan.k(400) == pytest.approx(3)


def test_missing_values_are_an_error_or_a_category() -> None:
    original = people(missing=True)
    with pytest.raises(ValueInCellError, match=r"row 1, column town: the value is missing; .*--missing category"):
        protect(original, "retention", attributes=["town"], k=2)
    release = protect(original, "retention", attributes=["town"], k=2, missing="category", seed=1)
    assert release.public.schema["town"].domain == ("a", "b", "c", "d", "(missing)")
    assert len(release.public) == 400
    assert "(missing)" in set(release.public.frame["town"])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"k": 2, "attributes": ["wide"]}, "column wide: the numbers have no bounds, which noise needs"),
        ({"k": 2, "attributes": ["one"]}, "column one: the domain has only one value"),
        ({"k": 2, "attributes": ["note"]}, r"column note: the column has no domain; .*--domains data"),
        ({"k": 401, "attributes": ["sex"]}, "k = 401 is out of range; use 1 <= k <= 400"),
        ({"k": 2, "attributes": ["sexx"]}, r"no column 'sexx' \(did you mean sex\?\)"),
        ({"k": 2, "attributes": ["sex", "sex"]}, "named twice"),
        ({"k": 2, "rho": 0.5}, "give either k or rho"),
        ({}, "give either k or rho"),
        ({"k": 1}, "k = 1 is not valid for retention"),
        ({"rho": 0.5, "weights": [1.0]}, "weights need k; give k instead of rho"),
        ({"k": 2, "classes": ["age=1..9"]}, "classes 'age=1..9' are not understood"),
        ({"k": 2, "attributes": ["sex"], "classes": ["age=20..90:5"]}, "has classes but is not released"),
        ({"k": 2, "attributes": ["sex"], "classes": ["sex=20..90:5"]}, "classes are for numbers"),
        ({"k": 2, "attributes": ["age"], "classes": ["age=20..30:5"]}, "column age, '.*': the value is not in"),
        ({"k": 2, "attributes": ["sex", "town"], "weights": [1.0]}, "the weights do not match the attributes"),
    ],
)
def test_what_cannot_be_is_refused(parameters: dict[str, object], words: str) -> None:
    with pytest.raises((ParameterError, SchemaError, ValueInCellError), match=words):
        protect(people(), "retention", **parameters)  # type: ignore[arg-type]


UNSAID = Schema.of(
    {
        "kind": "table",
        "columns": {
            "sex": {"role": "quasi", "domain": ["f", "m"]},
            "town": {"domain": ["a", "b"]},
            "name": {"role": "identifier", "domain": ["x", "y"]},
        },
    }
)


def unsaid(rows: int = 40) -> Table:
    return Table.of({"sex": ["f", "m"] * (rows // 2), "town": ["a"] * rows, "name": ["x"] * rows}, UNSAID)


def test_a_column_nobody_classified_stops_the_run_with_a_question(tmp_path: Path) -> None:
    question = r"column town: the role of town is not set: identifier, quasi, sensitive or other\?"
    with pytest.raises(SchemaError, match=question):
        protect(unsaid(), "retention", k=2, seed=1)
    source = tmp_path / "t.parquet"
    unsaid().frame.write_parquet(source)
    with pytest.raises(SchemaError, match=question):
        protect_file(source, tmp_path / "r", Retention(k=2), UNSAID, seed=1)


def test_who_names_the_columns_has_answered(tmp_path: Path) -> None:
    release = protect(unsaid(), "retention", attributes=["sex"], k=2, seed=1)
    assert release.public.frame.columns == ["sex"]
    named = protect(unsaid(), "retention", attributes=["town"], k=2, seed=1)
    assert named.public.schema["town"].role == "quasi"  # and not other, which nobody said
    assert Release.load(named.publish(tmp_path / "p")).public.schema["town"].role == "quasi"


def test_an_identifier_is_not_released_even_perturbed() -> None:
    with pytest.raises(ParameterError, match="name identifies people, so it is not released; remove it from"):
        protect(unsaid(), "retention", attributes=["sex", "name"], k=2, seed=1)


def test_a_value_outside_its_domain_is_named_with_its_row() -> None:
    frame = people(5).frame.with_columns(sex=pl.Series(["f", "m", "z", "f", "f"]))
    with pytest.raises(ValueInCellError, match=r"row 3, column sex, 'z': the value is not in the declared domain"):
        Retention(attributes=("sex",), k=2).protect(Table(frame, SCHEMA), seed=1)


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_nobody_and_of_one(rows: int) -> None:
    with pytest.raises(ParameterError, match=f"the table has {rows} rows; give a table of at least 2 rows"):
        protect(Table(people(5).frame[:rows], SCHEMA), "retention", attributes=["sex"], k=2)


def test_domains_may_be_taken_from_the_data_when_asked() -> None:
    release = protect(
        Table(people(9).frame.with_columns(note=pl.Series(list("abcabcabc"))), SCHEMA),
        "retention",
        attributes=["note"],
        k=2,
        domains="data",
        seed=1,
    )
    assert release.public.schema["note"].domain == ("a", "b", "c")


def test_the_same_seed_gives_the_same_rows_and_sets_of_attributes_their_own_noise() -> None:
    original = people(2000)
    one, two, other = (protect(original, "retention", attributes=["sex"], k=2, seed=s) for s in (1, 1, 2))
    assert one.public.frame.equals(two.public.frame)
    assert not one.aligned().frame.equals(other.aligned().frame)
    more = protect(
        original, "retention", attributes=["sex", "town"], rho=one.statement.notes["attributes"][0]["rho"], seed=1
    )
    assert float((more.aligned().frame["sex"] == one.aligned().frame["sex"]).mean()) < 0.95  # type: ignore[arg-type]


# --- reconstruction ----------------------------------------------------------------------------------------


def test_reconstruction_uses_the_published_part_alone(tmp_path: Path) -> None:
    original = people(3000)
    release = protect(original, "retention", attributes=["sex", "town"], k=2, seed=1)
    published = Release.load(release.publish(tmp_path / "p"))
    assert not published.has_secret
    for model in ("none", "em", "independence", "loglinear", "ml", "auto"):
        found = reconstruct(published, model)
        assert found.table.shape == (3, 4)
        assert found.table.sum() == pytest.approx(3000)
        records = found.records(seed=3)
        assert len(records) == 3000
        assert records.equals(found.records(seed=3))
        assert not records.equals(found.records(seed=4))
        again = found.perturbation.table(found.perturbation.places(records))
        assert np.abs(again - found.table).max() < 1
    assert reconstruct(published).model == "auto"
    assert (found.margin(["town"]) == found.table.sum(axis=0)).all()
    assert (found.margin(["town", "sex"]) == found.table.T).all()


def test_intervals_cover_the_truth() -> None:
    original = people(3000)
    release = protect(original, "retention", attributes=["sex", "town"], rho=0.5, seed=1)
    found = reconstruct(release, "ml", bootstrap=40, seed=1)
    made = found.perturbation
    truth = made.table(made.codes(original.frame))
    within = found.intervals
    assert within is not None
    assert found.cells()["low"].to_numpy() == pytest.approx(within.low.ravel())
    assert ((within.low <= found.table) & (found.table <= within.high)).all()
    assert ((within.low <= truth) & (truth <= within.high)).mean() >= 0.75
    # kept by 1/2: an attribute's own count has an error of about sqrt(n·p(1-p))/rho, here up to 60
    assert 5 < (found.own_intervals["town"].high - found.own_intervals["town"].low).mean() / 4 < 80


def test_a_table_too_large_is_reconstructed_by_its_margins() -> None:
    original = people(500)
    release = protect(original, "retention", attributes=["sex", "town", "age", "born", "pay"], k=2, seed=1)
    pair = reconstruct(release, "em", attributes=["pay", "sex"])
    assert pair.table.shape == (21, 3)
    with pytest.raises(ParameterError, match=r"no attribute 'sexx'; its attributes are sex, town"):
        reconstruct(release, "em", attributes=["sexx"])


def test_only_retention_is_reconstructed() -> None:
    original = people(20)
    plain = Release.of_aligned(original, original, Statement("hand"))
    with pytest.raises(ParameterError, match="not made by retention"):
        reconstruct(plain)


def test_the_papers_first_table(shared: Path) -> None:
    original = read(shared / "data" / "adult.data", "adult").data
    release = noren.protect(original, "retention", attributes=["race", "sex", "native-country"], k=2, seed=1)
    score = measure(original, release, "l1-precision", model="em")
    assert score.parts["perturbed"] == pytest.approx(0.309, abs=0.01)
    assert score.value == pytest.approx(0.911, abs=0.02)
    assert measure(original, release, "l1-precision").value > 0.911


# --- streams -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("sex", "town"), ("age", "born", "pay", "sex", "town")])
def test_a_stream_releases_the_same_rows_in_blocks_of_any_size(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = people(1000)
    method = Retention(attributes=names, k=2)
    at_once = method.protect(original, seed=7)
    monkeypatch.setattr("noren.methods.retention.LARGEST_TABLE", 1000)  # the second set is sorted on disk
    found = []
    for rows, workers in ((1000, 1), (1000, 7), (37, 1), (37, 2), (11, 5)):
        source = tmp_path / f"{rows}.parquet"
        original.frame.write_parquet(source, row_group_size=rows)
        monkeypatch.setattr("noren.data.formats.parquet._BLOCK_ROWS", rows)
        target = tmp_path / f"{rows}-{workers}"
        said = protect_file(source, target, method, SCHEMA, seed=7, workers=workers)
        assert said == at_once.statement
        found.append((target / "public.parquet").read_bytes())
    assert len(set(found)) == 1
    streamed = Release.load(tmp_path / "37-2")
    assert not streamed.has_secret
    assert not (tmp_path / "37-2" / "secret").exists()
    assert streamed.public.frame.sort(names).equals(at_once.public.frame.sort(names))


@cache
def coded() -> tuple[Perturbation, list[NDArray[np.int64]]]:
    plan = Retention(attributes=("age", "born", "pay", "sex", "town"), k=2).plan(SCHEMA, 300)
    return plan, plan.codes(people(300).frame)


@examples(40)
@given(st.lists(st.integers(0, 300), max_size=6), st.integers(0, 2**62), st.randoms(use_true_random=False))
def test_rows_are_perturbed_by_their_place_alone(cuts: list[int], seed: int, order: random.Random) -> None:
    # whatever the blocks are, and in whatever order they are worked on
    plan, codes = coded()
    at_once = plan.perturbed(codes, seed=seed)
    ends = sorted({0, 300, *cuts})
    blocks = list(pairwise(ends))
    order.shuffle(blocks)
    found = [np.full(300, -1) for _column in codes]
    for start, stop in blocks:
        part = plan.perturbed([column[start:stop] for column in codes], seed=seed, first=start)
        for whole, column in zip(found, part, strict=True):
            whole[start:stop] = column
    for one, two in zip(at_once, found, strict=True):
        assert (one == two).all()


_CHILD = """
import sys
from pathlib import Path
from noren.data.schema import Schema
from noren.methods.retention import Retention
from noren.methods.retention import protect_file
source, target, schema, workers = sys.argv[1:]
method = Retention(attributes=("sex", "town", "age"), k=2)
protect_file(source, target, method, Schema.load(schema), seed=7, workers=int(workers))
"""


def test_a_stream_gives_the_same_bytes_in_any_process_on_any_number_of_threads_from_any_format(tmp_path: Path) -> None:
    original = people(2000)
    (tmp_path / "t.toml").write_text(SCHEMA.to_toml())
    original.frame.write_parquet(tmp_path / "t.parquet", row_group_size=611)
    original.frame.write_csv(tmp_path / "t.csv")
    method = Retention(attributes=("sex", "town", "age"), k=2)
    found = []
    for at, name in enumerate(("t.parquet", "t.csv")):
        protect_file(tmp_path / name, tmp_path / f"own-{at}", method, SCHEMA, seed=7)
        found.append((tmp_path / f"own-{at}" / "public.parquet").read_bytes())
        threads = str(1 + 2 * at)
        words = [str(tmp_path / name), str(tmp_path / f"child-{at}"), str(tmp_path / "t.toml"), threads]
        limits = {"POLARS_MAX_THREADS": threads, "OMP_NUM_THREADS": threads, "RAYON_NUM_THREADS": threads}
        subprocess.run([sys.executable, "-c", _CHILD, *words], env=os.environ | limits, check=True)
        found.append((tmp_path / f"child-{at}" / "public.parquet").read_bytes())
    assert len(set(found)) == 1


def test_a_stream_needs_declared_domains_and_a_table(tmp_path: Path) -> None:
    source = tmp_path / "t.parquet"
    people(5).frame.write_parquet(source)
    with pytest.raises(ParameterError, match="cannot take domains from the data"):
        protect_file(source, tmp_path / "r", Retention(k=2, domains="data"), SCHEMA, seed=1)
    with pytest.raises(SchemaError, match="these are purchases; give a table"):
        protect_file(source, tmp_path / "r", Retention(k=2), Schema.preset("pwscup2018"), seed=1)
    assert not (tmp_path / "r").exists()
