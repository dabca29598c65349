"""Reading and writing, rows a second, per format: Noren next to Polars and pandas on the same files in the same run.

python benchmarks/bench_reading.py [--rows 1000000]
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import polars as pl
from machine import REPEATS, facts, in_turns, report, table

from noren.data.frames import History
from noren.data.reading import read, write
from noren.data.samples.generator import sample_history
from noren.data.schema import Schema

EXCEL_ROWS = 20_000
RELEASED_ROWS = 200_000
TEXTS = ("customer", "invoice", "item", "description", "country")
OFFICIAL = ("customer", "date", "item", "price", "quantity")

Work = Callable[[], object]


@dataclass(frozen=True)
class Race:
    """One job on one file, done by each; ``None`` where a library has no way to do it."""

    name: str
    rows: int
    noren: Work
    polars: Work | None
    pandas: Work | None


# --- the same columns out of the same file, three ways ---------------------------------------------------------------


def polars_csv(path: Path, encoding: str = "utf8") -> pl.DataFrame:
    types = dict.fromkeys((*TEXTS, "date", "time"), pl.String) | {"price": pl.Float64, "quantity": pl.Int64}
    frame = pl.read_csv(path, schema_overrides=types, encoding=encoding)
    return frame.with_columns(pl.col("date").str.to_date("%Y/%m/%d"), pl.col("time").str.to_time("%H:%M"))


def with_days(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(date=pd.to_datetime(frame["date"], format="%Y/%m/%d"))


def pandas_csv(path: Path, encoding: str = "utf-8") -> pd.DataFrame:
    # engine="pyarrow" and days converted afterwards: the fastest of four ways tried that keep numbers of customers as
    # text. With parse_dates pandas reads in one thread, slower than it can.
    types = dict.fromkeys((*TEXTS, "date", "time"), "str") | {"price": "float64", "quantity": "int64"}
    return with_days(pd.read_csv(path, engine="pyarrow", dtype=types, encoding=encoding))


def polars_official(path: Path) -> pl.DataFrame:
    types = {"customer": pl.String, "date": pl.String, "item": pl.String, "price": pl.Float64, "quantity": pl.Int64}
    frame = pl.read_csv(path, has_header=False, schema=types)
    return frame.with_columns(pl.col("date").str.to_date("%Y/%m/%d"))


def pandas_official(path: Path) -> pd.DataFrame:
    types = {"customer": "str", "date": "str", "item": "str", "price": "float64", "quantity": "int64"}
    return with_days(pd.read_csv(path, engine="pyarrow", header=None, names=list(OFFICIAL), dtype=types))


def polars_texts(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, has_header=False, schema=dict.fromkeys(OFFICIAL, pl.String))


def pandas_texts(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, engine="pyarrow", header=None, names=list(OFFICIAL), dtype="str")


# --- the files -------------------------------------------------------------------------------------------------------


def released(history: History) -> pl.DataFrame:
    """Return an ``A`` of 2018: pairs of rows share ranges and sets; every fiftieth row is deleted."""
    frame = history.frame.with_row_index("row").with_columns(pair=pl.col("row") // 2, gone=pl.col("row") % 50 == 49)

    def ends(name: str, text: pl.Expr) -> pl.Expr:
        low, high = text.sort_by(name).first().over("pair"), text.sort_by(name).last().over("pair")
        return pl.when(low == high).then(low).otherwise(pl.format("[{};{}]", low, high))

    items = pl.col("item").unique().sort().str.join(";").over("pair")
    cells = frame.select(
        "customer",
        ends("date", pl.col("date").dt.to_string("%Y/%-m/%-d")).alias("date"),
        pl.when(items.str.contains(";")).then(pl.format("{}", "{" + items + "}")).otherwise(items).alias("item"),
        ends("price", pl.col("price").cast(pl.String).str.strip_suffix(".0")).alias("price"),
        ends("quantity", pl.col("quantity").cast(pl.String)).alias("quantity"),
        "gone",
    )
    return cells.select(pl.when("gone").then(pl.lit("*")).otherwise(pl.col(name)).alias(name) for name in OFFICIAL)


def races(folder: Path, rows: int) -> list[Race]:
    everything = sample_history("sample", customers=max(1, rows // 100), rows=rows, items=4_000, seed=1)
    columns = everything.schema
    few = History(everything.frame[:EXCEL_ROWS], columns)
    official = sample_history("pwscup2018", customers=max(1, rows // 100), rows=rows, items=4_000, seed=1)
    schema = official.schema
    japanese = History(
        everything.frame.with_columns(pl.col("description").str.replace_all("SET", "暖簾セット", literal=True)), columns
    )
    csv, packed, cp932 = folder / "T.csv", folder / "T.csv.gz", folder / "T-cp932.csv"
    parquet, excel, t, a = folder / "T.parquet", folder / "T.xlsx", folder / "official-T.csv", folder / "official-A.csv"
    write(everything, csv)
    with csv.open("rb") as source, gzip.open(packed, "wb", compresslevel=6) as target:
        shutil.copyfileobj(source, target)
    write(japanese, folder / "utf8.csv")
    cp932.write_bytes((folder / "utf8.csv").read_text(encoding="utf-8").encode("cp932"))
    write(everything, parquet)
    write(few, excel)
    write(official, t)
    cells = released(History(official.frame[: min(rows, RELEASED_ROWS)], schema))
    cells.write_csv(a, include_header=False)
    anonymised = read(a, schema).data
    text_schema = Schema.of(columns.model_dump() | {"text": {}})
    out = folder / "out"
    out.mkdir()
    frame = everything.frame
    pandas = frame.with_columns(pl.col("time").dt.to_string("%H:%M")).to_pandas()
    pandas_t, texts = official.frame.to_pandas(), cells.to_pandas()
    return [
        Race("read CSV", rows, lambda: read(csv, columns), lambda: polars_csv(csv), lambda: pandas_csv(csv)),
        Race(
            "read CSV, form detected and schema guessed",
            rows,
            lambda: read(csv),
            lambda: pl.read_csv(csv, try_parse_dates=True),
            lambda: pd.read_csv(csv),
        ),
        Race(
            "read CSV, gzip",
            rows,
            lambda: read(packed, columns),
            lambda: polars_csv(packed),
            lambda: pandas_csv(packed),
        ),
        Race(
            "read CSV, CP932",
            rows,
            lambda: read(cp932, text_schema),
            lambda: polars_csv(cp932, "cp932"),
            lambda: pandas_csv(cp932, "cp932"),
        ),
        Race(
            "read Parquet",
            rows,
            lambda: read(parquet, columns),
            lambda: pl.read_parquet(parquet),
            lambda: pd.read_parquet(parquet),
        ),
        Race("read Excel", len(few), lambda: read(excel, columns), lambda: pl.read_excel(excel), None),
        Race("read official T", rows, lambda: read(t, schema), lambda: polars_official(t), lambda: pandas_official(t)),
        Race(
            "read official A (the others: as text)",
            len(cells),
            lambda: read(a, schema),
            lambda: polars_texts(a),
            lambda: pandas_texts(a),
        ),
        Race(
            "write CSV",
            rows,
            lambda: write(everything, out / "n.csv"),
            lambda: frame.write_csv(out / "p.csv", date_format="%Y/%m/%d", time_format="%H:%M"),
            lambda: pandas.to_csv(out / "d.csv", index=False, date_format="%Y/%m/%d"),
        ),
        Race(
            "write Parquet (zstd)",
            rows,
            lambda: write(everything, out / "n.parquet"),
            lambda: frame.write_parquet(out / "p.parquet", compression="zstd"),
            lambda: pandas.to_parquet(out / "d.parquet", compression="zstd", index=False),
        ),
        Race(
            "write Excel",
            len(few),
            lambda: write(few, out / "n.xlsx"),
            lambda: few.frame.write_excel(out / "p.xlsx"),
            lambda: pandas[:EXCEL_ROWS].to_excel(out / "d.xlsx", index=False, engine="xlsxwriter"),
        ),
        Race(
            "write official T",
            rows,
            lambda: write(official, out / "nt.csv"),
            lambda: official.frame.write_csv(out / "pt.csv", include_header=False, date_format="%Y/%m/%d"),
            lambda: pandas_t.to_csv(out / "dt.csv", index=False, header=False, date_format="%Y/%m/%d"),
        ),
        Race(
            "write official A (the others: from text)",
            len(cells),
            lambda: write(anonymised, out / "na.csv"),
            lambda: cells.write_csv(out / "pa.csv", include_header=False),
            lambda: texts.to_csv(out / "da.csv", index=False, header=False),
        ),
    ]


def line(race: Race) -> list[str]:
    works = (race.noren, race.polars, race.pandas)
    measured = iter(in_turns([work for work in works if work is not None]))
    times = [None if work is None else next(measured) for work in works]
    noren = times[0]
    if noren is None:
        raise TypeError(race.name)
    speeds = ["" if t is None else f"{race.rows / t.seconds:,.0f}" for t in times]
    wall = ["" if t is None else f"{t.seconds / noren.seconds:.2f}" for t in times[1:]]
    processor = ["" if t is None else f"{t.processor_seconds / noren.processor_seconds:.2f}" for t in times[1:]]
    return [race.name, f"{race.rows:,}", *speeds, *wall, *processor, f"{max(t.spread for t in times if t):.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory(prefix="noren-bench-") as folder:
        lines = [line(race) for race in races(Path(folder), rows)]
    head = ["", "rows", "Noren", "Polars", "pandas", "÷ Polars", "÷ pandas"]
    head += ["processor ÷ Polars", "processor ÷ pandas", "spread"]
    report(
        "reading",
        "Reading and writing",
        f"Rows a second, median of {REPEATS} rounds that all take in turns in one process, the files in the page cache."
        " In the columns with ÷ more than 1 means that Noren is faster, by the clock and by processor time. Spread is"
        " the slowest run over the fastest, of the library where it is largest: far above 1, the machine was busy and"
        " the clock says little. A generated history of nine columns (official forms: five).",
        table(head, lines),
        "All are asked for the same columns: texts as text, days as dates, numbers as numbers; pandas keeps the time of"
        " day as text, and where the schema is guessed each guesses its own way. pandas reads with its PyArrow engine,"
        " some two times as fast as its own on the nine columns and about even on the official T. Noren also looks for"
        " NUL bytes, a wrong encoding, unclosed quotes and ragged rows, for bombs in workbooks, checks every value"
        " against the schema, names the first cell that is wrong, and brings what it writes to the disk before it"
        " renames it. Polars and pandas do not know the contest's cells: `A` is text to them, and a day `2010/12/1`"
        " they write as `2010/12/01`. Reading a workbook with pandas needs a package that is not among ours.",
        facts("noren", "polars", "pandas", "pyarrow"),
    )


if __name__ == "__main__":
    main()
