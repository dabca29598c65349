"""What it costs to look for columns that identify people, beside reading the file: a million rows of 20 columns.

python benchmarks/bench_identifying.py [--rows 1000000]

Purchases are scanned as typed values, as texts, and as a table without a customer. Half of the columns are texts, some
with as many values as rows; the customers' names, telephones and addresses must be found.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from machine import REPEATS, facts, in_turns, report, table

from noren.data.guessing.identifying import identifying_columns
from noren.data.guessing.schema_guess import guess_columns
from noren.data.reading import read
from noren.data.schema import Column, Role, Schema

GIVEN = np.array(["Claire", "Sean", "Andrew", "Irene", "Harold", "Sandra", "Zuschuss", "Eric", "Linda", "Brosina"])
FAMILY = np.array(["Gute", "Huff", "Hoffman", "Allen", "Maddox", "Brown", "Burns", "Smith", "Miller", "Kriz", "Grove"])


def file(path: Path, rows: int) -> None:
    """Write purchases of a tenth as many customers, with all that a careless export holds."""
    draw = np.random.default_rng(1)
    who = draw.integers(0, rows // 10, rows)
    every = np.arange(rows)

    def numbered(text: str, numbers: np.ndarray) -> pl.Series:
        return pl.Series([text]).new_from_index(0, rows) + pl.Series(numbers).cast(pl.String)

    first_names, family = pl.Series(GIVEN[who % 10]), pl.Series(FAMILY[who // 10 % 11])
    frame = pl.DataFrame(
        {
            "customer_id": numbered("C", who),
            "date": pl.Series(draw.integers(0, 700, rows)).cast(pl.Int32).cast(pl.Date).dt.offset_by("50y"),
            "item": numbered("SKU-", draw.integers(0, 5_000, rows)),
            "price": draw.integers(1, 9_999, rows) / 100,
            "quantity": draw.integers(1, 9, rows),
            "order_id": numbered("O", every // 3),
            "Customer Name": first_names + " " + family,
            "email": first_names.str.to_lowercase() + numbered(".", who) + "@example.org",
            "phone": numbered("090-1234-", 1_000 + who % 9_000),
            "address": pl.Series(1 + who % 997).cast(pl.String) + " Elm Street",
            "c11": numbered("key ", who * 7_919 % 2**31),
            "row": every,
            "remark": numbered("the parcel came late and nobody was at home, said number ", every),
            "store": numbered("store ", draw.integers(0, 50, rows)),
            "city": pl.Series(np.array(["Kobe", "Osaka", "Nara", "San Jose"])[draw.integers(0, 4, rows)]),
            "discount": draw.integers(0, 50, rows) / 100,
            "weight": draw.integers(0, 10**6, rows),
            "session": numbered("s", draw.integers(0, rows // 2, rows)),
            "channel": pl.Series(np.array(["web", "app", "shop"])[draw.integers(0, 3, rows)]),
            "points": draw.integers(0, 100, rows),
        }
    )
    frame.write_csv(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.csv"
        file(path, rows)
        texts = pl.read_csv(path, infer_schema=False)
        schema = guess_columns(texts[:50_000], customer="customer_id").schema
        typed = read(path, schema).data.frame
        people = [column.model_copy(update={"role": Role.OTHER}) for column in schema.columns]
        counts: dict[str, int] = {}

        def scan(
            name: str, columns: tuple[Column, ...] | list[Column], frame: pl.DataFrame, customer: str | None
        ) -> None:
            counts[name] = len(identifying_columns(columns, frame, customer=customer))

        works = {
            "read the file": lambda: read(path, Schema.model_validate(schema)),
            "scan purchases, typed": lambda: scan("scan purchases, typed", schema.columns, typed, "customer_id"),
            "scan purchases, texts": lambda: scan("scan purchases, texts", schema.columns, texts, "customer_id"),
            "scan a table, typed": lambda: scan("scan a table, typed", people, typed, None),
        }
        times = in_turns(list(works.values()))
    lines = [
        [name, f"{spent.processor_seconds:.2f}", f"{spent.seconds:.2f}", str(counts.get(name, "–"))]
        for name, spent in zip(works, times, strict=True)
    ]
    report(
        "identifying",
        "Columns that identify people",
        f"{rows:,} rows of {len(schema.columns)} columns, of {rows // 10:,} customers; median of {REPEATS}. "
        "The bar is 5 processor seconds for a scan.",
        table(["what", "processor seconds", "seconds", "columns found"], lines),
        facts("noren", "polars"),
    )


if __name__ == "__main__":
    main()
