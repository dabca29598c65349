"""What an analyst gets from a release: midpoints, uniform draws, estimates, and estimates raked to monthly totals.

Four shops, and all customers of a fifth, are protected by ``generalize`` with k = 5 (effort quick) under five seeds.
Each release is asked the standard questions of ``noren.tabulations.questions``: with midpoints of ranges and the first
element of sets; with data sets drawn uniformly; with data sets drawn from the distribution that the public rows imply;
with the same weighted to the published monthly totals of rows, quantity and revenue. The tables give the mean over the
seeds with its 95 % interval. About half an hour on one core::

    python benchmarks/bench_analyst.py
    python benchmarks/bench_analyst.py --said

The second, of two minutes, tells where revenue is lost: with deleted rows, in suppressed cells, or by the estimate of
what is said. It needs the published data beside the checkout.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl
from machine import facts, report, table

import noren
from noren import api
from noren.data.arrays import numbers
from noren.data.cells import cell_ends, is_interval, is_set
from noren.data.draws import Draws, typed_values
from noren.data.frames import History
from noren.data.schema import Schema
from noren.kernels.judging.shares import mean_high, mean_low
from noren.tabulations.estimates import ImpliedDraws
from noren.tabulations.questions import AnalystQuestion, mean_answer, questions, rows_to_ask
from noren.tabulations.tabulation import Tabulation

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
SEEDS, DRAWS, K = range(1, 6), 5, 5
WAYS = ("midpoints", "uniform draws", "estimates", "estimates with monthly totals")


def some(frame: pl.DataFrame, customers: int, **columns: pl.Expr) -> History:
    """Return the rows of so many customers, drawn at random with a fixed seed, with columns named by their roles."""
    rows = frame.select(**columns).with_columns(pl.col("customer").cast(pl.String))
    every = rows["customer"].unique().sort()
    chosen = every.gather(np.sort(np.random.default_rng(1).permutation(len(every))[:customers]))
    schema = Schema.of({"kind": "history", "columns": {name: {"role": name} for name in columns}})
    return History.of(rows.filter(pl.col("customer").is_in(chosen.implode())), schema)


def retail(file: str, customers: int, price: str) -> History:
    """Return the sales of some customers of a year of Online Retail."""
    rows = pl.read_parquet(SHARED / file).drop_nulls("CustomerID")
    quantity, amount = pl.col("Quantity"), pl.col(price)
    return some(
        rows.filter((quantity > 0) & (amount > 0)),
        customers,
        customer=pl.col("CustomerID"),
        date=pl.col("InvoiceDate").cast(pl.Date),
        item=pl.col("StockCode"),
        price=amount,
        quantity=quantity,
    )


def shops() -> dict[str, History]:
    """Return three published shops, of each some customers, and a generated one."""
    col = pl.col
    cdnow, groceries = (pl.read_parquet(SHARED / f"{name}.parquet") for name in ("cdnow", "groceries_members"))
    return {
        "Online Retail": retail("online_retail.parquet", 1_000, "UnitPrice"),
        "CDNOW": some(
            cdnow, 2_000, customer=col("customer_id"), date=col("date"), price=col("price"), quantity=col("quantity")
        ),
        "Groceries": some(
            groceries, 1_500, customer=col("Member_number"), date=col("Date"), item=col("itemDescription")
        ),
        "generated": api.sample(customers=800, rows=40_000, items=1_500, seed=1),
    }


def midpoints(public: History) -> History:
    """Return public rows whose ranges are their midpoints and whose sets are their first elements."""
    values = []
    for column in public.measured():
        cells = public.frame[column.name]
        if is_interval(cells.dtype):
            low, high = (numbers(end) for end in cell_ends(cells))
            values.append(typed_values((low + high) / 2, column))
        elif is_set(cells.dtype):
            values.append(cells.list.first().cast(pl.String))
    return History(public.frame.with_columns(values), public.schema)


def answers(original: History, seed: int) -> tuple[dict[str, dict[str, dict[str, float]]], float]:
    """Return the errors of each question by each way, with the signed bias of sums, and how long an estimate takes."""
    release = api.protect(original, "generalize", k=K, effort="quick", seed=seed, audit=False)
    public = release.public
    assert isinstance(public, History)
    rows = rows_to_ask(original)
    totals = noren.totals(original, k=K, tables=["month"])
    asked = [question for question in questions().values() if question.fits(original.schema)]

    def each(histories: Iterable[History]) -> dict[str, list[Tabulation]]:
        made = [rows_to_ask(history) for history in histories]
        return {question.name: [question.table(one) for one in made] for question in asked}

    begin = time.process_time()
    implied = ImpliedDraws(public, release.statement).tables(asked, DRAWS)
    seconds = time.process_time() - begin
    by_way = {
        "midpoints": each([midpoints(public)]),
        "uniform draws": each(Draws(original, public, seed=1).first(DRAWS)),
        "estimates": implied,
        "estimates with monthly totals": ImpliedDraws(public, release.statement, totals=totals).tables(asked, DRAWS),
    }
    return {
        question.name: {
            way: errors(question, question.table(rows), tables[question.name]) for way, tables in by_way.items()
        }
        for question in asked
    }, seconds


def errors(question: AnalystQuestion, original: Tabulation, tables: list[Tabulation]) -> dict[str, float]:
    compared = question.compare(question.best(original), mean_answer(question, tables))
    found = dict(compared.errors)
    if question.name in ("revenue", "basket-size"):
        known, estimated = (
            float(side.frame[original.values[0]].sum()) for side in (compared.original, compared.estimate)
        )
        found["bias"] = estimated / known - 1
    return found


def written(values: list[float]) -> str:
    """Return the mean, and its interval where the values differ."""
    if max(values) - min(values) < 5e-4:
        return f"{np.mean(values):.3f}"
    return f"{np.mean(values):.3f} ({mean_low(values, 0.025):.3f} to {mean_high(values, 0.025):.3f})"


def where_revenue_is_lost() -> None:
    """Report the revenue of deleted rows, of suppressed cells and of cells that are said, and its estimates."""
    lines = []
    for name, original in shops().items():
        if not original.schema.with_role("price"):
            continue
        release = api.protect(original, "generalize", k=K, effort="quick", seed=SEEDS[0], audit=False)
        public, known = release.public, rows_to_ask(original)["revenue"]
        assert isinstance(public, History)
        released = known.gather(release.secret.origin)
        columns = [public.schema.role(role).name for role in ("price", "quantity")]
        said = public.frame.select(pl.all_horizontal(pl.col(columns).is_not_null())).to_series()
        truth, whole = float(released.filter(said).sum()), float(known.sum())
        ways = {
            "midpoints": [midpoints(public)],
            "uniform draws": Draws(original, public, seed=1).first(DRAWS),
            "estimates": ImpliedDraws(public, release.statement).first(DRAWS),
        }
        biases = []
        for histories in ways.values():
            sums = [float(rows_to_ask(history)["revenue"].filter(said).sum()) for history in histories]
            biases.append(f"{np.mean(sums) / truth - 1:+.3f}")
        lost = [1 - float(released.sum()) / whole, float(released.filter(~said).sum()) / whole]
        lines.append([name, *(f"{share:.3f}" for share in lost), *biases])
    report(
        "analyst-said",
        "Where revenue is lost",
        f"`generalize`, k = {K}, effort quick, seed {SEEDS[0]}. Shares of the original's revenue in deleted"
        " rows and in rows whose price or quantity is suppressed; then the relative error of the revenue of the other"
        f" rows against their true revenue. Draws are means over {DRAWS} data sets.",
        table(["shop", "deleted", "suppressed", *WAYS[:3]], lines),
        facts("polars", "numba", "numpy"),
    )


def main() -> None:
    if not SHARED.exists():
        sys.exit("the published data are not beside this checkout")
    if "--said" in sys.argv:
        where_revenue_is_lost()
        return
    tables, seconds = [], []
    whole_shop = {"Online Retail II, first year": retail("online_retail_ii_2009_2010.parquet", 10_000, "Price")}
    for name, original in (shops() | whole_shop).items():
        runs = []
        for seed in SEEDS:
            found, spent = answers(original, seed)
            runs.append(found)
            seconds.append(spent)
        lines = [
            [f"{question}, {error}", *(written([run[question][way][error] for run in runs]) for way in WAYS)]
            for question in runs[0]
            for error in runs[0][question][WAYS[0]]
        ]
        rows, people = len(original), len(original.customers)
        tables += [f"## {name}: {rows:,} rows of {people:,} customers", table(["question, error", *WAYS], lines)]
    report(
        "analyst",
        "What an analyst gets from a release",
        f"`generalize`, k = {K}, effort quick, {len(SEEDS)} seeds: means with 95 % intervals of the mean."
        f" Draws and estimates are means over {DRAWS} data sets. `r` and `kept` are best at 1, `error` and `bias` at 0;"
        " `bias` is the signed relative error. Totals are the rows, quantity and revenue of months that `noren totals`"
        " publishes.",
        *tables,
        f"Fitting the margins, {DRAWS} draws and all answers took {np.mean(seconds):.1f} processor seconds per release"
        f" on average, {max(seconds):.1f} at most.",
        facts("polars", "numba", "numpy"),
    )


if __name__ == "__main__":
    main()
