"""How like the real thing is a generated sample? Print the two side by side as Markdown.

    python benchmarks/sample_calibration.py [--seed 1]

Needs ``online_retail.parquet`` and ``pwscup2016_T.csv`` in ``$NOREN_DATA`` or in ``../shared/data`` beside the
checkout. Online Retail is cut as the contests cut it: quantity > 0, price > 0, a known customer. The table in
``docs/data/sample.md`` is a part of this script's output.
"""

import argparse
import math
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.samples.generator import generate, shape

Floats = NDArray[np.float64]


def data_folder() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("NOREN_DATA", beside))
    if not (folder / "pwscup2016_T.csv").exists():
        raise SystemExit(f"{folder} holds no pwscup2016_T.csv; set NOREN_DATA to the folder of the published data")
    return folder


def online_retail(folder: Path) -> pl.DataFrame:
    return (
        pl.read_parquet(folder / "online_retail.parquet")
        .filter(pl.col("Quantity") > 0, pl.col("UnitPrice") > 0, pl.col("CustomerID").is_not_null())
        .select(
            customer=pl.col("CustomerID").cast(pl.String),
            invoice="InvoiceNo",
            date=pl.col("InvoiceDate").dt.date(),
            hour=pl.col("InvoiceDate").dt.hour(),
            item="StockCode",
            description="Description",
            price="UnitPrice",
            quantity=pl.col("Quantity").cast(pl.Int64),
        )
    )


def pwscup2016(folder: Path) -> pl.DataFrame:
    columns = ["customer", "invoice", "date", "time", "item", "price", "quantity"]
    frame = pl.read_csv(
        folder / "pwscup2016_T.csv", has_header=False, new_columns=columns, infer_schema=False, encoding="utf8"
    )
    return frame.with_columns(
        pl.col("date").str.to_date("%Y/%m/%d"),
        pl.col("price").cast(pl.Float64),
        pl.col("quantity").cast(pl.Int64),
        description=pl.lit(""),
        hour=pl.col("time").str.split(":").list.first().cast(pl.Int8),
    )


def sample_like(real: pl.DataFrame, seed: int) -> pl.DataFrame:
    sizes = {"customers": real["customer"].n_unique(), "rows": real.height, "items": real["item"].n_unique()}
    return pl.concat(generate(**sizes, seed=seed)).with_columns(hour=pl.col("time").dt.hour())


INNER = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)


def quantiles(values: pl.Series, at: tuple[float, ...] = (0.0, *INNER, 1.0), digits: int = 0) -> str:
    return " / ".join(f"{value:.{digits}f}" for value in np.quantile(values.to_numpy(), at))


def gini(values: pl.Series) -> float:
    ordered = np.sort(values.to_numpy().astype(np.float64))
    n = ordered.size
    return float((2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * ordered.sum()))


def share_of_top(values: pl.Series, share: float) -> float:
    ordered = np.sort(values.to_numpy())[::-1]
    return float(ordered[: max(1, round(share * ordered.size))].sum() / ordered.sum())


def zipf_slope(counts: pl.Series) -> float:
    ordered = np.sort(counts.to_numpy())[::-1]
    rank = np.arange(10, ordered.size // 3)
    return float(np.polyfit(np.log(rank), np.log(ordered[rank - 1]), 1)[0])


def nearest_neighbour(frame: pl.DataFrame) -> float:
    """Mean Jaccard similarity of a customer to the most similar other one: what the Jaccard attack has to beat."""
    pairs = frame.select("customer", "item").unique()
    customer, item = (pairs[name].rank("dense").to_numpy().astype(np.int64) - 1 for name in ("customer", "item"))
    has = np.zeros((customer.max() + 1, item.max() + 1), dtype=np.float32)
    has[customer, item] = 1
    sizes, overlap = has.sum(axis=1), has @ has.T
    similarity = overlap / (sizes[:, None] + sizes[None, :] - overlap)
    np.fill_diagonal(similarity, 0)
    return float(similarity.max(axis=1).mean())


def shares(values: pl.Series, most: int | None = None) -> str:
    counts = values.value_counts(sort=most is not None, normalize=True)
    counts = counts.head(most) if most else counts.sort(values.name)
    return ", ".join(f"{value}: {100 * share:.1f}" for value, share in counts.iter_rows())


def measures(frame: pl.DataFrame) -> dict[str, str]:
    it = shape(frame)
    per_customer = frame.group_by("customer").agg(pl.len(), pl.col("item", "invoice", "date").n_unique())
    per_item = frame.group_by("item").agg(pl.len(), pl.col("customer", "price").n_unique())
    per_invoice = frame.group_by("invoice").agg(pl.len(), pl.col("date").first(), pl.col("hour").first())
    bought = frame.group_by("customer", "item").agg(pl.col("date").n_unique())
    year = frame.filter(pl.col("date") < pl.date(2011, 12, 1)).with_columns(month=pl.col("date").dt.truncate("1mo"))
    cells = year.select("customer", "month").unique().height
    of_month = year.group_by("month").len().sort("month")
    usual = frame.with_columns(usual=pl.col("price").mode().sort().first().over("item"))
    post = frame.filter((pl.col("item") == "POST") | (pl.col("description") == "POSTAGE"))
    return {
        "customers n": f"{it.n:,}",
        "rows m": f"{it.m:,}",
        "distinct items": f"{frame['item'].n_unique():,}",
        "items per customer b": f"{it.b:.1f}",
        "mean Jaccard µ": f"{it.mu:.4f}",
        "mean overlap h": f"{it.h:.2f}",
        "Jaccard to the nearest other customer": f"{nearest_neighbour(frame):.3f}",
        "rows per customer: min / 10 / 25 / 50 / 75 / 90 / 99 % / max": quantiles(per_customer["len"]),
        "rows of the top 10 % of customers": f"{share_of_top(per_customer['len'], 0.1):.3f}",
        "rows of the largest customer": f"{per_customer['len'].to_numpy().max() / frame.height:.3f}",
        "Gini of rows per customer": f"{gini(per_customer['len']):.3f}",
        "invoices per customer: the same quantiles": quantiles(per_customer["invoice"]),
        "rows per invoice: the same quantiles": quantiles(per_invoice["len"]),
        "an item twice on an invoice (rows)": f"{1 - frame.select('invoice', 'item').n_unique() / frame.height:.3f}",
        "bought on two dates or more (pairs customer, item)": f"{(bought['date'] >= 2).to_numpy().mean():.3f}",
        "customer-months without a row": f"{1 - cells / (12 * it.n):.3f}",
        "rows per item: the same quantiles": quantiles(per_item["len"]),
        "customers per item: the same quantiles": quantiles(per_item["customer"]),
        "rows of the top 1 % / 10 % of items": " / ".join(
            f"{share_of_top(per_item['len'], share):.3f}" for share in (0.01, 0.1)
        ),
        "Zipf slope (ranks 10 to a third)": f"{zipf_slope(per_item['len']):.2f}",
        "customers with postage / rows of postage": " / ".join(
            f"{share:.3f}" for share in (post["customer"].n_unique() / it.n, post.height / frame.height)
        ),
        "prices per item, mean": f"{per_item['price'].to_numpy().mean():.2f}",
        "rows at the item's usual price": f"{(usual['price'] == usual['usual']).to_numpy().mean():.3f}",
        "price: 10 / 25 / 50 / 75 / 90 / 99 %": quantiles(frame["price"], INNER, 2),
        "quantities, % of rows": shares(frame["quantity"], 14),
        "quantity: 10 / 25 / 50 / 75 / 90 / 99 %": quantiles(frame["quantity"], INNER),
        "rows per month from December on, %": ", ".join(
            f"{100 * count / year.height:.1f}" for count in of_month["len"]
        ),
        "rows per weekday (1 is Monday), %": shares(frame["date"].dt.weekday()),
        "invoices per hour, %": shares(per_invoice["hour"]),
    }


def table(columns: dict[str, dict[str, str]]) -> str:
    names = list(columns)
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    lines += [f"| {key} | " + " | ".join(columns[name][key] for name in names) + " |" for key in columns[names[0]]]
    return "\n".join(lines)


def distance(counts: Floats, law: Callable[[Floats], Floats]) -> float:
    """Largest distance between the distribution of the counts and a law (Kolmogorov and Smirnov)."""
    values = np.unique(counts)
    observed = np.searchsorted(np.sort(counts), values, side="right") / counts.size
    return float(np.abs(observed - law(values)).max())


def log_normal(counts: Floats) -> Callable[[Floats], Floats]:
    logs = np.log(counts)
    mean, spread = logs.mean(), logs.std()
    return lambda x: np.array([0.5 * math.erfc((mean - math.log(v + 0.5)) / (spread * math.sqrt(2))) for v in x])


def negative_binomial(counts: Floats) -> Callable[[Floats], Floats]:
    """Fit by maximum likelihood over the shape r; the mean of the law is that of the counts."""
    mean = counts.mean()
    values, times = np.unique(counts, return_counts=True)

    def log_chance(r: float, x: Floats) -> Floats:
        choose = np.array([math.lgamma(v + r) - math.lgamma(r) - math.lgamma(v + 1) for v in x])
        return choose + r * math.log(r / (r + mean)) + x * math.log(mean / (r + mean))

    best = max(np.geomspace(0.05, 20, 200), key=lambda r: float(times @ log_chance(r, values)))
    every = np.exp(log_chance(best, np.arange(0, counts.max() + 1)))
    cumulated = np.cumsum(every)
    return lambda x: cumulated[x.astype(np.int64)]


def laws(frames: dict[str, pl.DataFrame]) -> str:
    lines = ["| rows per customer: distance to the best fit | log-normal | negative binomial |", "|---|---|---|"]
    for name, frame in frames.items():
        counts = frame.group_by("customer").len()["len"].to_numpy().astype(np.float64)
        distances = [distance(counts, law(counts)) for law in (log_normal, negative_binomial)]
        lines.append(f"| {name} | " + " | ".join(f"{value:.3f}" for value in distances) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    folder = data_folder()
    frames: dict[str, pl.DataFrame] = {}
    for name, real in (("PWSCUP 2016", pwscup2016(folder)), ("Online Retail", online_retail(folder))):
        frames[name] = real
        frames[f"sample of the size of {name}"] = sample_like(real, seed)
    print(table({name: measures(frame) for name, frame in frames.items()}))
    print()
    print(laws(frames))


if __name__ == "__main__":
    main()
