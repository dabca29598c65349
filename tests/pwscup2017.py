"""The judges' vectors of PWS Cup 2017, read once, and small histories in their columns."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from noren.data.frames import History
from noren.data.periods import periods_of
from noren.data.reading import read, read_release
from noren.data.release import Release, Statement
from noren.data.schema import Schema

VECTORS = ("noise_light", "noise_strong", "at_sample", "micro")
ATTACKS = ("s1", "s2", "s3", "s4", "s5", "s6")
SCHEMA = Schema.preset("pwscup2017")


@cache
def index(shared: Path) -> Mapping[str, Any]:
    """What the judges' programs answered, by vector."""
    everything = json.loads((shared / "oracles" / "INDEX.json").read_text(encoding="utf-8"))
    return {vector["id"].removeprefix("pwscup2017/"): vector for vector in everything["pwscup2017"]["vectors"]}


def expected(shared: Path, name: str) -> Mapping[str, Any]:
    answers: Mapping[str, Any] = index(shared)[name]["expected"]
    return answers


@cache
def rows(shared: Path, name: str, file: str) -> History:
    """Return ``T``, ``T25`` … ``T100``, ``AT`` or ``S`` of a vector."""
    own = index(shared)[name]["files"].get(file)
    path = shared / "data" / f"pwscup2017_{file}.csv" if own is None else shared / "oracles" / own
    data = read(path, SCHEMA, master=shared / "data" / "pwscup2017_M.csv" if file == "T" else None).data
    assert isinstance(data, History)
    return data


@cache
def release(shared: Path, name: str) -> Release:
    return read_release(shared / "oracles" / index(shared)[name]["files"]["AT"], rows(shared, name, "T"))


def official(shared: Path, name: str) -> bytes:
    """Return what stands in a file of the judges."""
    return gzip.decompress((shared / "oracles" / name).read_bytes())


# --- by hand -----------------------------------------------------------------------------------------------


def history(*lines: str) -> History:
    """Return purchases written as ``customer day item price quantity``, the day as ``month/day`` of 2011 or the whole.

    A line ``-`` is a deleted row.
    """
    cells = [(line.split() if line != "-" else [None] * 5) for line in lines]
    columns = dict(zip(("customer", "date", "item", "price", "quantity"), zip(*cells, strict=True), strict=True))
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    day = pl.col("date")
    whole = pl.when(day.str.count_matches("/") == 1).then(pl.lit("2011/") + day).otherwise(day)
    typed = frame.select(
        "customer",
        pl.when(pl.col("customer").is_not_null()).then(pl.lit("0")).alias("invoice"),
        whole.str.to_date("%Y/%m/%d", strict=False).alias("date"),
        pl.lit(None, dtype=pl.Time).alias("time"),
        "item",
        pl.col("price").cast(pl.Float64),
        pl.col("quantity").cast(pl.Int64),
    )
    return History(typed, SCHEMA)


def released(original: History, *lines: str) -> Release:
    """Return a release of ``original`` under pseudonyms of the month, its rows in the original's order."""
    periods = periods_of(original["date"])
    return Release.of_aligned(original, history(*lines), Statement("hand"), periods=periods)
