"""Table methods in scikit-learn: the checks of the library, pipelines, frames of each make."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import noren
from noren.errors import ParameterError, SchemaError, UnknownNameError
from noren.transformers import Protector

BY_NATURE = {"check_methods_subset_invariance": "classes of k are formed of the rows that are protected together"}


def people(rows: int = 60) -> pd.DataFrame:
    draw = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "name": [f"Person {i}" for i in range(rows)],
            "age": draw.integers(20, 80, rows),
            "city": draw.choice(["Kyoto", "Nara", "Kobe"], rows),
            "born": pd.Timestamp("1980-01-01") + pd.to_timedelta(draw.integers(0, 9000, rows), unit="D"),
            "disease": draw.choice(["flu", "cold", "none"], rows),
        },
        index=range(100, 100 + rows),
    )


def test_the_checks_of_scikit_learn() -> None:
    results = check_estimator(Protector(), expected_failed_checks=BY_NATURE, on_fail=None, on_skip=None)
    counts = Counter(result["status"] for result in results)
    assert [result["check_name"] for result in results if result["status"] == "xfail"] == list(BY_NATURE)
    assert counts["failed"] == 0
    assert counts["passed"] >= 44
    assert counts["skipped"] <= 1, "arrays of other libraries"


def test_a_frame_gives_a_frame_of_its_make_in_the_same_order() -> None:
    frame = people()
    protector = Protector(k=4, parameters={"l": 2}, roles={"sensitive": "disease"}, random_state=1)
    protected = protector.fit_transform(frame)
    assert list(protected.columns) == list(protector.get_feature_names_out()) == ["age", "city", "born", "disease"]
    assert protected.index.equals(frame.index)
    assert protected.groupby(["age", "city", "born"]).size().min() >= 4
    assert (protected.disease == frame.disease).all(), "sensitive values stay"
    assert set(protected.city.str.strip("{}").str.split(";").explode()) <= set(frame.city)
    assert str(protected.born.dtype).startswith("datetime64")
    release = noren.protect(frame, "mondrian", k=4, l=2, schema=protector.schema_, seed=1)
    middles = {(cell["lo"] + cell["hi"]) / 2 for cell in release.public.to_polars(cells="typed")["age"]}
    assert set(protected.age) == middles
    same = protector.fit_transform(pl.from_pandas(frame))
    assert isinstance(same, pl.DataFrame)
    assert same["age"].to_list() == protected.age.to_list()


def test_blanks_and_values_of_another_batch() -> None:
    first, second = people(40), people(50).assign(city="Osaka")
    second.loc[second.index[0], "age"] = 99
    second["age"] = second["age"].astype(float).mask(second.index % 7 == 0)
    protected = Protector(k=3).fit(first).transform(second)
    assert len(protected) == 50
    assert set(protected.city) == {"Osaka"}
    assert protected.age.notna().sum() >= 3


def test_pipelines_grids_and_copies() -> None:
    draw = np.random.default_rng(5)
    numbers = draw.normal(size=(80, 3))
    label = numbers[:, 0] > 0
    steps = make_pipeline(Protector(random_state=1), StandardScaler(), LogisticRegression())
    grid = GridSearchCV(steps, {"protector__k": [2, 5]}, cv=2).fit(numbers, label)
    assert grid.best_score_ > 0.8
    protector = Protector("mondrian", k=3, parameters={"relaxed": True})
    copied = clone(protector).set_params(k=7)
    assert copied.get_params() == {**protector.get_params(), "k": 7}
    assert repr(copied) == "Protector(k=7, parameters={'relaxed': True})"


def test_noise_by_retention() -> None:
    frame = people()[["city", "disease"]]
    protector = Protector("retention", k=2, parameters={"attributes": ["city"]}, random_state=1)
    kept = protector.fit_transform(frame)
    assert list(kept.columns) == list(protector.get_feature_names_out()) == ["city"]
    assert 0.2 < (kept.city == frame.city).mean() < 1


def test_mistakes_are_explained() -> None:
    with pytest.raises(ValueError, match="minimum of 5 is required"):
        Protector().fit([[1.0], [2.0]])
    with pytest.raises(ParameterError, match="k = 5 needs at least 5 rows, but there are 3"):
        Protector().fit(people()).transform(people(3))
    with pytest.raises(UnknownNameError, match="did you mean mondrian"):
        Protector("mondrain").fit_transform(people())
    with pytest.raises(ParameterError, match="generalize works on a history, and this is a table"):
        Protector("generalize").fit_transform(people())
    with pytest.raises(SchemaError, match="the data has no column 'salary'"):
        Protector(roles={"sensitive": "salary"}).fit(people())
