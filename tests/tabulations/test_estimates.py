"""Draws by the margins of a release: consistent, ends included, unbiased on data made that way; weights meet totals."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.awkward_histories import AWKWARD

from noren import api
from noren.data.cells import cell_ends, contains, is_interval
from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Schema
from noren.data.statement import Statement
from noren.methods import methods
from noren.tabulations.estimates import ImpliedDraws, estimate, raked_weights
from noren.tabulations.questions import questions, rows_to_ask
from noren.tabulations.tabulation import Tabulation

PAID = Schema.of(
    {
        "kind": "history",
        "columns": {"customer": {"role": "customer"}, "date": {"role": "date"}, "price": {"role": "price"}},
    }
)
BY_K = Statement("generalize", {"k": 5})


def in_groups(values: np.ndarray, size: int) -> History:
    """Return a release of prices by k: every group of a size says the smallest interval around its values."""
    table = values.reshape(-1, size)
    ends = [np.repeat(end, size) for end in (table.min(axis=1), table.max(axis=1))]
    class_of = np.repeat(np.arange(len(table)), size)
    names = [f"{group}-{at}" for group, at in zip(class_of, np.tile(np.arange(size), len(table)), strict=True)]
    days = pl.Series([f"2011/1/{1 + group % 28}" for group in class_of])
    frame = pl.DataFrame({"customer": names, "date": days.str.to_date("%Y/%m/%d")})
    price = pl.DataFrame({"lo": ends[0], "hi": ends[1]}).select(pl.struct("lo", "hi").alias("price"))
    return History(pl.concat([frame, price], how="horizontal"), PAID)


@pytest.fixture(scope="module")
def made() -> tuple[History, Release]:
    original = api.sample(customers=60, rows=900, items=60, seed=3, schema="pwscup2018")
    return original, api.protect(original, "generalize-by-count", k=3, suppress_cells=True, seed=1)


def test_every_draw_is_consistent_and_numbered(made: tuple[History, Release]) -> None:
    original, release = made
    draws = ImpliedDraws(release.public, release.statement, seed=5)  # type: ignore[arg-type]
    for draw in draws.first(2):
        for column in original.measured():
            values = draw.frame[column.name]
            assert values.dtype == original.frame[column.name].dtype
            assert values.null_count() == 0
            assert contains(release.public.frame[column.name], values).all(), column.name
    assert draws[1].frame.equals(ImpliedDraws(release.public, release.statement, seed=5)[1].frame)  # type: ignore[arg-type]
    assert not draws[0].frame.equals(draws[1].frame)


def test_every_end_and_every_element_occurs_in_its_group(made: tuple[History, Release]) -> None:
    release = made[1]
    public = release.public
    assert isinstance(public, History)
    draws = ImpliedDraws(public, release.statement, seed=1)
    drawn, group = draws[0].frame, pl.Series("group", draws.groups.of_row)
    both = public.frame.select(group, cells="item").with_columns(drawn=drawn["item"])
    sets = both.drop_nulls().group_by("group").agg(pl.col("cells").first().cast(pl.List(pl.String)), pl.col("drawn"))
    assert len(sets)
    assert sets.select((pl.col("cells").list.set_difference("drawn").list.len() == 0).all()).item()
    prices = public.frame["price"]
    assert is_interval(prices.dtype)
    low, high = cell_ends(prices)
    ends = pl.DataFrame({"group": group, "lo": low, "hi": high, "drawn": drawn["price"]}).drop_nulls()
    sums = ends.group_by("group").agg(
        pl.all().exclude("drawn").first(), least=pl.col("drawn").min(), most=pl.col("drawn").max()
    )
    # prices depend on the item that is drawn, so ends are met by most groups and not by all
    assert sums.select(((pl.col("lo") == pl.col("least")) & (pl.col("hi") == pl.col("most"))).mean()).item() > 0.5


@pytest.mark.parametrize("size", [2, 3, 5, 10])
def test_the_mean_is_kept_where_midpoints_and_uniform_draws_are_biased(size: int) -> None:
    values = np.round(np.random.default_rng(1).lognormal(1.0, 1.0, 3_000), 1)
    public = in_groups(values, size)
    low, high = cell_ends(public.frame["price"])
    midpoints = ((low + high) / 2).mean()
    drawn = np.mean([draw.frame["price"].mean() for draw in ImpliedDraws(public, BY_K).first(3)])
    assert abs(drawn - values.mean()) < 0.05 * values.mean()
    if size > 2:  # of two values the midpoint is the mean
        assert midpoints > 1.1 * values.mean()


def test_an_item_has_its_own_prices() -> None:
    # lamps cost 50 and rugs 2; a pair of one each says {lamp, rug} and [2;50]
    rows = 120
    schema = Schema.preset("pwscup2018")
    names = [f"{group:03}{at}" for group in range(rows // 2) for at in "ab"]
    plain: dict[str, Any] = {"customer": names, "date": "2011/1/1", "item": ["lamp", "rug"] * (rows // 2)}
    data = History.of(plain | {"price": [50.0, 2.0] * (rows // 2), "quantity": [1, 40] * (rows // 2)}, schema)
    mixed = np.arange(rows) < rows // 2
    cells: dict[str, list[Any]] = {
        "item": [["lamp", "rug"] if some else [item] for some, item in zip(mixed, plain["item"], strict=True)],
        "price": [
            {"lo": 2.0, "hi": 50.0} if m else {"lo": p, "hi": p}
            for m, p in zip(mixed, data.frame["price"], strict=True)
        ],
        "quantity": [
            {"lo": 1, "hi": 40} if m else {"lo": q, "hi": q} for m, q in zip(mixed, data.frame["quantity"], strict=True)
        ],
    }
    frame = data.frame.with_columns(
        pl.Series("item", cells["item"], dtype=pl.List(pl.Enum(["lamp", "rug"]))),
        *(pl.Series(name, cells[name]) for name in ("price", "quantity")),
    )
    table = estimate(questions()["revenue"], History(frame, schema), Statement("generalize", {"k": 2}), draws=3)
    # midpoints say 26 · 20.5 for a mixed row, which is 4.6 times as much
    assert 0.8 < table.frame["revenue"][0] / (rows / 2 * (50 + 80)) < 1.4


def test_dates_of_one_visit_stay_together() -> None:
    days = pl.Series("date", [{"lo": "2011-01-01", "hi": "2011-06-30"}] * 20).to_frame().unnest("date")
    cells = days.select(pl.struct(pl.all().str.to_date()).alias("date"))["date"]
    names = [str(at // 4) for at in range(20)]
    prices = [float(at % 4) for at in range(20)]
    public = History(pl.DataFrame({"customer": names, "date": cells, "price": prices}), PAID)
    drawn = ImpliedDraws(public, BY_K)[0].frame
    assert drawn.group_by("customer").agg(pl.col("date").n_unique())["date"].to_list() == [1] * 5
    assert {str(day) for day in drawn["date"]} >= {"2011-01-01", "2011-06-30"}


def test_exact_cells_stay_and_blanks_where_the_schema_has_them() -> None:
    optional = PAID.model_copy(
        update={"columns": (*PAID.columns[:2], PAID.columns[2].model_copy(update={"optional": True}))}
    )
    rows = {"customer": ["1", "2"], "date": ["2011-01-01", "2011-01-02"], "price": [1.0, None]}
    data = History(pl.DataFrame(rows).with_columns(pl.col("date").str.to_date()), optional)
    draws = ImpliedDraws(data)
    assert draws[0].frame.equals(data.frame)
    assert len(draws.tables([questions()["revenue"]], 5)["revenue"]) == 1


def test_weights_meet_the_totals() -> None:
    data = api.sample(customers=60, rows=1_500, items=60, seed=1)
    rows = rows_to_ask(data)
    known = questions()["monthly-sales"].table(rows)
    wanted = known.frame.with_columns(
        rows=pl.col("rows") * 1.2, quantity=pl.col("quantity") * 1.1, revenue=pl.col("revenue") * 1.3
    )
    weights = raked_weights(rows, [Tabulation("month", ("month",), known.values, wanted)])
    assert weights.min() > 0  # type: ignore[operator]
    found = questions()["monthly-sales"].answer(data, weights).frame
    for name in known.values:
        assert found[name].to_list() == pytest.approx(wanted[name].to_list(), rel=1e-6)


def test_margins_of_tables_with_categories_are_their_stars_or_their_sums() -> None:
    rows = pl.DataFrame({"month": ["2011-01"] * 4 + ["2011-02"], "revenue": [1.0] * 5, "weight": 1.0})
    cells = {"month": ["2011-01", "2011-01", "2011-01", "2011-02", "2011-02"], "category": ["x", "y", "*", "x", "y"]}
    frame = pl.DataFrame(cells | {"rows": [None, None, 8, 2, 3]})
    weights = raked_weights(rows, [Tabulation("month-category", ("month", "category"), ("rows",), frame)])
    assert weights.to_list() == pytest.approx([2.0] * 4 + [1.0])  # of February no margin is published
    summed = Tabulation("month-category", ("month", "category"), ("rows",), frame.filter(pl.col("month") == "2011-02"))
    assert raked_weights(rows, [summed]).to_list() == pytest.approx([1.0] * 4 + [5.0])


def test_items_by_quarter_are_met() -> None:
    data = api.sample(customers=60, rows=1_500, items=30, seed=1)
    rows = rows_to_ask(data)
    by = [
        pl.col("item"),
        (pl.col("day").dt.strftime("%Y-Q") + pl.col("day").dt.quarter().cast(pl.String)).alias("quarter"),
    ]
    counts = rows.group_by(by).agg(rows=pl.len() * 2.0)
    weights = raked_weights(rows, [Tabulation("item-quarter", ("item", "quarter"), ("rows",), counts)])
    assert weights.to_list() == pytest.approx([2.0] * len(rows))


def test_totals_that_no_weights_meet_leave_out_revenue_first() -> None:
    rows = pl.DataFrame({"month": ["2011-01"] * 2, "revenue": [1.0, 1.0], "weight": 1.0})
    frame = pl.DataFrame({"month": ["2011-01"], "rows": [4.0], "revenue": [9.0]})
    weights = raked_weights(rows, [Tabulation("month", ("month",), ("rows", "revenue"), frame)])
    assert weights.to_list() == pytest.approx([2.0, 2.0])


def test_an_estimate_says_its_spread_and_what_it_covers(made: tuple[History, Release]) -> None:
    release = made[1]
    assert isinstance(release.public, History)
    table = estimate(questions()["monthly-sales"], release.public, release.statement, draws=4)
    assert table.frame.columns == [
        "month",
        "rows",
        "quantity",
        "revenue",
        "rows_error",
        "quantity_error",
        "revenue_error",
    ]
    assert table.frame["rows"].sum() == pytest.approx(len(release.public))
    assert table.notes == {"kind": "estimate", "draws": 4, "covers": "released rows"}


@pytest.mark.parametrize("kind", list(AWKWARD))
def test_every_release_can_be_estimated(kind: str) -> None:
    data = AWKWARD[kind]()
    alone = len(data.customers) < 2
    chosen = methods.create("pseudonymize") if alone else methods.create("generalize-by-count", k=2)
    release = api.protect(data, chosen, seed=1)
    assert isinstance(release.public, History)
    for statement in (release.statement, None):
        (draw,) = [*ImpliedDraws(release.public, statement).first(1)]
        assert len(draw) == len(release.public)
        for question in questions().values():
            if question.fits(data.schema):
                question.answer(draw)
