"""Differentially private tables: what is refused, how far noise goes, and that everything adds up."""

import builtins
import math
from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest

import noren
from noren.data.categories import Categories
from noren.errors import ParameterError, SchemaError
from noren.tabulations.dp_counts import consistent, dp_counts, noise_bound, noisy, simplex

pytest.importorskip("opendp")

PEOPLE = {
    "name": "survey",
    "kind": "table",
    "columns": {
        "sex": {"role": "quasi", "domain": ["f", "m"]},
        "town": {"role": "quasi", "domain": ["Nara", "Otsu", "Kobe"]},
        "age": {"role": "quasi", "type": "integer"},
    },
}
SHOP: dict[str, Any] = {
    "name": "shop",
    "columns": {
        "customer": {"role": "customer"},
        "date": {"role": "date", "minimum": date(2011, 1, 1), "maximum": date(2011, 4, 30)},
        "item": {"role": "item", "domain": ["a", "b", "c"]},
        "price": {"role": "price"},
        "quantity": {"role": "quantity"},
    },
}
FRUIT = Categories({"a": "fruit", "b": "fruit", "c": "bread"})


def people(count=600):
    generator = np.random.default_rng(1)
    frame = pl.DataFrame({
        "sex": generator.choice(["f", "m"], count), "town": generator.choice(["Nara", "Otsu"], count),
        "age": generator.integers(20, 60, count),
    })  # fmt: skip
    return noren.Table.of(frame, noren.Schema.of(PEOPLE))


def shop(customers=300, heavy=0):
    generator = np.random.default_rng(2)
    names = [f"c{who}" for who in range(customers) for _ in range(4)] + ["heavy"] * heavy
    size = len(names)
    frame = pl.DataFrame({
        "customer": names, "item": generator.choice(["a", "b", "c"], size), "price": np.full(size, 2.5),
        "date": [date(2011, int(month), 15) for month in generator.integers(1, 5, size)],
        "quantity": generator.integers(1, 5, size),
    })  # fmt: skip
    return noren.History.of(frame, noren.Schema.of(SHOP))


def test_the_noise_is_that_of_the_stated_epsilon():
    noise, scale = noisy(np.zeros(4000, np.int64), 2, 0.5)
    assert scale == pytest.approx(4)
    # of a discrete Laplace distribution of this scale; ten standard errors
    q = math.exp(-1 / scale)
    variance = 2 * q / (1 - q) ** 2
    assert noise.mean() == pytest.approx(0, abs=10 * math.sqrt(variance / 4000))
    assert noise.var() == pytest.approx(variance, rel=0.4)
    assert (np.abs(noise) > noise_bound(scale)).mean() < 0.08
    assert np.array_equal(noise, np.rint(noise))


@pytest.mark.parametrize("count", [2, 20])
def test_the_bound_of_a_sum_holds(count):
    noise, scale = noisy(np.zeros((2000, count), np.int64), 1, 0.2)
    assert (np.abs(noise.sum(axis=1)) > noise_bound(scale, count)).mean() < 0.05


def test_cross_tables_of_people():
    first, second = dp_counts(people(), 2.0, [["sex", "town"], ["age=30..60:10"]])
    assert (first.name, first.keys, first.frame.height) == ("sex-town", ("sex", "town"), 6)
    assert first.notes == {
        "kind": "dp", "epsilon": pytest.approx(1.0), "delta": 0.0, "adjacency": "row", "neighbours": "replaced",
        "bound": {},
    }  # fmt: skip
    # how many people there are is public
    assert first.frame["rows"].sum() == second.frame["rows"].sum() == 600
    assert (first.frame["rows"] >= 0).all()
    true = people().frame.group_by("sex", "town").len()
    both = first.frame.join(true, on=["sex", "town"], how="left").with_columns(pl.col("len").fill_null(0))
    assert ((both["rows"] - both["len"]).abs() <= 10 * both["rows_error"]).all()
    assert second.frame["age"].to_list() == ["≤30", "31–40", "41–50", "51–60"]
    # another call, other noise
    assert any(not dp_counts(people(), 0.5, [["sex", "town"]])[0].frame.equals(first.frame) for _ in range(3))


def test_the_interval_holds_the_true_counts():
    true = people().frame.group_by("sex", "town").len()
    held = []
    for _ in range(60):
        (table,) = dp_counts(people(), 1.0, [["sex", "town"]])
        both = table.frame.join(true, on=["sex", "town"], how="left").with_columns(pl.col("len").fill_null(0))
        held += ((both["rows"] - both["len"]).abs() <= both["rows_error"]).to_list()
    assert np.mean(held) > 0.92


def test_domains_that_nobody_declared_are_refused():
    with pytest.raises(SchemaError, match="values read from the data are not private"):
        dp_counts({"sex": ["f", "m", "f"], "town": ["Nara", "Otsu", "Otsu"]}, 1.0, [["sex"]])
    with pytest.raises(SchemaError, match="not declared"):
        dp_counts(people(), 1.0, [["age"]])
    with pytest.raises(SchemaError, match="not declared"):
        dp_counts(noren.sample(customers=20, rows=200, items=5, seed=1))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epsilon": 0}, "epsilon > 0"),
        ({"columns": ()}, "columns are for a table of people"),
        ({"weights": [1, 2]}, "do not fit 1 tables"),
    ],
)
def test_wrong_requests(wrong, message):
    with pytest.raises(ParameterError, match=message):
        dp_counts(people(), **{"epsilon": 1.0, "columns": [["sex"]]} | wrong)


def test_without_opendp_the_error_says_what_to_install(monkeypatch):
    plain = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("opendp"):
            raise ImportError(name)
        return plain(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ParameterError, match=r"pip install 'noren\[dp\]'"):
        dp_counts(people(), 1.0, [["sex"]])


def test_totals_of_a_shop_add_up():
    limits = {"rows": 4, "quantity": 30, "revenue": 60.5}
    tables = {t.name: t for t in dp_counts(shop(), 50.0, contributions=limits, categories=FRUIT)}
    assert list(tables) == ["month-category", "item-quarter", "rfm"]
    table = tables["month-category"]
    assert table.notes["epsilon"] == pytest.approx(50 / 3)
    assert table.notes["bound"] == limits
    assert table.frame.height == 4 * 3 + 4 + 3 + 1
    inner = table.frame.filter((pl.col("month") != "*") & (pl.col("category") != "*"))
    for value in table.values:
        months = inner.group_by("month").agg(pl.col(value).sum())
        stated = table.frame.filter((pl.col("month") != "*") & (pl.col("category") == "*")).select("month", value)
        assert months.sort("month")[value].to_list() == pytest.approx(stated.sort("month")[value].to_list())
        assert (inner[value] >= 0).all()
    # nobody is clipped: the noise alone moves the total
    assert abs(table.frame["rows"][-1] - 1200) <= 10 * table.frame["rows_error"][-1]
    assert tables["rfm"].frame["customers"][-1] == pytest.approx(300, abs=100)
    assert tables["rfm"].notes["bound"] == {"customers": 1}


def test_a_heavy_buyer_is_clipped():
    history = shop(customers=20, heavy=5000)
    (table,) = dp_counts(history, 1000.0, tables=["month"], contributions={"rows": 10, "quantity": 40, "revenue": 99})
    assert table.frame["rows"][-1] == pytest.approx(20 * 4 + 10, abs=4)
    (exact,) = dp_counts(history, 1e6, tables=["month"], contributions={"rows": 10})  # hardly any noise
    assert exact.frame["rows"][-1] == 20 * 4 + 10
    assert table.frame["quantity"][-1] <= 20 * 16 + 40 + 5
    # a customer's amounts are cut in proportion, and the sum of the others is not
    others = (history.frame.filter(customer="heavy").is_empty(), history.frame.head(80)["quantity"].sum())
    assert table.frame["quantity"][-1] == pytest.approx(others[1] + 40, abs=8)


def test_fractions_are_whole_pieces_before_the_limit_is_applied():
    columns = {name: SHOP["columns"][name] for name in ("customer", "date")}
    schema = noren.Schema.of({"columns": columns | {"quantity": {"role": "quantity", "type": "decimal"}}})
    days = [date(2011, month, 15) for month in range(1, 5)]
    for quantity, limit, expected in ((0.6, 3, 0), (0.6, 4, 4), (2.0, 8, 8), (2.0, 6, 4)):
        frame = pl.DataFrame({"customer": "a", "date": days, "quantity": [quantity] * 4})
        history = noren.History.of(frame, schema)
        (table,) = dp_counts(history, 1e6, tables=["month"], contributions={"rows": 4, "quantity": limit})
        assert table.frame["quantity"][-1] == expected


def test_the_fit_of_a_table_without_noise_is_the_table():
    generator = np.random.default_rng(3)
    cells = generator.integers(0, 9, (3, 4)).astype(float)
    fitted = consistent(cells, cells.sum(axis=1), cells.sum(axis=0), (1.0, 4.0, 2.0))
    assert fitted == pytest.approx(cells, abs=1e-6)


def test_the_fit_is_weighted_least_squares():
    generator = np.random.default_rng(4)
    cells = generator.normal(100, 3, (3, 4))
    across, down = cells.sum(axis=1) + generator.normal(0, 2, 3), cells.sum(axis=0) + generator.normal(0, 4, 4)
    design = np.vstack([np.eye(12), np.kron(np.eye(3), np.ones(4)), np.kron(np.ones(3), np.eye(4))])
    weights = 1 / np.sqrt(np.concatenate([np.full(12, 9.0), np.full(3, 4.0), np.full(4, 16.0)]))
    measured = np.concatenate([cells.ravel(), across, down])
    expected = np.linalg.lstsq(design * weights[:, None], measured * weights, rcond=None)[0]
    assert consistent(cells, across, down, (9.0, 4.0, 16.0)).ravel() == pytest.approx(expected, abs=1e-3)


def test_the_simplex_is_the_nearest_point():
    values = np.array([4.0, 1.0, -3.0])
    nearest = simplex(values, 3.0)
    assert nearest.sum() == pytest.approx(3)
    grid = [(a, b, 3 - a - b) for a in np.linspace(0, 3, 61) for b in np.linspace(0, 3, 61) if a + b <= 3]
    best = min(np.square(np.array(point) - values).sum() for point in grid)
    assert np.square(nearest - values).sum() <= best + 1e-9
